"""The cache: bounded in bytes, and kept apart by profile and credentials."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from lockterm.api import client
from lockterm.api.client import FirstPage
from lockterm.api.retry_policy import RetryPolicy
from lockterm.config import Profile
from lockterm.domain.listing import Block, Ends, Listing
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import Remote
from lockterm.domain.validity import RemoteState
from lockterm.operations import Operations
from lockterm.operations.remotes import MOST_PAGES
from lockterm.screens.remotes.detail import RemoteDetailScreen
from lockterm.screens.voice import VoiceScreen
from lockterm.service.running import RunningService
from lockterm.store import cache as kept
from lockterm.store.cache import Cache
from lockterm.threads import SingleThreadExecutor
from tests.api.fault_server import FaultServer, answers, http
from tests.operations.test_walks import MIB, Service, record
from tests.screens.running_app import Clock, Starter, settled, shown, until
from tests.screens.site import fill_book
from tests.servers import Line

GATE = Lock(1, name="Main gate", vendor="v", model="m")
ANNA = {"Authorization": "Bearer anna-anna"}
OMAR = {"Authorization": "Bearer omar-omar"}

VOICE = {"lang": "xx-Qaaa", "timbres": [{"timbre": "t", "name": "Timbre of Anna"}]}
DATA: dict[str, Any] = {
    "remote/list": {"list": [record(7, remoteName="Fob of Anna")], "pages": 1, "total": 1},
    "remote/detail": record(7, remoteName="Fob of Anna", remoteNumber="N-of-Anna"),
    "voice/list": [{"name": "Pack of Anna", "label": "l", "updated_at": 1}],
    "voice/packs": [VOICE],
}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def starter(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Starter:
    monkeypatch.setattr(client, "RetryPolicy", lambda: RetryPolicy(pause_s=0, longest_wait_s=0))
    starter = Starter(tmp_path / "lockterm", clock)
    fill_book(starter, GATE)
    return starter


class Tenants(FaultServer):
    """Shows its rows to Anna alone, and whatever it shows only once it is let go on."""

    def __init__(self) -> None:
        super().__init__()
        self.welcome, self.go_on = True, asyncio.Event()
        self.go_on.set()
        self.play(self._answer)

    async def _answer(self, line: Line) -> None:
        asked = self.asked[-1]
        await self.go_on.wait()
        if not self.welcome or asked.headers.get("authorization") != ANNA["Authorization"]:
            await answers('{"errcode": -7, "errmsg": "who are you"}', 401)(line)
            return
        path = asked.start.split()[1].partition("?")[0]
        data = next(data for end, data in DATA.items() if path.endswith(end))
        await line.send(http(json.dumps({"errcode": 0, "data": data})))


@asynccontextmanager
async def three_screens(
    starter: Starter, service: FaultServer, headers: dict[str, str]
) -> AsyncIterator[Any]:
    """The remotes of the lock; ``look`` opens the two other screens and tells what all show."""
    app = starter.app(service, open_lock=1, headers=headers, timeout_s=60)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:

        async def look(wait: Any = settled) -> str:
            await wait(pilot)
            seen = shown(pilot)
            for screen in (
                RemoteDetailScreen(app.operations, GATE, 7, "x"),
                VoiceScreen(app.operations, GATE),
            ):
                await app.push_screen(screen)
                await wait(pilot)
                seen += shown(pilot)
            return seen

        yield pilot, look


MARKS = ("Fob of Anna", "N-of-Anna", "Pack of Anna")


async def test_nothing_is_shown_of_before_the_credentials_ended(starter: Starter) -> None:
    """What was kept is on the screen while the service takes its time; then it says 401."""
    async with Tenants().running() as service:
        async with three_screens(starter, service, ANNA) as (_, look):
            await look()
        service.welcome = False
        service.go_on.clear()
        async with three_screens(starter, service, ANNA) as (pilot, look):
            marks = iter(MARKS)

            async def kept_is_shown(pilot: Any) -> None:
                mark = next(marks)
                await until(pilot, lambda: mark in shown(pilot))

            await look(kept_is_shown)
            service.go_on.set()
            await settled(pilot)
            for _ in MARKS:
                assert "of Anna" not in shown(pilot)
                if len(pilot.app.screen_stack) > 2:
                    await pilot.app.pop_screen()
                    await settled(pilot)
        service.go_on.clear()
        async with three_screens(starter, service, ANNA) as (pilot, _):
            await until(pilot, lambda: "Loading the remotes" in shown(pilot))
            assert await pilot.app.operations.remotes.cached_page(1, 1, 20) is None
            assert await pilot.app.operations.voices.cached_packs(1) is None
            service.go_on.set()
            await settled(pilot)


async def test_other_profiles_and_credentials_find_nothing(tmp_path: Path) -> None:
    owners = [
        Profile(name, url, headers=headers)
        for name in ("p", "q")
        for url in ("http://a", "http://b")
        for headers in ({}, ANNA, OMAR, {"X-Key": "anna-anna"})
    ]
    path = tmp_path / "answers.db"
    for number, owner in enumerate(owners):
        cache = Cache(path, owner)
        assert cache.get("page 1") is None
        cache.put("page 1", number, 1)
        cache.close()
    for number, owner in enumerate(owners):
        cache = Cache(path, owner)
        assert cache.get("page 1") == (number, 1)
        cache.close()
    assert b"anna-anna" not in path.read_bytes()


def opened(
    folder: Path, base_url: str, caches: list[Cache] | None = None, **more: Any
) -> Operations:
    """A session with a cache, which is added to the caches."""
    profile = Profile("p", base_url, headers=ANNA)
    cache = Cache(folder / "answers.db", profile)
    if caches is not None:
        caches.append(cache)
    return Operations(profile, folder / "l.db", open_cache=lambda: cache, **more)


def on_disk(path: Path) -> int:
    return sum(file.stat().st_size for file in path.parent.glob(path.name + "*"))


async def test_cache_is_limited_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_BYTES", 2 * MIB)
    path, clock = tmp_path / "answers.db", Clock()

    def page(page_no: int) -> list[dict[str, Any]]:
        return [record(page_no, statusName="x" * 100_000)]

    async with Service(page).running() as service:
        operations = opened(tmp_path, service.base_url, clock=clock)
        for page_no in range(1, 61):
            clock.now_s += 1
            await operations.remotes.page(1, page_no, 20)
        at_once = [operations.remotes.has_page(1, page_no, 20) for page_no in range(1, 61)]
        assert sum(at_once) == MOST_PAGES
        assert await operations.remotes.cached_page(1, 60, 20) is not None
        assert await operations.remotes.cached_page(1, 1, 20) is None
        await operations.close()
    assert MIB < on_disk(path) < 4 * MIB


def test_cache_is_replaced_when_it_grew_too_large(tmp_path: Path) -> None:
    path, profile = tmp_path / "answers.db", Profile("p", "http://x")
    for size, is_there in ((0, True), (3 * (kept.MOST_BYTES + kept.MOST_LIST_BYTES), False)):
        cache = Cache(path, profile)
        cache.put("page 1", 1, 1)
        cache.close()
        if size:
            os.truncate(path, size)
        cache = Cache(path, profile)
        assert (cache.get("page 1") is not None) == is_there
        cache.put("page 2", 2, 2)
        assert cache.get("page 2") == (2, 2)
        cache.close()
        assert on_disk(path) < MIB


def names(cache: Cache, lock_id: int) -> list[str | None]:
    listing = cache.lists().get(lock_id)
    return [one.remote_name for one in listing.remotes()] if listing else []


def packed(at_ms: int, *names: str) -> Listing:
    remotes = [Remote.read({"remoteName": name, "endDate": 2**63 - 1}) for name in names]
    return Listing([Block.of(remotes[:1]), Block.of(remotes[1:])], at_ms)


def test_lists_are_kept_apart_and_go_with_the_credentials(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    anna, omar = (Cache(path, Profile("p", "http://a", headers=one)) for one in (ANNA, OMAR))
    anna.put_list(1, packed(1, "half a pair \ud800", "Anna", "Weber"))
    anna.put_list(1, packed(2, "half a pair \ud800", "Anna"))
    anna.put_list(2, packed(1))
    omar.put_list(1, packed(3, "Omar"))
    assert names(anna, 1) == ["half a pair \ud800", "Anna"]
    assert anna.lists()[2].count == 0
    assert names(omar, 1) == ["Omar"]
    anna.forget("")  # its credentials are refused
    assert anna.lists() == {}
    assert names(omar, 1) == ["Omar"]
    anna.close()
    omar.close()


def test_of_lists_the_oldest_go_and_no_half_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MOST_LIST_BYTES", 20_000)
    cache = Cache(tmp_path / "answers.db", Profile("p", "http://a"))
    for lock_id in range(40):
        cache.put_list(lock_id, packed(lock_id, "x" * 500, "y" * 500))
    there = [*cache.lists()]
    assert 5 < len(there) < 20
    assert there == [*range(40)][-len(there) :]
    assert all(len(names(cache, lock_id)) == 2 for lock_id in there)
    cache.close()


async def test_what_ends_of_a_long_list_is_counted_block_by_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile, day_ms = Profile(name="p", base_url="http://127.0.0.1:9"), 86_400_000
    cache = Cache(tmp_path / "answers.db", profile)
    operations = Operations(profile, tmp_path / "lockterm.db", open_cache=lambda: cache)
    now_ms, dates = operations.now_ms(), {"remoteType": 2, "startDate": 1}
    ends = [now_ms + days * day_ms for days in (-1, 6, 6, 20, 20, 20, 40)]
    block = Block.of([Remote.read({**dates, "endDate": end_ms}) for end_ms in ends])
    await operations.kept_lists.keep(1, Listing([block] * 120, now_ms - day_ms))
    await operations.kept_lists.keep(2, Listing([Block.of(())], now_ms))
    soon = {RemoteState.WEEK: 240, RemoteState.MONTH: 360}
    counts = {RemoteState.ENDED: 120, **soon, RemoteState.OPEN: 120}
    assert await operations.kept_lists.ends(1) == Ends(Counter(counts), now_ms - day_ms, False)
    empty = await operations.kept_lists.ends(2)
    assert empty is not None and not empty.counts.total()
    assert await operations.kept_lists.ends(3) is None

    read = cache.ends

    def replaced(lock_id: int, block: int, most: int):
        if block == 100:
            monkeypatch.undo()
            cache.put_list(1, Listing([block_of_one], now_ms))
        return read(lock_id, block, most)

    block_of_one = Block.of([Remote.read({**dates, "endDate": 2})])
    monkeypatch.setattr(cache, "ends", replaced)
    assert await operations.kept_lists.ends(1) == Ends(
        Counter({RemoteState.ENDED: 1}), now_ms, False
    )

    await operations.kept_lists.keep(1, Listing([block] * 120, now_ms))
    with closing(sqlite3.connect(tmp_path / "answers.db")) as file, file:
        file.execute("UPDATE lists SET ends = x'01' WHERE lock_id = 1 AND block = 110")
    assert await operations.kept_lists.ends(1) is None, "a part is not told as the whole"
    await operations.close()


class Busy(SingleThreadExecutor):
    """A thread that is at something else for a while."""

    def __init__(self) -> None:
        super().__init__("busy")
        self.asked = 0
        self.let_go = threading.Event()
        self.other = asyncio.ensure_future(super().run(self.let_go.wait))

    async def run(self, work: Any, *args: Any, **options: Any) -> Any:
        self.asked += 1
        return await super().run(work, *args, **options)


async def test_what_was_read_is_kept_though_the_session_ends_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Tenants().running() as service:
        caches: list[Cache] = []
        operations = opened(tmp_path, service.base_url, caches)
        await operations.remotes.page(1, 2, 20)  # all is imported and opened
        (cache,), busy = caches, Busy()
        cache.thread.end()
        monkeypatch.setattr(cache, "thread", busy)
        reading = asyncio.ensure_future(operations.remotes.page(1, 1, 20))
        while not (busy.asked and len(service.asked) == 2):
            await asyncio.sleep(0)
        ending = asyncio.ensure_future(operations.close())
        while not reading.done():
            await asyncio.sleep(0)
        busy.let_go.set()
        await ending
        again = opened(tmp_path, service.base_url)
        assert await again.remotes.cached_page(1, 1, 20) is not None
        await again.close()
    with suppress(asyncio.CancelledError):
        await reading


async def test_cached_list_is_not_read_when_its_reader_is_canceled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches: list[Cache] = []
    operations = opened(tmp_path, "http://127.0.0.1:9", caches)
    kept_lists, read = operations.kept_lists, list[int | None]()
    await kept_lists.find(1)
    (cache,), busy = caches, Busy()
    cache.thread.end()
    monkeypatch.setattr(cache, "thread", busy)
    monkeypatch.setattr(cache, "lists", lambda lock_id: read.append(lock_id) or {})
    finding = [asyncio.ensure_future(kept_lists.find(lock_id)) for lock_id in (1, 2, 3)]
    while busy.asked < len(finding):
        await asyncio.sleep(0)
    for one in finding[:2]:
        one.cancel()
    await asyncio.wait(finding[:2])
    busy.let_go.set()
    await finding[2]
    assert read == [3]
    await operations.close()


async def test_first_page_is_cached_when_the_ui_ends_early(
    tmp_path: Path, service: RunningService
) -> None:
    """Before its screen has said that it is shown."""
    profile = Profile("p", service.base_url, headers=ANNA)
    first = FirstPage(profile, 1001)
    first.ask()
    await asyncio.wrap_future(first.outcome)
    key = 1001, 1, profile.page_rows()
    here, there = (opened(tmp_path, service.base_url, first=one) for one in (first, None))
    assert here.remotes.first_page(*key) is not None
    await here.close()
    kept = await there.remotes.cached_page(*key)
    await there.close()
    assert kept is not None and kept.value.total == 137
