"""Answers in the smallest pieces: few are taken in one go; what has arrived is taken at once."""

from __future__ import annotations

import asyncio
import socket

import pytest

from lockterm.api import answer
from lockterm.api.answer import BodyReader
from lockterm.api.transport import Transport
from lockterm.domain.dates import Clock
from tests.api.conftest import Settings
from tests.api.fault_server import FaultServer, http
from tests.servers import Line

BODY = b'{"errcode": 0, "data": {"x": "' + b"x" * 6000 + b'"}}'


class Counting(BodyReader):
    """Counts the pieces since the last rest."""

    pieces = run = longest = 0

    def feed(self, chunk: bytes) -> None:
        cls = type(self)
        cls.pieces, cls.run = cls.pieces + 1, cls.run + 1
        cls.longest = max(cls.longest, cls.run)
        super().feed(chunk)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> type[Counting]:
    counting: type[Counting] = type("Counting", (Counting,), {})
    monkeypatch.setattr("lockterm.api.transport.BodyReader", counting)
    monkeypatch.setattr(answer, "rest", lambda seconds: rested(counting))
    return counting


async def rested(counting: type[Counting]) -> None:
    counting.run = 0
    await asyncio.sleep(0)


async def body_of(faults: FaultServer) -> bytes:
    transport = Transport(Settings(faults.base_url), Clock())
    await transport.open()
    try:
        return (await transport.exchange("GET", "/x", within_s=60)).body
    finally:
        await transport.close()


async def test_one_byte_a_chunk(faults: FaultServer, counting: type[Counting]) -> None:
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in BODY)

    async def script(line: Line) -> None:
        await line.send(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
        )

    faults.play(script)
    assert await body_of(faults) == BODY
    assert counting.pieces == len(BODY) and counting.longest <= answer.IN_ONE_GO


async def test_one_byte_a_packet(
    faults: FaultServer, counting: type[Counting], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it rests, more arrives, and is one piece."""
    sent = 0

    async def script(line: Line) -> None:
        nonlocal sent
        connection = line.writer.get_extra_info("socket")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await line.send(http(b"", 200, length=len(BODY)))
        for byte in BODY:
            await line.send(bytes([byte]))
            sent += 1
            await asyncio.sleep(0)

    async def rest_until_more_has_arrived(seconds: float) -> None:
        counting.run, before = 0, sent
        while seconds and sent < min(before + 200, len(BODY)):
            await asyncio.sleep(0)

    monkeypatch.setattr(answer, "rest", rest_until_more_has_arrived)
    faults.play(script)
    assert await body_of(faults) == BODY
    assert counting.longest <= answer.IN_ONE_GO and counting.pieces < len(BODY) / 3


async def test_an_answer_in_large_pieces_waits_for_nothing(
    faults: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests: list[float] = []

    async def note(seconds: float) -> None:
        rests.append(seconds)
        await asyncio.sleep(0)

    monkeypatch.setattr(answer, "rest", note)
    faults.play(lambda line: line.send(http(b"x" * 5_000_000)))
    assert len(await body_of(faults)) == 5_000_000
    assert sum(rests) < 10 * answer.REST_S


async def test_each_run_of_small_pieces_ends_with_one_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    rests = list[float]()

    async def note(seconds: float) -> None:
        rests.append(seconds)

    monkeypatch.setattr(answer, "rest", note)
    pace = answer.ChunkPacer()
    for _ in range(2 * answer.IN_ONE_GO + 1):
        await pace.after(b"x")
    assert rests == [answer.REST_S] * 2
