"""The entries of the lock book. The contract has no list of locks, so users keep their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo
from typing import NamedTuple

from lockterm.domain import dates

SET_BY_YOU = "set by you"
"""The note on a voice, because the service does not report the present voice of a lock."""


class VoiceChoice(NamedTuple):
    """A voice as ``updateLockSetting`` names it (2.7)."""

    lang: str
    timbre: str


@dataclass(frozen=True, slots=True)
class Lock:
    """An entry of the lock book."""

    lock_id: int
    """The service's ``lockId``."""
    name: str = ""
    """The name that the user gave the lock; empty to use the ID."""
    alias: str = ""
    """The ``lockAlias`` in the most recently read detail of a remote (2.3)."""
    vendor: str = ""
    """The vendor for ``voice/packs`` (4.10)."""
    model: str = ""
    """The model for ``voice/packs`` (4.10)."""
    zone: str = ""
    """The IANA time zone for the times of the lock; empty to use the zone of the profile."""
    remotes: int | None = None
    """The number of remotes when it was last read; None if it was never read."""
    opened_ms: int | None = None
    """The time when lockterm last opened the lock's screen, in milliseconds; None if never."""
    voice: VoiceChoice | None = field(default=None)
    """The voice that lockterm last set, because the contract has no way to read the voice."""
    voice_ms: int | None = None
    """The time when lockterm set the voice, in milliseconds; None if unknown."""

    @property
    def title(self) -> str:
        """The name of the lock, or its ID if it has no name; not cleaned for display."""
        return self.name or f"lock {self.lock_id}"

    @property
    def file_name_parts(self) -> tuple[str, str]:
        """The parts of a file name: the name, and the ID because names may not be unique."""
        return self.name, str(self.lock_id)

    def voice_since(self, zone: tzinfo, now_ms: int) -> str:
        """Return a note of when lockterm last set the voice: ``set by you on 3 Dec``."""
        at_ms = self.voice_ms
        return (
            SET_BY_YOU
            if at_ms is None
            else f"{SET_BY_YOU} on {dates.near_day(at_ms, zone, now_ms)}"
        )
