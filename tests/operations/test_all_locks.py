"""All locks of the book at once: how many at a time, what one that fails holds up, what is kept."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from lockterm.api import client
from lockterm.api.envelope import page_of
from lockterm.api.retry_policy import RetryPolicy
from lockterm.config import Profile
from lockterm.domain.listing import Listing
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import Remote, RemotePage
from lockterm.errors import RateLimitedError
from lockterm.operations import Operations
from lockterm.operations.all_locks import AT_ONCE, BEGUN, PAUSES, LockRead
from lockterm.store.cache import Cache
from tests.api.fault_server import FaultServer, Script, answers, http
from tests.faults.site import until
from tests.operations.virtual import let_pause_pass
from tests.servers import Line

PAGE = 200
"""Remotes on a page of a whole list."""


class Site(FaultServer):
    """Locks with so many remotes each, and what some locks do instead of answering."""

    def __init__(self) -> None:
        super().__init__()
        self.remotes: dict[int, int] = {}
        self.instead: dict[int, Script] = {}
        self.most = self.now = 0
        self.all_there = asyncio.Event()
        self.all_there.set()
        self.play(self._answer)

    async def _answer(self, line: Line) -> None:
        query = parse_qs(urlsplit(self.asked[-1].start.split()[1]).query)
        lock_id, page_no = int(query["lockId"][0]), int(query["pageNo"][0])
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now == AT_ONCE:
            self.all_there.set()
        await self.all_there.wait()
        self.now -= 1
        if lock_id in self.instead:
            await self.instead[lock_id](line)
            return
        total = self.remotes[lock_id]
        first = (page_no - 1) * PAGE
        records = [
            {"id": lock_id * 10_000 + at, "lockId": lock_id, "remoteName": f"R {at}"}
            for at in range(first, min(first + PAGE, total))
        ]
        data = {"list": records, "pages": -(-total // PAGE), "total": total}
        line.keep = True
        await line.send(http(json.dumps({"errcode": 0, "data": data})))


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    monkeypatch.setattr(client, "RetryPolicy", lambda: RetryPolicy(pause_s=0, longest_wait_s=0))
    async with Site().running() as running:
        yield running


@pytest.fixture
async def operations(site: Site, tmp_path: Path) -> AsyncIterator[Operations]:
    profile = Profile(name="p", base_url=site.base_url, timezone="UTC")
    cache = Cache(tmp_path / "answers.db", profile)
    opened = Operations(profile, tmp_path / "lockterm.db", open_cache=lambda: cache)
    yield opened
    await opened.close()


async def book(operations: Operations, site: Site, *remotes: int) -> None:
    """Have locks 1, 2, ... with so many remotes, all in the lock book."""
    site.remotes = dict(enumerate(remotes, 1))
    await operations.locks.save_all([Lock(one, name=f"L{one:03}") for one in site.remotes])


async def read(
    operations: Operations, wanted: Callable[[Remote], bool] = lambda remote: True
) -> list[LockRead]:
    found = [one async for one in operations.all_locks.read(wanted)]
    return sorted(found, key=lambda one: one.place)


def lists(read: LockRead) -> Listing:
    assert read.listing is not None
    return read.listing


async def test_locks_are_read_with_a_limit_on_concurrency(
    operations: Operations, site: Site
) -> None:
    await book(operations, site, *[1] * (3 * AT_ONCE))
    site.all_there.clear()  # nobody is answered before so many have asked
    async with asyncio.timeout(30):
        found = await read(operations)
    assert site.most == AT_ONCE
    assert site.accepted == AT_ONCE, "no connection is opened where another one is idle"
    assert [one.lock.lock_id for one in found] == [*range(1, 3 * AT_ONCE + 1)]
    assert all(len(one.remotes) == 1 and not one.problem for one in found)


async def test_calls_do_not_wait_for_answers_to_be_read(
    operations: Operations, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await book(operations, site, *[1] * (BEGUN + AT_ONCE))
    may_read = threading.Event()

    def slowly(*answer: Any) -> RemotePage:
        assert may_read.wait(60)
        return page_of(*answer)

    monkeypatch.setattr(client, "page_of", slowly)
    monkeypatch.setattr(client, "LARGE", 0)
    reading = asyncio.ensure_future(read(operations))
    await until(lambda: len(site.asked) == BEGUN)
    may_read.set()
    assert not any(one.problem for one in await reading)
    assert site.most <= AT_ONCE


async def test_what_was_read_last_is_there_with_its_age(operations: Operations, site: Site) -> None:
    await book(operations, site, 450, 3, 0)
    kept = await operations.all_locks.last()
    assert [one.lock.lock_id for one in kept] == [1, 2, 3]
    assert [one.listing for one in kept] == [None, None, None]
    before = await read(operations)
    assert [one.remotes for one in await operations.locks.all()] == [450, 3, 0]
    wanted = await read(operations, lambda remote: (remote.remote_name or "").endswith("7"))
    assert [len(one.remotes) for one in wanted] == [45, 0, 0], "from every page"
    asked = len(site.asked)
    kept = await operations.all_locks.last()
    assert [[one.raw for one in lists(lock).remotes()] for lock in kept] == [
        [one.raw for one in lock.remotes] for lock in before
    ]
    assert [lists(one).count for one in kept] == [450, 3, 0]
    assert [lists(one).at_ms for one in kept] == [lists(one).at_ms for one in wanted]
    assert len(site.asked) == asked, "nothing was asked"


async def test_results_report_later_changes(operations: Operations, site: Site) -> None:
    await book(operations, site, 1, 1)
    await read(operations)
    operations.remotes.forget(1)  # as a refresh does
    operations.remotes.forget(2, changed=True)
    async with asyncio.timeout(60):
        while not lists((await operations.all_locks.last())[1]).changed:
            await asyncio.sleep(0)
    assert not lists((await operations.all_locks.last())[0]).changed
    await read(operations)
    assert not lists((await operations.all_locks.last())[1]).changed


async def test_what_is_changed_while_it_is_read_is_behind(
    operations: Operations, site: Site
) -> None:
    await book(operations, site, 1, 1)
    site.all_there.clear()
    reading = asyncio.ensure_future(read(operations))
    async with asyncio.timeout(60):
        while site.now < 2:
            await asyncio.sleep(0)
        operations.remotes.forget(1, changed=True)  # its page is on its way
        site.all_there.set()
        found = await reading
    assert [lists(one).changed for one in found] == [True, False]
    assert [lists(one).changed for one in await operations.all_locks.last()] == [True, False]
    assert await operations.kept_lists.is_behind(1)
    await read(operations)
    assert not await operations.kept_lists.is_behind(1)


async def test_one_that_fails_holds_no_other_up(operations: Operations, site: Site) -> None:
    await book(operations, site, 1, 1, 1, 1)
    site.instead[2] = answers('{"errcode": -1, "errmsg": "\\u001b[31mgone"}')
    data = {"list": [{"id": 1}, 7], "pages": 1, "total": 2}
    site.instead[3] = answers(json.dumps({"errcode": 0, "data": data}))
    found = await read(operations)
    assert [bool(one.problem) for one in found] == [False, True, True, False]
    assert "gone" in found[1].problem and "\x1b" not in found[1].problem
    assert found[1].error is not None
    assert [one.id for one in found[2].remotes] == [1]
    assert found[2].problem == "1 record cannot be read"
    assert [one.remotes for one in await operations.locks.all()] == [1, None, 1, 1]

    asked, locks = len(site.asked), await operations.locks.all()
    found = [one async for one in operations.all_locks.read(locks=locks[2:])]
    assert sorted(one.lock.lock_id for one in found) == [3, 4]
    assert len(site.asked) == asked + 2, "some locks alone are read again"


async def test_who_is_denied_asks_for_no_further_lock(operations: Operations, site: Site) -> None:
    await book(operations, site, *[1] * (2 * AT_ONCE))
    site.instead = dict.fromkeys(site.remotes, answers("", 401))
    site.all_there.clear()
    found = await read(operations)
    assert len(site.asked) == AT_ONCE
    assert all(one.problem for one in found)


@pytest.mark.parametrize(
    ("headers", "is_passing", "pauses"),
    [(("Retry-After: 7",), True, 1), ((), True, 1), (("Retry-After: 7",), False, PAUSES)],
    ids=["a pause", "a pause of no length", "pauses without an end"],
)
async def test_all_locks_wait_for_a_pause_when_the_service_asks_for_it(
    operations: Operations, site: Site, headers: tuple[str, ...], is_passing: bool, pauses: int
) -> None:
    await book(operations, site, *[1] * (AT_ONCE + 4 if is_passing else 1))
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)
        if is_passing:
            site.instead.clear()
        let_pause_pass(operations)

    operations.all_locks.wait = wait
    site.instead[1] = answers("", 429, *headers)
    found = await read(operations)
    assert len(waited) >= pauses
    assert all(6 < seconds <= 7 if headers else seconds > 0 for seconds in waited)
    if is_passing:
        assert not any(one.problem for one in found)
        assert all(len(one.remotes) == 1 for one in found)
    else:
        assert isinstance(found[0].error, RateLimitedError) and len(waited) == PAUSES


async def test_who_stops_listening_stops_the_reading(operations: Operations, site: Site) -> None:
    await book(operations, site, *[1] * (4 * AT_ONCE))

    async def stall(line: Line) -> None:
        await line.reader.read()

    site.instead = {lock_id: stall for lock_id in site.remotes if lock_id > 1}
    reading = operations.all_locks.read(lambda remote: True)
    first = await anext(reading)
    assert first.lock.lock_id == 1
    await reading.aclose()
    assert len(site.asked) <= AT_ONCE + 1
    assert not [task for task in asyncio.all_tasks() if "_Reading.lock" in repr(task)]
