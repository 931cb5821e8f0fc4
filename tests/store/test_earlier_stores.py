"""The store of every earlier version opens, and what it had is still there.

``earlier/`` has them as SQL, each written by the code of its time and named after how many steps it
had taken, and the last of them. A step that is added to the migrations wants a store with it here.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.operation import State
from lockterm.domain.plan import Action, StepState
from lockterm.store.database import Database
from lockterm.store.drafts import Drafts
from lockterm.store.journal import Journal
from lockterm.store.lock_book import LockBook
from lockterm.store.migrations import MIGRATIONS
from lockterm.store.runs import RunStore

EARLIER = sorted((Path(__file__).parent / "earlier").glob("*.sql"))
JOURNAL, SERVICE, PLANS, NOTES, ACCOUNTS = 6, 7, 16, 21, 25
"""After so many steps there is a journal with drafts; the service of each entry; plans; what has to
be agreed to with these; and the account of each entry and plan."""


def steps_of(store: Path) -> int:
    return int(store.name.partition("_")[0])


@pytest.mark.parametrize("store", EARLIER, ids=lambda store: store.stem)
def test_what_an_earlier_version_kept_is_there(tmp_path: Path, store: Path) -> None:
    path = tmp_path / "lockterm.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(store.read_text("utf-8"))
        taken = {name for (name,) in connection.execute("SELECT name FROM migrations")}
    steps = steps_of(store)
    assert taken == set(list(MIGRATIONS)[:steps]), "the steps of the past are as they were"

    database = Database(path)
    database.check()
    gate, other = LockBook(database, "north").locks()
    assert (gate.lock_id, gate.name, gate.alias, gate.vendor) == (
        1001,
        "Main gate",
        "front",
        "nordriegel",
    )
    assert (gate.model, gate.zone, gate.remotes) == ("NR-450", "Europe/Berlin", 3)
    assert (gate.opened_ms, gate.voice) == (1764000000000, VoiceChoice("de-DE", "anna"))
    assert other == Lock(1002)

    journal = Journal(database, "north")
    sent = [(one.call, one.state, one.service) for one in journal.history()]
    service = "https://locks.example.com" if steps >= SERVICE else ""
    kept = [
        ("update", State.CONFIRMED, service),
        ("delete", State.CONFIRMED, service),
        ("updateRemoteUserNo", State.REFUSED, service),
        ("add", State.UNKNOWN, service),
    ]
    assert sent == (kept if steps >= JOURNAL else [])
    account = ("north-0f3a9c1d", "0f3a9c1d55") if steps >= ACCOUNTS else (None, None)
    assert all(
        (one.account, one.credentials) == (account if one.call == "add" else (None, None))
        for one in journal.history()
    )
    others = ({"id": 48214, "remoteNumber": "A-2042"},) if steps >= ACCOUNTS else None
    assert [one.others for one in journal.history() if one.call == "delete"] == (
        [others] if steps >= JOURNAL else []
    )
    drafts = Drafts(database, "north").all()
    if steps >= JOURNAL:
        (backup,) = journal.history()[1].before
        assert backup["extraData"] == {"note": "Tor 2"}
        assert [one.body["remoteName"] for one in journal.unsettled()] == ["Crew"]
        (draft,) = drafts
        assert (draft.lock_id, draft.remote_id, draft.session) == (1001, 48213, "1-ended")
        assert draft.typed == {"remoteName": "Anna W."}
    else:
        assert drafts == []
    runs = RunStore(database)
    if steps >= PLANS:
        plan = runs.read("plan-1")
        new_id = "It gets a new id and a new creation time."
        has_notes = steps >= NOTES
        assert plan.credentials == (account[1] or "")
        assert plan.losses == ((new_id,) if has_notes else ())
        assert plan.steps[1].note == "It gets access again: it was deleted." * has_notes
        states = [(step.action, step.state) for step in plan.steps]
        assert states == [(Action.UPDATE, StepState.RECORDED), (Action.ADD, StepState.TO_DO)]
    else:
        assert runs.ids("") == []

    database.close()
    assert (database.notice, [file.name for file in tmp_path.iterdir()]) == ("", [path.name])


def test_there_is_a_store_of_every_version() -> None:
    assert steps_of(EARLIER[-1]) == len(MIGRATIONS), "add a store that this code has written"


def test_no_step_of_the_past_was_edited(tmp_path: Path) -> None:
    """A step taken long ago is not taken again: its tables stay as it made them then."""
    for store in EARLIER:
        taken = dict(list(MIGRATIONS.items())[: steps_of(store)])
        new = Database(tmp_path / store.stem, taken)
        with new.reading() as connection:
            made = tables(connection)
        new.close()
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(store.read_text("utf-8"))
            assert tables(connection) == made, store.name


def tables(connection: sqlite3.Connection) -> dict[str, str]:
    """What there is -> the words that make it, however they are set."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {name: " ".join(sql.replace('"', "").split()) for name, sql in rows}
