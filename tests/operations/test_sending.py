"""Before a write is sent: what it is about is read once more, and the journal has it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import RemoteChanges
from lockterm.domain.rules import changes
from lockterm.errors import (
    MalformedAnswerError,
    NameTakenError,
    NoAnswerError,
    RateLimitedError,
    RefusedError,
    ResultUnknownError,
    RuleViolationError,
    StoreError,
    UnreachableError,
)
from lockterm.operations.journal_store import JournalStore
from tests.faults.calls import CALLS, Scene, id_of, new_remote
from tests.faults.catalogue import answers, close
from tests.faults.proxy import WRITES, Exchange
from tests.faults.site import Site, until
from tests.operations.bench import Bench, Gate, old_answers
from tests.operations.test_reused_ids import give_id

DAY_MS = 86_400_000
ABOUT_A_REMOTE = ("update", "delete", "updateRemoteUserNo")


# --- it may be another thing by now --------------------------------------------------------------


def later_start(remote: Remote) -> RemoteChanges:
    """What is sent where a person moved the start by a day."""
    return changes(remote, replace(remote, start_ms=(remote.start_ms or 0) + DAY_MS))


async def require_nothing_left(bench: Bench) -> None:
    assert bench.proxy.ledger == [] and set(bench.proxy.asked) <= {"detail"}
    assert await bench.history() == []


@pytest.mark.parametrize("call", ABOUT_A_REMOTE)
async def test_nothing_is_sent_to_another_remote_or_lock(bench: Bench, call: str):
    words = rf"now belongs to lock {bench.lock_id}. Nothing was"
    with pytest.raises(RuleViolationError, match=words):
        await CALLS[call](bench.operations, Scene(bench.site.new_lock(), bench.second))
    bench.ask("delete", remoteId=bench.second.id)
    bob = bench.ask("add", **new_remote(bench.lock_id, "Bob", "B-1").body())["remoteId"]
    give_id(bench.site, bob, id_of(bench.second), 1_900_000_000_000)
    words = r"to another remote: Bob \(B-1\)\. Nothing was"
    with pytest.raises(RuleViolationError, match=words):
        await bench.call(call)
    await require_nothing_left(bench)


async def test_update_is_refused_when_the_remote_has_changed(bench: Bench):
    """The start goes with the end: to move it would give back what a colleague took."""
    fob, sooner_ms = bench.second, (bench.second.end_ms or 0) - 100 * DAY_MS
    bench.ask("update", remoteId=fob.id, startDate=fob.start_ms, endDate=sooner_ms)
    with pytest.raises(RuleViolationError, match=r"Nothing was sent\. End: .*2027.* -> .*2026"):
        await bench.writes.update_remote(bench.lock_id, id_of(fob), later_start(fob), fob)
    await require_nothing_left(bench)
    assert bench.remotes[1].end_ms == sooner_ms


async def test_a_change_leaves_alone_what_others_did_to_the_rest(bench: Bench):
    fob = bench.second
    bench.ask("update", remoteId=fob.id, remoteName="Attic")
    await bench.writes.update_remote(bench.lock_id, id_of(fob), later_start(fob), fob)
    assert bench.proxy.asked == ["detail", "update"]
    now = bench.remotes[1]
    assert (now.remote_name, now.start_ms) == ("Attic", (fob.start_ms or 0) + DAY_MS)


async def test_a_copy_that_is_behind_what_was_recorded_here_holds_nothing_up(bench: Bench):
    writes, lock_id, read = bench.writes, bench.lock_id, bench.operations.remotes.detail
    new_id = await writes.add_remote(new_remote(lock_id))
    added = await read(new_id)
    unknown = {"errcode": 7, "errmsg": "There is no such remote.", "description": ""}
    bench.proxy.arm("detail", answers(json.dumps(unknown)), 1)
    await writes.update_remote(lock_id, new_id, RemoteChanges(remote_name="Renamed"), added)
    now = await read(new_id)
    old = {"errcode": 0, "errmsg": "", "description": "", "data": added.raw}
    bench.proxy.arm("detail", answers(json.dumps(old)), 1)
    await writes.update_remote(lock_id, new_id, RemoteChanges(remote_name="Renamed again"), now)
    assert bench.remotes[-1].remote_name == "Renamed again"


@pytest.mark.parametrize("call", ABOUT_A_REMOTE)
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (close, NoAnswerError),
        (answers("{}", 429), RateLimitedError),
        *((answers("{}", status), RefusedError) for status in (400, 401, 407)),
    ],
    ids=["no answer", "429", "400", "401", "407"],
)
async def test_what_cannot_be_read_is_not_sent(bench: Bench, call: str, answer, error):
    bench.proxy.arm("detail", answer)
    with pytest.raises(error):
        await bench.call(call)
    await require_nothing_left(bench)


async def test_add_is_refused_when_another_session_took_the_name(bench: Bench):
    """The service may take a name twice: nothing in the contract says that add looks (4.1)."""
    gate, request = Gate(is_applied=True), new_remote(bench.lock_id)
    async with bench.site.operations(bench.proxy, bench.journal.database.path) as other:
        bench.proxy.arm("checkRemoteName", gate, 1)
        first = asyncio.ensure_future(bench.writes.add_remote(request))
        await until(lambda: gate.waiting)
        new_id = await other.writes.add_remote(request)
        gate.open.set()
        with pytest.raises(NameTakenError, match=f"You have just added .*, as remote {new_id}"):
            await first
        assert bench.proxy.asked.count("add") == 1
        assert len(await bench.history()) == 1
        await bench.writes.add_remote(new_remote(bench.lock_id, "New fob 2"))


async def test_nothing_is_sent_when_the_profile_is_read_only(site: Site):
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy, read_only=True) as operations:
        for call in WRITES:
            with pytest.raises(RuleViolationError, match="read-only"):
                await CALLS[call](operations, Scene(lock_id, site.remotes(lock_id)[0]))
        assert proxy.asked == [] and await operations.journal.history() == []


# --- it counts as being sent once it is connected, before its first byte --------------------------


async def test_write_is_noted_as_sent_when_its_bytes_leave(bench: Bench) -> None:
    seen = list[OperationState]()

    async def look(exchange: Exchange) -> None:
        seen.extend(await bench.states())
        await close(exchange)

    bench.proxy.arm("add", look)
    with pytest.raises(ResultUnknownError):
        await bench.call("add")
    assert seen == [OperationState.SENDING]


async def test_write_is_never_noted_as_sent_when_nothing_can_be_reached(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted, note_sending = list[Operation](), JournalStore.note_sending

    async def note(self: JournalStore, operation: Operation) -> None:
        noted.append(operation)
        await note_sending(self, operation)

    def broken(*args: Any) -> Any:
        raise OSError("refused")

    monkeypatch.setattr(JournalStore, "note_sending", note)
    monkeypatch.setattr("httpcore.AnyIOBackend.connect_tcp", broken)
    monkeypatch.setattr("httpcore._backends.auto.AutoBackend.connect_tcp", broken)
    with pytest.raises(UnreachableError):
        await bench.writes.set_user_no(bench.lock_id, bench.first, 5, just_read=True)
    assert noted == [] and await bench.states() == [OperationState.NOT_SENT]


async def test_nothing_is_sent_when_that_cannot_be_noted(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(self: JournalStore, operation: Operation) -> None:
        await asyncio.sleep(0)
        raise StoreError("The disk is full.")

    monkeypatch.setattr(JournalStore, "note_sending", full)
    with pytest.raises(StoreError, match="full"):
        await bench.call("add")
    assert "add" not in bench.proxy.asked and bench.proxy.ledger == []
    assert await bench.states() == [OperationState.NOT_SENT]


# --- a clear has every remote in its backup, or is not sent ---------------------------------------


def shift(site: Site, lock_id: int, times: int) -> Callable[[Exchange], None]:
    """When page 2 is asked for, one goes from page 1 and one comes: the total stays."""
    left = times

    def move(exchange: Exchange) -> None:
        nonlocal left
        if "pageNo=2" in exchange.target and left:
            left -= 1
            with site.service.app.state.site.database.reading() as db:
                query = "SELECT min(id) FROM remote WHERE lock_id = ?"
                (first,) = db.execute(query, (lock_id,)).fetchone()
            site.ask("bluetooth-remote/delete", remoteId=first)
            site.ask("bluetooth-remote/add", **new_remote(lock_id, f"Come {left}").body())

    return move


@pytest.mark.parametrize("times", [1, 2, 1000])
async def test_no_remote_is_missing_from_the_backup_where_pages_shift(bench: Bench, times: int):
    lock_id = bench.site.new_lock(450)
    bench.proxy.on_asked = shift(bench.site, lock_id, times)
    if times < 1000:
        assert await bench.writes.clear_remotes(lock_id, 450) == 450
        (row,) = await bench.history()
        assert len({record["id"] for record in row.before}) == 450 and row.message == ""
        return
    with pytest.raises(MalformedAnswerError, match="lockterm changed nothing") as error:
        await bench.writes.clear_remotes(lock_id)
    assert error.value.title == "The list keeps changing"
    assert "clear" not in bench.proxy.asked and await bench.history() == []


async def test_clear_deletes_as_many_as_were_seen_or_says_so(bench: Bench):
    with pytest.raises(RuleViolationError):
        await bench.writes.clear_remotes(bench.lock_id, 4)
    assert "clear" not in bench.proxy.asked and await bench.history() == []

    async def two_come() -> None:
        for number in (1, 2):
            bench.ask("add", **new_remote(bench.lock_id, f"Come {number}").body())

    bench.proxy.after("clear", two_come)
    assert await bench.writes.clear_remotes(bench.lock_id, 3) == 5
    (row,) = await bench.history()
    assert "deleted 5 remotes, but the backup contains 3. 2 remotes were added" in row.message


async def test_a_list_that_is_without_what_was_recorded_is_not_cleared(bench: Bench):
    bench.proxy.arm("list", old_answers())
    await bench.operations.remotes.all(bench.lock_id)
    new_id = await bench.writes.add_remote(new_remote(bench.lock_id))
    with pytest.raises(MalformedAnswerError, match=f"lacks remote {new_id}, which you added"):
        await bench.writes.clear_remotes(bench.lock_id)
    assert "clear" not in bench.proxy.asked
    await bench.proxy.heal()
    assert await bench.writes.clear_remotes(bench.lock_id) == 4
