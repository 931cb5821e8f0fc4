"""``lockterm history`` and ``changes``: what this machine sent, and what others changed."""

from __future__ import annotations

import unicodedata
from contextlib import closing
from dataclasses import fields, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from lockterm.domain.locks import Lock
from lockterm.domain.operation import Operation, OperationState
from lockterm.store.database import Database
from lockterm.store.journal import Journal
from tests.cli.conftest import HOSTILE, Scripts, assert_harmless, parse_csv
from tests.samples import an_operation

# --- history -------------------------------------------------------------------------------------


BERLIN = ZoneInfo("Europe/Berlin")


def ms(*at: int) -> int:
    """Return a time in Berlin, in milliseconds."""
    return int(datetime(*at, tzinfo=BERLIN).timestamp() * 1000)  # type: ignore[misc,arg-type]


def operation(number: int, call: str, prepared_ms: int, **changes: object) -> Operation:
    usual = {"profile": "site", "lock_id": 1004, "lock_name": "Roof hatch", "session": "gone"}
    made = {"id": f"{number:032x}", "prepared_ms": prepared_ms, "state": OperationState.PREPARED}
    return an_operation(call, **usual | made | changes)


ANNA = {"id": 7, "remoteName": "Anna", "remoteType": 2, "startDate": ms(2026, 1, 1)}
ADDED = operation(
    1,
    "add",
    ms(2026, 11, 1, 9),
    body={**ANNA, "endDate": ms(2026, 12, 31, 18), "remoteNumber": "A-1"},
)
CHANGED = operation(
    2,
    "update",
    ms(2026, 11, 2, 0, 0),
    body={"endDate": ms(2027, 6, 30, 18), "remoteName": "=HYPERLINK()"},
    before=({**ANNA, "endDate": ms(2026, 12, 31, 18)},),
)
VOICED = operation(
    3,
    "updateLockSetting",
    ms(2026, 11, 3, 12),
    lock_id=1001,
    lock_name="Main gate",
    remote_id=None,
    remote_name="",
    body={"currentVoiceTimbre": {"lang": "de-DE", "timbre": "anna"}},
)


def keep(scripts: Scripts, *operations: Operation) -> None:
    """Write confirmed operations into the journal."""
    with closing(Database(scripts.database)) as database:
        journal = Journal(database, "site")
        for one in operations:
            journal.prepare(one)
            journal.move(one.id, [OperationState.PREPARED], state=OperationState.CONFIRMED)


def rows(scripts: Scripts) -> list[dict[str, str]]:
    return parse_csv(scripts.run("history", "--csv").stdout)


def test_history_is_empty_when_nothing_was_sent(scripts: Scripts) -> None:
    assert scripts.run("history").stdout == "0 changes\n"
    assert scripts.json("history") == []
    assert rows(scripts) == []


def test_history_csv_has_words_and_local_times(scripts: Scripts) -> None:
    keep(scripts, ADDED, CHANGED, VOICED)
    details = (
        "Type: time-limited; Start: 1 Jan 2026 00:00 +01:00; End: 31 Dec 2026 18:00 +01:00",
        "Name: Anna -> =HYPERLINK(); End: 31 Dec 2026 18:00 +01:00 -> 30 Jun 2027 18:00 +02:00",
    )
    result = ("recorded by the service", "")
    assert [tuple(row.values()) for row in rows(scripts)] == [
        ("2026-11-01 09:00 +01:00", "add", "Roof hatch", "Anna", details[0], *result),
        ("2026-11-02 00:00 +01:00", "change", "Roof hatch", "Anna", details[1], *result),
        ("2026-11-03 12:00 +01:00", "voice", "Main gate", "", "de-DE anna", *result),
    ]
    assert [*rows(scripts)[0]] == ["When", "What", "Lock", "Remote", "Details", "Result", "Note"]
    lines = scripts.run("history").stdout.splitlines()
    assert lines[0].split() == ["When", "What", "Lock", "Result", "Note"]
    assert [line.split()[3] for line in lines[1:4]] == ["add", "change", "set"]
    assert lines[4] == "3 changes"
    assert not scripts.service.requests


def test_history_json_has_the_whole_journal(scripts: Scripts) -> None:
    keep(scripts, ADDED, CHANGED)
    told = scripts.json("history")
    assert {field.name for field in fields(Operation)} <= told[0].keys()
    assert [one["id"] for one in told] == [ADDED.id, CHANGED.id]
    assert told[1]["before"] == [dict(CHANGED.before[0])]
    assert told[1]["body"] == CHANGED.body


