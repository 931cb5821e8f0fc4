"""Drafts: what is being typed into a form, kept so that no ending of the program loses it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lockterm.store.database import Database

if TYPE_CHECKING:
    from lockterm.models.drafts import Draft


class Drafts:
    """The drafts of one profile. Every method raises ``StoreError`` where the file fails."""

    def __init__(self, database: Database, profile: str) -> None:
        self._database = database
        self._profile = profile

    def save(self, draft: Draft) -> None:
        """Keep a draft, instead of an older one of the same form."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO drafts"
                " (profile, form, lock_id, remote_id, typed, saved_ms, session)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    *self._key(draft.form, draft.lock_id, draft.remote_id),
                    json.dumps(dict(draft.typed)),
                    draft.saved_ms,
                    draft.session,
                ),
            )

    def drop(self, form: str, lock_id: int, remote_id: int | None) -> None:
        """Forget a draft: its form was sent or let go."""
        with self._database.transaction() as connection:
            connection.execute(
                "DELETE FROM drafts"
                " WHERE profile = ? AND form = ? AND lock_id = ? AND remote_id = ?",
                self._key(form, lock_id, remote_id),
            )

    def all(self) -> list[Draft]:
        """Every draft of the profile, the newest first."""
        from lockterm.models.drafts import Draft

        with self._database.transaction() as connection:
            rows = connection.execute(
                "SELECT form, lock_id, remote_id, typed, saved_ms, session FROM drafts"
                " WHERE profile = ? ORDER BY saved_ms DESC",
                (self._profile,),
            ).fetchall()
        return [
            Draft(
                row["form"],
                row["lock_id"],
                None if row["remote_id"] == _NEW else row["remote_id"],
                json.loads(row["typed"]),
                row["saved_ms"],
                row["session"],
            )
            for row in rows
        ]

    def find(self, form: str, lock_id: int, remote_id: int | None) -> Draft | None:
        """The draft of one form, or None."""
        key = (form, lock_id, remote_id)
        return next((d for d in self.all() if (d.form, d.lock_id, d.remote_id) == key), None)

    def _key(self, form: str, lock_id: int, remote_id: int | None) -> tuple[str, str, int, int]:
        return self._profile, form, lock_id, _NEW if remote_id is None else remote_id


_NEW = -(2**63)
"""Stands for "no remote yet" in a key column, which cannot be null; never a remote's id."""
