"""Commands that shorten access: they show it before they send, and can refuse it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockterm.domain.dates import DAY_MS
from tests.cli.conftest import Scripts
from tests.cli.test_applying import lines

NOON_2090 = 3_802_588_200_000
"""2090-07-01 12:30 in Berlin."""

PERIOD = {"remoteType": 2, "startDate": 1_700_000_000_000, "endDate": NOON_2090}
FEWER = "Shortens access by 30 days: the remote will expire 1 Jun 2090 12:30, not 1 Jul 2090 12:30."
TABLE = "lockId,remoteNumber,endDate\n1004,A-1,2090-06-01 12:30\n1004,B-1,2090-02-01 12:30\n"
SUM = "2 remotes will expire up to 149 days earlier."


@pytest.fixture
def table(scripts: Scripts) -> str:
    """Write a table that shortens two remotes."""
    scripts.have(**PERIOD)
    scripts.have(remoteName="Ben", remoteNumber="B-1", **PERIOD)
    file = scripts.home / "table.csv"
    file.write_text(TABLE)
    return str(file)


def ends(scripts: Scripts) -> list[int]:
    return [row["end_ms"] for row in scripts.remotes(1004)]


def test_plan_shows_shortened_access(scripts: Scripts, table: str) -> None:
    steps, _ = lines(scripts, "diff", table, code=1)
    assert steps[0]["message"] == FEWER
    for command, code in ((["apply", "--dry-run"], 0), (["diff"], 1), (["apply", "--yes"], 0)):
        said = scripts.run(*command, table)
        assert said.returncode == code, said.stderr
        assert f"note: {FEWER}" in said.stdout and f"note: {SUM}" in said.stdout


def test_apply_only_renews_access_when_no_shorten_is_set(scripts: Scripts, table: str) -> None:
    for more in (["--yes"], ["--dry-run"], ["--yes", "--json"]):
        said = scripts.run("apply", table, "--no-shorten", *more)
        assert said.returncode == 1
        assert f"{SUM} --no-shorten does not allow that. Nothing was sent." in said.stderr
    assert scripts.writes() == []
    assert ends(scripts) == [NOON_2090, NOON_2090]

    Path(table).write_text("lockId,remoteNumber,endDate\n1004,A-1,+30d\n1004,B-1,+1y\n")
    said = scripts.run("apply", table, "--no-shorten", "--yes")
    assert said.returncode == 0, said.stderr
    assert "lose access" not in said.stdout
    assert ends(scripts) == [NOON_2090 + 30 * DAY_MS, NOON_2090 + 365 * DAY_MS]


def test_update_needs_yes_when_it_shortens_access(scripts: Scripts) -> None:
    remote_id = str(scripts.have(**PERIOD))
    given = ("remotes", "update", "1004", remote_id, "--end", "2090-06-01 12:30")
    scripts.refuse(*given, words=f"--end: {FEWER}")
    rehearsed = scripts.run(*given, "--dry-run")
    assert (rehearsed.returncode, FEWER in rehearsed.stderr) == (0, True)
    assert scripts.writes() == []
    assert scripts.run(*given, "--yes").returncode == 0
    assert ends(scripts) == [NOON_2090 - 30 * DAY_MS]


def test_plan_shows_base_and_shortening_when_a_relative_end_is_earlier(
    scripts: Scripts, table: str
) -> None:
    Path(table).write_text("lockId,remoteNumber,endDate\n1004,A-1,+0d 10:30\n")
    (step,), _ = lines(scripts, "apply", "--dry-run", table)
    assert step["message"] == (
        "End: current end 1 Jul 2090 12:30 + 0 days. Shortens access by 2 hours: the"
        " remote will expire 1 Jul 2090 10:30, not 1 Jul 2090 12:30."
    )
