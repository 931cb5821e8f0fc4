"""The remotes of a lock: page by page, one in detail, what can be done with them."""

from lockterm.screens.remotes.screen import RemotesScreen

__all__ = ["RemotesScreen"]
