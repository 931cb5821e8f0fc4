"""Adapts Textual to different terminals: input, output, keys, sizes, widths, colors and signals."""
