"""``lockterm copy``, ``replace`` and ``clean``: the plan, and what it changes."""

from __future__ import annotations

import json
import time

import pytest

from lockterm.domain.locks import Lock
from lockterm.domain.remotes import RemoteType
from tests.cli.conftest import Scripts

# --- copy ----------------------------------------------------------------------------------------


ALL = ("--expired", "copy")


def named(scripts: Scripts, lock_id: int) -> list[str]:
    return sorted(row["name"] for row in scripts.remotes(lock_id))


def expired_count(scripts: Scripts) -> int:
    """Return how many samples on lock 1003 have expired; one of them expires today."""
    now_ms = time.time() * 1000
    rows = scripts.json("remotes", "list", "1003")["remotes"]
    ends = [row["endDate"] for row in rows if row["remoteType"] != RemoteType.PERMANENT]
    return sum(end is not None and end < now_ms for end in ends)


def test_copy_adds_each_remote_once_when_it_runs_twice(scripts: Scripts) -> None:
    shown = scripts.run("copy", "1003", "1004", *ALL, "--dry-run")
    assert shown.returncode == 0
    assert shown.stdout.splitlines()[0] == "lock 1004"
    assert "9 to add: 18 requests" in shown.stdout
    assert "note: Each remote gets a new ID and a new creation time." in shown.stdout
    assert (
        "Not copied, because the service does not return these values: user number," in shown.stdout
    )
    assert scripts.run("copy", "1003", "1004").returncode == 2, "somebody has to agree"
    assert scripts.writes() == []

    assert scripts.run("copy", "1003", "1004", *ALL, "--yes").returncode == 0
    names = ("remoteName", "remoteNumber", "remoteType", "addType", "startDate", "endDate")
    one, other = (
        sorted(
            json.dumps([remote[name] for name in (*names, "weekDay", "isCoerced", "extraData")])
            for remote in scripts.json("remotes", "list", lock, "--all")["remotes"]
        )
        for lock in ("1003", "1004")
    )
    assert one == other
    scripts.service.requests.clear()
    again = scripts.run("copy", "1003", "1004", *ALL, "--yes")
    assert (again.returncode, again.stdout.splitlines()[-1]) == (0, "9 steps unchanged.")
    assert scripts.writes() == []


def test_copy_skips_or_renames_a_remote_when_its_name_is_taken(scripts: Scripts) -> None:
    (name, *_) = named(scripts, 1003)
    other = scripts.have(remoteName=name, remoteNumber="X-1")
    shown = scripts.run("copy", "1003", "1004", *ALL, "--yes")
    assert shown.returncode == 1, "the fob will not open"
    words = f"The name is taken by remote {other}, number X-1, so this fob will not open the lock."
    assert words in shown.stdout
    assert "8 to add, 1 skipped (name taken). 16 requests" in shown.stdout
    assert "8 steps recorded, 1 not planned." in shown.stdout
    assert len(named(scripts, 1004)) == 9
    assert scripts.run("copy", "1003", "1004", *ALL, "--yes", "--taken", "rename").returncode == 0
    assert {name, f"{name} (2)"} <= {*named(scripts, 1004)}
    assert len(named(scripts, 1004)) == 10


def test_copy_counts_skipped_remotes_when_they_are_expired(scripts: Scripts) -> None:
    def count_left_out(*how: str) -> int:
        told = scripts.run("copy", "1003", "1004", "--json", *how)
        left_out: dict[str, int] = json.loads(told.stdout.splitlines()[-1])["leftOut"]
        return left_out["expired"]

    expired = expired_count(scripts)
    valid = 9 - expired
    assert count_left_out("--dry-run") == expired
    shown = scripts.run("copy", "1003", "1004", "--yes")
    assert shown.returncode == 0
    assert f"{valid} to add, {expired} skipped (expired). {valid * 2} requests" in shown.stdout
    assert len(named(scripts, 1004)) == valid
    again = scripts.run("copy", "1003", "1004", "--yes")
    nothing = f"Nothing to change, {expired} skipped (expired)\n{valid} steps unchanged."
    assert nothing in again.stdout
    assert count_left_out("--yes") == expired, "though there is nothing to do"
    shown = scripts.run("copy", "1003", "1004", "--yes", *ALL)
    assert f"{expired} to add: {expired * 2} requests" in shown.stdout
    assert len(named(scripts, 1004)) == 9
    assert count_left_out(*ALL, "--yes") == 0


