"""The notifications of this session: all of them in a log, and the unread ones above the footer."""

from __future__ import annotations

from collections import deque
from operator import attrgetter
from typing import NamedTuple

MESSAGES = 500
"""Maximum number of notifications in the log."""

AGAIN_MS = 60_000
"""Maximum time between two equal notifications, in milliseconds, for which the log counts them as
one entry."""

STANDING = 4
"""Maximum number of unread errors, and of unread warnings. If there are more, the older ones are
only in the log."""


class LoggedNotice(NamedTuple):
    """A notification in the log. Its texts contain no control characters."""

    number: int
    """The number of the notification in this session, from 0."""
    at_ms: int
    """The time of the notification, or of its last repetition, in milliseconds."""
    severity: str
    """``information``, ``warning`` or ``error``."""
    title: str
    """The title, such as the title of an error."""
    text: str
    """The sentences after the title, such as the meaning of an error and the next step."""
    times: int = 1
    """The number of times that the notification occurred."""

    @property
    def is_error(self) -> bool:
        """Whether the notification is an error, which is shown until the user has read it."""
        return self.severity == "error"

    @property
    def what(self) -> str:
        """The title, followed by the number of occurrences if there are several."""
        again = f"{self.times:,} times" if self.times > 1 else ""
        return ", ".join(filter(None, (self.title, again)))

    @property
    def line(self) -> str:
        """The title, the number of occurrences and the text, on one line."""
        return ": ".join(filter(None, (self.what, self.text)))


class NoticeLog:
    """The notifications of a session: the log, and the unread ones.

    Above the footer, unread errors are shown before other notifications, and newer notifications
    before older ones.
    """

    def __init__(self) -> None:
        self.messages: deque[LoggedNotice] = deque(maxlen=MESSAGES)
        """The notifications of this session, the newest at the end."""
        self._next = 0
        self._standing: list[LoggedNotice] = []
        """The unread notifications, the newest at the end."""
        self._passed = 0
        """Number of unread notifications that newer ones have replaced. The number returns to 0
        when all notifications are read."""
        self._once: set[str] = set()

    @property
    def shown(self) -> LoggedNotice | None:
        """The notification to show above the footer now; None if all are read."""
        return max(reversed(self._standing), key=attrgetter("is_error"), default=None)

    @property
    def more(self) -> int:
        """The number of unread notifications besides :attr:`shown`.

        Notifications that newer ones have replaced count too.
        """
        return max(len(self._standing) - 1, 0) + self._passed

    @property
    def unread(self) -> tuple[LoggedNotice, ...]:
        """The unread notifications, the newest at the end."""
        return tuple(self._standing)

    def keep(self, severity: str, title: str, text: str, at_ms: int) -> LoggedNotice:
        """Add a notification to the log, and return its entry.

        If an equal notification was logged less than :data:`AGAIN_MS` ago, the new entry replaces
        it, with a higher count. The texts must contain no control characters.
        """
        number, times = self._next, 1
        for one in reversed(self.messages):
            if at_ms - one.at_ms > AGAIN_MS:
                break
            if (one.severity, one.title, one.text) == (severity, title, text):
                number, times = one.number, one.times + 1
                self.messages.remove(one)
                break
        self._next = max(self._next, number + 1)
        notice = LoggedNotice(number, at_ms, severity, title, text, times)
        self.messages.append(notice)
        return notice

    def once(self, sentence: str) -> str:
        """Return a sentence on its first use in the session, and an empty string on later uses."""
        is_new = sentence not in self._once
        self._once.add(sentence)
        return sentence if is_new else ""

    def stand(self, notice: LoggedNotice) -> None:
        """Add a notification from the log to the unread ones.

        At most :data:`STANDING` notifications of one severity are unread, and only one of severity
        ``information``. If there are more, the oldest one of the same severity is no longer unread,
        and counts as replaced.
        """
        others = [one for one in self._standing if one.number != notice.number]
        alike = [one for one in others if one.severity == notice.severity]
        limit = 1 if notice.severity == "information" else STANDING
        stay = [one for one in others if one not in alike[: max(len(alike) + 1 - limit, 0)]]
        self._passed += len(others) - len(stay)
        self._standing = [*stay, notice]

    def take_off(self) -> None:
        """Remove the shown notification from the unread ones."""
        if (shown := self.shown) is not None:
            self.drop(shown)

    def drop(self, notice: LoggedNotice) -> None:
        """Remove a notification from the unread ones. The log keeps it."""
        self._standing = [one for one in self._standing if one is not notice]
        if not self._standing:
            self._passed = 0

    def clear(self) -> None:
        """Mark all notifications as read. The log keeps them."""
        self._standing, self._passed = [], 0
