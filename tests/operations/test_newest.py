"""What was changed from here lately against what the service shows: neither hides the other."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lockterm.domain.dates import DAY_MS
from lockterm.domain.remotes import Remote, RemotePage
from lockterm.domain.requests import RemoteChanges
from lockterm.errors import NameTakenError
from lockterm.operations import Operations
from lockterm.operations.list_state import ADDED, CHANGED
from lockterm.service.running import RunningService
from tests.faults.calls import id_of, new_remote
from tests.faults.site import Site, quick
from tests.operations.bench import Bench, old_answers, shows

END_MS = 1_800_000_000_000


@dataclass
class Shared(Bench):
    """A remote that two people change, and a service whose clock goes on by hand."""

    clocks: Clocks

    @property
    def true(self) -> Remote:
        """The remote as the service has it."""
        return self.remotes[1]

    async def shown(self) -> Remote:
        return await self.operations.remotes.detail(id_of(self.second))

    async def page(self) -> RemotePage:
        return (await self.operations.remotes.page(self.lock_id, 1, 20, fresh=True)).value

    async def marked(self, page: RemotePage) -> dict[str | None, int | None]:
        """What stands at the remote in the table, and its end there."""
        found = await self.journal.unlisted(self.lock_id, page, set())
        assert found is not None
        changed, remote_id = dict(found.changed), id_of(self.second)
        shown = changed.get(remote_id, page.remotes[1])
        return {found.words.get(remote_id): shown.end_ms}

    async def ours(self, end_ms: int) -> None:
        await self.change(start_ms=self.true.start_ms, end_ms=end_ms)

    async def change(self, **changes: Any) -> None:
        before = await self.shown()
        wanted = RemoteChanges(**changes)
        await self.writes.update_remote(self.lock_id, id_of(before), wanted, before)

    def theirs(self, end_ms: int) -> None:
        remote = self.true
        self.ask("update", remoteId=remote.id, startDate=remote.start_ms, endDate=end_ms)


@dataclass
class Clocks:
    """This machine's clock and the service's."""

    passed_s: float = 0.0
    ahead_s: float = 0.0
    """How far this machine's is ahead."""
    begun_s: float = field(default_factory=time.time)

    def service_ms(self) -> int:
        return int((self.begun_s + self.passed_s) * 1000)

    def rule(self, operations: Operations) -> None:
        """Have a session go by them."""
        operations.clock.wall = lambda: self.begun_s + self.passed_s + self.ahead_s
        operations.clock.steady = lambda: self.passed_s


@pytest.fixture
async def shared(
    running_service: Callable[..., RunningService], tmp_path: Path
) -> AsyncIterator[Shared]:
    clocks = Clocks()
    with quick():
        site = Site(running_service(sample_data=False, clock=clocks.service_ms), tmp_path)
        lock_id = site.new_lock()
        async with site.proxy() as proxy, site.operations(proxy) as operations:
            clocks.rule(operations)
            yield Shared(site, proxy, operations, lock_id, clocks)


def in_seconds(record: dict[str, Any]) -> None:
    """A service that writes its times down in seconds: the contract names no unit."""
    for name in ("createTime", "updateTime"):
        record[name] //= 1000


@pytest.mark.parametrize("delay_s", [0, 1, 290])
@pytest.mark.parametrize("unit", ["milliseconds", "seconds"])
async def test_what_a_colleague_has_set_since_is_shown(shared: Shared, unit: str, delay_s: float):
    if unit == "seconds":
        shared.proxy.arm("detail", shows(in_seconds))
    await shared.ours(END_MS)
    shared.clocks.passed_s += delay_s
    shared.theirs(END_MS + 30 * DAY_MS)
    assert (await shared.shown()).end_ms == END_MS + 30 * DAY_MS
    assert await shared.marked(await shared.page()) == {None: END_MS + 30 * DAY_MS}


