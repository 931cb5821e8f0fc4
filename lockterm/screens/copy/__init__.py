"""Copying remotes of a lock to other locks of the book, as a plan."""

from lockterm.screens.copy.screen import CopyScreen

__all__ = ["CopyScreen"]
