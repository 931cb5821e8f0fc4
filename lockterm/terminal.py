"""The terminal: what lockterm needs of one, and how it leaves one.

Textual draws on stderr and reads stdin. By default SIGHUP, SIGTERM and a closed terminal end such
a process at once and leave the terminal as it was; on a stalled link the event loop blocks in
drawing and never hears a signal. ``SignalGuard`` and ``cure_input`` mend both.
"""

from __future__ import annotations

import codecs
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from lockterm.errors import LocktermError
from lockterm.paths import append_private

if TYPE_CHECKING:
    from textual.app import App

ENDING_SIGNALS = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
"""The signals that ask lockterm to end."""

PATIENCE_S = 2.5
"""How long ending in good order may take after a signal, in seconds."""

_DUMB = ("", "dumb", "unknown")
_LEAVE = (
    b"\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l\x1b[?2048l"
    b"\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""What Textual's driver writes to give a terminal back."""


class NoTerminal(LocktermError):
    """Here is no terminal that lockterm could draw on."""

    title = "Terminal"


def require_terminal(environ: Mapping[str, str]) -> None:
    """See that keys can be read and a screen can be drawn.

    Raises:
        NoTerminal: They cannot; the message says why and the hint what to do.
    """
    if sys.__stdin__ is None or not sys.__stdin__.isatty():
        raise NoTerminal(
            "Keys are read from stdin, which is no terminal.",
            hint="Run it in a terminal; over SSH with ssh -t.",
        )
    if sys.__stderr__ is None or not sys.__stderr__.isatty():
        raise NoTerminal(
            "The screen is drawn on stderr, which is no terminal.",
            hint="Run it in a terminal and do not redirect stderr.",
        )
    if (term := environ.get("TERM", "")) in _DUMB:
        raise NoTerminal(
            f"A terminal of the type {term or '(TERM is not set)'} cannot show a full screen.",
            hint="Set TERM to what the terminal is, such as xterm-256color.",
        )
    if (encoding := codecs.lookup(sys.__stderr__.encoding).name) != "utf-8":
        raise NoTerminal(
            f"The terminal's encoding is {encoding}, so names and lines would be garbled.",
            hint="Set LC_ALL=C.UTF-8, and leave PYTHONIOENCODING unset.",
        )


class TerminalDecoder:
    """Decodes what is typed: bytes that are no UTF-8 become replacement characters.

    It also sees the end of a terminal that is gone: Textual would read it again and again.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._gone = False

    def decode(self, data: bytes, final: bool = False) -> str:
        """The characters of what was read; nothing read before the end means a hang-up."""
        if not data and not final:
            if not self._gone:
                self._gone = True
                os.kill(os.getpid(), signal.SIGHUP)
            time.sleep(0.1)
        return self._decoder.decode(data, final)


def cure_input() -> None:
    """Have Textual's driver decode with :class:`TerminalDecoder` (Textualize/textual #6456)."""
    import textual.drivers.linux_driver

    driver: Any = textual.drivers.linux_driver
    driver.getincrementaldecoder = lambda encoding: TerminalDecoder


class SignalGuard:
    """Ends an app in good order on a signal, and without its help where it does not end.

    A context manager, for the main thread; everything that has to be undone belongs inside it.
    Before an app runs a signal raises ``SystemExit``.

    Args:
        log_file: Where a signal is noted, so that the next start can tell what happened.
        patience_s: How long ending may take, in seconds.
    """

    def __init__(self, log_file: Path, *, patience_s: float = PATIENCE_S) -> None:
        self._log_file = log_file
        self._patience_s = patience_s
        self._app: App[Any] | None = None
        self._over = False
        self._received: int | None = None
        self._last_resorts: list[Callable[[], None]] = []
        self._before: dict[int, Any] = {}
        self._terminal: list[Any] | None = None

    @contextmanager
    def watching(self, app: App[Any]) -> Iterator[None]:
        """While this app runs a signal asks it to exit; afterwards nothing is interrupted.

        One app may follow another; see :attr:`exit_code` before it does.
        """
        self._app, self._over = app, False
        try:
            yield
        finally:
            self._over = True

    def at_last_resort(self, action: Callable[[], None]) -> None:
        """Have something undone even where the app does not end by itself. It must be quick."""
        self._last_resorts.append(action)

    @property
    def exit_code(self) -> int | None:
        """128 and the number of the signal that came, or None."""
        return None if self._received is None else 128 + self._received

    def __enter__(self) -> Self:
        import termios

        with suppress(termios.error, OSError, ValueError):
            self._terminal = termios.tcgetattr(0)
        self._before = {n: signal.signal(n, self._handle) for n in ENDING_SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._received is not None:  # the first one is being obeyed
            return
        self._received = number
        threading.Thread(target=self._insist, name="lockterm-end", daemon=True).start()
        name = signal.Signals(number).name
        with suppress(OSError):
            append_private(
                self._log_file, f"{time.strftime('%Y-%m-%d %H:%M:%S')} INFO ended by {name}"
            )
        # Textual keeps its loop in a private place and offers no other call that does not block.
        loop = self._app._loop if self._app is not None else None
        if loop is not None:
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(self._ask_to_exit)
        elif not self._over:
            raise SystemExit(self.exit_code)

    def _ask_to_exit(self) -> None:
        if self._app is not None and self.exit_code is not None:
            self._app.exit(return_code=self.exit_code)

    def _insist(self) -> None:
        time.sleep(self._patience_s)
        for action in self._last_resorts:
            with suppress(Exception):
                action()
        self._give_back_terminal()
        os._exit(self.exit_code or 1)

    def _give_back_terminal(self) -> None:
        """As far as it goes without waiting for a terminal that may take nothing."""
        import termios

        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})  # it must not stop us now
        with suppress(termios.error, OSError):
            if self._terminal is not None:
                termios.tcsetattr(0, termios.TCSANOW, self._terminal)
        with suppress(OSError):
            # The shell shares the open file: it must not stay non-blocking.
            os.set_blocking(2, False)
            try:
                os.write(2, _LEAVE)
            finally:
                os.set_blocking(2, True)
