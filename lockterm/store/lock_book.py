"""The lock book of each profile: the user's own list of locks.

lockterm stores this list, because the contract has no call that lists locks.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from lockterm.domain.dates import Clock
from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.operation import OperationState
from lockterm.store.database import Database, fetch

_NAMES = ("lock_id", "name", "alias", "vendor", "model", "zone", "remotes", "opened_ms")
_COLUMNS = ", ".join((*_NAMES, "voice_lang", "voice_timbre"))
_TYPED = ", ".join(f"{name} = excluded.{name}" for name in _NAMES[1:6])
"""The SQL that updates only the fields which users enter. lockterm fills the other fields."""
_VOICE_MS = """
    CASE WHEN voice_lang IS NOT NULL THEN (
        SELECT max(settled_ms) FROM operations WHERE profile = locks.profile
        AND lock_id = locks.lock_id AND call = 'updateLockSetting' AND state = 'confirmed'
    ) END
"""
"""SQL for the time at which the saved voice was set, from the journal."""


def _lock(row: sqlite3.Row) -> Lock:
    lock_id, *texts, remotes, opened_ms, lang, timbre, voice_ms = row
    if not all(isinstance(text, str) for text in texts):
        texts = [_legible(text) for text in texts]
    voice = None
    if lang is not None and timbre is not None:
        voice = VoiceChoice(_legible(lang), _legible(timbre))
    name, alias, vendor, model, zone = texts
    return Lock(
        lock_id,
        name,
        alias,
        vendor,
        model,
        zone,
        remotes if isinstance(remotes, int) else None,
        opened_ms if isinstance(opened_ms, int) else None,
        voice,
        voice_ms if isinstance(voice_ms, int) else None,
    )


def _legible(text: Any) -> str:
    """Return a cell as text, as far as it can be decoded; empty if it has no text or bytes."""
    if isinstance(text, bytes):
        return text.decode(errors="replace")
    return text if isinstance(text, str) else ""


class LockBook:
    """The lock book of one profile.

    Every method raises ``StoreError`` if the store cannot be used.
    """

    def __init__(self, database: Database, profile: str) -> None:
        self._database = database
        self._profile = profile

    def locks(self) -> list[Lock]:
        """Return all locks.

        Locks that the user has opened come first, the most recently opened one at the top. The
        locks that were never opened follow by name.
        """
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                f"SELECT {_COLUMNS}, {_VOICE_MS} FROM locks WHERE profile = ?"
                " ORDER BY opened_ms IS NULL, opened_ms DESC, name COLLATE NOCASE, lock_id",
                (self._profile,),
            )
        return [_lock(row) for row in rows if isinstance(row["lock_id"], int)]

    def find(self, lock_id: int) -> Lock | None:
        """Return the entry of a lock; None if the lock has no entry."""
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                f"SELECT {_COLUMNS}, {_VOICE_MS} FROM locks WHERE profile = ? AND lock_id = ?",
                (self._profile, lock_id),
            )
        return _lock(rows[0]) if rows else None

    def save(self, lock: Lock) -> None:
        """Add a lock. If the lock has an entry, update only the fields that users enter."""
        self.save_all([lock])

    def save_all(self, locks: Iterable[Lock]) -> None:
        """Save locks as :meth:`save` does. If a lock cannot be saved, no lock is saved."""
        with self._database.transaction() as connection:
            connection.executemany(
                f"INSERT INTO locks (profile, {_COLUMNS})"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                f" ON CONFLICT (profile, lock_id) DO UPDATE SET {_TYPED}",
                map(self._values, locks),
            )

    def _values(self, lock: Lock) -> tuple[object, ...]:
        voice = (lock.voice.lang, lock.voice.timbre) if lock.voice else (None, None)
        return (self._profile, *(getattr(lock, name) for name in _NAMES), *voice)

    def remove(self, lock_id: int) -> None:
        """Remove the entry of a lock from the book. The service keeps the lock."""
        with self._database.transaction() as connection:
            connection.execute(
                "DELETE FROM locks WHERE profile = ? AND lock_id = ?", (self._profile, lock_id)
            )

    def note_look(self, lock_id: int, remotes: int | None, opened_ms: int) -> None:
        """Save when a lock was opened and its number of remotes, if the lock has an entry.

        Args:
            lock_id: The ID of the lock.
            remotes: The number of remotes of the lock; None to keep the stored number.
            opened_ms: The time at which the lock was opened, in milliseconds since the epoch.
        """
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE locks SET remotes = coalesce(?, remotes), opened_ms = ?"
                " WHERE profile = ? AND lock_id = ?",
                (remotes, opened_ms, self._profile, lock_id),
            )

    def note_counts(self, counts: Mapping[int, int]) -> None:
        """Save the numbers of remotes of locks that lockterm read without opening them.

        Args:
            counts: The numbers of remotes by lock ID. Locks without an entry are ignored.
        """
        with self._database.transaction() as connection:
            connection.executemany(
                "UPDATE locks SET remotes = ? WHERE profile = ? AND lock_id = ?",
                [(count, self._profile, lock_id) for lock_id, count in counts.items()],
            )

    def unlisted(self, lock_id: int) -> Lock:
        """Return a lock that has no entry, with the voice that this machine last set on it."""
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                "SELECT body, settled_ms FROM operations WHERE profile = ? AND lock_id = ?"
                " AND call = 'updateLockSetting' AND state = ? ORDER BY seq DESC LIMIT 1",
                (self._profile, lock_id, OperationState.CONFIRMED),
            )
        try:
            sent = json.loads(rows[0]["body"])["currentVoiceTimbre"]
            voice = VoiceChoice(str(sent.get("lang", "")), str(sent.get("timbre", "")))
        except (LookupError, TypeError, ValueError, AttributeError):
            return Lock(lock_id)  # no voice was set, or its row is damaged
        at_ms = rows[0]["settled_ms"]
        return Lock(lock_id, voice=voice, voice_ms=at_ms if isinstance(at_ms, int) else None)

    def note_voice(self, lock_id: int, voice: VoiceChoice) -> None:
        """Save the voice that this machine has set on a lock, if the lock has an entry."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE locks SET voice_lang = ?, voice_timbre = ?"
                " WHERE profile = ? AND lock_id = ?",
                (voice.lang, voice.timbre, self._profile, lock_id),
            )


