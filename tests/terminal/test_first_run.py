"""The first run: nothing is configured, and a person sits in front of it."""

from __future__ import annotations

from collections.abc import Callable

from lockterm.service.running import RunningService
from tests.terminal.pty_session import PtySession

Start = Callable[..., PtySession]
QUESTION = r"demo, URL or quit \[demo\]: ?$"


def test_it_offers_the_demo(lockterm: Start) -> None:
    session = lockterm()
    session.wait_for(QUESTION)
    session.press("\n")
    session.wait_for("Main gate +1001")
    session.press("q")
    assert session.wait_exit() == 0


def test_it_takes_a_base_url_and_says_what_is_wrong_with_one(
    lockterm: Start, service: RunningService
) -> None:
    session = lockterm()
    session.wait_for(QUESTION)
    session.press("nonsense\n")
    session.wait_for("is no web address")
    session.wait_for(QUESTION)
    session.press(f"{service.base_url}\n")
    session.wait_for(f"Locks.*{service.base_url.removeprefix('http://')}")
    session.press("q")
    assert session.wait_exit() == 0


def test_leaving_says_how_to_go_on(lockterm: Start) -> None:
    session = lockterm()
    session.wait_for(QUESTION)
    session.press("quit\n")
    assert session.wait_exit() == 2
    assert "lockterm demo" in session.text
    assert "--base-url" in session.text
    assert b"Traceback" not in session.raw
