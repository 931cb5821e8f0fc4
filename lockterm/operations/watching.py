"""The verification of unconfirmed operations, at growing intervals until the result is proven."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.remotes import READABLE_CALLS, Remote
from lockterm.errors import ListTooLargeError, ServiceError, StoreError, UnreachableError
from lockterm.operations.connection import FIRST_RETRY_S, LAST_RETRY_S
from lockterm.operations.list_walk import ASKED, UNASKED, WalkLimits
from lockterm.operations.proof import (
    Case,
    Horizon,
    Sighting,
    Verdict,
    are_old,
    is_later,
    judge_add,
    judge_clear,
    judge_delete,
    judge_gone,
    judge_update,
    like_added,
    shows_others,
    was_created_since,
)
from lockterm.operations.refusals import damaged_entry

if TYPE_CHECKING:
    from lockterm.operations.connection import Connection
    from lockterm.operations.journal_store import JournalStore
    from lockterm.operations.kept_lists import KeptLists
    from lockterm.operations.rate_limiter import RateLimiter
    from lockterm.operations.remotes import Remotes

_log = logging.getLogger(__name__)


class Timer:
    """The monotonic clock, and a wait that uses it; tests replace this object."""

    def now_s(self) -> float:
        """Return the time in seconds since an arbitrary moment."""
        return time.monotonic()

    async def wait(self, asked: asyncio.Event, at_most_s: float) -> None:
        """Wait until an event is set, but at most for a number of seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(at_most_s):
                await asked.wait()


