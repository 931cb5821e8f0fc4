"""``lockterm export`` and ``diff`` with the real service."""

from __future__ import annotations

import csv
import json
import os

import pytest

from lockterm.domain.locks import Lock
from tests.cli.conftest import Scripts, assert_harmless

LOCKS = ("1001", "1003", "1004")


@pytest.mark.parametrize("form", ["json", "csv"])
def test_diff_shows_no_difference_when_an_export_is_unchanged(scripts: Scripts, form: str) -> None:
    scripts.keep([Lock(1001, name="Main gate", zone="America/New_York")])
    file = scripts.home / f"all.{form}"
    told = scripts.refuse("export", "main gate", *LOCKS[1:], "--output", str(file), code=0)
    assert told == f"lockterm: 146 remotes written to {file}.\n"
    assert file.stat().st_mode & 0o777 == 0o600
    same = scripts.run("diff", str(file), "--prune")
    assert (same.returncode, same.stderr) == (0, "")
    assert same.stdout.splitlines()[:2] == ["Main gate (lock 1001)", "  = 137 unchanged"]
    assert same.stdout.splitlines()[-1] == "Nothing to change."
    assert scripts.writes() == []


def test_export_json_has_all_fields_of_the_service(scripts: Scripts) -> None:
    whole = scripts.json("export", "1003", "1004")
    assert [whole[name] for name in ("format", "version")] == ["lockterm-remotes", 1]
    assert whole["service"] == scripts.service.base_url
    one, empty = whole["locks"]
    assert (one["lockId"], one["timezone"]) == (1003, "Europe/Berlin")
    assert one["remotes"] == scripts.json("remotes", "list", "1003", "--all")["remotes"]
    assert (empty["lockId"], empty["remotes"]) == (1004, [])


def test_export_csv_has_times_with_offsets_and_no_formulas(scripts: Scripts) -> None:
    period = {"remoteType": 4, "startDate": 1_796_079_600_000, "endDate": 3_802_608_000_000}
    remote_id = scripts.have(remoteName="=1+1", weekDay=[1, 3], **period)
    told = scripts.run("export", "1004", "--csv")
    (row,) = csv.DictReader(told.stdout.splitlines())
    assert row == {
        "lockId": "1004",
        "remoteId": str(remote_id),
        "remoteName": "'=1+1",
        "remoteNumber": "A-1",
        "remoteType": "recurring",
        "addType": "bluetooth",
        "startDate": "2026-12-01 00:00 +01:00",
        "endDate": "2090-07-01 18:00 +02:00",
        "weekDay": "Mon, Wed",
        "isCoerced": "default",
        "extraData": "",
    }


def test_export_writes_nothing_when_a_lock_cannot_be_read(scripts: Scripts) -> None:
    file = scripts.home / "all.json"
    told = scripts.run("export", "1004", "7777", "--output", str(file))
    assert told.returncode == 1
    assert "Nothing was written." in told.stderr
    assert not file.exists()
    assert scripts.run("export", "1004", "--output", str(scripts.home)).returncode == 1
    assert scripts.run("export", "1004", "--csv", "--json").returncode == 2


@pytest.mark.parametrize("name", ["notes.txt", "people.csv", "config.json"])
def test_export_requires_force_when_the_file_is_not_an_export(name: str, scripts: Scripts) -> None:
    file = scripts.home / name
    for text in ("my notes\n", "lock,name\n1,Anna\n", '{"format": "other"}\n'):
        file.write_text(text)
        told = scripts.refuse("export", "1003", "--output", str(file))
        assert told.startswith(f"lockterm: {file} is not an export of lockterm.")
        assert "--force" in told
        assert file.read_text() == text
    assert scripts.run("export", "1003", "--output", str(file), "--force").returncode == 0
    written = file.read_text()
    for earlier in (written, ""):
        file.write_text(earlier)
        assert scripts.run("export", "1004", "--output", str(file)).returncode == 0
        assert file.read_text() not in (written, "")


def test_export_refuses_a_pipe_when_it_would_have_to_wait_for_it(scripts: Scripts) -> None:
    os.mkfifo(pipe := scripts.home / "out.json")
    for options in ((), ("--force",)):
        told = scripts.run("export", "1003", "--output", str(pipe), *options)
        assert told.returncode == 1
        assert f"{pipe} is not a file that can be replaced." in told.stderr


