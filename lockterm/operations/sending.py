"""How a write leaves: written down before the first byte, and its outcome after the last.

A write runs in a task of its own, to its end, whichever screen began it.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from lockterm.errors import (
    LocktermError,
    Refused,
    RuleViolation,
    ServiceError,
    StoreError,
    Unreachable,
)
from lockterm.models.operation import CALL_WORDS, IN_FLIGHT, STATE_WORDS, Operation, State
from lockterm.operations.kept import Kept

if TYPE_CHECKING:
    from lockterm.api.writes import Write
    from lockterm.models.remotes import Remote

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


class OtherService(LocktermError):
    """The profile names another service now than the one an operation was sent to."""

    title = "Another service"

    def __init__(self, operation: Operation, profile: str, base_url: str) -> None:
        super().__init__(
            f"It was sent to {operation.service}, and the profile {profile} means {base_url} now."
            " Nothing was asked or sent.",
            hint="Use a profile for that service to settle it, or give it up.",
        )
        self.operation = operation


class SettledMeanwhile(LocktermError):
    """What was to be sent again is settled by now, perhaps by another session; nothing was sent."""

    title = "Not sent again"

    def __init__(self, operation: Operation) -> None:
        super().__init__(f"It is settled meanwhile: {STATE_WORDS[operation.state]}.")
        self.operation = operation


class Sending(Kept):
    """Sends writes, once each, and notes what became of them."""

    sending = 0
    """How many writes are on their way: none of them must be cut off."""

    @abstractmethod
    def settle(self) -> None:
        """Read unknown outcomes back in the background."""

    def is_sent_here(self, operation: Operation) -> bool:
        """Whether an operation was sent to the service that the profile names now."""
        return operation.service in ("", self.profile.base_url)

    def require_sent_here(self, operation: Operation) -> None:
        """See that reading back, sending again or restoring means the same service.

        Raises:
            OtherService: It does not: there, the same ids are other locks and remotes.
        """
        if not self.is_sent_here(operation):
            raise OtherService(operation, self.profile.name, self.profile.base_url)

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
            service=self.profile.base_url,
        )
        # In a task of its own: a screen that goes away must not cut a write off half-way.
        return await asyncio.shield(self._background(self._journalled(operation, write)))

    async def _journalled(self, operation: Operation, write: Write) -> Any:
        self.sending += 1
        try:
            return await self._sent(operation, write)
        finally:
            self.sending -= 1

    async def _sent(self, operation: Operation, write: Write) -> Any:
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

    async def _recognise(self, operation: Operation) -> int | None:
        """Find the id of a remote that the service recorded without telling its id."""
        from lockterm.readback import judge_add

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

    async def _not_added_by(self, operation: Operation) -> set[int]:
        if operation.call != "add":
            return set()
        return await asyncio.to_thread(
            self._with_journal, lambda: self._journal.not_added_by(operation)
        )


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
