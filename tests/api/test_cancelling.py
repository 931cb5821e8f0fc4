"""Exchanges that are given up: by the next key, or by their deadline."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from lockterm.api.transport import Transport
from lockterm.domain.clock import Clock
from lockterm.errors import LocktermError
from tests.api.conftest import Settings
from tests.api.fault_server import FaultServer, Script, http, says
from tests.servers import Line

PAGE = '{"errcode":0,"data":{"list":[],"pageNo":1,"pageSize":20,"pages":1,"total":137}}'
GOOD = says(http(PAGE), keep=True)


async def silent(line: Line) -> None:
    await line.reader.read()


async def half(line: Line) -> None:
    await line.send(http(PAGE)[:-9])
    await line.reader.read()


@pytest.mark.parametrize("script", [GOOD, silent, half], ids=["good", "silent", "half"])
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
    faults.play(GOOD)
    assert (await transport.exchange("GET", "/", within_s=30.0)).body == PAGE.encode()
    async with asyncio.timeout(30):  # nothing of what was given up stays open
        while faults.open_connections > 4:
            await asyncio.sleep(0.01)
    await transport.close()
