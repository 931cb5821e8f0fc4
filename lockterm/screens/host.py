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
"""Minimum number of columns -> the class of screens and dialogs."""

HEIGHTS = [(0, "-low"), (24, "-tall")]
"""The same by rows."""


@runtime_checkable
class Host(Protocol):
    """The app as its screens see it, beyond Textual's app."""

    @property
    def choices(self) -> Preferences:
        """The choices of earlier sessions."""

    def now_ms(self) -> int:
        """The time, in milliseconds."""

    @property
    def notice_log(self) -> NoticeLog:
        """The notifications of this session, and those shown above the footer."""

    def keep_message(self, message: str, title: str, severity: SeverityLevel) -> None:
        """Keep something in the message log without showing it."""

    def once(self, sentence: str) -> str:
        """A sentence the first time in a session; empty from then on."""

    def ask_drawn(self, drawn: Callable[[float], None]) -> None:
        """Learn from when on keys can answer what was drawn."""


def recorded(host: Host, more: str = "") -> str:
    """Return the message for a recorded change, with the limit of it once a session."""
    once = host.once(LOCK_MAY_NOT_KNOW)
    return " ".join(filter(None, ("Recorded by the service.", more, once)))


class HasOperations(Protocol):
    """An app on a profile."""

    @property
    def operations(self) -> Operations:
        """The one door to service and store."""

    @property
    def exports(self) -> Path:
        """The folder for files that people use."""

    async def choose_backup(self) -> str | None:
        """Have a delete or clear chosen in the history; answers with its id, or with None."""
