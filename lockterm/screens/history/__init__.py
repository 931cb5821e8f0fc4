"""The history of the changes that lockterm sent: the list, one change in detail, and undo."""

from lockterm.screens.history.screen import HistoryScreen

__all__ = ["HistoryScreen"]
