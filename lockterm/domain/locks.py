"""A lock of the lock book: the contract lists no locks, so people keep the list themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo

from lockterm.domain import dates

SET_HERE = "set from here"
"""Said of a voice: the service has no way to tell which one a lock has."""


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
    """What people call it; empty: its id stands for it."""
    alias: str = ""
    """``lockAlias`` of the last detail seen (2.3)."""
    vendor: str = ""
    """As ``voice/packs`` wants it (4.10)."""
    model: str = ""
    """As ``voice/packs`` wants it (4.10)."""
    zone: str = ""
    """IANA zone in which its times are shown; empty: the profile's."""
    remotes: int | None = None
    """How many remotes it had at the last look; None: not looked yet."""
    opened_ms: int | None = None
    """When it was last opened here, in milliseconds; None: never."""
    voice: VoiceChoice | None = field(default=None)
    """The voice last set from here: the contract has no way to read it."""
    voice_ms: int | None = None
    """When it was, in milliseconds; None: that is not known."""

    @property
    def title(self) -> str:
        """Its name, or its id where it has none. Not yet cleaned for showing."""
        return self.name or f"lock {self.lock_id}"

    @property
    def file_words(self) -> tuple[str, str]:
        """What a file is called after: its name, and its id, since two may have one name."""
        return self.name, str(self.lock_id)

    def voice_since(self, zone: tzinfo, now_ms: int) -> str:
        """``set from here on 3 Dec``: how old what is known of its voice is."""
        at_ms = self.voice_ms
        return SET_HERE if at_ms is None else f"{SET_HERE} on {dates.near_day(at_ms, zone, now_ms)}"
