"""The terminal's own size decides; COLUMNS and LINES count only where it reports none."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockterm.service.running import RunningService
from tests.terminal.pty_session import LOCKTERM, PtySession, Start, clean_environment


@pytest.mark.parametrize(
    "variables",
    [
        {"COLUMNS": "120", "LINES": "40"},
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in ({"COLUMNS": "60"}, {"LINES": "20"}, {"COLUMNS": "x"})
        ),
    ],
    ids=str,
)
def test_ui_has_the_terminals_size_when_the_environment_says_another(
    variables: dict[str, str], lockterm: Start, service: RunningService
) -> None:
    session = lockterm(
        "--base-url", service.base_url, "--lock", "1001", env=variables, seen="page 1 of 7"
    )
    session.wait_until(
        lambda: "page 1 of 7" in session.lines[22] and "? help" in session.lines[23],
        "pager and keys in the last lines",
    )
    assert len(session.lines[23].rstrip()) > 70
    session.resize(60, 20)
    session.wait_until(
        lambda: "page 1 of 9" in session.lines[18] and "? help" in session.lines[19],
        "pager and keys in the last lines of the smaller window",
    )
    session.resize(100, 30)
    session.wait_until(lambda: "? help" in session.lines[29], "keys in the last line")


@pytest.mark.parametrize(
    ("variables", "rows"),
    [({}, 24), pytest.param({"COLUMNS": "70", "LINES": "22"}, 22, marks=pytest.mark.long)],
    ids=str,
)
def test_ui_has_24_rows_when_the_terminal_reports_no_size(
    variables: dict[str, str], rows: int, service: RunningService, tmp_path: Path
) -> None:
    command = ["/bin/sh", "-c", 'stty rows 0 cols 0; exec "$@"', "sh", *LOCKTERM]
    command += ["--base-url", service.base_url, "--lock", "1001"]
    # The emulator has more rows, so that lockterm would show more if it took other ones.
    with PtySession(command, clean_environment(tmp_path, **variables), size=(80, 30)) as session:
        session.wait_for("page 1 of")
        session.wait_until(lambda: "? help" in session.lines[rows - 1], "keys in the last line")


def test_tables_have_the_terminals_width_when_the_environment_says_another(
    lockterm: Start, service: RunningService
) -> None:
    shown = []
    for variables in ({}, {"COLUMNS": "40"}, {"COLUMNS": "300"}):
        session = lockterm("--base-url", service.base_url, "remotes", "list", "1003", env=variables)
        session.wait_exit()
        shown.append(session.lines)
    assert shown[0] == shown[1] == shown[2]
    rows = shown[0][3:]  # a sentence about the clock stands before the table
    assert max(map(len, rows)) > 40
