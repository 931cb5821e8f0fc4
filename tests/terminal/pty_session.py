"""A program in a pseudo-terminal: what it draws, what is typed, how it ends.

Nothing sleeps: every wait is for a condition and has a deadline, after which the test fails with
the screen as it was.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
import pyte

from tests.programs import require_readable_checkout
from tests.terminal.launcher import LOCKTERM, Session
from tests.terminal.replica import Replica

__all__ = ["KEYS", "LOCKTERM", "PATIENCE_S", "PtySession", "clean_environment"]

PATIENCE_S = 60.0
"""How long anything may take on a busy machine, unless a test is about time."""

REST_S = 0.02
"""Neither drawing nor at work for so long: the picture that was begun is whole."""
RESTLESS_S = 2.0
"""Seconds of its own work after which a program that never rests is looked at all the same."""

KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "backspace": "\x7f",
    "space": " ",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
}


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    """An environment in which lockterm finds nothing but an empty home."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "TMPDIR": str(home),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        **more,
    }


def _session_of(process: psutil.Process) -> int | None:
    try:
        return os.getsid(process.pid)
    except OSError:
        return None


def is_at_work(pid: int, but: int | None = None) -> bool:
    """Whether a thread of a process, but for this one, runs, or would if others let it."""
    states = set()
    for thread in Path(f"/proc/{pid}/task").glob("*/stat"):
        if thread.parent.name == str(but):
            continue
        with suppress(OSError):  # a thread that has just ended
            states.add(thread.read_text().rpartition(")")[2].split()[0])
    return bool(states & {"R", "D"})


