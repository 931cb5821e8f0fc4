"""Rules of the contract in commands: required dates, notes, losses, voices and calls."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Scripts


def test_update_requires_a_start_when_a_permanent_remote_gets_another_type(
    scripts: Scripts,
) -> None:
    remote_id = scripts.have()
    command = ("remotes", "update", "1004", str(remote_id), "--type", "time-limited")
    result = scripts.refuse(
        *command,
        "--end",
        "+30d",
        words="--start: A start date is required, because the remote is not permanent.",
    )
    assert "1970" not in result
    assert scripts.writes() == []
    result = scripts.run(*command)
    assert "--start: A start date is required" in result.stderr
    assert "--end: An end date is required" in result.stderr


def test_add_notes_an_unusual_mac_when_the_remote_is_permanent(scripts: Scripts) -> None:
    given = ("--name", "Ben", "--number", "A-2", "--type", "permanent", "--mac", "12345")
    result = scripts.run("remotes", "add", "1004", *given)
    assert result.returncode == 0, result.stderr
    assert "MAC address: This does not look like AA:BB:CC:DD:EE:FF" in result.stdout


def test_voice_list_marks_the_voice_when_the_lock_is_not_in_the_book(scripts: Scripts) -> None:
    (language, *_) = scripts.json(
        "voice", "list", "1004", "--vendor", "nordriegel", "--model", "NR-450"
    )["languages"]
    lang, timbre = language["lang"], language["timbres"][0]["timbre"]
    result = scripts.run("voice", "set", "1001", lang, timbre, "--yes")
    assert result.returncode == 0, result.stderr
    model = ("--vendor", "nordriegel", "--model", "NR-450")
    listed = scripts.run("voice", "list", "1001", *model).stdout
    marked = [line for line in listed.splitlines() if "set by you" in line]
    assert [line.split()[:2] for line in marked] == [[lang, timbre]]


def test_update_shows_the_differing_part_when_extra_data_changes(scripts: Scripts) -> None:
    long = {"door": "Süd " * 30, "字": ["x" * 80, 1], "same": "s" * 100}
    remote_id = scripts.have(extraData=long)
    after = json.loads(json.dumps(long))
    after["字"][1] = 2
    after["door"] = "Süd " * 29 + "Nord"
    given = ("--extra-data", json.dumps(after), "--dry-run")
    told = scripts.run("remotes", "update", "1004", str(remote_id), *given).stdout
    lines = [line for line in told.splitlines() if " -> " in line]
    assert lines == [
        'Extra data door: …Süd Süd Süd Süd " -> …Süd Süd Süd Nord"',
        "Extra data 字[1]: 1 -> 2",
    ]


def test_add_explains_24_00_and_weekdays_outside_the_period(scripts: Scripts) -> None:
    given = ("--name", "Ben", "--number", "A-2", "--type", "recurring", "--days", "mon")
    result = scripts.run("remotes", "add", "1004", *given, "--end", "2031-01-03 24:00")
    assert "24:00 is 00:00 of the next day" in result.stderr
    period = ("--start", "2031-01-01 08:00", "--end", "2031-01-03 18:00")  # Wednesday to Friday
    scripts.refuse(
        "remotes",
        "add",
        "1004",
        *given,
        *period,
        words="No Mon between start and end, so this remote will not open the lock",
    )
    assert scripts.writes() == []
    fits = ("--start", "2031-01-01 08:00", "--end", "2031-01-06 00:01")
    assert scripts.run("remotes", "add", "1004", *given, *fits).returncode == 0


@pytest.mark.parametrize("sign", ["\U0001fae8", "\U0001fadf", "\U0001f6d8"])
def test_add_accepts_a_new_unicode_character_in_a_name(scripts: Scripts, sign: str) -> None:
    given = ("--number", "A-2", "--type", "permanent")
    result = scripts.run("remotes", "add", "1004", "--name", f"Ben {sign}", *given)
    assert result.returncode == 0, result.stderr
    assert scripts.remotes(1004)[0]["name"] == f"Ben {sign}"
