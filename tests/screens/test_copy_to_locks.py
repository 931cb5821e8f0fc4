"""Copying remotes to other locks of the book: chosen, what gets lost named, then a plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.content import Content
from textual.pilot import Pilot

from lockterm.domain.locks import Lock
from lockterm.domain.plan import Action
from lockterm.operations.export import remotes_as_csv, remotes_as_json
from lockterm.operations.planner import read_locks
from lockterm.screens.copy import CopyScreen
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.locks.screen import LocksScreen
from lockterm.screens.modal import RefusedModal
from lockterm.screens.plan.screen import PlanScreen
from lockterm.widgets.data_status import StatePanel
from tests.screens import someone_else
from tests.screens.running_app import Demo, settled, shown, until
from tests.screens.site import HOUR_MS, LOCKS, MAIN_GATE, fill_book, press, press_to, words
from tests.screens.snapshots import assert_picture
from tests.screens.test_plan import details

ENDED = {"remoteType": 2, "startDate": 1_767_225_600_000, "endDate": 1_767_312_000_000}
"""A period in January 2026."""


async def opened(pilot: Pilot[int]) -> None:
    await press_to(pilot, CopyScreen, "Y")


async def plan_of(pilot: Pilot[int]) -> list[tuple[Action, int, str, str]]:
    """Read the plan."""
    await until(pilot, lambda: isinstance(pilot.app.screen, PlanScreen))
    await settled(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, PlanScreen)
    steps = screen.drawn.plan.steps
    return [(step.action, step.lock_id, step.remote_name, step.message) for step in steps]


async def test_marked_locks_get_what_the_lock_has(demo: Demo) -> None:
    fill_book(demo, *LOCKS)
    someone_else.add(demo.service, 1004, "Anna", remoteNumber="R-1")
    someone_else.add(demo.service, 1004, "Paul", remoteNumber="R-2")
    someone_else.add(demo.service, 1003, "Anna", remoteNumber="C-900")
    async with demo(1004) as pilot:
        await opened(pilot)
        assert "lock 1004" not in shown(pilot).partition("\n")[2].partition("ID")[2]
        rows = [line for line in shown(pilot).splitlines() if "[ ]" in line]
        server_room = next(at for at, line in enumerate(rows) if "Server room" in line)
        await pilot.press(*["down"] * server_room, "space")
        assert "1 lock marked" in shown(pilot)
        await pilot.press("enter")
        (added, left_out) = await plan_of(pilot)
        assert added == (Action.ADD, 1003, "Paul", "")
        assert left_out[:3] == (Action.ADD, 1003, "Anna")
        assert "number C-900, so this fob will not open the lock." in left_out[3]
        assert "1 to add, 1 skipped (name taken). 2 requests" in words(pilot.app)
        await press_to(pilot, CopyScreen, "escape")
        await pilot.press("equals_sign", "enter")
        assert [step[:3] for step in await plan_of(pilot)] == [
            (Action.ADD, 1003, "Anna (2)"),
            (Action.ADD, 1003, "Paul"),
        ]
        assert someone_else.counted(demo.service, "add") == 3


async def test_lock_book_and_copy_screen_show_counts_when_all_locks_were_read(demo: Demo) -> None:
    fill_book(demo, *(replace(lock, remotes=None) for lock in LOCKS))
    async with demo() as pilot:
        assert "9" not in _row(pilot, "1003")
        assert "4 of 4 locks read" in await press(pilot, "F", "ctrl+r")
        await press_to(pilot, LocksScreen, "escape")
        assert "9" in _row(pilot, "1003")
        await opened(pilot)
        assert _row(pilot, "1003")[-1] == "9"
        assert _row(pilot, "1001")[-1] == "137"


def _row(pilot: Pilot[int], lock_id: str) -> list[str]:
    """Return the words of the row of a lock."""
    rows = [line.split() for line in shown(pilot).splitlines()]
    return next(row for row in rows if lock_id in row)


@pytest.mark.long
async def test_from_the_book_to_all_others(demo: Demo) -> None:
    fill_book(demo, *LOCKS)
    for size, name in (
        ((80, 24), "copy-to-locks"),
        ((120, 40), "copy-to-locks-120x40"),
    ):
        async with demo(size=size) as pilot:
            await opened(pilot)
            await press_to(pilot, RefusedModal, "enter")
            assert "No lock is marked. Press Space to mark" in words(pilot.app)
            await press(pilot, "escape")
            await press(pilot, "asterisk", "space")
            assert_picture(pilot.app, name)


@pytest.mark.long
async def test_lock_is_unmarked_when_it_has_all_remotes(demo: Demo) -> None:
    fill_book(demo, *LOCKS)
    someone_else.add(demo.service, 1004, "Paul", remoteNumber="R-2")
    async with demo(1004) as pilot:
        await opened(pilot)
        await pilot.press("asterisk", "ctrl+s")
        await plan_of(pilot)
        await press_to(pilot, ConfirmModal, "enter")
        assert "Not copied, because the service does not return these values: " in words(pilot.app)
        await pilot.press("right", "enter")
        await until(pilot, lambda: "4 steps recorded." in words(pilot.app))
        await pilot.press("escape")
        await until(pilot, lambda: "0 locks marked" in words(pilot.app))


async def test_copy_shows_other_sources_when_the_book_has_no_other_lock(demo: Demo) -> None:
    async with demo(1001, locks=(MAIN_GATE,)) as pilot:
        await opened(pilot)
        assert "The lock book contains no other lock." in words(pilot.app)
        offers = "f  use an export      B  use a backup      Esc  back"
        assert offers in shown(pilot)
        content = pilot.app.screen.query_one(StatePanel).content
        assert isinstance(content, Content)
        marked = [content.plain[span.start : span.end] for span in content.spans if span.style]
        assert marked == ["f", "B", "Esc"]


async def test_what_cannot_be_copied_takes_what_is_typed_behind_it(demo: Demo) -> None:
    async with demo(1004, locks=LOCKS) as pilot:  # it has no remote
        await opened(pilot)
        await press_to(pilot, RefusedModal, "space", "enter", "space", "equals_sign")
        assert "lock 1004 has no remotes to copy." in words(pilot.app)
        await press_to(pilot, CopyScreen, "escape")
        said = "1 lock marked. Remotes with a taken name: skipped. Expired remotes: skipped."
        assert said in words(pilot.app)


async def test_a_copy_of_many_remotes_asks_for_their_number(demo: Demo) -> None:
    fill_book(demo, *LOCKS)
    for number in range(11):
        someone_else.add(demo.service, 1004, f"Fob {number}", remoteNumber=f"F-{number}")
    someone_else.add(demo.service, 1004, "Over", remoteNumber="O-1", **ENDED)
    async with demo(1004) as pilot:
        await opened(pilot)
        await pilot.press("space", "minus", "enter")
        assert len(await plan_of(pilot)) == 12
        await press_to(pilot, CopyScreen, "escape")
        await pilot.press("minus", "enter")
        assert len(await plan_of(pilot)) == 11
        assert "11 to add, 1 skipped (expired). 22 requests" in words(pilot.app)
        await press_to(pilot, ConfirmModal, "enter")
        assert "type 11, then press Enter" in words(pilot.app)
        assert "1 skipped (expired)." in words(pilot.app)
        await pilot.press("right", "enter", "enter", "1", "enter", "enter")
        assert isinstance(pilot.app.screen, ConfirmModal)
        assert someone_else.counted(demo.service, "add") == 12
        await pilot.press("1", "1", "enter")  # in place of the wrong number
        said = "Your input matches. Press Enter again to confirm."
        await until(pilot, lambda: said in words(pilot.app))
        await pilot.press("enter")
        await until(pilot, lambda: "11 steps recorded." in words(pilot.app))
    assert someone_else.counted(demo.service, "add") == 23


# --- from an export, from a backup ---------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_an_export_is_chosen_by_its_path_and_goes_to_its_own_lock_too(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.chdir(tmp_path)
    fill_book(demo, *LOCKS)
    someone_else.add(demo.service, 1004, "Anna", remoteNumber="R-1")
    async with demo(1004, size=size) as pilot:
        operations = pilot.app.operations
        read = await read_locks(operations, [1004])
        url = operations.profile.base_url
        (tmp_path / "roof.json").write_bytes(remotes_as_json(read, url, operations.now_ms()))
        (tmp_path / "table.csv").write_bytes(remotes_as_csv(read))
        gone = read[0].remotes[0].id
        someone_else.post(demo.service, "delete", lockId=1004, remoteId=gone)
        await opened(pilot)
        await pilot.press("f", *"table.csv", "enter")
        await until(pilot, lambda: "Use a JSON export" in words(pilot.app))
        await settled(pilot)
        assert_picture(pilot.app, f"copy-export-{size[0]}x{size[1]}")
        await press_to(pilot, CopyScreen, "home", "shift+end", *"ro", "tab", "enter")
        told = "1 remote of the export roof.json of lock 1004 to which locks?"
        assert told in words(pilot.app)
        rows = [line for line in shown(pilot).splitlines() if "[ ]" in line]
        assert len(rows) == len(LOCKS)
        await pilot.press("asterisk", "enter")
        steps = await plan_of(pilot)
        assert {step[:3] for step in steps} == {
            (Action.ADD, lock.lock_id, "Anna") for lock in LOCKS
        }
        assert someone_else.counted(demo.service, "add") == 1


@pytest.mark.long
@pytest.mark.parametrize("way", [("B", "Y"), ("H", "Y")])
async def test_a_backup_is_chosen_in_the_history(demo: Demo, way: tuple[str, str]) -> None:
    """From the screen of copies it is its new source; from the history it opens that screen."""
    async with demo(1003, locks=LOCKS) as pilot:
        await pilot.app.operations.writes.clear_remotes(1003)
        if way[0] == "B":
            await opened(pilot)
        await press(pilot, way[0])
        await press_to(pilot, CopyScreen, "g", way[1])
        await until(pilot, lambda: "9 remotes of the backup of clear 9 remotes" in words(pilot.app))
        await settled(pilot)
        await press(pilot, "asterisk", "minus")
        rows = [line for line in shown(pilot).splitlines() if "[x]" in line or "[ ]" in line]
        (server_room,) = (at for at, line in enumerate(rows) if "[ ]" in line)
        assert "Server room" in rows[server_room]
        to_it = ("g", *["down"] * server_room)
        await press_to(pilot, RefusedModal, *to_it, "space", "enter")
        assert "to its own lock and to other locks" in words(pilot.app)
        await press(pilot, "escape")
        await pilot.press(*to_it, "space", "enter")
        steps = await plan_of(pilot)
        assert {step[1] for step in steps} == {lock.lock_id for lock in LOCKS} - {1003}
        assert len(steps) == 9 * (len(LOCKS) - 1)
        await press_to(pilot, CopyScreen, "escape")
        await press(pilot, "escape")
        assert type(pilot.app.screen).__name__ == (
            "RemotesScreen" if way[0] == "B" else "HistoryScreen"
        )


async def test_key_keeps_the_time_of_day_instead_of_the_moment_in_another_zone(demo: Demo) -> None:
    end_ms = 1_801_436_400_000  # 2027-02-01 00:00 in Berlin
    period = {"remoteType": 2, "startDate": ENDED["startDate"], "endDate": end_ms}
    someone_else.add(demo.service, 1004, "Anna", remoteNumber="R-1", **period)
    async with demo(1004, locks=(Lock(1003, name="Boston", zone="America/New_York"),)) as pilot:
        await opened(pilot)
        for key, ahead_h, kept in (
            ("space", 0, "the moment, so 1 Feb 2027 00:00 +01:00 in Europe/Berlin"),
            ("full_stop", 6, "becomes 1 Feb 2027 00:00 -05:00 in America/New_York"),
        ):
            await pilot.press(key, "enter")
            assert [step[:3] for step in await plan_of(pilot)] == [(Action.ADD, 1003, "Anna")]
            (step,) = pilot.app.screen.drawn.plan.steps
            assert step.wanted["endDate"] == end_ms + ahead_h * HOUR_MS
            await press(pilot, "enter")
            assert kept in details(pilot)
            await press(pilot, "escape", "escape")
