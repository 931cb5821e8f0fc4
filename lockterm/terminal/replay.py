"""The moment in which the last frame stands on the terminal and there is no driver yet.

A start waits for this module, so it imports neither Textual nor Rich.
"""

from __future__ import annotations

import os
import sys
import termios
import tty
import zlib
from _thread import RLock

TYPE_CHECKING = False  # as in typing, which takes longer to import than this
if TYPE_CHECKING:
    import signal
    from types import TracebackType
    from typing import Any, NoReturn, Self

    from lockterm.terminal.frame import Frame
    from lockterm.terminal.kept_cells import AsNew
    from lockterm.terminal.widths import Cell
else:
    import _signal as signal  # its numbers are no enumerations, whose import takes as long as all

_ENTER = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?7l"
"""The other screen, no cursor, bracketed paste, lines that do not wrap."""
_LEAVE = "\x1b[?2004l\x1b[?7h\x1b[?1049l\x1b[?25h"

_IN, _OUT = 0, 2

ENDING_SIGNALS = (
    *(signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGABRT),
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF),
    signal.SIGXCPU,
)
"""The signals that ask lockterm to end: those that would end it at once, and can be caught."""
_USUAL = (signal.SIG_DFL, signal.default_int_handler)
"""What handles them where nobody else does."""


def raw(settings: list[Any], *, signals: bool) -> list[Any]:
    """The settings of a terminal whose keys arrive as they are typed, and are not echoed.

    Args:
        settings: As ``termios`` tells them.
        signals: Whether ctrl+c and its kin still send signals.
    """
    made = [*settings[:6], [*settings[6]]]
    made[tty.IFLAG] &= ~(
        termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR
    )
    made[tty.LFLAG] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
    if not signals:
        made[tty.LFLAG] &= ~termios.ISIG
    # A read never waits: somebody else may have read what was there.
    made[tty.CC][termios.VMIN] = made[tty.CC][termios.VTIME] = 0
    return made


def terminal_size() -> tuple[int, int] | None:
    """Return the columns and rows that the terminal reports, or None if it reports none.

    COLUMNS and LINES of the environment do not count: they stay when the terminal is resized.
    """
    for stream in (sys.__stderr__, sys.__stdin__, sys.__stdout__):
        try:
            size = os.get_terminal_size(stream.fileno() if stream else -1)
        except (OSError, ValueError):
            continue
        if size.columns and size.lines:
            return size.columns, size.lines
    return None


class Replay:
    """Has the last frame stand on the terminal until the driver takes it.

    A context manager, for the main thread: where no driver has come, it gives the terminal back as
    it was. So it does on a signal, as long as no ``SignalGuard`` has taken over, and when the
    process is stopped, and then shows nothing more; what was typed meanwhile is dropped with it.
    """

    def __init__(self) -> None:
        self.frame: Frame | None = None
        """What stands on the terminal; not known any more once it got another size."""
        self.stands = False
        """Whether it stands there and nobody has taken it."""
        self._is_drawn = False
        self.settings: list[Any] | None = None
        """Those of the terminal before anything was shown; None: nothing was."""
        self._handlers: dict[int, tuple[Any, Any]] = {}
        """Number of a signal -> what handles it, and what did so before."""
        self._as_new: AsNew | None = None
        self._hand_over = RLock()
        """Held by who writes to the terminal or leaves it; a signal's handler may hold it too."""

    def show(
        self,
        frame: Frame,
        rows: list[list[Cell]],
        as_new: AsNew | None = None,
    ) -> None:
        """Draw a frame.

        Args:
            frame: Where nothing is known to stand.
            rows: What is to stand there.
            as_new: What turns it into the live one; None: nobody knows.
        """
        size = len(rows[0]), len(rows)
        text = frame.changes([(0, y, row) for y, row in enumerate(rows)], size)
        try:
            settings = self.settings = termios.tcgetattr(_IN)
        except termios.error:
            return
        self.frame, self.stands = frame, True
        ending = [n for n in ENDING_SIGNALS if signal.getsignal(n) in _USUAL]  # else it is guarded
        handlers: dict[int, Any] = {
            **dict.fromkeys(ending, _end),
            signal.SIGTSTP: self._stop,
            signal.SIGCONT: lambda *_: self.give_back(),
            signal.SIGWINCH: self._forget,
        }
        self._handlers = {n: (ours, signal.signal(n, ours)) for n, ours in handlers.items()}
        # From the background this stops us, before anything is drawn.
        termios.tcsetattr(_IN, termios.TCSANOW, raw(settings, signals=True))
        if terminal_size() == size:
            self._is_drawn, self._as_new = True, as_new
            _send(_ENTER + text + frame.to_cursor)
        else:
            self.give_back()

    def confirm(self, body: bytes) -> None:
        """Say that what stands there is as new, where the service has just sent that very page.

        Called in another thread, while Textual is imported.

        Args:
            body: What it has sent.
        """
        with self._hand_over:
            frame, as_new, self._as_new = self.frame, self._as_new, None
            if not self.stands or frame is None or as_new is None or not frame.rows:
                return
            answer, y, row = as_new
            if answer == (len(body), zlib.crc32(body)):
                _send(frame.changes([(0, y, row)], frame.size) + frame.to_cursor)

    def take(self) -> list[Any] | None:
        """The driver takes the terminal, as it stands.

        Returns:
            The settings to restore at the end; None where no frame stands there.
        """
        with self._hand_over:
            if not self.stands:
                return None
            self.stands = False
            return self.settings

    def give_back(self) -> None:
        """Leave the terminal as it was, unless the driver has it."""
        with self._hand_over:
            if not self.stands or self.settings is None:
                return
            self.stands = False
            self._forget()
        for number, (ours, before) in self._handlers.items():
            if signal.getsignal(number) == ours:  # else somebody else has taken over
                signal.signal(number, before)
        try:
            termios.tcflush(_IN, termios.TCIFLUSH)
            termios.tcsetattr(_IN, termios.TCSANOW, self.settings)
        except termios.error:
            pass  # the terminal is gone
        try:  # noqa: SIM105  # a signal is dealt with, which imports nothing; nor does a start
            _send(_LEAVE if self._is_drawn else "")
        except OSError:
            pass

    def _forget(self, *_: object) -> None:
        """Nobody knows what stands on the terminal."""
        with self._hand_over:
            if self.frame is not None:
                self.frame.forget()

    def _stop(self, *_: object) -> None:
        self.give_back()
        os.kill(os.getpid(), signal.SIGSTOP)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.give_back()


def _end(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)


def _send(text: str) -> None:
    data = text.encode()
    while data:
        data = data[os.write(_OUT, data) :]
