"""What was changed from here lately against what the service shows: neither hides the other."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lockterm.domain.dates import DAY_MS
from lockterm.domain.remotes import Remote, RemotePage
from lockterm.domain.requests import RemoteChanges
from lockterm.errors import NameTakenError
from lockterm.operations import Operations
from lockterm.operations.unlisted import ADDED, CHANGED
from lockterm.service.running import RunningService
from tests.api.fault_server import http
from tests.faults.calls import id_of, new_remote
from tests.faults.proxy import Exchange, FaultProxy
from tests.faults.site import Site, quick

END_MS = 1_800_000_000_000


@dataclass
class Shared:
    """A remote that two people change, and a service whose clock goes on by hand."""

    site: Site
    proxy: FaultProxy
    operations: Operations
    lock_id: int
    clocks: Clocks

    @property
    def true(self) -> Remote:
        """The remote as the service has it."""
        return self.site.remotes(self.lock_id)[1]

    async def shown(self) -> Remote:
        return await self.operations.remotes.detail(id_of(self.true))

    async def page(self) -> RemotePage:
        return (await self.operations.remotes.page(self.lock_id, 1, 20, fresh=True)).value

    async def marked(self, page: RemotePage) -> dict[str | None, int | None]:
        """What stands at the remote in the table, and its end there."""
        found = await self.operations.journal.unlisted(self.lock_id, page, set())
        assert found is not None
        changed, remote_id = dict(found.changed), id_of(self.true)
        shown = changed.get(remote_id, page.remotes[1])
        return {found.words.get(remote_id): shown.end_ms}

    async def ours(self, end_ms: int) -> None:
        await self.change(start_ms=self.true.start_ms, end_ms=end_ms)

    async def change(self, **changes: Any) -> None:
        before = await self.shown()
        wanted = RemoteChanges(**changes)
        await self.operations.writes.update_remote(self.lock_id, id_of(before), wanted, before)

    def theirs(self, **fields: Any) -> None:
        self.site.ask(
            "bluetooth-remote/update", lockId=self.lock_id, remoteId=self.true.id, **fields
        )


@dataclass
class Clocks:
    """This machine's clock and the service's."""

    passed_s: float = 0.0
    ahead_s: float = 0.0
    """How far this machine's is ahead."""
    begun_s: float = time.time()

    def service_ms(self) -> int:
        return int((self.begun_s + self.passed_s) * 1000)

    def rule(self, operations: Operations) -> None:
        """Have a session go by them."""
        operations.clock.wall = lambda: self.begun_s + self.passed_s + self.ahead_s
        operations.clock.steady = lambda: self.passed_s


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
async def shared(
    running_service: Callable[..., RunningService], tmp_path: Path, clocks: Clocks
) -> AsyncIterator[Shared]:
    with quick():
        site = Site(running_service(sample_data=False, clock=clocks.service_ms), tmp_path)
        lock_id = site.new_lock()
        async with site.proxy() as proxy, site.operations(proxy) as operations:
            clocks.rule(operations)
            yield Shared(site, proxy, operations, lock_id, clocks)


@asynccontextmanager
async def stale_details(shared: Shared) -> AsyncIterator[None]:
    """Answer every detail as it is now, whatever comes."""
    kept: list[bytes] = []

    async def play(exchange: Exchange) -> None:
        if not kept:
            said = await exchange.apply()
            kept.append(said.head + b"\r\n\r\n" + said.body)
        exchange.keep = True
        await exchange.send(kept[0])

    shared.proxy.arm("detail", play)
    await shared.operations.remotes.detail_as_shown(id_of(shared.true))
    yield
    shared.proxy.disarm("detail")


async def in_seconds(exchange: Exchange) -> None:
    """A service that writes its times down in seconds: the contract names no unit."""
    said = await exchange.apply()
    value = json.loads(said.body)
    for name in ("createTime", "updateTime"):
        value["data"][name] //= 1000
    await exchange.send(http(json.dumps(value), 200, "Content-Type: application/json"))


@pytest.mark.parametrize("delay_s", [0, 1, 290])
@pytest.mark.parametrize("unit", ["milliseconds", "seconds"])
async def test_what_a_colleague_has_set_since_is_shown(shared: Shared, unit: str, delay_s: float):
    if unit == "seconds":
        shared.proxy.arm("detail", in_seconds)
    await shared.ours(END_MS)
    shared.clocks.passed_s += delay_s
    shared.theirs(startDate=shared.true.start_ms, endDate=END_MS + 30 * DAY_MS)
    assert (await shared.shown()).end_ms == END_MS + 30 * DAY_MS
    assert await shared.marked(await shared.page()) == {None: END_MS + 30 * DAY_MS}


async def test_what_a_colleague_has_set_since_is_shown_though_this_clock_was_set_back(
    shared: Shared,
):
    shared.clocks.ahead_s = 3 * 3600
    await shared.ours(END_MS)
    shared.clocks.ahead_s, shared.clocks.passed_s = 0, 20 * 60
    shared.theirs(startDate=shared.true.start_ms, endDate=END_MS + 30 * DAY_MS)
    assert (await shared.shown()).end_ms == END_MS + 30 * DAY_MS


async def test_what_a_colleague_has_taken_back_is_not_marked_as_changed(shared: Shared):
    was_ms = shared.true.end_ms or 0
    await shared.ours(was_ms - 100 * DAY_MS)
    shared.clocks.passed_s += 120
    shared.theirs(startDate=shared.true.start_ms, endDate=was_ms)
    assert (await shared.shown()).end_ms == was_ms
    assert await shared.marked(await shared.page()) == {None: was_ms}


async def test_a_reading_from_before_several_changes_shows_all_of_them(shared: Shared):
    was_ms, pages = shared.true.end_ms or 0, []
    for end_ms in (was_ms - 100 * DAY_MS, was_ms - 50 * DAY_MS):
        pages.append(await shared.page())
        await shared.ours(end_ms)
    async with stale_details(shared):
        await shared.change(remote_name="Renamed")
        assert (await shared.shown()).remote_name == "Renamed"
        await shared.change(remote_name="Renamed twice")
        shown = await shared.shown()
        assert (shown.remote_name, shown.end_ms) == ("Renamed twice", was_ms - 50 * DAY_MS)
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
    store = shared.operations.journal.database.path
    async with shared.site.operations(shared.proxy, store) as other:
        shared.clocks.rule(other)
        first = shared.operations if session == "the same" else other
        added = await first.writes.add_remote(request)
        shared.clocks.ahead_s, shared.clocks.passed_s = 0, passed_s
        shared.site.ask("bluetooth-remote/delete", remoteId=added)
        assert await shared.operations.writes.clear_remotes(shared.lock_id, 3) == 3
        await shared.operations.writes.add_remote(request)


@pytest.mark.parametrize("ahead_s", [-3 * 3600, 3 * 3600])
async def test_what_was_added_just_now_is_known_though_the_clock_was_set(
    shared: Shared, ahead_s: float
):
    before, request = await shared.page(), new_remote(shared.lock_id)
    added = await shared.operations.writes.add_remote(request)
    shared.clocks.ahead_s, shared.clocks.passed_s = ahead_s, 60
    unlisted = await shared.operations.journal.unlisted(shared.lock_id, before, set())
    assert unlisted is not None and unlisted.words == {added: ADDED}
    with pytest.raises(NameTakenError, match=f"You have just added .*, as remote {added}"):
        await shared.operations.writes.add_remote(request)
    shared.clocks.passed_s = 301
    assert await shared.operations.journal.unlisted(shared.lock_id, before, set()) is None
