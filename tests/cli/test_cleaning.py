"""``lockterm clean`` deletes remotes that expired some time ago, and no others."""

from __future__ import annotations

import time

from lockterm.domain.constants import RemoteType
from lockterm.domain.locks import Lock
from tests.cli.conftest import Scripts

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
    empty = scripts.run("clean", "--expired", "30d", "--yes")
    assert (empty.returncode, "lock book of this profile is empty" in empty.stderr) == (2, True)

    scripts.keep([Lock(1003), Lock(1004)])
    for lock_id in (1003, 1004):
        have(scripts, "Long ago", 400, lock_id)
    scripts.keep([Lock(7777)])
    refused = scripts.run("clean", "--expired", "300d", "--yes")
    assert refused.returncode == 3
    assert "lock 7777: Refused by the service" in refused.stderr
    assert (
        "Nothing will be deleted, because lock 7777 could not be read completely." in refused.stdout
    )
    assert scripts.writes() == []

    for lock_id in (1003, 1004):
        done = scripts.run("clean", "--expired", "300d", "--lock", str(lock_id), "--yes")
        assert done.returncode == 0, done.stdout
        assert "Long ago" not in names(scripts, lock_id)


def test_clean_sends_nothing_when_it_would_delete_too_many_or_the_age_is_wrong(
    scripts: Scripts,
) -> None:
    have(scripts, "One", 40)
    have(scripts, "Two", 40)
    refused = scripts.run(
        *("clean", "--expired", "4w", "--lock", "1004", "--max-deletes", "1", "--yes")
    )
    assert refused.returncode == 2
    assert "2 remotes would be deleted, but --max-deletes allows 1" in refused.stderr
    refused = scripts.run("clean", "--expired", "1mo", "--lock", "1004", "--yes")
    assert (refused.returncode, "30d or 4w" in refused.stderr) == (2, True)
    assert scripts.writes() == []
