"""The screens of the lock book."""

from lockterm.screens.locks.screen import LocksScreen

__all__ = ["LocksScreen"]
