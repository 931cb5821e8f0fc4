"""The benchmarks run to their end, and what is no timing holds: bytes, and the quiet of screens."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.benchmarks import growth, sites
from tests.benchmarks.__main__ import ROWS
from tests.programs import require

pytestmark = pytest.mark.long

FIGURE = r"[\d,.]+"
LINE = re.compile(
    rf"^(.{{54}}) +(?P<figure>{FIGURE}) +(?:{FIGURE}|-) +(?:{FIGURE}|-)  (?P<met>\w*)", re.M
)


def test_the_benchmarks_print_their_table_and_no_screen_writes_while_idle() -> None:
    require("pip", "python3-pip", found=find_spec("pip") is not None)
    command = [sys.executable, "-m", "tests.benchmarks", "1", "--downs", "2"]
    result = subprocess.run(
        [*command, "--idle", "0.8", "--no-growth"], capture_output=True, text=True, timeout=1200
    )
    assert result.returncode == 0, result.stderr
    told, _, quiet = result.stdout.partition("bytes written")
    rows = [*LINE.finditer(told)]
    assert [match[1].strip() for match in rows[:-1]] == [row.what.strip() for row in ROWS], told
    assert rows[-1][1].startswith("first start after pip install")
    for row, match in zip(ROWS, rows, strict=False):
        assert (match["met"] == "") is (row.must is None), told
        figure = float(match["figure"].replace(",", ""))
        if row.must is not None and "bytes" in row.what:
            assert figure <= row.must, told
    written = dict(re.findall(r"^ {2}(\S.*?) {2,}(\d+)$", quiet, re.M))
    assert len(written) == 17, quiet
    assert set(written.values()) == {"0"}, quiet


def test_what_grows_is_measured_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"MANY_LOCKS": 50, "MANY_OPERATIONS": 600, "MANY_REMOTES": 2000, "FLIPS": 8, "ROUNDS": 1}
    few |= {"OPENED": 3, "OPENED_BEFORE": 1}
    for name, count in few.items():
        monkeypatch.setattr(growth, name, count)
    rows = [*growth.growth(tmp_path / "growth"), *growth.flips(tmp_path / "flips")]
    rows += growth.openings(tmp_path / "openings")
    figures = {what: figure for what, figure, _, _ in rows}
    assert len(figures) == 14, figures
    assert figures["10 pages searched: answers kept on the disk"] == 0
    assert figures["10 pages searched: bytes to the terminal"] < 5000


def test_work_on_many_locks_is_measured_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {"CHANGED": 5, "FEW_ROWS": 10, "MANY_ROWS": 30, "ROUNDS": 1, "ALLOWED": 10**6}
    few |= {"RUN_ROWS": 1000, "LETTERS": 2}
    for name, count in few.items():
        monkeypatch.setattr(sites, name, count)
    rows = [*sites.sites(tmp_path / "sites"), *sites.limited(tmp_path / "limited")]
    figures = {what: figure for what, figure, _, _ in rows}
    assert len(figures) == 10, figures
    assert figures["30 rows applied to 5 locks: not recorded"] == 0
    assert figures["30 rows applied to 5 locks: MiB more than one"] < 30