async def test_what_a_colleague_has_set_since_is_shown_though_the_clock_was_set_back(
    shared: Shared,
):
    shared.clocks.ahead_s = 3 * 3600
    await shared.ours(END_MS)
    shared.clocks.ahead_s, shared.clocks.passed_s = 0, 20 * 60
    shared.theirs(END_MS + 30 * DAY_MS)
    assert (await shared.shown()).end_ms == END_MS + 30 * DAY_MS


async def test_what_a_colleague_has_taken_back_is_not_marked_as_changed(shared: Shared):
    was_ms = shared.true.end_ms or 0
    await shared.ours(was_ms - 100 * DAY_MS)
    shared.clocks.passed_s += 120
    shared.theirs(was_ms)
    assert (await shared.shown()).end_ms == was_ms
    assert await shared.marked(await shared.page()) == {None: was_ms}


async def test_a_reading_from_before_several_changes_shows_all_of_them(shared: Shared):
    was_ms, pages = shared.true.end_ms or 0, []
    for end_ms in (was_ms - 100 * DAY_MS, was_ms - 50 * DAY_MS):
        pages.append(await shared.page())
        await shared.ours(end_ms)
    shared.proxy.arm("detail", old_answers())
    await shared.operations.remotes.detail_as_shown(id_of(shared.second))
    await shared.change(remote_name="Renamed")
    assert (await shared.shown()).remote_name == "Renamed"
    await shared.change(remote_name="Renamed twice")
    shown = await shared.shown()
    assert (shown.remote_name, shown.end_ms) == ("Renamed twice", was_ms - 50 * DAY_MS)
    shared.proxy.disarm("detail")
    for old in pages:
        assert await shared.marked(old) == {CHANGED: was_ms - 50 * DAY_MS}
    assert await shared.marked(await shared.page()) == {None: was_ms - 50 * DAY_MS}


async def test_what_was_changed_there_and_back_is_the_same_before_and_after(shared: Shared):
    was_ms = shared.true.end_ms or 0
    before = await shared.page()
    await shared.ours(was_ms - 100 * DAY_MS)
    between = await shared.page()
    await shared.ours(was_ms)
    assert await shared.marked(before) == {None: was_ms}
    assert await shared.marked(between) == {CHANGED: was_ms}


@pytest.mark.parametrize(
    ("session", "passed_s"), [("the same", 2 * 3600), ("the same", 3 * 3600), ("another", 2 * 3600)]
)
async def test_what_was_added_long_ago_holds_nothing_back_though_the_clock_was_set_back(
    shared: Shared, session: str, passed_s: int
):
    request = new_remote(shared.lock_id)
    shared.clocks.ahead_s = 3 * 3600
    store = shared.journal.database.path
    async with shared.site.operations(shared.proxy, store) as other:
        shared.clocks.rule(other)
        first = shared.operations if session == "the same" else other
        added = await first.writes.add_remote(request)
        shared.clocks.ahead_s, shared.clocks.passed_s = 0, passed_s
        shared.site.ask("bluetooth-remote/delete", remoteId=added)
        assert await shared.writes.clear_remotes(shared.lock_id, 3) == 3
        await shared.writes.add_remote(request)


@pytest.mark.parametrize("ahead_s", [-3 * 3600, 3 * 3600])
async def test_what_was_added_just_now_is_known_though_the_clock_was_set(
    shared: Shared, ahead_s: float
):
    before, request = await shared.page(), new_remote(shared.lock_id)
    added = await shared.writes.add_remote(request)
    shared.clocks.ahead_s, shared.clocks.passed_s = ahead_s, 60
    unlisted = await shared.journal.unlisted(shared.lock_id, before, set())
    assert unlisted is not None and unlisted.words == {added: ADDED}
    with pytest.raises(NameTakenError, match=f"You have just added .*, as remote {added}"):
        await shared.writes.add_remote(request)
    shared.clocks.passed_s = 301
    assert await shared.journal.unlisted(shared.lock_id, before, set()) is None
