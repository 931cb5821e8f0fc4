"""The history of changes sent from here: the list, one change in detail, and undo."""

from lockterm.screens.history.screen import HistoryScreen

__all__ = ["HistoryScreen"]
