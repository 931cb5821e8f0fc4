"""A run on the real service with ``--rate-limit``: each step is done, and none of them twice."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockterm.domain.plan import StepState
from lockterm.service.figures import Figures
from lockterm.service.running import RunningService
from tests.conftest import NOW_MS
from tests.faults.site import Site, quick
from tests.operations.runs.planning import add, execute, names, states

STEPS, PER_S = 40, 25.0


class Refusals(Figures):
    """Counts, and has time begin with the first call that is one too many.

    Else a busy machine would make so few calls a second that there is none.
    """

    since_s: float | None = None

    def count(self, endpoint: str, code: int, seconds: float) -> None:
        super().count(endpoint, code, seconds)
        if code == 429 and self.since_s is None:
            self.since_s = time.monotonic()

    def now_ms(self) -> int:
        passed_s = 0.0 if self.since_s is None else time.monotonic() - self.since_s
        return NOW_MS + int(passed_s * 1000)


@pytest.mark.long
async def test_a_rate_of_the_service_is_kept_to_until_all_is_done(
    running_service: Callable[..., RunningService], tmp_path: Path
) -> None:
    told = Refusals()
    options: dict[str, Any] = {"rate": PER_S, "clock": told.now_ms, "figures": told}
    with quick():
        site = Site(running_service(sample_data=False, **options), tmp_path)
        lock_id = site.new_lock(0)
        async with site.proxy() as proxy, site.operations(proxy) as operations:
            done = await execute(operations, [add(lock_id, number) for number in range(STEPS)])
    assert told.since_s is not None
    assert states(done) == [StepState.RECORDED] * STEPS
    assert names(site, lock_id) == {f"New {number}" for number in range(STEPS)}
    assert len(site.state(lock_id)) == STEPS + 1
