"""A program in a pseudo-terminal: what it draws, what is typed, how it ends.

Nothing sleeps: every wait is for a condition and has a deadline, after which the test fails with
the screen as it was.
"""

from __future__ import annotations

import codecs
import fcntl
import itertools
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
import pyte

LOCKTERM = (sys.executable, "-m", "lockterm")
PATIENCE_S = 30.0
"""How long anything may take on a busy machine, unless a test is about time."""

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

# Leads the session as a shell would, so that the terminal outlives the program in it: Linux puts a
# terminal's settings back by itself when its session leader ends, and would hide our mistakes.
_LEADER = """
import os, signal, subprocess, sys
report, more = int(sys.argv[1]), int(sys.argv[2])
program = subprocess.Popen(sys.argv[3:])
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
os.write(report, b"%d\\n" % program.pid)
os.write(report, b"%d\\n" % program.wait())
os.read(more, 1)
"""

# Sequences that xterm knows and pyte would draw as text.
_BEYOND_PYTE = re.compile(r"\x1b\[(?:[<=>][0-9;:]*[@-~]|\?[0-9;]*\$[@-~])")
# Joiners and variation selectors, at which pyte drops the rest of what is written with them.
_WITHOUT_WIDTH = dict.fromkeys([0x200C, 0x200D, 0xFE0F])
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*)?\Z")


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
        self.raw = bytearray()
        """Every byte it has written so far."""
        self._screen = pyte.Screen(*size)
        self._stream = pyte.Stream(self._screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._held = ""
        self._master: int | None
        self._master, self._slave = os.openpty()
        self._set_size(*size)
        self.attributes_before = self.attributes()

        def take_terminal() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        report, report_end = os.pipe()
        more_end, self._more = os.pipe()
        leader = [sys.executable, "-I", "-S", "-c", _LEADER, str(report_end), str(more_end)]
        self._leader = subprocess.Popen(
            [*leader, *command],
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            env=dict(environment),
            pass_fds=(report_end, more_end),
            start_new_session=True,
            preexec_fn=take_terminal if controlling else None,
        )
        os.close(report_end)
        os.close(more_end)
        self._report = os.fdopen(report, "rb", buffering=0)
        self.pid = int(self._report.readline())
        """The program's process."""
        self._exit_code: int | None = None

    @property
    def exit_code(self) -> int | None:
        """How it ended: its exit code, negative for a signal; None while it runs."""
        if self._exit_code is None and select.select([self._report], [], [], 0)[0]:
            self._exit_code = int(self._report.readline())
        return self._exit_code

    def others(self) -> list[psutil.Process]:
        """What else runs in its session: whatever the program started and left."""
        session = self._leader.pid
        return [
            process
            for process in psutil.process_iter()
            if process.pid not in (session, self.pid) and _session_of(process) == session
        ]

    # --- what is seen --------------------------------------------------------------------------

    @property
    def screen(self) -> pyte.Screen:
        """The terminal's screen, with the colours and attributes of its cells."""
        return self._screen

    @property
    def lines(self) -> list[str]:
        """The rows of the screen, without spaces at their ends."""
        # pyte's own ``display`` fails on a row where half of a wide character was overwritten.
        screen = self._screen
        rows = (screen.buffer[y] for y in range(screen.lines))
        return ["".join(row[x].data for x in range(screen.columns)).rstrip() for row in rows]

    @property
    def text(self) -> str:
        """The screen."""
        return "\n".join(self.lines)

    def attributes(self) -> list[Any]:
        """The terminal's settings, as ``stty`` shows them."""
        return termios.tcgetattr(self._slave)

    def wait_for(self, pattern: str, within_s: float = PATIENCE_S) -> re.Match[str]:
        """Wait until the screen matches; ``^`` and ``$`` are those of a row."""
        search = re.compile(pattern, re.MULTILINE).search
        self.wait_until(lambda: search(self.text) is not None, pattern, within_s)
        found = search(self.text)
        assert found is not None
        return found

    def wait_until(
        self, condition: Callable[[], bool], what: str, within_s: float = PATIENCE_S
    ) -> None:
        """Read what is drawn until a condition holds."""
        end = time.monotonic() + within_s
        while not condition():
            ended = self.exit_code is not None
            if not self.pump(0.05) and ended and not condition():
                raise AssertionError(f"ended with {self.exit_code}, not seen: {what}\n{self.text}")
            if time.monotonic() > end:
                raise AssertionError(f"not within {within_s} s: {what}\n{self.text}")

    def pump(self, within_s: float) -> bool:
        """Read what there is, waiting at most so long for the first byte."""
        if self._master is None:
            time.sleep(within_s)
            return False
        if not select.select([self._master], [], [], within_s)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux: the other end is closed
            return False
        self.raw += data
        text = self._held + self._decoder.decode(data)
        unfinished = _UNFINISHED.search(text)
        cut = unfinished.start() if unfinished else len(text)
        self._held = text[cut:]
        self._stream.feed(_BEYOND_PYTE.sub("", text[:cut]).translate(_WITHOUT_WIDTH))
        return bool(data)

    def stall(self, within_s: float = PATIENCE_S) -> None:
        """Have it draw, and read nothing, until it can do nothing more."""
        process = psutil.Process(self.pid)
        end = time.monotonic() + within_s
        columns, rows = self._screen.columns, self._screen.lines
        for turn in itertools.count():
            before = process.cpu_times()[:2]
            for more in range(20):
                self._set_size(columns + 1 + (turn + more) % 2, rows)
                time.sleep(0.02)  # sizes that come faster are drawn as one
            if process.cpu_times()[:2] == before:
                return
            assert time.monotonic() < end, f"still at work after {within_s} s"

    # --- what is done --------------------------------------------------------------------------

    def press(self, *keys: str) -> None:
        """Type keys by their names, or text as it is."""
        self.send("".join(KEYS.get(key, key) for key in keys).encode())

    def press_until(self, key: str, pattern: str) -> None:
        """Press a key, again if need be: a dialog takes none before it knows that it is seen."""
        end = time.monotonic() + PATIENCE_S
        while True:
            self.press(key)
            try:
                self.wait_for(pattern, within_s=1.0)
            except AssertionError:
                if time.monotonic() > end or self.exit_code is not None:
                    raise
            else:
                return

    def send(self, data: bytes) -> None:
        """Type bytes."""
        assert self._master is not None
        os.write(self._master, data)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        self._screen.resize(rows, columns)
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
        if self.exit_code is None:
            os.kill(self.pid, signal.SIGKILL)
        os.close(self._more)
        self._leader.wait()
        self._report.close()
        self.close_terminal()
        os.close(self._slave)
