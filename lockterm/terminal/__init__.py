"""All that fits Textual to a terminal: bytes in and out, keys, sizes, widths, looks, signals."""
