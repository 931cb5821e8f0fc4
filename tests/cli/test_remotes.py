"""``lockterm remotes``: output, requests, and refusals before a request."""

from __future__ import annotations

import json
import re
import shlex

import pytest
from rich.cells import cell_len

from lockterm.domain.locks import Lock
from lockterm.domain.operation import OperationState
from tests.cli.conftest import HOSTILE, Scripts, assert_harmless, parse_csv

CJK = "王小明 清洁组"


PERIOD = {"remoteType": 2, "startDate": 1_796_079_600_000, "endDate": 3_802_608_000_000}
"""From 2026-12-01 00:00 to 2090-07-01 18:00 in Berlin."""


def test_list_prints_a_table_and_json(scripts: Scripts) -> None:
    table = scripts.run("remotes", "list", "1001", "--page", "2", "--page-size", "5")
    lines = table.stdout.splitlines()
    assert (table.returncode, table.stderr) == (0, "")
    assert lines[0].split() == ["ID", "Name", "Number", "Type", "Valid", "State"]
    assert len(lines) == 7
    assert lines[-1] == "lock 1001: 137 remotes, page 2 of 28"

    page = scripts.json("remotes", "list", "1001", "--page", "2", "--page-size", "5")
    assert list(page) == [
        "lock", "pageNo", "pageSize", "pages", "total", "unreadable", "remotes",
    ]  # fmt: skip
    assert page["lock"] == {"lockId": 1001, "name": None}
    assert (page["pageNo"], page["pageSize"], page["pages"], page["total"]) == (2, 5, 28, 137)
    assert [str(one["id"]) for one in page["remotes"]] == [line.split()[0] for line in lines[1:6]]

    everything = scripts.json("remotes", "list", "1001", "--all")
    ids = [row["id"] for row in scripts.remotes(1001)]
    assert [one["id"] for one in everything["remotes"]] == ids
    assert (everything["pageNo"], everything["total"]) == (None, 137)
    assert everything["remotes"][5] == page["remotes"][0], "the service's record, as it came"


def test_list_aligns_columns_when_names_have_wide_characters(scripts: Scripts) -> None:
    for name in (CJK, "👩‍🚒 Fire", "Ann"):
        scripts.have(remoteName=name)
    lines = scripts.run("remotes", "list", "1004").stdout.splitlines()
    places = {cell_len(line[: line.index("permanent")]) for line in lines[1:4]}
    assert places == {cell_len(lines[0][: lines[0].index("Type")])}


def test_remotes_clean_hostile_names_when_they_are_printed(scripts: Scripts) -> None:
    remote_id = scripts.have()
    scripts.rename(remote_id, HOSTILE)
    for command in (["list", "1004"], ["show", "1004", str(remote_id)]):
        shown = scripts.run("remotes", *command)
        assert shown.returncode == 0 and "Evil" in shown.stdout
        assert_harmless(shown.stdout)
    raw = scripts.json("remotes", "show", "1004", str(remote_id))
    assert raw["remote"]["remoteName"] == HOSTILE, "raw for programs"
    cells = parse_csv(scripts.run("remotes", "list", "1004", "--csv").stdout)
    assert cells[0]["remoteNumber"].startswith("'=")
    gone = scripts.run("remotes", "delete", "1004", str(remote_id), "--yes")
    assert gone.returncode == 0
    assert_harmless(gone.stdout + gone.stderr)


@pytest.mark.long
def test_list_escapes_values_when_stdout_is_ascii(scripts: Scripts) -> None:
    scripts.have(remoteName="“Tor” … 3")
    env = {"PYTHONIOENCODING": "ascii"}
    assert r"\u201cTor\u201d \u2026 3" in scripts.run("remotes", "list", "1004", env=env).stdout
    refused = scripts.run("remotes", "list", "Nowhere…", env=env).stderr
    assert refused.startswith(r'lockterm: No lock named "Nowhere\u2026"'), refused


def test_list_csv_has_the_fields_of_the_contract_and_times_with_offsets(scripts: Scripts) -> None:
    remote_id = scripts.have(**PERIOD)
    scripts.have(remoteName="=1+1")
    first, second = parse_csv(scripts.run("remotes", "list", "1004", "--csv", "--all").stdout)
    assert (first["id"], first["lockId"], first["remoteName"]) == (str(remote_id), "1004", "Anna")
    assert first["start"] == "2026-12-01T00:00:00+01:00"
    assert first["end"] == "2090-07-01T18:00:00+02:00"
    assert second["remoteName"] == "'=1+1", "no formula for a spreadsheet"
    assert second["end"] == ""


