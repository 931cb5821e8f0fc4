"""A disk that is full, a home that cannot be written: reads work, writes are refused before."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockterm.domain.locks import Lock
from lockterm.domain.operation import OperationState
from lockterm.errors import ResultUnknownError, StoreError
from lockterm.operations import Operations
from tests.faults.calls import CALLS, Scene
from tests.faults.cases import disagreements
from tests.faults.catalogue import applied_unheard
from tests.faults.proxy import READS, WRITES, FaultProxy
from tests.faults.site import Site, verify_step
from tests.operations.bench import Bench

NOBODY = 65534


@contextlib.contextmanager
def full_disk(limit: int = 0) -> Iterator[None]:
    """No file of this process can grow beyond the limit."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def check_reads_and_writes(
    site: Site, proxy: FaultProxy, operations: Operations, scene: Scene
) -> None:
    """What has to hold while nothing can be written."""
    assert [lock.lock_id for lock in await operations.locks.all()] == [scene.lock_id]
    assert len(await operations.journal.history()) == 1
    assert await operations.journal.list_unconfirmed() == []
    for call in READS:
        await CALLS[call](operations, scene)
    before = site.state(scene.lock_id)
    for call in WRITES:
        with pytest.raises(StoreError):
            await CALLS[call](operations, scene)
    assert site.state(scene.lock_id) == before
    assert not set(proxy.asked) & set(WRITES)


async def used_store(site: Site, lock_id: int) -> Path:
    """A store with a lock in its book and one operation in its journal."""
    store = site.new_store()
    async with site.proxy() as proxy, site.operations(proxy, store, name="p") as operations:
        await operations.locks.save(Lock(lock_id, "Gate"))
        remote = site.remotes(lock_id)[0]
        await operations.writes.set_user_no(lock_id, remote, 5)
    return store


@pytest.mark.parametrize("when", ["at the start", "later"])
async def test_the_disk_is_full(site: Site, when: str):
    lock_id = site.new_lock()
    store = await used_store(site, lock_id)
    scene = Scene(lock_id, site.remotes(lock_id)[1])
    async with site.proxy() as proxy, site.operations(proxy, store, name="p") as operations:
        if when == "later":
            await operations.journal.list_unconfirmed()
        with full_disk():
            await check_reads_and_writes(site, proxy, operations, scene)
        # There is room again: nothing has to be started anew, nothing is held back.
        for call in ("update", "add"):
            await CALLS[call](operations, scene)
        await operations.writes.clear_remotes(lock_id)
        assert disagreements((await operations.journal.history())[1:], proxy.ledger) == []


@contextlib.contextmanager
def full_from(proxy: FaultProxy, call: str) -> Iterator[None]:
    """Let the disk be full from a request on."""
    limit = full_disk()
    proxy.on_asked = lambda exchange: limit.__enter__() if exchange.call == call else None
    try:
        yield
    finally:
        limit.__exit__(None, None, None)
        proxy.on_asked = lambda exchange: None


async def test_the_disk_fills_up_while_a_write_is_on_its_way(bench: Bench):
    """The outcome cannot be noted now: it is noted as soon as there is room."""
    with full_from(bench.proxy, "add"):
        added = await bench.call("add")  # recorded, and said so
        assert await bench.states() == [OperationState.SENDING]
    (row,) = await bench.history()
    assert (row.state, row.remote_id) == (OperationState.CONFIRMED, added)


async def test_the_disk_is_full_while_it_is_read_back(bench: Bench):
    await bench.unconfirmed()
    with full_from(bench.proxy, "delete"):
        bench.proxy.arm("delete", applied_unheard, 1)
        with pytest.raises(ResultUnknownError):
            await bench.call("delete")
        await verify_step(bench.operations)
    async with asyncio.timeout(60):
        while await bench.states() != [OperationState.CONFIRMED_BY_READING]:
            bench.watch.start()
            await verify_step(bench.operations)


@pytest.fixture
def unwritable() -> Iterator[Path]:
    """A place that another user, whom ``as_owner`` becomes, owns but cannot write."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for place in [folder, *folder.rglob("*")]:
        if place.is_dir():
            place.chmod(0o700)
    shutil.rmtree(folder)


@contextlib.contextmanager
def as_owner(*places: Path) -> Iterator[None]:
    """Be the owner of places, and no superuser, to whom every place can be written."""
    if os.geteuid():
        yield
        return
    for place in places:
        os.chown(place, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_the_home_cannot_be_written(site: Site, unwritable: Path):
    lock_id = site.new_lock()
    used = await used_store(site, lock_id)
    scene = Scene(lock_id, site.remotes(lock_id)[1])
    store = unwritable / "state" / "lockterm.db"
    store.parent.mkdir()
    shutil.copy(used, store)
    store.chmod(0o400)
    store.parent.chmod(0o500)
    async with site.proxy() as proxy, site.operations(proxy, store, name="p") as operations:
        with as_owner(store, store.parent):
            await check_reads_and_writes(site, proxy, operations, scene)
    assert [entry.name for entry in store.parent.iterdir()] == ["lockterm.db"]
