"""What the rows of a table mean for the remotes of a lock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lockterm.domain.locks import Lock
from lockterm.domain.plan import Action, Step
from lockterm.domain.remotes import FIELDS, Remote
from lockterm.domain.rules import is_same
from lockterm.domain.table_file import read_table
from lockterm.domain.table_plan import LockPlan, check_rows
from lockterm.operations.export import remotes_as_csv, remotes_as_json
from lockterm.operations.planner import ReadLock
from tests.domain.test_rules import NOW, sound, wild

BERLIN = ZoneInfo("Europe/Berlin")
LOCK = 1001
START, END = 1_796_079_600_000, 1_798_758_000_000
"""2026-12-01 and 2027-01-01, 00:00 in Berlin."""

ANNA: dict[str, Any] = {
    "id": 1, "lockId": LOCK, "remoteName": "Anna", "remoteNumber": "0012", "remoteType": 1,
    "addType": 1, "startDate": 0, "endDate": 0, "weekDay": [], "isCoerced": 0, "extraData": {},
}  # fmt: skip
BEN = ANNA | {
    "id": 2, "remoteName": "Ben", "remoteNumber": "B-2", "remoteType": 2,
    "startDate": START, "endDate": END,
}  # fmt: skip


def planned(
    table: str | bytes,
    remotes: Sequence[dict[str, Any] | Remote] = (ANNA, BEN),
    prune: bool = False,
) -> tuple[list[Step], list[str]]:
    """The steps, and what is wrong."""
    data = table if isinstance(table, bytes) else table.encode()
    rows = read_table(data).rows
    problems = check_rows(rows)
    if problems:
        return [], [*map(str, problems)]
    there = [one if isinstance(one, Remote) else Remote.read(one) for one in remotes]
    plan = LockPlan(LOCK, there, BERLIN, NOW)
    return plan.take(rows, prune=prune), [*map(str, plan.problems)]


def actions(steps: Sequence[Step]) -> list[tuple[str, int | None, dict[str, Any]]]:
    return [(step.action.value, step.remote_id, dict(step.wanted)) for step in steps]


@given(st.lists(wild | sound(), max_size=4))
def test_plan_of_an_export_changes_nothing(found: list[Remote]) -> None:
    remotes = [
        Remote.read({**one.raw, "id": place, "lockId": LOCK})
        if one.raw
        else Remote.read(
            {name: field.of(one) for name, field in Remote.fields().items() if field.of(one)}
            | {"id": place, "weekDay": list(one.week_day or ())}
        )
        for place, one in enumerate(found, 1)
    ]
    read = [ReadLock(Lock(LOCK), BERLIN, remotes)]
    for data in (remotes_as_csv(read), remotes_as_json(read, "https://locks.example", NOW)):
        if remotes:
            steps, wrong = planned(data, remotes, prune=True)
            assert wrong == []
            assert [step.action for step in steps] == [Action.KEEP] * len(remotes)


@given(sound(), sound())
def test_an_edited_export_wants_just_what_was_edited(one: Remote, other: Remote) -> None:
    def raw(remote: Remote) -> dict[str, Any]:
        told = {name: field.of(remote) for name, field in Remote.fields().items()}
        week_day = list(remote.week_day or ()) if remote.remote_type == 4 else []
        times = {} if remote.remote_type != 1 else {"startDate": 0, "endDate": 0}
        own = {"id": 1, "lockId": LOCK, "weekDay": week_day, "isCoerced": remote.is_coerced or 0}
        own["extraData"] = remote.extra_data or {}
        return {name: value for name, value in told.items() if value is not None} | own | times

    before, after = (
        raw(one),
        raw(other) | {"remoteNumber": one.remote_number, "addType": one.add_type},
    )
    for name in ("startDate", "endDate"):  # what has no date cannot be written as one
        before[name] = before[name] % 10**14 and before[name] % 10**14 + 10**11
        after[name] = after[name] % 10**14 and after[name] % 10**14 + 10**11
    if min(before["endDate"] - before["startDate"], after["endDate"] - after["startDate"]) < 0:
        return
    if after["remoteType"] != 1 and after["startDate"] == after["endDate"]:
        return
    for data in (
        remotes_as_csv([ReadLock(Lock(LOCK), BERLIN, [Remote.read(after)])]),
        remotes_as_json([ReadLock(Lock(LOCK), BERLIN, [Remote.read(after)])], "", NOW),
    ):
        (step,), wrong = planned(data, [before])
        assert wrong == []
        reached = before | step.wanted
        for name in ("extraData", "remoteName", "remoteType", "startDate", "endDate", "isCoerced"):
            assert is_same(FIELDS[name], reached[name], after[name]), name
        assert sorted(reached["weekDay"]) == sorted(after["weekDay"])


def test_rows_match_by_id_then_number_then_name() -> None:
    steps, wrong = planned(
        "remoteName,remoteNumber,remoteId,lockId,endDate\n"
        "Ben,,,1001,31.12.2026 18:00\n"
        "Anna W.,0012,,1001,\n"
    )
    assert wrong == []
    assert actions(steps) == [
        ("update", 2, {"endDate": 1_798_736_400_000}),
        ("update", 1, {"remoteName": "Anna W."}),
    ]
    steps, _ = planned("id,lockId,Name\n2,1001,Benno\n")
    assert actions(steps) == [("update", 2, {"remoteName": "Benno"})]
    table = "lockId,remoteNumber\n1001,B-2\n"
    assert actions(planned(table)[0]) == [("keep", 2, {})]
    steps, _ = planned(table, prune=True)
    assert actions(steps) == [("delete", 1, {}), ("keep", 2, {})], "what no row is about"
    assert (steps[0].before, steps[0].line) == (ANNA, None)


def test_actions_are_done_as_written_and_the_rest_is_added() -> None:
    steps, wrong = planned(
        "lockId,action,remoteNumber,remoteName,remoteType,startDate,endDate,weekDay\n"
        '1001,,C-3,Carl,recurring,2026-12-01 09:00,2026-12-31,"1,3,5"\n'
        "1001,delete,0012,,,,,\n"
        "1001,keep,B-2,,,,,\n"
        "1001,delete,X-9,gone,,,,\n",
        prune=True,
    )
    assert wrong == []
    carl = {"remoteName": "Carl", "remoteNumber": "C-3", "remoteType": 4, "addType": 1}
    carl |= {"startDate": 1_796_112_000_000, "endDate": 1_798_757_940_000}
    assert actions(steps) == [
        ("delete", 1, {}),
        ("add", None, {**carl, "weekDay": [1, 3, 5], "isCoerced": 0}),
        ("keep", 2, {}),
        ("keep", None, {}),
    ]
    assert [step.line for step in steps] == [3, 2, 4, 5]
    same = "lockId,action,remoteNumber,remoteName,remoteType\n1001,add,0012,Anna,permanent\n"
    assert actions(planned(same)[0]) == [("keep", 1, {})]


FIRST = "line 2, column "


@pytest.mark.parametrize(
    ("columns", "row", "words"),
    [
        ("remoteNumber", "12", "remoteNumber, “12”: The lock has 0012."),
        ("remoteId,remoteNumber", "1,12", "remoteNumber, “12”: The lock has 0012."),
        ("remoteNumber", "1.2E+11", "remoteNumber, “1.2E+11”: A spreadsheet has shortened a"),
        ("remoteId", '"1,2E+11"', "remoteId, “1,2E+11”: A spreadsheet has shortened a long"),
        ("remoteId", "x", "remoteId, “x”: The ID must be a whole number, such as 1001."),
        ("remoteId", "7", "remoteId, “7”: Lock 1001 has no remote with this ID."),
        ("remoteId,action", "1,add", "remoteId, “1”: The service assigns the IDs of new"),
        ("remoteNumber,action", "Z,update", "action, “update”: Lock 1001 has no such remote."),
        ("remoteNumber,action", "B-2,voice", "action, “voice”: The action must be add, update,"),
        ("remoteNumber,action", "B-2,ADDED", "action, “ADDED”: The action must be add, update,"),
        ("remoteNumber", '" "', "remoteNumber, “”: The row does not identify a remote."),
        ("remoteId,remoteNumber", "2,B-9",
         "remoteNumber, “B-9”: This field cannot be changed. Its value is B-2."),
        ("remoteId,addType", "2,gateway",
         "addType, “gateway”: This field cannot be changed. Its value is bluetooth."),
        ("remoteId,remoteName", "2,Anna", "remoteName, “Anna”: The name is taken by remote 1."),
        ("remoteId,remoteName", "2,", "remoteName, “”: A name is required."),
        ("remoteId,remoteName,action", "2,Anna,delete",
         "remoteName, “Anna”: Remote 2 is now named Ben (B-2)."),
        ("remoteId,endDate", "2,12/31/26", "endDate, “12/31/26”: Day, month and year are"),
        ("remoteId,endDate", "2,1/12/2026", "endDate, “1/12/2026”: Day, month and year are"),
        ("remoteId,endDate", "1,+1mo", "endDate, “+1mo”: This field does not apply to a"),
        ("remoteId,endDate", "2,+1m", "endDate, “+1m”: m is ambiguous."),
        ("remoteId,endDate", "2,31.12.26", "endDate, “31.12.26”: Day, month and year are"),
        ("remoteId,endDate", "2,46387", "endDate, “46387”: The number is not a time in"),
        ("remoteId,endDate", "2,12345678901234567890", "endDate, “12345678901234567890”: The"),
        ("remoteId,endDate", "2,30.02.2027", "endDate, “30.02.2027”: Feb 2027 has no day 30."),
        ("remoteId,endDate", "2,2026-11-30", "endDate, “2026-11-30”: The end must be after the"),
        ("remoteId,endDate", "2,", "endDate, “”: An end date is required, because the remote"),
        ("remoteId,startDate", "2,2026-10-25 02:30",
         "startDate, “2026-10-25 02:30”: That time occurs twice when the clocks go back. Write"
         " “2026-10-25 02:30 +02:00” or “2026-10-25 02:30 +01:00”."),
        ("remoteId,endDate", "1,2026-12-31", "endDate, “2026-12-31”: This field does not apply"),
        ("remoteId,weekDay", "2,mon", "weekDay, “mon”: This field does not apply to a"),
        ("remoteId,weekDay", "2,1.3", "weekDay, “1.3”: “1.3” is not a weekday."),
        ("remoteId,remoteType,weekDay", "2,4,127", "weekDay, “127”: “127” is ambiguous."),
        ("remoteId,remoteType", "2,3", "remoteType, “3”: “3” is not a valid type."),
        ("remoteId,isCoerced", "2,TRUE", "isCoerced, “TRUE”: “TRUE” is not a valid coerced"),
        ("remoteId,extraData", "2,[1]", "extraData, “[1]”: This field requires a JSON object:"),
        ("remoteNumber,remoteName", "Z,Z",
         "remoteType, “”: A new remote needs a type. Write permanent, time-limited or recurring"),
    ],
)  # fmt: skip
def test_row_problems_name_their_cell(columns: str, row: str, words: str) -> None:
    _, wrong = planned(f"lockId,{columns}\n1001,{row}\n")
    assert any(problem.startswith(FIRST + words) for problem in wrong), wrong


TABLE = "lockId,action,remoteNumber,remoteName,remoteType\n"


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        (
            "lockId,remoteId,endDate,weekDay\n1001,2,x,y\n1001,9,,\n",
            [
                "line 2, column endDate, “x”: Invalid date.",
                "line 2, column weekDay, “y”: “y” is not a weekday.",
                "line 3, column remoteId, “9”: Lock 1001 has no remote with this ID.",
            ],
        ),
        (
            "lockId,remoteId,remoteNumber\n1001,1,\n1001,,0012\n",
            ["line 3, column remoteName, “”: Duplicate of line 2."],
        ),
        (
            "lockId,Number,Name,Type\n1001,Z,New,1\n1001,Z,Newer,1\n",
            ["line 3, column remoteNumber, “Z”: Duplicate of line 2."],
        ),
        (
            f"{TABLE}1001,,B-2,Carl,permanent\n1001,delete,B-2,,\n",
            ["line 2, column remoteName, “Carl”: Duplicate of line 3."],
        ),
        (
            f"{TABLE}1001,add,0012,Other,permanent\n",
            ["line 2, column remoteNumber, “0012”: The lock already has this remote, as remote 1."],
        ),
    ],
)
def test_every_wrong_cell_and_every_duplicate_is_reported(table: str, wrong: list[str]) -> None:
    found = planned(table)[1]
    assert len(found) == len(wrong)
    assert all(one.startswith(words) for one, words in zip(found, wrong, strict=True)), found


def test_a_row_is_refused_when_it_is_ambiguous_or_would_overwrite_unreadable_weekdays() -> None:
    unreadable = BEN | {"remoteType": 4, "weekDay": "?"}
    steps, wrong = planned("lockId,remoteId,endDate\n1001,2,2027-02-01\n", [unreadable])
    assert steps == []
    assert [problem.split(",")[1] for problem in wrong] == [" column weekDay"]
    _, wrong = planned("lockId,remoteName\n1001,Anna\n", [ANNA, ANNA | {"id": 3}])
    assert wrong == [
        "line 2, column remoteName, “Anna”: Several remotes match: 1 Anna (0012), 3 Anna"
        " (0012). Choose one with remoteId."
    ]


def test_unknown_json_names_are_reported_unless_the_service_sent_them() -> None:
    told = ANNA | {"color": "red"}
    read = ReadLock(Lock(LOCK), BERLIN, [Remote.read(told)])
    data = remotes_as_json([read], "", NOW)
    assert planned(data, [told])[1] == []
    assert planned(data, [ANNA])[1] == ["line 8, column color, “”: Unknown field."]
    odd = remotes_as_json([replace(read, remotes=[Remote.read(ANNA | {"weekDay": 3})])], "", NOW)
    assert planned(odd)[1] == [
        "line 8, column weekDay, “3”: This field requires a list of numbers from 1"
        " (Monday) to 7 (Sunday)."
    ]


@pytest.mark.parametrize("text", ["=1+1", "'=1+1", "''=x", "-5", "a;=b", "@x", "+4930"])
def test_a_name_like_a_formula_is_added_as_it_is(text: str) -> None:
    read = ReadLock(Lock(LOCK), BERLIN, [Remote.read(ANNA | {"remoteName": text})])
    (step,), wrong = planned(remotes_as_csv([read]).replace(b"1001,1,", b"1001,,"), [])
    assert wrong == []
    assert (step.action, step.wanted["remoteName"]) == (Action.ADD, text)


ZOE = ANNA | {"id": 3, "remoteName": "Zoe\u0308 Kra\u0308mer", "remoteNumber": "Z-1"}
"""Decomposed, as another system wrote it."""


def test_a_row_finds_its_remote_when_the_name_is_encoded_otherwise() -> None:
    for row, action in (("delete,", "delete"), (",Z-1", "keep")):  # by name, by number
        table = f"lockId,action,remoteNumber,remoteName\n1001,{row},Zo\u00eb Kr\u00e4mer\n"
        steps, wrong = planned(table, [ZOE])
        assert (actions(steps), wrong) == ([(action, 3, {})], [])
    (step,), _ = planned(f"{TABLE}1001,,N-1,Jose\u0301,permanent\n", [])
    assert step.wanted["remoteName"] == "Jos\u00e9", "sent in normal form C"


@pytest.mark.parametrize("action", ["delete", "update", "keep", ""])
@pytest.mark.parametrize("name", ["Zoe Kramer", "ZOË KRÄMER", "Zoë  Krämer", "Zoë-Krämer"])
def test_a_near_name_is_a_problem_when_no_remote_has_the_name(action: str, name: str) -> None:
    steps, wrong = planned(f"lockId,action,remoteName\n1001,{action},{name}\n", [ANNA, ZOE])
    assert steps == []
    assert len(wrong) == 1
    assert "a similar one exists: 3 " in wrong[0]


def test_a_near_number_is_a_problem_and_a_near_name_a_note_of_an_added_remote() -> None:
    for number in ("b-2", "B\u20112", "B 2"):
        steps, wrong = planned(f"{TABLE}1001,,{number},Night crew,permanent\n")
        assert steps == []
        assert "a similar one exists: 2 Ben (B-2)." in wrong[0]
    (step,), wrong = planned(f"{TABLE}1001,,N-9,anna,permanent\n")
    assert wrong == []
    assert "The lock has a similar name: “Anna”." in step.note


@pytest.mark.parametrize(
    ("rows", "prune", "planned_steps"),
    [
        (["add,H-2,Ben,permanent", "delete,B-2,,"], False, "delete Ben, add Ben"),
        (["add,B-2,Carl,permanent", "delete,B-2,,"], False, "delete Ben, add Carl"),
        ([",H-2,Ben,permanent", ",0012,Anna,permanent"], True, "delete Ben, add Ben, keep Anna"),
        ([",N-1,Anna,permanent", ",0012,Anna W.,permanent"], False, "update Anna W., add Anna"),
    ],
    ids=["name of a deleted one", "number of a deleted one", "pruned", "renamed"],
)
def test_a_name_or_number_is_free_when_its_remote_goes_first(
    rows: list[str], prune: bool, planned_steps: str
) -> None:
    steps, wrong = planned(TABLE + "".join(f"1001,{row}\n" for row in rows), prune=prune)
    assert wrong == []
    names = [step.wanted.get("remoteName", step.remote_name) for step in steps]
    told = [f"{step.action.value} {name}" for step, name in zip(steps, names, strict=True)]
    assert ", ".join(told) == planned_steps


def test_a_name_of_another_fob_is_a_problem_when_that_fob_stays() -> None:
    for action in ("", "add", "update"):
        steps, wrong = planned(f"{TABLE}1001,{action},H-2,Ben,permanent\n")
        assert steps == []
        assert wrong == [
            "line 2, column remoteName, “Ben”: Remote 2 has this name and the number B-2, so"
            " the fob of this row will not open the lock. To replace B-2, add a row with the"
            " action delete for it."
        ]


@given(st.permutations("ABCDEFG"), st.permutations("ABCDEFGH"))
@example("ABCDEFG", "BACDEFGH")
def test_renames_never_meet_a_taken_name_and_end_as_the_file_says(
    names: Sequence[str], wanted: Sequence[str]
) -> None:
    there = [ANNA | {"id": place, "remoteName": one} for place, one in enumerate(names, 1)]
    rows = "".join(f"1001,{place},{one}\n" for place, one in enumerate(wanted[:7], 1))
    steps, wrong = planned(f"lockId,remoteId,remoteName\n{rows}", there)
    assert wrong == []
    now = dict(enumerate(names, 1))
    for step in steps:
        if step.action is Action.UPDATE:
            assert step.before["remoteName"] == now[step.remote_id]
            assert step.wanted["remoteName"] not in now.values()
            now[step.remote_id] = step.wanted["remoteName"]
            is_temporary = step.wanted["remoteName"] not in wanted
            assert is_temporary == step.wanted["remoteName"].endswith(" (temporary)")
            assert is_temporary == ("The new names form a circle" in step.note)
    assert [*now.values()] == [*wanted[:7]]
