"""Starts programs as a shell would, and lockterm at once: a fork of a Python that has imported it.

Importing takes longer than most of what is tried, and a first screen longer than a second. A fork
has a process, a session and a terminal of its own and runs what ``python -m lockterm`` runs. What
Python itself settles when it starts, such as the encoding, is that of ``LANG=C.UTF-8``: with any
other environment it is started for real.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

LOCKTERM = (sys.executable, "-m", "lockterm")
AT_START = ("LC_", "PYTHON", "TEXTUAL", "ESCDELAY")
"""What begins the names of variables that are read when Python starts, or modules are imported."""


class Session:
    """A program that was started, in a session of its own.

    The program's leader outlives it, as a shell would: Linux puts a terminal's settings back by
    itself when its session leader ends, and would hide our mistakes.

    Args:
        command: The program and its arguments.
        environment: All of its environment.
        streams: Its stdin, stdout and stderr.
        controlling: Whether stdin is a terminal, and to be its controlling one.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        streams: tuple[int, int, int],
        *,
        controlling: bool = False,
    ) -> None:
        report, report_end = os.pipe()
        more_end, self._more = os.pipe()
        asked = {"command": list(command), "environment": dict(environment)}
        asked |= {"folder": os.getcwd(), "controlling": controlling}
        fds = [*streams, report_end, more_end]
        socket.send_fds(_launcher(os.getpid()), [json.dumps(asked).encode()], fds)
        os.close(report_end)
        os.close(more_end)
        self._report = os.fdopen(report, "rb", buffering=0)
        self.leader_pid, self.pid = map(int, self._report.readline().split())
        self._exit_code: int | None = None

    @property
    def exit_code(self) -> int | None:
        """How it ended: its exit code, negative for a signal; None while it runs."""
        self.wait(0)
        return self._exit_code

    def wait(self, within_s: float) -> None:
        """Wait for its end."""
        if self._exit_code is None and select.select([self._report], [], [], within_s)[0]:
            self._exit_code = int(self._report.readline())

    def close(self) -> None:
        """End it where it runs, and its leader."""
        if self.exit_code is None:
            os.kill(self.pid, signal.SIGKILL)
        os.close(self._more)
        self._report.read()
        self._report.close()


def run(
    command: Sequence[str], environment: Mapping[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end without a terminal; what it says goes through files in a folder."""
    with (
        open(os.devnull, "rb") as nothing,
        open(folder / "stdout", "w+", encoding="utf-8", errors="strict") as out,
        open(folder / "stderr", "w+", encoding="utf-8") as err,
    ):
        session = Session(command, environment, (nothing.fileno(), out.fileno(), err.fileno()))
        session.wait(60)
        code = session.exit_code
        session.close()
        out.seek(0)
        err.seek(0)
        said = out.read(), err.read()
    assert code is not None, f"still running: {command}\n{said}"
    return subprocess.CompletedProcess(list(command), code, *said)


@cache
def _launcher(_owner_pid: int) -> socket.socket:
    """The way to this process's launcher, which ends with it."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        [sys.executable, __file__, str(its.fileno())],
        env=environment,
        stdin=subprocess.DEVNULL,
        pass_fds=[its.fileno()],
    )
    its.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


# --- the launcher's own process -----------------------------------------------------------------


def _serve(control: socket.socket) -> None:
    from importlib import import_module
    from pkgutil import walk_packages

    import lockterm

    for module in walk_packages(lockterm.__path__, "lockterm."):
        import_module(module.name)
    import_module("httpcore")  # httpx waits with it for the first connection
    _show_once()

    def reap(*_: object) -> None:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    signal.signal(signal.SIGCHLD, reap)
    gc.freeze()  # or each fork copies what its collector walks through
    while True:
        asked, fds, _, _ = socket.recv_fds(control, 1 << 20, 5)
        if not asked:
            return
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            _lead(json.loads(asked), fds)
            return
        for fd in fds:
            os.close(fd)


def _show_once() -> None:
    """Draw a screen: what Textual finds out about a class of widgets, it knows in each fork."""
    import asyncio
    import tempfile

    from lockterm.app import LocktermApp
    from lockterm.config import Profile
    from lockterm.paths import Paths

    async def show(folder: Path) -> None:
        profile = Profile(name="demo", base_url="http://127.0.0.1:9")
        async with LocktermApp(profile, Paths.below(folder), open_lock=1001).run_test() as pilot:
            await pilot.pause()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(show(Path(folder)))
    tempfile.tempdir = None  # each fork has a TMPDIR of its own
    assert threading.active_count() == 1, "no thread goes with a fork"


def _lead(asked: dict[str, Any], fds: list[int]) -> None:
    os.setsid()
    for number, fd in enumerate(fds[:3]):
        os.dup2(fd, number)
    if asked["controlling"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    report, more = fds[3:]
    os.chdir(asked["folder"])
    program = os.fork()
    if not program:
        for fd in fds:
            os.close(fd)
        # As in a terminal; whatever runs the tests in the background may have some of them ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        _become(asked["command"], asked["environment"])
        return
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.write(report, b"%d %d\n" % (os.getpid(), program))
    _, status = os.waitpid(program, 0)
    os.write(report, b"%d\n" % os.waitstatus_to_exitcode(status))
    os.read(more, 1)
    os._exit(0)


def _become(command: list[str], environment: dict[str, str]) -> None:
    is_plain = environment.get("LANG") == "C.UTF-8" and not any(
        name.startswith(AT_START) for name in environment
    )
    if tuple(command[:3]) != LOCKTERM or not is_plain:
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them; a shell does not
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(command[0], command, environment)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    from lockterm import __main__ as lockterm

    sys.argv = [str(lockterm.__file__), *command[3:]]
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]
    code = 1
    try:
        lockterm.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:  # taking down all that was imported takes longer than to run
        atexit._run_exitfuncs()
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    del sys.path[0]
    _serve(socket.socket(fileno=int(sys.argv[1])))
