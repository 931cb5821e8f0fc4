"""What others have written over the screen goes away: with a key, and after having been stopped."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import psutil

from tests.terminal.pty_session import PtySession

Start = Callable[..., PtySession]
CTRL_L = b"\x0c"
WALL = b"\x1b[5;1HBroadcast message from root: \x1b[9;30Hgoing down for reboot"


def test_ctrl_l_draws_all_of_it_again(lockterm: Start) -> None:
    session = lockterm("demo", "--lock", "1001")
    session.wait_for("page 1 of 7")
    before = session.lines
    os.write(session._slave, WALL)
    session.wait_for("going down for reboot")
    session.press("j", "k")
    session.send(CTRL_L)
    session.wait_until(lambda: session.lines[:22] == before[:22], "the screen as it was")


def test_after_a_stop_it_is_drawn_again(lockterm: Start) -> None:
    session = lockterm("demo", "--lock", "1001")
    session.wait_for("page 1 of 7")
    before = session.lines
    session.kill(signal.SIGTSTP)
    process = psutil.Process(session.pid)
    session.wait_until(lambda: process.status() == psutil.STATUS_STOPPED, "stopped")
    os.write(session._slave, b"\x1b[2J\x1b[Hthe shell was here")
    session.wait_for("the shell was here")
    session.kill(signal.SIGCONT)
    session.wait_until(lambda: session.lines[:22] == before[:22], "the screen as it was")
