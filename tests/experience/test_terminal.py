"""Points 7 to 9: reading and typing, on whatever terminal there is, also on one too small."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from textual import events

from lockterm.service.running import RunningService
from tests.screens import someone_else
from tests.screens.running_app import Starter, settled, shown
from tests.screens.site import press, settled_when
from tests.terminal.pty_session import PtySession, Start

COLOR = re.compile(rb"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


def drained(session: PtySession) -> PtySession:
    """Everything that is on its way has arrived."""
    while session.pump(0.3):
        pass
    return session


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
def test_point_08_every_key_arrives(lockterm: Start, service: RunningService) -> None:
    """Every character reaches a field; arrows in both spellings and vim's keys move."""
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


@pytest.mark.long
def test_point_09_below_that_a_sentence_and_no_action(
    lockterm: Start, service: RunningService
) -> None:
    session = lockterm("--base-url", service.base_url, "--lock", "1003", seen="9 remotes")
    session.press("d", seen="Keep")
    asked = len(service.requests)
    session.resize(59, 20)
    session.wait_for(r"\Alockterm needs 60x20; this terminal has 59x20\.")
    assert "Delete" not in session.text and "Keep" not in session.text
    session.press("D", "right", "enter", "y")
    places = [(x, y) for y in range(5, 18) for x in range(3, 58, 4)]
    session.send("".join(f"\x1b[<0;{x};{y}M\x1b[<0;{x};{y}m" for x, y in places).encode())
    session.wait_taken()  # who types before the size changes means what is seen then
    session.resize(80, 19)
    session.wait_for("this terminal has 80x19")
    session.resize(80, 24)
    session.wait_for("Delete .* from lock 1003")  # as it was, the question still open
    session.wait_for("Keep")
    assert len(someone_else.page(service, 1003)) == 9
    assert "delete" not in {path.rpartition("/")[2] for _, path in list(service.requests)[asked:]}
    session.resize(20, 5)
    session.wait_for("press q")
    session.quit()


async def test_point_09_a_key_typed_at_the_sentence_is_for_no_screen_behind_it(
    service: RunningService, lockterm_app: Starter
) -> None:
    """Though the terminal has grown before it is dealt with."""
    async with lockterm_app(service, 1003, size=(59, 20)) as pilot:
        typed = events.Key("d", "d")
        typed.set_sender(pilot.app)
        await pilot.resize_terminal(80, 24)
        await settled_when(pilot, lambda: "9 remotes" in shown(pilot))
        pilot.app.post_message(typed)
        await settled(pilot)
        assert not pilot.app.screen.is_modal
        await press(pilot, "d")
        assert pilot.app.screen.is_modal
