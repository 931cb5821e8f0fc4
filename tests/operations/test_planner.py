"""What holds for every plan, whatever source it is made from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lockterm.config import Profile
from lockterm.domain.dates import Clock
from lockterm.domain.plan import NAME_TAKEN, Action, PlannedSteps, Step, StepState
from lockterm.operations import Operations
from lockterm.operations.planner import PlanSource, ReadLock, make_plan, read_locks
from lockterm.service.running import RunningService
from lockterm.store.cache import Cache
from tests.conftest import NOW_MS
from tests.faults.proxy import Exchange
from tests.faults.site import Site
from tests.operations.bench import Bench, reply, shows

LOCKS = (1003, 1004)
"""Locks of the sample data."""

NO_LOCK = 7777
"""The ID of a lock that the service does not have."""


class EveryChange(PlanSource):
    """A delete, an update and a step that is left out, on each lock."""

    def __init__(self, operations: Operations, lock_ids: Sequence[int]) -> None:
        super().__init__("a test")
        self._operations = operations
        self._lock_ids = lock_ids

    async def read(self) -> Sequence[ReadLock]:
        return await read_locks(self._operations, self._lock_ids)

    async def plan(self, locks: Sequence[ReadLock], now_ms: int) -> PlannedSteps:
        planned = PlannedSteps([], [], ["The remote gets a new ID."], {"expired": 3})
        for lock in locks:
            assert lock.error is None
            lock_id = lock.lock.lock_id
            planned.steps.append(Step(0, Action.DELETE, lock_id, 1, "Anna"))
            planned.steps.append(Step(0, Action.UPDATE, lock_id, 2, "Bo"))
            about = {"state": StepState.REFUSED, "message": f"{NAME_TAKEN} by remote 2."}
            planned.left.append(Step(0, Action.ADD, lock_id, None, "Bo", **about))
        return planned

    def steps_on_unread(self, lock: ReadLock) -> Iterable[Step]:
        return [Step(0, Action.DELETE, lock.lock.lock_id, 3, "Cyd")]


@pytest.fixture
async def operations(service: RunningService, tmp_path: Path) -> AsyncIterator[Operations]:
    profile = Profile(name="site", base_url=service.base_url, timeout_s=5.0)
    clock = Clock(wall=lambda: NOW_MS / 1000)
    operations = Operations(profile, tmp_path / "lockterm.db", clock=clock)
    yield operations
    await operations.close()


async def test_make_plan_deletes_when_every_lock_was_read(operations: Operations) -> None:
    draft = await make_plan(operations, EveryChange(operations, LOCKS))
    due = [(step.number, step.action, step.lock_id) for step in draft.plan.steps if step.is_left]
    assert due == [
        (1, Action.DELETE, 1003),
        (2, Action.UPDATE, 1003),
        (3, Action.DELETE, 1004),
        (4, Action.UPDATE, 1004),
    ]
    assert not draft.unread
    assert [step.number for step in draft.left] == [5, 6]
    assert (draft.names_taken, draft.unplanned) == (2, 0)
    assert draft.plan.losses == ("The remote gets a new ID.",)
    assert draft.plan.skipped == {"expired": 3}


async def test_make_plan_deletes_nothing_when_a_lock_was_not_read(operations: Operations) -> None:
    draft = await make_plan(operations, EveryChange(operations, (1003, NO_LOCK, 1004)))
    due = [(step.action, step.lock_id) for step in draft.plan.steps if step.is_left]
    assert due == [(Action.UPDATE, 1003), (Action.UPDATE, 1004)]
    assert [one.lock.lock_id for one in draft.unread] == [NO_LOCK]
    reason = f"Nothing will be deleted, because lock {NO_LOCK} could not be read completely."
    left = [(step.lock_id, step.remote_id, step.state) for step in draft.left]
    assert left == [
        (1003, None, StepState.REFUSED),
        (NO_LOCK, 3, StepState.REFUSED),
        (1004, None, StepState.REFUSED),
        (1003, 1, StepState.NOT_SENT),
        (1004, 1, StepState.NOT_SENT),
    ]
    assert [step.message for step in draft.left][3:] == [reason, reason]
    assert (draft.names_taken, draft.unplanned) == (2, 3)


async def test_read_locks_reports_each_lock_once(operations: Operations) -> None:
    seen: list[tuple[int, int]] = []
    lock_ids = (1003, NO_LOCK, 1003, 1004)
    await read_locks(operations, lock_ids, lambda done, count: seen.append((done, count)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


async def test_make_plan_leaves_steps_unsent_when_no_lock_is_reached(
    operations: Operations, service: RunningService
) -> None:
    service.stop()
    draft = await make_plan(operations, EveryChange(operations, LOCKS))
    assert [step.state for step in draft.left] == [StepState.NOT_SENT] * 2
    assert all(step.message for step in draft.left)


async def test_make_plan_deletes_nothing_when_a_remote_has_no_usable_id(bench: Bench) -> None:
    def spoil(record: dict[str, Any]) -> None:
        if record["remoteName"] == "Fob 1":
            record["id"] = "?"

    bench.proxy.arm("list", shows(spoil))
    draft = await make_plan(bench.operations, EveryChange(bench.operations, (bench.lock_id,)))
    assert not [step for step in draft.plan.steps if step.is_left]
    (left,) = draft.left
    assert left.message == f"1 of the remotes of lock {bench.lock_id} cannot be read."


@pytest.mark.parametrize("is_changed", [False, True])
async def test_read_locks_keeps_a_list_as_behind_when_it_was_changed_while_it_was_read(
    site: Site, tmp_path: Path, is_changed: bool
) -> None:
    lock_id = site.new_lock()
    async with site.proxy() as proxy:
        profile = Profile(name="kept", base_url=proxy.base_url)
        cache = Cache(tmp_path / "answers.db", profile)
        operations = Operations(profile, site.new_store(), open_cache=lambda: cache)

        async def answer_late(exchange: Exchange) -> None:
            await exchange.apply()
            if is_changed:
                await operations.writes.delete_remote(lock_id, site.remotes(lock_id)[0])
            await reply(exchange)

        proxy.arm("list", answer_late, 1)
        (read,) = await read_locks(operations, [lock_id])
        assert read.error is None
        assert await operations.kept_lists.is_behind(lock_id) is is_changed
        await operations.close()
