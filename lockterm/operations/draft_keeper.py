"""The drafts of unfinished forms. Saving never delays a form, and failed writes are retried."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lockterm.domain.drafts import Draft
from lockterm.errors import StoreError
from lockterm.store.drafts import Drafts

if TYPE_CHECKING:
    from lockterm.domain.dates import Clock
    from lockterm.operations.journal_store import JournalStore

AGAIN_S = 1.0
"""Number of seconds after a failed write until the draft is written again."""

Key = tuple[str, int, int | None]
"""The name of a form, the ID of its lock, and the ID of its remote (None for a new remote)."""


class DraftKeeper:
    """The drafts of a profile, as this session sees and changes them.

    A draft belongs to the session in which the user types it. Other sessions can show the draft,
    but can take over or delete it only after that session has ended.

    Args:
        journal: The journal, whose database has the drafts. It also provides the ID of this
            session, by which other sessions check whether this session is still running.
        clock: The clock for the times at which drafts are saved.
    """

    def __init__(self, journal: JournalStore, clock: Clock) -> None:
        self._store = Drafts(journal.database, journal.profile.name)
        self._session = journal.session
        self._in_store = journal.use
        self._thread = journal.database.thread
        self._clock = clock
        self._wanted: dict[Key, tuple[Mapping[str, str], Callable[[StoreError], None]]] = {}
        """The drafts that are not written yet. Maps the key of each draft to its typed texts and
        its callback for errors. A draft without texts is deleted from the store."""
        self._writing: asyncio.Task[None] | None = None

    def keep(
        self, key: Key, typed: Mapping[str, str], on_trouble: Callable[[StoreError], None]
    ) -> None:
        """Write a draft in the background, or delete it if nothing is typed.

        Args:
            key: The key of the form.
            typed: Maps the names of fields to the typed texts.
            on_trouble: A function that is called with the error of each failed write. The write is
                then retried.
        """
        self._wanted[key] = dict(typed), on_trouble
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self._write())

    async def flush(self) -> None:
        """Write the remaining drafts at the end of the session. Errors are ignored."""
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
        for key, (typed, _) in list(self._wanted.items()):
            with contextlib.suppress(StoreError):
                await self._thread.run(self._put, key, typed, wait=True)
                del self._wanted[key]

    async def find(self, form: str, lock_id: int, remote_id: int | None) -> Draft | None:
        """Return the draft to show in a form; None if there is none.

        The first choice is the draft of this session, then the newest draft of an ended session,
        and then a draft that the user is typing in another session.
        """

        def find() -> list[Draft]:
            return [self._with_live(draft) for draft in self._store.find(form, lock_id, remote_id)]

        drafts = await self._thread.run(find)
        drafts.sort(key=lambda draft: (draft.is_live, draft.session != self._session.id))
        return drafts[0] if drafts else None

    async def abandoned(self) -> list[Draft]:
        """Return the drafts of ended sessions, the newest first."""

        def abandoned() -> list[Draft]:
            drafts = [self._with_live(draft) for draft in self._store.all()]
            own = self._session.id
            return [draft for draft in drafts if not draft.is_live and draft.session != own]

        return await self._thread.run(self._in_store, abandoned)

    async def take_over(self, draft: Draft) -> None:
        """Move the draft of an ended session to this session. An active session keeps its draft."""
        if not draft.is_live:
            to = self._session.id
            await self._thread.run(self._in_store, self._store.hand_over, draft, to)

    async def discard(self, draft: Draft) -> None:
        """Delete a draft, unless another active session owns it."""
        if not draft.is_live:
            await self._thread.run(self._in_store, self._store.drop, draft)

    async def _write(self) -> None:
        while self._wanted:
            key, wanted = next(iter(self._wanted.items()))
            typed, on_trouble = wanted
            try:
                # Wait to its end: a write after the session's end would open the session again, so
                # that other sessions could not take over the draft.
                await self._thread.to_its_end(self._put, key, typed, wait=False)
            except StoreError as error:
                self._wanted[key] = self._wanted.pop(key)  # try the others first
                on_trouble(error)
                await asyncio.sleep(AGAIN_S)
            else:
                if self._wanted.get(key) is wanted:
                    del self._wanted[key]

    def _put(self, key: Key, typed: Mapping[str, str], *, wait: bool) -> None:
        draft = Draft(*key, typed, self._clock.now_ms(), self._session.id)
        put = self._store.save if typed else self._store.drop
        self._in_store(put, draft, wait=wait)

    def _with_live(self, draft: Draft) -> Draft:
        own = draft.session == self._session.id
        return replace(draft, is_live=not own and self._session.is_alive(draft.session))
