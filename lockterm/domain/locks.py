"""The entries of the lock book. The contract cannot list locks, so users keep their own list."""

from __future__ import annotations

from datetime import tzinfo
from typing import NamedTuple

from lockterm.domain import dates

SET_BY_YOU = "set by you"
"""The text beside a voice that the user has set. The service cannot report a lock's present
voice."""


class VoiceChoice(NamedTuple):
    """A voice in the form of ``updateLockSetting`` (contract 2.7)."""

    lang: str
    timbre: str


class Lock(NamedTuple):
    """An entry of the lock book."""

    lock_id: int
    """The service's ID of the lock (``lockId``)."""
    name: str = ""
    """The name that the user gave the lock; empty to use the ID."""
    alias: str = ""
    """The service's name of the lock (``lockAlias``, contract 2.3), from the details of a remote
    that were read last."""
    vendor: str = ""
    """The vendor that ``voice/packs`` needs (contract 4.10)."""
    model: str = ""
    """The model that ``voice/packs`` needs (contract 4.10)."""
    zone: str = ""
    """The IANA time zone for times on this lock; empty to use the zone of the profile."""
    remotes: int | None = None
    """The number of remotes when lockterm last read the lock; None if it never did."""
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
        """The parts of a file name: the name, and the ID because names may not be unique."""
        return self.name, str(self.lock_id)

    def voice_since(self, zone: tzinfo, now_ms: int) -> str:
        """Return when lockterm last set the voice, as in ``set by you on 3 Dec``."""
        at_ms = self.voice_ms
        return (
            SET_BY_YOU
            if at_ms is None
            else f"{SET_BY_YOU} on {dates.near_day(at_ms, zone, now_ms)}"
        )
