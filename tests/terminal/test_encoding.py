"""Terminals that do not take UTF-8 are sent ASCII alone; one that does is found out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockterm.service.running import RunningService
from tests.long import telling
from tests.terminal.pty_session import PtySession

Start = Callable[..., PtySession]

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
    session.press("enter")
    session.wait_for("page 1 of 1")
    session.press("j", "e")
    session.wait_for("> Edit")


@pytest.mark.parametrize("name", telling(("Latin-1",), NOT_UTF8))
def test_nothing_but_ascii_is_sent_to_it(lockterm: Start, name: str) -> None:
    session = lockterm("demo", env=NOT_UTF8[name])
    see_names(session)
    session.press("escape")
    session.wait_for(r"Peter Nov\?k +F-2044")
    assert session.raw.replace(QUESTION, b"").isascii()


@pytest.mark.long
@pytest.mark.parametrize(
    ("env", "place", "name"),
    [
        ({"LANG": ""}, b"\x1b[1;3R", "Peter Novák"),  # over SSH to a machine without locales
        ({"LANG": "C"}, b"\x1b[1;5R", r"Peter Nov\?k"),
        ({}, b"\x1b[1;5R", r"Peter Nov\?k"),  # of another encoding, where the locale is of UTF-8
    ],
    ids=["locale is wrong", "locale is right", "locale says UTF-8"],
)
def test_the_answer_counts_whatever_the_locale_says(
    lockterm: Start, env: dict[str, str], place: bytes, name: str
) -> None:
    session = lockterm("demo", env=env)
    session.wait_until(lambda: QUESTION in session.raw, "the question")
    if not env:
        session.wait_for("Main gate")
    session.send(place)
    session.wait_until(lambda: b"\x1b\\" in session.raw or bool(env), "it is drawn again")
    since = 0 if env else session.raw.rindex(b"\x1b\\")
    see_names(session)
    session.press("escape")
    session.wait_for(f"{name} +F-2044")
    sent = session.raw[since:].replace(QUESTION, b"")
    assert sent.isascii() is ("á" not in name)


def test_a_command_prints_escapes(lockterm: Start, service: RunningService) -> None:
    command = ("remotes", "list", "1001", "--all", "--base-url", service.base_url)
    session = lockterm(*command, env={"LANG": "C"}, size=(120, 200))
    session.wait_exit()
    assert session.raw.isascii()
    assert rb"\xe1" in session.raw
