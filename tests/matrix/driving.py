"""Drives a terminal through the steps, and reads each screen once it stands still."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.matrix import reading, sent
from tests.matrix.job import QUIT, Step
from tests.matrix.picture import Picture
from tests.matrix.terminals import Terminal
from tests.terminal.pty_session import PATIENCE_S, PtySession, is_at_work

STILL_S = 0.03
"""A screen to which nothing was written for so long is read."""
AGAIN_S = 1.0
"""After so long a dialog may have taken a key for one that was not meant for it."""
TURNS, MORE_TURNS = 60, 180
"""Problems with a screen that shows all its words may come right: a part is drawn later. After
so many looks at which nothing was written and neither lockterm nor the service did anything, it is
wrong; more where a key is pressed again meanwhile."""


@dataclass
class Outcome:
    """What became of the steps on one terminal."""

    passed: int = 0
    problems: list[str] = field(default_factory=list)
    """Step by step, with the screen as it was."""
    is_stuck: bool = False
    """Whether a screen never came, so that the steps after it could not be tried."""


def drive(session: PtySession, terminal: Terminal, steps: Iterable[Step]) -> Outcome:
    """Go through the steps. One whose screen never comes ends it; others are all read."""
    outcome = Outcome()
    began = 0
    for step in steps:
        problems, outcome.is_stuck = _take(session, terminal, step)
        problems += sent.wrong(bytes(session.raw[began:]), terminal, Picture(session.screen).lines)
        began = len(session.raw)
        if problems:
            found = "\n  ".join(problems)
            outcome.problems.append(f"{terminal.name}, {step.name}:\n  {found}\n{session.text}")
        else:
            outcome.passed += 1
        if outcome.is_stuck:
            break
    return outcome


def _take(session: PtySession, terminal: Terminal, step: Step) -> tuple[list[str], bool]:
    """Problems with the screen of a step, and whether it did not come at all."""
    session.press(*step.keys)
    pressed = time.monotonic()
    end, turns = pressed + PATIENCE_S, 0
    while True:
        while session.pump(STILL_S):
            turns = 0
        picture = Picture(session.screen)
        problems = reading.wrong(picture, step.shows, terminal)
        is_gone = not step.gone or not re.search(step.gone, picture.words)
        if is_gone and not problems:
            return [], False
        now = time.monotonic()
        missing = not is_gone or any(problem.startswith("not there") for problem in problems)
        turns = 0 if missing else turns + (not (session.is_at_work() or _serves()))
        if now > end or session.exit_code is not None:
            return [*problems, *([] if is_gone else [f"still there: {step.gone!r}"])], missing
        if turns > (MORE_TURNS if step.again else TURNS):
            return problems, False
        if step.again and now > pressed + AGAIN_S:
            session.press(*step.keys)
            pressed = now


def _serves() -> bool:
    """Whether the service, a thread of this process, has something to do for it."""
    return is_at_work(os.getpid(), but=threading.get_native_id())


def leave(session: PtySession, terminal: Terminal) -> list[str]:
    """Quit by a key; what the terminal has not got back."""
    session.press(QUIT)
    problems = []
    if (code := session.wait_exit()) != 0:
        problems.append(f"ended with {code}")
    if session.attributes() != session.attributes_before:
        problems.append("the terminal's settings are not those of before")
    raw = bytes(session.raw)
    pairs = {"main screen": (b"?1049l", b"?1049h"), "cursor": (b"?25h", b"?25l")}
    if terminal.has_mouse:
        pairs["mouse"] = (b"?1000l", b"?1000h")
    for what, (back, taken) in pairs.items():
        if not raw.rfind(b"\x1b[" + back) > raw.rfind(b"\x1b[" + taken) >= 0:
            problems.append(f"the {what} is not given back")
    return problems
