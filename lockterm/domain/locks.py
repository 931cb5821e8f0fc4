"""A lock of the lock book: the contract lists no locks, so people keep the list themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo

from lockterm.domain import dates

SET_HERE = "set from here"
"""A note on a voice: the service has no way to read which one a lock has."""


@dataclass(frozen=True, slots=True)
class VoiceChoice:
    """A voice as ``updateLockSetting`` names it (2.7)."""

    lang: str
    timbre: str


@dataclass(frozen=True, slots=True)
class Lock:
    """An entry of the lock book."""

    lock_id: int
    """The service's ``lockId``."""
    name: str = ""
    """The name that people gave it; empty to use the ID."""
    alias: str = ""
    """``lockAlias`` of the last detail seen (2.3)."""
    vendor: str = ""
    """The vendor for ``voice/packs`` (4.10)."""
    model: str = ""
    """The model for ``voice/packs`` (4.10)."""
    zone: str = ""
    """IANA zone of its times; empty for the profile's."""
    remotes: int | None = None
    """Number of remotes when it was last read; None before that."""
    opened_ms: int | None = None
    """When it was last opened here, in milliseconds; None if it never was."""
    voice: VoiceChoice | None = field(default=None)
    """The voice last set from here, because the contract has no way to read it."""
    voice_ms: int | None = None
    """When the voice was set, in milliseconds; None if unknown."""

    @property
    def title(self) -> str:
        """Its name, or its ID if it has none; not cleaned for display."""
        return self.name or f"lock {self.lock_id}"

    @property
    def file_words(self) -> tuple[str, str]:
        """The parts of a file name: its name, and its ID because names may not be unique."""
        return self.name, str(self.lock_id)

    def voice_since(self, zone: tzinfo, now_ms: int) -> str:
        """Return when the voice was last set by lockterm: ``set from here on 3 Dec``."""
        at_ms = self.voice_ms
        return SET_HERE if at_ms is None else f"{SET_HERE} on {dates.near_day(at_ms, zone, now_ms)}"
