"""Restoring by keys: losses first, an outcome for each remote, going on after an interruption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Button

from lockterm.config import Options
from lockterm.config.profiles import Profiles
from lockterm.operations.restore import RestoreStatus
from lockterm.screens.base import RefusedModal
from lockterm.screens.history import HistoryScreen
from lockterm.screens.history.restore import RestoreScreen
from lockterm.screens.history.table import HistoryTable
from lockterm.screens.profiles import ProfilesScreen
from lockterm.service.running import RunningService
from tests.operations.forwarder import Forwarder
from tests.screens import someone_else
from tests.screens.running_app import Starter, settled, until
from tests.screens.site import LOCKS, fill_book, words
from tests.screens.snapshots import assert_picture


async def restoring(pilot: Pilot[int]) -> RestoreScreen:
    """Go from the history's newest operation to its restore."""
    await pilot.press("H")
    await settled(pilot)
    await pilot.press("g", "R")
    await until(pilot, lambda: isinstance(pilot.app.screen, RestoreScreen))
    await settled(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, RestoreScreen)
    return screen


async def done(pilot: Pilot[int], screen: RestoreScreen) -> None:
    await settled(pilot)  # the key has been dealt with
    await until(pilot, lambda: not screen.sending)
    await settled(pilot)


def names(service: RunningService, lock_id: int) -> Counter[str]:
    records = someone_else.page(service, lock_id, size=200)
    return Counter(record["remoteName"] for record in records)


def acting(screen: RestoreScreen) -> Button:
    return screen.query_one("#act", Button)


async def test_a_cleared_lock_comes_back_after_its_losses_were_said(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS)
    before = names(service, 1003)
    async with lockterm_app(service) as pilot:
        await pilot.app.operations.writes.clear_remotes(1003)
        screen = await restoring(pilot)
        said = words(pilot.app)
        assert "9 remotes of Server room, cleared 2026-11-20 09:00 +01:00" in said
        assert "a new id" in said and "MAC address" in said and "2 of them have ended" in said
        assert "Restore 9 remotes to Server room" in said
        assert_picture(pilot.app, "restore-80x24")
        assert names(service, 1003) == Counter()
        # The button that does nothing has the focus: an enter too many only leaves.
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))
        await pilot.press("R")
        await until(pilot, lambda: isinstance(pilot.app.screen, RestoreScreen))
        screen = pilot.app.screen
        assert isinstance(screen, RestoreScreen)
        await pilot.press("right", "enter")
        await done(pilot, screen)
        assert names(service, 1003) == before
        assert "All 9 are on Server room again: recorded by the service." in words(pilot.app)
        assert not acting(screen).display
        await pilot.press("escape")
        await settled(pilot)
        assert pilot.app.screen.query_one(HistoryTable).row_count == 10
        assert words(pilot.app).count("restore recorded") == 9


async def test_the_remotes_below_are_read_again(
    lockterm_app: Starter, service: RunningService
) -> None:
    async with lockterm_app(service, open_lock=1003) as pilot:
        await pilot.app.operations.writes.clear_remotes(1003)
        await pilot.press("r")
        await settled(pilot)
        assert "Ines Duarte" not in words(pilot.app)
        screen = await restoring(pilot)
        await pilot.press("right", "enter")
        await done(pilot, screen)
        await pilot.press("escape", "escape")
        await settled(pilot)
        assert "Ines Duarte" in words(pilot.app) and "9 remotes" in words(pilot.app)


async def test_it_fits_a_small_terminal(lockterm_app: Starter, service: RunningService) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service, size=(60, 20)) as pilot:
        await pilot.app.operations.writes.clear_remotes(1003)
        await restoring(pilot)
        said = words(pilot.app)
        assert "will open nothing." in said and "Restore 9 remotes to Server room" in said
        assert "Ines Duarte to restore" in said


async def test_stopping_and_going_on(lockterm_app: Starter, service: RunningService) -> None:
    async with Forwarder(service, hold_from=4).running() as way, lockterm_app(way) as pilot:
        await pilot.app.operations.writes.clear_remotes(1003)
        screen = await restoring(pilot)
        await pilot.press("right", "enter")
        await until(pilot, lambda: way.held)
        await pilot.press("escape")
        stopping = "Stopping after the one that is being sent"
        await until(pilot, lambda: stopping in words(pilot.app))
        assert screen.sending and names(service, 1003).total() == 3
        way.release.set()
        await done(pilot, screen)
        assert len(screen.plan.having(RestoreStatus.RESTORED)) == names(service, 1003).total() == 4
        assert "What is left can be restored later" in words(pilot.app)
        assert str(acting(screen).label) == "Restore the other 5 to lock 1003"
        await pilot.press("right", "enter")
        await done(pilot, screen)
        assert names(service, 1003).total() == 9
        assert max(names(service, 1003).values()) == 1


