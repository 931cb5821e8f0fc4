"""Completing the name of a time zone."""

from __future__ import annotations

import asyncio
from functools import cache
from zoneinfo import available_timezones

from textual.suggester import Suggester

from lockterm.config.values import zone_of_offset


@cache
def _zones() -> tuple[str, ...]:
    """Every IANA zone of this machine; reads a directory tree, so ask from a thread."""
    return tuple(sorted(name for name in available_timezones() if "/" in name or name == "UTC"))


class ZoneSuggester(Suggester):
    """Completes ``eur`` to ``Europe/Amsterdam``."""

    def __init__(self) -> None:
        super().__init__(case_sensitive=False)

    async def get_suggestion(self, value: str) -> str | None:
        zones = await asyncio.to_thread(_zones)
        return next((zone for zone in zones if zone.lower().startswith(value)), None)


async def zone_hint(typed: str) -> str:
    """Zones that have what was typed in their name, a city's beginning first, as a sentence."""
    if meant := zone_of_offset(typed):
        return f"{meant[:1].upper()}{meant[1:]}."
    found = await asyncio.to_thread(_zones_with, typed)
    return f"Such as {', '.join(found[:3])}." if found else "No zone is called so."


def _zones_with(typed: str) -> list[str]:
    wanted = typed.strip().replace(" ", "_").lower()
    found = [zone for zone in _zones() if wanted in zone.lower()]
    found.sort(key=lambda zone: (not zone.rpartition("/")[2].lower().startswith(wanted), zone))
    return found