# --- add and update ------------------------------------------------------------------------------


def test_add_shows_resolved_times_and_writes_the_journal(scripts: Scripts) -> None:
    scripts.keep([Lock(1004, name="Dach 屋顶", zone="America/New_York")])
    given = ("--name", CJK, "--number", "A-7", "--type", "recurring", "--start", "2026-12-01 09:00")
    more = ("--end", "+30d", "--days", "mon-fri", "--extra-data", '{"a": 1}', "--coerced", "no")
    told = scripts.run("remotes", "add", "dach 屋顶", *given, *more)
    assert (told.returncode, told.stderr) == (0, "")
    (row,) = scripts.remotes(1004)
    words = f"{CJK} (A-7) was added to Dach 屋顶 (lock 1004) as remote {row['id']}. Recorded by"
    assert told.stdout.startswith(words)
    assert "Start: Tue 1 Dec 2026 09:00 -05:00, 14:00 UTC" in told.stdout
    assert "End: Thu 31 Dec 2026 09:00 -05:00" in told.stdout
    assert "Times are in the time zone America/New_York." in told.stdout
    page = scripts.json("remotes", "show", "1004", str(row["id"]))["remote"]
    assert page["remoteName"] == CJK
    assert (page["startDate"], page["weekDay"]) == (1_796_133_600_000, [1, 2, 3, 4, 5])
    assert (page["isCoerced"], page["extraData"]) == (2, {"a": 1})
    (operation,) = scripts.history()
    assert (operation.call, operation.remote_id) == ("add", row["id"])
    assert operation.state is OperationState.CONFIRMED


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("--number=1 --type=permanent", ["--name: A name is required."]),
        ("--name=A --number=1", ["--type: Choose a type"]),
        (
            "--name=' ' --type=time-limited --end=1/2/2027 --user-number=x",
            [
                *("--name:", "--number:", "--end: Day and month are ambiguous"),
                "--user-number: Type a whole number",
            ],
        ),
        (
            "--name=A --number=1 --type=permanent --end=+1d",
            ["--end: This option does not apply to a permanent remote"],
        ),
        (
            "--name=A --number=1 --type=time-limited --end=+1d --days=mon",
            ["--days: This option does not apply to a time-limited remote"],
        ),
        (
            "--name=A --number=1 --type=time-limited --end='2090-10-29 02:30'",
            ["--end: That time occurs twice", "+02:00", "+01:00"],
        ),
        (
            "--name=A --number=1 --type=permanent --extra-data=[1]",
            ["--extra-data: This field requires a JSON object"],
        ),
        ("--name=A --type=sometimes", ["permanent", "--help"]),
    ],
)
def test_add_names_the_option_when_a_rule_is_broken(
    scripts: Scripts, given: str, words: list[str]
) -> None:
    said = scripts.refuse("remotes", "add", "1004", *shlex.split(given))
    assert said.startswith("lockterm: ") and said.count("\n") == 1
    assert [word for word in words if word not in said] == []
    assert not scripts.service.requests


def test_add_needs_yes_when_a_value_is_unusual(scripts: Scripts) -> None:
    given = ("--name", "A", "--number", "1", "--type", "recurring", "--end", "+1d")
    asked = scripts.refuse("remotes", "add", "1004", *given, words="--days: No weekday is chosen")
    assert "--yes" in asked
    assert scripts.writes() == []
    assert scripts.run("remotes", "add", "1004", *given, "--yes").returncode == 0
    assert scripts.writes() == ["add"]


def test_update_sends_only_fields_that_differ(scripts: Scripts) -> None:
    remote_id = str(scripts.have(**PERIOD))
    sent = {"lockId": 1004, "remoteId": int(remote_id)}
    renamed = scripts.run("remotes", "update", "1004", remote_id, "--name", "Anna W.")
    assert renamed.returncode == 0
    assert "Name: Anna -> Anna W." in renamed.stdout
    assert scripts.history()[-1].body == sent | {"remoteName": "Anna W."}
    longer = scripts.json("remotes", "update", "1004", remote_id, "--end", "2091-07-01 18:00")
    assert (longer["outcome"], longer["state"]) == ("recorded", "confirmed")
    assert scripts.history()[-1].body == sent | PERIOD | {
        "endDate": 3_834_144_000_000,
        "weekDay": [],
    }
    before = len(scripts.history())
    same = scripts.json("remotes", "update", "1004", remote_id, "--name", "Anna W.")
    assert (same["outcome"], same["remoteId"]) == ("unchanged", int(remote_id))
    assert len(scripts.history()) == before

    other = str(scripts.have(remoteName="Ben"))
    command = ("remotes", "update", "1004", other, "--name", "Anna W.")
    scripts.refuse(*command, words="already", code=1)


