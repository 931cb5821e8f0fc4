"""The driver: what Textual needs of a terminal, made for one that may be far away, or go.

Draws on stderr and reads stdin. Unlike Textual's own it reads with one thread for as long as the
app runs, however often the process is stopped and goes on; it asks the terminal for no other
keyboard than the usual one, so that a line that dies leaves a shell that can be typed into; and
what the terminal answers late is never a key.
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
from threading import Thread
from typing import TYPE_CHECKING, Any

from textual import events
from textual.driver import Driver
from textual.drivers._writer_thread import WriterThread
from textual.geometry import Size
from textual.messages import InBandWindowResize

from lockterm.config.look import look_of
from lockterm.terminal.replay import raw, terminal_size
from lockterm.terminal.terminal_input import LettersDrawn, TerminalInput

if TYPE_CHECKING:
    from textual.app import App
    from textual.message import Message

    from lockterm.terminal.frame_diff import FrameDiff
    from lockterm.terminal.replay import Replay

_MOUSE = (1000, 1002, 1003, 1015, 1006, 1016)
_MOUSE_ALL = (1000, 1003, 1015, 1006)
_MOUSE_QUIET = (1000, 1002, 1015, 1006)
"""Without 1003: each cell the mouse passes would be sent up the link, and painted."""
_PIXELS = 1016
_SIZE_IN_BAND = 2048
_DRAWS_AT_ONCE = 2026

_HOW_DRAWN = "\x1b[H\u00e1\u00e4\x1b[06n\r\x1b[K"
"""Two letters of two bytes each, and where the cursor is behind them; they are erased at once. The
first is of ambiguous width, the second is narrow everywhere. No terminal obeys their bytes."""
_DRAWN = {2: (True, 1), 3: (True, 2), 4: (False, 1)}
"""By the cells that they take: whether they are taken for UTF-8, and how wide the first is."""
_ENTER = "\x1b[?25l\x1b[?1004h\x1b[?2004h\x1b[?7l"
"""No cursor, reports of the focus, bracketed paste, lines that do not wrap."""
_LEAVE = "\x1b[?1049l\x1b[?25h\x1b[?1004l"

READ_BYTES = 4096
BEHIND_S = 0.1
"""From so many seconds of writing on, the terminal is behind: what is drawn meanwhile waits, and of
several pictures the last one alone is sent."""
JOIN_S = 1.0
"""So long, in seconds, the end waits for the reading thread."""

_log = logging.getLogger("lockterm")


class _Writer(WriterThread):
    """Textual's, which also tells when all of it has been taken.

    Args:
        file: What is written to.
        drained: Called, in this thread, each time when nothing is left to write.
    """

    def __init__(self, file: Any, drained: Callable[[], None]) -> None:
        super().__init__(file)
        self._drained = drained
        self.busy_since_s: float | None = None

    def write(self, text: str) -> None:
        """Have it written, after all that came before."""
        if self.busy_since_s is None:
            self.busy_since_s = time.monotonic()
        super().write(text)

    def run(self) -> None:
        """Write until stopped."""
        while (text := self._queue.get()) is not None:
            self._file.write(text)
            if self._queue.empty():
                self._file.flush()
                self.busy_since_s = None
                self._drained()
        self._file.flush()


def _size() -> tuple[int, int]:
    """Return the terminal's size, or what COLUMNS and LINES say of one that reports none."""
    usual = shutil.get_terminal_size((80, 24))
    return terminal_size() or (usual.columns, usual.lines)


