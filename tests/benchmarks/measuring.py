"""What is measured: commands in ptys of 80x24, interleaved, and the quiet of each screen."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockterm.paths import APP
from lockterm.terminal.key_queue import CLOSED_S
from tests.benchmarks import ttybench
from tests.certs import CERTS
from tests.terminal.pty_session import is_at_work

HERE = Path(__file__).parent
AUTHORITY = CERTS / "ca.pem"
"""Trusted in each case, as by a profile that names its own authority; https alone reads it."""
FIRST_NAME = "Omar Haddad"
"""Stands on the first page of lock 1001 of the sample data."""
BEFORE_MINUTE_S = 40.0
"""The pager tells the age of its page anew at whole minutes: a session is measured before."""

UNCACHED = ("/bin/sh", "-c", 'rm -rf "$XDG_CACHE_HOME" && exec "$@"', "sh")
"""Begins each command: rows are to come from the service, not from what was last read of it."""

LIVE = rf"{FIRST_NAME}(.*\n)+.*page 1 of 7 . 137 remotes"
"""The page, and words that are said of one that the service has just sent."""

HELLO, FAR_NAIVE = "hello", "naive, far"
"""The bare app, and a client as one would write it first, over a link with latency."""
FRAME, PAGE, THIN_CURSOR = "frame", "first start", "quiet"
"""lockterm to its frame; to live rows, with nothing kept of earlier starts; and quiet."""
FAR = "first start, far"
"""lockterm over a link with latency, which delays connecting too."""

BARE, DEFAULT, QUIET = "bare Textual app", "lockterm", "lockterm --quiet"
LOOKS: tuple[tuple[str, list[str], dict[str, str]], ...] = (
    (BARE, [], {}),
    (DEFAULT, [], {}),
    ("lockterm, true color", [], {"COLORTERM": "truecolor"}),
    ("lockterm, NO_COLOR", [], {"NO_COLOR": "1"}),
    (QUIET, ["--quiet"], {}),
)
"""Name, options, environment."""

AFTER_FORM = f"wait:{CLOSED_S * 1000 + 200:.0f}"
"""Waits until letters do something again after a form has closed."""
LEAVE = f"escape,{AFTER_FORM}"

SCREENS = (
    ("remotes", "", r"page 1 of", ""),
    ("remote detail", "enter", r"Created", "escape"),
    ("remote form, in a field", "a", r"for example: Anna", LEAVE),
    ("find, in its field", "/", r"Find:", "escape"),
    ("user number, in its field", "u", r"[Uu]ser number", LEAVE),
    ("delete dialog", "d", r"Delete", "escape"),
    ("clear dialog", "C", r"Delete (all|every)|137", "escape"),
    ("page size", "#", r"How many remotes per page", LEAVE),
    ("vendor and model, in a field", "v", r"Vendor", f"{LEAVE},escape"),
    ("voice", f"v,wait:400,{LEAVE}", r"Voice", "escape"),
    ("history", "H", r"History", "escape"),
    ("message log", "M", r"[Mm]essage", "escape"),
    ("help", "?", r"Help", "escape"),
    ("command palette", "ctrl+p", r"Find an action", "escape"),
    ("locks", "escape", r"Locks +127|lock book is empty", ""),
    ("lock form, in a field", "a", r"Vendor", LEAVE),
    ("lock by its id, in a field", "o", r"lock", "escape"),
)
"""Name, the keys that lead to it from the one before, what it shows, the keys that lead back."""


def environment(home: Path) -> dict[str, str]:
    """A home of its own, and a terminal like any other."""
    kinds = ("CONFIG", "DATA", "STATE", "CACHE")
    places = {f"XDG_{kind}_HOME": f"{home}/{kind.lower()}" for kind in kinds}
    return {"HOME": str(home), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **places}


@dataclass(frozen=True)
class Addresses:
    """Where one service is reached."""

    near: str
    far: str
    """Over a link with latency."""


def cases(at: Addresses, home: Path, downs: int) -> list[dict[str, Any]]:
    """The cases for ``ttybench``.

    Args:
        at: The service.
        home: A directory for what lockterm keeps.
        downs: How often the cursor is moved.
    """
    flip = "wait:300,label:page:n"
    moves = f"wait:400,down*{downs}"
    keys = f"{moves},{flip},{flip},{flip}"
    titles = r"Name .*Number(.*\n)+.*\? help"

    def case(name: str, until: str, *command: str, keys: str = "") -> dict[str, Any]:
        place = home / name
        begun = [*UNCACHED, sys.executable, *command]
        return {
            **{"name": name, "cmd": begun, "until": until, "keys": keys},
            "env": environment(place),
        }

    def lockterm(name: str, url: str, *options: str, until: str = LIVE, keys: str = "") -> Any:
        config = Path(environment(home / name)["XDG_CONFIG_HOME"], APP, "config.toml")
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f'[profiles.north]\nbase_url = "{url}"\nca_file = "{AUTHORITY}"\n')
        return case(name, until, "-m", "lockterm", "--lock", "1001", *options, keys=keys)

    return [
        case(HELLO, "Remote 001", str(HERE / "hello.py"), keys=keys),
        case(FAR_NAIVE, FIRST_NAME, str(HERE / "naive.py"), at.far),
        lockterm(FRAME, at.near, until=titles),
        lockterm(PAGE, at.near, keys=keys),
        lockterm(FAR, at.far),
        lockterm(THIN_CURSOR, at.near, "--quiet", keys=moves),
    ]


def case_of(suite: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The case of a name."""
    return next(case for case in suite if case["name"] == name)


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
    suite = cases(Addresses(url, url), home, 0)
    bare, page = case_of(suite, HELLO), case_of(suite, PAGE)
    for name, options, more in LOOKS:
        case = bare if name == BARE else page
        session = Session(case | {"cmd": [*case["cmd"], *options], "env": case["env"] | more})
        at_start = session.run.total
        downs = [session.bytes_of("down") for _ in range(5)]
        flips = [session.bytes_of("n") for _ in range(3)]
        form = session.bytes_until("a", "State" if name == BARE else "for example: Anna")
        sent = {
            "to the first page": at_start,
            "cursor down": sorted(downs)[2],
            "page flip": sorted(flips)[1],
            "form opened": form,
            f"idle {idle_s:g} s in its field": session.bytes_in(idle_s),
        }
        if name != BARE:
            session.press(LEAVE)
            sent["detail opened"] = session.bytes_until("enter", "Created")
            session.press("escape")
            sent["voices opened"] = session.bytes_until("v", "Voice now")
        session.run.close()
        yield name, sent


