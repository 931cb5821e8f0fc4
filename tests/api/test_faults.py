"""Faults of the catalogue, on a read and on a write: the error, the attempts, the secrets."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import time
import urllib.request
from collections.abc import Awaitable, Callable, Mapping
from email.utils import formatdate
from random import Random

import pytest

from lockterm.api import writes
from lockterm.api.client import LockService
from lockterm.api.transport import Transport
from lockterm.domain.dates import Clock
from lockterm.errors import (
    LocktermError,
    MalformedAnswerError,
    NoAnswerError,
    RateLimitedError,
    RefusedError,
    ResultUnknownError,
    ServiceError,
)
from lockterm.service.running import RunningService
from tests.api.conftest import AT_ONCE, Settings
from tests.api.fault_server import FaultServer, Script, answers, http, says
from tests.faults.catalogue import BROKEN_OFF, ENDLESS, MALFORMED, REFUSED, refusal
from tests.faults.proxy import FaultProxy, Play
from tests.servers import Line, port_of

STALL_S = 0.05
"""Half of what a key may wait."""
SECRET = "Bearer 5ecret-t0ken"
GOOD = '{"errcode":0,"errmsg":"","description":"","data":{"id":5,"remoteName":"n"}}'
HOSTILE = "<html>\x1b[31m\u202e" + SECRET + "<p>" * 300


async def reset(line: Line) -> None:
    line.reset()


def checked(error: ServiceError) -> None:
    """What an error shows is short, printable and without secrets, and tells more than a title."""
    shown = f"{error.title}{error.message}{error.hint}{getattr(error, 'description', '')}"
    assert shown.isprintable() and len(error.message) < 500
    assert "5ecret" not in shown and "token=x" not in shown
    assert error.message


Case = Callable[[LockService, FaultProxy, int], Awaitable[None]]


async def try_each(
    service: RunningService, plays: Mapping[str, Play], case: Case, times: int = -1
) -> None:
    """Run a case on each fault, all at once, for as many answers as told, or for all."""
    many = [record["id"] for record in first_page(service)]

    async def one(name: str, play: Play, remote_id: int) -> None:
        async with FaultProxy(port_of(service)).running() as proxy:
            for call in ("detail", "delete"):
                proxy.arm(call, play, times)
            timeout_s = 0.8 if name in ENDLESS else 10.0
            settings = Settings(proxy.base_url, timeout_s=timeout_s)
            async with LockService(settings, AT_ONCE) as client:
                try:
                    await case(client, proxy, remote_id)
                except BaseException as error:
                    error.add_note(name)
                    raise

    async with asyncio.TaskGroup() as group:
        for (name, play), remote_id in zip(plays.items(), many, strict=False):
            group.create_task(one(name, play, remote_id))


def first_page(service: RunningService) -> list[dict[str, int]]:
    path = "/api/v1/bluetooth-remote/list?lockId=1001&pageSize=200"
    with urllib.request.urlopen(service.base_url + path) as answer:
        return list(json.load(answer)["data"]["list"])


KINDS = pytest.mark.parametrize(
    ("plays", "on_read", "on_write"),
    [
        (BROKEN_OFF, NoAnswerError, ResultUnknownError),
        (MALFORMED, MalformedAnswerError, ResultUnknownError),
        (REFUSED, RefusedError, RefusedError),
        pytest.param(ENDLESS, NoAnswerError, ResultUnknownError, marks=pytest.mark.long),
    ],
    ids=["no complete answer", "neither yes nor no", "a no", "no end"],
)


@KINDS
async def test_read_is_tried_three_times_when_its_answer_is_no_refusal(
    service: RunningService,
    plays: Mapping[str, Play],
    on_read: type[ServiceError],
    on_write: type[ServiceError],
):
    async def read(client: LockService, proxy: FaultProxy, remote_id: int) -> None:
        with pytest.raises(on_read) as error:
            await client.remote_detail(remote_id)
        assert proxy.asked.count("detail") == (1 if plays is REFUSED else 3)
        checked(error.value)

    await try_each(service, plays, read)


@KINDS
async def test_write_is_sent_once_and_in_doubt_when_its_answer_is_no_refusal(
    service: RunningService,
    plays: Mapping[str, Play],
    on_read: type[ServiceError],
    on_write: type[ServiceError],
):
    async def write(client: LockService, proxy: FaultProxy, remote_id: int) -> None:
        with pytest.raises(on_write) as error:
            await client.send(writes.delete_remote(remote_id))
        assert type(error.value) in (on_write, RateLimitedError)
        assert proxy.asked.count("delete") == 1
        checked(error.value)

    await try_each(service, plays, write)


async def test_read_recovers_when_the_third_answer_is_whole(service: RunningService):
    async def read(client: LockService, proxy: FaultProxy, remote_id: int) -> None:
        assert (await client.remote_detail(remote_id)).id == remote_id
        assert proxy.asked.count("detail") == 3

    recovered = BROKEN_OFF | {name: MALFORMED[name] for name in ("HTML with 502", "gzip bomb")}
    await try_each(service, recovered, read, times=2)


@pytest.mark.parametrize("status", [200, 302, 401, 502])
async def test_error_shows_no_secret_when_the_answer_repeats_it(faults: FaultServer, status: int):
    faults.play(answers(HOSTILE, status, "Location: http://127.0.0.1:1/?token=x"))
    settings = Settings(faults.base_url, headers={"Authorization": SECRET})
    async with LockService(settings, AT_ONCE) as client:
        for call in (client.remote_detail(5), client.send(writes.delete_remote(5))):
            with pytest.raises(ServiceError) as error:
                await call
            checked(error.value)


@pytest.mark.parametrize("status", [401, 403])
async def test_missing_permission_points_at_the_profile(faults: FaultServer, status: int):
    faults.play(answers(refusal(), status))
    async with LockService(Settings(faults.base_url)) as client:
        with pytest.raises(RefusedError) as error:
            await client.send(writes.delete_remote(5))
    assert "profile" in error.value.hint
    assert (error.value.code, error.value.status) == (7, status)
    assert (error.value.message, error.value.description) == ("said", "why")


async def test_too_many_requests(faults: FaultServer):
    """A read sits out a short wait; a write, and a long wait, are left to the person."""
    faults.play(answers("", 429, "Retry-After: 0"), answers(GOOD))
    async with LockService(Settings(faults.base_url), AT_ONCE) as client:
        assert await client.remote_detail(5)
        faults.play(answers("", 429, "Retry-After: 0"))
        with pytest.raises(RateLimitedError):
            await client.send(writes.delete_remote(5))
        faults.play(answers("", 429, "Retry-After: 86400"))
        with pytest.raises(RateLimitedError) as error:
            await client.remote_detail(5)
        assert error.value.retry_after_s == 60
        date = "Date: Mon, 01 Jan 2035 00:00:00 GMT"
        faults.play(answers("", 429, date, "Retry-After: Mon, 01 Jan 2035 00:00:30 GMT"))
        with pytest.raises(RateLimitedError) as error:
            await client.remote_detail(5)
        assert error.value.retry_after_s == 30
    assert len(faults.asked) == 5


async def test_a_write_never_uses_a_connection_that_was_used_before(faults: FaultServer):
    faults.play(says(http(GOOD), keep=True))
    async with LockService(Settings(faults.base_url), AT_ONCE) as client:
        for _ in range(3):
            await client.remote_detail(5)
            await client.send(writes.delete_remote(5))
        faults.play(reset, answers(GOOD))
        await client.remote_detail(5)  # a read survives a stale connection
    connections = [asked.connection for asked in faults.asked]
    assert connections == [1, 2, 1, 3, 1, 4, 1, 5]


async def test_the_deadline_is_for_the_whole_attempt(faults: FaultServer):
    async def drip(line: Line) -> None:
        await line.send(http(GOOD, length=10**6))
        while True:
            await line.send(b" ")
            await asyncio.sleep(0.02)

    faults.play(drip)
    settings = Settings(faults.base_url, timeout_s=0.3)
    async with LockService(settings) as client:
        with pytest.raises(ResultUnknownError) as error:
            await client.send(writes.delete_remote(5))  # without a deadline the drip has no end
    assert "HTTP 200" in error.value.message  # what was known by then is told


async def test_a_flood_of_tiny_chunks_and_a_large_answer_leave_room_for_keys(faults: FaultServer):
    """The answer is as large as it may be, and as slow to read."""

    async def flood(line: Line) -> None:
        await line.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await line.send(b"1\r\n \r\n" * 10_000)

    body = '{"errcode":0,"data":[' + "{}," * 49_000 + f'"{"x" * (7 << 20)}"]}}'
    for script in (flood, answers(body)):
        assert await longest_stall(faults, script) < STALL_S


async def longest_stall(faults: FaultServer, script: Script) -> float:
    """The longest that the event loop was busy at a stretch, by its thread's own clock.

    The clock on the wall would also count what else the machine does.
    """
    faults.play(script)
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)

    watching = asyncio.create_task(watch())
    async with LockService(Settings(faults.base_url, timeout_s=0.5), AT_ONCE) as client:
        with contextlib.suppress(ServiceError):
            await client.list_languages("a", "b")
        await asyncio.sleep(0)  # let the watch look once more
    watching.cancel()
    return longest


async def test_a_cancelled_write_is_cancelled_at_once(faults: FaultServer):
    arrived = asyncio.Event()

    async def hold(line: Line) -> None:
        arrived.set()
        await line.reader.read()

    faults.play(hold)
    async with LockService(Settings(faults.base_url)) as client:
        task = asyncio.create_task(client.send(writes.delete_remote(5)))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(faults.asked) == 1


async def test_redirects_are_not_followed(faults: FaultServer):
    faults.play(*(answers("", status, "Location: /elsewhere") for status in (301, 307)))
    async with LockService(Settings(faults.base_url)) as client:
        for _ in range(2):
            with pytest.raises(ResultUnknownError):
                await client.send(writes.delete_remote(5))
    assert not [asked for asked in faults.asked if "elsewhere" in asked.start]


async def test_a_packed_answer_or_one_with_a_byte_order_mark_is_read(faults: FaultServer):
    packed = answers(gzip.compress(GOOD.encode()), 200, "Content-Encoding: gzip")
    async with LockService(Settings(faults.base_url), AT_ONCE) as client:
        for script in (packed, answers(b"\xef\xbb\xbf" + GOOD.encode())):
            faults.play(script)
            assert (await client.remote_detail(5)).id == 5
            await client.send(writes.delete_remote(5))
            with pytest.raises(MalformedAnswerError, match="remote 6"):
                await client.remote_detail(6)
    assert faults.asked[0].headers["accept-encoding"] == "gzip"


async def test_the_clocks_difference_is_known(faults: FaultServer):

    faults.play(answers(GOOD, 200, f"Date: {formatdate(time.time() + 600, usegmt=True)}"))
    async with LockService(Settings(faults.base_url)) as client:
        assert client.clock_offset_s is None
        await client.remote_detail(5)
        assert client.clock_offset_s == pytest.approx(600, abs=2)
        for odd in ("Age: 500", "Date: yesterday", "Date: Mon, 99 Foo 2035 77:00:00 GMT"):
            faults.play(answers(GOOD, 200, odd))
            await client.remote_detail(5)
        assert client.clock_offset_s == pytest.approx(600, abs=2)


PAGE = '{"errcode":0,"data":{"list":[],"pageNo":1,"pageSize":20,"pages":1,"total":137}}'
WELL = says(http(PAGE), keep=True)


async def silent(line: Line) -> None:
    await line.reader.read()


async def half(line: Line) -> None:
    await line.send(http(PAGE)[:-9])
    await line.reader.read()


@pytest.mark.parametrize("script", [WELL, silent, half], ids=["good", "silent", "half"])
@pytest.mark.parametrize("by", ["a key", "the deadline"])
async def test_what_was_given_up_costs_the_next_one_nothing(
    faults: FaultServer, script: Script, by: str
) -> None:
    """Whatever step it was at, and however many were under way."""
    chance = Random(1)
    faults.play(script)
    transport = Transport(Settings(faults.base_url), Clock())
    await transport.open()
    for _ in range(30):
        tasks = []
        for _ in range(5):
            within_s = 3.0 if by == "a key" else chance.random() * 0.01
            read = transport.exchange("GET", "/", within_s=within_s)
            tasks.append(asyncio.ensure_future(read))
            for _ in range(chance.randrange(30)):
                await asyncio.sleep(0)
            if by == "a key":
                tasks[-1].cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                assert isinstance(result, LocktermError), repr(result)
    faults.play(WELL)
    assert (await transport.exchange("GET", "/", within_s=30.0)).body == PAGE.encode()
    async with asyncio.timeout(30):  # nothing of what was given up stays open
        while faults.open_connections > 4:
            await asyncio.sleep(0.01)
    await transport.close()
