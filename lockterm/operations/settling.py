"""What becomes of a write without an answer: read back, recognised, sent again or given up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

from lockterm.connection import FIRST_RETRY_S, LAST_RETRY_S
from lockterm.errors import (
    NameTaken,
    RateLimited,
    Refused,
    RuleViolation,
    ServiceError,
    StoreError,
    Unreachable,
)
from lockterm.models.operation import READABLE_CALLS, Operation, State
from lockterm.operations.writes import Writes

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.store.database import Database

_log = logging.getLogger(__name__)


class Operations(Writes):
    """Everything a screen can ask for, on one profile. Arguments as for :class:`Kept`."""

    def __init__(self, profile: Profile, database: Database, **options: Any) -> None:
        super().__init__(profile, database, **options)
        self._settling: asyncio.Task[None] | None = None
        self._settle_asked = asyncio.Event()

    # --- by a person ---------------------------------------------------------------------------

    async def check(self, operation: Operation) -> Operation:
        """Read an unsettled operation back and note what was seen.

        Returns:
            The operation as the journal has it now.

        Raises:
            ServiceError: It could not be read; the operation stays as it is.
            OtherService: It was sent to another service; so does it.
        """
        from lockterm.readback import Verdict, read_back

        self.require_sent_here(operation)
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
        self.require_sent_here(operation)
        if operation.call == "clear":
            await self._delete_remaining(operation)
            return
        if operation.call == "delete" and operation.state is State.CONFLICT:
            raise RuleViolation({"delete": f"{operation.message} Nothing was sent. Give it up."})
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

    async def _was_replaced(self, operation: Operation) -> bool:
        return operation.call == "clear" and await asyncio.to_thread(
            self._with_journal, lambda: self._journal.was_sent_again(operation.id)
        )

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
        for operation in filter(self.is_sent_here, await self.unsettled()):
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


def _restores(operation: Operation) -> tuple[str, int] | None:
    if operation.restores is None or operation.restores_remote is None:
        return None
    return operation.restores, operation.restores_remote