@pytest.mark.parametrize(
    ("typed", "note"),
    [
        (("Cleo", "A 7"), "note: --number: Anna on this lock has nearly the same number, A-7."),
        (("Cleo", "A-7"), "note: --number: Anna on this lock has the same number."),
        (("anna", "B-1"), "note: --name: The lock has a similar name: “Anna”."),
    ],
)
def test_add_needs_yes_when_the_lock_has_a_similar_name_or_number(
    scripts: Scripts, typed: tuple[str, str], note: str
) -> None:
    scripts.have(remoteNumber="A-7")
    name, number = typed
    add = ("remotes", "add", "1004", "--name", name, "--number", number, "--type", "permanent")
    assert "--yes" in scripts.refuse(*add, words=note)
    rehearsed = scripts.run(*add, "--dry-run")
    assert (rehearsed.returncode, rehearsed.stderr) == (0, "")
    assert scripts.writes() == []
    added = scripts.run(*add, "--yes")
    assert added.returncode == 0 and note in added.stderr
    assert scripts.writes() == ["add"]


def test_update_needs_yes_when_the_lock_has_a_similar_name(scripts: Scripts) -> None:
    scripts.have()
    update = ("remotes", "update", "1004", str(scripts.have(remoteName="Tomas")), "--name")
    own = scripts.run(*update, "Tom\u00e1s")
    assert (own.returncode, own.stderr) == (0, ""), "its own name is not another's"
    scripts.refuse(*update, "anna", words="note: --name: The lock has a similar name: “Anna”.")
    renamed = scripts.run(*update, "anna", "--yes")
    assert renamed.returncode == 0 and "similar name" in renamed.stderr


def test_update_counts_relative_end_from_current_end_and_names_it(scripts: Scripts) -> None:
    end_ms = 3_802_607_999_000  # 2090-07-01 17:59:59 in Berlin
    remote_id = str(scripts.have(**PERIOD | {"endDate": end_ms}))
    renewed = scripts.run("remotes", "update", "1004", remote_id, "--end", "+30d")
    assert renewed.returncode == 0, renewed.stderr
    assert "current end 1 Jul 2090 17:59 + 30 days" in renewed.stdout
    assert scripts.history()[-1].body["endDate"] == end_ms + 30 * 86_400_000


def test_update_requires_a_start_when_a_permanent_remote_gets_another_type(
    scripts: Scripts,
) -> None:
    update = ("remotes", "update", "1004", str(scripts.have()), "--type", "time-limited")
    start = "--start: A start date is required"
    words = f"{start}, because the remote is not permanent."
    assert "1970" not in scripts.refuse(*update, "--end", "+30d", words=words)
    assert "--end: An end date is required" in scripts.refuse(*update, words=start)
    assert scripts.writes() == []


def test_update_shows_the_differing_part_when_extra_data_changes(scripts: Scripts) -> None:
    long = {"door": "Süd " * 30, "字": ["x" * 80, 1], "same": "s" * 100}
    after = long | {"door": "Süd " * 29 + "Nord", "字": ["x" * 80, 2]}
    given = ("--extra-data", json.dumps(after), "--dry-run")
    remote_id = str(scripts.have(extraData=long))
    told = scripts.run("remotes", "update", "1004", remote_id, *given).stdout
    assert [line for line in told.splitlines() if " -> " in line] == [
        'Extra data door: …Süd Süd Süd Süd " -> …Süd Süd Süd Nord"',
        "Extra data 字[1]: 1 -> 2",
    ]


def test_add_explains_unusual_values(scripts: Scripts) -> None:
    add = ("remotes", "add", "1004", "--number", "A-2")
    mac = scripts.run(*add, "--name", "Mac", "--type", "permanent", "--mac", "12345")
    assert mac.returncode == 0, mac.stderr
    assert "MAC address: This does not look like AA:BB:CC:DD:EE:FF" in mac.stdout
    recurring = (*add, "--name", "Ben", "--number", "B-3", "--type", "recurring", "--days", "mon")
    scripts.refuse(*recurring, "--end", "2031-01-03 24:00", words="24:00 is 00:00 of the next day")
    period = ("--start", "2031-01-01 08:00", "--end", "2031-01-03 18:00")  # Wednesday to Friday
    words = "No Mon between start and end, so this remote will not open the lock"
    scripts.refuse(*recurring, *period, words=words)
    assert scripts.writes() == ["add"]
    assert scripts.run(*recurring, *period[:3], "2031-01-06 00:01").returncode == 0


