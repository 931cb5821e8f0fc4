"""The services of the app for its screens, and the classes that depend on its size."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from lockterm.domain.text.service import LOCK_MAY_NOT_KNOW

if TYPE_CHECKING:
    from pathlib import Path

    from textual.notifications import SeverityLevel

    from lockterm.config.preferences import Preferences
    from lockterm.domain.notices import NoticeLog
    from lockterm.operations import Operations

WIDTHS = [(0, "-narrow"), (80, "-home"), (120, "-wide")]
"""Minimum width in columns -> CSS class of screens and dialogs."""

HEIGHTS = [(0, "-low"), (24, "-tall"), (36, "-roomy")]
"""Minimum height in rows -> CSS class of screens and dialogs."""


@runtime_checkable
class Host(Protocol):
    """The app as its screens see it, beyond Textual's app."""

    @property
    def choices(self) -> Preferences:
        """The preferences saved by earlier sessions."""

    def now_ms(self) -> int:
        """Return the time in milliseconds."""

    @property
    def notice_log(self) -> NoticeLog:
        """The notifications of this session, and those shown above the footer."""

    def keep_message(self, message: str, title: str, severity: SeverityLevel) -> None:
        """Add a message to the message log without showing it."""

    def once(self, sentence: str) -> str:
        """Return the sentence on its first use in a session, and an empty string later."""

    def ask_drawn(self, drawn: Callable[[float], None]) -> None:
        """Call ``drawn`` with the time from which keys can answer the drawn screen."""


def recorded(host: Host, more: str = "") -> str:
    """Return the message for a recorded change.

    Once a session, add that the lock may not have the change yet.
    """
    once = host.once(LOCK_MAY_NOT_KNOW)
    return " ".join(filter(None, ("Recorded by the service.", more, once)))


class HasOperations(Protocol):
    """An app on a profile."""

    @property
    def operations(self) -> Operations:
        """The access to service and store."""

    @property
    def exports(self) -> Path:
        """The folder for exported files."""

    async def choose_backup(self) -> str | None:
        """Return the ID of a delete or clear that the user chose in the history, or None."""
