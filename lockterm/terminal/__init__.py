"""Adapts Textual to terminals: bytes in and out, keys, sizes, widths, looks, signals."""
