"""The lock book: the contract lists no locks, so people keep theirs here, by profile."""

from __future__ import annotations

import sqlite3

from lockterm.models.locks import Lock, VoiceChoice
from lockterm.store.database import Database

_COLUMNS = "lock_id, name, alias, vendor, model, zone, remotes, opened_ms, voice_lang, voice_timbre"


def _lock(row: sqlite3.Row) -> Lock:
    lang, timbre = row["voice_lang"], row["voice_timbre"]
    return Lock(
        **{key: row[key] for key in _COLUMNS.split(", ") if not key.startswith("voice_")},
        voice=VoiceChoice(lang, timbre) if lang is not None and timbre is not None else None,
    )


class LockBook:
    """The locks of one profile. Every method raises ``StoreError`` where the file is unusable."""

    def __init__(self, database: Database, profile: str) -> None:
        self._database = database
        self._profile = profile

    def locks(self) -> list[Lock]:
        """All locks, the last opened first, then by name."""
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM locks WHERE profile = ?"
                " ORDER BY opened_ms IS NULL, opened_ms DESC, name COLLATE NOCASE, lock_id",
                (self._profile,),
            ).fetchall()
        return [_lock(row) for row in rows]

    def find(self, lock_id: int) -> Lock | None:
        """The entry of a lock, or None where the book has none."""
        with self._database.reading() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM locks WHERE profile = ? AND lock_id = ?",
                (self._profile, lock_id),
            ).fetchone()
        return _lock(row) if row else None

    def save(self, lock: Lock) -> None:
        """Add a lock, or replace the entry with its id."""
        voice = (lock.voice.lang, lock.voice.timbre) if lock.voice else (None, None)
        with self._database.transaction() as connection:
            connection.execute(
                f"INSERT OR REPLACE INTO locks (profile, {_COLUMNS})"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    self._profile,
                    lock.lock_id,
                    lock.name,
                    lock.alias,
                    lock.vendor,
                    lock.model,
                    lock.zone,
                    lock.remotes,
                    lock.opened_ms,
                    *voice,
                ),
            )

    def remove(self, lock_id: int) -> None:
        """Take a lock out of the book; nothing happens at the service."""
        with self._database.transaction() as connection:
            connection.execute(
                "DELETE FROM locks WHERE profile = ? AND lock_id = ?", (self._profile, lock_id)
            )

    def note_look(self, lock_id: int, remotes: int, opened_ms: int | None = None) -> None:
        """Remember how many remotes the lock had, and when it was opened; no entry, no effect."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE locks SET remotes = ?, opened_ms = coalesce(?, opened_ms)"
                " WHERE profile = ? AND lock_id = ?",
                (remotes, opened_ms, self._profile, lock_id),
            )

    def note_voice(self, lock_id: int, voice: VoiceChoice) -> None:
        """Remember the voice that was set from here; no entry, no effect."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE locks SET voice_lang = ?, voice_timbre = ?"
                " WHERE profile = ? AND lock_id = ?",
                (voice.lang, voice.timbre, self._profile, lock_id),
            )
