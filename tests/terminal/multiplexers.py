"""A program inside of a real tmux or GNU screen, and what reaches the terminal around it.

Each has a socket and a configuration of its own, and ends with the test.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.programs import require
from tests.terminal.pty_session import PtySession, clean_environment

PATIENT = (
    sys.executable,
    "-c",
    "from lockterm.terminal import clipboard; clipboard.TMUX_ANSWERS_S = 60;"
    "from lockterm.__main__ import main; main()",
)
"""lockterm that waits for tmux, to which it gives what is copied, however busy the machine is."""


@contextmanager
def in_tmux(
    command: Sequence[str],
    home: Path,
    *options: str,
    size: tuple[int, int] = (80, 24),
    **environment: str,
) -> Iterator[PtySession]:
    """A program in tmux, which has all the rows.

    Args:
        command: The program and its arguments.
        home: Where it has its files.
        options: Lines of the configuration: ``set -s set-clipboard on``.
        size: Columns and rows.
        environment: More of the environment, tmux's and the program's: ``TERM`` is the terminal's.
    """
    require("tmux", "tmux")
    with _directory() as place:
        config = place / "tmux.conf"
        lines = ["set -g status off", "set -g destroy-unattached on", *options]
        config.write_text("\n".join(lines) + "\n")
        tmux = ["tmux", "-f", str(config), "-S", str(place / "socket")]
        own = clean_environment(home, **environment)
        with PtySession([*tmux, "new-session", shlex.join(command)], own, size) as session:
            yield session
            server = _server([*tmux, "display-message", "-p", "#{pid}"], own)
        _await_end(server)


@contextmanager
def in_screen(
    command: Sequence[str], home: Path, size: tuple[int, int] = (80, 24), **environment: str
) -> Iterator[PtySession]:
    """A program in GNU screen; arguments as for :func:`in_tmux`."""
    require("screen", "screen")
    with _directory() as place:
        config = place / "screenrc"
        config.write_text("startup_message off\nautodetach off\ndeflogin off\n")
        own = clean_environment(home, SCREENDIR=str(place), **environment)
        screen = ["screen", "-c", str(config), "-U", "-S", "lockterm-test"]
        with PtySession([*screen, *command], own, size) as session:
            yield session
            found = [path.name.partition(".")[0] for path in place.glob("*.lockterm-test")]
        for pid in found:
            _await_end(int(pid))


@contextmanager
def _directory() -> Iterator[Path]:
    """A short path: a socket's has at most 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="mux") as name:
        os.chmod(name, 0o700)
        yield Path(name)


def _server(ask: Sequence[str], environment: dict[str, str]) -> int | None:
    done = subprocess.run(ask, env=environment, capture_output=True, text=True, check=False)
    return int(done.stdout) if done.stdout.strip().isdigit() else None


def _await_end(pid: int | None) -> None:
    """The terminal has gone: the server ends by itself, and is made to if it does not."""
    if pid is None:
        return
    try:
        process = psutil.Process(pid)
        process.wait(10)
    except psutil.NoSuchProcess:
        return
    except psutil.TimeoutExpired:
        process.kill()
