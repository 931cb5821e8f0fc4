"""Terminals that do not take UTF-8 are sent ASCII alone; one that does is found out."""

from __future__ import annotations

import pytest

from lockterm.service.running import RunningService
from tests.long import telling
from tests.terminal.pty_session import PtySession, Start

QUESTION = b"\x1b[H\xc3\xa1\xc3\xa4\x1b[06n\r\x1b[K"
"""Two letters, where the cursor is behind them, and they are gone."""
NOT_UTF8 = {
    "C": {"LANG": "C"},
    "none": {"LANG": ""},
    "not installed": {"LANG": "xx_XX.UTF-8"},
    "C for all": {"LANG": "C", "LC_ALL": "C"},
    "Latin-1": {"LANG": "de_DE.ISO-8859-1"},
    "Python's": {"LANG": "C", "PYTHONIOENCODING": "latin-1"},
}


def see_names(session: PtySession) -> None:
    session.wait_for("Main gate")
    session.press("enter", seen="page 1 of 1")
    session.press("j", "e", seen="> Edit")


@pytest.mark.parametrize("name", telling(("Latin-1",), NOT_UTF8))
def test_nothing_but_ascii_is_sent_to_it(lockterm: Start, name: str) -> None:
    session = lockterm("demo", env=NOT_UTF8[name])
    see_names(session)
    session.press("escape", seen=r"Peter Nov\?k +F-2044")
    assert session.raw.replace(QUESTION, b"").isascii()


@pytest.mark.long
def test_it_is_asked_and_the_locale_is_wrong(lockterm: Start) -> None:
    """As over SSH from a terminal of UTF-8 to a machine without locales."""
    session = lockterm("demo", env={"LANG": ""})
    session.wait_until(lambda: QUESTION in session.raw, "the question")
    session.send(b"\x1b[1;3R")
    see_names(session)
    session.press("escape", seen="Peter Novák +F-2044")


@pytest.mark.long
def test_it_is_asked_and_the_locale_is_right(lockterm: Start) -> None:
    session = lockterm("demo", env={"LANG": "C"})
    session.wait_until(lambda: QUESTION in session.raw, "the question")
    session.send(b"\x1b[1;5R")
    see_names(session)
    assert session.raw.replace(QUESTION, b"").isascii()


@pytest.mark.long
def test_it_is_asked_though_the_locale_says_so(lockterm: Start) -> None:
    """As a terminal of another encoding that was started where the locale is of UTF-8."""
    session = lockterm("demo", seen="Main gate")
    session.wait_until(lambda: QUESTION in session.raw, "the question")
    session.send(b"\x1b[1;5R")
    session.wait_until(lambda: b"\x1b\\" in session.raw, "it is drawn again")
    since = session.raw.rindex(b"\x1b\\")
    see_names(session)
    session.press("escape", seen=r"Peter Nov\?k +F-2044")
    assert session.raw[since:].isascii()


def test_a_command_prints_escapes(lockterm: Start, service: RunningService) -> None:
    command = ("remotes", "list", "1001", "--all", "--base-url", service.base_url)
    session = lockterm(*command, env={"LANG": "C"}, size=(120, 200))
    session.wait_exit()
    assert session.raw.isascii()
    assert rb"\xe1" in session.raw
