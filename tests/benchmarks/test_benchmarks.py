"""The benchmarks run to their end, and what is no timing holds: bytes, and the quiet of screens."""

from __future__ import annotations

import re
import subprocess
import sys


def test_the_benchmarks_print_their_table_and_no_screen_writes_while_idle() -> None:
    command = [sys.executable, "-m", "tests.benchmarks", "1", "--warmup", "0", "--downs", "2"]
    result = subprocess.run(
        [*command, "--idle", "0.8"], capture_output=True, text=True, timeout=240
    )
    assert result.returncode == 0, result.stderr
    told, _, quiet = result.stdout.partition("bytes written")
    figures = {
        match[1]: float(match[2].replace(",", ""))
        for match in re.finditer(r"^(\w.*?) {2,}([\d,.]+) +[\d,.]+ +[\d.]+ {3}", told, re.M)
    }
    assert len(figures) == 11, told
    assert figures["bytes to stable"] <= 12_400
    assert figures["cursor down, bytes"] <= 800
    assert figures["page flip, bytes"] <= 5_400
    written = dict(re.findall(r"^ {2}(\S.*?) {2,}(\d+)$", quiet, re.M))
    assert len(written) == 17, quiet
    assert set(written.values()) == {"0"}, quiet
