"""Two sessions on one store: both live, none sends what the other has settled or is sending.

Nothing that they know is lost where the state directory goes while they run.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lockterm.domain.operation import OperationState
from lockterm.domain.plan import StepState
from lockterm.errors import RefusedError, StoreError
from lockterm.operations import Operations
from lockterm.operations.refusals import AlreadyResolvedError, PendingChangeError
from lockterm.store.database import Database
from lockterm.store.journal import Journal
from lockterm.store.sessions import StoreSession
from tests.faults.calls import CALLS, new_remote
from tests.faults.catalogue import answers, applied_unheard, close, refusal
from tests.faults.proxy import Entry, Exchange
from tests.faults.site import Site, checked, until
from tests.operations.bench import Bench, Gate, patient
from tests.operations.runs.planning import add, execute, states

CONFIRMED, UNKNOWN = OperationState.CONFIRMED, OperationState.UNKNOWN
NOT_SEEN, PROVEN = OperationState.NOT_SEEN, OperationState.CONFIRMED_BY_READING


@dataclass
class Pair(Bench):
    """Two sessions at one service, with one store."""

    there: Operations

    @property
    def here(self) -> Operations:
        return self.operations

    @property
    def state(self) -> Path:
        """The state directory."""
        return self.journal.database.path.parent

    def another(self, name: str = "Other fob", number: str = "N-900"):
        return new_remote(self.lock_id, name, number)


@pytest.fixture
async def pair(site: Site) -> AsyncIterator[Pair]:
    lock_id, store = site.new_lock(), site.new_store()
    async with (
        site.proxy() as proxy,
        site.operations(proxy, store) as here,
        site.operations(proxy, store) as there,
    ):
        pair = Pair(site, proxy, here, lock_id, there)
        yield pair
        await pair.agree()


async def test_the_other_session_knows_who_holds_the_lock(pair: Pair):
    operation = await pair.lose("add", close)
    (seen,) = await pair.there.journal.list_unconfirmed(pair.lock_id)
    assert seen == operation
    with pytest.raises(PendingChangeError, match=operation.session):
        await pair.there.writes.add_remote(pair.another())
    await pair.there.resolution.give_up(seen)
    await pair.writes.add_remote(pair.another())


@pytest.mark.parametrize(("name", "number"), [("New fob", "N-901"), ("Another", "n 900")])
async def test_add_not_seen_blocks_only_its_like_and_clears_in_a_later_session(
    pair: Pair, name: str, number: str
):
    """It may still land: another add of it would double it, and a clear could miss it."""
    operation, there = await pair.lose("add", close), pair.there.writes
    assert operation.state is NOT_SEEN
    other = pair.another("Another fob", "N-901")
    with pytest.raises(PendingChangeError):
        await there.add_remote(new_remote(pair.lock_id, name, number))
    with pytest.raises(PendingChangeError):
        await there.clear_remotes(pair.lock_id)
    with pytest.raises(PendingChangeError):
        await pair.writes.add_remote(other)
    await there.add_remote(other)


@pytest.mark.parametrize("state", [UNKNOWN, NOT_SEEN])
async def test_run_goes_on_behind_an_add_that_an_ended_session_lost(
    pair: Pair, state: OperationState
):
    """An add that a kill kept from leaving does not stop the rest of its lock."""
    operation, lock_id = await pair.lose("add", close), pair.lock_id
    await pair.journal.resolve(operation, state=state)
    patient(pair.there)
    lost = add(lock_id, 0, remoteName=operation.remote_name, remoteNumber="N-900")
    done = await execute(pair.there, [lost, add(lock_id, 1), add(lock_id, 2)])
    assert states(done) == [StepState.NOT_SENT, StepState.RECORDED, StepState.RECORDED]


@pytest.mark.parametrize("is_removed", [False, True])
async def test_an_add_on_its_way_holds_back_the_other_session(pair: Pair, is_removed: bool):
    """Where the state is removed, the other one meets its row before it can show that it lives."""
    gate = Gate()
    await pair.there.journal.list_unconfirmed()
    pair.proxy.arm("add", gate, 1)
    adding = asyncio.create_task(pair.call("add"))
    await until(lambda: gate.waiting)
    if is_removed:
        shutil.rmtree(pair.state)
    # What the other session is sending is not taken for lost.
    assert await pair.there.journal.list_unconfirmed() == []
    for call in ("add", "clear"):
        with pytest.raises(PendingChangeError, match=pair.journal.session.id):
            await CALLS[call](pair.there, pair.scene)
    assert await pair.there.journal.list_unconfirmed() == []
    gate.open.set()
    await adding
    assert await pair.states() == [CONFIRMED]


@pytest.mark.parametrize("call", ["add", "update", "delete", "updateRemoteUserNo"])
async def test_only_one_of_two_sends_it_again(pair: Pair, call: str):
    operation = await pair.lose(call, close)
    results = await asyncio.gather(
        pair.resolution.send_again(operation),
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
    if end == "dismissed":
        await pair.there.resolution.give_up(stale)
    elif end == "sent again":
        await pair.there.resolution.send_again(stale)
    asked = pair.proxy.asked.count("update")
    with pytest.raises(AlreadyResolvedError):
        await pair.resolution.send_again(stale)
    assert pair.proxy.asked.count("update") == asked


@pytest.mark.parametrize("call", ["update", "delete", "clear"])
async def test_second_send_does_not_confirm_the_first(pair: Pair, call: str):
    """It is read back while the service has applied the second, and has not answered yet."""
    lost, gate = await pair.lose(call, close), Gate(is_applied=True)

    async def held(exchange: Exchange) -> None:
        await exchange.apply()
        if call == "clear" and pair.remotes:
            gate.open.set()
        else:
            gate.open.clear()
        await gate(exchange)

    pair.proxy.arm("delete" if call == "clear" else call, held)
    sending = asyncio.create_task(pair.there.resolution.send_again(lost))
    await until(lambda: gate.waiting and not gate.open.is_set())
    read = await checked(pair.here, lost)
    gate.open.set()
    await sending
    assert read.state is UNKNOWN and "being sent again" in read.message
    settled = await checked(pair.here, lost)
    assert settled.state is OperationState.SENT_AGAIN


@pytest.mark.parametrize("answer", ["recorded", "refused"])
async def test_an_answer_settles_what_another_session_called_unknown(pair: Pair, answer: str):
    """It had taken this session for ended."""

    async def seen_as_lost(exchange: Exchange) -> None:
        (row,) = await pair.there.journal.history()
        journal = Journal(pair.there.journal.database, row.profile, row.service)
        journal.settle_orphans(lambda session: False, 1)
        assert (await pair.there.journal.list_unconfirmed())[0].state is UNKNOWN
        if answer == "refused":
            await answers(refusal())(exchange)
        else:
            await exchange.apply()
            await exchange.send(exchange.good_bytes())

    pair.proxy.arm("add", seen_as_lost, 1)
    if answer == "refused":
        with pytest.raises(RefusedError):
            await pair.call("add")
    else:
        await pair.call("add")
    (row,) = await pair.history()
    assert row.state is (OperationState.REFUSED if answer == "refused" else CONFIRMED)
    assert row.remote_id == (pair.proxy.ledger[0].data["remoteId"] if pair.proxy.ledger else None)


async def test_both_read_back_and_one_settles(pair: Pair):
    operation = await pair.lose("delete", close)
    pair.ask("delete", remoteId=pair.second.id)
    pair.proxy.ledger.append(Entry("delete", dict(operation.body), {}))  # it landed after all
    read = await asyncio.gather(checked(pair.here, operation), checked(pair.there, operation))
    assert {one.state for one in read} == {PROVEN}


async def test_what_a_session_left_when_it_ended_is_settled_by_the_others(pair: Pair):
    """Its add must hold nobody back for ever, and be read back like any other."""
    store = pair.journal.database
    journal = Journal(store, pair.here.profile.name, pair.here.profile.base_url)
    dead = StoreSession(store.path.parent / "sessions")
    dead.open()
    await pair.call("add")
    (model,) = await pair.history()

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
    assert (seen.id, seen.state) == ("orphan", UNKNOWN)
    assert (await checked(pair.there, seen)).state is NOT_SEEN


async def test_a_session_that_has_ended_stays_so_when_a_thread_of_it_is_late(pair: Pair):
    """Else nobody would be offered its drafts."""
    pair.journal.close()
    await pair.journal.list_unconfirmed()
    assert not pair.there.journal.session.is_alive(pair.journal.session.id)


async def test_new_store_is_made_once_when_many_use_it_at_once(bench: Bench, tmp_path: Path):
    await asyncio.gather(*(bench.unconfirmed() for _ in range(12)))
    stores = [Database(tmp_path / "new" / "lockterm.db") for _ in range(6)]

    def use(store: Database) -> int:
        with store.transaction() as connection:
            return connection.execute("SELECT count(*) FROM operations").fetchone()[0]

    counts = await asyncio.gather(*(asyncio.to_thread(use, store) for store in stores))
    assert counts == [0] * 6
    for store in stores:
        store.close()


# --- the state directory goes --------------------------------------------------------------------


async def test_an_unsettled_line_stays_and_holds_back_when_the_state_is_removed(pair: Pair):
    operation = await pair.lose("add", close)
    await pair.there.journal.list_unconfirmed()
    shutil.rmtree(pair.state)
    for session in (pair.here, pair.there):
        assert await session.journal.list_unconfirmed() == [operation]
        with pytest.raises(PendingChangeError):
            await session.writes.add_remote(pair.another())
    await pair.there.resolution.give_up(operation)
    assert await pair.unconfirmed() == []
    assert len(await pair.history()) == 1
    assert (pair.state / "sessions" / pair.journal.session.id).exists()


async def test_where_it_cannot_be_made_again_nothing_is_changed_or_hidden(pair: Pair):
    operation, place = await pair.lose("add", close), pair.state
    shutil.rmtree(place)
    place.write_text("in the way")
    assert await pair.unconfirmed() == [operation]
    with pytest.raises(StoreError):
        await pair.call("delete")
    assert "delete" not in pair.proxy.asked
    place.unlink()
    assert await pair.unconfirmed() == [operation]
    await pair.call("delete")
    assert len(await pair.there.journal.history()) == 2


async def test_session_keeps_its_writes_when_the_state_is_removed(pair: Pair):
    operation = await pair.lose("update", close)
    shutil.rmtree(pair.state)
    async with pair.site.operations(pair.proxy, pair.journal.database.path) as new:
        await new.writes.add_remote(new_remote(pair.site.new_lock()))
        rows = {row.id for row in await new.journal.history()}
        assert await pair.unconfirmed() == [operation]
        assert {row.id for row in await new.journal.history()} == {operation.id} | rows
        assert await new.journal.list_unconfirmed() == [operation]


SLEEPER = """
import sys
from pathlib import Path
from lockterm.store.sessions import StoreSession
session = StoreSession(Path(sys.argv[1]))
session.open()
print(session.id, flush=True)
sys.stdin.read()
"""


def test_a_process_without_its_file_lives_until_it_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SLEEPER, str(tmp_path / "sessions")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
        other = one.stdout.readline().strip()
        here = StoreSession(tmp_path / "sessions")
        here.open()
        assert here.is_alive(other)
        shutil.rmtree(tmp_path / "sessions")
        assert here.is_alive(other)
        os.kill(one.pid, signal.SIGKILL)
        one.wait()
    assert not here.is_alive(other)
    here.close()


def test_the_files_of_sessions_that_have_ended_go(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name in ("1-dead", "2-3f-0badcafe"):
        (folder / name).touch()
    first, second = StoreSession(folder), StoreSession(folder)
    first.open()
    second.open()
    first.remove_dead()
    assert {entry.name for entry in folder.iterdir()} == {first.id, second.id}
    first.close()
    second.close()
    assert not any(folder.iterdir())