def idle_bytes(case: dict[str, Any], idle_s: float) -> Iterator[tuple[str, int]]:
    """Bytes that each screen writes in a time in which nothing happens.

    Raises:
        AssertionError: A screen was not reached.
    """
    session: Session | None = None
    way: list[str] = []
    for name, keys, shown, back in SCREENS:
        if session is None or time.monotonic() - session.begun + idle_s > BEFORE_MINUTE_S:
            if session is not None:
                session.run.close()
            session = Session(case)
            for step in way:  # back to where the last one was left
                session.press(step)
        session.press(keys)
        session.expect(shown)
        yield name, session.bytes_in(idle_s)
        session.press(back)
        if not back:
            way.append(keys)
    if session is not None:
        session.run.close()


class Session:
    """lockterm in a pty, on its first page."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.run = ttybench.Run(case, quiet_s=0.25, key_timeout_s=5.0)
        self.begun = time.monotonic()
        self.run.spawn()
        self.start = self.run.startup()
        """What ``ttybench`` reports of the start."""

    def close(self) -> None:
        self.run.close()

    def press(self, keys: str) -> None:
        self.run.keys(keys)
        self._rest(0.2)

    def bytes_of(self, keys: str) -> int:
        before = self.run.total
        self.press(keys)
        return self.run.total - before

    def bytes_until(self, keys: str, pattern: str) -> int:
        before = self.run.total
        self.press(keys)
        self.expect(pattern)
        return self.run.total - before

    def text(self) -> str:
        return self.run.text()

    def expect(self, pattern: str) -> None:
        """Wait until something is shown.

        Raises:
            AssertionError: It never is.
        """
        self.run.keys(f"until:{pattern}")
        self._rest(0.4)

    def _rest(self, quiet_s: float) -> None:
        """Wait until nothing has come for a while, and nothing is about to on a busy machine."""
        self.run.wait_quiet(quiet_s, 10.0)
        while is_at_work(self.run.pid):
            self.run.wait_quiet(quiet_s, 10.0, since_s=time.monotonic())

    def bytes_in(self, seconds: float) -> int:
        before = self.run.total
        self.run.pump_for(seconds)
        return self.run.total - before
