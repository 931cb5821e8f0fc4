"""The history: what is shown of each operation, finding, exporting, and the way to it."""

from __future__ import annotations

import csv
import json
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from lockterm.errors import LocktermError
from lockterm.models.locks import VoiceChoice
from lockterm.models.operation import Operation, State
from lockterm.models.remote_values import RemoteValues, values_of
from lockterm.operations import Operations
from lockterm.rules import changes, new_remote
from lockterm.screens.history import HistoryScreen
from lockterm.screens.operation_detail import OperationDetailScreen
from lockterm.screens.restore import RestoreScreen
from lockterm.service.running import RunningService
from lockterm.store.journal import Journal
from lockterm.widgets.history_choice import PAGE
from lockterm.widgets.state_panel import StatePanel
from tests.conftest import NOW_MS
from tests.screens.running_app import Clock, Starter, settled, until
from tests.screens.site import DAY_MS, HOSTILE, HOUR_MS, LOCKS, MAIN_GATE, fill_book, shown, words
from tests.screens.snapshots import assert_picture

ANNA = RemoteValues(remote_name="Anna Weber", remote_number="A-77", remote_type=1, add_type=1)


async def some_days(operations: Operations, clock: Clock) -> None:
    """Six changes from three days ago until yesterday; the last one is a clear."""
    operations._session.id = "4711-0badcafe"  # it is in a picture
    clock.now_s = (NOW_MS - 3 * DAY_MS) / 1000
    remote_id = await operations.add_remote(new_remote(1001, replace(ANNA, mac="AA:BB")))
    assert remote_id is not None
    clock.now_s += 5 * HOUR_MS / 1000
    remote = await operations.remote(remote_id)
    wanted = replace(
        values_of(remote),
        remote_name="Anna Weber-Schmidt",
        remote_type=2,
        start_ms=NOW_MS,
        end_ms=NOW_MS + 40 * DAY_MS,
    )
    await operations.update_remote(1001, remote_id, changes(remote, wanted), remote)
    await operations.set_voice(MAIN_GATE, VoiceChoice("de-DE", "anna"))
    clock.now_s += 20 * HOUR_MS / 1000 + 7
    await operations.delete_remote(1001, await operations.remote(remote_id))
    with pytest.raises(LocktermError):
        await operations.delete_remote(1001, remote)
    clock.now_s += 20 * HOUR_MS / 1000
    await operations.clear_remotes(1003)
    clock.now_s = NOW_MS / 1000


async def opened(pilot: Pilot[int]) -> HistoryScreen:
    await pilot.press("H")
    await settled(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, HistoryScreen)
    return screen


def lines(screen: HistoryScreen) -> list[str]:
    return [f"{line.call} {line.lock_id}" for line in screen._shown.values()]


