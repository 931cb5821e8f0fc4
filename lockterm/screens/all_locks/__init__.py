"""The screens that show remotes of all locks: the search, and the screen "Expiring"."""

from lockterm.screens.all_locks.search import AllLocksSearchScreen

__all__ = ["AllLocksSearchScreen"]
