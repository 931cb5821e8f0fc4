"""A notice that stands on the screen for a while."""

from __future__ import annotations

from textual.notifications import Notification


class Notice(Notification):
    """A notice whose time never runs out between being listed and being shown.

    Textual makes a timer of the time left. One of zero or less runs for ever without giving way:
    no key works any more, and the process must be killed.
    """

    @property
    def time_left(self) -> float:
        """The seconds it is still to stand; more than none."""
        return max(super().time_left, 0.01)

    @property
    def has_expired(self) -> bool:
        """Whether its time is over."""
        return super().time_left <= 0
