"""Mappings: what a table of another system means, and what is refused, and where."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.domain.dates import DAY_MS
from lockterm.domain.foreign_table import LockIds, read_date, read_foreign, read_header, read_number
from lockterm.domain.locks import Lock
from lockterm.domain.plan import Step
from lockterm.domain.remotes import Remote
from lockterm.domain.table_columns import NAMES
from lockterm.domain.table_file import Row, TableFileError, read_table
from lockterm.domain.table_map import (
    DATE_ORDERS,
    MEANINGS,
    NUMBER_FORMATS,
    TableMap,
    column_key,
    format_map,
    meaning_named,
    parse_map,
    suggest_map,
)
from lockterm.domain.table_plan import LockPlan, check_rows
from lockterm.operations.export import remotes_as_csv
from lockterm.operations.planner import ReadLock
from tests.domain.test_rules import NOW, sound
from tests.domain.test_table_plan import BERLIN, LOCK

EXAMPLES = Path(__file__).parents[2] / "docs/how-to/examples"

WIDE = parse_map((EXAMPLES / "door-list.toml").read_bytes())
TALL = parse_map((EXAMPLES / "card-list.toml").read_bytes())
HEAD = "First name;Last name;Card no;Valid from;Valid to;Department;Main entrance;Car park\n"


def rows(
    table: str, table_map: TableMap, locks: LockIds | None = None, lock_id: int | None = None
) -> tuple[list[Row], list[str]]:
    """Return the rows, and what is wrong."""
    try:
        read = read_foreign(table.encode(), table_map, locks or {}, lock_id)
    except TableFileError as error:
        return [], [*map(str, error.problems)]
    return [*read.rows], [*map(str, read.problems)]


def cells(table: str, table_map: TableMap, locks: LockIds | None = None) -> list[dict[str, str]]:
    found, wrong = rows(table, table_map, locks)
    assert wrong == []
    return [dict(row.cells) for row in found]


def planned(
    table: str, table_map: TableMap, present: dict[str, Any]
) -> tuple[list[Step], list[str]]:
    """Return the steps for a lock with one remote, and what is wrong."""
    found, wrong = rows(table, table_map)
    plan = LockPlan(1001, [Remote.read(present)], BERLIN, NOW)
    return plan.take(found, prune=False), [*wrong, *map(str, plan.problems)]


def test_a_door_column_gives_a_remote_on_its_lock() -> None:
    table = (EXAMPLES / "door-list.csv").read_text()
    names = ("lockId", "remoteName", "remoteNumber", "remoteType", "endDate")
    assert [tuple(one[name] for name in names) for one in cells(table, WIDE)] == [
        ("1001", "Anna Weber", "04A23B1C", "time-limited", "2026-12-31"),
        ("1001", "Tomás Vidal", "04A23B77", "time-limited", "2027-03-31 18:00"),
        ("1004", "Tomás Vidal", "04A23B77", "time-limited", "2027-02-28"),
        ("1001", "Mei Wang", "04A23B9F", "permanent", ""),
        ("1004", "Mei Wang", "04A23B9F", "permanent", ""),
    ]
    read = read_foreign(table.encode(), WIDE, {})
    assert (read.locks, read.ignored) == ((1001, 1004), ["Department"])


def test_a_cell_names_a_door_and_a_door_names_a_lock_of_the_book() -> None:
    table = (EXAMPLES / "card-list.csv").read_text()
    names = ("lockId", "remoteName", "remoteNumber", "startDate")
    assert [tuple(one[name] for name in names) for one in cells(table, TALL)] == [
        ("1001", "Paul Novak", "12300457", "2026-12-01 8:00 AM"),
        ("1004", "Paul Novak", "12300457", "2026-12-01 8:00 AM"),
        ("1004", "O'Brien, Sean", "12300461", "2027-01-04"),
    ]
    named = TableMap({"N": "remoteNumber", "D": "lockId"}, {"Yard": "Loading DOCK"})
    book = {"loading dock": [7], "main gate": [8], "twice": [1, 2]}
    text = "N,D\nA-1,Yard\nA-2,main gate\n"
    assert [one["lockId"] for one in cells(text, named, book)] == ["7", "8"]
    assert rows("N,D\nA-1,Nowhere\nA-2,Twice\nA-3,1.2E+11\n", named, book)[1] == [
        "line 2, column D, “Nowhere”: The lock book has no lock with this name. Write the ID of"
        " the lock in the mapping.",
        "line 3, column D, “Twice”: Several locks have this name: 1, 2.",
        "line 4, column D, “1.2E+11”: A spreadsheet has shortened a long number, and its last"
        " digits are lost. Format the column as text and type the number again.",
    ]


# --- a header that the mapping does not fit ------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "wrong"),
    [
        ("Card no,Phone,Note", ["Phone", "Name"]),
        ("Name,Card no,Card no", ["Card no"]),
        ("Name,Card  no,,Note", []),
        ("Name,Card no,,Note\n1,2,x,3", ["(no name)"]),
    ],
)
def test_header_is_refused_when_the_mapping_does_not_fit(header: str, wrong: list[str]) -> None:
    table_map = TableMap(
        {"Name": "remoteName", "Card no": "remoteNumber", "Note": "ignore"}, values={"lockId": "1"}
    )
    problems = rows(f"{header}\n", table_map)[1]
    assert [problem.partition(", “")[0] for problem in problems] == [
        f"line 1, column {column}" for column in wrong
    ]


@pytest.mark.parametrize(
    ("table_map", "words"),
    [
        (TableMap({"a": "ignore", "b": "endDate"}, values={"lockId": "1"}),
         "line 1: No column identifies the remote. Assign a column to the number or the name."),
        (TableMap({"a": "remoteName", "b": "remoteNumber"}), "line 1: The mapping has no lock."),
        (TableMap({"a": "remoteName", "b": "first name"}, values={"lockId": "1"}),
         "line 1, column a, “a”: Two columns mean the name: also “first name or last name”."),
        (TableMap({"a": "remoteName"}, {"b": "1"}, {"lockId": "1"}), "line 1: The table has"),
        (TableMap({"a": "remoteName"}, {"b": "gate"}), "line 1, column b, “gate”: The lock"),
        (TableMap({"a": "remoteName"}, {"b": "1", "c": "2"}), "line 1, column c, “”: The"),
        (TableMap({}, {"a": "2", "b": "2"}), "line 1, column b, “2”: Two columns are doors of"),
        (TableMap({"a": "remoteName"}, {"a": "1", "b": "2"}), "line 1, column a, “”: The"),
    ],
)  # fmt: skip
def test_mapping_is_refused_when_it_has_no_clear_meaning(table_map: TableMap, words: str) -> None:
    assert any(problem.startswith(words) for problem in rows("a,b\n", table_map)[1])


# --- cells ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "text", "read"),
    [
        ("day/month/year", "03/04/2026", "2026-04-03"),
        ("day/month/year", "3.4.2026 18:00", "2026-04-03 18:00"),
        ("day/month/year", "3-4-2026, 6pm", "2026-04-03 6pm"),
        ("month/day/year", "03/04/2026", "2026-03-04"),
        ("year-month-day", "2026/3/4", "2026-03-04"),
        ("day/month/year", "31 Dec 2026", "31 Dec 2026"),
        ("day/month/year", "+30d", "+30d"),
        ("", "03/04/2026", "03/04/2026"),
        *[(order, "", "") for order in DATE_ORDERS],
        *[(order, text, None) for order, text in (
            ("day/month/year", "12/31/2026"), ("month/day/year", "31/12/2026"),
            ("day/month/year", "31/12/26"), ("day/month/year", "2026-12-31"),
            ("year-month-day", "31/12/2026"), ("year-month-day", "2026-31-12"),
            ("month/day/year", "1/0/2026"), ("day/month/year", "1/123/2026"),
        )],
    ],
)  # fmt: skip
def test_dates_have_the_stated_order(order: str, text: str, read: str | None) -> None:
    if read is not None:
        assert read_date(text, order) == read
    else:
        with pytest.raises(ValueError, match=f"order {order}"):
            read_date(text, order)


@pytest.mark.parametrize(
    ("how", "text", "read"),
    [
        ("as written", "04:a2", "04:a2"),
        ("hex", "04:a2:3b:1c", "04A23B1C"),
        ("hex", "0x04A2 3B1C", "04A23B1C"),
        ("hex", "0012", "0012"),
        ("lower-case hex", "04\u2011A2", "04a2"),
        ("decimal", "123-00457", "12300457"),
        ("decimal", "00 12", "0012"),
        ("hex", "4:A2:3B", "different lengths"),
        ("hex", "0x", "not a hex number"),
        ("hex", "G1", "not a hex number"),
        ("hex", "\u0661", "not a hex number"),
        ("hex", "12E-45", "A spreadsheet has shortened"),
        ("decimal", "04A2", "not a decimal number"),
        ("decimal", "1.5", "not a decimal number"),
        ("decimal", "12,345", "not a decimal number"),
        ("decimal", "1.2E+11", "A spreadsheet has shortened"),
        ("decimal", "-", "not a decimal number"),
        ("decimal", "", ""),
    ],
)
def test_numbers_keep_their_digits(how: str, text: str, read: str) -> None:
    if " " in read:
        with pytest.raises(ValueError, match=read):
            read_number(text, how)
    else:
        assert read_number(text, how) == read


def test_every_wrong_cell_is_reported_by_line_and_column_of_the_file() -> None:
    table = HEAD + "A;B;xyz;1/12/2026;12/31/2026;;maybe;31/2\n\nC;D;AB;;;;12/31/2026;no\nE;F;AC;;\n"
    found, wrong = rows(table, WIDE)
    assert found == []
    order = "The date does not exist in the order day/month/year."
    assert wrong == [
        "line 5: Part of the line is missing: it has 5 of 8 cells.",
        "line 2, column Card no, “xyz”: “xyz” is not a hex number. Only 0 to 9, A to F, spaces,"
        " hyphens and colons are valid.",
        f"line 2, column Valid to, “12/31/2026”: {order}",
        "line 2, column Main entrance, “maybe”: Write yes, x, 1 or a date, or leave the cell"
        " empty.",
        f"line 4, column Main entrance, “12/31/2026”: {order}",
    ]
    table = HEAD + "Ann;Lee;AB;;31/02/2027;;x;\nBen;Ray;AC;1/1/2027;2/1/2027;;31/12/2026;\n"
    steps, wrong = planned(table, WIDE, {"id": 1, "remoteName": "Ann Lee"})
    assert steps == []
    assert wrong == [
        "line 2, column Valid to, “31/02/2027”: Feb 2027 has no day 31.",
        "line 3, column Main entrance, “31/12/2026”: The end must be after the start.",
    ]


def test_a_value_fills_empty_cells_and_missing_columns() -> None:
    table_map = TableMap(
        {"n": "remoteNumber", "t": "remoteType"},
        values={"lockId": "5", "remoteType": "permanent", "remoteName": "Crew"},
    )
    assert cells("n,t\n1,recurring\n2, \n", table_map) == [
        {"remoteNumber": "1", "remoteType": "recurring", "lockId": "5", "remoteName": "Crew"},
        {"remoteNumber": "2", "remoteType": "permanent", "lockId": "5", "remoteName": "Crew"},
    ]
    table_map = TableMap({"n": "remoteNumber", "d": "lockId"})
    read = read_foreign(b"n,d\n1,\n2,7\n", table_map, {}, 1003)
    assert [row.cells["lockId"] for row in read.rows] == ["1003", "7"]
    assert read.without_lock == {2}
    table_map = TableMap({"f": "first name", "n": "remoteNumber", "e": "endDate"}, {"d": "1"})
    (row,) = cells("f,n,e,d\n'=A,'-1,'+30d,x\n", table_map)
    without = {"remoteName": "=A", "remoteNumber": "-1", "endDate": "+30d", "lockId": "1"}
    assert row == without, "quotes before formulas are removed"


FILLING = TableMap(
    {"n": "remoteNumber", "who": "remoteName", "e": "endDate"},
    values={"lockId": "1001", "remoteType": "by end", "startDate": "now", "weekDay": "Mon"},
)
UPCOMING = {
    "id": 1, "remoteName": "Ann", "remoteNumber": "A1", "remoteType": 2, "isCoerced": 0,
    "startDate": NOW + 7 * DAY_MS, "endDate": 1_798_757_999_000, "weekDay": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("present", "line", "step"),
    [
        (UPCOMING, "A1,Ann,2026-12-31 23:59:59", ("keep", {})),
        (UPCOMING, "A1,Ann,2027-01-01 00:00", ("update", {"endDate": 1_798_758_000_000})),
        (UPCOMING, "A2,Ben,2027-01-01 00:00", ("add", {"startDate": NOW})),
        (
            {**UPCOMING, "remoteType": 1, "startDate": 0, "endDate": 0},
            "A1,Ann,2027-01-01 00:00",
            ("update", {"startDate": NOW, "endDate": 1_798_758_000_000}),
        ),
        ({**UPCOMING, "remoteType": 1, "startDate": 0, "endDate": 0}, "A1,Ann,", ("keep", {})),
        (UPCOMING, "A2,Ben,", ("add", {"remoteType": 1, "startDate": 0})),
    ],
)
def test_a_value_never_replaces_what_a_remote_has(
    present: dict[str, Any], line: str, step: tuple[str, dict[str, int]]
) -> None:
    (one,), wrong = planned(f"n,who,e\n{line}\n", FILLING, present)
    assert wrong == []
    assert one.action.value == step[0]
    assert dict(one.wanted).items() >= step[1].items()
    assert bool(one.wanted) == bool(step[1])
    if one.action.value == "update":
        assert ("startDate" in one.wanted) == ("startDate" in step[1])


def test_a_relative_end_for_all_rows_does_not_extend_a_remote_again() -> None:
    values = {"remoteType": "time-limited", "endDate": "+1y", "startDate": "now"}
    table_map = TableMap({"n": "remoteNumber"}, {"Gate": "1001"}, values | {"remoteName": "Crew"})
    for cell, action in (("x", "keep"), ("2027-01-01", "update")):
        (step,), wrong = planned(f"n,Gate\nA1,{cell}\n", table_map, UPCOMING)
        assert wrong == []
        assert (step.action.value, "startDate" in step.wanted) == (action, False)


# --- the mapping file ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[columns]\n"Card no" = "numbr"\n', "line 2, column Card no, “numbr”: Unknown"),
        ('[columns]\nCard no = "number"\n', "line 2: The line is not valid TOML from column 6"),
        ('[columns]\n"Card no" = "number', "The file is not valid TOML."),
        ("[columns]\nNumber = true\n", "line 2, column Number, “True”: Write the value in"),
        ("columns = 1\n", "line 1, column columns, “”: Write a section: [columns]"),
        ("[column]\n", "line 1, column column, “”: Unknown section. Sections: [columns],"),
        ('[format]\ndates = "d.m.y"\n', "line 2, column dates, “d.m.y”: Write “day/month/year”"),
        ('[format]\nnumbers = "octal"\n', "line 2, column numbers, “octal”: Write “as written”"),
        ('[format]\ndate = "x"\n', "line 2, column date, “x”: Unknown key. Keys: dates, numbers."),
        ('[values]\ntype = "guest"\n', "line 2, column type, “guest”: “guest” is not a valid"),
        ('[values]\nend = "1/2/2027"\n', "line 2, column end, “1/2/2027”: Day, month and year"),
        ('[values]\nignore = "x"\n', "line 2, column ignore, “x”: Unknown name."),
        ('[values]\nend = "+1y"\nendDate = "+1y"\n', "line 3, column endDate, “+1y”: Two keys"),
        ('[columns]\n"a  b" = "name"\n"a b" = "number"\n', "line 3, column a b, “number”:"),
        ("\xff", "line 1: Not UTF-8. Save the file as UTF-8."),
    ],
)  # fmt: skip
def test_mapping_file_is_refused_with_its_line(text: str, words: str) -> None:
    with pytest.raises(TableFileError) as refused:
        parse_map(text.encode("latin-1" if text == "\xff" else "utf-8"))
    assert str(refused.value.problems[0]).startswith(words)


names = st.text().map(column_key)
maps = st.builds(
    TableMap,
    st.dictionaries(names, st.sampled_from([*MEANINGS])),
    st.dictionaries(names, st.text().map(str.strip)),
    st.fixed_dictionaries({}, optional={
        "remoteType": st.sampled_from(["by end", "permanent"]),
        "endDate": st.just("+1y"),
    }),
    st.sampled_from(["", *DATE_ORDERS]),
    st.sampled_from(NUMBER_FORMATS),
)  # fmt: skip


@given(maps)
def test_a_written_mapping_is_read_back(table_map: TableMap) -> None:
    text = format_map(table_map)
    assert parse_map(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode())
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert parse_map(text.encode()) == table_map


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode), maps)
def test_nothing_but_a_refusal_comes_of_whatever_bytes(data: bytes, table_map: TableMap) -> None:
    read_header(data)
    for read in (parse_map, lambda data: read_foreign(data, table_map, {}, 1)):
        try:
            read(data)
        except TableFileError as error:
            assert error.problems


def test_the_header_has_a_sample_of_each_column() -> None:
    header = read_header(b"Name;Card  no;;Note;\nAnna;;x;\n;'=1;y;\n")
    assert header.columns == ["Name", "Card no", "", "Note", ""]
    assert header.samples == {"Name": "Anna", "": "x", "Card no": "=1"}
    assert (header.to_map, header.is_foreign) == (["Name", "Card no", "", "Note"], True)
    assert suggest_map(header.to_map) == TableMap({"Name": "remoteName"})
    own = read_header(b"lockId,Number,,\n1,2,,\n")
    assert (own.to_map, own.is_foreign) == (["lockId", "Number"], False)
    assert read_header(b'{"a": 1}') is None
    assert set(NAMES) <= MEANINGS.keys(), "every column of a table file is a meaning"
    assert all(meaning_named(text) == name for name, text in MEANINGS.items())


# --- the same plan -------------------------------------------------------------------------------


def renamed(data: bytes, random: Random) -> tuple[bytes, TableMap]:
    """Return a table with other names of its columns in another order, and its mapping."""
    table = [*csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))]
    order = random.sample(range(len(table[0])), len(table[0]))
    extra = [f"{random.choice('王Ü=[#')} {place}" for place in order]
    columns = {extra[at]: meaning_named(table[0][place]) or "" for at, place in enumerate(order)}
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*extra, "Note"])
    writer.writerows([[*(row[place] for place in order), "x"] for row in table[1:]])
    return text.getvalue().encode(), TableMap({**columns, "Note": "ignore"})


@given(
    st.lists(sound(), max_size=4, unique_by=lambda one: one.id),
    st.lists(sound(), max_size=4, unique_by=lambda one: one.id),
    st.randoms(use_true_random=False),
)
def test_renamed_and_reordered_columns_give_the_same_plan(
    there: Sequence[Remote], wanted: Sequence[Remote], random: Random
) -> None:
    own = remotes_as_csv([ReadLock(Lock(LOCK), BERLIN, wanted)])
    foreign, table_map = renamed(own, random)
    found = []
    for table in (read_table(own), read_foreign(foreign, table_map, {})):
        plan = LockPlan(LOCK, there, BERLIN, NOW)
        problems = check_rows(table.rows)
        steps = [] if problems else plan.take(table.rows, prune=False)
        found.append((steps, [(one.line, one.reason) for one in (*problems, *plan.problems)]))
    assert found[0] == found[1]
