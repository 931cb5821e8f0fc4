"""Keys that arrive in one read, as a stalled link delivers them, do what they do one at a time."""

from __future__ import annotations

import re

import pytest

from tests.terminal.pty_session import PtySession, Start

FIRST = "Ruth Adler"
"""The first remote of the lock, a permanent one."""
LIMITED = "Ivan Horvat"
"""The second, with an end."""


@pytest.fixture
def remotes(lockterm: Start) -> PtySession:
    """The remotes of the demo's store of chemicals: 18 on one page."""
    session = lockterm("demo", seen="Main gate")
    session.press("/Chemical", "enter", "enter", seen="18 remotes")
    return session


def test_an_end_typed_with_the_key_that_opens_the_form_is_in_its_field(remotes: PtySession) -> None:
    remotes.press("jw+30d", seen=r"End +\+30d")
    remotes.wait_for(rf"^ Name +{LIMITED}")


def test_renewing_a_permanent_remote_is_refused_and_text_typed_for_it_does_nothing(
    remotes: PtySession,
) -> None:
    remotes.press(
        "w+30d\x13d", seen="Permanent remotes have no end date. Press e to change the type."
    )
    remotes.wait_for("Other keys do nothing here")
    remotes.press("\x1b", seen=rf"{FIRST}.*always")


@pytest.mark.parametrize(
    ("keys", "seen"),
    [
        (("/horvat",), "Find: horvat"),
        (("u77",), r"New user number(?s:.*)│ +77 +│"),
        (("enter", "e"), f"Edit {FIRST}"),
    ],
    ids=["find line", "number", "remote"],
)
def test_what_is_typed_with_the_key_that_opens_something_gets_there(
    remotes: PtySession, keys: tuple[str, ...], seen: str
) -> None:
    remotes.press(*keys, seen=seen)
    assert "No remote is selected" not in remotes.text


def test_a_page_typed_with_the_key_that_asks_for_it_is_shown(lockterm: Start) -> None:
    session = lockterm("demo", seen="Main gate")
    session.press("/Main gate", "enter", "enter", ":3", "enter", seen="page 3 of")


def test_a_burst_deletes_nothing(remotes: PtySession) -> None:
    """Not by the keys that save, and not by the key that deletes before its question is seen."""
    remotes.press("d", "right", "enter", "dD", seen="Typed too early")
    remotes.wait_for(f"Delete {FIRST}.* from")
    remotes.press("enter")
    remotes.wait_until(lambda: "Keep" not in remotes.text, "the question is gone")
    remotes.wait_for("18 remotes")


def test_the_key_of_the_question_deletes(remotes: PtySession) -> None:
    remotes.press("d", seen=rf"D  Delete {FIRST}")
    remotes.wait_for("Valid: always")
    remotes.wait_until(lambda: b"\x1b[5n" in remotes.raw, "asked whether it is drawn")
    remotes.send(b"\x1b[0nD")
    remotes.wait_for(f"Deleted {FIRST}")
    remotes.wait_for("17 remotes")
    assert not re.search(rf"^ {FIRST}", remotes.text, re.MULTILINE)


def test_the_key_counts_only_behind_the_answer_of_a_terminal_that_shows_the_question(
    remotes: PtySession,
) -> None:
    """What is typed while a question stands in a stalled link answers the picture before it."""
    remotes.press("d")
    remotes.wait_until(lambda: remotes.raw.count(b"\x1b[5n") == 1, "asked whether it is drawn")
    remotes.send(b"\x1b[0n")  # now it is known as one that answers
    remotes.press("enter", "d")
    remotes.wait_until(lambda: remotes.raw.count(b"\x1b[5n") == 2, "asked whether it is drawn")
    remotes.press("D", seen="Typed too early")
    remotes.send(b"\x1b[0nD")
    remotes.wait_for("17 remotes")
