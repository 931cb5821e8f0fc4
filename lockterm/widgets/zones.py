"""Completing the name of a time zone."""

from __future__ import annotations

import asyncio
from functools import cache

from textual.suggester import Suggester


@cache
def _zones() -> tuple[str, ...]:
    """Every IANA zone of this machine; reads a directory tree, so ask from a thread."""
    from zoneinfo import available_timezones

    return tuple(sorted(name for name in available_timezones() if "/" in name or name == "UTC"))


class ZoneSuggester(Suggester):
    """Completes ``eur`` to ``Europe/Amsterdam``."""

    def __init__(self) -> None:
        super().__init__(case_sensitive=False)

    async def get_suggestion(self, value: str) -> str | None:
        """The first zone that begins with what was typed."""
        zones = await asyncio.to_thread(_zones)
        return next((zone for zone in zones if zone.lower().startswith(value)), None)


def zones_with(typed: str, most: int = 3) -> list[str]:
    """Zones that have what was typed somewhere in their name, a city's beginning first."""
    wanted = typed.strip().replace(" ", "_").lower()
    found = [zone for zone in _zones() if wanted in zone.lower()]
    found.sort(key=lambda zone: (not zone.rpartition("/")[2].lower().startswith(wanted), zone))
    return found[:most]
