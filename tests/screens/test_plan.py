"""A plan on the screen: what it would do, the question, the run, and what became of each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual.pilot import Pilot

from lockterm.domain.plan import Step, StepState
from lockterm.domain.remotes import Remote
from lockterm.operations.plan_files import Drawn
from lockterm.screens.plan import PlanScreen
from lockterm.service.running import RunningService
from tests.operations.runs.planning import add, delete, keep, update
from tests.screens import someone_else
from tests.screens.running_app import Starter, settled
from tests.screens.site import LOCKS, fill_book, words


def remotes(service: RunningService, lock_id: int) -> list[Remote]:
    return [Remote.read(one) for one in someone_else.page(service, lock_id, size=200)]


async def shown(pilot: Pilot[int], steps: Sequence[Step], left: Sequence[Step] = ()) -> PlanScreen:
    """Show a plan of some steps."""
    plan = pilot.app.operations.runs.make("apply remotes.csv", steps)
    screen = PlanScreen(Drawn(plan, left))
    pilot.app.push_screen(screen)
    await settled(pilot)
    return screen


async def test_it_is_shown_before_anything_is_kept_or_sent(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS)
    first, second, third, *_ = remotes(service, 1003)
    steps = [
        keep(1003, third),
        update(1003, first, remoteName="Renamed"),
        delete(1003, second),
        add(1002, 1),
    ]
    async with lockterm_app(service) as pilot:
        left = replace(add(1001, 7), number=5, state=StepState.NOT_SENT, message="No answer.")
        await shown(pilot, steps, [left])
        said = words(pilot.app)
        assert "Plan > apply remotes.csv" in said
        assert "1 to add, 1 to change, 1 to delete: 6 calls, about" in said
        for row in ("! not sent Main gate New 7", "No answer.", "= as it is Server room"):
            assert row in said
        assert not await pilot.app.operations.runs.list()
