"""The six writes of the contract, as methods that screens and commands call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from lockterm.api import writes
from lockterm.domain.remotes import UPDATED, Remote
from lockterm.domain.text.remote import find_differences
from lockterm.errors import NameTakenError, RefusedError, RuleViolationError, StoreError
from lockterm.operations.refusals import LAST_READING, NAME_CHECK, before_sending, just_added
from lockterm.operations.sending import Order

if TYPE_CHECKING:
    from datetime import tzinfo

    from lockterm.api.writes import Write
    from lockterm.domain.locks import Lock, VoiceChoice
    from lockterm.domain.requests import NewRemote, RemoteChanges
    from lockterm.operations.journal_store import JournalStore
    from lockterm.operations.remotes import Remotes
    from lockterm.operations.sending import Sender
    from lockterm.store.lock_book import Locks

_log = logging.getLogger(__name__)


@dataclass
class Writes:
    """The writes: add, change and delete remotes, clear locks, and set user numbers and voices.

    The caller passes a remote as it was when the user decided, which becomes the backup. lockterm
    reads the remote again just before sending. It sends nothing if the ID now belongs to another
    remote, or if the write would overwrite a change that the user did not see.

    Three arguments have the same meaning in all methods that have them. ``just_read`` means that
    the caller has just read the remote, so that it is not read again. ``again_of`` is the ID of the
    unconfirmed operation that the write repeats; None if it repeats none. ``operation_id`` is the
    ID for the write's own operation in the journal; None to create one.

    Args:
        sender: The sender of the writes.
        journal: The journal, which has the recently added remotes.
        locks: The lock book, which stores the voices that were set.
        remotes: The remotes at the service, which are read just before a write.
        zone: A function that returns the time zone of a lock, for times in messages.
    """

    sender: Sender
    journal: JournalStore
    locks: Locks
    remotes: Remotes
    zone: Callable[[Lock], tzinfo]

    @property
    def under_way(self) -> int:
        """The number of writes that are being sent. The process must not end until it is 0."""
        return self.sender.under_way

    async def add_remote(
        self,
        request: NewRemote,
        *,
        restores: tuple[str, int] | None = None,
        again_of: str | None = None,
        operation_id: str | None = None,
    ) -> int | None:
        """Add a remote (contract 4.1).

        lockterm checks just before sending that the name is free. Therefore, if the answer is lost
        and a later reading shows a remote with the name, the remote is new. This can confirm the
        add.

        Args:
            request: The request, which was checked against the contract.
            restores: The ID of the delete or clear whose backup is restored, and the ID of the
                remote in this backup.
            again_of: See :class:`Writes`.
            operation_id: See :class:`Writes`.

        Returns:
            The ID of the remote; None if the service recorded it without returning the ID.

        Raises:
            NameTakenError: A remote on the lock has this name. Nothing was sent.
            PendingChangeError: An earlier add or clear on the lock is unconfirmed, and this write
                does not repeat it. Nothing was sent.
            AlreadyResolvedError: The operation to repeat is no longer unconfirmed. Nothing was
                sent.
            StoreError: The journal cannot store the write. Nothing was sent.
            UnreachableError: Nothing was sent.
            RefusedError: The service refused the write.
            ResultUnknownError: The service may have recorded the remote.
        """
        order = Order(
            writes.add_remote(request),
            request.lock_id,
            remote_name=request.remote_name,
            guard=partial(self._require_free_name, request.lock_id, request.remote_name),
            restores=restores or (None, None),
            again_of=again_of,
            operation_id=operation_id,
        )
        return await self.sender.send(order)

    async def update_remote(
        self,
        lock_id: int,
        remote_id: int,
        changes: RemoteChanges,
        before: Remote,
        *,
        again_of: str | None = None,
        just_read: bool = False,
        operation_id: str | None = None,
    ) -> None:
        """Change a remote (contract 4.4). For other errors, see :meth:`add_remote`.

        Raises:
            RuleViolationError: The ID now belongs to another remote, or a value to replace has
                changed since ``before``. Nothing was sent.
        """
        write = writes.update_remote(lock_id, remote_id, changes)
        await self._send_about(
            before, write, lock_id, again_of, just_read=just_read, operation_id=operation_id
        )

    async def delete_remote(
        self,
        lock_id: int,
        remote: Remote,
        *,
        again_of: str | None = None,
        just_read: bool = False,
        operation_id: str | None = None,
    ) -> None:
        """Delete a remote (contract 4.6); errors are those of :meth:`update_remote`."""
        write = writes.delete_remote(_id_of(remote))
        await self._send_about(
            remote, write, lock_id, again_of, just_read=just_read, operation_id=operation_id
        )

    async def clear_remotes(self, lock_id: int, expected: int | None = None) -> int | None:
        """Delete all remotes of a lock (contract 4.7); errors are those of :meth:`add_remote`.

        First, all records are stored as a backup. They are read until two readings agree.

        Args:
            lock_id: The lock.
            expected: The number of remotes that the user saw. If the lock now has another number,
                ``RuleViolationError`` is raised and nothing is sent. None to skip this check.

        Returns:
            The number of deleted remotes; None if the service did not return it.
        """

        async def read_backup() -> tuple[Mapping[str, Any], ...]:
            recorded = await self.journal.recorded(lock_id)
            with before_sending("reading of the backup"):
                remotes = await self.remotes.whole(lock_id, recorded=recorded)
            if expected is not None and len(remotes) != expected:
                raise RuleViolationError(
                    {"clear": f"The lock has {len(remotes)} remotes now, not {expected}."},
                    hint="Nothing was sent. Check the remotes again before you clear the lock.",
                )
            return tuple(remote.raw for remote in remotes)

        order = Order(writes.clear_remotes(lock_id), lock_id, guard=read_backup)
        return await self.sender.send(order)

    async def set_user_no(
        self,
        lock_id: int,
        remote: Remote,
        remote_user_no: int,
        *,
        just_read: bool = False,
        operation_id: str | None = None,
    ) -> None:
        """Set the user number of a remote (contract 4.8); errors as in :meth:`update_remote`."""
        write = writes.update_remote_user_no(lock_id, _id_of(remote), remote_user_no)
        await self._send_about(
            remote, write, lock_id, just_read=just_read, operation_id=operation_id
        )

    async def set_voice(
        self,
        lock: Lock,
        voice: VoiceChoice,
        *,
        operation_id: str | None = None,
        again_of: str | None = None,
    ) -> None:
        """Set the voice of a lock (contract 4.12), and store it in the lock book."""
        write = writes.set_voice(lock.lock_id, voice.lang, voice.timbre)
        order = Order(write, lock.lock_id, operation_id=operation_id, again_of=again_of)
        await self.sender.send(order)
        try:
            await self.locks.note_voice(lock.lock_id, voice)
        except StoreError:  # not a failure, because the service has recorded the voice
            _log.warning("the voice of lock %s could not be noted in the book", lock.lock_id)

    async def _send_about(
        self,
        remote: Remote,
        write: Write,
        lock_id: int,
        again_of: str | None = None,
        *,
        just_read: bool,
        operation_id: str | None = None,
    ) -> None:
        order = Order(
            write,
            lock_id,
            remote_name=remote.remote_name or "",
            before=(remote.raw,),
            guard=None if just_read else partial(self._require_same, remote, write, lock_id),
            again_of=again_of,
            operation_id=operation_id,
        )
        await self.sender.send(order)

    async def _require_same(self, before: Remote, write: Write, lock_id: int) -> None:
        """Check just before a write that its remote has the values which the user saw.

        For an update, every field that it sends is compared. If the user edits one of the four
        fields of the validity, the update sends and compares all four. For a delete, all fields are
        compared, because the user decided to delete the remote with its earlier values.
        If the remote no longer exists, the check passes, because the service will refuse the write.

        Raises:
            RuleViolationError: Another remote has the ID, or a value was changed.
        """
        try:
            with before_sending(LAST_READING):
                now = await self.remotes.still(before, lock_id)
        except RefusedError as error:
            if not error.is_gone:
                raise
            return  # the service will refuse the write, unless it answered from an old copy
        sent = before.raw if write.call == "delete" else write.body
        replaced = [field for field in UPDATED if field.name in sent]
        zone = self.zone(await self.locks.find(lock_id))
        if changed := find_differences(before, now, zone, replaced):
            reason = "The remote was changed after it was read. Nothing was sent."
            raise RuleViolationError(
                {write.call: f"{reason} {'; '.join(map(str, changed))}."},
                hint="Check the remote again before you change it.",
            )

    async def _require_free_name(self, lock_id: int, name: str) -> None:
        """Check just before an add that its name is free on the lock.

        Raises:
            NameTakenError: A remote of the lock has the name, or lockterm has just added one.
        """
        with before_sending(NAME_CHECK):
            is_free = await self.remotes.is_name_free(lock_id, name)
        if is_free:
            return
        if (added := await self.journal.lately_added(lock_id, name)) is not None:
            raise just_added(name, added.remote_id)
        raise NameTakenError(
            f"The lock already has a remote named {name}.", hint="Choose another name."
        )


def _id_of(remote: Remote) -> int:
    if remote.id is None:
        raise RuleViolationError({"id": "The service listed this remote without a usable id."})
    return remote.id
