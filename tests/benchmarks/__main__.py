"""Start, keys and quiet of lockterm beside a bare Textual app's, in one run, with the targets.

``python -m tests.benchmarks [RUNS]``: interleaved runs in ptys of 80x24. Read the ratios: absolute
times are the machine's. ``hello`` is the bare app; ``ttybench.py`` says how things are measured.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lockterm.service.running import RunningService
from tests.benchmarks.measuring import (
    FAR,
    FRAME,
    HELLO,
    PAGE,
    cases,
    idle_bytes,
    measure,
    sent_bytes,
)
from tests.benchmarks.slow_proxy import SlowProxy

LATENCY_S = 0.15
LINE = "{:44}{:>12}{:>12}{:>9}   {}"


def start(key: str) -> Callable[[dict[str, Any]], float]:
    """A figure of the start."""
    return lambda run: float(run[key])


def keys(label: str, key: str) -> Callable[[dict[str, Any]], float]:
    """A figure of the keys of one kind: their median."""

    def figure(run: dict[str, Any]) -> float:
        samples = [sample[key] for sample in run["key_samples"][label]]
        return statistics.median(value for value in samples if value is not None)

    return figure


FIGURES: tuple[tuple[str, str, str, Callable[[dict[str, Any]], float], str], ...] = (
    ("frame with titles and footer, ms", FRAME, HELLO, start("until_ms"), "<= 1.05 of hello"),
    ("first page from loopback, ms", PAGE, HELLO, start("until_ms"), "<= 1.2 of hello"),
    ("first page from 150 ms away, ms", FAR, HELLO, start("until_ms"), "-"),
    ("CPU until stable, ms", PAGE, HELLO, start("cpu_ms"), "-"),
    ("bytes to stable", PAGE, HELLO, start("stable_bytes"), "<= 12,400"),
    ("peak RSS at the first page, MiB", PAGE, HELLO, start("rss_peak_mib"), "<= 1.5 of hello"),
    ("cursor down, ms", PAGE, HELLO, keys("down", "last_ms"), "<= 1.1 of hello"),
    ("cursor down, bytes", PAGE, HELLO, keys("down", "bytes"), "<= 800"),
    ("page flip, ms", PAGE, HELLO, keys("page", "last_ms"), "<= 1.1 of hello"),
    ("page flip, bytes", PAGE, HELLO, keys("page", "bytes"), "<= 5,400"),
    ("page flip 150 ms away (beside loopback), ms", FAR, PAGE, keys("page", "last_ms"), "as at 0"),
)
"""What it is, whose, beside whose, how it comes out of one run, the target."""


def table(report: dict[str, Any]) -> Iterator[str]:
    """The figures as lines: medians, and the median of the ratios within each round.

    Raises:
        AssertionError: A case did not come to its end.
    """
    raw: dict[str, list[dict[str, Any]]] = report["raw"]
    for name, runs in raw.items():
        for run in runs:
            assert run["ok"], f"{name} never showed what was waited for:\n{run.get('screen')}"
    yield LINE.format("", "lockterm", "beside", "ratio", "target")
    for what, name, beside, figure, target in FIGURES:
        ours, theirs = [[figure(run) for run in raw[one]] for one in (name, beside)]
        ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        medians = (f"{statistics.median(values):,.1f}" for values in (ours, theirs))
        yield LINE.format(what, *medians, f"{ratio:.2f}", target)


def main() -> None:
    """Run everything and print it."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("runs", nargs="?", type=int, default=9, help="rounds (9)")
    parser.add_argument("--warmup", type=int, default=1, help="rounds before, not counted (1)")
    parser.add_argument("--downs", type=int, default=19, help="cursor keys in each run (19)")
    parser.add_argument("--idle", type=float, default=10.0, help="seconds of quiet a screen (10)")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        RunningService() as service,
        SlowProxy(service.base_url, LATENCY_S) as far,
    ):
        home = Path(name)
        suite = cases(service.base_url, far.base_url, home, options.downs)
        report = measure(suite, options.runs, options.warmup, home)
        print(f"{options.runs} interleaved rounds; medians\n")
        print("\n".join(table(report)), flush=True)
        print("\nbytes sent over the link to the terminal")
        for number, (look, sent) in enumerate(sent_bytes(service.base_url, home, options.idle)):
            if not number:
                print(f"  {'':24}" + "".join(f"{what:>26}" for what in sent))
            print(f"  {look:24}" + "".join(f"{count:>26,}" for count in sent.values()), flush=True)
        print(f"\nbytes written in {options.idle:g} s in which nothing happens; target 0")
        for screen, count in idle_bytes(suite[2], options.idle):
            print(f"  {screen:32}{count:>6}", flush=True)


if __name__ == "__main__":
    main()
