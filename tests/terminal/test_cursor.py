"""The terminal's own cursor stands on what has the focus: screen readers and magnifiers follow."""

from __future__ import annotations

import re

from tests.terminal.pty_session import PtySession, Start

ESCAPE = "\x1b[27u"
"""Spelt so that it needs no pause behind it."""
PALETTE = "\x10"
MOST_BYTES = 10
"""What placing it may cost of what a key sends."""

FIRST = ".& Night crew 1 +A-2054"

WALK = (
    # rows of a table; of two pages; of one that is longer than the screen
    *(("", FIRST), ("down", ". +Omar Haddad"), ("G", ". +Hugo Lambert")),
    *(("n", ". +Brandt Elektro"), ("p", FIRST)),
    # the fields of a remote
    *(("enter", "Name +Night crew 1"), ("down", "Number +A-2054"), (ESCAPE, ".")),
    # a list
    *(("T", "lockterm-dark"), ("down", "lockterm-light"), (ESCAPE, FIRST)),
    # buttons
    *(("d", " +Keep"), (ESCAPE, FIRST)),
    # where one types
    *((PALETTE, "Find an action"), ("z", "$"), (ESCAPE, FIRST)),
    # a tree
    *(("v", ""), ("g", "- zh-CN"), ("down", " +小燕"), (ESCAPE, FIRST)),
    # the fields of a form, its options, and its text over several lines
    *(("a", "for example: Anna"), ("女b", "$"), ("left", "b$"), ("left", "女b$")),
    *(("tab", "for example: A-"), ("tab", r"\( \) permanent"), ("1", r"\(\*\) permanent")),
    *(("right", r"\(\*\) time-limited"),),
)
"""Keys, and what stands from the terminal's own cursor on."""


def under_cursor(session: PtySession) -> str:
    """The row from the terminal's own cursor on."""
    cursor = session.screen.cursor
    row = session.screen.buffer[cursor.y]
    return "".join(row[x].data for x in range(cursor.x, session.screen.columns)).rstrip(" │▊▎")


def wait_on(session: PtySession, pattern: str) -> None:
    """Wait until it stands on what matches, from there on."""
    matches = re.compile(pattern).match
    session.wait_until(lambda: matches(under_cursor(session)) is not None, f"cursor: {pattern}")


def test_terminal_cursor_follows_the_focus(lockterm: Start) -> None:
    session = lockterm("demo", "--lock", "1001", seen="page 1 of 7")
    for key, pattern in WALK:
        session.press(key)
        wait_on(session, pattern)
        assert session.screen.cursor.hidden, "lockterm shows one of its own"


def test_it_costs_a_key_ten_bytes_at_most(lockterm: Start) -> None:
    session = lockterm("demo", "--lock", "1001", seen="page 1 of 7")
    before = len(session.raw)
    session.press("j")
    wait_on(session, ". +Omar Haddad")
    placed = re.findall(rb"\x1b\[[0-9;]*H", session.raw[before:])
    assert re.search(re.escape(placed[-1]) + rb"(\x1b\[\?2026l)?$", session.raw)
    assert len(placed[-1]) <= MOST_BYTES