@pytest.mark.parametrize("sign", ["\U0001fae8", "\U0001fadf", "\U0001f6d8"])
def test_add_accepts_a_new_unicode_character_in_a_name(scripts: Scripts, sign: str) -> None:
    given = ("--name", f"Ben {sign}", "--number", "A-2", "--type", "permanent")
    assert scripts.run("remotes", "add", "1004", *given).returncode == 0
    assert scripts.remotes(1004)[0]["name"] == f"Ben {sign}"


def test_commands_refuse_a_remote_when_it_belongs_to_another_lock(scripts: Scripts) -> None:
    remote_id = str(scripts.have())
    for command in (
        ["delete", "1001", remote_id, "--yes"],
        ["update", "1001", remote_id, "--name", "X"],
        ["user-number", "1001", remote_id, "5"],
        ["show", "1001", remote_id],
    ):
        scripts.refuse("remotes", *command, words=f"Remote {remote_id} belongs to lock 1004")
    assert scripts.writes() == []


# --- the others ----------------------------------------------------------------------------------


def test_delete_and_clear_need_yes_without_a_terminal(scripts: Scripts) -> None:
    ids = [scripts.have(remoteName=name) for name in ("A", "B", "C")]
    delete, clear = ("remotes", "delete", "1004", str(ids[0])), ("remotes", "clear", "1004")
    for command in (delete, clear):
        scripts.refuse(*command, words="--yes")
    assert not scripts.service.requests, "not even asked"

    gone = scripts.run(*delete, "--yes")
    assert gone.stdout == "A (A-1) was deleted from lock 1004. Recorded by the service.\n"
    assert [row["id"] for row in scripts.remotes(1004)] == ids[1:]
    assert scripts.history()[-1].before[0]["remoteName"] == "A", "the backup"
    scripts.refuse(*delete, "--yes", words="code -5", code=1)

    told = scripts.json(*clear, "--yes")
    assert (told["outcome"], told["deletedCount"]) == ("recorded", 2)
    assert [one["id"] for one in scripts.history()[-1].before] == ids[1:]
    assert scripts.remotes(1004) == []
    assert scripts.json(*clear, "--yes")["outcome"] == "unchanged"


def test_user_number_is_set_and_check_name_reports_free_names(scripts: Scripts) -> None:
    remote_id = str(scripts.have())
    told = scripts.run("remotes", "user-number", "1004", remote_id, "7")
    assert told.stdout.startswith("Anna (A-1) on lock 1004 now has user number 7.")
    assert scripts.remotes(1004)[0]["user_no"] == 7
    command = ("remotes", "user-number", "1004")
    scripts.refuse(*command, remote_id, "--", "-7", words="(code -1)", code=1)
    for typed in ((remote_id, "x"), ("x", "7")):
        scripts.refuse(*command, *typed, words="'x' is not a valid whole number, such as 12.")
    taken = scripts.run("remotes", "check-name", "1004", "Anna")
    assert (taken.returncode, taken.stdout) == (1, "Anna is taken on lock 1004.\n")
    free = scripts.json("remotes", "check-name", "1004", "Ben")
    assert (free["free"], free["remoteName"]) == (True, "Ben")


def test_numbers_above_64_bits_are_refused_and_help_shows_the_minimum(scripts: Scripts) -> None:
    large = str(2**63)
    for arguments in (
        ("remotes", "list", "1004", "--page", large),
        ("remotes", "show", "1004", large),
        ("apply", "nosuch.csv", "--max-deletes", large),
        ("clean", "--expired", "4w", "--max-deletes", large),
    ):
        scripts.refuse(*arguments, words=f"{large} is too large. The maximum is {2**63 - 1}.")
    scripts.refuse(*("remotes", "list", "1004", "--page", "0"), words="0 is not in the range x>=1.")
    assert "[x>=1]" in scripts.run("remotes", "list", "--help").stdout
    assert "[x>=0]" in scripts.run("apply", "--help").stdout
    assert "not in the range" not in scripts.run("remotes", "show", "1004", "0").stderr


def test_changes_read_the_detail_once_when_yes_is_given(scripts: Scripts) -> None:
    remote_id = str(scripts.have())
    for command in (
        ["update", "1004", remote_id, "--name", "Ben"],
        ["user-number", "1004", remote_id, "7"],
        ["delete", "1004", remote_id, "--yes"],
    ):
        scripts.service.requests.clear()
        assert scripts.run("remotes", *command).returncode == 0
        paths = [path for _, path in scripts.service.requests]
        assert sum(path.endswith("/detail") for path in paths) == 1, paths


