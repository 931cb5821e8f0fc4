"""All locks of the book at once: the search, and what ends."""

from lockterm.screens.everywhere.screen import EverywhereScreen

__all__ = ["EverywhereScreen"]
