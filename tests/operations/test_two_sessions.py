"""Two sessions on one store: both live, none sends what the other has settled or is sending."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest

from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.plan import StepState
from lockterm.errors import RefusedError, ResultUnknownError
from lockterm.operations import Operations
from lockterm.operations.proof import Horizon
from lockterm.operations.refusals import AlreadyResolvedError, PendingChangeError
from lockterm.store.database import Database
from lockterm.store.journal import Journal
from lockterm.store.sessions import StoreSession
from tests.faults.calls import CALLS, Scene, new_remote
from tests.faults.cases import disagreements
from tests.faults.catalogue import answers, applied_unheard, close, refusal
from tests.faults.proxy import Entry, Exchange, FaultProxy
from tests.faults.site import Site, checked, until, verify_step
from tests.operations.runs.planning import add, execute
from tests.operations.virtual import VirtualTimer


@dataclass
class Pair:
    """Two sessions at one service, with one store."""

    site: Site
    proxy: FaultProxy
    here: Operations
    there: Operations
    scene: Scene

    async def lose(self, call: str, fault=close) -> Operation:
        self.proxy.arm(call, fault, 1)
        with pytest.raises(ResultUnknownError):
            await CALLS[call](self.here, self.scene)
        await verify_step(self.here)
        return (await self.here.journal.history())[-1]


@pytest.fixture
async def pair(site: Site) -> AsyncIterator[Pair]:
    lock_id, store = site.new_lock(), site.new_store()
    async with (
        site.proxy() as proxy,
        site.operations(proxy, store) as here,
        site.operations(proxy, store) as there,
    ):
        yield Pair(site, proxy, here, there, Scene(lock_id, site.remotes(lock_id)[1]))
        assert disagreements(await here.journal.history(), proxy.ledger) == []


async def test_the_other_session_knows_who_holds_the_lock(pair: Pair):
    operation = await pair.lose("add")
    (seen,) = await pair.there.journal.list_unconfirmed(pair.scene.lock_id)
    assert seen == operation
    with pytest.raises(PendingChangeError, match=operation.session):
        await pair.there.writes.add_remote(new_remote(pair.scene.lock_id, "Other fob"))
    await pair.there.resolution.give_up(seen)
    await pair.here.writes.add_remote(new_remote(pair.scene.lock_id, "Other fob"))


@pytest.mark.parametrize(("name", "number"), [("New fob", "N-901"), ("Another", "n 900")])
async def test_add_not_seen_blocks_only_its_like_and_clears_in_a_later_session(
    pair: Pair, name: str, number: str
):
    """It may still land: another add of it would double it, and a clear could miss it."""
    operation, lock_id = await pair.lose("add"), pair.scene.lock_id
    assert operation.state is OperationState.NOT_SEEN
    with pytest.raises(PendingChangeError):
        await pair.there.writes.add_remote(new_remote(lock_id, name, number))
    with pytest.raises(PendingChangeError):
        await pair.there.writes.clear_remotes(lock_id)
    with pytest.raises(PendingChangeError):
        await pair.here.writes.add_remote(new_remote(lock_id, "Another fob", "N-901"))
    await pair.there.writes.add_remote(new_remote(lock_id, "Another fob", "N-901"))


@pytest.mark.parametrize("state", [OperationState.UNKNOWN, OperationState.NOT_SEEN])
async def test_run_goes_on_behind_an_add_that_an_ended_session_lost(
    pair: Pair, state: OperationState
):
    """An add that a kill kept from leaving does not stop the rest of its lock."""
    operation, lock_id = await pair.lose("add"), pair.scene.lock_id
    await pair.here.journal.resolve(operation, state=state)
    pair.there.watch.timer, pair.there.watch.horizon = VirtualTimer(), Horizon()
    lost = add(lock_id, 0, remoteName=operation.remote_name, remoteNumber="N-900")
    done = await execute(pair.there, [lost, add(lock_id, 1), add(lock_id, 2)])
    states = [step.state for step in done.steps]
    assert states == [StepState.NOT_SENT, StepState.RECORDED, StepState.RECORDED]


async def test_an_add_on_its_way_holds_back_the_other_session(pair: Pair):
    gate = asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        await gate.wait()
        answer = await exchange.apply()
        await exchange.send(answer.head + b"\r\n\r\n" + answer.body)

    pair.proxy.arm("add", slow, 1)
    adding = asyncio.create_task(CALLS["add"](pair.here, pair.scene))
    await until(lambda: "add" in pair.proxy.asked)
    for call in ("add", "clear"):
        with pytest.raises(PendingChangeError):
            await CALLS[call](pair.there, pair.scene)
    # What the other session is sending is not taken for lost.
    assert await pair.there.journal.list_unconfirmed() == []
    gate.set()
    await adding
    assert [one.state for one in await pair.there.journal.history()] == [OperationState.CONFIRMED]


@pytest.mark.parametrize("call", ["add", "update", "delete", "updateRemoteUserNo"])
async def test_only_one_of_two_sends_it_again(pair: Pair, call: str):
    operation = await pair.lose(call)
    gate = asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        gate.set()
        answer = await exchange.apply()
        await exchange.send(answer.head + b"\r\n\r\n" + answer.body)

    pair.proxy.arm(call, slow, 1)
    results = await asyncio.gather(
        pair.here.resolution.send_again(operation),
        pair.there.resolution.send_again(operation),
        return_exceptions=True,
    )
    refused = [one for one in results if isinstance(one, Exception)]
    assert len(refused) == 1 and len(pair.proxy.applied(call)) == 1, results
    assert isinstance(
        refused[0], (PendingChangeError, AlreadyResolvedError)
    ) or "has a remote" in str(refused[0])
    assert pair.proxy.asked.count(call) == 2


@pytest.mark.parametrize("end", ["confirmed", "dismissed", "sent again"])
async def test_what_the_other_session_settled_is_not_sent_again(pair: Pair, end: str):
    stale = await pair.lose("update", applied_unheard if end == "confirmed" else close)
    if end == "confirmed":
        stale = await pair.here.journal.find(stale.id) or stale
    elif end == "dismissed":
        await pair.there.resolution.give_up(stale)
    else:
        await pair.there.resolution.send_again(stale)
    asked = pair.proxy.asked.count("update")
    with pytest.raises(AlreadyResolvedError):
        await pair.here.resolution.send_again(stale)
    assert pair.proxy.asked.count("update") == asked


@pytest.mark.parametrize("call", ["update", "delete", "clear"])
async def test_second_send_does_not_confirm_the_first(pair: Pair, call: str):
    """It is read back while the service has applied the second, and has not answered yet."""
    lost = await pair.lose(call)
    second = "delete" if call == "clear" else call
    applied, gate = asyncio.Event(), asyncio.Event()

    async def held(exchange: Exchange) -> None:
        answer = await exchange.apply()
        if call != "clear" or not pair.site.remotes(pair.scene.lock_id):
            applied.set()
            await gate.wait()
        await exchange.send(answer.head + b"\r\n\r\n" + answer.body)

    pair.proxy.arm(second, held)
    sending = asyncio.create_task(pair.there.resolution.send_again(lost))
    await applied.wait()
    read = await checked(pair.here, lost)
    gate.set()
    await sending
    assert read.state is OperationState.UNKNOWN and "being sent again" in read.message
    settled = await checked(pair.here, lost)
    assert settled.state is OperationState.SENT_AGAIN


@pytest.mark.parametrize("answer", ["recorded", "refused"])
async def test_an_answer_settles_what_another_session_called_unknown(pair: Pair, answer: str):
    """It had taken this session for ended."""

    async def seen_as_lost(exchange: Exchange) -> None:
        (row,) = await pair.there.journal.history()
        journal = Journal(pair.there.journal.database, row.profile, row.service)
        journal.settle_orphans(lambda session: False, 1)
        assert (await pair.there.journal.list_unconfirmed())[0].state is OperationState.UNKNOWN
        if answer == "refused":
            await answers(refusal())(exchange)
        else:
            await exchange.apply()
            await exchange.send(exchange.good_bytes())

    pair.proxy.arm("add", seen_as_lost, 1)
    if answer == "refused":
        with pytest.raises(RefusedError):
            await CALLS["add"](pair.here, pair.scene)
    else:
        await CALLS["add"](pair.here, pair.scene)
    (row,) = await pair.here.journal.history()
    assert row.state is (
        OperationState.REFUSED if answer == "refused" else OperationState.CONFIRMED
    )
    assert row.remote_id == (pair.proxy.ledger[0].data["remoteId"] if pair.proxy.ledger else None)


async def test_both_read_back_and_one_settles(pair: Pair):
    operation = await pair.lose("delete")
    pair.site.ask("bluetooth-remote/delete", remoteId=pair.scene.remote.id)
    pair.proxy.ledger.append(  # it landed after all
        Entry("delete", dict(operation.body), {})
    )
    read = await asyncio.gather(checked(pair.here, operation), checked(pair.there, operation))
    assert {one.state for one in read} == {OperationState.CONFIRMED_BY_READING}


async def test_what_a_session_left_when_it_ended_is_settled_by_the_others(pair: Pair):
    """Its add must hold nobody back for ever, and be read back like any other."""
    store = pair.here.journal.database
    journal = Journal(store, pair.here.profile.name, pair.here.profile.base_url)
    dead = StoreSession(store.path.parent / "sessions")
    dead.open()
    await CALLS["add"](pair.here, pair.scene)
    (model,) = await pair.here.journal.history()

    other = pair.site.new_lock()
    orphan = replace(
        model,
        id="orphan",
        lock_id=other,
        body={**model.body, "lockId": other},
        session=dead.id,
        state=OperationState.PREPARED,
        remote_id=None,
    )
    assert journal.prepare(orphan) is None
    journal.move("orphan", [OperationState.PREPARED], state=OperationState.SENDING, sent_ms=1)
    with pytest.raises(PendingChangeError):
        await pair.there.writes.add_remote(new_remote(other))
    assert await pair.there.journal.list_unconfirmed() == []
    dead.close()
    with pytest.raises(PendingChangeError):  # in doubt now
        await pair.there.writes.add_remote(new_remote(other))
    (seen,) = await pair.there.journal.list_unconfirmed()
    assert (seen.id, seen.state) == ("orphan", OperationState.UNKNOWN)
    assert (await checked(pair.there, seen)).state is OperationState.NOT_SEEN


async def test_a_session_that_has_ended_stays_so_when_a_thread_of_it_is_late(pair: Pair):
    """Else nobody would be offered its drafts."""
    ended = pair.here.journal
    ended.close()
    await ended.list_unconfirmed()
    assert not pair.there.journal.session.is_alive(ended.session.id)


async def test_many_first_uses_at_once(site: Site):
    store = site.new_store()
    async with site.proxy() as proxy, site.operations(proxy, store) as operations:
        await asyncio.gather(*(operations.journal.list_unconfirmed() for _ in range(12)))


async def test_two_sessions_make_a_new_store_at_once(site: Site, tmp_path):
    path = tmp_path / "new" / "lockterm.db"
    stores = [Database(path) for _ in range(6)]

    def use(store: Database) -> int:
        with store.transaction() as connection:
            return connection.execute("SELECT count(*) FROM operations").fetchone()[0]

    counts = await asyncio.gather(*(asyncio.to_thread(use, store) for store in stores))
    assert counts == [0] * 6
    for store in stores:
        store.close()
