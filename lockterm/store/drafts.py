"""Drafts: typed form values, saved so that they survive a crash."""

from __future__ import annotations

import json
import sqlite3

from lockterm.domain.drafts import Draft
from lockterm.store.database import Database, fetch

_KEY = "profile = ? AND form = ? AND lock_id = ? AND remote_id = ? AND session = ?"


class Drafts:
    """The drafts of one profile. Every method raises ``StoreError`` if the store cannot be used."""

    def __init__(self, database: Database, profile: str) -> None:
        self._database = database
        self._profile = profile

    def save(self, draft: Draft, *, wait: bool = True) -> None:
        """Save a draft, and replace the older draft of the same form and session.

        Args:
            draft: The draft.
            wait: Whether to wait for another program that has locked the store.
        """
        with self._database.transaction(wait=wait) as connection:
            connection.execute(
                "INSERT OR REPLACE INTO drafts"
                " (profile, form, lock_id, remote_id, session, typed, saved_ms)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*self._key(draft), json.dumps(dict(draft.typed)), draft.saved_ms),
            )

    def drop(self, draft: Draft, *, wait: bool = True) -> None:
        """Delete a draft. Call this after its form was sent or discarded.

        Args:
            draft: The draft.
            wait: Whether to wait for another program that has locked the store.
        """
        with self._database.transaction(wait=wait) as connection:
            connection.execute(f"DELETE FROM drafts WHERE {_KEY}", self._key(draft))

    def hand_over(self, draft: Draft, session: str) -> None:
        """Move a draft to another session, and replace that session's draft of the same form."""
        with self._database.transaction() as connection:
            connection.execute(
                f"UPDATE OR REPLACE drafts SET session = ? WHERE {_KEY}",
                (session, *self._key(draft)),
            )

    def all(self) -> list[Draft]:
        """Return every readable draft of the profile, the newest first."""
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                "SELECT form, lock_id, remote_id, typed, saved_ms, session FROM drafts"
                " WHERE profile = ? ORDER BY saved_ms DESC",
                (self._profile,),
            )
        return [draft for row in rows if (draft := _draft(row)) is not None]

    def find(self, form: str, lock_id: int, remote_id: int | None) -> list[Draft]:
        """Return the drafts of one form, one for each session, the newest first."""
        key = (form, lock_id, remote_id)
        return [one for one in self.all() if (one.form, one.lock_id, one.remote_id) == key]

    def _key(self, draft: Draft) -> tuple[str, str, int, int, str]:
        remote_id = _NEW if draft.remote_id is None else draft.remote_id
        return self._profile, draft.form, draft.lock_id, remote_id, draft.session


_NEW = -(2**63)
"""The value in the column ``remote_id`` for a new remote. No remote has this ID. The value cannot
be null, because the column is part of the key."""


def _draft(row: sqlite3.Row) -> Draft | None:
    """Return the draft of a row; None if the row is damaged."""
    kinds = {"form": str, "lock_id": int, "remote_id": int, "saved_ms": int, "session": str}
    if not all(isinstance(row[name], kind) for name, kind in kinds.items()):
        return None
    try:
        typed = json.loads(row["typed"])
    except (TypeError, ValueError):
        return None
    if not isinstance(typed, dict) or not all(isinstance(text, str) for text in typed.values()):
        return None
    remote_id = None if row["remote_id"] == _NEW else row["remote_id"]
    return Draft(row["form"], row["lock_id"], remote_id, typed, row["saved_ms"], row["session"])
