"""The benchmarks run to their end, and what is no timing holds: bytes, and the quiet of screens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks import growth, sites
from tests.benchmarks.__main__ import ROWS

pytestmark = pytest.mark.long

FIGURE = r"[\d,.]+"
LINE = re.compile(
    rf"^(.{{54}}) +(?P<figure>{FIGURE}) +(?:{FIGURE}|-) +(?:{FIGURE}|-)  (?P<met>\w*)", re.M
)


def test_the_benchmarks_print_their_table_and_no_screen_writes_while_idle() -> None:
    command = [sys.executable, "-m", "tests.benchmarks", "1", "--downs", "2"]
    result = subprocess.run(
        [*command, "--idle", "0.8", "--no-growth"], capture_output=True, text=True, timeout=1200
    )
    assert result.returncode == 0, result.stderr
    told, _, quiet = result.stdout.partition("bytes written")
    rows = [*LINE.finditer(told)]
    assert [match[1].strip() for match in rows] == [row.what.strip() for row in ROWS], told
    for row, match in zip(ROWS, rows, strict=True):
        assert (match["met"] == "") is (row.must is None), told
        figure = float(match["figure"].replace(",", ""))
        if row.must is not None and "bytes" in row.what:
            assert figure <= row.must, told
    written = dict(re.findall(r"^ {2}(\S.*?) {2,}(\d+)$", quiet, re.M))
    assert len(written) == 17, quiet
    assert set(written.values()) == {"0"}, quiet


def test_large_sites_are_measured_to_their_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {"MANY_LOCKS": 50, "MANY_OPERATIONS": 600, "MANY_REMOTES": 2000, "ROUNDS": 1, "OPENED": 2}
    for name, count in few.items():
        monkeypatch.setattr(growth, name, count)
    for name, count in {"CHANGED": 5, "ROUNDS": 1, "RUN_ROWS": 1000, "LETTERS": 2}.items():
        monkeypatch.setattr(sites, name, count)
    tree = Path(__file__).parents[2]
    rows = [*growth.growth(tmp_path / "growth"), *growth.openings(tmp_path / "openings", tree)]
    rows += sites.sites(tmp_path / "sites")
    figures = {what: figure for what, figure, _, _ in rows}
    assert len(figures) == 16, figures
    assert min(figures.values()) > 0, figures