class Locks:
    """The lock book of one profile, for use in the event loop. No method calls the service.

    Every method raises ``StoreError`` if the store cannot be used.
    """

    def __init__(self, database: Database, profile: str, clock: Clock) -> None:
        self._book = LockBook(database, profile)
        self._thread = database.thread
        self._clock = clock

    async def all(self) -> list[Lock]:
        """Return the locks of this profile, the most recently opened first."""
        return await self._thread.run(self._book.locks)

    async def find(self, lock_id: int) -> Lock:
        """Return the entry of a lock.

        If the lock book does not have the lock, the entry has only the ID, and the voice that this
        machine last set.
        """

        def find() -> Lock:
            return self._book.find(lock_id) or self._book.unlisted(lock_id)

        return await self._thread.run(find)

    async def save(self, lock: Lock) -> None:
        """Add a lock to the lock book.

        If the lock book already has the lock, update the fields that users enter.
        """
        await self._thread.run(self._book.save, lock)

    async def save_all(self, locks: Sequence[Lock]) -> None:
        """Save locks as :meth:`save` does. If a lock cannot be saved, no lock is saved."""
        await self._thread.run(self._book.save_all, locks)

    async def remove(self, lock_id: int) -> None:
        """Remove the entry of a lock from the lock book. The service keeps the lock."""
        await self._thread.run(self._book.remove, lock_id)

    async def note_opened(self, lock: Lock, remotes: int | None = None) -> None:
        """Store that the user has just opened a lock, and its number of remotes if it is known."""
        now_ms = self._clock.now_ms()
        await self._thread.run(self._book.note_look, lock.lock_id, remotes, now_ms)

    async def note_counts(self, counts: Mapping[int, int]) -> None:
        """Store numbers of remotes, by lock ID, for locks that were read without opening them."""
        await self._thread.run(self._book.note_counts, counts)

    async def note_voice(self, lock_id: int, voice: VoiceChoice) -> None:
        """Store the voice that lockterm has just set for a lock."""
        await self._thread.run(self._book.note_voice, lock_id, voice)


WAIT_S = 0.2
"""Maximum time for which :func:`last_lock` waits for another session, in seconds."""


def last_lock(path: Path, profile: str) -> int | None:
    """Return the ID of the lock that the user opened last in a profile's lock book.

    The function does not create or repair the file, and does not report errors.

    Args:
        path: The local store.
        profile: The profile's name.

    Returns:
        The lock's ID; None if no lock was opened or the file cannot be read.
    """
    try:
        store = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", timeout=WAIT_S, uri=True)
        with closing(store):
            row = store.execute(
                "SELECT lock_id FROM locks WHERE profile = ? AND typeof(lock_id) = 'integer'"
                " AND typeof(opened_ms) = 'integer' ORDER BY opened_ms DESC LIMIT 1",
                (profile,),
            ).fetchone()
    except sqlite3.Error:
        return None
    return row[0] if row else None
