"""``lockterm export`` and ``diff`` with the real service."""

from __future__ import annotations

import json
import os

import pytest

from lockterm.domain.locks import Lock
from tests.cli.conftest import HOSTILE, Scripts, assert_harmless, parse_csv


@pytest.mark.parametrize("form", ["json", "csv"])
def test_diff_shows_no_difference_when_an_export_is_unchanged(scripts: Scripts, form: str) -> None:
    scripts.keep([Lock(1001, name="Main gate", zone="America/New_York")])
    file = scripts.home / f"all.{form}"
    told = scripts.run("export", "main gate", "1003", "1004", "--output", str(file))
    assert (told.returncode, told.stdout) == (0, "")
    assert told.stderr == f"lockterm: 146 remotes written to {file}.\n"
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
    (row,) = parse_csv(scripts.run("export", "1004", "--csv").stdout)
    assert " ".join(row) == (
        "lockId remoteId remoteName remoteNumber remoteType addType startDate endDate weekDay"
        " isCoerced extraData"
    )
    assert [*row.values()] == [
        *("1004", str(remote_id), "'=1+1", "A-1", "recurring", "bluetooth"),
        *("2026-12-01 00:00 +01:00", "2090-07-01 18:00 +02:00", "Mon, Wed", "default", ""),
    ]


def test_export_writes_nothing_when_lock_or_file_is_unusable(scripts: Scripts) -> None:
    file = scripts.home / "all.json"
    export = ("export", "1004", "--output")
    scripts.refuse(*export, str(file), "7777", words="Nothing was written.", code=1)
    assert not file.exists()
    scripts.refuse(*export, str(scripts.home), code=1)
    scripts.refuse("export", "1004", "--csv", "--json")
    os.mkfifo(pipe := scripts.home / "out.json")  # to write to it would wait for ever
    for options in ((), ("--force",)):
        words = f"{pipe} is not a file that can be replaced."
        scripts.refuse(*export, str(pipe), *options, words=words, code=1)


@pytest.mark.parametrize("name", ["notes.txt", "people.csv", "config.json"])
def test_export_requires_force_when_the_file_is_not_an_export(name: str, scripts: Scripts) -> None:
    file = scripts.home / name
    export = ("export", "1003", "--output", str(file))
    for text in ("my notes\n", "lock,name\n1,Anna\n", '{"format": "other"}\n'):
        file.write_text(text)
        said = scripts.refuse(*export, words="--force")
        assert said.startswith(f"lockterm: {file} is not an export of lockterm.")
        assert file.read_text() == text
    assert scripts.run(*export, "--force").returncode == 0
    written = file.read_text()
    for earlier in (written, ""):
        file.write_text(earlier)
        assert scripts.run("export", "1004", "--output", str(file)).returncode == 0
        assert file.read_text() not in (written, "")


def test_export_refuses_a_link_when_others_can_replace_it(scripts: Scripts) -> None:
    link, target = scripts.home / "shared/out.json", scripts.home / "target"
    link.parent.mkdir()
    link.symlink_to(target)
    assert scripts.run("export", "1004", "--output", str(link)).returncode == 0
    before = target.read_bytes()
    link.parent.chmod(0o777)
    export = ("export", "1003", "--output", str(link), "--force")
    scripts.refuse(*export, words="others can replace the link", code=1)
    assert target.read_bytes() == before


