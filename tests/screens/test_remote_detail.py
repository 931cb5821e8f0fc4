"""One remote with every field, in words and as it came."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.domain.locks import Lock
from lockterm.domain.validity import RemoteState
from lockterm.errors import RefusedError
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.detail import RemoteDetailScreen
from lockterm.service.running import RunningService
from lockterm.widgets.details_table import DetailsTable
from tests.conftest import NOW_MS
from tests.screens.running_app import Clock, Demo, Starter, settled, shown, until
from tests.screens.site import canned, page_of, press, remote_names, remotes_table


def fields(pilot: Pilot[Any]) -> dict[str, str]:
    """Label -> what is shown for it."""
    table = pilot.app.screen.query_one(DetailsTable)
    return {field.label: field.shown for field in table.fields}


async def test_every_field_in_words(demo: Demo) -> None:
    dates = {"startDate": NOW_MS, "endDate": NOW_MS + 41 * 86_400_000, "weekDay": [1, 2, 3, 4, 5]}
    more = {"remoteType": 4, "isCoerced": 1, "addType": 2, "extraData": {"key": ["a", 1]}}
    remote_id = demo.add(1004, "Cleaning crew", **dates, **more)
    async with demo(1004) as pilot:
        await press(pilot, "enter")
        now = fields(pilot)
        for label, text in {
            **{"Name": "Cleaning crew", "Number": "X-1", "ID": str(remote_id)},
            "Start": "Fri 20 Nov 2026 09:00 +01:00, 08:00 UTC, now",
            "End": "Thu 31 Dec 2026 09:00 +01:00, 08:00 UTC, in 41 days",
            **{"Weekdays": "Mon-Fri", "Status": "normal"},
            "Coerced": "yes. The service defines what this flag does.",
            "Extra data": '{\n  "key": [\n    "a",\n    1\n  ]\n}',
            **{"Lock name": "Roof hatch", "Lock alias": "North campus, hall B", "Lock ID": "1004"},
        }.items():
            assert now[label] == text
        for label, text in {"Type": "recurring", "Added via": "gateway"}.items():
            assert now[label].startswith(text)
        assert now["API user"].startswith("30017 (an account")
        assert "MAC address" not in now  # the service keeps it to itself (2.3)


async def test_what_is_not_in_the_contract_is_shown_as_it_came(lockterm_app: Starter) -> None:
    record = {
        **{"id": 5, "lockId": 7, "remoteName": "Odd", "remoteNumber": 12, "remoteType": 3},
        **{"status": "up", "startDate": 10**17, "mac": "AA:BB", "electricQuantity": 80},
        **{"firmwareInfo": {"version": "1.2"}, "remoteUserNo": 4, "businessId": 9},
        **{"remoteRight": 2, "color": {"red": 1}},
        "lockInfo": {"lockId": 8, "lockName": "Other", "lockAlias": None, "floor": 2},
    }
    answers = {"/list": page_of([record]), "/detail": record}
    async with canned(answers) as server, lockterm_app(server, 7) as pilot:
        await press(pilot, "enter")
        now = fields(pilot)
        assert '"version": "1.2"' in now["Firmware info"]
        for label, text in {
            **{"Number": "(unexpected value) 12", "Type": "3 (unknown value)"},
            **{"Status": '(unexpected value) "up"', "Start": "100000000000000000"},
            **{"End": "not stated", "MAC address": "AA:BB", "Battery level": "80"},
            **{"User number": "4", "Business ID": "9", "Admin right": "no"},
            "color": '(unknown field) {\n  "red": 1\n}',
            "Lock info ID": "8 (differs from the lock ID above)",
            "Lock info": '(unknown field) {\n  "floor": 2\n}',
        }.items():
            assert now[label] == text


@pytest.mark.long
async def test_any_value_is_copied_whole(demo: Demo) -> None:
    text = "Long name " * 30
    extra = {"a": {"b": [1, 2], "é": "no\u202ename\nand a line"}}
    demo.add(1004, text, extraData=extra)
    async with demo(1004) as pilot:
        await press(pilot, "enter", "j", "y")  # the second row of the name
        assert pilot.app.clipboard == text
        await press(pilot, "G", "y")
        assert "\n" not in pilot.app.clipboard, "a shell would run each line"
        assert json.loads(pilot.app.clipboard) == extra


async def test_detail_leads_back_to_neighbor_when_its_remote_is_deleted(demo: Demo) -> None:
    for name in ("Before", "Gone soon", "After"):
        demo.add(1004, name)
    async with demo(1004) as pilot:
        names = remote_names(pilot)
        await press(pilot, *["j"] * names.index("Gone soon"), "enter", "d")
        await press(pilot, "D")
        assert isinstance(pilot.app.screen, RemotesScreen)
        assert pilot.app.messages[-1].text.startswith("Recorded by the service.")
        table = remotes_table(pilot)
        assert [row.remote.remote_name for row in table.rows] == [names[0], names[2]]
        assert table.selected is not None and table.selected.remote_name == names[2]
        assert "gone" not in shown(pilot) and "STALE" not in shown(pilot)


async def test_detail_leaves_after_help_closes_when_its_remote_was_deleted(demo: Demo) -> None:
    remote_id = demo.add(1004, "Gone soon")
    async with demo(1004) as pilot:
        await press(pilot, "enter", "question_mark")
        for screen in pilot.app.screen.screens_of(1004):
            screen.after_delete(remote_id)
        await settled(pilot)
        assert not isinstance(pilot.app.screen, RemotesScreen)
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, RemotesScreen)


async def test_detail_outlives_a_refused_delete(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise RefusedError("Not allowed.", code=5)

    remote_id = demo.add(1004, "Gone soon")
    async with demo(1004) as pilot:
        monkeypatch.setattr(pilot.app.operations.writes, "delete_remote", refuse)
        await press(pilot, "enter", "d")
        await press(pilot, "D")
        assert isinstance(pilot.app.screen, RemoteDetailScreen)
        assert fields(pilot)["Name"] == "Gone soon"
        demo.post("delete", remoteId=remote_id)
        await press(pilot, "r")
        assert "Gone soon no longer exists" in shown(pilot) and "STALE" not in shown(pilot)
        await press(pilot, "e")
        assert "No remote" in pilot.app.messages[-1].text


@pytest.mark.long
async def test_without_the_service_it_says_so_and_keeps_what_was_read(
    running_service: Callable[..., RunningService], lockterm_app: Starter
) -> None:
    service = running_service()
    async with lockterm_app(service, 1003) as pilot:
        await press(pilot, "enter")
        service.stop()
        await press(pilot, "r")
        assert "STALE · service unreachable · r to try again · updated" in shown(pilot)
        assert len(fields(pilot)) > 15
        await press(pilot, "escape", "j", "enter")  # this one was never read
        assert "Service unreachable" in shown(pilot) and "r  try again" in shown(pilot)


async def test_detail_shows_an_end_as_past_when_it_passes(demo: Demo, clock: Clock) -> None:
    soon = {"remoteType": 2, "startDate": NOW_MS - 60_000, "endDate": NOW_MS + 50_000}
    added = demo.add(1004, "Soon", **soon)
    demo.add(1004, "Later")
    async with demo(1004, size=(130, 40)) as pilot:
        table, asked = remotes_table(pilot), len(demo.service.requests)
        states = [row.valid.word for row in table.rows]
        assert "< 7 days" in states and "1 expiring" in shown(pilot)
        place = states.index("< 7 days")
        table.move_cursor(place)
        clock.now_s += 60
        pilot.app.screen.refresh_relative_times()
        await settled(pilot)
        assert [row.valid.word for row in table.rows][place] == "expired"
        assert table.selected is not None and table.selected.id == added
        assert "1 expired" in shown(pilot) and RemoteState.WEEK.word not in shown(pilot)
        assert len(demo.service.requests) == asked
        clock.now_s -= 60
        await press(pilot, "enter")
        assert RemoteState.WEEK.word in fields(pilot)["State"]
        asked = len(demo.service.requests)
        clock.now_s += 60
        pilot.app.screen.refresh_relative_times()
        assert "expired" in fields(pilot)["State"]
        assert len(demo.service.requests) == asked


async def test_hidden_screen_catches_up_with_time(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = list[RemotesScreen]()
    monkeypatch.setattr(RemotesScreen, "refresh_relative_times", lambda screen: told.append(screen))
    async with demo(1001) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, RemotesScreen)
        await press(pilot, "enter", "escape")
        assert not told
        await press(pilot, "enter")
        screen.note_minute()
        assert not told
        await press(pilot, "escape")
        assert told == [screen]


@pytest.mark.long
async def test_the_lock_book_learns_the_names_it_does_not_have(demo: Demo) -> None:
    async with demo() as pilot:
        operations = pilot.app.operations
        await operations.locks.save(Lock(1003, zone="Asia/Tokyo"))
        await operations.locks.save(Lock(1002, name="My own name"))
        for lock_id in (1003, 1002):
            pilot.app.push_screen(RemotesScreen(operations, await operations.locks.find(lock_id)))
            await settled(pilot)
            await press(pilot, "enter")
            await until(pilot, lambda: "Remotes > " in shown(pilot))
            await press(pilot, "escape", "escape")
        learnt = await operations.locks.find(1003)
        assert (learnt.name, learnt.alias, learnt.zone) == (
            "Server room",
            "North campus, office 2nd floor",
            "Asia/Tokyo",
        )
        kept = await operations.locks.find(1002)
        assert (kept.name, kept.alias) == ("My own name", "North campus, hall B")
