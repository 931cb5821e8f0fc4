"""The one door from the screens to the service and the store.

Every write is a row of the journal, durable before its first byte leaves; its outcome is settled
by the answer, by reading back, or by a person, and nothing is ever sent again by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from lockterm.connection import FIRST_RETRY_S, LAST_RETRY_S
from lockterm.errors import (
    LocktermError,
    NameTaken,
    RateLimited,
    Refused,
    RuleViolation,
    ServiceError,
    StoreError,
    Unreachable,
)
from lockterm.models.drafts import Draft
from lockterm.models.hidden import known_fields
from lockterm.models.history import HistoryLine
from lockterm.models.locks import Lock, VoiceChoice
from lockterm.models.operation import (
    CALL_WORDS,
    IN_FLIGHT,
    READABLE_CALLS,
    STATE_WORDS,
    UNSETTLED,
    Operation,
    State,
)
from lockterm.readback import Verdict, judge_add, read_back
from lockterm.reads import Reads, Seen
from lockterm.store.cache import Cache
from lockterm.store.drafts import Drafts
from lockterm.store.journal import Journal
from lockterm.store.sessions import Session

if TYPE_CHECKING:
    from lockterm.api.writes import Write
    from lockterm.config import Profile
    from lockterm.models.remotes import Remote
    from lockterm.models.requests import NewRemote, RemoteChanges
    from lockterm.store.database import Database

__all__ = ["HeldBack", "Operations", "Seen", "SettledMeanwhile"]

T = TypeVar("T")

_log = logging.getLogger(__name__)


class HeldBack(LocktermError):
    """A further add or clear on a lock whose last one is not settled; nothing was sent."""

    title = "Held back"

    def __init__(self, operation: Operation, *, here: bool) -> None:
        who = "this session" if here else f"session {operation.session}"
        super().__init__(
            f"An earlier {CALL_WORDS[operation.call]} on {operation.lock_name} is not settled yet"
            f" (held by {who}). Another could double it.",
            hint="Check it, send it again or give it up first.",
        )
        self.operation = operation


class SettledMeanwhile(LocktermError):
    """What was to be sent again is settled by now, perhaps by another session; nothing was sent."""

    title = "Not sent again"

    def __init__(self, operation: Operation) -> None:
        super().__init__(f"It is settled meanwhile: {STATE_WORDS[operation.state]}.")
        self.operation = operation


class Operations(Reads):
    """Everything a screen can ask for, on one profile; see also :class:`Reads`.

    Args:
        profile: Where the service is and how to talk to it.
        database: The local store.
        cache: What was last read, for a time without the service; None keeps nothing.
        clock: Seconds since the epoch; replaced in tests.
    """

    def __init__(
        self,
        profile: Profile,
        database: Database,
        *,
        cache: Cache | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(profile, database, cache=cache, clock=clock)
        self.watch_journal: Callable[[], None] = lambda: None
        """Called whenever an operation has changed."""
        self._database = database
        self._journal = Journal(database, profile.name)
        self._drafts = Drafts(database, profile.name)
        self._session = Session(database.path.parent / "sessions")
        self._adopted = False
        self._settling: asyncio.Task[None] | None = None
        self._settle_asked = asyncio.Event()
        self._unnoted: list[tuple[Operation, dict[str, Any]]] = []

    async def close(self) -> None:
        """Stop what is under way, close the connections and the store."""
        await super().close()
        self._session.close()
        self._database.close()
        if self._cache is not None:
            self._cache.close()

    # --- writes ----------------------------------------------------------------------------

    async def add_remote(
        self,
        request: NewRemote,
        *,
        restores: tuple[str, int] | None = None,
        again_of: str | None = None,
    ) -> int | None:
        """Add a remote (4.1).

        The name is checked once more just before: it makes a remote of that name a new one, which
        is what a lost answer is later settled by.

        Args:
            request: The remote.
            restores: The delete or clear from whose backup it comes, and the id it had there.
            again_of: The unsettled operation that this one sends again.

        Returns:
            Its id, or None where the service recorded it without telling the id.

        Raises:
            NameTaken: The lock has a remote of that name; nothing was sent.
            HeldBack: An earlier add or clear of the lock is not settled; nothing was sent.
            SettledMeanwhile: What it would send again is settled by now; nothing was sent.
            StoreError: It cannot be journalled; nothing was sent.
            Unreachable: Nothing was sent.
            Refused: The service said no.
            OutcomeUnknown: It may have been recorded.
        """
        from lockterm.api import writes

        if not await self.is_name_free(request.lock_id, request.remote_name):
            raise NameTaken(
                f"The lock has a remote named {request.remote_name} already.",
                code=-3,
                hint="Choose another name.",
            )
        write = writes.add_remote(request)
        answer = await self._carry_out(
            write,
            request.lock_id,
            name=request.remote_name,
            restores=restores,
            again_of=again_of,
        )
        return answer if isinstance(answer, int) else None

    async def update_remote(
        self,
        lock_id: int,
        remote_id: int,
        changes: RemoteChanges,
        before: Remote,
        *,
        again_of: str | None = None,
    ) -> None:
        """Change a remote (4.4); errors as for :meth:`add_remote`.

        Args:
            lock_id: The lock the remote belongs to.
            remote_id: The remote.
            changes: What to send.
            before: What the remote was when the person decided.
            again_of: The unsettled operation that this one sends again.
        """
        from lockterm.api import writes

        write = writes.update_remote(lock_id, remote_id, changes)
        await self._carry_out(write, lock_id, remotes=(before,), again_of=again_of)

    async def delete_remote(
        self, lock_id: int, remote: Remote, *, again_of: str | None = None
    ) -> None:
        """Delete a remote (4.6); errors as for :meth:`add_remote`.

        Args:
            lock_id: The lock the remote belongs to.
            remote: The remote as it was read when the person decided: it is the backup.
            again_of: The unsettled operation that this one sends again.
        """
        from lockterm.api import writes

        write = writes.delete_remote(_id_of(remote))
        await self._carry_out(write, lock_id, remotes=(remote,), again_of=again_of)

    async def clear_remotes(self, lock_id: int, expected: int | None = None) -> int | None:
        """Delete every remote of a lock (4.7); errors as for :meth:`add_remote`.

        All records are read and kept as a backup first.

        Args:
            lock_id: The lock.
            expected: How many remotes the person saw; another number stops it before it is sent.

        Returns:
            How many the service says it deleted, or None where it did not say.
        """
        from lockterm.api import writes

        remotes = await self.all_remotes(lock_id)
        if expected is not None and len(remotes) != expected:
            raise RuleViolation(
                {"clear": f"The lock has {len(remotes)} remotes now, not {expected}."}
            )
        answer = await self._carry_out(writes.clear_remotes(lock_id), lock_id, remotes=remotes)
        return answer if isinstance(answer, int) else None

    async def set_user_no(
        self, lock_id: int, remote: Remote, remote_user_no: int, *, again_of: str | None = None
    ) -> None:
        """Set a remote's user number (4.8); errors as for :meth:`add_remote`."""
        from lockterm.api import writes

        write = writes.update_remote_user_no(lock_id, _id_of(remote), remote_user_no)
        await self._carry_out(write, lock_id, remotes=(remote,), again_of=again_of)

    async def set_voice(
        self, lock: Lock, voice: VoiceChoice, *, again_of: str | None = None
    ) -> None:
        """Set the voice of a lock (4.12) and remember it as last set from here."""
        from lockterm.api import writes

        write = writes.set_voice(lock.lock_id, voice.lang, voice.timbre)
        await self._carry_out(write, lock.lock_id, again_of=again_of)
        try:
            await asyncio.to_thread(self._book.note_voice, lock.lock_id, voice)
        except StoreError:  # the service has recorded it: that must not read as a failure
            _log.warning("the voice of lock %s could not be noted in the book", lock.lock_id)

    # --- drafts ----------------------------------------------------------------------------

    async def save_draft(
        self, form: str, lock_id: int, remote_id: int | None, typed: Mapping[str, str]
    ) -> None:
        """Keep what stands in a form that is not finished."""
        draft = Draft(form, lock_id, remote_id, typed, self.now_ms(), self._session.id)
        await asyncio.to_thread(self._with_journal, lambda: self._drafts.save(draft))

    async def drop_draft(self, form: str, lock_id: int, remote_id: int | None) -> None:
        """Forget the draft of a form that was sent or let go."""
        await asyncio.to_thread(self._drafts.drop, form, lock_id, remote_id)

    async def draft(self, form: str, lock_id: int, remote_id: int | None) -> Draft | None:
        """The draft of one form, or None."""
        return await asyncio.to_thread(self._drafts.find, form, lock_id, remote_id)

    async def abandoned_drafts(self) -> list[Draft]:
        """The drafts whose session has ended, the newest first: to be offered at the start."""

        def abandoned() -> list[Draft]:
            drafts = self._drafts.all()
            return [draft for draft in drafts if not self._session.is_alive(draft.session)]

        return await asyncio.to_thread(self._with_journal, abandoned)

    # --- the journal -----------------------------------------------------------------------

    @property
    def session(self) -> str:
        """The id of this session in the journal."""
        return self._session.id

    async def unsettled(self, lock_id: int | None = None) -> list[Operation]:
        """The operations whose outcome a person still has to know about, the oldest first."""

        def unsettled() -> list[Operation]:
            with contextlib.suppress(StoreError):
                self._settle_orphans()  # another session may have ended since
            return self._journal.unsettled(lock_id)

        return await asyncio.to_thread(self._read_journal, unsettled)

    async def history(self) -> list[Operation]:
        """Every operation of this profile, the oldest first."""
        return await asyncio.to_thread(self._read_journal, self._journal.history)

    async def history_lines(self) -> list[HistoryLine]:
        """Every operation of this profile in short, the newest first."""
        return await asyncio.to_thread(self._read_journal, self._journal.lines)

    async def operation(self, operation_id: str) -> Operation | None:
        """One operation as the journal has it now."""
        return await asyncio.to_thread(self._read_journal, lambda: self._journal.find(operation_id))

    async def linked(self, operation: Operation) -> list[Operation]:
        """What an operation sends again or restores from, and what does so with it."""
        return await asyncio.to_thread(self._with_journal, lambda: self._journal.linked(operation))

    async def restored(self, lock_id: int) -> list[Operation]:
        """The adds on a lock that restore remotes from backups, the oldest first."""
        return await asyncio.to_thread(self._with_journal, lambda: self._journal.restored(lock_id))

    async def known_on(self, lock_id: int) -> Mapping[int, Mapping[str, Any]]:
        """What this lockterm knows of fields that the list never returns, by remote id.

        See :func:`lockterm.models.hidden.known_fields`.
        """

        def known() -> Mapping[int, Mapping[str, Any]]:
            return known_fields(self._journal.told_hidden(lock_id))

        return await asyncio.to_thread(self._with_journal, known)

    async def check(self, operation: Operation) -> Operation:
        """Read an unsettled operation back and note what was seen.

        Returns:
            The operation as the journal has it now.

        Raises:
            ServiceError: It could not be read; the operation stays as it is.
        """
        verdict = await read_back(self, operation, await self._not_added_by(operation))
        if verdict.state is State.CONFIRMED_BY_READING and await self._was_replaced(operation):
            verdict = Verdict(State.SENT_AGAIN, "What remained of it was deleted one by one.")
        return await self._move(
            operation,
            state=verdict.state,
            message=verdict.words,
            candidates=verdict.candidates,
            read_ms=self.now_ms(),
        )

    async def bind(self, operation: Operation, remote_id: int) -> Operation:
        """Settle an ambiguous add: this remote is the one."""
        return await self._move(
            operation,
            state=State.CONFIRMED_BY_READING,
            message=f"Recognised as remote {remote_id}.",
            remote_id=remote_id,
        )

    async def give_up(self, operation: Operation) -> Operation:
        """Let an unsettled operation be; it may still land."""
        return await self._move(operation, state=State.GIVEN_UP)

    async def send_again(self, operation: Operation) -> None:
        """Send an unsettled operation again as a new one, because a person decided so.

        A clear is never sent again, newcomers would go: what remains of the remotes that it was
        meant for is deleted one by one. Errors as for :meth:`add_remote`.
        """
        if operation.call == "clear":
            await self._delete_remaining(operation)
            return
        from lockterm.api.writes import Write

        if operation.call == "add":
            name = str(operation.body["remoteName"])
            if not await self.is_name_free(operation.lock_id, name):
                raise NameTaken(
                    f"The lock has a remote named {name} now: it has probably arrived.",
                    code=-3,
                    hint="Check it instead.",
                )
        await self._carry_out(
            Write(
                operation.call,
                operation.path,
                operation.body,
                result="remoteId" if operation.call == "add" else "",
                always_json=operation.call == "updateLockSetting",
            ),
            operation.lock_id,
            name=operation.remote_name,
            backup=operation.before,
            again_of=operation.id,
            restores=_restores(operation),
        )

    async def _delete_remaining(self, operation: Operation) -> None:
        from lockterm.models.remotes import Remote

        operation = await self.check(operation)
        if not operation.unsettled:
            return
        refusal: Refused | None = None
        for record in operation.before:
            if record.get("id") in operation.candidates:
                try:
                    remote = Remote.read(record)
                    await self.delete_remote(operation.lock_id, remote, again_of=operation.id)
                except RateLimited:
                    raise
                except Refused as error:  # someone else may have deleted it meanwhile
                    refusal = error
        if (await self.check(operation)).unsettled and refusal is not None:
            raise refusal

    async def _move(self, operation: Operation, **changes: Any) -> Operation:
        def move() -> Operation:
            self._journal.move(operation.id, UNSETTLED, settled_ms=self.now_ms(), **changes)
            return self._journal.find(operation.id) or operation

        moved: Operation = await asyncio.to_thread(self._with_journal, move)
        self.watch_journal()
        return moved

    def _with_journal(self, work: Callable[[], Any]) -> Any:
        """Use the journal; on the first use, show this session and settle what dead ones left."""
        if not self._adopted:
            try:
                self._session.open()
            except OSError as error:
                raise StoreError(
                    f"The session cannot be noted beside the local store: {error.strerror}.",
                    hint="See that the state directory is yours, writable and not full.",
                ) from error
            self._settle_orphans()
            self._adopted = True
        unnoted, self._unnoted = self._unnoted, []
        for operation, changes in unnoted:
            self._note(operation, **changes)
        return work()

    def _read_journal(self, work: Callable[[], T]) -> T:
        """Read the journal, also where nothing can be written."""
        with contextlib.suppress(StoreError):
            self._with_journal(lambda: None)
        return work()

    def _settle_orphans(self) -> None:
        self._journal.settle_orphans(self._session.is_alive, self.now_ms())

    async def _not_added_by(self, operation: Operation) -> set[int]:
        if operation.call != "add":
            return set()
        return await asyncio.to_thread(
            self._with_journal, lambda: self._journal.not_added_by(operation)
        )

    async def _was_replaced(self, operation: Operation) -> bool:
        return operation.call == "clear" and await asyncio.to_thread(
            self._with_journal, lambda: self._journal.was_sent_again(operation.id)
        )

    # --- sending ---------------------------------------------------------------------------

    async def _carry_out(
        self,
        write: Write,
        lock_id: int,
        *,
        remotes: tuple[Remote, ...] | list[Remote] = (),
        backup: tuple[Mapping[str, Any], ...] | None = None,
        name: str = "",
        again_of: str | None = None,
        restores: tuple[str, int] | None = None,
    ) -> Any:
        if self.profile.read_only:
            raise RuleViolation({"read_only": f"The profile {self.profile.name} is read-only."})
        self._keep_pause()  # the journal would call it refused, and the service was not asked
        one = remotes[0] if len(remotes) == 1 and write.call != "clear" else None
        operation = Operation(
            id=uuid4().hex,
            profile=self.profile.name,
            call=write.call,
            path=write.path,
            body=write.body,
            lock_id=lock_id,
            lock_name=(await self.find_lock(lock_id)).title,
            remote_id=write.body.get("remoteId"),
            remote_name=name or (one.remote_name or "" if one else ""),
            before=backup if backup is not None else tuple(remote.raw for remote in remotes),
            state=State.PREPARED,
            session=self._session.id,
            prepared_ms=self.now_ms(),
            again_of=again_of,
            restores=restores[0] if restores else None,
            restores_remote=restores[1] if restores else None,
        )
        # In a task of its own: a screen that goes away must not cut a write off half-way.
        return await asyncio.shield(self._background(self._journalled(operation, write)))

    async def _journalled(self, operation: Operation, write: Write) -> Any:
        try:
            await _to_its_end(lambda: self._with_journal(lambda: self._prepare(operation)))
        except asyncio.CancelledError:
            await self._note_failure(operation, Unreachable("It was interrupted before."))
            raise
        try:
            answer = await self._call(lambda service: service.send(write))
        except BaseException as error:
            await self._note_failure(operation, error)
            raise
        else:
            changes = {"remote_id": answer} if operation.call == "add" else {}
            await _to_its_end(
                lambda: self._note(operation, state=State.CONFIRMED, answer=answer, **changes)
            )
            if answer is None and operation.call == "add":
                return await self._recognise(operation)
            return answer
        finally:
            self.forget_pages(operation.lock_id)
            self.watch_journal()

    def _prepare(self, operation: Operation) -> None:
        holder = self._journal.prepare(operation)
        if holder is not None and holder.state in IN_FLIGHT:
            self._settle_orphans()  # the session that sends it may have ended since
            holder = self._journal.prepare(operation)
        if holder is not None and holder.id == operation.again_of:
            raise SettledMeanwhile(holder)
        if holder is not None:
            raise HeldBack(holder, here=holder.session == self._session.id)
        try:
            if not self._journal.move(
                operation.id, [State.PREPARED], state=State.SENDING, sent_ms=self.now_ms()
            ):
                raise StoreError("Another session took this one for ended. Nothing was sent.")
        except StoreError as error:
            self._note(operation, state=State.NOT_SENT, message=error.message)
            raise

    async def _note_failure(self, operation: Operation, error: BaseException) -> None:
        changes: dict[str, Any] = {"state": State.UNKNOWN, "message": "It was interrupted."}
        if isinstance(error, LocktermError):
            changes["message"] = error.message
        if isinstance(error, Refused):
            changes |= {"state": State.REFUSED, "code": error.code}
        elif isinstance(error, Unreachable) or (
            isinstance(error, LocktermError) and not isinstance(error, ServiceError)
        ):
            changes["state"] = State.NOT_SENT
        await _to_its_end(lambda: self._note(operation, **changes))
        if changes["state"] is State.UNKNOWN:
            self.settle()
        if isinstance(error, Unreachable):
            self._keep_trying(
                lambda service: service.list_remotes(operation.lock_id, page_no=1, page_size=1),
                error,
            )

    def _note(self, operation: Operation, **changes: Any) -> None:
        try:
            self._journal.settle_sent(operation, self.now_ms(), **changes)
        except StoreError as error:  # until it is noted, or at the next start, it is "sending"
            _log.error("the outcome of operation %s could not be noted: %s", operation.id, error)
            self._unnoted.append((operation, changes))

    async def _recognise(self, operation: Operation) -> int | None:
        """Find the id of a remote that the service recorded without telling its id."""
        try:
            remotes = await self.all_remotes(operation.lock_id)
            found = judge_add(operation, remotes, await self._not_added_by(operation)).candidates
            if len(found) != 1:
                return None
            await asyncio.to_thread(
                self._journal.move, operation.id, [State.CONFIRMED], remote_id=found[0]
            )
        except (ServiceError, StoreError) as error:
            _log.info("the id of a new remote could not be read: %s", error.message)
            return None
        return found[0]

    # --- reading back by itself --------------------------------------------------------------

    def settle(self) -> None:
        """Read unknown outcomes back in the background until each was read once."""
        self._settle_asked.set()
        if not self._closed and (self._settling is None or self._settling.done()):
            self._settling = self._background(self._settle())

    async def _settle(self) -> None:
        delay_s = FIRST_RETRY_S
        while self._settle_asked.is_set():
            self._settle_asked.clear()
            try:
                if await self._read_unknown_back():
                    continue
            except StoreError as error:
                _log.info("nothing can be read back without the store: %s", error.message)
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(delay_s):
                    await self._settle_asked.wait()
            self._settle_asked.set()
            delay_s = min(delay_s * 2, LAST_RETRY_S)

    async def _read_unknown_back(self) -> bool:
        all_read = True
        for operation in await self.unsettled():
            if operation.state is State.UNKNOWN and operation.call in READABLE_CALLS:
                try:
                    await self.check(operation)
                except ServiceError as error:
                    _log.info("reading back will be tried again: %s", error.message)
                    all_read = False
                    if isinstance(error, Unreachable):
                        break
        return all_read

    def _note_online(self, online: bool) -> None:
        if online and not self.online:
            self.settle()
        super()._note_online(online)


async def _to_its_end(work: Callable[[], None]) -> None:
    """Run in a thread; a cancellation waits for its end, as a thread cannot be stopped."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # it has nobody to tell any more
        raise


def _restores(operation: Operation) -> tuple[str, int] | None:
    if operation.restores is None or operation.restores_remote is None:
        return None
    return operation.restores, operation.restores_remote


def _id_of(remote: Remote) -> int:
    if remote.id is None:
        raise RuleViolation({"id": "The service listed this remote without a usable id."})
    return remote.id