class PtySession:
    """One program in one terminal; a context manager that leaves nothing running.

    Args:
        command: The program and its arguments.
        environment: All of its environment.
        size: Columns and rows.
        controlling: Whether the terminal is its controlling one, as in real life; otherwise
            nobody tells it when the terminal goes.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        size: tuple[int, int] = (80, 24),
        *,
        controlling: bool = True,
    ) -> None:
        require_readable_checkout(environment)
        self._replica = Replica(*size)
        self.raw = self._replica.raw
        """Every byte it has written so far."""
        self._master: int | None
        self._master, self._slave = os.openpty()
        self._set_size(*size)
        self.attributes_before = self.attributes()

        streams = (self._slave, self._slave, self._slave)
        self._session = Session(command, environment, streams, controlling=controlling)
        self.pid = self._session.pid
        """The program's process."""

    @property
    def exit_code(self) -> int | None:
        """How it ended: its exit code, negative for a signal; None while it runs."""
        return self._session.exit_code

    def others(self) -> list[psutil.Process]:
        """What else runs in its session: whatever the program started and left."""
        session = self._session.leader_pid
        return [
            process
            for process in psutil.process_iter()
            if process.pid not in (session, self.pid) and _session_of(process) == session
        ]

    def is_at_work(self) -> bool:
        """Whether one of its threads runs, or would if other programs let it."""
        return is_at_work(self.pid)

    # --- what is seen --------------------------------------------------------------------------

    @property
    def screen(self) -> pyte.Screen:
        """The terminal's screen, with the colors and attributes of its cells."""
        return self._replica.screen

    @property
    def lines(self) -> list[str]:
        """The rows of the screen, without spaces at their ends."""
        return self._replica.lines

    @property
    def text(self) -> str:
        """The screen."""
        return self._replica.text

    def attributes(self) -> list[Any]:
        """The terminal's settings, as ``stty`` shows them."""
        return termios.tcgetattr(self._slave)

    def write_as_others(self, data: bytes) -> None:
        """Write to the terminal what another program writes to it."""
        os.write(self._slave, data)

    def wait_for(self, pattern: str, within_s: float = PATIENCE_S) -> re.Match[str]:
        """Wait until the screen matches; ``^`` and ``$`` are those of a row."""
        search = re.compile(pattern, re.MULTILINE).search
        found: list[re.Match[str]] = []

        def is_seen() -> bool:
            found.extend(filter(None, [search(self.text)]))
            return bool(found)

        self.wait_until(is_seen, pattern, within_s)
        return found[0]

    def wait_until(
        self, condition: Callable[[], bool], what: str, within_s: float = PATIENCE_S
    ) -> None:
        """Read what is drawn until a condition holds, and a picture that is begun to its end."""
        end = time.monotonic() + within_s
        while not condition():
            ended = self.exit_code is not None
            if not self.pump(0.05) and ended and not condition():
                raise AssertionError(f"ended with {self.exit_code}, not seen: {what}\n{self.text}")
            if time.monotonic() > end:
                raise AssertionError(f"not within {within_s} s: {what}\n{self.text}")
        # What it draws comes in pieces, and a notice grows line by line over several pictures.
        # One that never rests is left after so much work of its own, however slowly it gets on.
        most_s = self._worked_s() + RESTLESS_S
        while (self.pump(REST_S) or self.is_at_work()) and self._worked_s() < most_s:
            pass

    def _worked_s(self) -> float:
        """Seconds for which it had a processor."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            return 0.0
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def pump(self, within_s: float) -> bool:
        """Read output, waiting at most this long for the first byte; return whether any came."""
        if self._master is None:
            time.sleep(within_s)
            return False
        if not select.select([self._master], [], [], within_s)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux: the other end is closed
            return False
        self._replica.write(data)
        return bool(data)

    def stall(self, within_s: float = PATIENCE_S) -> None:
        """Have it draw, and read nothing, until the terminal takes nothing more."""
        end = time.monotonic() + within_s
        columns, rows = self.screen.columns, self.screen.lines
        held = struct.pack("i", -1)
        for turn in itertools.count():
            before, held = held, fcntl.ioctl(self._master, termios.FIONREAD, b"\0" * 4)
            if before == held:
                return
            for more in range(20):
                self._set_size(columns + 1 + (turn + more) % 2, rows)
                time.sleep(0.02)  # sizes that come faster are drawn as one
            assert time.monotonic() < end, f"it still draws after {within_s} s"

    # --- what is done --------------------------------------------------------------------------

    def press(self, *keys: str, seen: str | None = None) -> None:
        """Type keys by their names, or text as it is, and wait until the screen matches."""
        self.send("".join(KEYS.get(key, key) for key in keys).encode())
        if seen is not None:
            self.wait_for(seen)

    def quit(self) -> None:
        """Leave lockterm with the key for it."""
        self.press("q")
        assert self.wait_exit() == 0

    def choose(self, button: str) -> None:
        """Press the button to the right of the one with the focus."""
        self.wait_for(re.escape(button))
        before = self._looks_of(button)
        end = time.monotonic() + PATIENCE_S
        while self._looks_of(button) == before:
            assert time.monotonic() < end, f"{button} never has the focus\n{self.text}"
            # Over a slow link a question that nobody asked for drops what was typed before it was
            # seen there; nothing tells when that is.
            self.press("right")
            with suppress(AssertionError):
                self.wait_until(
                    lambda: self._looks_of(button) != before, f"{button} has the focus", 10.0
                )
        self.press("enter")

    def _looks_of(self, text: str) -> list[pyte.screens.Char]:
        """The cells of a text where it stands last."""
        for y in reversed(range(self.screen.lines)):
            row = [self.screen.buffer[y][x] for x in range(self.screen.columns)]
            # A wide character has an empty cell behind it.
            at = "".join(cell.data or "\0" for cell in row).rfind(text)
            if at >= 0:
                return row[at : at + len(text)]
        return []

    def send(self, data: bytes) -> None:
        """Type bytes."""
        os.write(self._master, data)

    def wait_taken(self) -> None:
        """Wait until what was typed has been read, and nothing is done about it any more."""
        end = time.monotonic() + PATIENCE_S
        still = 0
        while still < 3:
            unread = fcntl.ioctl(self._slave, termios.FIONREAD, b"\0" * 4)
            is_busy = any(unread) or self.is_at_work()
            still = 0 if self.pump(0.01) or is_busy else still + 1
            assert time.monotonic() < end, "what was typed is not read"

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        self.screen.resize(rows, columns)
        self._set_size(columns, rows)

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close_terminal(self) -> None:
        """Hang up."""
        if self._master is not None:
            os.close(self._master)
            self._master = None

    def kill(self, number: signal.Signals) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def wait_exit(self, within_s: float = PATIENCE_S, *, reading: bool = True) -> int:
        """Wait for its end.

        Args:
            within_s: It has failed where it takes longer.
            reading: Whether somebody reads what it writes meanwhile.

        Returns:
            Its exit code; negative for a signal.
        """
        end = time.monotonic() + within_s
        while self.exit_code is None:
            if time.monotonic() > end:
                raise AssertionError(f"still running after {within_s} s\n{self.text}")
            if reading:
                self.pump(0.02)
            else:
                time.sleep(0.02)
        if reading:
            while self.pump(0):
                pass
        return self.exit_code

    # --- the end -------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._session.close()
        self.close_terminal()
        os.close(self._slave)


Start = Callable[..., PtySession]
"""What the fixture ``lockterm`` is."""
