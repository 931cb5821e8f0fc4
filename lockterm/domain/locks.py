"""The entries of the lock book.

The lock book is the user's own list of locks, because the contract has no call that lists locks.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from typing import NamedTuple

from lockterm.domain import dates

SET_BY_YOU = "set by you"
"""The text beside a voice that the user has set with lockterm. The service cannot report the
present voice of a lock."""


class VoiceChoice(NamedTuple):
    """A language and a timbre, as ``updateLockSetting`` sends them (contract 2.7)."""

    lang: str
    timbre: str


@dataclass(frozen=True, slots=True)
class Lock:
    """An entry of the lock book."""

    lock_id: int
    """The service's ID of the lock (``lockId``)."""
    name: str = ""
    """The name that the user gave the lock; empty to use the ID."""
    alias: str = ""
    """The service's name of the lock (``lockAlias``, contract 2.3). lockterm reads the name with
    the details of a remote."""
    vendor: str = ""
    """The vendor of the lock, which the call ``voice/packs`` needs (contract 4.10)."""
    model: str = ""
    """The model of the lock, which the call ``voice/packs`` needs (contract 4.10)."""
    zone: str = ""
    """The IANA time zone for times on this lock; empty to use the zone of the profile."""
    remotes: int | None = None
    """The number of remotes when lockterm last read the lock; None if lockterm never read it."""
    opened_ms: int | None = None
    """The time when lockterm last opened the lock's screen, in milliseconds; None if never."""
    voice: VoiceChoice | None = None
    """The voice that lockterm last set. The contract has no call that reads the voice."""
    voice_ms: int | None = None
    """When lockterm set the voice, in milliseconds; None if unknown."""

    @property
    def title(self) -> str:
        """The name of the lock, or ``lock`` with its ID; may contain control characters."""
        return self.name or f"lock {self.lock_id}"

    @property
    def file_name_parts(self) -> tuple[str, str]:
        """The name and the ID of the lock, as parts of a file name.

        The ID makes the file name unique.
        """
        return self.name, str(self.lock_id)

    def voice_since(self, zone: tzinfo, now_ms: int) -> str:
        """Return when the user set the voice, such as ``set by you on 3 Dec``.

        If the time is unknown, the text has no day.
        """
        at_ms = self.voice_ms
        return (
            SET_BY_YOU
            if at_ms is None
            else f"{SET_BY_YOU} on {dates.near_day(at_ms, zone, now_ms)}"
        )