def test_copy_reports_same_and_similar_names_and_numbers_when_the_lock_has_them(
    scripts: Scripts,
) -> None:
    one, other, same, *_ = scripts.json("remotes", "list", "1003")["remotes"]
    number, name = one["remoteNumber"].lower(), other["remoteName"].upper()
    scripts.have(remoteName="Somebody", remoteNumber=number)
    scripts.have(remoteName=name, remoteNumber="Z-77")
    scripts.have(remoteName="Same fob", remoteNumber=same["remoteNumber"])
    copied = scripts.run("copy", "1003", "1004", *ALL, "--yes", "--taken", "rename")
    shown = " ".join(copied.stdout.split())
    assert f"The lock has a similar number: {number}." in shown
    assert shown.count("similar number") == 1
    assert f"The lock has a similar name: “{name}”." in shown
    assert shown.count("similar name") == 1
    assert "The lock already has this remote, with a different name" in shown
    assert len(named(scripts, 1004)) == 11, "all but the fob that is there"


def test_copy_fills_other_locks_when_one_cannot_be_read(scripts: Scripts) -> None:
    told = scripts.run("copy", "1003", "7777", "1004", *ALL, "--yes", "--json")
    assert told.returncode == 1
    *steps, last = [json.loads(line) for line in told.stdout.splitlines()]
    assert {(step["lockId"], step["state"]) for step in steps} == {
        (1004, "recorded"),
        (7777, "refused"),
    }
    assert (last["counts"]["recorded"], last["counts"]["refused"]) == (9, 9)
    for locks in (("7777", "1004"), ("1003", "1003")):
        refused = scripts.run("copy", *locks, "--yes")
        assert refused.returncode in (1, 2)
        assert refused.stdout == ""
    assert len(named(scripts, 1004)) == 9


@pytest.mark.long
def test_copy_restores_remotes_when_the_source_is_an_export_or_backup(scripts: Scripts) -> None:
    before = named(scripts, 1003)
    file = scripts.home / "server-room.json"
    assert scripts.run("export", "1003", "-o", str(file)).returncode == 0
    assert scripts.run("remotes", "clear", "1003", "--yes").returncode == 0
    (clear,) = [one["id"] for one in scripts.json("history") if one["call"] == "clear"]
    assert scripts.run("copy", clear, "1003", "1004", "--yes").returncode == 2
    assert scripts.run("copy", clear, "1004", *ALL, "--yes").returncode == 0
    shown = scripts.run("copy", clear, "1003", "--yes")
    assert shown.returncode == 0 and "9 steps recorded" in shown.stdout
    assert "note: Each remote gets a new ID" in shown.stdout
    assert named(scripts, 1003) == named(scripts, 1004) == before
    again = scripts.run("copy", clear, "1003", "--yes")
    assert (again.returncode, again.stdout.splitlines()[-1]) == (0, "9 steps unchanged.")

    assert scripts.run("remotes", "clear", "1003", "--yes").returncode == 0
    assert scripts.run("copy", str(file), "1003", "1004", *ALL, "--yes").returncode == 0
    assert named(scripts, 1003) == named(scripts, 1004) == before


def test_copy_refuses_a_source_when_it_is_neither_export_nor_backup(scripts: Scripts) -> None:
    both = scripts.home / "both.json"
    assert scripts.run("export", "1003", "1001", "-o", str(both)).returncode == 0
    table = scripts.home / "table.csv"
    assert scripts.run("export", "1003", "-o", str(table)).returncode == 0
    for source, words in (
        (str(both), "an export of 2 locks"),
        (str(table), "Use a JSON export"),
        ("nowhere.json", "No such file"),
        ("0" * 32, "There is no such change"),
    ):
        refused = scripts.run("copy", source, "1004", "--yes")
        assert (refused.returncode, refused.stdout) != (0, ""), source
        assert words in refused.stderr
    assert scripts.writes() == []