def test_dry_run_prints_the_request_and_sends_nothing(scripts: Scripts) -> None:
    remote_id = str(scripts.have())
    root = f"{scripts.service.base_url}/api/v1/bluetooth-remote"
    add = ("remotes", "add", "1004", "--name", "Ben", "--number", "1")
    end = ("--type", "time-limited", "--start", "2026-12-01", "--end", "2090-07-01 18:00")
    shown = scripts.run(*add, *end, "--dry-run")
    assert (shown.returncode, shown.stderr) == (0, "")
    line, _, rest = shown.stdout.partition("\n")
    assert line == f"POST {root}/add"
    assert json.loads(re.match(r"\{.*?\n\}", rest, re.DOTALL)[0])["endDate"] == PERIOD["endDate"]
    assert "End: Sat 1 Jul 2090 18:00 +02:00" in rest

    sent = {"lockId": 1004, "remoteId": int(remote_id)}
    for command, call, body in (
        (["delete", "1004", remote_id], "delete", {"remoteId": int(remote_id)}),
        (["clear", "1004"], "clear", {"lockId": 1004}),
        (["user-number", "1004", remote_id, "5"], "updateRemoteUserNo", sent | {"remoteUserNo": 5}),
    ):
        told = scripts.json("remotes", *command, "--dry-run")
        assert (told["dryRun"], told["method"], told["url"]) == (True, "POST", f"{root}/{call}")
        assert told["body"] == body
    assert not scripts.service.requests, "not even asked"

    told = scripts.json("remotes", "update", "1004", remote_id, "--name", "B", "--dry-run")
    assert told["body"] == sent | {"remoteName": "B"}
    assert scripts.writes() == [], "an update is read for, and not sent"
    assert scripts.history() == []

    permanent = (*add, "--type", "permanent")
    scripts.json(*permanent)
    scripts.service.requests.clear()
    for again in (("remotes", "clear", "1004"), permanent):
        assert scripts.json(*again, "--dry-run")["dryRun"] is True
    assert not scripts.service.requests, "nothing is read, and nothing waited for"


# --- LOCK ----------------------------------------------------------------------------------------


def test_lock_is_found_by_name_and_never_guessed(scripts: Scripts) -> None:
    scripts.keep(
        [
            Lock(1003, name="Server room", alias="Keller"),
            *(Lock(1004, name="Roof"), Lock(1005, name="roof"), Lock(1006, name="1002")),
        ]
    )
    for typed in ("Server room", "SERVER ROOM", "keller", "1003"):
        lock = scripts.json("remotes", "list", typed)["lock"]
        assert lock == {"lockId": 1003, "name": "Server room"}
    assert scripts.json("remotes", "list", "roof")["lock"]["lockId"] == 1005
    for typed, words in (
        ("ROOF", "1004, 1005"),
        ("Server rom", "Did you mean “Server room”?"),
        ("1002", "also the name of lock 1006. Rename lock 1006, or use its ID."),
        ("0", "a lock ID must be a whole number"),
        ("", "No lock named"),
    ):
        scripts.refuse("remotes", "clear", typed, "--yes", words=words)
    assert scripts.writes() == []


def test_dates_are_refused_when_the_zone_of_the_lock_is_unknown(scripts: Scripts) -> None:
    atlantis = 'This machine does not know the time zone "Europe/Atlantis" of '
    scripts.keep([Lock(1004, name="Dock", zone="Europe/Atlantis")])
    update = ("remotes", "update", "1004", str(scripts.have(**PERIOD)))
    scripts.refuse(*update, "--end", "2091-01-01 09:00", words=f"--end: {atlantis}this lock.")
    file = scripts.file("table.csv", "lockId,remoteNumber,endDate\n1004,A-1,+30d\n")
    scripts.refuse("apply", file, "--yes", words=f"{atlantis}this lock.")
    assert scripts.writes() == []

    table = "lockId,remoteNumber,endDate\n1004,A-1,2091-01-01 09:00 +02:00\n"
    planned = scripts.run("apply", scripts.file("table.csv", table), "--dry-run")
    assert planned.returncode == 0, planned.stderr
    assert f"note: {atlantis}this lock. Times are shown in UTC." in planned.stdout
    assert "End: 1 Jul 2090 16:00 +00:00 -> 1 Jan 2091 07:00 +00:00" in planned.stdout
    assert f"{atlantis}Dock (lock 1004)" in scripts.run("doctor").stdout
