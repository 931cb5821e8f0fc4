"""What was sent from here: the list, one operation in detail, restoring what it took away."""

from lockterm.screens.history.screen import HistoryScreen

__all__ = ["HistoryScreen"]
