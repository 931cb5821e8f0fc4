"""What is not settled holds back what could be mixed up with it, in whichever profile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from lockterm.domain.operation import OperationState
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import RemoteChanges
from lockterm.errors import ResultUnknownError, RuleViolationError
from lockterm.operations import Operations
from lockterm.operations.refusals import PendingChangeError
from tests.faults.calls import CALLS, Scene, id_of, new_remote
from tests.faults.catalogue import close
from tests.faults.site import Site, checked, verify_step

SECOND: dict[str, Callable[[Operations, int, Remote], Awaitable[object]]] = {
    "update": lambda ops, lock, one: ops.writes.update_remote(
        lock, id_of(one), RemoteChanges(remote_name="Later"), one
    ),
    "delete": lambda ops, lock, one: ops.writes.delete_remote(lock, one),
    "updateRemoteUserNo": lambda ops, lock, one: ops.writes.set_user_no(lock, one, 9),
}


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("first", SECOND)
async def test_a_second_change_of_a_remote_waits_for_the_first(site: Site, first: str, second: str):
    lock_id = site.new_lock()
    one, other, _ = site.remotes(lock_id)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.arm(first, close, 1)
        with pytest.raises(ResultUnknownError):
            await CALLS[first](operations, Scene(lock_id, one))
        await verify_step(operations)
        asked = len(proxy.asked)
        with pytest.raises(
            PendingChangeError, match=f"of {one.remote_name} on .* The order of the two"
        ):
            await SECOND[second](operations, lock_id, one)
        assert not {*proxy.asked[asked:]} - {"detail", "list"}, "nothing is sent"
        assert len(await operations.journal.history()) == 1
        await SECOND[second](operations, lock_id, other)
        (unconfirmed,) = await operations.journal.list_unconfirmed()
        await operations.resolution.send_again(unconfirmed)  # this is no second one
        assert proxy.applied(first)[-1].body == unconfirmed.body


async def test_only_the_same_is_the_first_sent_again(site: Site):
    """Otherwise the first would count as settled, and may still land after the second."""
    lock_id = site.new_lock()
    one, *_ = site.remotes(lock_id)
    first, other = RemoteChanges(remote_name="First"), RemoteChanges(remote_name="Other")
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        writes, lost = operations.writes, []
        proxy.arm("update", close, 1)
        proxy.arm("add", close, 1)
        for work in (
            writes.update_remote(lock_id, id_of(one), first, one),
            writes.add_remote(new_remote(lock_id)),
        ):
            with pytest.raises(ResultUnknownError) as unknown:
                await work
            lost.append(unknown.value.operation_id)
        with pytest.raises(PendingChangeError):
            await writes.update_remote(lock_id, id_of(one), other, one, again_of=lost[0])
        with pytest.raises(PendingChangeError):
            await writes.add_remote(new_remote(lock_id, "Other"), again_of=lost[1])
        assert [row.id for row in await operations.journal.list_unconfirmed()] == lost
        await writes.update_remote(lock_id, id_of(one), first, one, again_of=lost[0])
        await writes.add_remote(new_remote(lock_id), again_of=lost[1])
        assert await operations.journal.list_unconfirmed() == []


async def test_two_profiles_of_one_service_hold_each_others_adds_back(site: Site):
    lock_id, store = site.new_lock(), site.new_store()
    async with (
        site.proxy() as proxy,
        site.operations(proxy, store, name="one") as one,
        site.operations(proxy, store, name="two") as two,
        site.proxy() as elsewhere,
        site.operations(elsewhere, store, name="three") as three,
    ):
        proxy.arm("add", close, 1)
        with pytest.raises(ResultUnknownError):
            await one.writes.add_remote(new_remote(lock_id))
        for call in ("add", "clear"):
            with pytest.raises(PendingChangeError) as held:
                await CALLS[call](two, Scene(lock_id, site.remotes(lock_id)[0]))
            assert "in profile one first" in held.value.hint
        await three.writes.add_remote(new_remote(lock_id))  # another service, for all it knows
        assert [entry.call for entry in proxy.ledger] == []


async def test_send_again_is_refused_when_the_remote_was_changed_elsewhere(site: Site):
    lock_id = site.new_lock()
    _, remote, _ = site.remotes(lock_id)
    later_ms, sooner_ms = (remote.end_ms or 0) + 86_400_000, (remote.end_ms or 0) - 86_400_000
    changes = RemoteChanges(start_ms=remote.start_ms, end_ms=later_ms)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.arm("update", close, 1)
        with pytest.raises(ResultUnknownError):
            await operations.writes.update_remote(lock_id, id_of(remote), changes, remote)
        await verify_step(operations)
        (unconfirmed,) = await operations.journal.list_unconfirmed()
        assert unconfirmed.state is OperationState.NOT_SEEN
        shorter = {"startDate": remote.start_ms, "endDate": sooner_ms}
        site.ask("bluetooth-remote/update", lockId=lock_id, remoteId=remote.id, **shorter)
        with pytest.raises(
            RuleViolationError, match=r"changed since.*endDate.*Check the change first"
        ):
            await operations.resolution.send_again(unconfirmed)
        assert site.remotes(lock_id)[1].end_ms == sooner_ms
        differs = await checked(operations, unconfirmed)
        assert differs.state is OperationState.CONFLICT
        await operations.resolution.send_again(
            differs
        )  # it was said, and a person wants it all the same
        assert site.remotes(lock_id)[1].end_ms == later_ms