PERIOD = {"remoteType": 2, "startDate": 1_796_079_600_000, "endDate": 3_802_608_000_000}
"""Until 2090-07-01 18:00 in Berlin."""
SUMMER = "1 Jul 2090 18:00 +02:00 in Europe/Berlin becomes 1 Jul 2090"


@pytest.mark.parametrize(
    ("zone", "times", "hours", "words"),
    [
        ("America/New_York", "moment", (0, 0), f"{SUMMER} 12:00 -04:00 in America/New_York."),
        ("America/New_York", "wall-clock", (6, 6), f"{SUMMER} 18:00 -04:00 in America/New_York."),
        ("UTC-05:00", "wall-clock", (6, 7), f"{SUMMER} 18:00 -05:00 in UTC-05:00."),
        ("Europe/Berlin", "moment", (0, 0), ""),
    ],
)
def test_copy_keeps_moment_or_time_of_day_when_zones_differ(
    scripts: Scripts, zone: str, times: str, hours: tuple[int, int], words: str
) -> None:
    scripts.keep([Lock(1004, name="One"), Lock(1003, name="Other", zone=zone)])
    scripts.have(remoteNumber="Z-1", **PERIOD)
    how = ("--times", times) if times == "wall-clock" else ()
    copied = scripts.run("copy", "1004", "1003", *how, "--yes")
    assert copied.returncode == 0, copied.stderr
    kept = "local time" if how else "moment"
    note = f"note: The time zones differ. The copy keeps the {kept}, so {words}"
    assert note in copied.stdout if words else "zone" not in copied.stdout
    *_, row = scripts.remotes(1003)
    at = tuple(PERIOD[name] for name in ("startDate", "endDate"))
    moved = (row["start_ms"] - at[0], row["end_ms"] - at[1])
    assert moved == (hours[0] * 3_600_000, hours[1] * 3_600_000)


def test_copy_cannot_keep_the_time_of_day_when_a_zone_is_unknown(scripts: Scripts) -> None:
    scripts.keep([Lock(1004, name="Berlin"), Lock(1003, name="Dock", zone="Europe/Atlantis")])
    scripts.have(remoteNumber="Z-1", **PERIOD)
    scripts.have(remoteName="Ever", remoteNumber="E-1")
    copied = scripts.run("copy", "1004", "1003", "--times", "wall-clock", "--yes")
    assert copied.returncode == 1
    assert 'does not know the time zone "Europe/Atlantis"' in copied.stdout
    assert [row["name"] for row in scripts.remotes(1003)][9:] == ["Ever"]


# --- replace -------------------------------------------------------------------------------------


def test_replace_shows_the_plan_and_swaps_the_fob(scripts: Scripts) -> None:
    old = str(scripts.have(extraData={"team": "north"}))
    command = ("replace", "1004", old, "--number", "B-2", "--mac", "C4:4E:AC:01:02:03")
    shown = scripts.run(*command, "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert "- Anna (A-1)" in shown.stdout and "+ Anna (B-2): always" in shown.stdout
    assert "lockterm therefore deletes the old" in shown.stdout
    assert "does not return these values: admin right, business ID." in shown.stdout
    assert scripts.run(*command).returncode == 2, "it asks"
    assert scripts.writes() == []

    done = scripts.run(*command, "--yes")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "2 steps recorded.")
    assert "Replaced 1 fob on " in done.stderr
    (now,) = [row for row in scripts.remotes(1004) if row["name"] == "Anna"]
    assert (now["number"], now["mac"]) == ("B-2", "C4:4E:AC:01:02:03")
    assert now["extra_data"] == '{"team": "north"}'
    assert scripts.writes() == ["delete", "add"]
    assert [one.call for one in scripts.history()] == ["delete", "add"]


