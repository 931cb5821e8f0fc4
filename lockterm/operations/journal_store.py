"""The journal of a profile, for use in the event loop. Other sessions may use the same journal.

No other package writes to the journal.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from lockterm.domain.callbacks import ignore
from lockterm.domain.operation import (
    EVERYTHING,
    IN_FLIGHT,
    RECORDED,
    UNCONFIRMED,
    HistoryLine,
    Operation,
    OperationState,
    Selection,
    known_fields,
)
from lockterm.domain.text.operation import describe_change_briefly
from lockterm.errors import StoreDamagedError, StoreError
from lockterm.operations.recorded import Recorded, find_discrepancies, is_known
from lockterm.operations.refusals import (
    AlreadyResolvedError,
    OtherAccountError,
    OtherServiceError,
    PendingChangeError,
    damaged_entry,
    just_added,
)
from lockterm.store.accounts import ProfileAccount
from lockterm.store.journal import Journal
from lockterm.store.runs import RunStore
from lockterm.store.sessions import StoreSession

if TYPE_CHECKING:
    from datetime import tzinfo

    from lockterm.config import Profile
    from lockterm.domain.plan import RunLine
    from lockterm.domain.remotes import Remote, RemotePage
    from lockterm.operations.connection import Connection
    from lockterm.operations.list_state import Unlisted
    from lockterm.store.database import Database

P = ParamSpec("P")
T = TypeVar("T")

RECENT_S = 300
"""Age of a recorded change, in seconds, from which lockterm trusts a list that lacks the change.
lockterm then assumes that someone else has reverted the change."""
LOOKED_AT = 5000
"""Number of rows that are checked for damage at a time. With this number, a key press waits for
about 10 ms at most."""
NAME_S = 90
"""Age of an add, in seconds, from which lockterm trusts the service if it reports that the added
name is free."""

_log = logging.getLogger(__name__)


class JournalStore:
    """The operations that this machine has sent with one profile, and their results.

    Methods that use the local store raise ``StoreError`` if it cannot be used.

    Args:
        profile: The profile, with its present service.
        database: The local store; :meth:`close` closes it.
        connection: The connection, whose clocks are used.
    """

    def __init__(self, profile: Profile, database: Database, connection: Connection) -> None:
        self.on_change: Callable[[], None] = ignore
        """The function to call whenever an operation was sent, or its result has changed."""
        self.on_kept: Callable[[Operation], None] = ignore
        """The function to call with a recorded operation if the service shows other values than the
        operation sent. The message of the operation describes the difference."""
        self.session = StoreSession(database.path.parent / "sessions")
        """The registration of this session, which shows other sessions that it is alive."""
        self.profile = profile
        self._connection = connection
        self._clock = connection.clock
        self.database = database
        """The local store."""
        self._thread = database.thread
        self._journal = Journal(database, profile.name, profile.base_url)
        self.account = ProfileAccount(profile, database, self._journal)
        """The account of the profile."""
        self._journal.account = self.account
        self._told_notice = ""
        self._adopted = False
        self._adopting = threading.Lock()
        """The mutex that prevents two threads from doing the slow check of the store at the same
        time."""
        self._settled_here: dict[int, dict[tuple[str, int], int]] = {}
        """Maps lock IDs to the operations that got a result in this session. The keys of each inner
        mapping are pairs of operation ID and time of the result by the wall clock. The values are
        the same times by the monotonic clock, because the user may set the wall clock. All times
        are in milliseconds."""
        self._unnoted: list[tuple[Operation, dict[str, Any]]] = []

    def close(self) -> None:
        """End the session and close the store."""
        self._thread.end()
        self.session.close()
        self.database.close()

    @property
    def notice(self) -> str:
        """The message about a damaged store that was set aside; empty if there was no damage.

        The caller must show this message to the user. After damage, :meth:`begin` refuses changes
        until a caller has read this property.
        """
        self._told_notice = self.database.notice
        return self._told_notice

    # --- reading ---------------------------------------------------------------------------

    async def list_unconfirmed(self, lock_id: int | None = None) -> list[Operation]:
        """Return the unconfirmed operations on all locks or one lock, the oldest first."""

        def unconfirmed() -> list[Operation]:
            with contextlib.suppress(StoreError):
                self._settle_orphans()  # another session may have ended meanwhile
            return self._journal.list_unconfirmed(lock_id)

        return await self._run_reading(unconfirmed)

    async def history(self, selection: Selection = EVERYTHING) -> list[Operation]:
        """Return the operations of this profile that match a filter, the oldest first."""
        return await self._run_reading(self._journal.history, selection)

    async def lines(
        self, selection: Selection = EVERYTHING, below: int | None = None, most: int = -1
    ) -> list[HistoryLine]:
        """Return summaries of the operations that match a filter, the newest first.

        Args:
            selection: The filter.
            below: The sequence number of a row; only older rows are returned. None for all rows.
            most: Maximum number of operations; -1 for all.
        """
        return await self._thread.to_its_end(
            self._read, self._journal.lines, selection, below, most
        )

    async def newest(
        self, selection: Selection, most: int, counted: int
    ) -> tuple[list[HistoryLine], int]:
        """Return summaries of the newest operations that match a filter, and the number of matches.

        Args:
            selection: The filter.
            most: Maximum number of summaries.
            counted: Number of matches at which counting stops.
        """
        return await self._thread.to_its_end(
            self._read, self._journal.newest, selection, most, counted
        )

    async def count(self, selection: Selection = EVERYTHING, most: int = -1) -> int:
        """Return the number of operations that match a filter.

        Args:
            selection: The filter.
            most: Number of matches at which counting stops; -1 to count all.
        """
        return await self._thread.to_its_end(self._read, self._journal.count, selection, most)

    async def count_by_quarter(self, since_ms: int, lock_id: int | None) -> Mapping[int, int]:
        """Return the number of operations in each quarter of an hour, numbered from 1970.

        Args:
            since_ms: The time from which operations count, in milliseconds since the epoch.
            lock_id: The only lock whose operations count; None for all locks.
        """
        return await self._run_reading(self._journal.count_by_quarter, since_ms, lock_id)

    async def runs(self) -> list[RunLine]:
        """Return summaries of the plans and runs of this profile, the newest first."""
        lines = RunStore(self.database, self.session).lines
        return await self._thread.to_its_end(self.use, lines, self.profile.name)

    async def look_through(self) -> None:
        """Check all rows for damage, in portions so small that a key press does not wait long."""
        while await self._thread.to_its_end(self._read, self._journal.look_through, LOOKED_AT):
            pass

    async def find(self, operation_id: str) -> Operation | None:
        """Return an operation with its present state; None if the journal does not have it."""
        return await self._run_reading(self._journal.find, operation_id)

    async def changes(self, ids: Collection[str], zone: tzinfo) -> Mapping[str, str]:
        """Return a text about each of the given operations, by operation ID.

        A text is like ``End 3 Jan 2026 -> 31 Dec 2026``, with dates in ``zone``.
        """

        def changes() -> Mapping[str, str]:
            return {one.id: describe_change_briefly(one, zone) for one in self._journal.some(ids)}

        return await self._run_reading(changes)

    async def last_change(self, lock_id: int) -> Operation | None:
        """Return the last operation that changed or may have changed a lock; None if none did."""
        return await self._run_reading(self._journal.last_change, lock_id)

    async def was_sent_again(self, operation: Operation) -> bool:
        """Return whether the service recorded a later operation that repeats an operation."""
        return await self._run(self._journal.was_sent_again, operation.id)

    async def is_being_sent_again(self, operation: Operation) -> bool:
        """Return whether an operation that repeats this one is being sent."""
        return bool(await self._run(self._journal.sending_again, operation.id))

    async def linked(self, operation: Operation) -> list[Operation]:
        """Return the operations that are linked to an operation.

        Two operations are linked if one of them repeats or restores the other.
        """
        return await self._run(self._journal.linked, operation)

    async def voices(self, lock_id: int) -> list[Operation]:
        """Return the operations that set or may have set the voice of a lock, the oldest first."""
        return await self._run(self._journal.voices, lock_id)

    async def restored(self, lock_id: int) -> list[Operation]:
        """Return the adds that restored remotes of a lock from backups, the oldest first."""
        return await self._run(self._journal.restored, lock_id)

    async def restored_as(self, backup_id: str, old_id: int) -> list[Operation]:
        """Return the recorded adds that restored the remote with the ID ``old_id`` from a backup.

        ``backup_id`` is the ID of the delete or clear that made the backup.
        """
        return await self._run(self._journal.restored_as, backup_id, old_id)

    async def of_run(self, plan_id: str) -> list[Operation]:
        """Return the operations of the steps of a plan, the oldest first."""
        return await self._run(self._journal.of_run, plan_id)

    async def latest_recorded(self, lock_id: int) -> list[Operation]:
        """Return the account's latest recorded operations on a lock, the oldest first."""
        return await self._run_reading(self._journal.latest_recorded, lock_id)

    async def messages_of_run(self, plan_id: str, start: str) -> Mapping[str, str]:
        """Return those messages of a plan's operations that begin with a text, by operation ID."""
        return await self._thread.to_its_end(self._journal.messages_of_run, plan_id, start)

    async def run_of(self, operation: Operation) -> str:
        """Return the ID of the plan that an operation is a step of; empty if there is none."""
        return await self._run(self._journal.run_of, operation)

    async def told_hidden(self, change: Operation) -> list[Operation]:
        """Return all operations on a lock that show values of hidden fields, the oldest first.

        Args:
            change: An operation on the lock.
        """
        return await self._run(self._journal.told_hidden, change, till_now=True)

    async def known_hidden(self, change: Operation) -> Mapping[int, Mapping[str, Any]]:
        """Return the values of hidden fields that were known before a change, by remote ID."""

        def known() -> Mapping[int, Mapping[str, Any]]:
            return known_fields(self._journal.told_hidden(change), change.before)

        return await self._run(known)

    async def recorded(self, lock_id: int) -> Recorded:
        """Return the recent recorded changes on a lock, which its list may not show yet."""
        return self._recorded(await self.lately(lock_id))

    async def lately(
        self, lock_id: int, within_s: int = RECENT_S, name: str | None = None
    ) -> list[Operation]:
        """Return the operations on a lock that are being sent, or that recently got a result.

        Args:
            lock_id: The lock.
            within_s: Maximum time since the result, in seconds.
            name: A name. The result is empty unless one of the operations gives a remote this name.
                None to ignore names.
        """
        within_ms, now_ms = within_s * 1000, self._clock.now_ms()
        since_ms = self._clock.steady_ms() - within_ms
        here = self._settled_here.get(lock_id, {}).copy()
        old = {key for key, at_ms in here.items() if at_ms < since_ms}
        missed = [one for one, at_ms in here.keys() - old if abs(at_ms - now_ms) > within_ms]

        def recent() -> list[Operation]:
            from_ms, till_ms = now_ms - within_ms, now_ms + within_ms
            return self._journal.recent(lock_id, from_ms, till_ms, missed, name)

        rows = await self._run_reading(recent)
        return [row for row in rows if (row.id, row.settled_ms) not in old]

    async def lately_added(self, lock_id: int, name: str) -> Operation | None:
        """Return the recent add of a name that a list may not show yet; None if there is none."""
        return self._recorded(await self.lately(lock_id, NAME_S, name)).named(name)

    async def unlisted(
        self, lock_id: int, page: RemotePage, listed: Container[int]
    ) -> Unlisted | None:
        """Return recent changes that a page does not show yet; None if there were no changes.

        Also store a message for each recorded change after which the page shows other values than
        were sent.

        Args:
            lock_id: The lock.
            page: The page, as just read from the service.
            listed: The IDs of the remotes on all pages read so far.
        """
        if not self.account.name:
            await self._run_reading(self.account.look_up)
        await self.recognize_account(lock_id, page.remotes)
        rows = await self.lately(lock_id)
        if not rows:
            return None
        recorded = self._recorded(rows)
        differing = find_discrepancies(rows, recorded, page.remotes, self.profile.zone)
        for operation, message in differing:
            if operation.message != message:
                await self.note_message(operation, message)
                self.on_kept(replace(operation, message=message))
        return recorded.unlisted(page, listed)

    def _recorded(self, operations: Iterable[Operation]) -> Recorded:
        offset_s = self._connection.clock_offset_s
        offset_ms = None if offset_s is None else offset_s * 1000
        return Recorded.of(operations, self._clock.now_ms(), offset_ms)

    async def find_older(
        self,
        add: Operation,
        remotes: Iterable[Remote],
        ids: Collection[int],
        *,
        is_since: bool = False,
    ) -> set[int]:
        """Return the IDs of remotes that an add cannot have created, because they existed before.

        Args:
            add: The add.
            remotes: Remotes of the lock, as the service shows them.
            ids: The IDs to check; other remotes are ignored.
            is_since: Whether the records of the remotes are certainly from after the sending of the
                add; see :func:`lockterm.operations.recorded.is_known`.
        """
        asked = [remote for remote in remotes if remote.id in ids]
        rows = await self._run_reading(self._journal.about, add, ids)
        known = [one.id for one in asked if is_known(one, add, rows, is_since=is_since)]
        return {remote_id for remote_id in known if remote_id is not None}

    async def left_by_others(self) -> list[Operation]:
        """Return unconfirmed changes on this account from profiles with other names."""
        return await self._run_reading(self.account.left_by_others)

    async def note_message(self, operation: Operation, message: str) -> None:
        """Store a message for a recorded operation."""
        await self._thread.run(self._journal.move, operation.id, RECORDED, message=message)

    async def adopt(self, operations: Iterable[Operation]) -> None:
        """Move unconfirmed operations of other profiles on the same account to this profile."""
        move, name = self._journal.move, self.profile.name
        for one in operations:
            await self._thread.run(move, one.id, UNCONFIRMED, profile=name)
        self.on_change()

    async def recognize_account(self, lock_id: int, remotes: Sequence[Remote]) -> None:
        """Join this account with an earlier account of the profile if the two share a remote.

        Args:
            lock_id: The lock.
            remotes: Remotes of the lock, as the service shows them to this account.
        """
        if self.account.earlier:
            await self._run(self.account.recognize, lock_id, remotes)

    def require_sent_here(self, operation: Operation) -> None:
        """Check that the profile still has the service and account that received an operation.

        Raises:
            OtherServiceError: The operation was sent to another service, where the same ID means
                another remote.
            OtherAccountError: The operation was sent to another account, where the same ID means
                another remote.
        """
        if self.account.is_of_other_name(operation):
            raise OtherAccountError(operation)
        if not self.account.is_sent_here(operation):
            raise OtherServiceError(operation, self.profile.name, self.profile.base_url)

    def require_same_account(self, operation: Operation) -> None:
        """Check that a change to repeat was sent to the present service and account of the profile.

        Raises:
            OtherServiceError: The change was sent to another service.
            OtherAccountError: The change may have been sent to another account.
        """
        self.require_sent_here(operation)
        self.account.look_up()
        if operation.account not in (None, self.account.name):
            raise OtherAccountError(operation)

    # --- writing ---------------------------------------------------------------------------

    async def begin(self, operation: Operation) -> None:
        """Write an operation to the journal before it is sent.

        Raises:
            PendingChangeError: An unconfirmed operation blocks this one, because the two could
                repeat or contradict each other. Or a repetition of the same operation is being
                sent.
            AlreadyResolvedError: The operation to repeat has been resolved.
            NameTakenError: Another session has just added a remote with this name.
            StoreDamagedError: The store was damaged and the user has not seen the message, or the
                entry that blocks this operation is damaged.
            asyncio.CancelledError: The task was canceled; the operation may be in the journal.
        """
        await self._thread.to_its_end(self.use, self._begin, operation)

    def _begin(self, operation: Operation) -> None:
        if (notice := self.database.notice) != self._told_notice:
            # An earlier reading found the damage, and continued with the undamaged rows.
            raise StoreDamagedError(notice, hint="Nothing was sent. Check the history first.")
        name, credentials = self.account.name, self.account.credentials
        operation = replace(operation, account=name, credentials=credentials)
        holder = self._journal.prepare(operation)
        if holder is not None and holder.state in IN_FLIGHT:
            self._settle_orphans()  # the sending session may have ended
            holder = self._journal.prepare(operation)
        if holder is not None and holder.id == operation.again_of and not holder.is_unconfirmed:
            raise AlreadyResolvedError(holder)
        if holder is not None and holder.state is OperationState.DAMAGED:
            raise damaged_entry(holder)
        if holder is not None and holder.state in RECORDED:
            raise just_added(holder.remote_name, holder.remote_id)
        if holder is not None:
            raise PendingChangeError(holder, self.session.id, self.profile.name)

    async def note_sending(self, operation: Operation) -> None:
        """Record on the disk that an operation is being sent, before its first byte is sent.

        Raises:
            StoreError: The record could not be written, or another session has assumed that this
                session has ended.
        """

        def note() -> None:
            now_ms = self._clock.now_ms()
            if not self._journal.move(
                operation.id, IN_FLIGHT, state=OperationState.SENDING, sent_ms=now_ms
            ):
                raise StoreError(
                    "Another session assumed that this session had ended. Nothing was sent."
                )

        await self._thread.to_its_end(self.use, note)
        self.session.note_leaving(operation.id)  # the first byte leaves right after this

    async def end(self, operation: Operation, **changes: Any) -> None:
        """Record the result of an operation of this session. If the store fails, retry later.

        Args:
            operation: The operation.
            changes: The new values of the operation's fields, including ``state``.
        """
        await self._thread.to_its_end(self._end, operation, **changes)

    def _end(self, operation: Operation, **changes: Any) -> None:
        now_ms = self._clock.now_ms()
        try:
            self._journal.settle_sent(operation, now_ms, **changes)
            self._note_settled(operation, now_ms)
        except StoreError as error:  # the state stays "sending" until a retry or the next start
            _log.error("the outcome of operation %s could not be noted: %s", operation.id, error)
            self._unnoted.append((operation, changes))

    def _note_settled(self, operation: Operation, now_ms: int) -> None:
        here = self._settled_here.setdefault(operation.lock_id, {})
        here[operation.id, now_ms] = self._clock.steady_ms()

    async def note_recognized(self, operation: Operation, remote_id: int) -> None:
        """Store the ID of an added remote. The service sent no ID, but lists the remote."""
        move = self._journal.move
        await self._thread.run(move, operation.id, [OperationState.CONFIRMED], remote_id=remote_id)

    async def resolve(self, operation: Operation, **changes: Any) -> Operation:
        """Store the result of an unconfirmed operation.

        Args:
            operation: The operation.
            changes: The new values of the operation's fields, including ``state``.

        Returns:
            The operation as it is now in the journal. Another session may have resolved it first.
        """

        def resolve() -> Operation:
            now_ms = self._clock.now_ms()
            if self._journal.move(operation.id, UNCONFIRMED, settled_ms=now_ms, **changes):
                self._note_settled(operation, now_ms)
            return self._journal.find(operation.id) or operation

        resolved: Operation = await self._run(resolve)
        self.on_change()
        return resolved

    async def _run(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a function that uses the store in the store's thread, and return its result."""
        return await self._thread.run(partial(self.use, work, *args, **options))

    async def _run_reading(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a function that reads the journal in the store's thread, and return its result.

        The function also runs if the store cannot be written.
        """
        return await self._thread.run(partial(self._read, work, *args, **options))

    def use(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Register this session, run a function that uses the store, and return its result."""
        self._open()
        return work(*args, **options)

    def _open(self) -> None:
        """Register this session, and resolve operations that ended sessions have left."""
        try:
            self.session.open()
        except OSError as error:
            raise StoreError(
                f"lockterm cannot write its session file: {error.strerror}.",
                hint="Check that the state directory is yours, writable and not full.",
            ) from error
        with self._adopting:
            if not self._adopted:
                self.database.check()
                self.account.look_up()
                self._settle_orphans()
                self.session.remove_dead()
                self._adopted = True
        unnoted, self._unnoted = self._unnoted, []
        for operation, changes in unnoted:
            self._end(operation, **changes)

    def _read(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a function that reads the journal, even if the store cannot be written."""
        with contextlib.suppress(StoreError):
            self._open()
        self.account.look_up()
        return work(*args, **options)

    def _settle_orphans(self) -> None:
        session, now_ms = self.session, self._clock.now_ms()
        self._journal.settle_orphans(session.is_alive, now_ms, session.may_have_left)