def test_history_filters_by_lock_and_day(scripts: Scripts) -> None:
    keep(scripts, ADDED, CHANGED, VOICED)
    for arguments, found in (
        (["--lock", "1004"], [ADDED, CHANGED]),
        (["--lock", "1001"], [VOICED]),
        (["--since", "2026-11-02"], [CHANGED, VOICED]),
        (["--since", "2 Nov 2026 00:01"], [VOICED]),
        (["--since", "2026-11-02", "--lock", "1004"], [CHANGED]),
        (["--today"], []),
        (["--day", "2026-11-02"], [CHANGED]),
        (["--day", "2 Nov 2026 00:01", "--lock", "1004"], [CHANGED]),
        (["--day", "2026-11-04"], []),
    ):
        ids = [one["id"] for one in scripts.json("history", *arguments)]
        assert ids == [one.id for one in found], arguments
    for wrong in (
        ["--since", "1/12/2026"],
        ["--day", "1/12/2026"],
        ["--day", "2026-11-02", "--today"],
        ["--since", "2026-11-02", "--today"],
        ["--lock", "Nowhere"],
    ):
        scripts.refuse("history", *wrong)


def test_history_today_starts_in_the_zone_of_the_profile(scripts: Scripts) -> None:
    now = datetime.now(BERLIN)
    midnight = int(now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)
    yesterday = operation(1, "add", midnight - 1)
    keep(scripts, yesterday, replace(yesterday, id="b" * 32, prepared_ms=midnight))
    if datetime.now(BERLIN).date() == now.date():
        assert [one["id"] for one in scripts.json("history", "--today")] == ["b" * 32]


def test_history_cleans_hostile_text(scripts: Scripts) -> None:
    raw = {"remoteName": HOSTILE, "remoteType": 1}
    keep(
        scripts,
        replace(ADDED, lock_name=f"={HOSTILE}", remote_name=HOSTILE, message=HOSTILE),
        replace(CHANGED, remote_name=HOSTILE, body=raw),
        replace(VOICED, body={"currentVoiceTimbre": {"lang": HOSTILE}}),
    )
    shown = scripts.run("history")
    assert "Evil" in shown.stdout
    assert_harmless(shown.stdout)
    assert rows(scripts)[0]["Lock"].startswith("'=")
    assert "\x1b" not in rows(scripts)[1]["Details"]
    assert scripts.json("history")[0]["remote_name"] == HOSTILE


# --- changes -------------------------------------------------------------------------------------


def test_changes_prints_what_others_changed_and_asks_only_with_read(scripts: Scripts) -> None:
    scripts.keep([Lock(1004, name="Roof hatch"), Lock(1003, name="Server room")])
    assert scripts.json("changes", "--read") == {"changes": []}
    scripts.have(1004, remoteName=HOSTILE, remoteNumber="=1+1")
    own = scripts.json(
        *("remotes", "add", "1004", "--name", "Own", "--number", "O-1", "--type", "permanent")
    )
    scripts.service.requests.clear()
    assert scripts.json("changes") == {"changes": []}
    assert not scripts.service.requests
    (one,) = scripts.json("changes", "--read")["changes"]
    assert one["name"] == HOSTILE and one["what"] == "new" and not one["seen"]
    assert one["lock"] == {"lockId": 1004, "name": "Roof hatch"}
    assert one["since"] <= one["until"] and one["remoteId"] != own["remoteId"]
    assert one["before"] == {} and one["after"]["remoteNumber"] == "=1+1"

    assert len(scripts.json("changes", "--since", "7d", "--lock", "1004")["changes"]) == 1
    assert scripts.json("changes", "--lock", "Server room") == {"changes": []}
    assert scripts.json("changes", "--since", "2999-01-01") == {"changes": []}
    wrong = scripts.run("changes", "--since", "soon")
    assert wrong.returncode == 2 and "--since" in wrong.stderr

    table = scripts.run("changes")
    assert table.returncode == 0
    assert table.stdout.startswith("After ") and table.stdout.endswith("1 change by others\n")
    assert not [
        sign for sign in table.stdout if sign != "\n" and unicodedata.category(sign) == "Cc"
    ]
    (row,) = parse_csv(scripts.run("changes", "--csv").stdout)
    assert row["what"] == "new" and row["lockName"] == "Roof hatch"
    assert not row["remoteName"].startswith("=") and row["changed"] == "Number =1+1"


def test_changes_says_that_nothing_is_kept_without_a_cache(scripts: Scripts) -> None:
    scripts.keep([Lock(1004)])
    result = scripts.run("changes", "--no-cache")
    assert result.returncode == 0 and "keeps no lists" in result.stderr
    assert result.stdout == "0 changes by others\n"
