"""Textual's driver, adapted to a terminal that may be far away or may disappear.

Unlike Textual's own driver, this driver reads with a single thread, even if the process is stopped
and continued several times. The driver does not request the kitty keyboard protocol. If the
connection dropped while that protocol was on, the user could not type in the shell. Late answers of
the terminal to queries never count as keys.
"""

from __future__ import annotations

import logging
import os
import select
import shutil
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from textual import events
from textual.drivers.linux_driver import LinuxDriver
from textual.messages import InBandWindowResize

from lockterm.config.look import look_of
from lockterm.terminal.signals import terminal_size
from lockterm.terminal.terminal_input import LettersDrawn, TerminalInput

if TYPE_CHECKING:
    from textual.app import App
    from textual.message import Message

    from lockterm.terminal.frame_diff import FrameDiff

_MOUSE = (1000, 1002, 1003, 1015, 1006, 1016)
_MOUSE_ALL = (1000, 1003, 1015, 1006)
_MOUSE_QUIET = (1000, 1002, 1015, 1006)
"""The mouse modes in low-bandwidth mode.

Mode 1003 is left out. It reports each cell that the mouse passes, and each report causes a repaint.
"""

_KITTY_KEYBOARD = ("\x1b[>", "\x1b[<")
"""First characters of Textual's requests that start and end the kitty keyboard protocol."""

_HOW_DRAWN = "\x1b[H\u00e1\u00e4\x1b[06n\r\x1b[K"
"""Output to find out how the terminal draws letters: two letters, a query, and the removal of the
letters.

The first letter has ambiguous width, and the second letter is narrow in every terminal. No terminal
treats their bytes as commands.
"""
_DRAWN = {2: (True, 1), 3: (True, 2), 4: (False, 1)}
"""Maps the width that the two letters in :data:`_HOW_DRAWN` take together to two facts.

The facts are whether the terminal reads UTF-8, and the width of the first letter. Widths are in
cells.
"""

READ_BYTES = 4096
BEHIND_S = 0.1
"""Seconds after which the terminal counts as behind if it has not accepted written data.

Of the frames that are painted while the terminal is behind, lockterm sends only the last frame.
"""

_log = logging.getLogger("lockterm")


class _Terminal:
    """A stream to the terminal that reports when the terminal has accepted all output.

    Args:
        stream: The stream to write to.
        drained: A function that is called in the writing thread when nothing is left to write.
    """

    def __init__(self, stream: IO[str], drained: Callable[[], None]) -> None:
        self.write = stream.write
        self._stream = stream
        self._drained = drained

    def flush(self) -> None:
        """Flush the stream and call ``drained``.

        Textual's writing thread calls this method when no text is left to write.
        """
        self._stream.flush()
        self._drained()


