"""What was sent from here: the list, one operation in detail, undoing it."""

from lockterm.screens.history.screen import HistoryScreen

__all__ = ["HistoryScreen"]
