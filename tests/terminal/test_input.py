"""What is typed and what the terminal answers, through a real terminal, tmux and GNU screen."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.terminal.keys.by_hand import type_by_hand
from tests.terminal.multiplexers import in_screen, in_tmux
from tests.terminal.pty_session import LOCKTERM, PtySession, Start, clean_environment

ANSWERS = {
    "attributes": b"\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c",
    "second attributes": b"\x1b[>41;388;0c",
    "overlong": b"\x1b[?" + b"1;" * 40 + b"q",
    "background": b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\",
    "foreground": b"\x1b]10;rgb:cccc/cccc/cccc\x07",
    "name": b"\x1bP>|XTerm(388)\x1b\\",
    "third attributes": b"\x1bP!|7E565445\x1b\\",
    "style": b"\x1bP1$r0;1q\x1b\\",
    "capability": b"\x1bP1+r544e=787465726d\x1b\\",
    "picture": b"\x1b_Gi=31;OK\x1b\\",
    "mode": b"\x1b[?2026;2$y",
    "place": b"\x1b[12;40R",
    "fine": b"\x1b[0n",
    "flags": b"\x1b[?0u",
    "unknown key": b"\x1b[99~",
    "too large": b"\x1b[99999999999u",
}


def inside_of(name: str, home: Path) -> AbstractContextManager[PtySession]:
    """The demo in a plain terminal or in a multiplexer."""
    demo = [*LOCKTERM, "demo"]
    if name == "tmux":
        return in_tmux(demo, home)
    if name == "screen":
        return in_screen(["env", "TERM=screen-256color", *demo], home)
    return PtySession(demo, clean_environment(home))


@pytest.mark.parametrize(
    ("inside", "pause_s"),
    [
        *(("plain", 0.06), ("tmux", 0.0), ("tmux", 0.06)),
        pytest.param("screen", 0.06, marks=pytest.mark.long),
    ],
)
def test_escape_and_the_next_key_are_two_keys(tmp_path: Path, inside: str, pause_s: float) -> None:
    """A pause tells them apart; tmux joins them for half a second, screen for less."""
    with inside_of(inside, tmp_path) as session:
        session.wait_for("Main gate")
        session.press("enter", seen="page 1 of")
        session.press("enter", seen=r"Field +Value")
        if inside == "plain":
            session.send(b"\x1bM")  # one read
            session.wait_for("To press Escape and then M, wait between")
            assert "Field " in session.text
        if pause_s:
            type_by_hand(session, b"\x1b", a_key_s=pause_s)
            session.send(b"M")
        else:
            session.send(b"\x1bM")
        session.wait_for("Messages")


def on_the_gate(lockterm: Start) -> PtySession:
    """The remotes of the first lock."""
    session = lockterm("demo", seen="Main gate")
    session.press("enter", seen="page 1 of")
    return session


def adding(lockterm: Start) -> PtySession:
    """An empty form over them."""
    session = on_the_gate(lockterm)
    session.press("a", seen="for example: Anna")
    return session


def test_answers_are_no_keys(lockterm: Start) -> None:
    session = on_the_gate(lockterm)
    before = session.lines[2:-2]
    for answer in ANSWERS.values():
        cut = len(answer) // 2
        for part in (answer, answer[:2], answer[2:cut], answer[cut:]):
            session.send(part)
            session.pump(0.05)
    session.press("M", seen="Messages")
    session.press("escape")
    # The pager may be back before the rows are.
    session.wait_until(lambda: session.lines[2:-2] == before, "the same rows as before")


@pytest.mark.long
def test_answers_are_no_text(lockterm: Start) -> None:
    session = adding(lockterm)
    session.press("Gate 4", seen="Gate 4")
    for answer in ANSWERS.values():
        for place in range(len(answer)):
            session.send(answer[place : place + 1])
            if place > 1 and place % 7 == 0:
                session.pump(0.15)
    session.press("!")
    (line,) = [line for line in session.wait_for(r"^.*Gate 4!.*$")[0].splitlines()]
    assert "[" not in line, line
    assert "Add a remote" in session.text


def test_pasted_escape_is_text_and_invalid_bytes_are_ignored(lockterm: Start) -> None:
    session = adding(lockterm)
    session.send(b"\xff\xfe\x9bq\xc3")
    session.send(b"\x1b[200~Gate \x1b4\xc3")
    session.send(b"\xa9\x1b[20")
    session.send(b"1~!")
    session.wait_for("é!")
    assert "Add a remote" in session.text


def test_the_mouse_points_also_in_pieces_and_the_focus_types_nothing(lockterm: Start) -> None:
    session = lockterm("demo", seen="Main gate")
    row = next(y for y, line in enumerate(session.lines, 1) if "Main gate" in line)
    report = f"\x1b[<0;5;{row}".encode()
    for piece in (report + b"M", report[:4], report[4:], b"m", b"\x1b[", b"O", b"\x1b[I"):
        session.send(piece)
        session.pump(0.05)
    session.press("enter", seen="Main gate > Remotes")


def test_the_keyboard_is_asked_for_nothing(lockterm: Start) -> None:
    """Flags of kitty's that a line which died leaves behind make the shell unusable."""
    session = lockterm("demo", env={"TERM": "xterm-kitty"}, seen="Main gate")
    session.press("q")
    session.wait_exit()
    assert b"\x1b[>" not in session.raw
    assert b"\x1b[<u" not in session.raw, "nor what somebody else has asked for taken away"
    assert b"\x1b[=" not in session.raw
