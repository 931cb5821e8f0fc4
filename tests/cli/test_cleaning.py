"""``lockterm clean`` deletes remotes that expired some time ago, and no others."""

from __future__ import annotations

import time

from lockterm.domain.locks import Lock
from lockterm.domain.remotes import RemoteType
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
