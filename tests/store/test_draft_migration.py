"""A store from before drafts belonged to sessions keeps the drafts that it has."""

from __future__ import annotations

from pathlib import Path

from lockterm.store.database import Database
from lockterm.store.drafts import Drafts
from lockterm.store.migrations import MIGRATIONS


def test_drafts_of_an_older_store_are_still_there(tmp_path: Path) -> None:
    names = list(MIGRATIONS)
    before = {name: MIGRATIONS[name] for name in names[: names.index("drafts_aside")]}
    old = Database(tmp_path / "lockterm.db", before)
    with old.transaction() as connection:
        connection.execute(
            "INSERT INTO drafts (profile, form, lock_id, remote_id, typed, saved_ms, session)"
            """ VALUES ('p', 'remote', 7, 9, '{"remoteName": "Anna"}', 5, '12-ended')"""
        )
    old.close()
    new = Database(tmp_path / "lockterm.db")
    (draft,) = Drafts(new, "p").all()
    assert (draft.form, draft.lock_id, draft.remote_id, draft.session) == (
        "remote",
        7,
        9,
        "12-ended",
    )
    assert draft.typed == {"remoteName": "Anna"}
    new.check()
    new.close()
