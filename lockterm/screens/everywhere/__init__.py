"""The screens that show remotes of all locks: the search, and the screen "Expiring"."""

from lockterm.screens.everywhere.screen import EverywhereScreen

__all__ = ["EverywhereScreen"]
