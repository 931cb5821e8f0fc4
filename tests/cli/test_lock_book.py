"""``lockterm locks``: the lock book without the UI and without requests."""

from __future__ import annotations

import os
from pathlib import Path

from lockterm.domain.locks import Lock, VoiceChoice
from tests.cli.conftest import HOSTILE, Scripts, assert_harmless, parse_csv


def test_locks_adds_lists_and_removes_locks(scripts: Scripts) -> None:
    assert scripts.run("locks", "list").stdout == "0 locks\n"
    added = scripts.run("locks", "add", "1001", "--name", "Main gate", "--zone", "Asia/Tokyo")
    assert (added.returncode, added.stdout) == (0, "Main gate (lock 1001) was added.\n")
    assert scripts.json("locks", "add", "7")["outcome"] == "added"
    assert scripts.book() == {1001: Lock(1001, "Main gate", zone="Asia/Tokyo"), 7: Lock(7)}
    again = scripts.json("locks", "add", "1001", "--name", "Main gate")
    assert again["outcome"] == "unchanged"
    changed = scripts.json("locks", "add", "1001", "--vendor", "nordriegel")
    assert (changed["outcome"], changed["lock"]["name"]) == ("changed", "Main gate")
    lines = scripts.run("locks", "list").stdout.splitlines()
    assert lines[0].split() == [
        "ID",
        "Name",
        "Vendor",
        "Model",
        "Zone",
        "Remotes",
        "Last",
        "viewed",
    ]
    assert lines[-1] == "2 locks"
    assert {one["lockId"] for one in scripts.json("locks", "list")["locks"]} == {7, 1001}
    gone = scripts.run("locks", "remove", "main gate")
    assert gone.returncode == 0 and "service keeps" in gone.stdout
    assert [*scripts.book()] == [7]
    assert scripts.json("locks", "remove", "1001")["outcome"] == "unchanged"
    assert not scripts.service.requests


def test_lock_book_keeps_the_usual_name_when_a_zone_is_of_windows_or_an_offset(
    scripts: Scripts,
) -> None:
    def import_csv(*rows: str) -> tuple[str, str, str]:
        return ("locks", "import", scripts.file("locks.csv", "\n".join(["lockId,zone", *rows])))

    added = scripts.json("locks", "add", "1", "--zone", "w. europe standard time")
    assert added["lock"]["zone"] == "Europe/Berlin"
    rows = ("1,W. Europe Standard Time", "2,+02:00", "3,UTC-11")
    assert scripts.json(*import_csv(*rows))["unchanged"] == 1
    zones = {1: "Europe/Berlin", 2: "UTC+02:00", 3: "UTC-11:00"}
    assert {lock_id: lock.zone for lock_id, lock in scripts.book().items()} == zones
    said = scripts.refuse(*import_csv("1,UTC+15:00", "2,GMT+2"))
    assert "line 2: the zone 'UTC+15:00' is not a time zone" in said
    assert "line 3: the zone 'GMT+2' is not a time zone; did you mean UTC+02:00?" in said
    assert {lock_id: lock.zone for lock_id, lock in scripts.book().items()} == zones


def test_locks_add_refuses_an_invalid_entry(scripts: Scripts) -> None:
    for wrong in (("abc",), ("0",), ("1", "--zone", "x/y"), ("1", "--name", "a\x1b")):
        said = scripts.refuse("locks", "add", *wrong)
        assert said.count("\n") == 1 and "\x1b" not in said
    assert scripts.book() == {}


def test_locks_import_adds_each_lock_once_when_it_runs_twice(scripts: Scripts) -> None:
    voice = VoiceChoice("de-DE", "anna")
    scripts.keep([Lock(1001, name="Gate", model="NR", voice=voice), Lock(1003, name="Room")])
    file = scripts.file("locks.csv", "\ufefflockId;name\n1001;Main gate\n1002;Dock\n1003;Room\n")
    told = scripts.json("locks", "import", file)
    assert [told[name] for name in ("added", "changed", "unchanged")] == [1, 1, 1]
    assert [one["outcome"] for one in told["locks"]] == ["changed", "added", "unchanged"]
    assert scripts.book()[1001] == Lock(1001, name="Main gate", model="NR", voice=voice)
    again = scripts.run("locks", "import", file)
    assert (again.returncode, again.stdout) == (0, "3 locks: 3 unchanged.\n")
    scripts.run("locks", "add", "1003", "--zone", "UTC-11")
    scripts.file("locks.csv", scripts.run("locks", "list", "--csv").stdout)
    assert scripts.json("locks", "import", file)["unchanged"] == 3, "a list can be imported"


def test_locks_import_changes_nothing_when_a_line_is_wrong(scripts: Scripts) -> None:
    # With one control character the whole file is no text.
    hostile = "".join(char for char in HOSTILE if char >= " " and char != "\x9b")
    file = scripts.file("\x1b]0;owned\x07\u202eEvil.csv", f"1001,Gate\nabc,{hostile}\n1001\n")
    said = scripts.refuse("locks", "import", file)
    lines = said.splitlines()
    assert len(lines) == 3
    assert "line 2: the ID is 'abc'" in lines[0] and "line 3: lock 1001" in lines[1]
    assert lines[2] == "lockterm: Nothing was imported."
    assert_harmless(said)
    assert scripts.book() == {}


def test_locks_import_does_not_wait_for_a_pipe(scripts: Scripts) -> None:
    pipe, large = scripts.home / "pipe", scripts.home / "large"
    os.mkfifo(pipe)
    with large.open("wb") as file:
        file.truncate(100_000_000)
    for place in (pipe, large, scripts.home, scripts.home / "none", Path("/dev/zero")):
        scripts.refuse("locks", "import", str(place), words="Nothing was imported.")


def test_locks_cleans_hostile_entries(scripts: Scripts) -> None:
    scripts.keep([Lock(1, name=HOSTILE, alias=HOSTILE, vendor=f"={HOSTILE}")])
    shown = scripts.run("locks", "list").stdout
    assert "Evil" in shown
    assert_harmless(shown)
    (row,) = parse_csv(scripts.run("locks", "list", "--csv").stdout)
    assert row["vendor"].startswith("'=")


def test_lock_is_found_when_its_name_is_encoded_differently(scripts: Scripts) -> None:
    assert scripts.run("locks", "add", "1004", "--name", "Bu\u0308ro").returncode == 0
    for name in ("B\u00fcro", "b\u00fcro", "BU\u0308RO"):
        assert scripts.run("remotes", "list", name).returncode == 0, name