def test_export_refuses_a_link_when_others_can_replace_it(
    scripts: Scripts, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, target = scripts.home / "shared/out.json", scripts.home / "target"
    link.parent.mkdir()
    link.symlink_to(target)
    assert scripts.run("export", "1004", "--output", str(link)).returncode == 0
    before = target.read_bytes()
    link.parent.chmod(0o777)
    told = scripts.run("export", "1003", "--output", str(link), "--force")
    assert told.returncode == 1
    assert "others can replace the link" in told.stderr
    assert target.read_bytes() == before


def test_diff_shows_changed_fields_when_a_file_differs(scripts: Scripts) -> None:
    ids = [scripts.have(remoteName=name, remoteNumber=name) for name in ("Anna", "Ben", "Carl")]
    file = scripts.home / "roof.csv"
    file.write_text(
        "Lock id;Id;Name;Number;Type;Start;End;action\n"
        f"1004;{ids[0]};Anna W.;;permanent;;;\n"
        f"1004;{ids[1]};;;;;;delete\n"
        "1004;;Dora;D-1;time-limited;1.12.2030;31.12.2030 18:00;\n"
    )
    told = scripts.run("diff", str(file))
    assert (told.returncode, told.stderr) == (1, "")
    shown = told.stdout.splitlines()
    assert shown[4].startswith(
        "  + Dora (D-1): from 1 Dec 2030 00:00 +01:00 until 31 Dec 2030 18:00 +01:00, "
    )
    assert shown[4].endswith("  (line 4)")
    assert shown[5].startswith(
        "note: lockterm keeps a backup. It lacks user number, admin right, MAC address,"
    )
    assert shown[6].startswith(
        "1 to add, 1 to change, 1 to delete: 6 requests to the service, about "
    )
    assert shown[:4] == [
        "lock 1004",
        "  - Ben (Ben)  (line 3)",
        "  ~ Anna (Anna)  (line 2)",
        "      Name: Anna -> Anna W.",
    ]
    lines = [
        json.loads(line)
        for line in scripts.run("diff", str(file), "--json").stdout.split("\n")[:-1]
    ]
    assert lines[1] == {
        "step": 2,
        "line": 2,
        "lockId": 1004,
        "remoteId": ids[0],
        "remoteName": "Anna",
        "action": "update",
        "state": "planned",
        "message": "",
    }
    assert lines[-1]["run"] is None
    assert lines[-1]["counts"]["planned"] == 3
    assert "- Carl (Carl)" in scripts.run("diff", str(file), "--prune").stdout
    assert scripts.writes() == []


def test_diff_explains_an_unusable_file(scripts: Scripts) -> None:
    (scripts.home / "empty.csv").touch()
    os.mkfifo(scripts.home / "pipe.csv")
    with (scripts.home / "large.csv").open("wb") as large:
        large.truncate(100_000_000)
    said = {
        "empty.csv": "The file is empty.",
        "pipe.csv": "The path is a pipe or a device, not a file.",
        "large.csv": "The file has 100,000,000 bytes, too many for a table of remotes.",
        "config": "The path is a directory.",
        "missing.csv": "No such file.",
    }
    for name, words in said.items():
        told = scripts.refuse("diff", str(scripts.home / name))
        assert told == f"lockterm: {scripts.home / name}: {words} Nothing was sent.\n"
    assert not scripts.service.requests


def test_diff_lists_all_problems_when_a_file_is_wrong(scripts: Scripts) -> None:
    file = scripts.home / "wrong.csv"
    file.write_text("lockId,remoteId\n" + "1001,x\n" * 101)
    told = scripts.run("diff", str(file))
    lines = told.stderr.splitlines()
    assert (told.returncode, len(lines)) == (2, 101)
    assert lines[1] == (
        f"lockterm: {file}: line 3, column remoteId, “x”: The ID must be a whole number,"
        " such as 1001."
    )
    assert lines[-1] == ("lockterm: 101 problems, of which 100 are listed. Nothing was sent.")
    assert not scripts.service.requests


def test_diff_refuses_an_export_when_it_is_from_another_service(scripts: Scripts) -> None:
    file = scripts.home / "all.json"
    scripts.run("export", "1003", "--output", str(file))
    file.write_text(file.read_text().replace(scripts.service.base_url, "https://locks.example"))
    scripts.refuse(
        "diff",
        str(file),
        words="The file was exported from https://locks.example, but the profile site uses",
    )


def test_diff_deletes_nothing_when_a_lock_cannot_be_read(scripts: Scripts) -> None:
    scripts.have()
    file = scripts.home / "two.csv"
    file.write_text("lockId,action,remoteNumber\n1004,delete,A-1\n7777,update,B-1\n")
    told = scripts.run("diff", str(file))
    assert told.returncode == 1
    assert told.stderr.startswith("lockterm: lock 7777: Refused by the service:")
    refused, kept = told.stdout.splitlines()
    assert refused.startswith("! remote B-1, lock 7777: ")
    assert kept == (
        "! Anna (A-1), lock 1004: Nothing will be deleted, because lock 7777 could not"
        " be read completely."
    )
    scripts.use("http://127.0.0.1:9")
    assert scripts.run("diff", str(file)).returncode == 3


def test_export_and_diff_clean_hostile_text(scripts: Scripts) -> None:
    hostile = "\x1b]0;owned\x07\u202eEvil\r\n\x9b31m"
    remote_id = scripts.have()
    with scripts.service.app.state.site.database.writing() as db:
        change = "UPDATE remote SET name = ?, number = ? WHERE id = ?"
        db.execute(change, (hostile, f"={hostile}", remote_id))
    file = scripts.home / "all.csv"
    scripts.run("export", "1004", "--output", str(file))
    assert not {"\x1b", "\x07", "\x9b"} & {*file.read_text("utf-8")}
    for form in ("csv", "json"):
        scripts.run("export", "1004", f"--{form}", "--output", str(file))
        assert scripts.run("diff", str(file)).returncode == 0, "it comes back as it is"
    file.write_text(f"lockId,remoteId,action\n1004,{remote_id},delete\n")
    pruned = scripts.run("diff", str(file))
    assert "- " in pruned.stdout
    file.write_text("lockId,remoteName,\u202e\x9b31m\n1004,\x9b31m,1\n", "utf-8")
    unknown = scripts.run("diff", str(file))
    file.write_text("lockId,remoteId\n1004,\u202e\x9b31m\n", "utf-8")
    wrong = scripts.run("diff", str(file))
    for told in (pruned, unknown, wrong):
        assert_harmless(told.stdout + told.stderr)
