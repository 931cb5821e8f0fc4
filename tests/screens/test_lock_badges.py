"""Below the lock book of a usual terminal: the counts of the selected lock from the store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual.pilot import Pilot

from lockterm.config.look import Look
from lockterm.domain.locks import Lock
from lockterm.domain.operation import OperationState
from lockterm.screens.locks.table import LockBadges, LocksTable
from lockterm.service.running import RunningService
from tests.conftest import NOW_MS
from tests.faults.calls import new_remote
from tests.screens import someone_else
from tests.screens.running_app import Demo, settled, shown, until
from tests.screens.site import DAY_MS
from tests.screens.test_history_panels import CHANGE, write

YARD, SHED = Lock(1004, name="Yard", opened_ms=NOW_MS), Lock(1005, name="長" * 30)
COUNTS = "· 2 active    ! 3 expiring    × 2 expired"


def badges(pilot: Pilot[int]) -> str | None:
    """Return the text of the line; None if it is hidden."""
    (line,) = pilot.app.screen.query(LockBadges)
    return str(line.render()).rstrip() if line.display else None


async def read_yard(pilot: Pilot[Any], service: RunningService) -> None:
    """Keep a list of the remotes of the first lock, as a screen that reads all locks does."""
    since = {"remoteType": 2, "startDate": NOW_MS - 90 * DAY_MS}
    for days in (-2, -1, 6, 20, 25, 40):
        someone_else.add(service, 1004, f"{days}", endDate=NOW_MS + days * DAY_MS, **since)
    someone_else.add(service, 1004, "always")
    async for one in pilot.app.operations.all_locks.read(locks=[YARD]):
        assert not one.problem


async def test_badges_count_the_selected_lock_from_the_store(demo: Demo) -> None:
    async with demo(locks=(YARD, SHED)) as pilot:
        assert badges(pilot) == "", "nothing was read yet"
        await read_yard(pilot, demo.service)
        count = len(demo.service.requests)
        await pilot.press("f5")
        await until(pilot, lambda: badges(pilot) == f"{COUNTS}    read just now")
        assert COUNTS in shown(pilot)
        height = pilot.app.screen.query_one(LocksTable).size.height
        await pilot.press("down")
        await until(pilot, lambda: badges(pilot) == "")
        assert pilot.app.screen.query_one(LocksTable).size.height == height
        demo.clock.now_s += 3 * 3600
        await pilot.press("up")
        await until(pilot, lambda: badges(pilot) == f"{COUNTS}    read 3 h ago")
        assert len(demo.service.requests) == count, "no request was sent"


async def test_badges_say_in_short_that_the_counts_are_outdated(demo: Demo) -> None:
    async with demo(locks=(YARD, SHED)) as pilot:
        await read_yard(pilot, demo.service)
        await pilot.app.operations.writes.add_remote(new_remote(1004, "Anna"))
        await pilot.press("f5")
        await until(pilot, lambda: f"{COUNTS}    before your change" in shown(pilot))
        await pilot.resize_terminal(100, 24)
        whole = f"{COUNTS}    read just now, before your last change"
        await until(pilot, lambda: whole in shown(pilot))


async def test_badges_show_unconfirmed_changes(demo: Demo) -> None:
    async with demo(look=Look(ascii=True), locks=(YARD, SHED)) as pilot:
        change = replace(CHANGE, lock_id=1005, state=OperationState.AMBIGUOUS)
        write(pilot.app.operations, change)
        pilot.app.operations.journal.on_change()
        await pilot.press("down")
        await until(pilot, lambda: badges(pilot) == "? 1 unconfirmed")
        await pilot.press("up")
        await until(pilot, lambda: badges(pilot) == "")


async def test_badges_are_shown_where_nothing_else_has_the_counts(demo: Demo) -> None:
    async with demo(size=(60, 20), locks=(YARD, SHED)) as pilot:
        await read_yard(pilot, demo.service)
        assert badges(pilot) is None
        for size, is_shown in (
            ((80, 24), True),
            ((79, 24), False),
            ((100, 29), True),
            ((80, 23), False),
            ((120, 29), False),
            ((100, 30), False),
        ):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            if is_shown:
                await until(pilot, lambda: (badges(pilot) or "").startswith(COUNTS))
            assert (badges(pilot) is not None) == is_shown, size
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: badges(pilot) is not None)
        await pilot.press("f3")  # low-bandwidth mode
        await until(pilot, lambda: badges(pilot) is None)
