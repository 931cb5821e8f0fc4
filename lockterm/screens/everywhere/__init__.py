"""The screens that show remotes of all locks: the search, and the screen "Expiring"."""

from lockterm.screens.everywhere.screen import AllLocksSearchScreen

__all__ = ["AllLocksSearchScreen"]