def test_replace_sends_nothing_when_the_number_is_in_use(scripts: Scripts) -> None:
    old = str(scripts.have())
    scripts.have(remoteName="Ben", remoteNumber="N-7")
    replace = ("replace", "1004", old, "--yes")
    words = "Ben on this lock has the same number. Nothing was sent."
    scripts.refuse(*replace, "--number", "N-7", words=words)
    scripts.refuse(*replace)
    scripts.refuse("replace", "1004", "999999", "--number", "B-2", "--yes", code=1)
    assert scripts.writes() == []
    assert {row["name"]: row["number"] for row in scripts.remotes(1004)}["Anna"] == "A-1"


# --- clean ---------------------------------------------------------------------------------------


DAY_MS = 86_400_000


def have(scripts: Scripts, name: str, ended_days_ago: float, lock_id: int = 1004) -> int:
    end_ms = int(time.time() * 1000 - ended_days_ago * DAY_MS)
    return scripts.have(
        lock_id,
        remoteName=name,
        remoteNumber=f"N-{name}",
        remoteType=RemoteType.TIME_LIMITED,
        startDate=end_ms - 90 * DAY_MS,
        endDate=end_ms,
    )


def names(scripts: Scripts, lock_id: int = 1004) -> set[str]:
    return {row["name"] for row in scripts.remotes(lock_id)}


def test_clean_deletes_only_remotes_when_they_expired_long_ago(scripts: Scripts) -> None:
    before = names(scripts)
    for name, days in (("Long ago", 31), ("Just inside", 29), ("Still valid", -5)):
        have(scripts, name, days)
    shown = scripts.run("clean", "--expired", "30d", "--lock", "1004", "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert "- Long ago (N-Long ago)" in shown.stdout
    assert "1 to delete" in shown.stdout
    assert scripts.run("clean", "--expired", "30d", "--lock", "1004").returncode == 2, "it asks"
    assert scripts.writes() == []

    done = scripts.run("clean", "--expired", "30d", "--lock", "1004", "--yes")
    assert done.returncode == 0
    said = ["1 step recorded.", "Deleted from lock 1004: Long ago (N-Long ago)."]
    assert done.stdout.splitlines()[-2:] == said
    assert names(scripts) == before | {"Just inside", "Still valid"}
    again = scripts.run("clean", "--expired", "30d", "--lock", "1004", "--yes")
    assert (again.returncode, "Nothing to change" in again.stdout) == (0, True)


def test_clean_reads_all_locks_of_the_book_and_deletes_nothing_when_one_is_refused(
    scripts: Scripts,
) -> None:
    old = ("clean", "--expired", "300d", "--yes")
    scripts.refuse(*old, words="lock book of this profile is empty")
    scripts.keep([Lock(1003), Lock(1004), Lock(7777)])
    for lock_id in (1003, 1004):
        have(scripts, "Long ago", 400, lock_id)
    refused = scripts.run(*old)
    assert refused.returncode == 3
    assert "lock 7777: Refused by the service" in refused.stderr
    words = "Nothing will be deleted, because lock 7777 could not be read completely."
    assert words in refused.stdout
    assert scripts.writes() == []
    for lock_id in (1003, 1004):
        assert scripts.run(*old, "--lock", str(lock_id)).returncode == 0
        assert "Long ago" not in names(scripts, lock_id)


def test_clean_sends_nothing_when_it_would_delete_too_many_or_the_age_is_wrong(
    scripts: Scripts,
) -> None:
    have(scripts, "One", 40)
    have(scripts, "Two", 40)
    clean = ("clean", "--lock", "1004", "--yes", "--expired")
    refused = scripts.run(*clean, "4w", "--max-deletes", "1")
    assert refused.returncode == 2
    assert "2 remotes would be deleted, but --max-deletes allows 1" in refused.stderr
    scripts.refuse(*clean, "1mo", words="30d or 4w")
    assert scripts.writes() == []
