"""The history: what is shown of each operation, finding, exporting, and the way to it."""

from __future__ import annotations

import asyncio
import csv
import json
import re
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from textual.pilot import Pilot

from lockterm.domain.locks import VoiceChoice
from lockterm.domain.operation import HistoryLine, Operation, OperationState
from lockterm.domain.remotes import CALL_NAMES, Remote
from lockterm.domain.rules import changes, new_remote
from lockterm.domain.text.remote import Detail
from lockterm.errors import LocktermError
from lockterm.operations import Operations, sending
from lockterm.screens.history import HistoryScreen
from lockterm.screens.history.detail import OperationDetailScreen
from lockterm.screens.history.page import PAGE
from lockterm.screens.history.table import HistoryTable
from lockterm.screens.plan.screen import PlanScreen
from lockterm.store.journal import Journal
from lockterm.widgets.data_status import StatePanel
from lockterm.widgets.details_table import DetailsTable
from tests.conftest import NOW_MS
from tests.long import telling
from tests.screens.running_app import Clock, Demo, settled, until
from tests.screens.site import DAY_MS, HOSTILE, HOUR_MS, LOCKS, MAIN_GATE, press, shown, words
from tests.screens.snapshots import assert_picture

CHANGE = Operation(
    id="1",
    profile="demo",
    call="update",
    path="/x",
    body={"remoteId": 7, "remoteName": "Anna Weber", "remoteNumber": "A-2"},
    lock_id=1001,
    lock_name="Main gate",
    remote_id=7,
    remote_name="Anna",
    before=({"remoteName": "Anna", "remoteNumber": "A-2"},),
    state=OperationState.CONFIRMED,
    session="1-a",
    prepared_ms=NOW_MS,
)

ANNA = Remote(remote_name="Anna Weber", remote_number="A-77", remote_type=1, add_type=1)


async def some_days(operations: Operations, clock: Clock) -> None:
    """Six changes from three days ago until yesterday; the last one is a clear."""
    operations.journal.session.id = "4711-0badcafe"  # it is in a picture
    clock.now_s = (NOW_MS - 3 * DAY_MS) / 1000
    remote_id = await operations.writes.add_remote(new_remote(1001, replace(ANNA, mac="AA:BB")))
    assert remote_id is not None
    clock.now_s += 5 * HOUR_MS / 1000
    remote = await operations.remotes.detail(remote_id)
    wanted = replace(
        remote,
        remote_name="Anna Weber-Schmidt",
        remote_type=2,
        start_ms=NOW_MS,
        end_ms=NOW_MS + 40 * DAY_MS,
    )
    await operations.writes.update_remote(1001, remote_id, changes(remote, wanted), remote)
    await operations.writes.set_voice(MAIN_GATE, VoiceChoice("de-DE", "anna"))
    clock.now_s += 20 * HOUR_MS / 1000 + 7
    await operations.writes.delete_remote(1001, await operations.remotes.detail(remote_id))
    with pytest.raises(LocktermError):
        await operations.writes.delete_remote(1001, remote)
    clock.now_s += 20 * HOUR_MS / 1000
    await operations.writes.clear_remotes(1003)
    clock.now_s = NOW_MS / 1000


async def opened(pilot: Pilot[int]) -> HistoryScreen:
    await press(pilot, "H")
    screen = pilot.app.screen
    assert isinstance(screen, HistoryScreen)
    return screen


def lines(screen: HistoryScreen) -> list[str]:
    """What was done, and on which lock, of each line."""
    table = screen.query_one(HistoryTable)
    cells = [
        re.split(" {2,}", "".join(text for text, _ in table.line(row)).strip())
        for row in range(table.row_count)
    ]
    named = screen.choice.lock_name if screen.choice.lock_id is not None else ""
    return [f"{what} {named or last}" for _, what, *_, last in cells]


