"""A lock with three remotes, one session behind a proxy, and what tests do with them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.remotes import Remote
from lockterm.errors import ResultUnknownError
from lockterm.operations import Operations
from lockterm.operations.proof import Horizon
from tests.api.fault_server import http
from tests.faults.calls import CALLS, Scene
from tests.faults.cases import disagreements
from tests.faults.catalogue import applied_unheard, close
from tests.faults.proxy import Exchange, FaultProxy, Play
from tests.faults.site import Site, verify_step
from tests.operations.virtual import VirtualTimer


async def reply(exchange: Exchange) -> None:
    """Answer as the service does."""
    answer = await exchange.apply()
    await exchange.send(answer.head + b"\r\n\r\n" + answer.body)


class Gate:
    """Holds requests back until it is opened.

    Args:
        is_applied: Whether the service has them before they are held.
    """

    def __init__(self, *, is_applied: bool = False) -> None:
        self.open = asyncio.Event()
        self.waiting = 0
        """How many requests have come."""
        self._is_applied = is_applied

    async def __call__(self, exchange: Exchange) -> None:
        if self._is_applied:
            await exchange.apply()
        self.waiting += 1
        await self.open.wait()
        await reply(exchange)


def shows(change: Callable[[dict[str, Any]], None]) -> Play:
    """Show a list, or details, with each remote changed on the way."""

    async def play(exchange: Exchange) -> None:
        answer = await exchange.apply()
        value = json.loads(answer.body)
        for record in value["data"].get("list", [value["data"]]):
            change(record)
        lines = answer.head.decode().split("\r\n")
        date = next(line for line in lines if line.lower().startswith("date"))
        await exchange.send(http(json.dumps(value), 200, date, "Content-Type: application/json"))

    return play


def old_answers() -> Play:
    """Answer every request as the first one was answered, whatever comes."""
    kept: list[bytes] = []

    async def play(exchange: Exchange) -> None:
        if not kept:
            answer = await exchange.apply()
            kept.append(answer.head + b"\r\n\r\n" + answer.body)
        exchange.keep = True
        await exchange.send(kept[0])

    return play


def patient(operations: Operations) -> None:
    """Have the horizon of a real service, and let the time for a proof pass at once."""
    operations.watch.timer, operations.watch.horizon = VirtualTimer(), Horizon()


def read_nothing_back(operations: Operations) -> None:
    """Leave what is lost to the test, which checks it by hand."""
    operations.watch.start = lambda: None  # type: ignore[method-assign]


@dataclass
class Bench:
    """A lock with three remotes, and one session."""

    site: Site
    proxy: FaultProxy
    operations: Operations
    lock_id: int

    def __post_init__(self) -> None:
        self.writes = self.operations.writes
        self.journal = self.operations.journal
        self.runs = self.operations.runs
        self.watch = self.operations.watch
        self.resolution = self.operations.resolution
        self.first, self.second, self.third = self.remotes
        self.scene = Scene(self.lock_id, self.second)

    @property
    def remotes(self) -> list[Remote]:
        """What the service has by now."""
        return self.site.remotes(self.lock_id)

    @property
    def names(self) -> list[str]:
        """The names of the remotes that the service has by now."""
        return sorted(one.remote_name or "" for one in self.remotes)

    def call(self, call: str, remote: Remote | None = None) -> Any:
        """Do one of the contract's calls, about the second remote or another one."""
        return CALLS[call](self.operations, Scene(self.lock_id, remote or self.second))

    async def lose(
        self, call: str, fault: Play = applied_unheard, remote: Remote | None = None
    ) -> Operation:
        """Send a write whose answer never comes, and have it read back."""
        return await lose(self.operations, self.proxy, call, self.call(call, remote), fault)

    async def history(self) -> list[Operation]:
        return list(await self.journal.history())

    async def states(self) -> list[OperationState]:
        """Those of all operations, the oldest first."""
        return [row.state for row in await self.history()]

    async def unconfirmed(self) -> list[Operation]:
        return list(await self.journal.list_unconfirmed())

    async def agree(self) -> None:
        assert disagreements(await self.history(), self.proxy.ledger) == []

    async def until_state(self, state: OperationState, place: int = 0) -> None:
        """Wait until an operation of the history has a state."""
        async with asyncio.timeout(60):
            while (await self.states())[place] is not state:
                await asyncio.sleep(0.01)

    def ask(self, call: str, **body: Any) -> Any:
        """Have someone else change the lock's remotes, past the proxy."""
        if call != "delete":
            body = {"lockId": self.lock_id} | body
        return self.site.ask(f"bluetooth-remote/{call}", **body)


async def lose(
    operations: Operations,
    proxy: FaultProxy,
    call: str,
    write: Awaitable[Any],
    fault: Play = close,
) -> Operation:
    """Send a write whose answer never comes, and have it read back."""
    proxy.arm(call, fault, 1)
    with pytest.raises(ResultUnknownError):
        await write
    await verify_step(operations)
    return (await operations.journal.history())[-1]
