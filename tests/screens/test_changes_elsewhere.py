"""What others changed: signs in lists, the screen of changes, and what counts as seen."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from lockterm.app import LocktermApp
from lockterm.screens.changes_elsewhere import ElsewhereScreen
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.detail import RemoteDetailScreen
from lockterm.service.running import RunningService
from lockterm.widgets.line_table import LineTable
from tests.conftest import NOW_MS
from tests.screens import someone_else
from tests.screens.running_app import Clock, Demo
from tests.screens.site import DAY_MS, LOCKS, fill_book, press_each, shown, words
from tests.screens.snapshots import assert_picture

LOCK = 1001
HOSTILE = "Evil [b]\x1b]0;owned\x07"


def change(service: RunningService) -> tuple[str, str]:
    """Change, delete and add remotes as another technician; return two of their names."""
    rows = someone_else.page(service, LOCK)
    changed, deleted = rows[2], rows[5]
    period = {"remoteType": 2, "startDate": NOW_MS, "endDate": NOW_MS + 31 * DAY_MS}
    someone_else.post(service, "update", lockId=LOCK, remoteId=changed["id"], **period)
    someone_else.post(service, "delete", remoteId=deleted["id"])
    someone_else.add(service, LOCK, HOSTILE)
    return changed["remoteName"], deleted["remoteName"]


def signs(pilot: Pilot[int]) -> dict[str, str]:
    """Return sign -> the line of each row with a sign of an unseen change."""
    app: LocktermApp = pilot.app  # type: ignore[assignment]
    table = app.screen.query_one(LineTable)
    lines = [
        table.margin_sign(row) + "".join(text for text, _ in table.line(row))
        for row in range(table.row_count)
    ]
    return {line[0]: line for line in lines if line[0] in "NCG"}


async def read_before(pilot: Pilot[int], clock: Clock) -> None:
    """Read all locks, then let some time pass."""
    await press_each(pilot, "F", "ctrl+r", "escape")
    clock.now_s += 90


async def test_remotes_show_changes_of_others_until_the_user_has_looked(demo: Demo) -> None:
    async with demo(size=(80, 24), locks=LOCKS) as pilot:
        await read_before(pilot, demo.clock)
        changed, deleted = change(demo.service)
        seen = await press_each(pilot, *"o1001", "enter")
        assert "1 changed elsewhere (press !)" in seen
        assert [*signs(pilot)] == ["C"] and changed in signs(pilot)["C"]
        await press_each(pilot, "j", "j")
        seen = await press_each(pilot, "enter")
        assert isinstance(pilot.app.screen, RemoteDetailScreen)
        assert "Elsewhere" in seen and "Type: permanent -> time-limited" in seen
        assert "between 20 Nov 09:00 and 20 Nov 09:01" in await press_each(pilot, "end")

        seen = await press_each(pilot, "escape", "!", "r")
        assert isinstance(pilot.app.screen, ElsewhereScreen)
        assert "3 changes by others, 3 not seen yet" in seen
        assert {*signs(pilot)} == {"C", "G", "N"} and deleted in signs(pilot)["G"]
        assert "\x1b" not in shown(pilot.app) and "Evil [b]" in seen

        seen = await press_each(pilot, "escape")
        assert isinstance(pilot.app.screen, RemotesScreen)
        assert signs(pilot) == {} and "changed elsewhere" not in seen
        seen = await press_each(pilot, "!")
        assert signs(pilot) == {} and "3 changes by others, 0 not seen yet" in seen


async def test_changes_are_found_by_typing_and_open_their_remote_or_its_lock(demo: Demo) -> None:
    async with demo(size=(80, 24), locks=LOCKS) as pilot:
        seen = await press_each(pilot, "!")
        assert "No changes by others" in seen
        await press_each(pilot, "escape")
        await read_before(pilot, demo.clock)
        await press_each(pilot, *"o1001", "enter", "d", "D")
        assert "No changes by others" in await press_each(pilot, "!", "r"), "but one's own"
        await press_each(pilot, "escape", "escape")
        demo.clock.now_s += 90
        changed, _ = change(demo.service)
        await press_each(pilot, "!", "r", "slash", *"gone", "enter")
        assert [*signs(pilot)] == ["G"]
        await press_each(pilot, "enter")
        assert isinstance(pilot.app.screen, RemotesScreen)
        await press_each(pilot, "escape", "escape", "slash", *"changed", "enter", "enter")
        assert isinstance(pilot.app.screen, RemoteDetailScreen)
        assert pilot.app.screen.current is not None
        assert pilot.app.screen.current.remote_name == changed


async def test_all_locks_show_changes_of_others(demo: Demo) -> None:
    async with demo(size=(80, 24), locks=LOCKS) as pilot:
        await read_before(pilot, demo.clock)
        change(demo.service)
        await press_each(pilot, "F", "ctrl+r")
        seen = await press_each(pilot, *"evil", "enter")
        assert [*signs(pilot)] == ["N"] and "3 changed elsewhere (press !)" in seen
        assert "Added elsewhere: Number X-1 (between" in seen
        seen = await press_each(pilot, "!", "escape")
        assert signs(pilot) == {} and "changed elsewhere" not in seen


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_pictures_of_changes_by_others(demo: Demo, size: tuple[int, int]) -> None:
    fill_book(demo, *LOCKS)
    name = f"{size[0]}x{size[1]}"
    async with demo(size=size) as pilot:
        await read_before(pilot, demo.clock)
        change(demo.service)
        await press_each(pilot, *"o1001", "enter")
        if size == (80, 24):
            assert_picture(pilot.app, f"remotes-changed-{name}")
        else:
            assert "Changed elsewhere" not in words(pilot.app), "of the selected remote alone"
            seen = await press_each(pilot, "j", "j")
            assert "Changed elsewhere" in seen and "permanent -> time-limited" in seen
        await press_each(pilot, "!", "r")
        assert_picture(pilot.app, f"changes-{name}")
