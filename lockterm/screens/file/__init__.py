"""A file that is taken: typed, checked as a whole, shown as a plan."""

from lockterm.screens.file.screen import FileScreen

__all__ = ["FileScreen"]
