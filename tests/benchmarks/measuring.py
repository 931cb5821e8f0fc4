"""What is measured: commands in ptys of 80x24, interleaved, and the quiet of each screen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks import ttybench

HERE = Path(__file__).parent
FIRST_NAME = "Omar Haddad"
"""Stands on the first page of lock 1001 of the sample data."""
BEFORE_MINUTE_S = 40.0
"""The pager tells the age of its page anew at whole minutes: a session is measured before."""

UNCACHED = ("/bin/sh", "-c", 'rm -rf "$XDG_CACHE_HOME" && exec "$@"', "sh")
"""Begins each command: rows are to come from the service, not from what was last read of it."""

HELLO, FRAME, PAGE, FAR = "hello", "frame", "first page", "first page, far"
"""The cases: the bare app, and lockterm to its frame, to rows, to rows over a link with latency."""

BARE, DEFAULT, QUIET = "bare Textual app", "lockterm", "lockterm --quiet"
LOOKS: tuple[tuple[str, list[str], dict[str, str]], ...] = (
    (BARE, [], {}),
    (DEFAULT, [], {}),
    ("lockterm, true colour", [], {"COLORTERM": "truecolor"}),
    ("lockterm, NO_COLOR", [], {"NO_COLOR": "1"}),
    (QUIET, ["--quiet"], {}),
)
"""Name, options, environment."""

SCREENS = (
    ("remotes", "", r"page 1 of", ""),
    ("remote detail", "enter", r"Created", "escape"),
    ("remote form, in a field", "a", r"such as Anna", "escape"),
    ("find, in its field", "/", r"Find:", "escape"),
    ("user number, in its field", "u", r"[Uu]ser number", "escape"),
    ("delete dialog", "d", r"Delete", "escape"),
    ("clear dialog", "C", r"Delete (all|every)|137", "escape"),
    ("page size", "s", r"How many on a page", "escape"),
    ("vendor and model, in a field", "v", r"Vendor", "escape,wait:400,escape"),
    ("voice", "v,wait:400,escape", r"Voice", "escape"),
    ("history", "H", r"History", "escape"),
    ("message log", "M", r"[Mm]essage", "escape"),
    ("help", "?", r"Help", "escape"),
    ("command palette", "ctrl+p", r"Find an action", "escape"),
    ("locks", "escape", r"Locks +127|lock book is empty", ""),
    ("lock form, in a field", "a", r"Vendor", "escape"),
    ("lock by its id, in a field", "o", r"lock", "escape"),
)
"""Name, the keys that lead to it from the one before, what it shows, the keys that lead back."""


def environment(home: Path) -> dict[str, str]:
    """A home of its own, and a terminal like any other."""
    kinds = ("CONFIG", "DATA", "STATE", "CACHE")
    places = {f"XDG_{kind}_HOME": f"{home}/{kind.lower()}" for kind in kinds}
    return {"HOME": str(home), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **places}


def cases(url: str, far_url: str, home: Path, downs: int) -> list[dict[str, Any]]:
    """The cases for ``ttybench``.

    Args:
        url: The service.
        far_url: The same, behind a link with latency.
        home: A directory for what lockterm keeps.
        downs: How often the cursor is moved.
    """
    flip = "wait:300,label:page:n"
    keys = f"wait:400,down*{downs},{flip},{flip},{flip}"
    titles = r"Name .*Number(.*\n)+.*\? help"

    def lockterm(at: str) -> list[str]:
        return [*UNCACHED, sys.executable, "-m", "lockterm", "--base-url", at, "--lock", "1001"]

    hello = [*UNCACHED, sys.executable, str(HERE / "hello.py")]
    runs: list[dict[str, Any]] = [
        {"name": HELLO, "cmd": hello, "until": "Remote 001", "keys": keys},
        {"name": FRAME, "cmd": lockterm(url), "until": titles},
        {"name": PAGE, "cmd": lockterm(url), "until": FIRST_NAME, "keys": keys},
        {"name": FAR, "cmd": lockterm(far_url), "until": FIRST_NAME, "keys": keys},
    ]
    return [run | {"env": environment(home)} for run in runs]


def measure(suite: list[dict[str, Any]], runs: int, warmup: int, home: Path) -> dict[str, Any]:
    """Run every case so many times, A B C A B C, and return what ``ttybench`` reports."""
    file, report = home / "suite.json", home / "report.json"
    file.write_text(json.dumps(suite))
    command = [sys.executable, str(HERE / "ttybench.py"), "--suite", str(file)]
    command += ["--runs", str(runs), "--warmup", str(warmup)]
    command += ["--base", HELLO, "--json", str(report)]
    subprocess.run(command, check=True, env=os.environ, stdout=subprocess.PIPE)
    result: dict[str, Any] = json.loads(report.read_text())
    return result


def sent_bytes(url: str, home: Path, idle_s: float) -> Iterator[tuple[str, dict[str, int]]]:
    """Bytes to the terminal for a key each, and for a time in which nothing happens.

    Args:
        url: The service.
        home: A directory for what lockterm keeps.
        idle_s: That time, in seconds.

    Yields:
        A look of :data:`LOOKS`, and its bytes by what was done.

    Raises:
        AssertionError: Something was not reached.
    """
    bare = cases(url, url, home, 0)[0]
    page = cases(url, url, home, 0)[2]
    for name, options, more in LOOKS:
        case = bare if name == BARE else page
        session = _Session(case | {"cmd": [*case["cmd"], *options], "env": case["env"] | more})
        at_start = session.run.total
        downs = [session.bytes_of("down") for _ in range(5)]
        flips = [session.bytes_of("n") for _ in range(3)]
        form = session.bytes_of("a")
        assert session.shows("State" if name == BARE else "such as Anna"), session.text()
        sent = {
            "to the first page": at_start,
            "cursor down": sorted(downs)[2],
            "page flip": sorted(flips)[1],
            "form opened": form,
            f"idle {idle_s:g} s in its field": session.bytes_in(idle_s),
        }
        session.run.close()
        yield name, sent


def idle_bytes(case: dict[str, Any], idle_s: float) -> Iterator[tuple[str, int]]:
    """Bytes that each screen writes in a time in which nothing happens.

    Raises:
        AssertionError: A screen was not reached.
    """
    session: _Session | None = None
    way: list[str] = []
    for name, keys, shown, back in SCREENS:
        if session is None or time.monotonic() - session.begun + idle_s > BEFORE_MINUTE_S:
            if session is not None:
                session.run.close()
            session = _Session(case)
            for step in way:  # back to where the last one was left
                session.press(step)
        session.press(keys)
        assert session.shows(shown), f"{name} is not what is shown:\n{session.text()}"
        yield name, session.bytes_in(idle_s)
        session.press(back)
        if not back:
            way.append(keys)
    if session is not None:
        session.run.close()


class _Session:
    """lockterm in a pty, on its first page."""

    def __init__(self, case: dict[str, Any]) -> None:
        options = Namespace(size="80x24", timeout=30.0, settle=500.0, quiet=250.0, env=[], cwd=None)
        options.key_timeout, options.burst_hz, options.term = 600.0, 30.0, "xterm-256color"
        options.truecolor = options.kitty = options.no_sync = False
        options.until = options.record = options.cpu = None
        self.run = ttybench.Run(case, options)
        self.begun = time.monotonic()
        self.run.spawn()
        self.run.startup()

    def press(self, keys: str) -> None:
        self.run.keys(ttybench.parse_keys(keys))
        self.run.wait_quiet(0.2, 10.0)

    def bytes_of(self, keys: str) -> int:
        before = self.run.total
        self.press(keys)
        sent: int = self.run.total - before
        return sent

    def text(self) -> str:
        text: str = self.run.term.text()
        return text

    def shows(self, pattern: str) -> bool:
        missed = self.run.keys(ttybench.parse_keys(f"until:{pattern}")).get("_missed")
        self.run.wait_quiet(0.4, 10.0)
        return not missed

    def bytes_in(self, seconds: float) -> int:
        before, end = self.run.total, time.monotonic() + seconds
        while time.monotonic() < end:
            self.run.pump(end - time.monotonic())
        written: int = self.run.total - before
        return written
