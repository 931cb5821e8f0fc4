"""Connections that are made before they are wanted: for the first reads, and in nobody's way."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import pytest

from lockterm.api import connection_pool, writes
from lockterm.api.client import LockService
from lockterm.api.retry_policy import RetryPolicy
from lockterm.errors import Unreachable
from tests.api.conftest import AT_ONCE, Settings
from tests.api.fault_server import FaultServer, http, says
from tests.certs import CERTS
from tests.faults.site import tls_context

GOOD = says(http('{"errcode":0,"data":{"id":5}}'), keep=True)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.01)


@pytest.fixture(params=["http", "https"])
async def settings(request: pytest.FixtureRequest, faults: FaultServer) -> Settings:
    if request.param == "https":
        faults.tls = tls_context(CERTS / "server")
        await faults.listen(faults.tls)
    faults.play(GOOD)
    return Settings(faults.base_url, ca_file=str(CERTS / "ca.pem"))


async def test_the_first_read_takes_it_and_a_write_does_not(
    faults: FaultServer, settings: Settings
) -> None:
    async with LockService(settings, AT_ONCE) as client:
        client.connect_ahead(1)
        client.connect_ahead(1)
        await until(lambda: faults.open_connections == 1)
        assert faults.asked == []
        await client.send(writes.delete_remote(5))
        assert faults.accepted == 2
        await client.remote_detail(5)
        await client.remote_detail(5)
        assert (len(faults.asked), faults.accepted) == (3, 2)


async def test_who_asks_while_it_is_made_waits_for_it_alone(
    faults: FaultServer, settings: Settings
) -> None:
    async with LockService(settings, AT_ONCE) as client:
        client.connect_ahead(1)
        await asyncio.gather(*(client.remote_detail(5) for _ in range(3)))
        assert (len(faults.asked), faults.accepted) == (3, 3)


async def test_there_are_as_many_as_go_on_side_by_side(
    faults: FaultServer, settings: Settings
) -> None:
    async with LockService(settings, AT_ONCE) as client:
        client.connect_ahead(1)
        for _ in range(2):
            client.connect_ahead(3)
        await until(lambda: faults.open_connections == 3)
        assert faults.asked == []
        await asyncio.gather(*(client.remote_detail(5) for _ in range(3)))
        client.connect_ahead(3)  # there are those that were kept
        await asyncio.gather(*(client.remote_detail(5) for _ in range(3)))
        assert faults.accepted == 3


async def test_one_that_nobody_took_is_closed_after_a_while(
    faults: FaultServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_pool, "KEPT_S", 0.3)
    async with LockService(settings, AT_ONCE) as client:
        client.connect_ahead(2)
        await until(lambda: faults.accepted == 2 and faults.open_connections == 0)
        assert (await client.remote_detail(5)).id == 5
        assert faults.accepted == 3


async def test_who_gives_up_waiting_for_it_leaves_it_to_the_next(faults: FaultServer) -> None:
    """As with a key that asks for something else before there is a connection."""
    loop = asyncio.get_running_loop()
    with socket.create_server(("127.0.0.1", 0)) as silent:  # TCP, and no TLS
        silent.setblocking(False)
        url = f"https://localhost:{silent.getsockname()[1]}"
        async with LockService(Settings(url, ca_file=str(CERTS / "ca.pem")), AT_ONCE) as client:
            client.connect_ahead(1)
            line, _ = await loop.sock_accept(silent)
            for _ in range(2):
                reading = asyncio.ensure_future(client.remote_detail(5))
                for _ in range(10):
                    await asyncio.sleep(0)
                reading.cancel()
                await asyncio.wait([reading])
                assert reading.cancelled()
        with line:
            line.setblocking(False)
            async with asyncio.timeout(60):
                while await loop.sock_recv(line, 4096):  # to its end: it does not stay open
                    pass
        with pytest.raises(BlockingIOError):
            silent.accept()


async def test_one_that_has_ended_meanwhile_is_not_tried(
    faults: FaultServer, settings: Settings
) -> None:
    """A read would be lost on it, and tried again after a pause."""
    faults.at_once = says()
    async with LockService(settings, RetryPolicy(attempts=1)) as client:
        client.connect_ahead(1)
        await until(lambda: faults.accepted == 1 and faults.open_connections == 0)
        faults.at_once = None
        assert (await client.remote_detail(5)).id == 5
        assert faults.accepted == 2


async def test_where_there_is_none_the_next_read_says_why() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    async with LockService(Settings(f"http://127.0.0.1:{port}"), AT_ONCE) as client:
        client.connect_ahead(1)
        with pytest.raises(Unreachable, match="refused"):
            await client.remote_detail(5)


async def test_one_that_nobody_took_is_closed_at_the_end(
    faults: FaultServer, settings: Settings
) -> None:
    async with LockService(settings, AT_ONCE) as client:
        client.connect_ahead(1)
        await until(lambda: faults.open_connections == 1)
    await until(lambda: faults.open_connections == 0)
    assert faults.asked == []
