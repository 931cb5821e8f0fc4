"""The user's decisions about unconfirmed writes: recognize, send again, or dismiss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lockterm.api.writes import Write
from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.operation import Operation, OperationState, voice_set
from lockterm.domain.remotes import Remote, is_still
from lockterm.errors import NameTakenError, RateLimitedError, RefusedError, RuleViolationError
from lockterm.operations.proof import given_away, judge_update, record_before
from lockterm.operations.refusals import LAST_READING, NAME_CHECK, before_sending, damaged_entry
from lockterm.operations.sending import Order

if TYPE_CHECKING:
    from lockterm.operations.journal_store import JournalStore
    from lockterm.operations.remotes import Remotes
    from lockterm.operations.sending import Sender
    from lockterm.operations.watching import Watch
    from lockterm.operations.writes import Writes


@dataclass
class Resolution:
    """The actions by which the user resolves unconfirmed operations.

    Args:
        journal: The journal, which has the operations.
        remotes: The remotes at the service.
        watch: The object that verifies operations.
        sender: The sender, for sending writes again.
        writes: The writes, for deleting the remotes that a clear did not delete.
    """

    journal: JournalStore
    remotes: Remotes
    watch: Watch
    sender: Sender
    writes: Writes

    async def bind(self, operation: Operation, remote_id: int) -> Operation:
        """Resolve an ambiguous add with the remote that the user recognized as the added one.

        Return the operation as it is now in the journal.
        """
        self.watch.told.add(operation.id)
        return await self.journal.resolve(
            operation,
            state=OperationState.CONFIRMED_BY_READING,
            message=f"Recognized as remote {remote_id}.",
            remote_id=remote_id,
        )

    async def give_up(self, operation: Operation) -> Operation:
        """Dismiss an unconfirmed operation, although it may still take effect.

        Return the operation as it is now in the journal.
        """
        return await self.journal.resolve(operation, state=OperationState.GIVEN_UP)

    async def send_again(self, operation: Operation) -> None:
        """Send an unconfirmed change again as a new operation. Only the user may decide this.

        A clear is not sent again, because it would delete remotes that were added later. Instead,
        the remotes that it should have deleted are deleted one by one. The method raises the errors
        of :meth:`Writes.add_remote`.
        """
        self.journal.require_same_account(operation)
        if operation.state is OperationState.DAMAGED:
            raise damaged_entry(operation)
        if operation.call == "clear":
            await self._delete_remaining(operation)
            return
        if operation.call == "add" and operation.state is OperationState.UNKNOWN:
            reason = (
                f"lockterm can still find out whether the change was recorded. {operation.message}"
            )
            raise RuleViolationError({"add": f"{reason} Nothing was sent."})
        if operation.call == "delete" and operation.state is OperationState.CONFLICT:
            raise RuleViolationError(
                {"delete": f"{operation.message} Nothing was sent. Dismiss the change."}
            )
        if operation.call in ("update", "delete", "updateRemoteUserNo"):
            await self._require_same(operation)
        if operation.call == "add":
            name = str(operation.body["remoteName"])
            with before_sending(NAME_CHECK):
                is_free = await self.remotes.is_name_free(operation.lock_id, name)
            if not is_free:
                raise NameTakenError(
                    f"The lock now has a remote named {name}, so the change was probably recorded.",
                    hint="Check the change instead.",
                )
        if operation.call == "updateLockSetting":  # set_voice also updates the lock book
            if not (voice := voice_set(operation)):
                raise damaged_entry(operation)
            lock = Lock(operation.lock_id)
            await self.writes.set_voice(lock, VoiceChoice(**voice), again_of=operation.id)
            return
        order = Order(
            Write(operation.call, operation.path, operation.body),
            operation.lock_id,
            remote_name=operation.remote_name,
            before=operation.before,
            again_of=operation.id,
            restores=(operation.restores, operation.restores_remote),
        )
        await self.sender.send(order)

    async def _require_same(self, operation: Operation) -> None:
        """Check that a change still affects the same remote, and replaces the same values.

        Raises:
            RuleViolationError: Another remote has the ID, or other values were set since the change
                was sent.
            ServiceError: The remote cannot be read.
        """
        with before_sending(LAST_READING):
            remote = await self.remotes.detail_or_gone(operation.remote_id)
        if remote is None:  # the service will refuse the change
            return
        if not is_still(record_before(operation), remote):
            reason = f"{given_away(operation)} Nothing was sent. Dismiss the change."
            raise RuleViolationError({operation.call: reason})
        if operation.call == "update" and operation.state is not OperationState.CONFLICT:
            seen = judge_update(operation, remote)
            if seen.state is OperationState.CONFLICT:
                reason = (
                    f"The remote was changed since then. {seen.words} Nothing was sent. Check"
                    " the change first."
                )
                raise RuleViolationError({operation.call: reason})

    async def _delete_remaining(self, operation: Operation) -> None:
        operation = await self.watch.check(operation)
        if not operation.is_unconfirmed:
            return
        if operation.state is OperationState.UNKNOWN:  # an old list may have IDs of other remotes
            reason = f"lockterm does not know yet which remotes remain. {operation.message}"
            raise RuleViolationError({"clear": f"{reason} Nothing was sent."})
        refusal: RefusedError | None = None
        for record in operation.before:
            if record.get("id") in operation.candidates:
                try:
                    remote = Remote.read(record)
                    now = await self.remotes.detail_or_gone(remote.id)
                    if now is not None and not is_still(record, now):
                        continue  # the list was old, and another remote has the ID now
                    await self.writes.delete_remote(
                        operation.lock_id, remote, again_of=operation.id, just_read=True
                    )
                except RateLimitedError:
                    raise
                except RefusedError as error:  # someone else may have deleted it since
                    refusal = error
        operation = await self.watch.check(operation)
        self.watch.start()
        if operation.candidates and refusal is not None:
            raise refusal
