"""A lock of the lock book: the contract lists no locks, so people keep the list themselves."""

from __future__ import annotations

from dataclasses import field

from lockterm.record import record


@record
class VoiceChoice:
    """A voice as ``updateLockSetting`` names it (2.7)."""

    lang: str
    timbre: str


@record
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

    @property
    def title(self) -> str:
        """Its name, or its id where it has none. Not yet cleaned for showing."""
        return self.name or f"lock {self.lock_id}"
