"""What our driver does and Textual's own does not; each test fails with Textual's."""

from __future__ import annotations

import signal
import termios

import psutil

from tests.terminal.pty_session import Start
from tests.terminal.test_ending import assert_given_back, modes_of


def test_quitting_ends_every_mode_when_the_mouse_was_taken_late(lockterm: Start) -> None:
    session = lockterm("demo", "--no-mouse", seen="Main gate")
    session.send(b"\x1b[?2048;2$y")  # it can report its size between the keys
    session.wait_until(lambda: b"\x1b[?2048h" in session.raw, "sizes in band")
    session.press("O")
    session.wait_until(lambda: b"\x1b[?1016h" in session.raw, "the mouse in pixels")
    assert {1000, 1003, 1006, 1016, 2004, 2048} <= modes_of(session.raw)
    session.quit()
    assert modes_of(session.raw) == {7, 25}


def test_one_thread_reads_when_the_process_was_stopped_and_continued(lockterm: Start) -> None:
    """Two threads that read would each get half of what is typed, and one wait for ever."""
    session = lockterm("demo", seen="Main gate")
    assert session.attributes()[6][termios.VMIN] in (0, b"\0"), "no read waits"
    process = psutil.Process(session.pid)
    session.wait_taken()
    threads = process.num_threads()
    stops = (signal.SIGSTOP, signal.SIGTSTP) * 2
    for stop in stops:
        entered = session.raw.count(b"\x1b[?1049h")
        session.kill(stop)
        session.wait_until(lambda: process.status() == psutil.STATUS_STOPPED, "stopped")
        session.kill(signal.SIGCONT)
        session.wait_until(
            lambda entered=entered: session.raw.count(b"\x1b[?1049h") > entered, "it goes on"
        )
    session.wait_taken()
    # One more may have begun to do something else.
    assert process.num_threads() < threads + len(stops)
    for key, shown in (("enter", "page 1 of"), ("escape", "Main gate +1001")):
        session.press(key, seen=shown)
    session.quit()
    assert_given_back(session)
