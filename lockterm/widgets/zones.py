"""Completion of the names of time zones."""

from __future__ import annotations

import asyncio
from functools import cache
from zoneinfo import available_timezones

from textual.suggester import Suggester

from lockterm.config.values import zone_of_offset
from lockterm.config.zones import find_zone, normalize_zone
from lockterm.domain import dates


@cache
def _zones() -> tuple[str, ...]:
    """Return every IANA time zone of this machine.

    Call this function in a thread, because it reads many files.
    """
    return tuple(sorted(name for name in available_timezones() if "/" in name or name == "UTC"))


class ZoneSuggester(Suggester):
    """A suggester for time zones, which completes ``eur`` to ``Europe/Amsterdam``."""

    def __init__(self) -> None:
        super().__init__(case_sensitive=False)

    async def get_suggestion(self, value: str) -> str | None:
        zones = await asyncio.to_thread(_zones)
        return next((zone for zone in zones if zone.lower().startswith(value)), None)


async def zone_note(typed: str, now_ms: int) -> str:
    """Return the local time in the typed zone, or a sentence with up to three similar zones.

    If lockterm stores the zone by another name, the text begins with that name. Zones whose city
    starts with the typed text count as the most similar.
    """
    if name := await asyncio.to_thread(normalize_zone, typed):
        known = "" if name == typed else f"{name}. "
        return f"{known}Local time: {dates.day_time(now_ms, find_zone(name), exact=False)}."
    if meant := zone_of_offset(typed):
        return f"{meant[:1].upper()}{meant[1:]}."
    found = await asyncio.to_thread(_zones_with, typed)
    return f"Matches: {', '.join(found[:3])}." if found else "There is no such time zone."


def _zones_with(typed: str) -> list[str]:
    wanted = typed.strip().replace(" ", "_").lower()
    found = [zone for zone in _zones() if wanted in zone.lower()]
    found.sort(key=lambda zone: (not zone.rpartition("/")[2].lower().startswith(wanted), zone))
    return found
