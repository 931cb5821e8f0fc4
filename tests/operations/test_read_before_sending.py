"""What a write is about is read once more before it leaves: it may be another thing by now."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from lockterm.domain.remotes import Remote
from lockterm.domain.requests import RemoteChanges
from lockterm.domain.rules import changes
from lockterm.errors import (
    NameTakenError,
    NoAnswerError,
    RateLimitedError,
    RefusedError,
    RuleViolationError,
)
from lockterm.operations import Operations
from tests.faults.calls import CALLS, Scene, id_of, new_remote
from tests.faults.catalogue import answers, close
from tests.faults.proxy import Exchange, FaultProxy
from tests.faults.site import Site
from tests.operations.test_reused_ids import give_id

DAY_MS = 86_400_000
ABOUT_A_REMOTE = ("update", "delete", "updateRemoteUserNo")


def later_start(remote: Remote) -> RemoteChanges:
    """What is sent where a person moved the start by a day."""
    return changes(remote, replace(remote, start_ms=(remote.start_ms or 0) + DAY_MS))


async def require_nothing_left(operations: Operations, proxy: FaultProxy) -> None:
    assert proxy.ledger == [] and set(proxy.asked) <= {"detail"}
    assert await operations.journal.history() == []


@pytest.mark.parametrize("call", ABOUT_A_REMOTE)
async def test_nothing_is_sent_to_the_next_remote_with_an_id(site: Site, call: str):
    lock_id = site.new_lock()
    _, fob, _ = site.remotes(lock_id)
    site.ask("bluetooth-remote/delete", remoteId=fob.id)
    bob = site.ask("bluetooth-remote/add", **new_remote(lock_id, "Bob", "B-1").body())["remoteId"]
    give_id(site, bob, id_of(fob), 1_900_000_000_000)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        with pytest.raises(
            RuleViolationError, match=r"to another remote: Bob \(B-1\)\. Nothing was"
        ):
            await CALLS[call](operations, Scene(lock_id, fob))
        await require_nothing_left(operations, proxy)


@pytest.mark.parametrize("call", ABOUT_A_REMOTE)
async def test_nothing_is_sent_to_a_remote_of_another_lock(site: Site, call: str):
    lock_id, other = site.new_lock(), site.new_lock()
    _, fob, _ = site.remotes(lock_id)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        with pytest.raises(
            RuleViolationError, match=rf"now belongs to lock {lock_id}. Nothing was"
        ):
            await CALLS[call](operations, Scene(other, fob))
        await require_nothing_left(operations, proxy)


async def test_update_is_refused_when_the_remote_has_changed(site: Site):
    """The start goes with the end: to move it would give back what a colleague took."""
    lock_id = site.new_lock()
    _, fob, _ = site.remotes(lock_id)
    sooner_ms = (fob.end_ms or 0) - 100 * DAY_MS
    period = {"startDate": fob.start_ms, "endDate": sooner_ms}
    site.ask("bluetooth-remote/update", lockId=lock_id, remoteId=fob.id, **period)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        with pytest.raises(RuleViolationError, match=r"Nothing was sent\. End: .*2027.* -> .*2026"):
            await operations.writes.update_remote(lock_id, id_of(fob), later_start(fob), fob)
        await require_nothing_left(operations, proxy)
    assert site.remotes(lock_id)[1].end_ms == sooner_ms


async def test_a_change_leaves_alone_what_others_did_to_the_rest(site: Site):
    lock_id = site.new_lock()
    _, fob, _ = site.remotes(lock_id)
    site.ask("bluetooth-remote/update", lockId=lock_id, remoteId=fob.id, remoteName="Attic")
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        await operations.writes.update_remote(lock_id, id_of(fob), later_start(fob), fob)
        assert proxy.asked == ["detail", "update"]
    now = site.remotes(lock_id)[1]
    assert (now.remote_name, now.start_ms) == ("Attic", (fob.start_ms or 0) + DAY_MS)


async def test_a_copy_that_is_behind_what_was_recorded_here_holds_nothing_up(site: Site):
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        new_id = await operations.writes.add_remote(new_remote(lock_id))
        added = await operations.remotes.detail(new_id)
        unknown = {"errcode": 7, "errmsg": "There is no such remote.", "description": ""}
        proxy.arm("detail", answers(json.dumps(unknown)), 1)
        renamed = RemoteChanges(remote_name="Renamed")
        await operations.writes.update_remote(lock_id, new_id, renamed, added)
        now = await operations.remotes.detail(new_id)
        old = {"errcode": 0, "errmsg": "", "description": "", "data": added.raw}
        proxy.arm("detail", answers(json.dumps(old)), 1)
        again = RemoteChanges(remote_name="Renamed again")
        await operations.writes.update_remote(lock_id, new_id, again, now)
    assert site.remotes(lock_id)[-1].remote_name == "Renamed again"


@pytest.mark.parametrize("call", ABOUT_A_REMOTE)
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (None, NoAnswerError),
        (401, RefusedError),
        (429, RateLimitedError),
        (407, RefusedError),
        (400, RefusedError),
    ],
)
async def test_what_cannot_be_read_is_not_sent(
    site: Site, call: str, answer: int | None, error: type[Exception]
):
    lock_id = site.new_lock()
    _, fob, _ = site.remotes(lock_id)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.arm("detail", close if answer is None else answers("{}", answer))
        with pytest.raises(error):
            await CALLS[call](operations, Scene(lock_id, fob))
        await require_nothing_left(operations, proxy)


async def test_add_is_refused_when_another_session_took_the_name(site: Site):
    """The service may take a name twice: nothing in the contract says that add looks (4.1)."""
    lock_id, store = site.new_lock(0), site.new_store()
    read, go_on = asyncio.Event(), asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        await exchange.apply()
        read.set()
        await go_on.wait()
        await exchange.send(exchange.good_bytes())

    async with (
        site.proxy() as proxy,
        site.operations(proxy, store) as one,
        site.operations(proxy, store) as two,
    ):
        proxy.arm("checkRemoteName", slow, 1)
        first = asyncio.ensure_future(one.writes.add_remote(new_remote(lock_id)))
        await read.wait()
        new_id = await two.writes.add_remote(new_remote(lock_id))
        go_on.set()
        with pytest.raises(NameTakenError, match=f"You have just added .*, as remote {new_id}"):
            await first
        assert proxy.asked.count("add") == 1
        assert len(await one.journal.history()) == 1
        await one.writes.add_remote(new_remote(lock_id, "New fob 2"))
