"""When a write counts as being sent: once it is connected, before its first byte."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lockterm.domain.operation import Operation, OperationState
from lockterm.errors import ResultUnknownError, StoreError, UnreachableError
from lockterm.operations import Operations
from lockterm.operations.journal_store import JournalStore
from tests.faults.calls import new_remote
from tests.faults.catalogue import close
from tests.faults.proxy import Exchange
from tests.faults.site import Site


async def state_of(operations: Operations) -> OperationState:
    return (await operations.journal.history())[-1].state


async def test_write_is_noted_as_sent_when_its_bytes_leave(site: Site) -> None:
    lock_id, seen = site.new_lock(), list[OperationState]()
    async with site.proxy() as proxy, site.operations(proxy, reads_back=False) as operations:

        async def look(exchange: Exchange) -> None:
            seen.append(await state_of(operations))
            await close(exchange)

        proxy.arm("add", look)
        with pytest.raises(ResultUnknownError):
            await operations.writes.add_remote(new_remote(lock_id))
        assert seen == [OperationState.SENDING]


async def test_write_is_never_noted_as_sent_when_nothing_can_be_reached(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock_id, noted = site.new_lock(), list[Operation]()
    note_sending = JournalStore.note_sending

    async def note(self: JournalStore, operation: Operation) -> None:
        noted.append(operation)
        await note_sending(self, operation)

    monkeypatch.setattr(JournalStore, "note_sending", note)
    async with site.proxy() as proxy, site.operations(proxy, reads_back=False) as operations:

        def broken(*args: Any) -> Any:
            raise OSError("refused")

        monkeypatch.setattr(operations.remotes, "is_name_free", free)
        monkeypatch.setattr("httpcore.AnyIOBackend.connect_tcp", broken)
        monkeypatch.setattr("httpcore._backends.auto.AutoBackend.connect_tcp", broken)
        with pytest.raises(UnreachableError):
            await operations.writes.add_remote(new_remote(lock_id))
        assert noted == [] and await state_of(operations) is OperationState.NOT_SENT


async def free(*args: Any) -> bool:
    return True


async def test_nothing_is_sent_when_that_cannot_be_noted(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock_id = site.new_lock()

    async def full(self: JournalStore, operation: Operation) -> None:
        await asyncio.sleep(0)
        raise StoreError("The disk is full.")

    monkeypatch.setattr(JournalStore, "note_sending", full)
    async with site.proxy() as proxy, site.operations(proxy, reads_back=False) as operations:
        with pytest.raises(StoreError, match="full"):
            await operations.writes.add_remote(new_remote(lock_id))
        assert "add" not in proxy.asked and proxy.ledger == []
        assert await state_of(operations) is OperationState.NOT_SENT