async def test_what_was_done_here_is_shown_newest_first(demo: Demo) -> None:
    async with demo(locks=LOCKS) as pilot:
        assert "You have not sent any changes yet" in words((await opened(pilot)).app)
        await press(pilot, "escape")
        await some_days(pilot.app.operations, demo.clock)
        screen = await opened(pilot)
        table = screen.query_one(HistoryTable)
        assert lines(screen) == [
            "clear Server room",
            "delete Main gate",
            "delete Main gate",
            "voice Main gate",
            "change Main gate",
            "add Main gate",
        ]
        looks = [[look for _, look in table.line(row) if look] for row in range(6)]
        assert looks == [[], ["disagree"], [], [], ["open"], ["open"]]
        assert_picture(pilot.app, "history-80x24")
        await press(pilot, "H")  # once is enough
        assert len(pilot.app.screen_stack) == 2
        await press(pilot, "down", "down", "down", "down", "enter")
        assert isinstance(pilot.app.screen, OperationDetailScreen)
        assert "Anna Weber -> Anna Weber-Schmidt" in words(pilot.app)
        assert "none -> 30 Dec 2026 09:00 +01:00" in words(pilot.app)
        assert_picture(pilot.app, "operation-80x24")


def changed(pilot: Pilot[int]) -> list[str]:
    """What each line says that its operation has changed; the names before it are ASCII."""
    table = pilot.app.screen.query_one(HistoryTable)
    at = "".join(text for text, _ in table.titles()).index("Changed")
    rows = range(table.row_count)
    return ["".join(text for text, _ in table.line(row))[at:].strip() for row in rows]


def asked_of(pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch) -> list[Collection[str]]:
    """Which operations the journal is asked for, to tell what they have changed."""
    asked: list[Collection[str]] = []
    changes = pilot.app.operations.journal.changes

    async def noted(ids: Collection[str], zone: tzinfo) -> Mapping[str, str]:
        asked.append(ids)
        return await changes(ids, zone)

    monkeypatch.setattr(pilot.app.operations.journal, "changes", noted)
    return asked


