"""Two sessions on one store do anything in any order, into random faults: the books agree."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.operation import HELD_CALLS, IN_FLIGHT, Operation, OperationState
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import RemoteChanges
from lockterm.errors import (
    LocktermError,
    RefusedError,
    ResultUnknownError,
    RuleViolationError,
    UnreachableError,
)
from lockterm.operations import Operations
from lockterm.operations.refusals import AlreadyResolvedError, PendingChangeError
from lockterm.service.running import RunningService
from tests.faults.calls import FIRST_PACKS, id_of, new_remote
from tests.faults.cases import disagreements
from tests.faults.catalogue import catalogue, stalled
from tests.faults.proxy import WRITES, FaultProxy
from tests.faults.site import Site, quick, verify_step
from tests.operations.virtual import let_pause_pass

QUICK_FAULTS = [fault for fault in catalogue() if fault.play and not fault.endless]
KINDS = sorted({fault.kind for fault in QUICK_FAULTS}, key=lambda kind: kind.name)
BY_KIND = {kind: [one.play for one in QUICK_FAULTS if one.kind is kind] for kind in KINDS}
LOCK_IDS = itertools.count(20_001)
"""Many examples share the service: each has locks of its own."""
EXAMPLES, LONG_EXAMPLES = 30, 600
NOT_MADE = (
    RefusedError,
    RuleViolationError,
    UnreachableError,
    PendingChangeError,
    AlreadyResolvedError,
)
"""The errors that say that nothing was changed."""
STEPS = 20


FAULTS = st.one_of(
    st.none(),
    st.just(stalled),
    st.sampled_from(KINDS).flatmap(lambda kind: st.sampled_from(BY_KIND[kind])),
)
WHICH = st.integers(0, 1)


def writing(call: str) -> Any:
    """A rule that does one of the six writes, about one of the remotes that there are."""

    def write(self: TwoSessions, **drawn: Any) -> None:
        self.change(call, **drawn)

    write.__name__ = call
    which, number = st.integers(0, 5), st.integers(0, 9)
    return rule(who=WHICH, lock=WHICH, which=which, number=number, play=FAULTS)(write)


class TwoSessions(RuleBasedStateMachine):
    """A lock, two sessions that change it, and someone else."""

    service: RunningService

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.names = 0

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    @initialize(locks=st.integers(1, 2))
    def begin(self, locks: int) -> None:
        self.run(self._begin(locks))

    async def _begin(self, locks: int) -> None:
        self.stack = AsyncExitStack()
        folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.stack.enter_context(quick())
        self.site = Site(self.service, folder, LOCK_IDS)
        self.locks = [self.site.new_lock() for _ in range(locks)]
        self.store = self.site.new_store()
        self.proxy: FaultProxy = await self.stack.enter_async_context(self.site.proxy())
        self.sessions = [self._session(), self._session()]

    def _session(self) -> Operations:
        from lockterm.config import Profile

        return Operations(Profile(name="p", base_url=self.proxy.base_url), self.store)

    def teardown(self) -> None:
        if hasattr(self, "stack"):
            self.run(self._end())
        self.loop.close()

    async def _end(self) -> None:
        """All is well again: late requests land, everything is read back, and the books agree."""
        await self.proxy.heal()
        for session in self.sessions:
            session.watch.start()
            await verify_step(session)
        self.check_books(await self.sessions[0].journal.history())
        await self.proxy.land()
        for operation in await self.sessions[0].journal.list_unconfirmed():
            if operation.call in ("add", "update", "delete", "clear"):
                await self.sessions[0].watch.check(operation)
        self.check_books(await self.sessions[0].journal.history())
        for session in self.sessions:
            await session.close()
        # A thread whose waiter has gone goes on: it must not meet a folder that is being removed.
        await self.loop.shutdown_default_executor()
        await self.stack.aclose()

    # --- what people do ----------------------------------------------------------------------

    def fresh_name(self) -> str:
        self.names += 1
        return f"Name {self.names}"

    async def write(
        self, call: str, play: Any, work: Callable[[], Coroutine[Any, Any, Any]]
    ) -> None:
        """A write into a fault; what it says has to be what the ledger says."""
        if play is not None:
            self.proxy.arm(call, play, 1)
        before, asked = len(self.proxy.ledger), self.proxy.asked.count(call)
        error: LocktermError | None = None
        try:
            await work()
        except LocktermError as raised:
            error = raised
        self.proxy.disarm(call)
        for session in self.sessions:
            let_pause_pass(session)
            await verify_step(session)
        applied = len(self.proxy.ledger) - before
        assert self.proxy.asked.count(call) - asked <= 1
        if error is None:
            assert applied == 1, call
        elif not isinstance(error, ResultUnknownError):
            assert applied == 0, (call, error)
            assert isinstance(error, NOT_MADE), error

    add, update, delete, clear, user_number, voice = map(writing, WRITES)

    def change(self, call: str, who: int, lock: int, which: int, number: int, play: Any) -> None:
        lock_id, writes = self.locks[lock % len(self.locks)], self.sessions[who].writes
        remotes, name = self.site.remotes(lock_id), self.fresh_name()
        if call == "add":
            request = new_remote(lock_id, name, f"No. {name}")
            self.run(self.write(call, play, lambda: writes.add_remote(request)))
        elif call == "clear":
            self.run(self.write(call, play, lambda: writes.clear_remotes(lock_id)))
        elif call == "updateLockSetting":
            pack = FIRST_PACKS[which % 3]
            choice = VoiceChoice(pack.lang, pack.timbre)
            self.run(self.write(call, play, lambda: writes.set_voice(Lock(lock_id), choice)))
        elif remotes:
            remote = remotes[which % len(remotes)]
            changes = RemoteChanges(remote_name=name)
            work = {
                "update": lambda: writes.update_remote(lock_id, id_of(remote), changes, remote),
                "delete": lambda: writes.delete_remote(lock_id, remote),
                "updateRemoteUserNo": lambda: writes.set_user_no(lock_id, remote, number),
            }[call]
            self.run(self.write(call, play, work))

    # --- what people do about what is unconfirmed -----------------------------------------------

    def one_unsettled(self, who: int, which: int) -> Operation | None:
        found = self.run(self.sessions[who].journal.list_unconfirmed())
        return found[which % len(found)] if found else None

    @rule(who=WHICH, which=st.integers(0, 5))
    def check(self, who: int, which: int) -> None:
        if operation := self.one_unsettled(who, which):
            try:
                self.run(self.sessions[who].watch.check(operation))
            except RefusedError:
                assert operation.call == "update"

    @rule(who=WHICH, which=st.integers(0, 5))
    def give_up(self, who: int, which: int) -> None:
        if operation := self.one_unsettled(who, which):
            self.run(self.sessions[who].resolution.give_up(operation))

    @rule(who=WHICH, which=st.integers(0, 5))
    def bind(self, who: int, which: int) -> None:
        operation = self.one_unsettled(who, which)
        if operation and operation.state is OperationState.AMBIGUOUS:
            self.run(self.sessions[who].resolution.bind(operation, operation.candidates[0]))

    @rule(who=WHICH, which=st.integers(0, 5), play=FAULTS)
    def send_again(self, who: int, which: int, play: Any) -> None:
        operation = self.one_unsettled(who, which)
        if operation is None:
            return
        if operation.call != "clear":
            again = self.sessions[who].resolution.send_again
            self.run(self.write(operation.call, play, lambda: again(operation)))
            return
        clears = self.proxy.asked.count("clear")
        with suppress(RefusedError, ResultUnknownError, RuleViolationError):
            self.run(self.sessions[who].resolution.send_again(operation))
        assert self.proxy.asked.count("clear") == clears

    # --- what happens ------------------------------------------------------------------------

    @rule()
    def late_requests_land(self) -> None:
        self.run(self.proxy.land())

    @rule(who=WHICH)
    def begin_anew(self, who: int) -> None:
        self.run(self.sessions[who].close())
        self.sessions[who] = self._session()

    @rule(who=WHICH, lock=WHICH)
    def go_offline_and_come_back(self, who: int, lock: int) -> None:
        async def offline() -> None:
            await self.proxy.refuse()
            with pytest.raises((UnreachableError, PendingChangeError)):
                remote = Remote(id=1, raw={"id": 1})
                writes = self.sessions[who].writes
                await writes.delete_remote(self.locks[0], remote, just_read=True)
            await self.proxy.heal()

        self.run(offline())

    # --- what always holds -------------------------------------------------------------------

    @precondition(lambda self: hasattr(self, "sessions") and len(self.sessions) == 2)
    @invariant()
    def the_books_agree(self) -> None:
        one, other = self.sessions
        here, again = [], None
        while here != again:  # a session settles what it can by itself, also between two looks
            here = self.run(one.journal.history())
            there = self.run(other.journal.history())
            again = self.run(one.journal.history())
        assert here == there
        self.check_books(here)

    def check_books(self, rows: list[Operation]) -> None:
        assert not [row for row in rows if row.state in IN_FLIGHT]
        by_others = ("false confirmed_by_reading: delete", "false confirmed_by_reading: clear")
        wrong = disagreements(rows, self.proxy.ledger)
        assert [one for one in wrong if not one.startswith(by_others)] == []
        there = {row.get("id") for lock_id in self.locks for row in self.site.state(lock_id)}
        for row in rows:  # what someone else deleted is gone all the same
            if row.state is OperationState.CONFIRMED_BY_READING and row.call in ("delete", "clear"):
                assert not there & {record["id"] for record in row.before}, row
        for lock_id in self.locks:
            live = [
                row
                for row in rows
                if row.lock_id == lock_id and row.call in HELD_CALLS and row.is_unconfirmed
            ]
            for one, later in itertools.combinations(live, 2):
                one = replace(one, state=OperationState.NOT_SEEN)  # it may be known better by now
                assert one.may_precede(later), "not held back"
        assert set(WRITES) >= {row.call for row in rows}


@pytest.mark.long
def test_two_sessions(long_faults: bool, request: pytest.FixtureRequest, running_service):
    TwoSessions.service = running_service(sample_data=False)
    run_state_machine_as_test(
        TwoSessions,
        settings=settings(
            max_examples=LONG_EXAMPLES if long_faults else EXAMPLES,
            stateful_step_count=STEPS,
            suppress_health_check=list(HealthCheck),
        ),
    )
    count = LONG_EXAMPLES if long_faults else EXAMPLES
    request.node.user_properties.append(("sequences of two sessions", count))