async def test_what_was_done_here_is_shown_newest_first(
    lockterm_app: Starter, service: RunningService, clock: Clock
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
        assert "Nothing was changed from here yet" in words((await opened(pilot)).app)
        await pilot.press("escape")
        await some_days(pilot.app.operations, clock)
        screen = await opened(pilot)
        assert lines(screen) == [
            "clear 1003",
            "delete 1001",
            "delete 1001",
            "updateLockSetting 1001",
            "update 1001",
            "add 1001",
        ]
        assert_picture(pilot.app, "history-80x24")
        await pilot.press("H")  # once is enough
        assert len(pilot.app.screen_stack) == 2
        await pilot.press("down", "down", "down", "down", "enter")
        await settled(pilot)
        assert isinstance(pilot.app.screen, OperationDetailScreen)
        assert "Anna Weber -> Anna Weber-Schmidt" in words(pilot.app)
        assert "none -> 2026-12-30 09:00 +01:00" in words(pilot.app)
        assert_picture(pilot.app, "operation-80x24")


async def test_it_fits_a_small_terminal(
    lockterm_app: Starter, service: RunningService, clock: Clock
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service, size=(60, 20)) as pilot:
        await some_days(pilot.app.operations, clock)
        await opened(pilot)
        assert_picture(pilot.app, "history-60x20")


async def test_finding_by_text_outcome_and_lock(
    lockterm_app: Starter, service: RunningService, clock: Clock
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
        await some_days(pilot.app.operations, clock)
        screen = await opened(pilot)
        await pilot.press("l")
        assert lines(screen) == ["clear 1003"] and "only Server room" in words(pilot.app)
        await pilot.press("l")
        assert len(lines(screen)) == 6
        await pilot.press("o")
        assert lines(screen) == [] and "only unsettled" in words(pilot.app)
        await pilot.press("o")
        assert lines(screen) == ["delete 1001"] and "refused -5" in words(pilot.app)
        await pilot.press("o", "o", "slash", *"SCHMIDT")
        await until(pilot, lambda: lines(screen) == ["delete 1001"])
        await pilot.press("escape", "slash", *"not found")  # the service's message
        await until(pilot, lambda: lines(screen) == ["delete 1001"])
        await pilot.press("escape", "slash", *"main add")
        await until(pilot, lambda: lines(screen) == ["add 1001"])
        await pilot.press("enter", "escape")
        assert len(lines(screen)) == 6
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, HistoryScreen)


async def test_from_a_lock_it_begins_with_that_lock(
    lockterm_app: Starter, service: RunningService, clock: Clock
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service, open_lock=1003) as pilot:
        await some_days(pilot.app.operations, clock)
        screen = await opened(pilot)
        assert lines(screen) == ["clear 1003"]
        assert "History > Server room" in words(pilot.app)
        await pilot.press("l")
        assert len(lines(screen)) == 6


async def test_the_export_has_what_is_shown_and_is_private(
    lockterm_app: Starter, service: RunningService, clock: Clock
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service, size=(120, 40)) as pilot:
        await some_days(pilot.app.operations, clock)
        screen = await opened(pilot)
        await pilot.press("down", "l")
        await settled(pilot)
        await pilot.press("E")
        await settled(pilot)
        files = sorted((lockterm_app.directory / "data" / "exports").iterdir())
        assert [file.suffix for file in files] == [".csv", ".json"]
        assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)
        exported = json.loads(files[1].read_text())
        assert [operation["lock_id"] for operation in exported] == [1001] * 5
        assert [operation["id"] for operation in exported] == list(screen._shown)
        with files[0].open(newline="", encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        assert [row["call"] for row in table] == [operation["call"] for operation in exported]
        (message,) = [message.text for message in pilot.app.messages if "Exported" in message.title]
        assert str(files[0]) in message and files[1].name in message


def _fill_journal(operations: Operations, count: int, **other: object) -> None:
    journal = Journal(operations._database, operations.profile.name)
    with operations._database.transaction():
        for number in range(count):
            fields = {
                "id": f"{number:032x}",
                "profile": operations.profile.name,
                "call": "update",
                "path": "/x",
                "body": {"remoteName": "x"},
                "lock_id": 1001 + number % 2,
                "lock_name": "Main gate",
                "remote_id": number,
                "remote_name": f"Remote {number}",
                "before": (),
                "state": State.CONFIRMED,
                "session": "1-a",
                "prepared_ms": NOW_MS - number,
            }
            journal.prepare(Operation(**fields | other))


async def test_thousands_are_shown_page_by_page(
    lockterm_app: Starter, service: RunningService
) -> None:
    async with lockterm_app(service) as pilot:
        _fill_journal(pilot.app.operations, 5000)
        screen = await opened(pilot)
        assert "5,000 operations page 1 of 25" in words(pilot.app)
        assert len(lines(screen)) == PAGE
        await pilot.press("n")
        assert "page 2 of 25" in words(pilot.app) and "Remote 4799" in shown(pilot.app)
        await pilot.press("p")
        assert "page 1 of 25" in words(pilot.app)
        await pilot.press("p")
        assert "nothing newer" in pilot.app.messages[-1].text
        await pilot.press("slash", *"4321")
        await until(pilot, lambda: len(lines(screen)) == 1)


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_strings_do_nothing(
    lockterm_app: Starter, service: RunningService, text: str
) -> None:
    async with lockterm_app(service) as pilot:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        record = {"id": 1, "remoteName": text, "remoteNumber": text, text: text, "weekDay": text}
        _fill_journal(
            pilot.app.operations,
            1,
            call="delete",
            lock_name=text,
            remote_name=text,
            message=text,
            before=(record,),
            body={"remoteId": 1, "extraData": {text: text}},
        )
        await opened(pilot)
        await pilot.press("slash", "x", "escape", "enter")
        await settled(pilot)
        assert isinstance(pilot.app.screen, OperationDetailScreen)
        await pilot.press("G", "y", "R")
        await settled(pilot)
        assert isinstance(pilot.app.screen, RestoreScreen)
        assert not set(shown(pilot.app)) & set("\x1b\x00\x07\x9b\u202e\u200b\u2066\u2028")


async def test_a_read_only_profile_restores_nothing(
    running_service: Callable[..., RunningService], lockterm_app: Starter, clock: Clock
) -> None:
    service = running_service()
    async with lockterm_app(service) as pilot:
        await some_days(pilot.app.operations, clock)
    async with lockterm_app(service, read_only=True) as pilot:
        await opened(pilot)
        await pilot.press("R")
        assert isinstance(pilot.app.screen, HistoryScreen)
        assert "read-only" in pilot.app.messages[-1].text


async def test_a_journal_that_cannot_be_read_is_said(
    lockterm_app: Starter, service: RunningService, tmp_path: Path
) -> None:
    async with lockterm_app(service) as pilot:
        await opened(pilot)
        operations = pilot.app.operations
        operations._database.close()
        file = operations._database.path
        file.rename(file.with_suffix(".kept"))
        file.mkdir()
        await pilot.press("r")
        await settled(pilot)
        assert "Local store" in words(pilot.app) and "try again" in words(pilot.app)
        file.rmdir()
        file.with_suffix(".kept").rename(file)
        await pilot.press("r")
        await settled(pilot)
        # Not from the whole screen: the notice of the error may still stand over it.
        assert "Nothing was changed" in str(pilot.app.screen.query_one(StatePanel).content)
