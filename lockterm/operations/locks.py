"""The lock book of a profile, where people enter their locks: the contract cannot list locks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.store.lock_book import LockBook

if TYPE_CHECKING:
    from lockterm.domain.clock import Clock
    from lockterm.store.database import Database


class Locks:
    """The locks of one profile; the service is never asked.

    Every method raises ``StoreError`` if the local store cannot be used.
    """

    def __init__(self, book: LockBook, clock: Clock) -> None:
        self._book = book
        self._clock = clock

    async def all(self) -> list[Lock]:
        """Return the locks of this profile, the most recently viewed first."""
        return await self._book.thread.run(self._book.locks)

    async def find(self, lock_id: int) -> Lock:
        """Return the lock's entry in the book, or a bare lock if it has none."""

        def find() -> Lock:
            return self._book.find(lock_id) or self._book.unlisted(lock_id)

        return await self._book.thread.run(find)

    async def save(self, lock: Lock) -> None:
        """Add a lock to the book, or update the data that people entered for the lock."""
        await self._book.thread.run(self._book.save, lock)

    async def save_all(self, locks: Sequence[Lock]) -> None:
        """Save many locks as :meth:`save` does: all of them or none."""
        await self._book.thread.run(self._book.save_all, locks)

    async def remove(self, lock_id: int) -> None:
        """Remove a lock from the book; nothing changes at the service."""
        await self._book.thread.run(self._book.remove, lock_id)

    async def note_opened(self, lock: Lock, remotes: int) -> None:
        """Note that the lock was opened just now and how many remotes it had."""
        now_ms = self._clock.now_ms()
        await self._book.thread.run(self._book.note_look, lock.lock_id, remotes, now_ms)

    async def note_counts(self, counts: Mapping[int, int]) -> None:
        """Note the number of remotes, by lock ID, of locks that were read but not opened."""
        await self._book.thread.run(self._book.note_counts, counts)

    async def note_voice(self, lock_id: int, voice: VoiceChoice) -> None:
        """Save the voice that lockterm has just set for a lock."""
        await self._book.thread.run(self._book.note_voice, lock_id, voice)


def book_of(database: Database, profile: str, clock: Clock) -> Locks:
    """Return the lock book of a profile."""
    return Locks(LockBook(database, profile), clock)
