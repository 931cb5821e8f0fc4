"""What was said in this session, and what of it stands in the line of notices."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

MESSAGES = 500
"""How many notices the log keeps."""

AGAIN_MS = 60_000
"""For so long, in milliseconds, what is said again is counted, and is no line of its own."""

STANDING = 4
"""So many errors, and so many warnings, wait to be read one after the other; the log has all."""


@dataclass(frozen=True, slots=True)
class LoggedNotice:
    """What was told to a person; its strings are clean."""

    number: int
    """Counted from 0 in a session."""
    at_ms: int
    """When it was told last."""
    severity: str
    """``information``, ``warning`` or ``error``."""
    title: str
    """What happened, in a few words."""
    text: str
    """What it means and what to do."""
    times: int = 1
    """How often it was told."""

    @property
    def is_error(self) -> bool:
        """Whether it stands until it was read."""
        return self.severity == "error"

    @property
    def what(self) -> str:
        """What happened, and how often."""
        again = f"{self.times:,} times" if self.times > 1 else ""
        return ", ".join(filter(None, (self.title, again)))

    @property
    def line(self) -> str:
        """All of it, in one line."""
        return ": ".join(filter(None, (self.what, self.text)))


class NoticeLog:
    """Keeps what was said, and knows what is to be read now: errors first, the newest of each."""

    def __init__(self) -> None:
        self.messages: deque[LoggedNotice] = deque(maxlen=MESSAGES)
        """The notices of this session, the one told last at the end."""
        self._next = 0
        self._standing: list[LoggedNotice] = []
        """What was not read yet, in the order it came."""
        self._passed = 0
        """How many have given way unread since the line was empty."""
        self._once: set[str] = set()

    @property
    def shown(self) -> LoggedNotice | None:
        """What is to be read now; None: nothing."""
        return max(reversed(self._standing), key=lambda one: one.is_error, default=None)

    @property
    def more(self) -> int:
        """How many others have not been read."""
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
        """A sentence the first time in a session; empty from then on."""
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
        """What is shown was read, or its time is over."""
        shown = self.shown
        self._standing = [one for one in self._standing if one is not shown]
        if not self._standing:
            self._passed = 0

    def clear(self) -> None:
        """All of it is being read."""
        self._standing, self._passed = [], 0
