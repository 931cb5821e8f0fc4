"""The interface that the app offers to its screens, and the CSS classes for terminal sizes."""

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
"""Pairs of a minimum width in columns and the CSS class of screens from that width on."""

HEIGHTS = [(0, "-low"), (24, "-tall"), (36, "-roomy")]
"""Pairs of a minimum height in rows and the CSS class of screens from that height on."""


@runtime_checkable
class Host(Protocol):
    """The methods and properties that lockterm's apps add to Textual's, and that screens use."""

    @property
    def choices(self) -> Preferences:
        """The preferences that earlier sessions saved."""

    def now_ms(self) -> int:
        """Return the current time in milliseconds."""

    @property
    def notice_log(self) -> NoticeLog:
        """The log of this session's notifications, including a notification that is shown now."""

    def keep_message(self, message: str, title: str, severity: SeverityLevel) -> None:
        """Add a message to the message log without showing it."""

    def once(self, sentence: str) -> str:
        """Return the sentence on its first use in a session, and an empty string afterwards."""

    def ask_drawn(self, drawn: Callable[[float], None]) -> None:
        """Call ``drawn`` as soon as the terminal shows the current screen.

        Args:
            drawn: A function that receives the time at which the screen was shown, in seconds on
                Textual's clock.
        """


def recorded(host: Host, more: str = "") -> str:
    """Return a notification text for a change that the service recorded.

    Once per session, the text adds that the lock may not have received the change yet.
    """
    once = host.once(LOCK_MAY_NOT_KNOW)
    return " ".join(filter(None, ("Recorded by the service.", more, once)))


class HasOperations(Protocol):
    """The interface of an app that uses the service of a profile."""

    @property
    def operations(self) -> Operations:
        """The operations on the service and the local store."""

    @property
    def exports(self) -> Path:
        """The directory for exported files."""

    async def choose_backup(self) -> str | None:
        """Let the user choose a delete or a clear in the history.

        Returns:
            The ID of the operation; None if canceled.
        """
