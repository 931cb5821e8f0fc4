"""The sending of writes. The journal has each write before it is sent, and later its result."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.text.remote import describe_beyond_backup
from lockterm.domain.text.service import describe_read_only
from lockterm.errors import (
    LocktermError,
    RefusedError,
    ResultUnknownError,
    RuleViolationError,
    ServiceError,
    StoreError,
    UnreachableError,
)
from lockterm.operations.list_walk import UNASKED
from lockterm.operations.proof import differing_from_added, like_added
from lockterm.operations.remotes import MOST_KNOWN

if TYPE_CHECKING:
    from lockterm.api.writes import Write
    from lockterm.config import Profile
    from lockterm.operations.connection import Connection
    from lockterm.operations.journal_store import JournalStore
    from lockterm.operations.remotes import Remotes
    from lockterm.operations.watching import Watch
    from lockterm.store.lock_book import Locks

_log = logging.getLogger(__name__)

Backup = tuple[Mapping[str, Any], ...]
"""The records of remotes before a write, by the contract's names."""


@dataclass(frozen=True, slots=True)
class Order:
    """A write to send, with data that the journal stores about it."""

    write: Write
    lock_id: int
    remote_name: str = ""
    """The name of the remote that the write changes; empty if it does not change one remote."""
    before: Backup = ()
    """The records of the affected remotes, as they were when the user decided."""
    guard: Callable[[], Awaitable[Backup | None]] | None = None
    """A check to call just before sending; None if there is no check. The check returns records
    that replace ``before``, or None to keep ``before``. It raises an error to prevent the write."""
    again_of: str | None = None
    """The ID of the unconfirmed operation that this write repeats; None if it repeats none."""
    restores: tuple[str | None, int | None] = (None, None)
    """The ID of the delete or clear whose backup is restored, and the ID of the remote in this
    backup; both are None if the write is not a restore."""
    operation_id: str | None = None
    """The ID of the operation in the journal, if the caller has stored one; None to create one."""


class Sender(Protocol):
    """An object that sends writes."""

    @property
    def under_way(self) -> int:
        """The number of writes that are being sent."""

    async def send(self, order: Order) -> int | None:
        """Send a write, and return its result.

        Returns:
            The ID of the new remote, or the number of deleted remotes. None if the write has no
            result, or if the service did not return it.

        Raises:
            LocktermError: The write failed; see :meth:`Writes.add_remote`.
        """