@pytest.mark.long
async def test_between_two_remotes_nobody_leaves_unasked(
    lockterm_app: Starter, service: RunningService, tmp_path: Path
) -> None:
    """No change is on its way at that moment, and yet the others are to come."""
    forwarder = Forwarder(service, hold_from=4, hold="/checkRemoteName")
    file = tmp_path / "config.toml"
    file.write_text('[profiles.other]\nbase_url = "http://127.0.0.1:9"\n')
    profiles = Profiles(file, Options(), {})
    async with forwarder.running() as way, lockterm_app(way, profiles=profiles) as pilot:
        app = pilot.app
        await app.operations.writes.clear_remotes(1003)
        screen = await restoring(pilot)
        await pilot.press("right", "enter")
        await until(pilot, lambda: way.held)
        assert screen.sending and not app.operations.writes.under_way
        await pilot.press("ctrl+q")
        await until(pilot, lambda: "Stop restoring?" in words(app))
        await pilot.press("escape", "P")
        await until(pilot, lambda: isinstance(app.screen, ProfilesScreen))
        await until(pilot, lambda: app.screen.current is not None)
        await pilot.press("enter")
        await until(pilot, lambda: "Another screen is not done" in words(app))
        assert app.goes_on is None
        way.release.set()
        await done(pilot, screen)
        assert names(service, 1003).total() == 9
        await pilot.press("escape", "enter")
        await until(pilot, lambda: app.goes_on is not None)


@pytest.mark.long
async def test_a_service_that_goes_away_and_another_session(
    lockterm_app: Starter, running_service: Callable[..., RunningService], tmp_path: Path
) -> None:
    file = tmp_path / "service.db"
    service = running_service(database=file)
    before = names(service, 1006)
    async with Forwarder(service, hold_from=11).running() as way:
        async with lockterm_app(way) as pilot:
            await pilot.app.operations.writes.clear_remotes(1006)
            screen = await restoring(pilot)
            await pilot.press("right", "enter")
            await until(pilot, lambda: way.held)
            service.stop()
            way.release.set()
            await done(pilot, screen)
            statuses = Counter(outcome.status for outcome in screen.plan.outcomes)
            assert statuses == {
                RestoreStatus.RESTORED: 10,
                RestoreStatus.UNSETTLED: 1,
                RestoreStatus.WAITING: 7,
            }
        service = way.service = running_service(database=file)
        async with lockterm_app(way) as pilot:
            await until(pilot, lambda: pilot.app.outcomes.unsettled)
            await pilot.press("c")
            await until(pilot, lambda: "not seen at the service" in words(pilot.app))
            await pilot.press("X")
            await until(pilot, lambda: pilot.app.screen.is_modal)
            await pilot.pause()
            await pilot.press(*"give up", "enter", "enter")
            await until(pilot, lambda: not pilot.app.outcomes.unsettled)
            await pilot.press("H")
            await settled(pilot)
            await pilot.press("slash", *"clear", "enter", "G", "R")
            await until(pilot, lambda: isinstance(pilot.app.screen, RestoreScreen))
            screen = pilot.app.screen
            assert isinstance(screen, RestoreScreen)
            assert str(acting(screen).label) == "Restore the other 8 to lock 1006"
            await pilot.press("right", "enter")
            await done(pilot, screen)
    assert names(service, 1006) == before
    assert max(before.values()) == 1


async def test_a_taken_name_is_refused_and_retried(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
        operations = pilot.app.operations
        remote = (await operations.remotes.all(1003))[0]
        await operations.writes.delete_remote(1003, remote)
        newcomer = someone_else.add(service, 1003, remote.remote_name or "")
        screen = await restoring(pilot)
        assert str(acting(screen).label) == f"Restore {remote.remote_name} to Server room"
        await pilot.press("right", "enter")
        await done(pilot, screen)
        assert "refused: The lock has a remote of that name." in words(pilot.app)
        assert str(acting(screen).label) == "Try again"
        someone_else.post(service, "delete", remoteId=newcomer)
        # Textual's button takes no key as long as it shows that it was pressed.
        await until(pilot, lambda: not acting(screen).has_class("-active"))
        await pilot.press("right", "enter")
        await done(pilot, screen)
        assert f"{remote.remote_name} is on Server room again" in words(pilot.app)


async def test_what_is_not_settled_holds_it_back(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with Forwarder(service, lose_answer_to=2).running() as way, lockterm_app(way) as pilot:
        await pilot.app.operations.writes.clear_remotes(1003)
        screen = await restoring(pilot)
        await pilot.press("right", "enter")
        await done(pilot, screen)
        await until(pilot, lambda: "probably recorded" in words(pilot.app))
        await settled(pilot)
        assert acting(screen).disabled
        assert screen.plan.held and "Settle it first" in words(pilot.app)
        await pilot.press("c")
        await until(pilot, lambda: pilot.app.screen is not screen)
        await pilot.pause()
        await pilot.press("right", "enter")
        await until(pilot, lambda: not screen.plan.held)
        await settled(pilot)
        assert str(acting(screen).label) == "Restore the other 7 to Server room"
        await pilot.press("right", "enter")
        await done(pilot, screen)
        assert len(screen.plan.having(RestoreStatus.RESTORED)) == 9
    assert names(service, 1003).total() == 9


async def test_a_change_cannot_be_restored_and_says_so(
    lockterm_app: Starter, service: RunningService
) -> None:
    async with lockterm_app(service) as pilot:
        operations = pilot.app.operations
        remote = (await operations.remotes.all(1003))[0]
        await operations.writes.set_user_no(1003, remote, 5)
        await pilot.press("H")
        await settled(pilot)
        await pilot.press("R")
        await settled(pilot)
        assert isinstance(pilot.app.screen, RefusedModal)
        assert "Only what a delete or a clear took away" in pilot.app.messages[-1].text
