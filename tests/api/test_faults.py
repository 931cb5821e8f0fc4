"""Each row of the fault table, on a read and on a write: the error, the attempts, the secrets."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import time

import pytest

from lockterm.api import writes
from lockterm.api.client import LockService
from lockterm.errors import (
    MalformedAnswer,
    NoAnswer,
    OutcomeUnknown,
    RateLimited,
    Refused,
    ServiceError,
)
from tests.api.conftest import AT_ONCE, Settings
from tests.api.fault_server import FaultServer, Script, answers, http, says
from tests.long import telling
from tests.servers import Line

STALL_S = 0.05
"""Half of what a key may wait."""
SECRET = "Bearer 5ecret-t0ken"
GOOD = '{"errcode":0,"errmsg":"","description":"","data":{"id":5,"remoteName":"n"}}'
HOSTILE = "<html>\x1b[31m\u202e" + SECRET + "<p>" * 300


async def reset(line: Line) -> None:
    line.reset()


async def silence(line: Line) -> None:
    await line.reader.read()


def then(script: Script, after: Script) -> Script:
    async def both(line: Line) -> None:
        await script(line)
        await after(line)

    return both


def drip(data: bytes, each: int = 1) -> Script:
    """A byte now and then, for ever: no read of it ever times out."""

    async def script(line: Line) -> None:
        await line.send(data)
        while True:
            await line.send(b" " * each)
            await asyncio.sleep(0.02)

    return script


async def informational_flood(line: Line) -> None:
    while True:
        await line.send(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100)


def packed(body: bytes, *, encoding: str = "gzip", cut: int | None = None) -> Script:
    return answers(gzip.compress(body)[:cut], 200, f"Content-Encoding: {encoding}")


def envelope(code: object, **more: object) -> str:
    return json.dumps({"errcode": code, "errmsg": "said", "description": "why", **more})


BROKEN_OFF: dict[str, Script] = {
    "reset before the answer": reset,
    "closed before the answer": says(),
    "reset inside the headers": then(says(b"HTTP/1.1 200 OK\r\nContent-"), reset),
    "reset inside the body": then(answers(GOOD[:20], length=500), reset),
    "body shorter than said": answers(GOOD, length=500),
    "chunks without an end": says(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{'a': 123"
    ),
    "not HTTP": says(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "101": says(b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
    "endless header": says(b"HTTP/1.1 200 OK\r\nX: ", b"x" * 300_000, b"\r\n\r\n"),
    "silence": silence,
    "silence inside the body": then(answers(GOOD[:20], length=500), silence),
    "drip inside the body": drip(http(GOOD, length=10**6)),
    "drip inside the headers": drip(b"HTTP/1.1 200 OK\r\nX:"),
    "informational answers for ever": informational_flood,
}
"""No complete answer."""

MALFORMED: dict[str, Script] = {
    "HTML of a proxy": answers(HOSTILE),
    "empty": answers(""),
    "204": answers("", 204),
    "truncated JSON": answers(GOOD[:-9]),
    "two JSON values": answers(GOOD + GOOD),
    "an array": answers(f"[{GOOD}]"),
    "bad UTF-8": answers(GOOD.encode().replace(b'"n"', b'"\xff"')),
    "UTF-16": answers(GOOD.encode("utf-16")),
    "NaN": answers(envelope(0, data=float("nan"))),
    "infinite": answers(GOOD.replace(":5", ":1e999")),
    "millions of objects": answers('{"errcode":0,"data":[' + "{}," * 2_000_000 + "{}]}"),
    "deep nesting": answers("[" * 100_000),
    "fairly deep nesting": answers(envelope(0, data=json.loads("[" * 80 + "]" * 80))),
    "5,000 digits": answers(GOOD.replace(":5", ":" + "9" * 5000)),
    "duplicate keys": answers(GOOD.replace('"data"', '"errcode":0,"data"')),
    "HTTP 300": answers(GOOD, 300),
    "no code": answers('{"errmsg":"","data":{}}'),
    "codes that differ": answers(envelope(0, errorCode=1)),
    "one code null": answers(envelope(0, errorCode=None)),
    "code true": answers(envelope(True)),
    "code false": answers(envelope(False)),
    "code 0.0": answers(envelope(0.0)),
    "code null": answers(envelope(None)),
    "code in words": answers(envelope("zero")),
    "code in other digits": answers(envelope("٠")),
    "huge": answers(b" " * (9 << 20) + GOOD.encode()),
    "gzip bomb": packed(b" " * (40 << 20) + GOOD.encode()),
    "gzip cut short": packed(GOOD.encode(), cut=-12),
    "gzip that is none": answers(GOOD, 200, "Content-Encoding: gzip"),
    "unasked packing": packed(GOOD.encode(), encoding="br"),
    "301": answers("", 301, "Location: /elsewhere"),
    "302 to another host": answers(GOOD, 302, "Location: http://127.0.0.1:1/?token=x"),
    "302 to nowhere": answers(GOOD, 302, "Location: http://[::/\x7f"),
    "307": answers(GOOD, 307, "Location: /elsewhere"),
    "408": answers(envelope(9), 408),
    "500 with an envelope": answers(envelope(9), 500),
    "500 with an envelope of success": answers(GOOD, 500),
    "502 with HTML": answers(HOSTILE, 502),
    "503": answers("", 503, "Retry-After: 0"),
    "404 with an envelope of success": answers(GOOD, 404),
}
"""A whole answer that says neither yes nor no."""

REFUSED: dict[str, Script] = {
    "code 7": answers(envelope(7)),
    "code as text": answers(envelope("7")),
    "negative code": answers(envelope(-3)),
    "other spelling": answers('{"errorCode":7,"errorMsg":"said","description":"why"}'),
    "both spellings": answers('{"errcode":7,"errorCode":"7","errmsg":"said"}'),
    "400": answers(envelope(7), 400),
    "401": answers(HOSTILE, 401),
    "403 that is too large": answers(b" " * (9 << 20), 403),
    "404": answers("not found", 404),
    "422": answers(envelope(7), 422),
    "429 for long": answers(envelope(7), 429, "Retry-After: 3600"),
}
"""A no."""

FAULTS = BROKEN_OFF | MALFORMED | REFUSED
RECOVERED = {*BROKEN_OFF, "502 with HTML", "gzip bomb"}
ENDLESS = {
    *("silence inside the body", "drip inside the body", "drip inside the headers"),
    "informational answers for ever",
}
"""Those that end with the time there is, beside plain silence."""


def checked(error: ServiceError) -> None:
    """What an error shows is short, printable and without secrets, and tells more than a title."""
    shown = f"{error.title}{error.message}{error.hint}{getattr(error, 'description', '')}"
    assert shown.isprintable() and len(error.message) < 500
    assert "5ecret" not in shown and "token=x" not in shown
    assert error.message


def brief(name: str, server: FaultServer) -> Settings:
    """Little time for what never ends; enough of it for all else on a busy machine."""
    endless = any(word in name for word in ("silence", "drip", "for ever"))
    headers = {"Authorization": SECRET}
    return Settings(server.base_url, headers=headers, timeout_s=0.8 if endless else 10.0)


@pytest.mark.parametrize("name", telling(FAULTS.keys() - ENDLESS, FAULTS))
async def test_read(faults: FaultServer, name: str):
    faults.play(FAULTS[name])
    async with LockService(brief(name, faults), AT_ONCE) as client:
        with pytest.raises(ServiceError) as error:
            await client.remote_detail(5)
    kind = NoAnswer if name in BROKEN_OFF else MalformedAnswer
    assert isinstance(error.value, Refused if name in REFUSED else kind)
    assert len(faults.asked) == (1 if name in REFUSED else 3)
    assert all(asked.start.startswith("POST /api/") for asked in faults.asked)
    checked(error.value)


@pytest.mark.parametrize("name", telling(FAULTS.keys() - ENDLESS, FAULTS))
async def test_write(faults: FaultServer, name: str):
    """Sent once, whatever comes back, and in doubt unless the answer is a clear no."""
    faults.play(FAULTS[name])
    async with LockService(brief(name, faults), AT_ONCE) as client:
        with pytest.raises(ServiceError) as error:
            await client.send(writes.delete_remote(5))
    assert type(error.value) in ((Refused, RateLimited) if name in REFUSED else (OutcomeUnknown,))
    assert len(faults.asked) == 1
    checked(error.value)


@pytest.mark.parametrize("name", telling(RECOVERED - ENDLESS, sorted(RECOVERED)))
async def test_a_read_recovers(faults: FaultServer, name: str):
    faults.play(FAULTS[name], FAULTS[name], answers(GOOD))
    async with LockService(brief(name, faults), AT_ONCE) as client:
        assert (await client.remote_detail(5)).remote_name == "n"


@pytest.mark.parametrize("status", [401, 403])
async def test_missing_permission_points_at_the_profile(faults: FaultServer, status: int):
    faults.play(answers(envelope(7), status))
    async with LockService(Settings(faults.base_url)) as client:
        with pytest.raises(Refused) as error:
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
        with pytest.raises(RateLimited):
            await client.send(writes.delete_remote(5))
        faults.play(answers("", 429, "Retry-After: 86400"))
        with pytest.raises(RateLimited) as error:
            await client.remote_detail(5)
        assert error.value.retry_after_s == 60
        date = "Date: Mon, 01 Jan 2035 00:00:00 GMT"
        faults.play(answers("", 429, date, "Retry-After: Mon, 01 Jan 2035 00:00:30 GMT"))
        with pytest.raises(RateLimited) as error:
            await client.remote_detail(5)
        assert error.value.retry_after_s == 30
    assert len(faults.asked) == 5


async def test_a_write_never_uses_a_connection_that_was_used_before(faults: FaultServer):
    faults.play(says(http(GOOD), keep=True))
    async with LockService(Settings(faults.base_url)) as client:
        for _ in range(3):
            await client.remote_detail(5)
            await client.send(writes.delete_remote(5))
    connections = [asked.connection for asked in faults.asked]
    assert connections == [1, 2, 1, 3, 1, 4]


async def test_a_read_survives_a_stale_connection(faults: FaultServer):
    faults.play(says(http(GOOD), keep=True), reset, answers(GOOD))
    async with LockService(Settings(faults.base_url), AT_ONCE) as client:
        await client.remote_detail(5)
        await client.remote_detail(5)
    assert [asked.connection for asked in faults.asked] == [1, 1, 2]


async def test_the_deadline_is_for_the_whole_attempt(faults: FaultServer):
    faults.play(BROKEN_OFF["drip inside the body"])
    settings = Settings(faults.base_url, timeout_s=0.3)
    async with LockService(settings) as client:
        with pytest.raises(OutcomeUnknown) as error:
            await client.send(writes.delete_remote(5))  # without a deadline the drip has no end
    assert "HTTP 200" in error.value.message  # what was known by then is told


async def test_a_flood_of_tiny_chunks_leaves_room_for_keys_and_the_deadline(faults: FaultServer):
    async def flood(line: Line) -> None:
        await line.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await line.send(b"1\r\n \r\n" * 10_000)

    assert await longest_stall(faults, flood) < STALL_S


async def test_a_large_answer_leaves_room_for_keys(faults: FaultServer):
    """As large as it may be, and as slow to read."""
    body = '{"errcode":0,"data":[' + "{}," * 49_000 + f'"{"x" * (7 << 20)}"]}}'
    assert await longest_stall(faults, answers(body)) < STALL_S


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


async def test_answer_is_malformed_when_it_is_about_another_remote(faults: FaultServer):
    faults.play(answers(GOOD))
    async with LockService(Settings(faults.base_url), AT_ONCE) as client:
        with pytest.raises(MalformedAnswer, match="remote 6"):
            await client.remote_detail(6)


async def test_redirects_are_not_followed(faults: FaultServer):
    faults.play(MALFORMED["301"], MALFORMED["307"])
    async with LockService(Settings(faults.base_url)) as client:
        for _ in range(2):
            with pytest.raises(OutcomeUnknown):
                await client.send(writes.delete_remote(5))
    assert not [asked for asked in faults.asked if "elsewhere" in asked.start]


@pytest.mark.parametrize("kind", ["read", "write"])
async def test_a_packed_answer_is_unpacked(faults: FaultServer, kind: str):
    faults.play(packed(GOOD.encode()))
    async with LockService(Settings(faults.base_url)) as client:
        await (client.remote_detail(5) if kind == "read" else client.send(writes.delete_remote(5)))
    assert faults.asked[0].headers["accept-encoding"] == "gzip"


async def test_an_answer_with_a_byte_order_mark_is_read(faults: FaultServer):
    faults.play(answers(b"\xef\xbb\xbf" + GOOD.encode()))
    async with LockService(Settings(faults.base_url), AT_ONCE) as client:
        assert (await client.remote_detail(5)).id == 5


async def test_the_clocks_difference_is_known(faults: FaultServer):
    from email.utils import formatdate

    faults.play(answers(GOOD, 200, f"Date: {formatdate(time.time() + 600, usegmt=True)}"))
    async with LockService(Settings(faults.base_url)) as client:
        assert client.clock_offset_s is None
        await client.remote_detail(5)
        assert client.clock_offset_s == pytest.approx(600, abs=2)
        for odd in ("Age: 500", "Date: yesterday", "Date: Mon, 99 Foo 2035 77:00:00 GMT"):
            faults.play(answers(GOOD, 200, odd))
            await client.remote_detail(5)
        assert client.clock_offset_s == pytest.approx(600, abs=2)
