"""Point 9: 80x24 is home, 60x20 works, below that a sentence; 200x60 uses the room."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from textual import events

from lockterm.service.running import RunningService
from tests.screens import someone_else
from tests.screens.running_app import Starter, settled, shown
from tests.screens.site import press, settled_when
from tests.terminal.pty_session import Start


@pytest.mark.long
def test_point_09_80x24_is_home_and_60x20_works(
    lockterm: Start, running_service: Callable[..., RunningService]
) -> None:
    service = running_service(clock=lambda: round(time.time() * 1000))  # no notice of two clocks
    session = lockterm("--base-url", service.base_url, "--lock", "1001", seen="page 1 of 7")
    names = [record["remoteName"] for record in someone_else.page(service, 1001)]
    rows = session.lines[2:22]
    for name, row in zip(names, rows, strict=True):  # wide characters fill two cells of pyte
        assert row[4:].replace(" ", "").startswith(name.replace(" ", "")[:7]), (name, row)
    assert session.lines[1].split()[:2] == ["Name", "Number"]
    assert "page 1 of 7" in session.lines[22] and "? help" in session.lines[23]

    session.resize(60, 20)
    session.wait_until(lambda: "? help" in session.lines[19], "the keys in the last line")
    session.wait_until(lambda: "page 1 of 9" in session.lines[18], "the pager above them")
    assert max(map(len, session.lines)) <= 60
    session.press("G", seen=f"{names[15]}.*")

    session.resize(200, 60)
    session.wait_for("│ Created")  # the detail stands beside the table
    session.wait_until(lambda: "page 1 of 3" in session.lines[58], "as many rows as fit")
    assert max(map(len, session.lines)) > 120


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
