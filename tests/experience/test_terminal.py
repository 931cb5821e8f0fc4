"""Points 5 to 8: copying, the mouse, reading and typing, on whatever terminal there is."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from lockterm.service.running import RunningService
from tests.screens import someone_else
from tests.terminal.multiplexers import PATIENT, in_tmux
from tests.terminal.pty_session import PtySession, Start

MOUSE = re.compile(rb"\x1b\[\?10(?:00|03|06|15)h")
COLOR = re.compile(rb"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


def drained(session: PtySession) -> PtySession:
    """Everything that is on its way has arrived."""
    while session.pump(0.3):
        pass
    return session


@pytest.mark.long
def test_point_05_copying_works_over_ssh(service: RunningService, tmp_path: Path) -> None:
    """The value arrives whole through tmux; the notice shows it and does not claim more."""
    number = someone_else.page(service, 1003)[0]["remoteNumber"]
    command = [*PATIENT, "--base-url", service.base_url, "--lock", "1003"]
    inside = in_tmux(command, tmp_path, "set -s set-clipboard on", SSH_CONNECTION="1 2 3 4")
    with inside as session:
        session.wait_for("9 remotes")
        session.press("y", seen="Copy which value")
        session.press("enter", seen=re.escape(f"{number} - sent to the terminal"))
        session.press("q")
        session.wait_exit()
        sent = re.findall(rb"\x1b\]52;c?;([^\x07\x1b]+)", session.raw)
        assert [base64.b64decode(one).decode() for one in sent] == [number]


@pytest.mark.long
def test_point_06_the_mouse_can_be_let_go(lockterm: Start, service: RunningService) -> None:
    arguments = ("--base-url", service.base_url, "--lock", "1003")
    session = lockterm(*arguments, "--no-mouse", seen="9 remotes")
    session.press("d", seen="Keep")
    session.press("escape")
    assert not MOUSE.search(drained(session).raw)
    session.press("O")  # the key takes it, and lets it go again
    session.wait_until(lambda: MOUSE.search(session.raw) is not None, "the mouse is taken")
    taken = len(drained(session).raw)
    session.press("O")
    session.wait_until(lambda: b"\x1b[?1000l" in session.raw[taken:], "and let go")
    assert not MOUSE.search(drained(session).raw[taken:])


@pytest.mark.parametrize(
    "environment, theme",
    [
        ({"NO_COLOR": "1"}, ""),
        ({"TERM": "xterm"}, ""),
        ({"LC_ALL": "C", "TERM": "linux"}, ""),
        ({}, "textual-light"),
        ({"COLORTERM": "truecolor"}, "solarized-light"),
    ],
)
def test_point_07_it_is_readable_everywhere(
    environment: dict[str, str],
    theme: str,
    lockterm: Start,
    service: RunningService,
    tmp_path: Path,
) -> None:
    """Each cell with text differs from its ground; states are words; the cursor is no color."""
    choices = tmp_path / "state/lockterm/choices.json"
    choices.parent.mkdir(parents=True)
    choices.write_text(json.dumps({"theme": theme} if theme else {}))
    session = lockterm(
        "--base-url", service.base_url, "--lock", "1001", env=environment, seen="page 1 of 7"
    )
    # The number of the page may be there before its rows and the cursor on them.
    session.wait_until(lambda: {"expired", "days"} <= {*session.text.split()}, "the states")

    def has_cursor() -> bool:
        one, other = (session.screen.buffer[y][0] for y in (2, 3))
        return one.reverse != other.reverse or one.bold != other.bold

    session.wait_until(has_cursor, "the cursor, not told by colors")
    screen = drained(session).screen
    rows = [[screen.buffer[y][x] for x in range(80)] for y in range(24)]
    assert [c for row in rows for c in row if c.data.strip() and c.fg == c.bg != "default"] == []
    if "NO_COLOR" in environment or theme:
        assert bool(COLOR.search(session.raw)) == bool(theme)
    if "LC_ALL" in environment:
        names = {char for one in someone_else.page(service, 1001) for char in one["remoteName"]}
        assert {char for char in session.text if not char.isascii()} <= names


@pytest.mark.long
def test_point_08_every_key_arrives(
    lockterm: Start, service: RunningService, tmp_path: Path
) -> None:
    """Every character reaches a field; arrows in both spellings and vim's keys move; rebound."""
    typed = "".join(map(chr, range(33, 127))).replace("q", "")
    session = lockterm("--base-url", service.base_url, "--lock", "1001", seen="page 1 of 7")
    names = [record["remoteName"] for record in someone_else.page(service, 1001)]

    def stands_on(place: int) -> bool:
        row = session.screen.buffer[2 + place]
        return bool(row[0].reverse) and names[place][:6] in session.lines[2 + place]

    moves = (("j", 1), ("\x1b[B", 2), ("\x1bOB", 3), ("k", 2), ("\x1b[A", 1), ("G", 19), ("g", 0))
    for key, place in moves:
        session.press(key)
        session.wait_until(lambda place=place: stands_on(place), f"{key!r} leads to {place}")
    session.press("l", seen="page 2 of 7")
    session.press("h", seen="page 1 of 7")
    session.press("a", seen="Required: Name")
    session.press(typed[:40], "tab", typed[40:80], seen=re.escape(typed[:40]))
    session.wait_for(re.escape(typed[40:80]))
    session.press("shift+tab", "end", "backspace")
    session.wait_until(lambda: typed[:40] not in session.text, "backspace arrived")
    assert typed[:39] in session.text

    config = tmp_path / "config/lockterm/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[keys]\n"remotes.delete" = "Z"\n')
    rebound = lockterm("--base-url", service.base_url, "--lock", "1003", seen="9 remotes")
    rebound.wait_for("Z delete")
    rebound.press("Z", seen="Delete .* from lock 1003")
    for lines, mistake in (
        (['"remotes.delet" = "Z"'], "remotes.delet "),
        (['"remotes.edit" = "Z"', '"remotes.delete" = "Z"'], "remotes.edit"),
    ):
        config.write_text("\n".join(["[keys]", *lines]))
        refused = lockterm("--base-url", service.base_url)
        assert refused.wait_exit() == 2
        assert f"config.toml, line {1 + len(lines)}" in refused.text.replace("\n", "")
        assert mistake.strip() in refused.text.replace("\n", "")
