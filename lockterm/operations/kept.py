"""The journal and the drafts of a profile, shared with the other sessions on the same store.

Nothing else in lockterm writes to the journal than this package.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from lockterm.errors import StoreError
from lockterm.models.operation import UNSETTLED, Operation
from lockterm.reads import Reads
from lockterm.store.drafts import Drafts
from lockterm.store.journal import Journal
from lockterm.store.sessions import Session

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.models.drafts import Draft
    from lockterm.models.history import HistoryLine
    from lockterm.store.cache import Cache
    from lockterm.store.database import Database

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Kept(Reads):
    """What this machine keeps of one profile: the journal of writes, and drafts.

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
        self._unnoted: list[tuple[Operation, dict[str, Any]]] = []

    async def close(self) -> None:
        """Stop what is under way, close the connections and the store."""
        await super().close()
        self._session.close()
        self._database.close()
        if self._cache is not None:
            self._cache.close()

    # --- drafts ----------------------------------------------------------------------------

    async def save_draft(
        self, form: str, lock_id: int, remote_id: int | None, typed: Mapping[str, str]
    ) -> None:
        """Keep what stands in a form that is not finished."""
        from lockterm.models.drafts import Draft

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
    def store_notice(self) -> str:
        """What a person should know of the store: that it was damaged and set aside; or empty."""
        return self._database.notice

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
        from lockterm.models.hidden import known_fields

        def known() -> Mapping[int, Mapping[str, Any]]:
            return known_fields(self._journal.told_hidden(lock_id))

        return await asyncio.to_thread(self._with_journal, known)

    # --- for the rest of this package ---------------------------------------------------------

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

    async def _move(self, operation: Operation, **changes: Any) -> Operation:
        def move() -> Operation:
            self._journal.move(operation.id, UNSETTLED, settled_ms=self.now_ms(), **changes)
            return self._journal.find(operation.id) or operation

        moved: Operation = await asyncio.to_thread(self._with_journal, move)
        self.watch_journal()
        return moved

    def _note(self, operation: Operation, **changes: Any) -> None:
        try:
            self._journal.settle_sent(operation, self.now_ms(), **changes)
        except StoreError as error:  # until it is noted, or at the next start, it is "sending"
            _log.error("the outcome of operation %s could not be noted: %s", operation.id, error)
            self._unnoted.append((operation, changes))
