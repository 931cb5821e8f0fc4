"""The screens with remotes of all locks: the search, and Expiring."""

from lockterm.screens.everywhere.screen import EverywhereScreen

__all__ = ["EverywhereScreen"]
