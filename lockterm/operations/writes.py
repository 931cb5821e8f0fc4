"""The six writes of the contract, as a screen asks for them."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from lockterm.errors import NameTaken, RuleViolation, StoreError
from lockterm.operations.sending import Sending

if TYPE_CHECKING:
    from lockterm.models.locks import Lock, VoiceChoice
    from lockterm.models.remotes import Remote
    from lockterm.models.requests import NewRemote, RemoteChanges

_log = logging.getLogger(__name__)


class Writes(Sending):
    """Adds, changes and deletes remotes, and sets user numbers and voices."""

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


def _id_of(remote: Remote) -> int:
    if remote.id is None:
        raise RuleViolation({"id": "The service listed this remote without a usable id."})
    return remote.id
