"""What is not settled holds back what could be mixed up with it, in whichever profile."""

from __future__ import annotations

import pytest

from lockterm.domain.operation import OperationState
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import RemoteChanges
from lockterm.errors import ResultUnknownError, RuleViolationError
from lockterm.operations.refusals import PendingChangeError
from tests.faults.calls import CALLS, Scene, id_of, new_remote
from tests.faults.catalogue import close
from tests.faults.site import Site, checked
from tests.operations.bench import Bench, lose

DAY_MS = 86_400_000
ABOUT_A_REMOTE = ("update", "delete", "updateRemoteUserNo")


async def change(bench: Bench, call: str, remote: Remote) -> None:
    if call == "update":  # not to the name that the first change sets
        changes = RemoteChanges(remote_name="Later")
        await bench.writes.update_remote(bench.lock_id, id_of(remote), changes, remote)
    else:
        await bench.call(call, remote)


@pytest.mark.parametrize("second", ABOUT_A_REMOTE)
@pytest.mark.parametrize("first", ABOUT_A_REMOTE)
async def test_a_second_change_of_a_remote_waits_for_the_first(
    bench: Bench, first: str, second: str
):
    unconfirmed = await bench.lose(first, close)
    bench.proxy.asked.clear()
    words = f"of {bench.second.remote_name} on .* The order of the two"
    with pytest.raises(PendingChangeError, match=words):
        await change(bench, second, bench.second)
    assert not {*bench.proxy.asked} - {"detail", "list"}, "nothing is sent"
    assert len(await bench.history()) == 1
    await change(bench, second, bench.third)
    await bench.resolution.send_again(unconfirmed)  # this is no second one
    assert bench.proxy.applied(first)[-1].body == unconfirmed.body


async def test_only_the_same_is_the_first_sent_again(bench: Bench):
    """Otherwise the first would count as settled, and may still land after the second."""
    writes, lock_id, one = bench.writes, bench.lock_id, bench.first
    lost = [(await bench.lose(call, close, one)).id for call in ("update", "add")]
    other, same = (
        RemoteChanges(remote_name="Other"),
        RemoteChanges(remote_name="Renamed", is_coerced=1),
    )
    with pytest.raises(PendingChangeError):
        await writes.update_remote(lock_id, id_of(one), other, one, again_of=lost[0])
    with pytest.raises(PendingChangeError):
        await writes.add_remote(new_remote(lock_id, "Other"), again_of=lost[1])
    assert [row.id for row in await bench.unconfirmed()] == lost
    await writes.update_remote(lock_id, id_of(one), same, one, again_of=lost[0])
    await writes.add_remote(new_remote(lock_id), again_of=lost[1])
    assert await bench.unconfirmed() == []


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


async def test_send_again_is_refused_when_the_remote_was_changed_elsewhere(bench: Bench):
    remote, send_again = bench.second, bench.resolution.send_again
    later_ms, sooner_ms = (remote.end_ms or 0) + DAY_MS, (remote.end_ms or 0) - DAY_MS
    changes = RemoteChanges(start_ms=remote.start_ms, end_ms=later_ms)
    changing = bench.writes.update_remote(bench.lock_id, id_of(remote), changes, remote)
    unconfirmed = await lose(bench.operations, bench.proxy, "update", changing)
    assert unconfirmed.state is OperationState.NOT_SEEN
    bench.ask("update", remoteId=remote.id, startDate=remote.start_ms, endDate=sooner_ms)
    with pytest.raises(RuleViolationError, match=r"changed since.*endDate.*Check the change first"):
        await send_again(unconfirmed)
    assert bench.remotes[1].end_ms == sooner_ms
    differs = await checked(bench.operations, unconfirmed)
    assert differs.state is OperationState.CONFLICT
    await send_again(differs)  # it was said, and a person wants it all the same
    assert bench.remotes[1].end_ms == later_ms