class Watch:
    """The object that verifies unconfirmed operations with readings of this session.

    Nothing is read while no operation is unconfirmed. ``Horizon.ages_s`` has the times of the
    readings.

    Args:
        connection: The connection to the service.
        journal: The journal, which has the operations.
        remotes: The remotes at the service.
        kept_lists: The lists that this machine stores.
        pace: The rate limiter of automatic readings.
        by_itself: Whether :meth:`start` verifies in the background. A command sets this to false,
            because a command verifies only its own changes and leaves all others to other sessions.
    """

    def __init__(
        self,
        connection: Connection,
        journal: JournalStore,
        remotes: Remotes,
        kept_lists: KeptLists,
        pace: RateLimiter,
        *,
        by_itself: bool,
    ) -> None:
        self.timer = Timer()
        self.horizon = Horizon()
        self._connection = connection
        self._journal = journal
        self._remotes = remotes
        self._kept_lists = kept_lists
        self._pace = pace
        self._by_itself = by_itself
        self.told: set[str] = set()
        """The IDs of operations whose result needs no notification, because the user requested the
        reading or chose the result."""
        self.running: asyncio.Task[None] | None = None
        """The task that verifies operations in the background; None before the first start."""
        self._cases: dict[str, Case] = {}
        self._asked = asyncio.Event()
        self._left_to_a_person: set[str] = set()
        """The IDs of operations on locks whose list is too large for automatic readings."""

    def note_lost(self, operation: Operation, begun_s: float | None = None) -> None:
        """Record that the sending of an operation has ended without an answer.

        The times for a proof count from now, and not from the beginning of the sending, because
        the request may have been sent by the last of several attempts.

        Args:
            operation: The operation.
            begun_s: When the sending began, in monotonic seconds; None if another session sent the
                operation.
        """
        self._cases[operation.id] = Case(self.timer.now_s(), self.horizon, begun_s)

    def _case(self, operation: Operation) -> Case:
        if operation.id not in self._cases:
            self.note_lost(operation)
        return self._cases[operation.id]

    # --- one reading -------------------------------------------------------------------------

    async def check(
        self,
        operation: Operation,
        limits: WalkLimits = ASKED,
        pace: RateLimiter | None = None,
    ) -> Operation:
        """Verify an unconfirmed operation with one more reading, and store the proven result.

        One reading is seldom enough for a proof; see :mod:`lockterm.operations.proof`.

        Args:
            operation: The operation.
            limits: The limits for reading a complete list.
            pace: The rate limiter for which each call waits; None to make calls at once.

        Returns:
            The operation as it is now in the journal.

        Raises:
            ServiceError: The service could not be read. The operation is unchanged.
            OtherServiceError: The operation was sent to another service. The operation is
                unchanged.
            StoreError: The journal cannot be used, or its entry is damaged.
        """
        self._journal.require_sent_here(operation)
        if operation.state is OperationState.DAMAGED:
            raise damaged_entry(operation)
        if operation.call in READABLE_CALLS:
            verdict = await self._look(operation, limits, pace)
        else:
            message = "The service does not report this value. You can send the same value again."
            verdict = Verdict(OperationState.UNKNOWN, message)
        is_done = verdict.state is OperationState.CONFIRMED_BY_READING
        if is_done and operation.call == "clear" and await self._journal.was_sent_again(operation):
            message = "None of the remotes is left. Some were deleted one by one."
            verdict = Verdict(OperationState.SENT_AGAIN, message)
        checked = await self._journal.resolve(
            operation,
            state=verdict.state,
            message=verdict.words,
            candidates=verdict.candidates,
            read_ms=self._connection.clock.now_ms(),
            **({} if verdict.remote_id is None else {"remote_id": verdict.remote_id}),
        )
        if not checked.is_unconfirmed:
            self._cases.pop(checked.id, None)  # the readings are no longer needed
            if limits is ASKED:
                self.told.add(checked.id)
        return checked

    async def _look(
        self, operation: Operation, limits: WalkLimits, pace: RateLimiter | None
    ) -> Verdict:
        """Read once the lock or the remote that an operation changes.

        Returns:
            The verdict that all readings so far prove.
        """
        case, begun_s = self._case(operation), self.timer.now_s()
        is_since = case.is_of_horizon(begun_s)
        claim, detail, remotes = await self._read(operation, limits, pace, is_since)
        now_ms = self._service_ms()
        # An added remote that is shown exists, even if the answer is old.
        is_fresh, doubt = claim.remote_id is not None, ""
        if detail is not None and operation.call == "update" and now_ms is not None:
            sent_ms = now_ms - (self.timer.now_s() - case.sent_s) * 1000
            is_fresh = is_later(detail.update_time, sent_ms, now_ms)
        if remotes is not None:
            await self._journal.recognize_account(operation.lock_id, remotes)
        if remotes is not None and claim.remote_id is None:
            recorded = await self._journal.recorded(operation.lock_id)
            doubt = recorded.contradiction(remotes)
            is_young = any(record.get("id") in recorded.young for record in operation.before)
            if claim.by_absence and operation.call in ("delete", "clear") and not is_young:
                is_fresh = are_old(operation.before, now_ms)
            if claim.by_absence:
                doubt = doubt or self._doubt_of_absence(operation, remotes, recorded.deleted)
        if await self._journal.is_being_sent_again(operation):
            doubt = "The change is being sent again, so the new request may have set the values."
        verdict = case.add(Sighting(begun_s, claim, is_fresh, doubt))
        if verdict.state is not OperationState.UNKNOWN:
            return verdict
        if claim.state is operation.state:  # this or another session has proven it before
            return claim
        if operation.state is OperationState.AMBIGUOUS:
            return replace(verdict, state=OperationState.AMBIGUOUS, candidates=operation.candidates)
        return verdict

    def _doubt_of_absence(
        self, operation: Operation, remotes: Sequence[Remote], deleted: Container[int | None]
    ) -> str:
        """Return a sentence if the absence of remotes from a list proves nothing; otherwise empty.

        Args:
            operation: The operation to verify.
            remotes: The remotes in the complete list.
            deleted: IDs of remotes that lockterm has deleted since the operation was sent.
        """
        if not operation.credentials:
            return "An earlier version of lockterm sent the change and stored no credentials."
        if operation.credentials != self._journal.account.credentials:
            return (
                "The credentials have changed since the change was sent, so this may be"
                " another account."
            )
        if operation.call == "add" and operation.others is None:
            return ""  # an add is sent without reading the list, and its absence proves little
        if shows_others(operation.others, remotes, deleted):
            return ""
        return (
            "The list shows none of the lock's other remotes, so it may belong to another account."
        )

    async def _read(
        self, operation: Operation, limits: WalkLimits, pace: RateLimiter | None, is_since: bool
    ) -> tuple[Verdict, Remote | None, Sequence[Remote] | None]:
        """Read once the data that shows the result of an operation.

        Args:
            operation: The operation.
            limits: The limits for reading a complete list.
            pace: The rate limiter for which each call waits; None to make calls at once.
            is_since: Whether the answers certainly show the state after the sending.

        Returns:
            The verdict of this reading, the details of the remote, and the complete list. Details
            and list are None if they were not read.
        """
        detail = None
        if operation.call == "update":
            detail = await self._remotes.detail_or_gone(operation.remote_id, pace)
            if detail is not None:
                return judge_update(operation, detail), detail, None
            remotes = await self._remotes.all(operation.lock_id, limits, pace=pace)
            for remote in remotes:
                if remote.id == operation.remote_id:
                    return judge_update(operation, remote), remote, remotes
            return judge_gone(), None, remotes
        remotes = await self._remotes.whole(operation.lock_id, limits, pace=pace)
        if operation.call == "clear":
            return judge_clear(operation, remotes), None, remotes
        if operation.call == "delete":
            if not any(remote.id == operation.remote_id for remote in remotes):
                detail = await self._remotes.detail_or_gone(operation.remote_id, pace)
            return judge_delete(operation, remotes, detail), detail, remotes
        alike = like_added(operation, remotes)
        if not alike:
            return judge_add(operation, (), ()), None, remotes
        ids = [remote.id for remote in alike if remote.id is not None]
        older = await self._journal.find_older(operation, alike, ids, is_since=is_since)
        are_new = await self._are_new(operation, alike, is_since)
        return judge_add(operation, alike, older, are_new), None, remotes

    async def _are_new(
        self, add: Operation, remotes: Sequence[Remote], is_since: bool
    ) -> Mapping[int | None, bool | None]:
        """Return a mapping of remote IDs to whether the remote appeared after an add was sent.

        A value is None if this is unclear.

        Args:
            add: The add.
            remotes: The remotes to check.
            is_since: Whether the remotes certainly show the state after the sending.
        """
        are_new: dict[int | None, bool | None] = {}
        sent_ms, now_ms = self._sent_ms(add), self._service_ms()
        before = await self._kept_lists.ids_before(add.lock_id, add.sent_ms or add.prepared_ms)
        for remote in remotes:
            is_new = None
            if sent_ms is not None and now_ms is not None:
                is_new = was_created_since(remote.create_time, sent_ms, now_ms)
            is_unlisted = before is not None and remote.id not in before
            if is_unlisted and (is_new is None or is_since):
                is_new = True
            are_new[remote.id] = is_new
        return are_new

    def _sent_ms(self, operation: Operation) -> float | None:
        """Return when the sending began, by the service's clock, in milliseconds.

        The result is None if the offset of the service's clock is unknown.
        """
        offset_s, begun_s = self._connection.clock_offset_s, self._case(operation).begun_s
        if offset_s is None:
            return None
        if begun_s is None:
            return (operation.sent_ms or operation.prepared_ms) + offset_s * 1000
        ago_s = self.timer.now_s() - begun_s  # the wall clock may have been set since
        return self._connection.clock.now_ms() + (offset_s - ago_s) * 1000

    def _service_ms(self) -> float | None:
        """Return the present time by the service's clock, in milliseconds; None if unknown."""
        offset_s = self._connection.clock_offset_s
        return None if offset_s is None else self._connection.clock.now_ms() + offset_s * 1000

    # --- automatic reading -------------------------------------------------------------------

    def start(self) -> None:
        """Start to verify unconfirmed operations in the background. In a command, do nothing."""
        if not self._by_itself:
            return
        self._asked.set()
        is_idle = self.running is None or self.running.done()
        if is_idle and not self._connection.is_closed:
            self.running = self._connection.background(self._run())

    async def _run(self) -> None:
        """Verify each operation whenever a reading is due, until no further reading is planned."""
        delay_s = FIRST_RETRY_S
        while self._asked.is_set():
            self._asked.clear()
            try:
                failed, next_s = await self._look_at_due()
            except StoreError as error:  # another program may be using the store
                _log.info("nothing can be read back without the store: %s", error.message)
                failed, next_s = True, None
            if failed:
                wait_s, delay_s = delay_s, min(delay_s * 2, LAST_RETRY_S)
            elif next_s is None:
                continue
            else:
                wait_s, delay_s = max(next_s - self.timer.now_s(), 0.0), FIRST_RETRY_S
            await self.timer.wait(self._asked, wait_s)
            self._asked.set()

    async def _look_at_due(self) -> tuple[bool, float | None]:
        """Verify each operation whose next reading is due.

        Returns:
            Whether a reading failed, and the monotonic time of the next reading in seconds. The
            time is None if no reading is planned.
        """
        failed, due = False, []
        for operation in await self._journal.list_unconfirmed():
            is_readable = (
                operation.call in READABLE_CALLS
                and operation.state is not OperationState.AMBIGUOUS
                and operation.state is not OperationState.DAMAGED
            )
            if not is_readable or not self._journal.account.is_sent_here(operation):
                continue
            if operation.id in self._left_to_a_person:
                continue
            case = self._case(operation)
            at_s = case.next_look_s()
            if at_s is not None and at_s <= self.timer.now_s():
                try:
                    await self.check(operation, UNASKED, self._pace)
                except ListTooLargeError as error:
                    self._left_to_a_person.add(operation.id)
                    message = f"{error.message} {error.hint}"
                    await self._journal.resolve(operation, state=operation.state, message=message)
                    continue
                except ServiceError as error:
                    _log.info("reading back will be tried again: %s", error.message)
                    failed = True
                    if isinstance(error, UnreachableError):
                        break
                    continue
                at_s = case.next_look_s()
            if at_s is not None:
                due.append(at_s)
        return failed, min(due, default=None)

    async def until_proven(
        self, operation: Operation, within_s: float, pace: RateLimiter | None = None
    ) -> Operation:
        """Verify an operation until its result is proven or the time limit is reached.

        Args:
            operation: The operation.
            within_s: The time limit in seconds.
            pace: The rate limiter for which each call waits; None to make calls at once.

        Returns:
            The operation as it is in the journal at the end.

        Raises:
            ServiceError: The service could not be read, even after retries.
        """
        end_s, delay_s = self.timer.now_s() + within_s, FIRST_RETRY_S
        while True:
            failure: ServiceError | None = None
            at_s: float | None
            try:
                operation = await self.check(operation, pace=pace)
            except ServiceError as error:
                failure = error
                at_s, delay_s = self.timer.now_s() + delay_s, min(delay_s * 2, LAST_RETRY_S)
            else:
                if (
                    operation.state is not OperationState.UNKNOWN
                    or operation.call not in READABLE_CALLS
                ):
                    return operation
                at_s = self._case(operation).next_look_s()
            if at_s is None or at_s > end_s:
                if failure is not None:
                    raise failure
                return operation
            await self.timer.wait(asyncio.Event(), max(at_s - self.timer.now_s(), 0.0))