@dataclass
class HttpSender:
    """The sender that sends each write to the service once, and stores its result.

    Each write runs in its own task until it ends, even if the screen that started it closes.

    Args:
        profile: The profile, which has the service and may be read-only.
        connection: The connection to the service.
        journal: The journal, which stores each write before it is sent.
        locks: The lock book, which has the names of locks for the journal.
        remotes: The remotes of locks, whose pages in memory are removed after a write.
        watch: The object that verifies writes without an answer.
    """

    profile: Profile
    connection: Connection
    journal: JournalStore
    locks: Locks
    remotes: Remotes
    watch: Watch
    under_way: int = field(default=0, init=False)

    async def send(self, order: Order) -> int | None:
        """Send a write, and store its result in the journal.

        Returns:
            The ID of the new remote, or the number of deleted remotes; None if there is neither.

        Raises:
            LocktermError: The write failed; see :meth:`Writes.add_remote`.
        """
        if self.profile.read_only:
            raise RuleViolationError({"read_only": describe_read_only(self.profile.name)})
        begun_ms = self.connection.clock.now_ms()
        if order.guard is not None and (backup := await order.guard()) is not None:
            order = replace(order, before=backup)
        # Check this before journaling, or the journal would show a refusal by the service.
        self.connection.require_no_pause()
        write = order.write
        operation = Operation(
            id=order.operation_id or uuid4().hex,
            profile=self.profile.name,
            call=write.call,
            path=write.path,
            body=write.body,
            lock_id=order.lock_id,
            lock_name=(await self.locks.find(order.lock_id)).title,
            remote_id=write.body.get("remoteId"),
            remote_name=order.remote_name,
            before=order.before,
            state=OperationState.PREPARED,
            session=self.journal.session.id,
            prepared_ms=begun_ms,
            again_of=order.again_of,
            restores=order.restores[0],
            restores_remote=order.restores[1],
            service=self.profile.base_url,
            others=await self._others(order),
        )
        # Use a separate task, so that a closing screen does not interrupt the write.
        return await asyncio.shield(self.connection.background(self._send(operation, write)))

    async def _others(self, order: Order) -> Backup | None:
        """Return shortened records of other known remotes of the lock, for later proofs.

        The result is empty for a clear, and None if no other remotes are known.
        """
        if order.write.call == "clear":
            return ()
        known, ids = self.remotes.known, [record.get("id") for record in order.before]
        others = known.others(order.lock_id, ids)
        if others is None and order.write.call == "delete":  # otherwise absence would prove nothing
            with contextlib.suppress(ServiceError):
                await self.remotes.page(order.lock_id, 1, MOST_KNOWN)
                others = known.others(order.lock_id, ids)
        return others

    async def _send(self, operation: Operation, write: Write) -> int | None:
        self.under_way += 1
        try:
            return await self._journalled(operation, write)
        finally:
            self.under_way -= 1

    async def _journalled(self, operation: Operation, write: Write) -> int | None:
        try:
            await self.journal.begin(operation)
        except asyncio.CancelledError:
            await self._note_failure(
                operation, UnreachableError("The step was interrupted before it was sent.")
            )
            raise
        begun_s = self.watch.timer.now_s()
        try:
            # Note the sending after connecting: a write killed before that was provably not sent.
            answer = await self.connection.call(
                lambda service: service.send(write, lambda: self.journal.note_sending(operation))
            )
        except BaseException as error:
            await self._note_failure(operation, error, begun_s)
            raise
        else:
            changes: dict[str, Any] = {"remote_id": answer} if operation.call == "add" else {}
            if operation.call == "clear":
                changes["message"] = describe_beyond_backup(answer, len(operation.before))
            await self.journal.end(
                operation, state=OperationState.CONFIRMED, answer=answer, **changes
            )
            self.remotes.known.note_recorded(operation, answer)
            if answer is None and operation.call == "add":
                return await self._recognize(operation)
            return answer
        finally:
            self.remotes.forget(operation.lock_id, changed=True)
            self.journal.on_change()

    async def _note_failure(
        self, operation: Operation, error: BaseException, begun_s: float | None = None
    ) -> None:
        if isinstance(error, ResultUnknownError):
            error.operation_id = operation.id
        changes: dict[str, Any] = {
            "state": OperationState.UNKNOWN,
            "message": "The step was interrupted.",
        }
        if isinstance(error, LocktermError):
            changes["message"] = error.meaning
        if isinstance(error, RefusedError):
            changes |= {"state": OperationState.REFUSED, "code": error.code}
        elif isinstance(error, UnreachableError) or (
            isinstance(error, LocktermError) and not isinstance(error, ServiceError)
        ):
            changes["state"] = OperationState.NOT_SENT
        is_lost = changes["state"] is OperationState.UNKNOWN
        if is_lost:
            self.watch.note_lost(operation, begun_s)
        await self.journal.end(operation, **changes)
        if is_lost:
            self.watch.start()
        if isinstance(error, ServiceError) and error.out_of_reach:
            self.connection.keep_trying(
                lambda service: service.list_remotes(operation.lock_id, page_no=1, page_size=1)
            )

    async def _recognize(self, operation: Operation) -> int | None:
        """Return the ID of an added remote from the lock's list; None if it cannot be recognized.

        Call this if the service returned no ID.
        """
        try:
            remotes = await self.remotes.all(operation.lock_id, UNASKED)
            ids = [remote.id for remote in like_added(operation, remotes) if remote.id is not None]
            older = await self.journal.find_older(operation, remotes, ids)
            alike = like_added(operation, remotes, older)
            equal = [one.id for one in alike if not differing_from_added(operation, one)]
            if len(equal) != 1 or equal[0] is None:
                return None
            await self.journal.note_recognized(operation, equal[0])
        except (ServiceError, StoreError) as error:
            _log.info("the id of a new remote could not be read: %s", error.message)
            return None
        return equal[0]