class TerminalDriver(LinuxDriver):
    """A driver that draws on stderr, reads stdin, and can turn the mouse on and off.

    Args:
        app: The app to draw.
        debug: Unused; Textual passes this argument.
        mouse: Whether the terminal reports mouse events.
        size: The initial columns and rows; None, which Textual passes, for the current size.
    """

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size or self._get_terminal_size())
        self._file: Any = _Terminal(self._file, self._note_drained)
        self._busy_since_s: float | None = None
        self._input = TerminalInput()
        self._wake: tuple[int, int] | None = None
        """The reading and the writing end of a pipe; None while no thread reads.

        A write to the pipe ends the reading thread.
        """
        self._asked_how_drawn = False

    def _get_terminal_size(self) -> tuple[int, int]:
        """Return the terminal's columns and rows.

        If the terminal reports none, use COLUMNS and LINES, or else 80 columns and 24 rows.
        """
        usual = shutil.get_terminal_size((80, 24))
        return terminal_size() or (usual.columns, usual.lines)

    # --- beginning and end -----------------------------------------------------------------------

    def start_application_mode(self) -> None:
        """Set up the terminal: the alternate screen, raw keys, and the events that it reports."""
        self._input, self._wake = TerminalInput(), os.pipe()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if self._key_thread is None or not self._key_thread.is_alive():
            return  # in the background; this runs again when the process is in the foreground
        with suppress(termios.error):
            # Reads must not block, because another process may have read the input first.
            now = termios.tcgetattr(self.fileno)
            now[6][termios.VMIN] = now[6][termios.VTIME] = 0
            termios.tcsetattr(self.fileno, termios.TCSANOW, now)
        # Ask before the first frame, because the locale may describe another terminal.
        stderr = sys.__stderr__
        self._asked_how_drawn = stderr is not None and stderr.encoding.lower() == "utf-8"
        if self._asked_how_drawn:
            self.write(_HOW_DRAWN)

    def stop_application_mode(self) -> None:
        """Restore the modes that the terminal had before lockterm started."""
        super().stop_application_mode()
        self._in_band_window_resize = self._mouse_pixels = False

    def disable_input(self) -> None:
        """End the reading thread, and drop the keys that it has not read."""
        if self._wake is None:
            return
        with suppress(BrokenPipeError):  # the terminal is gone, and the thread ended before
            os.write(self._wake[1], b".")
        super().disable_input()
        os.close(self._wake[1])
        self._wake = None

    def close(self) -> None:
        """End the writing thread after the thread has written everything."""
        super().close()
        self._writer_thread = None

    # --- writing ---------------------------------------------------------------------------------

    def write(self, data: str) -> None:
        """Send text to the terminal, but drop requests for the kitty keyboard protocol."""
        if self._writer_thread is None or data.startswith(_KITTY_KEYBOARD):
            return
        self._input.note_written(data, time.monotonic())
        if self._busy_since_s is None:
            self._busy_since_s = time.monotonic()
        super().write(data)

    @property
    def is_behind(self) -> bool:
        """Whether written data has waited for the terminal longer than :data:`BEHIND_S` seconds."""
        since_s = self._busy_since_s
        return since_s is not None and time.monotonic() - since_s > BEHIND_S

    def _note_drained(self) -> None:
        self._busy_since_s = None
        frame_diff: FrameDiff | None = getattr(self._app, "frame_diff", None)
        if frame_diff is not None and frame_diff.is_overtaken:
            self._soon(frame_diff.catch_up)

    # --- stopped and continued -------------------------------------------------------------------

    def _soon(self, action: Callable[[], None]) -> None:
        """Schedule a call in the event loop, from a signal handler or another thread.

        A direct call would not be safe, because a signal handler may interrupt any code.
        """
        with suppress(RuntimeError):  # the loop has just ended
            self._loop.call_soon_threadsafe(action)

    def _sigtstp_application(self, *_: object) -> None:
        self._soon(self._stop)

    def _sigcont_application(self, *_: object) -> None:
        self._soon(self._continue)

    def _stop(self) -> None:
        if self._wake is not None:
            super()._sigtstp_application()
            return
        os.kill(os.getpid(), signal.SIGSTOP)

    def _continue(self) -> None:
        """Set up the terminal again after the process was stopped and continues.

        If the terminal was not reset before the stop, reset it first.
        """
        if self._wake is not None:
            with suppress(termios.error):  # in the background, this stops the process again
                termios.tcsetattr(self.fileno, termios.TCSANOW, termios.tcgetattr(self.fileno))
            self.suspend_application_mode()
            self._must_signal_resume = True
        if self._must_signal_resume:
            super()._sigcont_application()

    # --- the mouse -------------------------------------------------------------------------------

    def use_mouse(self, wanted: bool) -> None:
        """Enable mouse reports, or disable them so that the user can select text in the terminal.

        Args:
            wanted: Whether the terminal reports the mouse from now on, even after the process was
                stopped and continued.
        """
        self._disable_mouse_support()
        self._mouse = wanted
        self._enable_mouse_support()

    def _enable_mouse_support(self) -> None:
        if self._mouse:
            modes = _MOUSE_QUIET if look_of(self._app).quiet else _MOUSE_ALL
            self.write("".join(f"\x1b[?{mode}h" for mode in modes))
        if self._in_band_window_resize:
            self._enable_mouse_pixels()

    def _disable_mouse_support(self) -> None:
        if self._mouse:
            self.write("".join(f"\x1b[?{mode}l" for mode in _MOUSE))

    # --- reading ---------------------------------------------------------------------------------

    def run_input_thread(self) -> None:
        """Read until another thread writes to the wake pipe, or until the terminal is gone."""
        assert self._wake is not None
        woken = self._wake[0]
        poll = select.poll()
        poll.register(self.fileno, select.POLLIN)
        poll.register(woken, select.POLLIN)
        try:
            while True:
                due_s = self._input.due_s
                wait_s = None if due_s is None else max(due_s - time.monotonic(), 0)
                ready = dict(poll.poll(None if wait_s is None else wait_s * 1000 + 1))
                if woken in ready:
                    return
                if not ready:
                    self._pass_on(self._input.tick(time.monotonic()))
                elif data := self._read_some():
                    self._pass_on(self._input.feed(data, time.monotonic()))
                elif ready.get(self.fileno, 0) & ~select.POLLIN:
                    os.kill(os.getpid(), signal.SIGHUP)
                    return
        finally:
            os.close(woken)

    def _read_some(self) -> bytes:
        try:
            return os.read(self.fileno, READ_BYTES)
        except OSError:  # Linux: the other end is closed
            return b""

    def _pass_on(self, arrived: Iterable[Message]) -> None:
        try:
            for message in arrived:
                self.process_message(message)
        except Exception:  # the next keys must still be read
            _log.exception("lockterm did not understand the terminal")

    def process_message(self, message: Message) -> None:
        """Pass a message to the app.

        The answer to :data:`_HOW_DRAWN` is converted to a :class:`LettersDrawn` first.
        """
        if isinstance(message, InBandWindowResize) and message.supported:
            self._input.tells_sizes = True
        if (
            isinstance(message, events.CursorPosition)
            and self._asked_how_drawn
            and message.y == 0
            and message.x in _DRAWN
        ):
            self._asked_how_drawn = False
            self.send_message(LettersDrawn(*_DRAWN[message.x]))
        else:
            super().process_message(message)
