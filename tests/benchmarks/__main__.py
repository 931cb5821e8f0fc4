"""The table of what lockterm costs: what it is today, must be, and may come to.

``python -m tests.benchmarks [ROUNDS]``: interleaved runs in ptys of 80x24, beside a bare Textual
app (``hello``, whose time to its rows is H) and a client as one would write it first (``naive``).
Read the ratios: absolute times are the machine's. ``ttybench.py`` says how things are measured.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from lockterm.service.running import RunningService
from tests.benchmarks import service as service_table
from tests.benchmarks.growth import growth, openings
from tests.benchmarks.measuring import (
    FAR,
    FAR_NAIVE,
    FRAME,
    HELLO,
    PAGE,
    THIN_CURSOR,
    Addresses,
    case_of,
    cases,
    idle_bytes,
)
from tests.benchmarks.sites import sites
from tests.benchmarks.ttybench import measure
from tests.servers import Link, port_of

TRIP_S = 0.15
"""The round trip of what is far."""
LINE = "{:54}{:>10}{:>9}{:>9}  {:9}{}"


def start(key: str) -> Callable[[dict[str, Any]], float]:
    """A figure of the start."""
    return lambda run: float(run[key])


def keys(label: str, key: str) -> Callable[[dict[str, Any]], float]:
    """A figure of the keys of one kind: their median."""

    def figure(run: dict[str, Any]) -> float:
        samples = [sample[key] for sample in run["key_samples"][label]]
        return statistics.median(value for value in samples if value is not None)

    return figure


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    what: str
    case: str
    """Whose figure it is."""
    figure: Callable[[dict[str, Any]], float]
    """How it comes out of one run."""
    must: float | None
    stretch: float | None
    beside: str = ""
    """Whose figure it is told as a multiple of, round by round; empty: it is told as it is."""
    also: str = ""
    """Whose figure stands beside it, for comparison."""


ROWS = (
    Row("frame with titles and footer, H", FRAME, start("until_ms"), 1.25, 1.10, HELLO),
    Row("first live rows from loopback, H", PAGE, start("until_ms"), 1.35, 1.15, HELLO),
    Row("150 ms away: live rows, of the naive client", FAR, start("until_ms"),
        0.60, 0.50, FAR_NAIVE),
    Row("bytes until stable", PAGE, start("stable_bytes"), 3200, None, also=HELLO),
    Row("cursor key, bytes", PAGE, keys("down", "bytes"), 260, None, also=HELLO),
    Row("   quiet", THIN_CURSOR, keys("down", "bytes"), 60, None),
    Row("   latency, beside hello's", PAGE, keys("down", "last_ms"), 1.0, 0.85, HELLO),
    Row("page flip of 20 rows, bytes", PAGE, keys("page", "bytes"), 2000, None, also=HELLO),
    Row("   latency, beside hello's", PAGE, keys("page", "last_ms"), 0.65, 0.55, HELLO),
    Row("peak RSS, beside hello's", PAGE, start("rss_peak_mib"), 1.40, 1.30, HELLO),
)  # fmt: skip


def line(what: str, figure: float, must: float | None, stretch: float | None, note: str) -> str:
    """A line of the table."""
    met = ""
    if must is not None:
        met = "stretch" if stretch is not None and figure <= stretch else "must"
        met = met if figure <= must else "MISSED"
    return LINE.format(what, _told(figure), _told(must), _told(stretch), met, note)


def _told(figure: float | None) -> str:
    if figure is None:
        return "-"
    return f"{figure:,.2f}" if abs(figure) < 10 and figure % 1 else f"{figure:,.0f}"


def table(raw: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """The rows as lines: medians, or the median of the ratios within each round.

    Raises:
        AssertionError: A case did not come to its end.
    """
    for name, runs in raw.items():
        for run in runs:
            assert run["ok"], f"{name} never showed what was waited for:\n{run.get('screen')}"
    for row in ROWS:
        ours = [row.figure(run) for run in raw[row.case]]
        notes, found = [], statistics.median(ours)
        if row.beside:
            theirs = [row.figure(run) for run in raw[row.beside]]
            notes.append(f"{found:,.1f} and {statistics.median(theirs):,.1f} of {row.beside}")
            found = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        if row.also:
            others = [row.figure(run) for run in raw[row.also]]
            ratio = statistics.median(a / b for a, b in zip(ours, others, strict=True))
            notes.append(f"{ratio:.2f} of {row.also}, {statistics.median(others):,.1f}")
        yield line(row.what, found, row.must, row.stretch, "; ".join(notes))


def main() -> None:
    """Run everything and print it; ``service`` alone is a table of its own."""
    if sys.argv[1:] == ["service"]:
        service_table.main()
        return
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("rounds", nargs="?", type=int, default=5, help="interleaved (5)")
    parser.add_argument("--warmup", type=int, default=1, help="rounds before, not counted (1)")
    parser.add_argument("--downs", type=int, default=9, help="cursor keys in each run (9)")
    parser.add_argument("--no-growth", action="store_true", help="leave out large sites")
    parser.add_argument("--before", type=Path, help="a checkout of an earlier lockterm: compare")
    parser.add_argument("--idle", type=float, default=2.0, help="seconds of quiet a screen (2)")
    options = parser.parse_args()
    begun_s = time.monotonic()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        service = stack.enter_context(RunningService())
        port = port_of(service)
        far = stack.enter_context(Link(port, TRIP_S, connects_s=TRIP_S))
        at = Addresses(service.base_url, far.base_url)
        suite = cases(at, home, options.downs)
        found = measure(suite, options.rounds, max(options.warmup, 1))
        print(f"{options.rounds} interleaved rounds; medians\n")
        print(LINE.format("", "today", "must", "stretch", "met", "beside"))
        print("\n".join(table(found)), flush=True)
        before = options.before and options.before.resolve()
        more = [openings(home / "openings", before)] if before else []
        if not options.no_growth:
            more += [growth(home / "grown"), sites(home / "sites")]
        for what, figure, must, stretch in chain(*more):
            print(line(what, figure, must, stretch, ""), flush=True)
        print(f"\nbytes written in {options.idle:g} s in which nothing happens; target 0")
        for screen, count in idle_bytes(case_of(suite, PAGE), options.idle):
            print(f"  {screen:32}{count:>6}", flush=True)
    print(f"\nall of it took {(time.monotonic() - begun_s) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
