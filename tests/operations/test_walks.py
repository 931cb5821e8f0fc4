"""A walk over all pages: bounded in bytes, memory and time, and told when that is reached."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from lockterm.api import client
from lockterm.api.retry_policy import RetryPolicy
from lockterm.config import Profile
from lockterm.domain.dates import Clock
from lockterm.domain.operation import Operation, OperationState
from lockterm.errors import (
    ListTooLargeError,
    MalformedAnswerError,
    RateLimitedError,
    ResultUnknownError,
)
from lockterm.operations import Operations
from lockterm.operations.list_walk import (
    ASKED,
    MIB,
    PAGES_AT_ONCE,
    UNASKED,
    WalkBudget,
    WalkLimits,
    memory_of,
)
from tests.api.fault_server import FaultServer, answers, http
from tests.faults.calls import new_remote
from tests.faults.site import until
from tests.servers import Line

LARGE = "x" * (MIB // 2)
PAGES = 400


def record(remote_id: int, **fields: Any) -> dict[str, Any]:
    return {"id": remote_id, "lockId": 1, "remoteName": f"R {remote_id}"} | fields


class Service(FaultServer):
    """A service whose list has so many pages of whatever a test wants."""

    def __init__(self, page: Callable[[int], Iterable[dict[str, Any]]], pages: int = PAGES) -> None:
        super().__init__()
        self.page, self.pages, self.sent = page, pages, 0
        self.play(self._answer)

    async def _answer(self, line: Line) -> None:
        await self.answer(line, self.asked[-1].start)

    async def answer(self, line: Line, start: str) -> None:
        if "/list?" not in start:
            if "checkRemoteName" in start:
                await line.send(http('{"errcode": 0}'))
            else:
                line.reset()
            return
        query = dict(pair.split("=") for pair in start.split()[1].partition("?")[2].split("&"))
        records = list(self.page(int(query["pageNo"])))
        data = {"list": records, "pages": self.pages, "total": self.pages * len(records)}
        body = json.dumps({"errcode": 0, "data": data})
        self.sent += len(body)
        line.keep = True
        await line.send(http(body))


def one(page_no: int) -> list[dict[str, Any]]:
    return [record(page_no)]


def large(page_no: int) -> list[dict[str, Any]]:
    """Half a MiB in one remote."""
    return [record(page_no, statusName=LARGE)]


def many(page_no: int) -> list[dict[str, Any]]:
    """Some 300 KB on the line, some 10 times as much in memory."""
    return [record(page_no * 10**6 + at, weekDay=[[]] * 9, lockInfo={}) for at in range(2500)]


Opened = Callable[[Service], Operations]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opened]:
    """Operations on a service."""
    all_of_them: list[Operations] = []

    def open_(service: Service) -> Operations:
        # Longer than anything here is waited for: what ends sooner was not ended by it.
        profile = Profile(name="p", base_url=service.base_url, timezone="UTC", timeout_s=300)
        all_of_them.append(Operations(profile, tmp_path / "lockterm.db"))
        return all_of_them[-1]

    yield open_
    for operations in all_of_them:
        await operations.close()


@pytest.mark.parametrize(
    ("page", "limits", "most", "reached"),
    [
        (large, WalkLimits(4 * MIB, 64 * MIB, 300.0, asked=True), 5 * MIB, "4 MiB of answers"),
        pytest.param(
            *(many, WalkLimits(64 * MIB, 32 * MIB, 300.0, asked=True), 8 * MIB, "32 MiB of memory"),
            marks=pytest.mark.long,
        ),
    ],
    ids=["bytes", "memory"],
)
async def test_walk_ends_when_it_has_read_too_much(
    opened: Opened, page: Any, limits: WalkLimits, most: int, reached: str
) -> None:
    words = f"did not read the whole list of lock 1.* {reached}"
    async with Service(page).running() as service:
        with pytest.raises(ListTooLargeError, match=words):
            await opened(service).remotes.all(1, limits)
        assert service.sent < most


async def test_time(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]
    monkeypatch.setattr(
        "lockterm.operations.remotes.WalkBudget",
        lambda lock_id, limits: WalkBudget(lock_id, limits, Clock(steady=lambda: now_s[0])),
    )

    def slow(page_no: int) -> list[dict[str, Any]]:
        now_s[0] += 100
        return [record(page_no)]

    async with Service(slow).running() as service:
        with pytest.raises(ListTooLargeError, match="300 s"):
            await opened(service).remotes.all(1)
        assert len(service.asked) == 4


async def test_a_walk_that_begins_again_has_no_more(opened: Opened) -> None:
    """The list moves on its last page, again and again."""
    limits = WalkLimits(4 * MIB, 64 * MIB, 300.0, asked=True)

    def moving(page_no: int) -> list[dict[str, Any]]:
        return large(page_no) * (2 if page_no == 5 else 1)

    async with Service(moving, pages=5).running() as service:
        with pytest.raises(ListTooLargeError):
            await opened(service).remotes.all(1, limits)
        assert service.sent < 6 * MIB


async def test_background_verification_shares_its_reads(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An add without an answer on a list of large pages: a key reads more, nothing else does."""
    small = replace(UNASKED, answer_bytes=2 * MIB)
    monkeypatch.setattr("lockterm.operations.watching.UNASKED", small)
    monkeypatch.setattr("lockterm.operations.watching.FIRST_RETRY_S", 0.01)
    monkeypatch.setattr("lockterm.operations.watching.LAST_RETRY_S", 0.01)
    async with Service(large, pages=12).running() as service:
        operations = opened(service)
        with pytest.raises(ResultUnknownError):
            await operations.writes.add_remote(new_remote(1))
        async with asyncio.timeout(60):
            while "did not read the whole list" not in (operation := await now(operations)).message:
                await asyncio.sleep(0.01)
        assert operation.state is OperationState.UNKNOWN
        assert "Check the change yourself" in operation.message
        read = service.sent
        assert 2 * MIB < read < 3 * MIB
        for _ in range(20):  # as after each call that finds the service again
            operations.watch.start()
            await asyncio.sleep(0.02)
        assert service.sent == read
        checked = await operations.watch.check(operation)
        assert service.sent > read + 5 * MIB
        assert "did not read the whole list" not in checked.message


