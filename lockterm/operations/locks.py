"""The lock book of a profile: the user's list of locks, because the contract cannot list locks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.store.lock_book import LockBook

if TYPE_CHECKING:
    from lockterm.domain.dates import Clock
    from lockterm.store.database import Database


class Locks:
    """The lock book of one profile. No method calls the service.

    Every method raises ``StoreError`` if the local store cannot be used.
    """

    def __init__(self, book: LockBook, clock: Clock) -> None:
        self._book = book
        self._clock = clock

    async def all(self) -> list[Lock]:
        """Return the locks of this profile, the most recently opened first."""
        return await self._book.thread.run(self._book.locks)

    async def find(self, lock_id: int) -> Lock:
        """Return the entry of a lock.

        If the lock book does not have the lock, the entry has only the ID, and the voice that this
        machine last set.
        """

        def find() -> Lock:
            return self._book.find(lock_id) or self._book.unlisted(lock_id)

        return await self._book.thread.run(find)

    async def save(self, lock: Lock) -> None:
        """Add a lock to the lock book.

        If the lock book already has the lock, update the fields that users enter.
        """
        await self._book.thread.run(self._book.save, lock)

    async def save_all(self, locks: Sequence[Lock]) -> None:
        """Save locks as :meth:`save` does. If a lock cannot be saved, no lock is saved."""
        await self._book.thread.run(self._book.save_all, locks)

    async def remove(self, lock_id: int) -> None:
        """Remove the entry of a lock from the lock book. The service keeps the lock."""
        await self._book.thread.run(self._book.remove, lock_id)

    async def note_opened(self, lock: Lock, remotes: int | None = None) -> None:
        """Store that the user has just opened a lock, and its number of remotes if it is known."""
        now_ms = self._clock.now_ms()
        await self._book.thread.run(self._book.note_look, lock.lock_id, remotes, now_ms)

    async def note_counts(self, counts: Mapping[int, int]) -> None:
        """Store numbers of remotes, by lock ID, for locks that were read without opening them."""
        await self._book.thread.run(self._book.note_counts, counts)

    async def note_voice(self, lock_id: int, voice: VoiceChoice) -> None:
        """Store the voice that lockterm has just set for a lock."""
        await self._book.thread.run(self._book.note_voice, lock_id, voice)


def book_of(database: Database, profile: str, clock: Clock) -> Locks:
    """Return the lock book of a profile."""
    return Locks(LockBook(database, profile), clock)
