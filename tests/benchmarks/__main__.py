"""Start, page flip and quiet of lockterm, printed beside a bare Textual app's, in one run.

``python -m tests.benchmarks [RUNS]``: interleaved runs in ptys of 80x24; read the ratios, absolute
times are the machine's. ``hello`` is the bare app; see ``ttybench.py`` for what is reported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from lockterm.service.running import RunningService
from tests.benchmarks import ttybench
from tests.benchmarks.slow_proxy import SlowProxy

HERE = Path(__file__).parent
PYTHON = sys.executable
LATENCY_S = 0.15
IDLE_S = 10.0


def environment(home: str) -> dict[str, str]:
    """A home of its own, and a terminal like any other."""
    kinds = ("CONFIG", "DATA", "STATE", "CACHE")
    places = {f"XDG_{kind}_HOME": f"{home}/{kind.lower()}" for kind in kinds}
    return {"HOME": home, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **places}


def lockterm(url: str, *options: str) -> list[str]:
    """The command on a service, at its lock of 137 remotes."""
    return [PYTHON, "-m", "lockterm", "--base-url", url, "--lock", "1001", *options]


def cases(url: str, slow_url: str, first_name: str, home: str) -> list[dict[str, Any]]:
    """What is run: the bare app, the first frame, the first page, and both again over latency."""
    env = environment(home)
    keys = "wait:400,down*20,label:page:n,wait:300,label:page:n,wait:300,label:page:n"
    hello = {"cmd": [PYTHON, str(HERE / "hello.py")], "until": "Remote 001", "env": env}
    rows = {"until": first_name, "keys": keys, "env": env}
    return [
        {"name": "hello", "keys": keys, **hello},
        {"name": "frame", "cmd": lockterm(url), "until": r"Name .*Number(.*\n)+.*\? help"}
        | {"env": env},
        {"name": "first page", "cmd": lockterm(url), **rows},
        {"name": "first page, 150 ms away", "cmd": lockterm(slow_url), **rows},
    ]


def idle_bytes(name: str, case: dict[str, Any], steps: str) -> tuple[str, int]:
    """Bytes that a screen writes in ten seconds in which nothing happens."""
    options = Namespace(
        size="80x24", timeout=30.0, settle=1500.0, quiet=300.0, key_timeout=400.0, burst_hz=30.0
    )
    options.until, options.env, options.cwd, options.term = None, [], None, "xterm-256color"
    options.truecolor = options.kitty = options.no_sync = False
    options.record = options.cpu = None
    run = ttybench.Run(case, options)
    run.spawn()
    try:
        run.startup()
        run.keys(ttybench.parse_keys(steps))
        run.wait_quiet(1.5, 10.0)
        before, end = run.total, time.monotonic() + IDLE_S
        while time.monotonic() < end:
            run.pump(end - time.monotonic())
        return name, run.total - before
    finally:
        run.close()


def main() -> None:
    """Run everything and print it."""
    runs = sys.argv[1] if len(sys.argv) > 1 else "7"
    with (
        tempfile.TemporaryDirectory() as home,
        RunningService() as service,
        SlowProxy(service.base_url, LATENCY_S) as slow,
    ):
        first_name = "Omar Haddad"
        suite = cases(service.base_url, slow.base_url, first_name, home)
        file = Path(home) / "suite.json"
        file.write_text(json.dumps(suite))
        command = [PYTHON, str(HERE / "ttybench.py"), "--suite", str(file), "--runs", runs]
        subprocess.run([*command, "--base", "hello"], check=True, env=os.environ)
        case = suite[2]
        print(f"bytes written in {IDLE_S:.0f} s in which nothing happens")
        for name, steps in {
            "remotes": "",
            "remote detail": "enter",
            "remote form, a field focused": "a",
            "find, a field focused": "/",
            "voice": "v",
            "help": "?",
            "locks": "escape",
        }.items():
            print("  {:32}{:>6}".format(*idle_bytes(name, case, steps)), flush=True)


if __name__ == "__main__":
    main()