async def now(operations: Operations) -> Operation:
    (operation,) = await operations.journal.history()
    return operation


def test_the_usual_remote_fits_often_enough() -> None:
    one = record(
        1,
        remoteNumber="A-2041",
        remoteTypeName="permanent",
        addTypeName="bluetooth",
        statusName="normal",
        extraData={},
        weekDay=[1, 2],
        **{name: 1_763_000_000_000 for name in "abcdefghi"},
    )
    size, memory = len(json.dumps(one)), memory_of([one])
    for limits, remotes in ((ASKED, 150_000), (UNASKED, 20_000)):
        assert size * remotes < limits.answer_bytes and memory * remotes < limits.memory_bytes


class SideBySide(Service):
    """Answers for the second page once all that go on beside it are asked for; for those, never."""

    def __init__(self) -> None:
        super().__init__(one, pages=3 * PAGES_AT_ONCE)
        self.waiting = 0
        """For how many pages somebody waits in vain."""

    async def answer(self, line: Line, start: str) -> None:
        page_no = int(parse_qs(start)["pageNo"][0].split()[0])
        if page_no > 2:
            self.waiting += 1
            await line.reader.read()
            self.waiting -= 1
            return
        if page_no == 2:
            await until(lambda: self.waiting == PAGES_AT_ONCE - 1)
        await super().answer(line, start)


async def test_a_search_asks_for_some_pages_side_by_side_and_ends_with_all_of_them(
    opened: Opened,
) -> None:
    async with SideBySide().running() as service:
        walk = opened(service).remotes.walk(1, ahead=True)
        async with asyncio.timeout(60), contextlib.aclosing(walk) as steps:
            assert (await anext(steps)).is_first
            assert [one.id for one in (await anext(steps)).new] == [2]
            assert len(service.asked) == 1 + PAGES_AT_ONCE
            assert service.waiting == PAGES_AT_ONCE - 1
        async with asyncio.timeout(20):  # by itself, a read is given up after 30 s
            await until(lambda: service.waiting == 0)


@pytest.mark.parametrize(("pages", "asked"), [(1, 1), (2, 2)])
async def test_walk_asks_for_no_more_pages_when_the_list_has_no_more(
    opened: Opened, pages: int, asked: int
) -> None:
    async with Service(one, pages=pages).running() as service:
        steps = [step async for step in opened(service).remotes.walk(1, ahead=True)]
        assert len(steps[-1].new) == 1 and len(service.asked) == asked


