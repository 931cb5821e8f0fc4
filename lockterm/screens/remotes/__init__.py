"""The screens about a lock's remotes: the list, the details of one remote, and the commands."""

from lockterm.screens.remotes.screen import RemotesScreen

__all__ = ["RemotesScreen"]
