"""Deleting remotes that expired some days ago, from Expiring, as a plan."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lockterm.app import LocktermApp
from lockterm.domain.locks import Lock
from lockterm.domain.plan import Action, Step, StepState
from lockterm.operations.planner import plan_cleaning
from lockterm.screens.all_locks.expiring import ExpiringScreen
from lockterm.screens.all_locks.table import OnLocksTable
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.screens.field_modal import CleanModal
from lockterm.screens.modal import RefusedModal
from lockterm.screens.plan.screen import PlanScreen
from lockterm.service.running import RunningService
from tests.conftest import NOW_MS
from tests.screens import someone_else
from tests.screens.running_app import Demo, Starter, notices, until
from tests.screens.site import DAY_MS, LOCKS, fill_book, press, press_each, shown, words
from tests.screens.snapshots import assert_picture
from tests.screens.test_all_locks import Site, remote

GARAGE = Lock(1004, name="Garage")
NO_LOCK = Lock(7777, name="Yard")
"""A lock that the service does not have."""

SIZES = [(80, 24), (60, 20)]


def add_expired(service: RunningService, name: str, days_ago: float, lock_id: int = 1004) -> int:
    """Add a remote whose end is some days ago, or ahead if the days are negative."""
    end_ms = round(NOW_MS - days_ago * DAY_MS)
    period = {"remoteType": 2, "startDate": end_ms - 90 * DAY_MS, "endDate": end_ms}
    return someone_else.add(service, lock_id, name, remoteNumber=f"N-{name}", **period)


def expired_by(service: RunningService, days: int, lock_id: int) -> set[tuple[int, int]]:
    """Return lock and remote IDs that the service counts as expired for some days."""
    return {
        (lock_id, one["id"])
        for page_no in (1, 2)
        for one in someone_else.page(service, lock_id, page_no, 100)
        if one["status"] == 2 and 0 < one["endDate"] <= NOW_MS - days * DAY_MS
    }


async def open_dialog(pilot: Pilot[int]) -> CleanModal:
    """Open the dialog from the first screen."""
    await press_each(pilot, "W", "x")
    screen = pilot.app.screen
    assert isinstance(screen, CleanModal)
    return screen


def dialog_words(pilot: Pilot[int]) -> str:
    """Return the text of the dialog as one line, without its border."""
    lines = (line.split("│") for line in shown(pilot.app).splitlines())
    return " ".join(" ".join(line[1] for line in lines if len(line) > 2).split())


def plan_steps(pilot: Pilot[int]) -> Sequence[Step]:
    screen = pilot.app.screen
    assert isinstance(screen, PlanScreen)
    return screen.drawn.plan.steps


async def test_plan_deletes_the_same_remotes_as_the_command(demo: Demo) -> None:
    fill_book(demo, *LOCKS, GARAGE)
    for name, days in (("Long ago", 31), ("On the day", 30), ("Inside", 29), ("Valid", -5)):
        add_expired(demo.service, name, days)
    async with demo() as pilot:
        assert isinstance(pilot.app, LocktermApp)
        await open_dialog(pilot)
        await press_each(pilot, "enter")
        steps = plan_steps(pilot)
        ids = [lock.lock_id for lock in (*LOCKS, GARAGE)]
        command = await plan_cleaning(pilot.app.operations, ids, 30)
        found = {(step.lock_id, step.remote_id) for step in steps}
        assert found == {(step.lock_id, step.remote_id) for step in command.plan.steps}
        assert found == {pair for lock_id in ids for pair in expired_by(demo.service, 30, lock_id)}
        assert {step.action for step in steps} == {Action.DELETE}
        assert {"Long ago", "On the day"} <= {step.remote_name for step in steps}
        assert len({lock_id for lock_id, _ in found}) > 1
    assert someone_else.counted(demo.service, "delete") == 0


async def test_four_keys_delete_expired_remotes_with_a_backup(demo: Demo) -> None:
    fill_book(demo, GARAGE)
    before = expired_by(demo.service, 30, 1004)
    gone = {add_expired(demo.service, name, 40) for name in ("One", "Two")}
    async with demo(size=(60, 20)) as pilot:
        assert isinstance(pilot.app, LocktermApp)
        await press_each(pilot, "W", "x", "enter", "enter")
        assert isinstance(pilot.app.screen, DestroyModal)
        assert someone_else.counted(demo.service, "delete") == 0
        await press_each(pilot, "D")
        await until(pilot, lambda: "2 steps recorded." in words(pilot.app))
        done = await pilot.app.operations.journal.history()
        assert {one.remote_id for one in done} == gone
        assert all(one.before for one in done)
        await press_each(pilot, "escape")
        assert isinstance(pilot.app.screen, ExpiringScreen)
        rows = pilot.app.screen.query_one(OnLocksTable).rows
        assert not gone & {row.remote_id for row in rows}
    assert expired_by(demo.service, 30, 1004) == before == set()


async def test_dialog_keeps_the_text_when_no_remote_matches_or_days_are_invalid(demo: Demo) -> None:
    add_expired(demo.service, "Long ago", 29)
    async with demo(size=(60, 20), locks=(GARAGE,)) as pilot:
        dialog = await open_dialog(pilot)
        await press_each(pilot, "enter")
        assert pilot.app.screen is dialog
        assert "No remotes expired more than 30 days ago." in dialog_words(pilot)
        field, keys = dialog.query_one(Input), {"-": "minus", ".": "full_stop"}
        demo.service.requests.clear()
        for typed in ("", "0", "3651", "-3", "1mo", "30.5"):
            await press_each(pilot, "home", "shift+end", "delete")
            await press_each(pilot, *(keys.get(one, one) for one in typed), "enter")
            assert pilot.app.screen is dialog
            said = "whole number from 1 to 3650, or an age such as 30d or 4w."
            assert said in dialog_words(pilot), typed
            assert (field.value, field.has_focus) == (typed, True)
        assert not demo.service.requests
        await press_each(pilot, *["backspace"] * 4, "4", "w")
        assert "whole number" not in dialog_words(pilot)
        await press_each(pilot, "enter")
        assert [step.remote_name for step in plan_steps(pilot)] == ["Long ago"]


async def test_dialog_counts_unclear_remotes_and_plans_no_delete_of_them(
    lockterm_app: Starter,
) -> None:
    ended = {"remoteType": 2, "startDate": 1, "endDate": NOW_MS - 60 * DAY_MS}
    site = Site(L1=[remote(1, 1, "Unclear", **ended)], L2=[remote(2, 2, "Permanent")])
    async with site.running(lockterm_app) as service, lockterm_app(service) as pilot:
        await open_dialog(pilot)
        await press_each(pilot, "enter")
        assert "expired more than 30 days ago. 1 skipped (unclear)." in dialog_words(pilot)
        site.lists[2].append(remote(3, 2, "Gone", **{**ended, "status": 2}))
        text = await press_each(pilot, "enter")
        assert [step.remote_id for step in plan_steps(pilot)] == [3]
        assert "1 to delete, 1 skipped (unclear)" in text


@pytest.mark.parametrize(
    ("locks", "read_only", "reason"),
    [
        ((GARAGE,), True, "read-only. Nothing can be deleted"),
        ((), False, "The lock book is empty."),
    ],
)
async def test_no_dialog_opens_when_nothing_can_be_deleted(
    demo: Demo, locks: tuple[Lock, ...], read_only: bool, reason: str
) -> None:
    add_expired(demo.service, "Long ago", 40)
    async with demo(size=(60, 20), locks=locks, read_only=read_only) as pilot:
        await press_each(pilot, "W", "x")
        assert isinstance(pilot.app.screen, RefusedModal)
        assert reason in dialog_words(pilot)
    assert someone_else.counted(demo.service, "delete") == 0


async def test_plan_deletes_nothing_and_names_the_lock_that_was_not_read(demo: Demo) -> None:
    fill_book(demo, GARAGE, NO_LOCK)
    add_expired(demo.service, "Long ago", 40)
    async with demo(size=(60, 20)) as pilot:
        dialog = await open_dialog(pilot)
        await press_each(pilot, "backspace", "backspace", "9", "9", "enter")
        assert pilot.app.screen is dialog
        reason = "No remotes expired more than 99 days ago on the locks that lockterm read."
        assert f"{reason} Locks not read: Yard (refused by the service)." in dialog_words(pilot)
        text = await press_each(pilot, "backspace", "backspace", "3", "0", "enter")
        (step,) = plan_steps(pilot)
        assert (step.remote_name, step.state) == ("Long ago", StepState.NOT_SENT)
        assert "lock 7777 could not be read completely" in step.message
        assert "Locks not read: Yard" in text
        await press_each(pilot, "enter")
        assert not isinstance(pilot.app.screen, DestroyModal)
    assert someone_else.counted(demo.service, "delete") == 0


async def test_dialog_stays_when_no_lock_could_be_read(demo: Demo) -> None:
    async with demo(locks=(NO_LOCK,)) as pilot:
        dialog = await open_dialog(pilot)
        await press_each(pilot, "enter")
        assert pilot.app.screen is dialog
        reason = "lockterm could not read any lock: Yard (refused by the service)."
        assert reason in dialog_words(pilot)


async def test_escape_stops_the_reading_and_keeps_the_days(lockterm_app: Starter) -> None:
    site = Site(L1=[remote(1, 1, "Anna")], L2=[remote(2, 2, "Ben")])
    async with site.running(lockterm_app) as service, lockterm_app(service) as pilot:
        dialog = await open_dialog(pilot)
        await press_each(pilot, "backspace", "backspace", "4", "5")
        site.go_on.clear()
        site.asked.clear()
        await pilot.press("enter")
        await until(pilot, lambda: len(site.asked) == 2)
        await until(pilot, lambda: "Read 0 of 2 locks. Press Esc to stop." in dialog_words(pilot))
        await pilot.press("enter")  # too early: it does not confirm a plan that nobody has read
        await press(pilot, "escape")
        assert pilot.app.screen is dialog
        assert dialog.query_one(Input).value == "45"
        assert "0 of 2" not in dialog_words(pilot)
        site.go_on.set()
        await press_each(pilot, "enter")
        assert "No remotes expired more than 45 days ago." in dialog_words(pilot)
        await press_each(pilot, "escape")
        assert isinstance(pilot.app.screen, ExpiringScreen)
        assert "Typed too early" not in notices(pilot)


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
async def test_dialog_looks_the_same(demo: Demo, size: tuple[int, int]) -> None:
    async with demo(size=size, locks=(GARAGE,)) as pilot:
        await open_dialog(pilot)
        await press_each(pilot, "enter")
        assert_picture(pilot.app, f"clean-{size[0]}x{size[1]}")
