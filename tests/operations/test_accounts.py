"""Two tenants behind one base URL, told apart by a token: neither stands for the other.

A profile may also mean another service by now, whose locks and remotes have the same ids.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from lockterm.config import Profile
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.plan import Plan, Run, StepState
from lockterm.domain.remotes import Remote
from lockterm.errors import ResultUnknownError
from lockterm.operations import Operations
from lockterm.operations.refusals import (
    OtherAccountError,
    OtherCredentialsError,
    OtherServiceError,
    PendingChangeError,
)
from lockterm.operations.undoing import plan_undo
from lockterm.service.running import RunningService
from lockterm.store.accounts import owner_of
from tests.faults.calls import CALLS, Scene, new_remote
from tests.faults.catalogue import applied_unheard, reset
from tests.faults.proxy import FaultProxy
from tests.faults.site import Site, checked, verify_step
from tests.operations.bench import read_nothing_back
from tests.operations.runs.planning import delete, execute, run_of
from tests.servers import port_of

OURS, ROTATED, OTHERS = "Bearer ours", "Bearer ours-2", "Bearer others"
UNKNOWN, PROVEN = OperationState.UNKNOWN, OperationState.CONFIRMED_BY_READING


@dataclass
class Tenants:
    """Two services behind one base URL, and one store."""

    ours: Site
    others: Site
    proxy: FaultProxy
    store: Path
    lock_id: int

    @asynccontextmanager
    async def session(self, token: str = OURS, **profile: Any) -> AsyncIterator[Operations]:
        """A session with a token."""
        settings = {"name": "north", "headers": {"Authorization": token}} | profile
        async with self.ours.operations(self.proxy, self.store, **settings) as operations:
            yield operations

    @property
    def remotes(self) -> list[Remote]:
        """The remotes of the lock in our tenant."""
        return self.ours.remotes(self.lock_id)

    async def lose(self, call: str, fault: Any = reset, **settings: Any) -> Operation:
        """Send a write of which nothing is heard and nothing is read back yet."""
        async with self.session(**settings) as operations:
            read_nothing_back(operations)
            self.proxy.arm(call, fault, 1)
            with pytest.raises(ResultUnknownError):
                await CALLS[call](operations, Scene(self.lock_id, self.remotes[1]))
            return (await operations.journal.history())[-1]

    async def check(self, lost: Operation, token: str = OURS) -> Operation:
        """Check an operation in a new session."""
        async with self.session(token) as operations:
            return await checked(operations, lost)

    def hide(self) -> None:
        """Let our token see nothing more: its rights were narrowed."""
        self.proxy.tenants[OURS] = self.others.port


@pytest.fixture
async def tenants(
    site: Site, running_service: Callable[..., RunningService], tmp_path: Path
) -> AsyncIterator[Tenants]:
    other = running_service(sample_data=False)
    (tmp_path / "others").mkdir()
    others = Site(other, tmp_path / "others")
    ports = {OURS: site.port, ROTATED: site.port, OTHERS: port_of(other)}
    async with site.proxy(tenants=ports) as proxy:
        yield Tenants(site, others, proxy, site.new_store(), site.new_lock())


# --- what an empty list proves ------------------------------------------------------------------


@pytest.mark.parametrize("call", ["add", "delete", "clear"])
async def test_absence_proves_nothing_when_the_credentials_have_changed(
    tenants: Tenants, call: str
):
    lost = await tenants.lose(call)
    seen = await tenants.check(lost, OTHERS)
    assert seen.state is UNKNOWN
    assert "credentials have changed" in seen.message
    assert len(tenants.remotes) == 3
    assert b"ours" not in tenants.store.read_bytes(), "the journal has a header value"


async def test_absence_proves_nothing_when_the_list_hides_all_other_remotes(tenants: Tenants):
    lost = await tenants.lose("delete")
    assert {one["remoteNumber"] for one in lost.others or ()} == {"N-0", "N-2"}
    tenants.hide()
    seen = await tenants.check(lost)
    assert seen.state is UNKNOWN
    assert "none of the lock's other remotes" in seen.message


async def test_an_empty_list_proves_nothing_when_none_was_read_before(tenants: Tenants):
    tenants.proxy.arm("list", reset)
    lost = await tenants.lose("delete")
    await tenants.proxy.heal()
    tenants.hide()
    seen = await tenants.check(lost)
    assert (lost.others, seen.state) == (None, UNKNOWN)


async def test_absence_is_proof_when_the_lock_shows_or_had_no_other_remote(tenants: Tenants):
    lost = await tenants.lose("delete", applied_unheard)
    assert (await tenants.check(lost)).state is PROVEN
    tenants.lock_id = tenants.ours.new_lock(1)
    async with tenants.session() as operations:
        await operations.remotes.page(tenants.lock_id, 1, 20)
        tenants.proxy.arm("delete", applied_unheard, 1)
        with pytest.raises(ResultUnknownError):
            await operations.writes.delete_remote(tenants.lock_id, tenants.remotes[0])
        await verify_step(operations)
        seen = (await operations.journal.history())[-1]
    assert (seen.others, seen.state) == ((), PROVEN)


async def test_presence_is_proof_when_the_credentials_have_changed(tenants: Tenants):
    lost = await tenants.lose("update", applied_unheard)
    assert (await tenants.check(lost, ROTATED)).state is PROVEN


# --- runs ---------------------------------------------------------------------------------------


async def interrupted(tenants: Tenants) -> Plan:
    """A run of three deletes that was stopped after the first."""
    async with tenants.session() as operations:
        steps = [delete(tenants.lock_id, one) for one in tenants.remotes]
        run = run_of(operations, steps)
        run.on_change = Run.stop
        return await execute(operations, run)


async def test_a_run_sends_nothing_when_the_credentials_have_changed(tenants: Tenants):
    plan = await interrupted(tenants)
    async with tenants.session(OTHERS) as operations:
        kept = await operations.runs.find(plan.id)
        asked = len(tenants.proxy.asked)
        for one in (kept, operations.runs.retry(kept)):
            assert operations.runs.needs_account(one)
            words = "credentials have changed since this run"
            with pytest.raises(OtherCredentialsError, match=words):
                await execute(operations, one)
        assert tenants.proxy.asked[asked:] == []


async def test_a_run_goes_on_when_a_person_says_that_it_is_the_same_account(tenants: Tenants):
    plan = await interrupted(tenants)
    async with tenants.session(ROTATED) as operations:
        kept = await operations.runs.find(plan.id)
        await operations.runs.note_same_account(kept)
    async with tenants.session(ROTATED) as operations:  # it asks once
        kept = await operations.runs.find(plan.id)
        assert not operations.runs.needs_account(kept)
        done = await execute(operations, kept)
    assert {step.state for step in done.steps} == {StepState.RECORDED}
    assert tenants.remotes == []


# --- names, blocks and lists --------------------------------------------------------------------


async def add_one(operations: Operations, lock_id: int) -> int | None:
    return await operations.writes.add_remote(new_remote(lock_id, "Another", "Z-9"))


async def is_known(operations: Operations, lock_id: int) -> bool:
    """Whether the session knows the remote that was added lately."""
    return await operations.journal.lately_added(lock_id, "Another") is not None


NAMED = {"account": "a"}, {"account": "b", "name": "south"}


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [({"token": OURS}, {"token": OTHERS, "name": "south"}), NAMED],
    ids=["other credentials", "other names"],
)
async def test_profiles_of_two_accounts_know_nothing_of_each_other(
    tenants: Tenants, mine: dict[str, str], theirs: dict[str, str]
):
    async with tenants.session(**mine) as operations:
        await add_one(operations, tenants.lock_id)
        assert await is_known(operations, tenants.lock_id)
        page = (await operations.remotes.page(tenants.lock_id, 1, 20)).value
    async with tenants.session(**theirs) as operations:
        assert not await is_known(operations, tenants.lock_id)
        assert await operations.journal.unlisted(tenants.lock_id, page, ()) is None
    await tenants.lose("add", **mine)
    async with tenants.session(**theirs) as operations:
        await operations.writes.add_remote(new_remote(tenants.lock_id))


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [({"account": "a"}, {"account": "a", "name": "south"}), ({}, {})],
    ids=["profiles of one account", "one profile"],
)
async def test_a_block_holds_when_the_credentials_have_changed(
    tenants: Tenants, mine: dict[str, str], theirs: dict[str, str]
):
    await tenants.lose("add", **mine)
    async with tenants.session(ROTATED, **theirs) as operations:
        with pytest.raises(PendingChangeError):
            await add_one(operations, tenants.lock_id)


async def test_a_rotated_token_is_recognized_by_what_the_list_shows(tenants: Tenants):
    lock_id = tenants.lock_id
    async with tenants.session() as operations:
        await operations.remotes.page(lock_id, 1, 20)
        await add_one(operations, lock_id)
        (added,) = await operations.journal.history()
    async with tenants.session(ROTATED) as operations:
        assert not await is_known(operations, lock_id), "it may be another account"
        with pytest.raises(OtherAccountError):
            operations.journal.require_same_account(added)
        page = (await operations.remotes.page(lock_id, 1, 20)).value
        await operations.journal.unlisted(lock_id, page, ())
        assert await is_known(operations, lock_id)
        operations.journal.require_same_account(added)
        await operations.writes.delete_remote(lock_id, tenants.remotes[0])
    async with tenants.session(ROTATED) as operations:  # it stays so
        assert await is_known(operations, lock_id)
    async with tenants.session(ROTATED, account="north-tenant") as operations:
        assert await is_known(operations, lock_id), "the account is named, and keeps it"


async def test_another_account_is_not_recognized_by_an_id(tenants: Tenants):
    lock_id = tenants.lock_id
    async with tenants.session() as operations:
        await operations.remotes.page(lock_id, 1, 20)
        await add_one(operations, lock_id)
    for number in range(4):
        body = {"remoteName": f"T {number}", "remoteNumber": f"T-{number}", "remoteType": 1}
        tenants.others.ask("bluetooth-remote/add", lockId=lock_id, addType=1, **body)
    async with tenants.session(OTHERS) as operations:
        page = (await operations.remotes.page(lock_id, 1, 20)).value
        assert {1, 2, 3} < {remote.id for remote in page.remotes}
        await operations.journal.unlisted(lock_id, page, ())
        assert not await is_known(operations, lock_id)


def test_kept_lists_belong_to_the_account() -> None:
    profiles = [
        Profile("north", "http://a", headers={"Authorization": token}, account=account)
        for token, account in ((OURS, ""), (OTHERS, ""), (OURS, "a"), (OURS, "b"))
    ]
    assert len({owner_of(one) for one in profiles}) == 4


# --- a profile that was renamed, or means another service ---------------------------------------


async def test_a_renamed_profile_keeps_its_unconfirmed_changes_when_they_are_adopted(
    tenants: Tenants,
):
    await tenants.lose("add")
    async with tenants.session(OTHERS, name="yard") as operations:
        assert await operations.journal.left_by_others() == [], "it is another account's"
    async with tenants.session(name="yard") as operations:
        journal = operations.journal
        assert await journal.list_unconfirmed() == []
        (left,) = await journal.left_by_others()
        with pytest.raises(PendingChangeError) as held:
            await add_one(operations, tenants.lock_id)
        assert "unconfirmed adopt" in held.value.hint
        await journal.adopt([left])
        assert [one.id for one in await journal.list_unconfirmed()] == [left.id]
        assert await journal.left_by_others() == []
    async with tenants.session() as operations:
        assert await operations.journal.list_unconfirmed() == []


async def test_what_was_sent_elsewhere_is_not_read_back_sent_or_restored_here(
    tenants: Tenants, running_service: Callable[..., RunningService]
):
    there = (await tenants.lose("delete")).service
    empty = running_service(sample_data=False)
    async with tenants.session(base_url=empty.base_url) as here:
        (lost,) = await here.journal.list_unconfirmed()
        assert lost.service == there == tenants.proxy.base_url
        here.watch.start()  # what it does by itself at the start
        await verify_step(here)
        for resolve in (here.watch.check, here.resolution.send_again):
            with pytest.raises(OtherServiceError, match="Nothing was read or sent"):
                await resolve(lost)
        confirmed = replace(lost, state=OperationState.CONFIRMED)
        with pytest.raises(OtherServiceError):
            await plan_undo(here, [confirmed], "undo", renames=False)
        (lost,) = await here.journal.list_unconfirmed()
        assert lost.state is UNKNOWN, "the remote is in no list of another service"
        assert list(empty.requests) == []
