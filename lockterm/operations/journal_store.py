"""The journal of a profile, shared with the other sessions on the same store.

Nothing else in lockterm writes to the journal than this package.
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
from lockterm.domain.hidden import known_fields
from lockterm.domain.history import EVERYTHING, HistoryLine, Selection
from lockterm.domain.operation import IN_FLIGHT, RECORDED, UNSETTLED, Operation, State
from lockterm.domain.text.operation import describe_change_briefly
from lockterm.errors import StoreDamaged, StoreError
from lockterm.operations.account import ProfileAccount
from lockterm.operations.connection import out_of_turn
from lockterm.operations.discrepancies import find_discrepancies
from lockterm.operations.recorded import Recorded, Unlisted, is_known
from lockterm.operations.refusals import (
    PendingChangeError,
    SettledMeanwhile,
    damaged_entry,
    just_added,
)
from lockterm.store.journal import Journal
from lockterm.store.runs import RunStore
from lockterm.store.sessions import StoreSession

if TYPE_CHECKING:
    from datetime import tzinfo

    from lockterm.config import Profile
    from lockterm.domain.plan import RunLine
    from lockterm.domain.remotes import Remote, RemotePage
    from lockterm.operations.connection import Connection
    from lockterm.store.database import Database

P = ParamSpec("P")
T = TypeVar("T")

RECENT_S = 300
"""A list that is still without what was recorded longer ago is not behind: others changed it."""
LOOKED_AT = 5000
"""Rows that are looked at for damage in one go, for some 10 ms: a key may wait for the store."""
NAME_S = 90
"""After so many seconds a service that calls a name free knows what it has recorded itself."""

_log = logging.getLogger(__name__)


class JournalStore:
    """What was sent from this machine on one profile, and what became of it.

    Every method that reads or writes raises ``StoreError`` where the local store cannot be used.

    Args:
        profile: The profile, and the service it names now.
        database: The local store; closed by :meth:`close`.
        connection: The time of what is noted, here and by the service's clock.
    """

    def __init__(self, profile: Profile, database: Database, connection: Connection) -> None:
        self.on_change: Callable[[], None] = ignore
        """Called whenever an operation has changed."""
        self.on_kept: Callable[[Operation], None] = ignore
        """Called with what the service shows otherwise than it was sent; its message says how."""
        self.session = StoreSession(database.path.parent / "sessions")
        """This session, as the others see it."""
        self.profile = profile
        self._connection = connection
        self._clock = connection.clock
        self.database = database
        """The local store."""
        self._thread = database.thread
        self._journal = Journal(database, profile.name, profile.base_url)
        self.account = ProfileAccount(profile, database, self._journal)
        """The account that the profile means."""
        self._told_notice = ""
        self._adopted = False
        self._adopting = threading.Lock()
        """Held by who looks through the store: a long one takes a while, and once is enough."""
        self._settled_here: dict[int, dict[tuple[str, int], int]] = {}
        """Lock -> an operation and when this session settled it -> the same on the steady clock:
        the other may be set since."""
        self._unnoted: list[tuple[Operation, dict[str, Any]]] = []

    def close(self) -> None:
        """End the session and close the store."""
        self._thread.end()
        self.session.close()
        self.database.close()

    @property
    def is_waiting(self) -> bool:
        """Whether something waits for another program that has the local store locked."""
        return self.database.is_waiting

    @property
    def notice(self) -> str:
        """What a person should know of the store: that it was damaged and set aside; or empty.

        Whoever asks for it tells it. Before that nothing is sent, see :meth:`begin`.
        """
        self._told_notice = self.database.notice
        return self._told_notice

    # --- reading ---------------------------------------------------------------------------

    async def unsettled(self, lock_id: int | None = None) -> list[Operation]:
        """The operations whose outcome a person still has to know about, the oldest first."""

        def unsettled() -> list[Operation]:
            with contextlib.suppress(StoreError):
                self._settle_orphans()  # another session may have ended since
            return self._journal.unsettled(lock_id)

        return await self._run_reading(unsettled)

    async def history(self, selection: Selection = EVERYTHING) -> list[Operation]:
        """The operations of this profile, the oldest first."""
        return await self._run_reading(self._journal.history, selection)

    async def lines(
        self, selection: Selection = EVERYTHING, below: int | None = None, most: int = -1
    ) -> list[HistoryLine]:
        """The operations of this profile in short, the newest first; see ``Journal.lines``."""
        return await self._thread.to_its_end(
            self._read, self._journal.lines, selection, below, most
        )

    async def newest(
        self, selection: Selection, most: int, counted: int
    ) -> tuple[list[HistoryLine], int]:
        """The newest of them, and how many there are; see ``Journal.newest``."""
        return await self._thread.to_its_end(
            self._read, self._journal.newest, selection, most, counted
        )

    async def count(self, selection: Selection = EVERYTHING, most: int = -1) -> int:
        """How many operations of this profile there are; see ``Journal.count``."""
        return await self._thread.to_its_end(self._read, self._journal.count, selection, most)

    async def runs(self) -> list[RunLine]:
        """The plans of this profile in short, the newest first."""

        def lines() -> list[RunLine]:
            store = RunStore(self.database)
            return store.lines(self.profile.name, self.session.is_alive)

        return await self._thread.to_its_end(self.use, lines)

    async def look_through(self) -> None:
        """Look for damaged rows before a key has to wait for that, a few thousand at a time."""
        while await self._thread.to_its_end(self._read, self._journal.look_through, LOOKED_AT):
            pass

    async def find(self, operation_id: str) -> Operation | None:
        """One operation as the journal has it now."""
        return await self._run_reading(self._journal.find, operation_id)

    async def changes(self, ids: Collection[str], zone: tzinfo) -> Mapping[str, str]:
        """What some operations change, by their ids; see :func:`describe_change_briefly`."""

        def changes() -> Mapping[str, str]:
            return {one.id: describe_change_briefly(one, zone) for one in self._journal.some(ids)}

        return await self._run_reading(changes)

    async def last_change(self, lock_id: int) -> Operation | None:
        """The last operation on a lock that changed something, or may have."""
        return await self._run_reading(self._journal.last_change, lock_id)

    async def was_sent_again(self, operation: Operation) -> bool:
        """Whether a later operation has sent it again."""
        return await self._run(self._journal.was_sent_again, operation.id)

    async def is_being_sent_again(self, operation: Operation) -> bool:
        """Whether a later operation that sends it again is under way."""
        return bool(await self._run(self._journal.sending_again, operation.id))

    async def linked(self, operation: Operation) -> list[Operation]:
        """What an operation sends again or restores from, and what does so with it."""
        return await self._run(self._journal.linked, operation)

    async def voices(self, lock_id: int) -> list[Operation]:
        """What has set the voice of a lock from here, or may have, the oldest first."""
        return await self._run(self._journal.voices, lock_id)

    async def restored(self, lock_id: int) -> list[Operation]:
        """The adds on a lock that restore remotes from backups, the oldest first."""
        return await self._run(self._journal.restored, lock_id)

    async def restored_as(self, backup_id: str, old_id: int) -> list[Operation]:
        """The adds that were recorded of a remote of a backup, by the id that it had."""
        return await self._run(self._journal.restored_as, backup_id, old_id)

    async def of_run(self, plan_id: str) -> list[Operation]:
        """What was sent for the steps of a plan, the oldest first."""
        return await self._run(self._journal.of_run, plan_id)

    async def run_of(self, operation: Operation) -> str:
        """The id of the plan that has an operation as a step; empty: none has."""
        return await self._run(self._journal.run_of, operation)

    async def told_hidden(self, change: Operation) -> list[Operation]:
        """What tells of fields that the list never returns, of the lock of a change, till now."""
        return await self._run(self._journal.told_hidden, change, till_now=True)

    async def known_hidden(self, change: Operation) -> Mapping[int, Mapping[str, Any]]:
        """What was known before a change of fields that the list never returns, by remote id.

        See :func:`lockterm.domain.hidden.known_fields`.
        """

        def known() -> Mapping[int, Mapping[str, Any]]:
            return known_fields(self._journal.told_hidden(change), change.before)

        return await self._run(known)

    async def recorded(self, lock_id: int) -> Recorded:
        """What the journal knows of a lock's remotes, as far as a list may still be behind it."""
        return self._recorded(await self._lately(lock_id))

    async def _lately(
        self, lock_id: int, within_s: int = RECENT_S, name: str | None = None
    ) -> list[Operation]:
        """What is under way on a lock or was settled so many seconds ago at the most.

        ``name``: none where no remote was to get this name by any of it; None: all.
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
        """The add of a remote of this name that a service may not show everywhere yet."""
        return self._recorded(await self._lately(lock_id, NAME_S, name)).named(name)

    async def unlisted(
        self, lock_id: int, page: RemotePage, listed: Container[int]
    ) -> Unlisted | None:
        """See :meth:`Recorded.unlisted`; None where nothing was done with the lock lately."""
        if not self.account.name:
            await self._run_reading(self.account.look_up)
        await self.recognize_account(lock_id, page.remotes)
        rows = await self._lately(lock_id)
        if not rows:
            return None
        recorded = self._recorded(rows)
        for operation, words in find_discrepancies(rows, recorded, page.remotes, self.profile.zone):
            if operation.message != words:
                await self.note_message(operation, words)
                with out_of_turn():
                    self.on_kept(replace(operation, message=words))
        return recorded.unlisted(page, listed)

    def _recorded(self, operations: Iterable[Operation]) -> Recorded:
        offset_s = self._connection.clock_offset_s
        offset_ms = None if offset_s is None else offset_s * 1000
        return Recorded.of(operations, self._clock.now_ms(), offset_ms)

    async def not_new(
        self,
        add: Operation,
        remotes: Iterable[Remote],
        ids: Collection[int],
        *,
        is_since: bool = False,
    ) -> set[int]:
        """Which of some remotes cannot be what an add has made; see :func:`recorded.is_known`."""
        asked = [remote for remote in remotes if remote.id in ids]
        rows = await self._run_reading(self._journal.about, add, ids)
        known = [one.id for one in asked if is_known(one, add, rows, is_since=is_since)]
        return {remote_id for remote_id in known if remote_id is not None}

    async def left_by_others(self) -> list[Operation]:
        """See :meth:`ProfileAccount.left_by_others`: a renamed profile has sent it, or another."""
        return await self._run_reading(self.account.left_by_others)

    async def note_message(self, operation: Operation, message: str) -> None:
        """Note something about an operation that was recorded."""
        await self._thread.run(self._journal.move, operation.id, RECORDED, message=message)

    async def adopt(self, operations: Iterable[Operation]) -> None:
        """Take over what another profile of the account has sent and is not settled."""
        move, name = self._journal.move, self.profile.name
        for one in operations:
            await self._thread.run(move, one.id, UNSETTLED, profile=name)
        self.note_change()

    async def recognize_account(self, lock_id: int, remotes: Sequence[Remote]) -> None:
        """See :meth:`ProfileAccount.recognize`."""
        if self.account.has_earlier:
            await self._run(self.account.recognize, lock_id, remotes)

    # --- writing ---------------------------------------------------------------------------

    async def begin(self, operation: Operation) -> None:
        """Write an operation down before it is sent.

        Raises:
            PendingChangeError: An earlier one that it could double or contradict is not settled;
                also the one that it would send again, if that is another one.
            SettledMeanwhile: What it would send again is settled.
            NameTaken: Another session has added a remote of its name since it was begun.
            StoreDamaged: The store was damaged, and nobody was told yet; or the entry that holds
                it back cannot be read.
            asyncio.CancelledError: It may be written down.
        """
        await self._thread.to_its_end(self.use, self._begin, operation)

    def _begin(self, operation: Operation) -> None:
        if (notice := self.database.notice) != self._told_notice:
            # It was found by a reading, which goes on with what is left.
            raise StoreDamaged(notice, hint="Nothing was sent. Check the history first.")
        name, credentials = self.account.name, self.account.credentials
        operation = replace(operation, account=name, credentials=credentials)
        holder = self._journal.prepare(operation)
        if holder is not None and holder.state in IN_FLIGHT:
            self._settle_orphans()  # the session that sends it may have ended since
            holder = self._journal.prepare(operation)
        if holder is not None and holder.id == operation.again_of and not holder.unsettled:
            raise SettledMeanwhile(holder)
        if holder is not None and holder.state is State.DAMAGED:
            raise damaged_entry(holder)
        if holder is not None and holder.state in RECORDED:
            raise just_added(holder.remote_name, holder.remote_id)
        if holder is not None:
            raise PendingChangeError(holder, self.session.id, self.profile.name)

    async def note_sending(self, operation: Operation) -> None:
        """Note on the disk that an operation is being sent, before its first byte leaves.

        Raises:
            StoreError: It cannot be noted, or another session took this one for ended.
        """

        def note() -> None:
            now_ms = self._clock.now_ms()
            if not self._journal.move(operation.id, IN_FLIGHT, state=State.SENDING, sent_ms=now_ms):
                raise StoreError("Another session took this one for ended. Nothing was sent.")

        await self._thread.to_its_end(self.use, note)
        self.session.note_leaving(operation.id)  # here, where the first byte leaves right after

    async def end(self, operation: Operation, **changes: Any) -> None:
        """Note what became of an operation that was begun here; later where that fails now."""
        await self._thread.to_its_end(self._end, operation, **changes)

    def _end(self, operation: Operation, **changes: Any) -> None:
        now_ms = self._clock.now_ms()
        try:
            self._journal.settle_sent(operation, now_ms, **changes)
            self._note_settled(operation, now_ms)
        except StoreError as error:  # until it is noted, or at the next start, it is "sending"
            _log.error("the outcome of operation %s could not be noted: %s", operation.id, error)
            self._unnoted.append((operation, changes))

    def _note_settled(self, operation: Operation, now_ms: int) -> None:
        here = self._settled_here.setdefault(operation.lock_id, {})
        here[operation.id, now_ms] = self._clock.steady_ms()

    async def note_recognized(self, operation: Operation, remote_id: int) -> None:
        """Note the id of a remote that the service recorded without telling its id."""
        move = self._journal.move
        await self._thread.run(move, operation.id, [State.CONFIRMED], remote_id=remote_id)

    async def settle(self, operation: Operation, **changes: Any) -> Operation:
        """Note what was found out, or decided, of an operation that is not settled.

        Returns:
            The operation as the journal has it then; another session may have been faster.
        """

        def settle() -> Operation:
            now_ms = self._clock.now_ms()
            if self._journal.move(operation.id, UNSETTLED, settled_ms=now_ms, **changes):
                self._note_settled(operation, now_ms)
            return self._journal.find(operation.id) or operation

        settled: Operation = await self._run(settle)
        self.note_change()
        return settled

    def note_change(self) -> None:
        """Tell that what became of an operation is known by now, or that one was sent."""
        with out_of_turn():
            self.on_change()

    async def _run(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Use the store in its thread; see :meth:`use`."""
        return await self._thread.run(partial(self.use, work, *args, **options))

    async def _run_reading(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Read the journal in its thread; see :meth:`_read`."""
        return await self._thread.run(partial(self._read, work, *args, **options))

    def use(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Use the store once this session is open; see :meth:`_open`."""
        self._open()
        return work(*args, **options)

    def _open(self) -> None:
        """Show this session to others, and settle what dead ones left."""
        try:
            self.session.open()
        except OSError as error:
            raise StoreError(
                f"The session cannot be noted beside the local store: {error.strerror}.",
                hint="See that the state directory is yours, writable and not full.",
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
        """Read the journal, even if nothing can be written."""
        with contextlib.suppress(StoreError):
            self._open()
        self.account.look_up()
        return work(*args, **options)

    def _settle_orphans(self) -> None:
        session, now_ms = self.session, self._clock.now_ms()
        self._journal.settle_orphans(session.is_alive, now_ms, session.may_have_left)