@pytest.mark.long
async def test_a_wide_terminal_says_what_was_changed_before_and_after(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with demo(size=(119, 29), locks=LOCKS) as pilot:
        operations, asked = pilot.app.operations, asked_of(pilot, monkeypatch)
        remote_id = await operations.writes.add_remote(new_remote(1001, ANNA))
        assert remote_id is not None

        async def change(**fields: object) -> None:
            remote = await operations.remotes.detail(remote_id)
            wanted = replace(remote, **fields)
            sent = changes(remote, wanted)
            await operations.writes.update_remote(1001, remote_id, sent, remote)

        await change(remote_name="Anna Weber-Schmidt")
        await change(remote_type=4, start_ms=NOW_MS, end_ms=NOW_MS + 40 * DAY_MS, week_day=[1, 2])
        await change(end_ms=NOW_MS + 50 * DAY_MS)
        await change(end_ms=NOW_MS + 50 * DAY_MS + HOUR_MS)
        remote = await operations.remotes.detail(remote_id)
        await operations.writes.set_user_no(1001, remote, 7)
        await operations.writes.delete_remote(1001, remote)
        with pytest.raises(LocktermError):
            sent = changes(remote, replace(remote, remote_name="Anna"))
            await operations.writes.update_remote(1001, remote_id, sent, remote)
        await operations.writes.clear_remotes(1003)
        await opened(pilot)
        await press(pilot, "G", "g", "r")
        assert not asked and "Changed" not in words(pilot.app)
        await pilot.resize_terminal(240, 29)
        await settled(pilot)
        told = [
            "",
            "wanted: Name Anna Weber-Schmidt -> Anna",
            "was valid Mon, Tue, 20 Nov 2026 to 9 Jan 2027",
            "User number -> 7",
            "End 9 Jan 2027 09:00 +01:00 -> 9 Jan 2027 10:00 +01:00",
            "End 30 Dec 2026 -> 9 Jan 2027",
            "End none -> 30 Dec 2026; Type permanent -> recurring; Start none -> 20 Nov 2026;"
            " Weekdays none -> Mon, Tue",
            "Name Anna Weber -> Anna Weber-Schmidt",
            "valid always",
        ]
        await until(pilot, lambda: changed(pilot) == told)
        await pilot.resize_terminal(120, 29)
        await until(pilot, lambda: "End 30 Dec 2026 -> 9 Jan 2027" in words(pilot.app))
        count = len(asked)
        await press(pilot, "r")
        assert len(asked) == count  # it knows them


@pytest.mark.long
async def test_what_was_changed_is_read_of_rows_in_sight_and_no_key_waits_for_it(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with demo(size=(120, 24)) as pilot:
        _fill_journal(pilot.app.operations, PAGE + 50, before=({"remoteName": "y"},))
        asked, may_go_on = asked_of(pilot, monkeypatch), asyncio.Event()
        noted = pilot.app.operations.journal.changes

        async def late(ids: Collection[str], zone: tzinfo) -> Mapping[str, str]:
            await may_go_on.wait()
            return await noted(ids, zone)

        monkeypatch.setattr(pilot.app.operations.journal, "changes", late)
        await pilot.press("H")
        await until(pilot, lambda: "page 1 of 2" in words(pilot.app))
        table = pilot.app.screen.query_one(HistoryTable)
        await pilot.press("down", "down")
        await until(pilot, lambda: table.cursor_row == 2)
        before = [line.rstrip() for line in shown(pilot.app).splitlines()]
        may_go_on.set()
        await settled(pilot)
        await until(pilot, lambda: shown(pilot.app).count("Name y -> x") > 10)
        after = shown(pilot.app).replace("Name y -> x", "")
        assert [line.rstrip() for line in after.splitlines()] == before
        seen = {*asked[-1]}
        assert {key for ids in asked for key in ids} == seen, "those in sight alone"
        assert table.highlighted in seen and len(seen) < 24
        await press(pilot, "G")
        await until(pilot, lambda: shown(pilot.app).count("Name y -> x") > 10)
        assert table.highlighted in asked[-1] and len(asked[-1]) < 24
        await press(pilot, "n")
        await until(pilot, lambda: shown(pilot.app).count("Name y -> x") > 10)
        asked.clear()  # of the page before nothing was kept
        await press(pilot, "p", "home")
        await until(pilot, lambda: seen <= {key for ids in asked for key in ids})


@pytest.mark.long
async def test_an_operation_on_a_wide_terminal(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = map(UUID, map("{:032x}".format, count(1)))
    monkeypatch.setattr(sending, "uuid4", lambda: next(ids))  # the last line has one
    async with demo(size=(120, 40), locks=LOCKS) as pilot:
        await some_days(pilot.app.operations, demo.clock)
        await opened(pilot)
        await press(pilot, "down", "down", "down", "down", "enter")
        assert isinstance(pilot.app.screen, OperationDetailScreen)
        assert_picture(pilot.app, "operation-120x40")


async def test_history_selects_the_newest_change_when_the_user_comes_back_to_it(demo: Demo) -> None:
    async with demo(locks=LOCKS) as pilot:
        operations = pilot.app.operations
        await some_days(operations, demo.clock)
        screen = await opened(pilot)
        await press(pilot, "down", "down", "enter")
        selected = screen.table.highlighted
        await press(pilot, "escape")
        assert screen.table.highlighted == selected
        await press(pilot, "enter")
        await operations.writes.set_voice(MAIN_GATE, VoiceChoice("fr-FR", "marc"))
        await press(pilot, "escape")
        assert screen.table.highlighted == screen.page.rows[0].id != selected
        await press(pilot, "down")
        await operations.writes.set_voice(MAIN_GATE, VoiceChoice("de-DE", "anna"))
        selected = screen.table.highlighted
        await press(pilot, "ctrl+r")
        assert screen.table.highlighted == selected


@pytest.mark.long
async def test_history_is_found_by_lock_result_text_and_day(demo: Demo) -> None:
    async with demo(1003, locks=LOCKS) as pilot:
        await some_days(pilot.app.operations, demo.clock)
        screen = await opened(pilot)
        assert lines(screen) == ["clear Server room"]
        assert "History > Server room" in words(pilot.app)
        await press(pilot, "at")
        assert len(lines(screen)) == 6
        assert "only Server room" in await press(pilot, "at")
        assert lines(screen) == ["clear Server room"]
        seen = await press(pilot, "at", "i")
        assert lines(screen) == [] and "only unsettled" in seen
        assert "refused -5" in await press(pilot, "i")
        assert lines(screen) == ["delete Main gate"]
        await press(pilot, "i", "i")
        for typed, found in (
            ("SCHMIDT", ["delete Main gate"]),
            ("not found", ["delete Main gate"]),  # the service's message
            ("main add", ["add Main gate"]),
            ("2026-11-18", ["delete Main gate"] * 2),
            ("today", []),
        ):
            await press(pilot, "slash", *typed)
            assert lines(screen) == found, typed
            await press(pilot, "enter", "escape")
            assert len(lines(screen)) == 6
        await press(pilot, "escape")
        assert not isinstance(pilot.app.screen, HistoryScreen)


async def test_the_export_has_what_is_shown_and_is_private(demo: Demo) -> None:
    async with demo(size=(120, 40), locks=LOCKS) as pilot:
        await some_days(pilot.app.operations, demo.clock)
        screen = await opened(pilot)
        await press(pilot, "down", "at")
        await press(pilot, "E")
        files = sorted((demo.directory / "data" / "exports").iterdir())
        assert [file.suffix for file in files] == [".csv", ".json"]
        assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)
        exported = json.loads(files[1].read_text())
        assert [operation["lock_id"] for operation in exported] == [1001] * 5
        done = [f"{CALL_NAMES[one['call']]} {one['lock_name']}" for one in exported]
        assert done == lines(screen)
        with files[0].open(newline="", encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        assert [row["What"] for row in table] == [CALL_NAMES[one["call"]] for one in exported]
        (message,) = [message.text for message in pilot.app.messages if "Exported" in message.title]
        assert str(files[0]) in message and files[1].name in message


def write(operations: Operations, *changes: Operation) -> None:
    """Write operations into the journal."""
    journal = Journal(operations.journal.database, operations.profile.name)
    with operations.journal.database.transaction():
        for change in changes:
            journal.prepare(change)


def _fill_journal(operations: Operations, count: int, **other: Any) -> None:
    """Write changes of many remotes of two locks into the journal, the newest first."""
    changes = list[Operation]()
    for number in range(count):
        fields = {
            "id": f"{number:032x}",
            "body": {"remoteName": "x"},
            "lock_id": 1001 + number % 2,
            "remote_id": number,
            "remote_name": f"Remote {number}",
            "before": (),
            "prepared_ms": NOW_MS - number,
        }
        changes.append(replace(CHANGE, **fields | other))
    write(operations, *changes)


@pytest.mark.long
async def test_history_has_pages_and_counts_matches_as_far_as_a_key_may_take(demo: Demo) -> None:
    async with demo() as pilot:
        _fill_journal(pilot.app.operations, 1200)
        screen = await opened(pilot)
        assert "1,200 changes page 1 of 12" in words(pilot.app)
        assert len(lines(screen)) == PAGE
        seen = await press(pilot, "n")
        assert "page 2 of 12" in seen and "Remote 1099" in seen
        assert "page 1 of 12" in await press(pilot, "p")
        await press(pilot, "p")
        assert "no newer changes" in pilot.app.messages[-1].text
        pilot.app.clear_notifications()
        seen = await press(pilot, "slash", *"remote")
        assert "more than 1,000 of 1,200 changes" in seen and "page 1 of 11+ (n, " in seen
        assert "page 12 of 12 (n, " in await press(pilot, "enter", *"n" * 11)
        assert "12 of 1,200 changes" in await press(pilot, "escape", "slash", *"119")


async def test_history_reads_a_change_before_it_shows_it(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with demo() as pilot:
        _fill_journal(pilot.app.operations, 3)
        times, show = list[int](), DetailsTable.show_fields

        def counted(table: DetailsTable, fields: Sequence[Detail]) -> None:
            times.append(len(fields))
            show(table, fields)

        monkeypatch.setattr(DetailsTable, "show_fields", counted)
        await opened(pilot)
        await press(pilot, "enter")
        assert len(times) == 1 and "Remote 2" in shown(pilot.app)
        await press(pilot, "r")
        assert len(times) == 1
        journal = pilot.app.operations.journal
        with journal.database.transaction() as connection:
            connection.execute("UPDATE operations SET message = 'It was undone by hand.'")
        await press(pilot, "r")
        assert len(times) == 2 and "It was undone by hand." in words(pilot.app)
        await press(pilot, "escape")
        # It opens all the same where it is not read soon; two clicks open it once.
        may_go_on, find = asyncio.Event(), journal.find

        async def late(operation_id: str) -> Operation | None:
            await may_go_on.wait()
            return await find(operation_id)

        monkeypatch.setattr(journal, "find", late)
        await pilot.press("enter")
        await until(pilot, lambda: "Reading the change" in words(pilot.app))
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, HistoryScreen)
        monkeypatch.setattr("lockterm.screens.history.screen._READ_FIRST_S", 3600.0)
        for _ in range(2):
            await pilot.click(HistoryTable, offset=(5, 1))
        may_go_on.set()
        await until(pilot, lambda: "It was undone by hand." in words(pilot.app))
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, HistoryScreen)


async def test_operation_is_read_again_when_its_result_changes(demo: Demo) -> None:
    async with demo() as pilot:
        _fill_journal(
            pilot.app.operations, 1, call="updateRemoteUserNo", state=OperationState.UNKNOWN
        )
        await opened(pilot)
        await press(pilot, "enter")
        screen = pilot.app.screen
        assert isinstance(screen, OperationDetailScreen)
        journal = pilot.app.operations.journal
        (operation,) = await journal.list_unconfirmed()
        await journal.resolve(
            operation, state=OperationState.GIVEN_UP, message="It was done by hand."
        )
        await until(pilot, lambda: "It was done by hand." in words(pilot.app))


async def test_history_says_that_it_is_being_read(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with demo() as pilot:
        journal, may_go_on = pilot.app.operations.journal, asyncio.Event()
        newest = journal.lines

        async def late(*wanted: Any) -> list[HistoryLine]:
            await may_go_on.wait()
            return await newest(*wanted)

        monkeypatch.setattr(journal, "lines", late)
        await pilot.press("H")
        await until(pilot, lambda: "Reading the history ..." in words(pilot.app))
        may_go_on.set()
        await until(pilot, lambda: "You have not sent any changes" in words(pilot.app))


HARMFUL = set("\x1b\x00\x07\x9b\u202e\u200b\u2066\u2028")


def _well_formed(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@pytest.mark.parametrize("text", telling(HOSTILE[:8:3], HOSTILE))
async def test_hostile_strings_do_nothing(demo: Demo, text: str) -> None:
    async with demo(size=(200, 24)) as pilot:
        text = _well_formed(text)
        record = {"id": 1, text: text, "statusName": text, "remoteType": 1, "addType": 1}
        record |= {"remoteName": text or "x", "remoteNumber": text or "x"}
        named = {"lock_name": text, "remote_name": text, "message": text, "before": (record,)}
        body = {"remoteId": 1, "extraData": {text: text}}
        _fill_journal(pilot.app.operations, 1, call="delete", body=body, **named)
        await opened(pilot)
        await press(pilot, "slash", "x", "escape", "enter")
        assert isinstance(pilot.app.screen, OperationDetailScreen)
        await press(pilot, "G", "y", "R")
        assert isinstance(pilot.app.screen, PlanScreen)
        assert not set(shown(pilot.app)) & HARMFUL


async def test_hostile_strings_do_nothing_in_what_was_changed(demo: Demo) -> None:
    async with demo(size=(200, 24)) as pilot:
        for number, text in enumerate(map(_well_formed, HOSTILE)):
            _fill_journal(
                pilot.app.operations,
                1,
                id=f"{number:032x}",
                before=({"remoteName": f"{text}1", "extraData": {text: 1}, "weekDay": [text]},),
                body={"remoteName": f"{text}2", "extraData": {text: 2}, "endDate": 10**400},
            )
        await opened(pilot)
        await until(pilot, lambda: all(" -> " in one for one in changed(pilot)))
        assert "Name $name {name} %s1 -> $name {name} %s2" in shown(pilot.app)
        assert not set(shown(pilot.app)) & HARMFUL


@pytest.mark.long
async def test_a_journal_that_cannot_be_read_is_said(demo: Demo, tmp_path: Path) -> None:
    async with demo() as pilot:
        await opened(pilot)
        operations = pilot.app.operations
        operations.journal.database.close()
        file = operations.journal.database.path
        file.rename(file.with_suffix(".kept"))
        file.mkdir()
        await press(pilot, "r")
        assert "Local store" in words(pilot.app) and "try again" in words(pilot.app)
        file.rmdir()
        file.with_suffix(".kept").rename(file)
        await press(pilot, "r")
        # Not from the whole screen: the notice of the error may still stand over it.
        assert "You have not sent any changes" in str(
            pilot.app.screen.query_one(StatePanel).content
        )
