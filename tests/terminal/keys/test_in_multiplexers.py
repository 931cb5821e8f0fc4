"""What hands type at their own speed, inside of a real tmux and GNU screen: nothing is deleted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from lockterm.service.running import RunningService
from tests.screens import someone_else
from tests.terminal.keys.by_hand import type_by_hand
from tests.terminal.keys.test_walls import ALT_KEYS, TEXT
from tests.terminal.multiplexers import in_screen, in_tmux
from tests.terminal.pty_session import LOCKTERM, PtySession

A_LONG_SECOND = (
    sys.executable,
    "-c",
    "from lockterm.terminal import key_queue; key_queue.CLOSED_S = 60;"
    "from lockterm.__main__ import main; main()",
)
"""lockterm for which the second behind a closed form lasts a minute, however busy the machine is:
once it is over, d and D delete, as they should."""


def in_multiplexer(
    name: str, service: RunningService, home: Path, program: Sequence[str] = LOCKTERM
) -> AbstractContextManager[PtySession]:
    """Run lockterm in a multiplexer."""
    command = [*program, "--base-url", service.base_url, "--lock", "1003"]
    if name == "tmux":
        return in_tmux(command, home, "set -g default-terminal tmux-256color")
    return in_screen(["env", "TERM=screen-256color", *command], home)


@pytest.mark.long
@pytest.mark.parametrize("inside", ["tmux", "screen"])
def test_remote_is_there_when_a_key_with_alt_and_text_are_typed_into_its_form(
    service: RunningService, tmp_path: Path, inside: str
) -> None:
    with in_multiplexer(inside, service, tmp_path) as session:
        session.wait_for("page 1 of 1")
        for name, sent in ALT_KEYS.items():
            session.press("e", seen="You have not changed anything yet")
            type_by_hand(session, sent, *TEXT)
            session.wait_for(f"^ Name .*{TEXT}")
            assert "Edit " in session.lines[0], name
            session.press("escape", seen="Leave without saving")
            session.press("right", "enter", seen="page 1 of 1")
            type_by_hand(session, *[b"\x1b[B"] * 10)  # until letters count again
            session.press("home")
        assert someone_else.counted(service, "delete") == 0
        assert len(someone_else.page(service, 1003)) == 9


@pytest.mark.long
@pytest.mark.parametrize("inside", ["tmux", "screen"])
@pytest.mark.parametrize("text", [TEXT, "dD dD dD", "d delete Door D"])
def test_remote_is_there_when_text_is_typed_behind_an_escape_that_closes_its_form(
    service: RunningService, tmp_path: Path, inside: str, text: str
) -> None:
    with in_multiplexer(inside, service, tmp_path, A_LONG_SECOND) as session:
        session.wait_for("page 1 of 1")
        session.press("e", seen="You have not changed anything yet")
        session.press("escape", seen="page 1 of 1")
        type_by_hand(session, *text)
        session.press("f2", seen="^Messages")  # comes last
        session.wait_for("lockterm ignores letters until you stop typing for one second")
        assert someone_else.counted(service, "delete") == 0
        assert len(someone_else.page(service, 1003)) == 9
