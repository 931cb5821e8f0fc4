"""What others have written over the screen goes away: with a key, and after having been stopped."""

from __future__ import annotations

import signal
import time

import psutil

from tests.terminal.pty_session import PtySession, Start

CTRL_L = b"\x0c"
ESCAPE = "\x1b[27u"
"""Spelt so that it needs no pause behind it."""


def test_ctrl_l_and_a_stop_draw_all_of_it_again(lockterm: Start) -> None:
    """With a question it is worst, of which one would see half."""
    session = lockterm("demo", "--lock", "1001", seen="page 1 of 7")
    before = session.lines

    def write_over(data: bytes, words: str) -> None:
        session.write_as_others(data)
        session.wait_for(words)

    write_over(b"\x1b[5;1HBroadcast message: \x1b[9;30Hgoing down for reboot", "going down")
    session.press("j", "k")
    session.send(CTRL_L)
    session.wait_until(lambda: session.lines[:22] == before[:22], "the screen as it was")

    session.kill(signal.SIGTSTP)
    process = psutil.Process(session.pid)
    session.wait_until(lambda: process.status() == psutil.STATUS_STOPPED, "stopped")
    write_over(b"\x1b[2J\x1b[Hthe shell was here", "the shell was here")
    session.kill(signal.SIGCONT)
    session.wait_until(lambda: session.lines[:22] == before[:22], "the screen as it was")

    session.press("d", seen="Keep +D +Delete Night crew 1(?s:.*)╯")
    write_over(b"\x1b[2J\x1b[5;5Hwritten by others", "written by others")
    session.send(CTRL_L)
    session.wait_for("Delete Night crew 1 .A-2054(?s:.*)╯(?s:.*)Snow clearing(?s:.*)[?] help")


def test_pictures_that_are_overtaken_are_not_sent(lockterm: Start) -> None:
    """Nobody reads what is drawn, as on a link that stalls: in the end the last one is sent."""
    session = lockterm("demo", "--lock", "1001", seen="page 1 of 7")
    before = len(session.raw)
    for key, words in (("?", "Esc close$"), (ESCAPE, "page 1 of 7")):
        session.press(key, seen=words)
    once = len(session.raw) - before
    times = 16
    for key in ("?", ESCAPE) * times + ("M",):
        session.press(key)
        rest(session)
    before = len(session.raw)
    session.wait_for(r"Messages(?s:.*)\? help$")
    assert len(session.raw) - before < once * times / 2
    session.press(ESCAPE, seen=r"page 1 of 7(?s:.*)\? help$")
    picture = session.lines[:20]
    before = len(session.raw)
    session.send(CTRL_L)
    session.wait_until(lambda: len(session.raw) > before + 1000, "drawn again")
    session.wait_until(lambda: session.lines[:20] == picture, "the same picture")


def rest(session: PtySession) -> None:
    """Wait until it has done what there was to do."""
    quiet = 0
    while quiet < 5:
        time.sleep(0.02)
        quiet = 0 if session.is_at_work() else quiet + 1
