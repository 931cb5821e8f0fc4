"""The doctor's look at the service: one read, its answer, its time and its clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lockterm.cli.doctor.finding import Finding, trouble
from lockterm.errors import LocktermError, Refused

if TYPE_CHECKING:
    from lockterm.config import Profile

SOME_LOCK = 1
"""A lock to ask about where none was given: a refusal tells as much as a page."""
CLOCK_TOLERANCE_S = 120.0
"""How far the clocks may be apart before dates are doubted, in seconds."""


def service_findings(profile: Profile, lock_id: int | None) -> Iterator[Finding]:
    """Whether the service answers as the contract says. Nothing is changed by asking."""
    try:
        refusal, latency_s, offset_s = asyncio.run(_ask(profile, lock_id or SOME_LOCK))
    except LocktermError as error:
        yield trouble("service", error)
        return
    if refusal is not None and refusal.code is None:
        yield trouble("service", refusal)
        return
    yield Finding(
        "ok", "service", f"{profile.host} answered after {latency_s * 1000:.0f} ms, as it should."
    )
    if refusal is not None and lock_id is not None:
        yield Finding("note", "service", f"It refuses the lock {lock_id}: {refusal.message}")
    if offset_s is None:
        yield Finding("note", "service", "It does not tell its time: clocks were not compared.")
    elif abs(offset_s) > CLOCK_TOLERANCE_S:
        side = "behind" if offset_s > 0 else "ahead of"
        yield Finding(
            "wrong",
            "service",
            f"This machine's clock is {abs(offset_s):.0f} s {side} the service's: dates would be"
            " wrong by that. Set the clock.",
        )
    else:
        yield Finding("ok", "service", f"The clocks agree within {abs(offset_s) + 1:.0f} s.")


async def _ask(profile: Profile, lock_id: int) -> tuple[Refused | None, float, float | None]:
    """The service's refusal if there was one, the latency, and how far its clock is ahead."""
    from lockterm.api import LockService

    async with LockService(profile) as service:
        refusal: Refused | None = None
        # The first call pays for the connection; the second shows what a key press will wait.
        for _ in range(2):
            began = time.monotonic()
            try:
                await service.list_remotes(lock_id=lock_id, page_no=1, page_size=1)
            except Refused as error:
                refusal = error
        return refusal, time.monotonic() - began, service.clock_offset_s
