"""The screens of the history of sent changes: the list, one change in detail, and undo."""

from lockterm.screens.history.screen import HistoryScreen

__all__ = ["HistoryScreen"]
