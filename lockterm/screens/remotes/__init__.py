"""The screens about a lock's remotes: the list, one remote in detail, and the actions."""

from lockterm.screens.remotes.screen import RemotesScreen

__all__ = ["RemotesScreen"]
