"""The notifications of this session, and those shown above the footer."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

MESSAGES = 500
"""Maximum number of notices in the log."""

AGAIN_MS = 60_000
"""The time in milliseconds during which an equal notification is counted, not added."""

STANDING = 4
"""The maximum number of errors, and of warnings, that wait to be read; the log has all."""


@dataclass(frozen=True, slots=True)
class LoggedNotice:
    """A notification; its texts are clean."""

    number: int
    """Counted from 0 in a session."""
    at_ms: int
    """The time of the last one, in milliseconds."""
    severity: str
    """``information``, ``warning`` or ``error``."""
    title: str
    """The title."""
    text: str
    """The meaning and the next step."""
    times: int = 1
    """The number of equal notifications."""

    @property
    def is_error(self) -> bool:
        """Whether it stays until it was read."""
        return self.severity == "error"

    @property
    def what(self) -> str:
        """The title, and how often it occurred."""
        again = f"{self.times:,} times" if self.times > 1 else ""
        return ", ".join(filter(None, (self.title, again)))

    @property
    def line(self) -> str:
        """All of it, in one line."""
        return ": ".join(filter(None, (self.what, self.text)))


class NoticeLog:
    """The notifications of a session, shown errors first and the newest first."""

    def __init__(self) -> None:
        self.messages: deque[LoggedNotice] = deque(maxlen=MESSAGES)
        """The notifications of this session, the last one at the end."""
        self._next = 0
        self._standing: list[LoggedNotice] = []
        """The unread notifications, in order."""
        self._passed = 0
        """Number of notices replaced unread since the line was last empty."""
        self._once: set[str] = set()

    @property
    def shown(self) -> LoggedNotice | None:
        """The notification to show now, if any."""
        return max(reversed(self._standing), key=lambda one: one.is_error, default=None)

    @property
    def more(self) -> int:
        """Number of other unread notices."""
        return max(len(self._standing) - 1, 0) + self._passed

    def keep(self, severity: str, title: str, text: str, at_ms: int) -> LoggedNotice:
        """Add to the log, or count what was said within :data:`AGAIN_MS`; arguments are clean."""
        number, times = self._next, 1
        for one in reversed(self.messages):
            if at_ms - one.at_ms > AGAIN_MS:
                break
            if (one.severity, one.title, one.text) == (severity, title, text):
                number, times = one.number, one.times + 1
                self.messages.remove(one)
                break
        self._next = max(self._next, number + 1)
        kept = LoggedNotice(number, at_ms, severity, title, text, times)
        self.messages.append(kept)
        return kept

    def once(self, sentence: str) -> str:
        """Return the sentence on its first use in a session, and an empty string later."""
        is_new = sentence not in self._once
        self._once.add(sentence)
        return sentence if is_new else ""

    def stand(self, notice: LoggedNotice) -> None:
        """Have one of the log read: news take the place of older news, what is graver waits."""
        others = [one for one in self._standing if one.number != notice.number]
        alike = [one for one in others if one.severity == notice.severity]
        most = 1 if notice.severity == "information" else STANDING
        stay = [one for one in others if one not in alike[: max(len(alike) + 1 - most, 0)]]
        self._passed += len(others) - len(stay)
        self._standing = [*stay, notice]

    def take_off(self) -> None:
        """Remove the shown notification: it was read, or its time is over."""
        shown = self.shown
        self._standing = [one for one in self._standing if one is not shown]
        if not self._standing:
            self._passed = 0

    def clear(self) -> None:
        """Hide all notices, because the user has read them."""
        self._standing, self._passed = [], 0