def test_diff_shows_changed_fields_when_a_file_differs(scripts: Scripts) -> None:
    ids = [scripts.have(remoteName=name, remoteNumber=name) for name in ("Anna", "Ben", "Carl")]
    file = scripts.file(
        "roof.csv",
        "Lock id;Id;Name;Number;Type;Start;End;action\n"
        f"1004;{ids[0]};Anna W.;;permanent;;;\n"
        f"1004;{ids[1]};;;;;;delete\n"
        "1004;;Dora;D-1;time-limited;1.12.2030;31.12.2030 18:00;\n",
    )
    told = scripts.run("diff", file)
    assert (told.returncode, told.stderr) == (1, "")
    title, ben, anna, name, dora, backup, counted = told.stdout.splitlines()[:7]
    assert (title, ben) == ("lock 1004", "  - Ben (Ben)  (line 3)")
    assert (anna, name) == ("  ~ Anna (Anna)  (line 2)", "      Name: Anna -> Anna W.")
    period = "from 1 Dec 2030 00:00 +01:00 until 31 Dec 2030 18:00 +01:00, "
    assert dora.startswith(f"  + Dora (D-1): {period}") and dora.endswith("  (line 4)")
    lacks = "It lacks user number, admin right, MAC address,"
    assert backup.startswith(f"note: lockterm keeps a backup. {lacks}")
    words = "1 to add, 1 to change, 1 to delete: 6 requests to the service, about "
    assert counted.startswith(words)
    lines = [*map(json.loads, scripts.run("diff", file, "--json").stdout.splitlines())]
    place = {"step": 2, "line": 2, "lockId": 1004, "remoteId": ids[0], "remoteName": "Anna"}
    assert lines[1] == place | {"action": "update", "state": "planned", "message": ""}
    assert lines[-1]["run"] is None
    assert lines[-1]["counts"]["planned"] == 3
    assert "- Carl (Carl)" in scripts.run("diff", file, "--prune").stdout
    assert scripts.writes() == []


def test_diff_explains_an_unusable_file(scripts: Scripts) -> None:
    (scripts.home / "empty.csv").touch()
    os.mkfifo(scripts.home / "pipe.csv")
    with (scripts.home / "large.csv").open("wb") as large:
        large.truncate(100_000_000)
    for name, words in {
        "empty.csv": "The file is empty.",
        "pipe.csv": "The path is a pipe or a device, not a file.",
        "large.csv": "The file has 100,000,000 bytes, too many for a table of remotes.",
        "config": "The path is a directory.",
        "missing.csv": "No such file.",
    }.items():
        path = str(scripts.home / name)
        assert scripts.refuse("diff", path) == f"lockterm: {path}: {words} Nothing was sent.\n"

    file = scripts.file("wrong.csv", "lockId,remoteId\n" + "1001,x\n" * 101)
    lines = scripts.refuse("diff", file).splitlines()
    assert len(lines) == 101
    words = "The ID must be a whole number, such as 1001."
    assert lines[1] == f"lockterm: {file}: line 3, column remoteId, “x”: {words}"
    assert lines[-1] == "lockterm: 101 problems, of which 100 are listed. Nothing was sent."
    assert not scripts.service.requests

    exported = scripts.run("export", "1003").stdout
    other = exported.replace(scripts.service.base_url, "https://locks.example")
    words = "The file was exported from https://locks.example, but the profile site uses"
    scripts.refuse("diff", scripts.file("all.json", other), words=words)


def test_diff_deletes_nothing_when_a_lock_cannot_be_read(scripts: Scripts) -> None:
    scripts.have()
    table = "lockId,action,remoteNumber\n1004,delete,A-1\n7777,update,B-1\n"
    told = scripts.run("diff", scripts.file("two.csv", table))
    assert told.returncode == 1
    assert told.stderr.startswith("lockterm: lock 7777: Refused by the service:")
    refused, kept = told.stdout.splitlines()
    assert refused.startswith("! remote B-1, lock 7777: ")
    words = "Nothing will be deleted, because lock 7777 could not be read completely."
    assert kept == f"! Anna (A-1), lock 1004: {words}"
    scripts.use("http://127.0.0.1:9")
    assert scripts.run("diff", str(scripts.home / "two.csv")).returncode == 3


def test_export_and_diff_clean_hostile_text(scripts: Scripts) -> None:
    remote_id = scripts.have()
    scripts.rename(remote_id, HOSTILE)
    file = scripts.home / "all.csv"
    for form in ("csv", "json"):
        scripts.run("export", "1004", f"--{form}", "--output", str(file))
        assert not {"\x1b", "\x07", "\x9b"} & {*file.read_text("utf-8")} or form == "json"
        assert scripts.run("diff", str(file)).returncode == 0, "it comes back as it is"
    for table in (
        f"lockId,remoteId,action\n1004,{remote_id},delete\n",
        "lockId,remoteName,\u202e\x9b31m\n1004,\x9b31m,1\n",
        "lockId,remoteId\n1004,\u202e\x9b31m\n",
    ):
        file.write_text(table, "utf-8")
        told = scripts.run("diff", str(file))
        assert ("- " in told.stdout) is ("delete" in table)
        assert_harmless(told.stdout + told.stderr)
