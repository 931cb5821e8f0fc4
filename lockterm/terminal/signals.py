"""Checks the terminal, and restores it when a signal ends lockterm.

Textual draws on stderr and reads stdin. By default, SIGHUP, SIGTERM or a closed terminal ends the
process at once and leaves the terminal in its raw state. On a stalled link, the event loop blocks
in drawing and never handles a signal. ``SignalGuard`` solves both problems.
"""

from __future__ import annotations

import codecs
import os
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from lockterm.config.look import takes_utf8
from lockterm.errors import LocktermError
from lockterm.paths import append_private

if TYPE_CHECKING:
    from textual.app import App

ENDING_SIGNALS = (
    *(signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGABRT),
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF),
    signal.SIGXCPU,
)
"""The signals that make lockterm exit: all signals that end a process and can be caught."""

TIMEOUT_S = 2.5
"""Seconds that the app may take to exit after a signal, before the process ends anyway."""

_DUMB = ("", "dumb", "unknown")
_MODES_OFF = (1000, 1002, 1003, 1015, 1006, 1016, 1004, 2004, 2048)
_MODES_ON = (7, 25)
_OTHER_SCREEN = 1049


def _switches(modes: Iterable[int], switch: str) -> str:
    """Return one short code that turns several terminal modes on or off, without its ESC.

    The code is short, because people may type it by hand.

    Args:
        modes: The numbers of the modes.
        switch: ``h`` to turn the modes on, ``l`` to turn them off.
    """
    return f"[?{';'.join(map(str, modes))}{switch}"


_LEAVE = (
    _switches(_MODES_OFF, "l"),
    _switches([_OTHER_SCREEN], "l"),
    _switches(_MODES_ON, "h"),
)
"""The codes that undo the modes of :mod:`lockterm.terminal.driver`, without the ESC of each."""

RESTORE = f"printf '{''.join(chr(92) + '033' + one for one in _LEAVE)}'; stty sane"
"""The shell command that restores the terminal after the connection to lockterm broke."""


def terminal_size() -> tuple[int, int] | None:
    """Return the columns and rows that the terminal reports; None if it reports no size.

    The function ignores COLUMNS and LINES, because these variables do not change when the terminal
    is resized.
    """
    for stream in (sys.__stderr__, sys.__stdin__, sys.__stdout__):
        try:
            size = os.get_terminal_size(stream.fileno() if stream else -1)
        except (OSError, ValueError):
            continue
        if size.columns and size.lines:
            return size.columns, size.lines
    return None


class NoTerminalError(LocktermError):
    """An error for a missing or unusable terminal."""

    title = "Terminal"


def require_terminal(environ: Mapping[str, str]) -> None:
    """Check that lockterm can read keys from a terminal and draw a screen on it.

    Raises:
        NoTerminalError: If stdin or stderr is not a terminal, or the terminal cannot be used.
    """
    if sys.__stdin__ is None or not sys.__stdin__.isatty():
        raise NoTerminalError(
            "lockterm reads keys from stdin, which is not a terminal.",
            hint="Run it in a terminal; over SSH with ssh -t.",
        )
    if sys.__stderr__ is None or not sys.__stderr__.isatty():
        raise NoTerminalError(
            "lockterm draws on stderr, which is not a terminal.",
            hint="Run it in a terminal and do not redirect stderr.",
        )
    if (term := environ.get("TERM", "")) in _DUMB:
        raise NoTerminalError(
            f"A terminal of the type {term or '(TERM is not set)'} cannot show a full screen.",
            hint="Set TERM to what the terminal is, such as xterm-256color.",
        )
    encoding = codecs.lookup(sys.__stderr__.encoding).name
    if encoding != "utf-8" and takes_utf8(environ)[0]:
        raise NoTerminalError(
            f"The terminal takes UTF-8, but Python writes {encoding}, which would be garbled.",
            hint="Leave PYTHONIOENCODING unset, or set LC_ALL=C.UTF-8.",
        )


class SignalGuard:
    """A guard that exits the app on a signal, and ends the process if the app does not exit.

    The guard is a context manager for the main thread. Put everything that needs cleanup inside its
    block. Before an app runs, a signal raises ``SystemExit``.

    Args:
        log_file: The log file in which to record the signal.
        timeout_s: Seconds that the app may take to exit.
    """

    def __init__(self, log_file: Path, *, timeout_s: float = TIMEOUT_S) -> None:
        self._log_file = log_file
        self._timeout_s = timeout_s
        self._app: App[Any] | None = None
        self._over = False
        self._received: int | None = None
        self._last_resorts: list[Callable[[], None]] = []
        self._before: dict[int, Any] = {}
        self._terminal: list[Any] | None = None
        """The settings of the terminal before lockterm changes them."""

    @contextmanager
    def watching(self, app: App[Any]) -> Iterator[None]:
        """Return a context manager in whose block a signal asks the app to exit.

        A signal after the block only sets :attr:`exit_code` and starts the timeout. Check
        :attr:`exit_code` before another app is started.
        """
        self._app, self._over = app, False
        try:
            yield
        finally:
            self._over = True

    def at_last_resort(self, action: Callable[[], None]) -> None:
        """Add a quick cleanup that runs if the app does not exit in time after a signal."""
        self._last_resorts.append(action)

    @property
    def exit_code(self) -> int | None:
        """128 plus the number of the received signal; None if no signal was received."""
        return None if self._received is None else 128 + self._received

    def __enter__(self) -> Self:
        with suppress(termios.error, OSError, ValueError):
            self._terminal = termios.tcgetattr(0)
        self._before = {n: signal.signal(n, self._handle) for n in ENDING_SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            # None if Python did not install it, such as faulthandler's; it cannot be restored.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._received is not None:  # the first signal is already being handled
            return
        self._received = number
        threading.Thread(target=self._insist, name="lockterm-end", daemon=True).start()
        name = signal.Signals(number).name
        with suppress(OSError):
            append_private(
                self._log_file, f"{time.strftime('%Y-%m-%d %H:%M:%S')} INFO ended by {name}"
            )
        # Textual has no public call that does not block, so this uses its private event loop.
        loop = self._app._loop if self._app is not None else None
        if loop is not None:
            with suppress(RuntimeError):  # the loop has just ended
                loop.call_soon_threadsafe(self._ask_to_exit)
        elif not self._over:
            raise SystemExit(self.exit_code)

    def _ask_to_exit(self) -> None:
        if self._app is not None and self.exit_code is not None:
            self._app.exit(return_code=self.exit_code)

    def _insist(self) -> None:
        time.sleep(self._timeout_s)
        for action in self._last_resorts:
            with suppress(Exception):
                action()
        self._give_back_terminal()
        os._exit(self.exit_code or 1)

    def _give_back_terminal(self) -> None:
        """Restore the terminal without waiting for the output, because the link may be stalled."""
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})  # it must not stop the process
        with suppress(termios.error, OSError):
            if self._terminal is not None:
                termios.tcsetattr(0, termios.TCSANOW, self._terminal)
        with suppress(OSError):
            # The shell shares the open file, which must not stay non-blocking.
            os.set_blocking(2, False)
            try:
                os.write(2, "".join(f"\x1b{one}" for one in _LEAVE).encode())
            finally:
                os.set_blocking(2, True)
