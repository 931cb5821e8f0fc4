"""Reading a long journal: page by page from SQL, by index, with every word found that is shown."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from lockterm.domain import dates
from lockterm.domain.names import fold_text
from lockterm.domain.operation import (
    IN_FLIGHT,
    QUARTER_MS,
    UNCONFIRMED,
    HistoryLine,
    Operation,
    OperationState,
    Selection,
    left_state,
)
from lockterm.domain.remotes import CALL_NAMES
from lockterm.domain.text.operation import STATE_NAMES
from lockterm.domain.validity import RemoteState
from lockterm.screens.history.table import OUTCOMES, target_of, what_of
from lockterm.store.database import Database
from lockterm.store.journal import Journal
from lockterm.store.lock_book import LockBook
from tests.samples import an_operation

BERLIN = ZoneInfo("Europe/Berlin")
NOW_MS = 1_795_161_600_000
DONE = frozenset({OperationState.CONFIRMED, OperationState.CONFIRMED_BY_READING})
NAMES = ("Anna Weber", "Jürgen Weiß", "100 %", "under_score", "back\\slash", "清水", "İzmir", "")
MESSAGES = ("", "no such remote", "Straße gesperrt", "it's \x00 odd", "50%_\\")
WORDS = (
    *("anna", "ANNA", "weiss", "WEISS", "straße", "STRASSE", "jür", "清", "i̇z", "\x00", "%", "_"),
    *("\\", "'", "100", "7", "1001", "2026", "nov", "10:3", "+01", "-11-", "restore", "rem", "60"),
    *("emotes", "recorded", "seen", "refused", "damaged", "voice", "de-de", "karl", "none", "odd"),
)


def operation(number: int, **fields: object) -> Operation:
    about = {"lock_name": "Gate", "remote_id": number, "remote_name": f"Remote {number}"}
    return an_operation(**{"id": f"{number:032x}", "path": "/x", **about, **fields})


def some_operation(number: int, chance: random.Random) -> Operation:
    call = chance.choice([*CALL_NAMES, "reboot"])
    voice = {"lang": "de-DE", "timbre": chance.choice(["Karl", "Größe"])}
    return operation(
        number,
        call=call,
        body={"currentVoiceTimbre": voice} if call == "updateLockSetting" else {},
        lock_id=chance.choice((1001, 1002, 77)),
        lock_name=chance.choice(NAMES),
        remote_id=chance.choice((None, 7, 100)),
        remote_name=chance.choice(NAMES),
        before=tuple({"id": one} for one in range(60)) if call == "clear" else (),
        state=chance.choice(
            [state for state in OperationState if state is not OperationState.DAMAGED]
        ),
        prepared_ms=NOW_MS - chance.randrange(0, 400 * dates.DAY_MS),
        code=chance.choice((None, 7, -5)),
        message=chance.choice(MESSAGES),
        restores=chance.choice((None, "x")),
    )


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "lockterm.db")
    yield database
    database.close()


def filled(database: Database, *operations: Operation) -> Journal:
    journal = Journal(database, "p")
    with database.transaction():
        for one in operations:
            assert journal.prepare(one) is None
    return journal


def is_shown(word: str, line: HistoryLine) -> bool:
    """Whether a word is in what the table shows of a line, or in all of what is cut there."""
    at = dates.local(line.prepared_ms, BERLIN)
    places = (
        what_of(line),
        OUTCOMES[line.state],
        STATE_NAMES[line.state],
        target_of(line),
        dates.stamp(line.prepared_ms, BERLIN),
        dates.MONTHS[at.month - 1],
        CALL_NAMES.get(line.call, ""),
        line.message,
        line.remote_name,
        line.lock_name,
        *(
            str(number)
            for number in (line.remote_id, line.lock_id, line.code)
            if number is not None
        ),
    )
    return any(fold_text(word) in fold_text(place) for place in places)


def test_sql_finds_what_is_shown_and_nothing_else(database: Database) -> None:
    chance = random.Random(11)
    rows = [some_operation(number, chance) for number in range(300)]
    with database.transaction() as connection:  # some hold each other back, were they prepared
        journal = filled(database, *(operation(number) for number in range(300)))
        for row in rows:
            names = ("call", "lock_id", "lock_name", "remote_id", "remote_name", "state", "code")
            more = ("prepared_ms", "message", "restores", "before", "body")
            journal.move(
                row.id, OperationState, **{name: getattr(row, name) for name in names + more}
            )
        assert connection.in_transaction
    lines = journal.lines()
    found_any = set()
    for word in WORDS:
        found = journal.lines(Selection(words=(fold_text(word),), zone=BERLIN))
        assert found == [line for line in lines if is_shown(word, line)], word
        assert journal.count(Selection(words=(fold_text(word),), zone=BERLIN)) == len(found)
        newest = journal.newest(Selection(words=(fold_text(word),), zone=BERLIN), 5, 40)
        assert newest == (found[:5], min(len(found), 40))
        found_any |= {word} if 0 < len(found) < len(lines) else set()
    assert set(WORDS) - found_any == {"none", "damaged"}, "each other word tells rows apart"
    both = Selection(1001, DONE, ("anna", "2026"), BERLIN)
    assert journal.lines(both) == [
        line
        for line in lines
        if line.lock_id == 1001
        and line.state in DONE
        and is_shown("anna", line)
        and is_shown("2026", line)
    ]


@pytest.mark.parametrize("damage", ["state = 'cond'", "before = '[{'"])
def test_damaged_row_is_found_as_such_and_counts_as_unconfirmed(
    database: Database, damage: str
) -> None:
    journal = filled(
        database, *(operation(number, state=OperationState.CONFIRMED) for number in range(3))
    )
    with database.transaction() as connection:
        connection.execute(f"UPDATE operations SET {damage} WHERE seq = 2")
    assert [one.seq for one in journal.lines() if one.state is OperationState.DAMAGED] == [2]
    assert [one.seq for one in journal.lines(Selection(states=UNCONFIRMED | IN_FLIGHT))] == [2]
    assert [one.seq for one in journal.lines(Selection(words=("damaged",)))] == [2]
    if "state" in damage:
        assert [one.seq for one in journal.lines(Selection(states=DONE))] == [3, 1]


@pytest.mark.parametrize(
    ("body", "is_damaged"),
    [
        (b"{}", False),
        (b'{"currentVoiceTimbre": 1}', False),
        (b"[1]", True),
        (b'{"currentVoiceTimbre": "\xff"}', True),
    ],
)
def test_a_voice_that_cannot_be_read_is_shown_as_far_as_it_can(
    database: Database, body: bytes, is_damaged: bool
) -> None:
    journal = filled(database, operation(1), operation(2))
    with database.transaction() as connection:
        connection.execute("UPDATE operations SET others = NULL")  # as of an earlier version
        change = "UPDATE operations SET call = 'updateLockSetting', body = CAST(? AS TEXT)"
        connection.execute(f"{change} WHERE seq = 2", [body])
    assert [one.state is OperationState.DAMAGED for one in journal.lines()] == [is_damaged, False]
    assert [one.state is OperationState.DAMAGED for one in journal.history()] == [False, is_damaged]
    assert is_damaged or journal.lines(Selection(states=UNCONFIRMED | IN_FLIGHT)) == []


@pytest.mark.parametrize("body", ["[1]", "1", "null", '"text"'])
def test_filter_for_damaged_rows_finds_a_body_that_is_no_object(
    database: Database, body: str
) -> None:
    journal = filled(database, operation(1), operation(2), operation(3))
    with database.transaction() as connection:
        connection.execute("UPDATE operations SET body = ? WHERE seq = 2", [body])
    damaged = frozenset({OperationState.DAMAGED})
    assert [one.seq for one in journal.lines(Selection(states=damaged))] == [2]
    assert [one.seq for one in journal.lines(Selection(words=("damaged",)))] == [2]
    assert [one.state is OperationState.DAMAGED for one in journal.lines()] == [False, True, False]


def asked_of(database: Database, read: Callable[[], object]) -> list[str]:
    """How SQLite goes about each query of a reading."""
    queries: list[str] = []
    database.check()  # the statements of its opening are not meant
    with database.reading() as connection:
        connection.set_trace_callback(queries.append)
        read()
        connection.set_trace_callback(None)
        plans = [connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall() for query in queries]
    return [step[3] for plan in plans for step in plan]


def test_what_a_journal_is_asked_for_is_found_by_an_index(database: Database) -> None:
    journal, book = filled(database, operation(1)), LockBook(database, "p")
    by_profile = "operations_by_profile (profile=? AND lock_id=?"
    for read, index in (
        (lambda: journal.was_sent_again("x"), "operations_by_sent_again (again_of=?)"),
        (lambda: book.unlisted(1001).voice, f"{by_profile} AND call=?)"),
        (lambda: journal.restored(1001), f"{by_profile})"),
        (lambda: journal.recent(1001, 0, 1, ["x"]), "operations_by_settled"),
    ):
        step, *rest = asked_of(database, read)
        assert step.startswith("SEARCH operations USING") and index in step, step
        assert not any(step.startswith("SCAN operations") for step in rest)
    again = asked_of(database, lambda: journal.prepare(operation(3, again_of="x")))
    assert any("operations_by_sent_again (again_of=?)" in step for step in again)
    linked = asked_of(database, lambda: journal.linked(operation(2, again_of="x", restores="y")))
    assert "SCAN operations" not in linked
    assert any("operations_by_sent_again (again_of=?)" in step for step in linked)


@pytest.mark.parametrize(
    "selection",
    [Selection(), Selection(1001), Selection(states=DONE), Selection(1001, DONE, ("anna", "9"))],
)
@pytest.mark.parametrize(("rare", "how"), [(0, "(rowid<?)"), (1, "(rowid=?)")])
def test_a_page_is_read_from_its_place_on_and_nothing_is_sorted(
    database: Database, monkeypatch: pytest.MonkeyPatch, selection: Selection, rare: int, how: str
) -> None:
    """Of what is rare, row by row, as an index has them."""
    monkeypatch.setattr("lockterm.store.journal.RARE", rare)
    journal = filled(database, operation(1))
    steps = asked_of(database, lambda: journal.lines(selection, below=5, most=2))
    how = how if selection != Selection() else "(rowid<?)"
    assert f"SEARCH operations USING INTEGER PRIMARY KEY {how}" in steps, steps
    assert not any("ORDER BY" in step for step in steps), steps
    assert "SCAN operations" not in steps, steps


def test_rows_are_found_and_counted_without_looking_at_the_rest(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = filled(database, *(operation(number) for number in range(3)))
    unsettled = Selection(states=UNCONFIRMED)
    assert journal.look_through(2) and journal.look_through(2) and not journal.look_through(2)
    for read in (lambda: journal.lines(unsettled), lambda: journal.count(unsettled)):
        steps = asked_of(database, read)
        assert "SCAN operations" not in steps
        assert "SCAN operations USING COVERING INDEX operations_by_state" not in steps
    monkeypatch.setattr("lockterm.store.journal.RARE", 0)
    fresh = Journal(database, "p")
    for selection in (Selection(), Selection(1001)):
        steps = asked_of(database, lambda chosen=selection: fresh.count(chosen))
        assert "SCAN operations USING COVERING INDEX operations_by_profile" in steps
        assert "SCAN operations" not in steps


def test_rows_are_looked_at_once_for_damage_and_those_that_come_later_too(
    database: Database,
) -> None:
    journal = filled(database, operation(1), operation(2))
    chosen = Selection(states=UNCONFIRMED)
    damage = "UPDATE operations SET body = '{' WHERE remote_id = ?"
    with database.transaction() as connection:
        connection.execute(damage, [1])
    assert [line.remote_id for line in journal.lines(chosen)] == [1]
    filled(database, operation(3))
    with database.transaction() as connection:
        connection.execute(damage, [3])
    assert [line.remote_id for line in journal.lines(chosen)] == [3, 1]
    database.close()
    with database.transaction() as connection:
        connection.execute(damage, [2])
    assert journal.count(chosen) == 3, "what is opened anew is looked at anew"


def test_pages_continue_and_no_more_are_counted_than_asked_for(database: Database) -> None:
    journal = filled(database, *(operation(number) for number in range(10)))
    first = journal.lines(most=4)
    filled(database, operation(10))
    then = journal.lines(below=first[-1].seq, most=4)
    assert [line.remote_id for line in first + then] == [9, 8, 7, 6, 5, 4, 3, 2]
    assert [journal.count(Selection(1001), most) for most in (-1, 3, 20)] == [11, 3, 11]


def test_what_was_counted_is_not_counted_again(database: Database) -> None:
    """Another session may write meanwhile, and the file may be another one."""
    journal = filled(database, operation(1), operation(2))
    assert journal.count() == 2
    other = Database(database.path)
    filled(other, operation(3), operation(4, profile="q"))
    other.close()
    assert "SEARCH operations USING INTEGER PRIMARY KEY (rowid>?)" in asked_of(
        database, journal.count
    )
    assert journal.count() == 3
    database.close()
    database.path.unlink()
    filled(database, operation(5))
    assert journal.count() == 1


def test_quarters_count_new_rows_of_a_lock_or_of_all(database: Database) -> None:
    journal, quarter = Journal(database, "p"), NOW_MS // QUARTER_MS
    agos = (0, 1, QUARTER_MS, QUARTER_MS, dates.DAY_MS)
    for number, ago in enumerate(agos):
        lock_id = 1001 + number % 2
        journal.prepare(operation(number, prepared_ms=NOW_MS - ago, lock_id=lock_id))
    journal.prepare(operation(8, profile="other"))
    since_ms = NOW_MS - dates.HOUR_MS
    assert journal.count_by_quarter(since_ms, None) == {quarter: 1, quarter - 1: 3}
    assert journal.count_by_quarter(since_ms, 1002) == {quarter - 1: 2}
    journal.prepare(operation(9, lock_id=1002))
    found = journal.count_by_quarter(since_ms, None)
    assert found == journal.count_by_quarter(since_ms, None) == {quarter: 2, quarter - 1: 3}
    assert journal.count_by_quarter(since_ms, 1002) == {quarter: 1, quarter - 1: 2}
    assert journal.count_by_quarter(NOW_MS - dates.DAY_MS, None).total() == 6
    fresh = Journal(database, "p")
    steps = asked_of(database, lambda: fresh.count_by_quarter(since_ms, 1001))
    assert "SEARCH operations USING INTEGER PRIMARY KEY (rowid=?)" in steps, "by the index of locks"
    with database.transaction() as connection:
        connection.execute("UPDATE operations SET prepared_ms = 'x' WHERE lock_id = 1002")
    assert Journal(database, "p").count_by_quarter(since_ms, 1002) == {0: 3}, "damaged rows"


def test_the_last_change_is_found_behind_many_that_changed_nothing(database: Database) -> None:
    states = (OperationState.REFUSED, OperationState.NOT_SENT, OperationState.SENT_AGAIN)
    without = [operation(5 + number, state=states[number % 3]) for number in range(300)]
    last = operation(2, state=OperationState.UNKNOWN)
    journal = filled(database, operation(1), last, *without, operation(400, lock_id=1002))
    with database.transaction():
        Journal(database, "q").prepare(operation(401, profile="q"))
    assert journal.last_change(1001) == last, "what may have changed something was passed"
    plans = asked_of(database, lambda: journal.last_change(1001))
    assert not any(line.startswith("SCAN operations") for line in plans), plans
    assert not any("operations_by_profile" in line for line in plans), "it walks over the lock"
    with database.transaction() as connection:
        connection.execute("UPDATE operations SET state = 'odd' WHERE id = ?", [without[7].id])
    found = journal.last_change(1001)
    assert (found.id, found.state) == (without[7].id, OperationState.DAMAGED)
    assert journal.last_change(77) is None


def test_the_journal_finds_letters_by_the_ascii_that_they_fold_to(database: Database) -> None:
    others = (chr(number) for number in (*range(128, 0x180), 0x1E9E, 0x2011, 0x212A, 0xFB01))
    folding = [letter for letter in others if fold_text(letter).isascii()]
    names = [f"1{letter}2" for letter in folding]
    rows = [operation(n, remote_name=name, lock_id=n) for n, name in enumerate(names)]
    journal = filled(database, *rows)
    for line in journal.lines():
        name = fold_text(line.remote_name)
        pieces = {name[a:b] for a in range(len(name)) for b in range(a + 1, len(name) + 1)}
        for piece in filter(str.isascii, pieces):
            found = journal.lines(Selection(line.lock_id, words=(piece,), zone=BERLIN))
            assert found == [line], (name, piece)


ENDED = {"remoteType": 2, "startDate": 1, "endDate": NOW_MS - 1, "weekDay": []}
LARGE = {"extraData": {"note": "x" * 5000}}


@pytest.mark.parametrize(
    ("call", "before", "body", "left"),
    [
        ("add", [], {**LARGE, "remoteType": 1}, RemoteState.OPEN),
        ("add", [], {**LARGE, **ENDED}, RemoteState.ENDED),
        ("update", [{**LARGE, **ENDED}], {**LARGE, "remoteName": "Anna"}, RemoteState.ENDED),
        ("update", [{**LARGE, **ENDED}], {"endDate": NOW_MS + 1}, RemoteState.WEEK),
        ("update", [{**LARGE, **ENDED}], {"remoteType": 1}, RemoteState.OPEN),
        ("update", [{**ENDED, "endDate": "soon"}], {"remoteName": "Anna"}, RemoteState.UNCLEAR),
        ("update", [{**ENDED, "remoteType": True}], {"remoteName": "Anna"}, RemoteState.UNCLEAR),
        ("update", [], ENDED, RemoteState.ENDED),
        ("update", [7], ENDED, RemoteState.ENDED),
        ("add", [], [{**LARGE, **ENDED}], None),
        ("delete", [{**LARGE, **ENDED}], LARGE, None),
    ],
)
def test_history_line_has_the_fields_of_the_state(
    database: Database, call: str, before: list[object], body: object, left: RemoteState | None
) -> None:
    """All lines of a lock are in memory at once: whole remotes would be hundreds of MB."""
    journal = filled(database, operation(1))
    with database.transaction() as connection:
        connection.execute(
            "UPDATE operations SET call = ?, before = ?, body = ?",
            (call, json.dumps(before), json.dumps(body)),
        )
    (line,) = journal.lines()
    assert left_state(line, NOW_MS) is left
    assert len(line.seen + line.sent) < 200