async def test_a_search_begins_again_where_the_list_changes_beneath_it(opened: Opened) -> None:
    def page(page_no: int) -> list[dict[str, Any]]:
        if page_no == 6:
            service.pages = 7  # from this answer on
        return [record(page_no)]

    async with Service(page, pages=9).running() as service:
        found: list[int | None] = []
        firsts = 0
        async for step in opened(service).remotes.walk(1, ahead=True):
            if step.is_first:
                firsts += 1
                found.clear()
            found += [one.id for one in step.new]
            assert step.total == (9 if firsts == 1 else 7)
        assert firsts == 2 and found == [1, 2, 3, 4, 5, 6, 7]


async def test_a_search_asks_for_nothing_in_a_pause(opened: Opened) -> None:
    class Busy(Service):
        async def answer(self, line: Line, start: str) -> None:
            if "pageNo=3" in start:
                await answers("", 429, "Retry-After: 7")(line)
            else:
                await super().answer(line, start)

    async with Busy(one, pages=9).running() as service:
        operations = opened(service)
        with pytest.raises(RateLimitedError):
            async for step in operations.remotes.walk(1, ahead=True):
                assert step.read < 3
        asked = len(service.asked)
        assert asked <= 2 + PAGES_AT_ONCE
        with pytest.raises(RateLimitedError):
            async for _ in operations.remotes.walk(1, ahead=True):
                pass
        assert len(service.asked) == asked


# A process of its own runs lockterm, since the peak of a test's children is that of the largest.
LIST = """
import resource, subprocess, sys
command = ["-m", "lockterm", "remotes", "list", "1", "--all", "--base-url", sys.argv[1]]
code = subprocess.call([sys.executable, *command])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.long
async def test_the_whole_process(tmp_path: Path) -> None:
    """What ``list --all`` takes at the most, whatever there is to read: pages of 7 MiB."""
    page = [record(at, statusName="x" * (1024 * 70)) for at in range(100)]
    async with Service(
        lambda page_no: [one | {"id": page_no * 100 + n} for n, one in enumerate(page)]
    ).running() as service:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", LIST, service.base_url),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            cwd=Path(__file__).parents[2],
        )
        words = (await child.communicate())[1].decode()
        peak = int(words.split()[-1]) * 1024
        assert child.returncode == 3 and "128 MiB of answers" in words
        assert service.sent < 140 * MIB
    # Without a budget, 3 GB.
    assert peak < 1024 * MIB, f"{peak // MIB} MiB"


@pytest.mark.parametrize("is_waited_for", [True, False])
async def test_page_gives_its_place_back_when_a_newer_one_replaces_it_on_a_stalled_line(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, is_waited_for: bool
) -> None:
    """Its request ends with the last who waits for it, and its connection with that."""
    # Longer than the test waits: no attempt ends for lack of time.
    monkeypatch.setattr(client, "RetryPolicy", lambda: RetryPolicy(total_s=300.0))
    hung_up = asyncio.Event()
    stalled = asyncio.Event()

    class Stalled(Service):
        async def _answer(self, line: Line) -> None:
            if stalled.is_set():
                await self.answer(line, self.asked[-1].start)
                return
            stalled.set()
            await line.reader.read()
            hung_up.set()

    async def leave() -> None:
        first.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await first

    async with Stalled(one).running() as service:
        operations = opened(service)
        first = asyncio.create_task(operations.remotes.page(1, 1, 20))
        await until(stalled.is_set)
        if not is_waited_for:
            await leave()
        page = await operations.remotes.page(1, 1, 20, fresh=True)
        assert [one.id for one in page.value.remotes] == [1]
        if is_waited_for:
            assert not first.done(), "it is still waited for"
            await leave()
        await until(hung_up.is_set)


def test_memory_of_grows_with_each_level_of_a_record() -> None:
    text = "x" * 1000
    for nested in ([text], {"a": text}, [[text]], {"a": [{"b": text}]}):
        assert memory_of([{"extraData": nested}]) > memory_of([{"extraData": {}}]) + 1000
    names = {f"name {number}": None for number in range(100)}
    assert memory_of([names, dict(names)]) < 2 * memory_of([names]), "names are shared by all"


async def test_walk_returns_no_list_when_it_stays_shorter_than_its_total(opened: Opened) -> None:
    """What is missing may be anything: a list without it is not the lock's."""

    class Short(Service):
        async def answer(self, line: Line, start: str) -> None:
            data = {"list": [record(1), record(2)], "pages": 1, "total": 3}
            await line.send(http(json.dumps({"errcode": 0, "data": data})))

    async with Short(large).running() as service:
        with pytest.raises(MalformedAnswerError, match="kept changing"):
            await opened(service).remotes.all(1)
