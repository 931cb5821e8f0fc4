"""What leaves for the terminal, byte by byte: colors, the mouse, the offer of quiet."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable

import psutil
import pytest

from lockterm.service.running import RunningService
from tests.matrix.emulators.lock import LOCK, NUMBERS, REAL, fill, rename
from tests.terminal.pty_session import PtySession, Start

SGR = re.compile(rb"\x1b\[([0-9;:]*)m")
MOUSE = re.compile(rb"\x1b\[\?(1000|1002|1003|1005|1006|1015|1016)h")
WHERE_IS_THE_CURSOR = b"\x1b[6n"
OVER_SSH = {"SSH_CONNECTION": "10.0.0.9 50000 10.0.0.1 22"}
SLOW_S = 0.3
"""As slow as the terminal answers in these tests; more than what quiet is offered for."""


def color_codes(raw: bytes) -> set[int]:
    """Every color code that was sent; 38 and 48 stand for all that follows them."""
    codes: set[int] = set()
    for found in SGR.finditer(raw):
        parts = [int(part or 0) for part in re.split(rb"[;:]", found[1])]
        codes |= {part for part in parts if 30 <= part <= 49 or 90 <= part <= 107}
    return codes


def main_job(session: PtySession) -> None:
    """See remotes, a dialog, a form with errors, help, the palette."""
    session.wait_for("Main gate")
    session.press("enter", seen="page 1 of")
    for key, words in (
        ("d", "Keep"),
        ("a", "for example: Anna"),
        ("f1", "Help"),  # a letter would do nothing: a form was just left
        ("\x10", "Find an action"),
    ):
        session.press(key, seen=words)
        if key == "a":
            session.press("\x13", seen="A name is required")
        leave(session, words)
    assert WHERE_IS_THE_CURSOR not in session.raw, "a link is measured that is near, or quiet"


def leave(session: PtySession, words: str) -> None:
    """Press escape, and wait until these words are gone."""
    session.press("escape")
    session.wait_until(lambda: words not in session.text, f"no {words}")


@pytest.mark.parametrize(
    "env",
    [
        {"NO_COLOR": "1", "COLORTERM": "truecolor"},
        {"TERM": "vt220"},
        pytest.param({"NO_COLOR": "1"}, marks=pytest.mark.long),
        pytest.param({"TERM": "vt100"}, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_no_color_code_leaves(lockterm: Start, env: dict[str, str]) -> None:
    session = lockterm("demo", env=env)
    main_job(session)
    assert color_codes(session.raw) == set()
    reverse = [found for found in SGR.finditer(session.raw) if b"7" in found[1].split(b";")]
    assert reverse, "the cursor is told by reverse"


@pytest.mark.long
@pytest.mark.parametrize("term", ["xterm", "linux", "screen"])
def test_sixteen_colors_are_the_terminals_own(lockterm: Start, term: str) -> None:
    session = lockterm("demo", env={"TERM": term})
    main_job(session)
    codes = color_codes(session.raw)
    assert not codes & {38, 48}, "neither 256 colors nor true ones"
    assert codes & set(range(30, 38)), "red for what is wrong"


@pytest.mark.parametrize(
    "how", [["--quiet"], pytest.param([], marks=pytest.mark.long)], ids=["option", "environment"]
)
def test_quiet_mode_sends_neither_true_color_nor_special_glyphs(
    lockterm: Start, how: list[str]
) -> None:
    env = {"COLORTERM": "truecolor", **OVER_SSH} | ({} if how else {"LOCKTERM_QUIET": "1"})
    session = lockterm("demo", *how, env=env)
    main_job(session)
    assert not color_codes(session.raw) & {38, 48}
    sent = session.raw.decode(errors="replace")
    assert not {"─", "…", "│"} & set(sent)
    assert " · 137 remotes" not in sent, "a dot stands in names alone"
    assert "?1003h" not in sent, "no report of every movement"
    assert "?1000h" in sent and "?1002h" in sent


def test_without_mouse_no_code_of_it_leaves_until_the_key(lockterm: Start) -> None:
    session = lockterm("demo", "--no-mouse", seen="Main gate")
    stop_and_go_on(session)
    assert not MOUSE.search(session.raw)
    session.press("O", seen="work in lockterm again")
    assert {b"1000", b"1003", b"1006"} <= {found[1] for found in MOUSE.finditer(session.raw)}
    session.press("O", seen="The terminal now handles the mouse")
    after = len(session.raw)
    for mode in (b"1000", b"1002", b"1003", b"1006", b"1015"):
        last = max(session.raw.rfind(b"\x1b[?" + mode + end) for end in (b"h", b"l"))
        assert session.raw[last:].startswith(b"\x1b[?" + mode + b"l")
    stop_and_go_on(session)
    session.press("q")
    session.wait_exit()
    assert not MOUSE.search(session.raw, after), "not when it comes back either"


def stop_and_go_on(session: PtySession) -> None:
    """Ctrl+z in a shell, and fg."""
    drawn = b"\x1b[?2004h"  # the last that it asks of the terminal when it begins to read keys
    before = session.raw.count(drawn)
    process = psutil.Process(session.pid)
    session.kill(signal.SIGTSTP)
    session.wait_until(lambda: process.status() == psutil.STATUS_STOPPED, "it has stopped")
    os.kill(session.pid, signal.SIGCONT)
    session.wait_until(lambda: session.raw.count(drawn) > before, "it goes on")


def answer_late(session: PtySession, times: int) -> None:
    """Be a terminal far away: each question for the cursor is answered after a while."""
    for asked in range(1, times + 1):
        session.wait_until(
            lambda asked=asked: session.raw.count(WHERE_IS_THE_CURSOR) >= asked, "a question"
        )
        due = time.monotonic() + SLOW_S
        session.wait_until(lambda due=due: time.monotonic() >= due, "the answer's time")
        session.send(b"\x1b[5;7R")


def test_quiet_is_offered_over_a_thin_link_and_once(lockterm: Start) -> None:
    session = lockterm("demo", env=OVER_SSH, seen="Main gate")
    answer_late(session, times=2)
    session.wait_for("▌ Slow connection: A round trip")
    session.press("Q", seen=r"\| Low-bandwidth mode on: To send less")
    session.press("M", seen="Messages")
    session.press("j", seen="To start in this mode, use --quiet")
    assert session.raw.count(WHERE_IS_THE_CURSOR) == 2


HOW_WIDE = "\x1b[Háä\x1b[06n\r\x1b[K".encode()
WIDE = b"\x1b[1;4R"
"""Where the cursor is behind a character of ambiguous width."""


def test_lines_are_ascii_where_they_would_be_two_cells_wide(lockterm: Start) -> None:
    """Asked once; the names are laid out as wide as they are drawn, the numbers beside them."""
    session = lockterm("demo", "--lock", "1001")
    session.wait_until(lambda: HOW_WIDE in session.raw, "the question")
    session.send(WIDE)
    session.wait_for("page 1 of 7 - 137 remotes")
    session.press("d", seen=r"\+-{20,}\+")
    after = len(session.raw)
    session.press("escape", "\x0c", seen="^ +Name")
    assert not {"─", "│", "·", "…"} & {*session.raw[after:].decode(errors="replace")}
    assert session.raw.count(HOW_WIDE) == 1


@pytest.mark.long
def test_questions_about_wide_names_are_drawn_whole(
    lockterm: Start, running_service: Callable[..., RunningService]
) -> None:
    """With each name in the question, and all of it drawn again behind and around the dialog."""
    service = running_service(sample_data=False)
    fill(service)
    rename(service, REAL)
    session = lockterm("--base-url", service.base_url, "--lock", str(LOCK))
    session.wait_until(lambda: HOW_WIDE in session.raw, "the question")
    session.send(WIDE)
    session.wait_for("page 1 of 2")
    for number in NUMBERS[:8]:
        session.press("d", seen=f"Keep(?s:.)*{number}|{number}(?s:.)*Keep")
        after = len(session.raw)
        session.press("\x0c")
        session.wait_until(lambda after=after: b"Keep" in session.raw[after:], "it drawn again")
        leave(session, "Keep")
        session.press("down")
    session.quit()
