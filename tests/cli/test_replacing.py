"""``lockterm replace`` gives a remote a new fob, with one plan."""

from __future__ import annotations

from tests.cli.conftest import Scripts


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