class TerminalDriver(Driver):
    """Draws on stderr and reads stdin; whether it has the mouse can change.

    Args:
        app: The app that is drawn.
        debug: Unused; Textual passes it.
        mouse: Whether the terminal is to report its mouse.
        size: The size until the terminal reports one; Textual passes None.
    """

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size or _size())
        self._stdin = sys.__stdin__.fileno() if sys.__stdin__ is not None else 0
        self._input = TerminalInput()
        self._writer: _Writer | None = None
        self._reader: Thread | None = None
        self._wake: int | None = None
        """Written to, it ends the reading thread."""
        self._replay: Replay | None = getattr(app, "replay", None)
        self._before: list[Any] | None = None
        """The terminal's settings, as they were found."""
        self._mouse_pixels = False
        self._sizes_in_band = False
        self._asked_how_drawn = False
        self._stopped_here = False
        """Whether the process stops itself, and takes the terminal again by itself."""
        signal.signal(signal.SIGTSTP, lambda *_: self._soon(self._stop_for_now))
        signal.signal(signal.SIGCONT, self._continued)

    @property
    def can_suspend(self) -> bool:
        """Whether the terminal can be given back for a while."""
        return True

    # --- beginning and end -----------------------------------------------------------------------

    def start_application_mode(self) -> None:
        """Take the terminal: the other screen, raw keys, and what it is to report."""
        self._await_foreground()
        self._writer = _Writer(sys.__stderr__, self._tell_drained)
        self._writer.start()
        signal.signal(signal.SIGWINCH, lambda *_: self._soon(self._tell_size))
        self._tell_size()
        self._enter()
        self._read()
        self._ask_how_drawn()
        if self._asked_how_drawn and self._replay is not None and self._replay.frame is not None:
            self.write(self._replay.frame.again(0) + self._replay.frame.to_cursor)
        # Terminals ignore what they do not know; Apple's draws the last letter of it.
        if os.environ.get("TERM_PROGRAM") != "Apple_Terminal":
            self.write(f"\x1b[?{_DRAWS_AT_ONCE}$p")
        self.write(f"\x1b[?{_SIZE_IN_BAND}$p")

    def _enter(self) -> None:
        replayed = self._replay.take() if self._replay is not None else None
        if replayed is None:
            self.write("\x1b[?1049h")  # which clears it
        else:
            self._before = replayed
        self._make_raw()
        self._enable_mouse_support()
        self.write(_ENTER)

    def stop_application_mode(self) -> None:
        """Give the terminal back as it was."""
        self.write("\x1b[?2004l\x1b[?7h")
        if self._sizes_in_band:
            self.write(f"\x1b[?{_SIZE_IN_BAND}l")
        self.disable_input()
        self._sizes_in_band = self._mouse_pixels = False
        if self._before is not None:
            self._set(self._before)
        self.write(_LEAVE)

    def disable_input(self) -> None:
        """Read no more; what was typed and not read is dropped."""
        if self._wake is None:
            return
        signal.signal(signal.SIGWINCH, signal.SIG_DFL)
        self._forget_mouse()
        with suppress(BrokenPipeError):  # the terminal is gone, and the thread has ended by itself
            os.write(self._wake, b".")
        if self._reader is not None:
            self._reader.join(JOIN_S)
        os.close(self._wake)
        self._reader = self._wake = None
        with suppress(termios.error):  # it has gone
            termios.tcflush(self._stdin, termios.TCIFLUSH)

    def close(self) -> None:
        """End the thread that writes, once everything is written."""
        if self._writer is not None:
            self._writer.stop()
            self._writer = None

    def write(self, data: str) -> None:
        """Send something, after all that was sent before."""
        if self._writer is not None:
            self._input.note_written(data, time.monotonic())
            self._writer.write(data)

    @property
    def is_behind(self) -> bool:
        """Whether the terminal has not taken for a while what was written."""
        since_s = self._writer.busy_since_s if self._writer is not None else None
        return since_s is not None and time.monotonic() - since_s > BEHIND_S

    def _tell_drained(self) -> None:
        frame_diff: FrameDiff | None = getattr(self._app, "frame_diff", None)
        if frame_diff is not None and frame_diff.is_overtaken:
            self._soon(frame_diff.catch_up)

    # --- stopped and going on --------------------------------------------------------------------

    def _soon(self, action: Callable[[], None]) -> None:
        """From a signal's handler, which may have interrupted anything: let the loop do it."""
        with suppress(RuntimeError):  # it has just ended
            self._loop.call_soon_threadsafe(action)

    def _continued(self, *_: object) -> None:
        if not self._stopped_here:
            self._soon(self._go_on)

    def _stop_for_now(self) -> None:
        """SIGTSTP: give the terminal back, stop, and take it again."""
        takes_again = self._wake is not None and self._auto_restart
        if takes_again:
            self.suspend_application_mode()
        elif self._replay is not None:
            self._replay.give_back()
        self._stopped_here = True
        os.kill(os.getpid(), signal.SIGSTOP)
        self._stopped_here = False
        if takes_again:
            self.resume_application_mode()
            self.send_message(self.SignalResume())

    def _go_on(self) -> None:
        """SIGCONT: the shell has had the terminal meanwhile; the thread still reads."""
        if self._wake is None:
            if self._replay is not None:
                self._replay.give_back()
            return
        self._await_foreground()
        self._enter()
        if self._sizes_in_band:
            self.write(f"\x1b[?{_SIZE_IN_BAND}h")
        else:
            self._tell_size()
        self.send_message(self.SignalResume())

    def _await_foreground(self) -> None:
        """Be stopped until the terminal is ours: whoever sets it from the background is."""
        with suppress(termios.error):
            termios.tcsetattr(self._stdin, termios.TCSANOW, termios.tcgetattr(self._stdin))

    # --- the terminal's settings -----------------------------------------------------------------

    def _make_raw(self) -> None:
        try:
            now = termios.tcgetattr(self._stdin)
        except termios.error:
            return
        if self._before is None:
            self._before = now
        self._set(raw(now, signals=False))

    def _set(self, attributes: list[Any]) -> None:
        with suppress(termios.error):
            termios.tcsetattr(self._stdin, termios.TCSANOW, attributes)

    def _tell_size(self) -> None:
        if self._sizes_in_band:
            return
        size = Size(*_size())
        self.send_message(events.Resize(size, size))

    def _ask_how_drawn(self) -> None:
        """Before the first frame, which does not wait: the environment may be of another one."""
        stderr = sys.__stderr__
        self._asked_how_drawn = stderr is not None and stderr.encoding.lower() == "utf-8"
        if self._asked_how_drawn:
            self.write(_HOW_DRAWN)

    # --- the mouse -------------------------------------------------------------------------------

    def use_mouse(self, wanted: bool) -> None:
        """Take the mouse, or let it go: then the terminal selects text with it.

        Args:
            wanted: Whether it is to be reported, from now on and after every stop.
        """
        self._forget_mouse()
        self._mouse = wanted
        self._enable_mouse_support()

    def _enable_mouse_support(self) -> None:
        if not self._mouse:
            return
        modes = _MOUSE_QUIET if look_of(self._app).quiet else _MOUSE_ALL
        pixels = (_PIXELS,) if self._mouse_pixels else ()
        self.write("".join(f"\x1b[?{mode}h" for mode in (*modes, *pixels)))

    def _forget_mouse(self) -> None:
        if self._mouse:
            self.write("".join(f"\x1b[?{mode}l" for mode in _MOUSE))

    # --- reading ---------------------------------------------------------------------------------

    def _read(self) -> None:
        self._input = TerminalInput()
        woken, self._wake = os.pipe()
        self._reader = Thread(
            target=self._run_reader, args=(woken,), name="lockterm-input", daemon=True
        )
        self._reader.start()

    def _run_reader(self, woken: int) -> None:
        """Read until woken, or until the terminal has gone."""
        poll = select.poll()
        poll.register(self._stdin, select.POLLIN)
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
                elif ready.get(self._stdin, 0) & ~select.POLLIN:
                    os.kill(os.getpid(), signal.SIGHUP)
                    return
        finally:
            os.close(woken)

    def _read_some(self) -> bytes:
        try:
            return os.read(self._stdin, READ_BYTES)
        except OSError:  # Linux: the other end is closed
            return b""

    def _pass_on(self, arrived: Iterable[Message]) -> None:
        try:
            for message in arrived:
                self.process_message(message)
        except Exception:  # what was typed next is still to be read
            _log.exception("what the terminal sent was not understood")

    def process_message(self, message: Message) -> None:
        """Hand a message to the app; called in the thread that reads."""
        if isinstance(message, InBandWindowResize):
            self._take_sizes_in_band(message)
        elif (
            isinstance(message, events.CursorPosition)
            and self._asked_how_drawn
            and message.y == 0
            and message.x in _DRAWN
        ):
            self._asked_how_drawn = False
            self.send_message(LettersDrawn(*_DRAWN[message.x]))
        else:
            super().process_message(message)

    def _take_sizes_in_band(self, message: InBandWindowResize) -> None:
        """Have sizes told by the terminal, in order with the keys, where it can."""
        if not message.supported:
            return
        self._sizes_in_band = self._input.tells_sizes = True
        if not message.enabled:
            self.write(f"\x1b[?{_SIZE_IN_BAND}h")
        if self._mouse:
            self._mouse_pixels = True
            self.write(f"\x1b[?{_PIXELS}h")
        super().process_message(InBandWindowResize(True, True))
