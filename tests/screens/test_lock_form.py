"""The form of the lock book: the service is asked about an id, and nothing typed is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Button

from lockterm.domain.locks import Lock
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.locks import LocksScreen
from lockterm.screens.locks.form import LockForm
from lockterm.screens.locks.table import LocksTable
from lockterm.widgets.form_field import FormField
from tests.screens.running_app import Demo, Starter, settled, until
from tests.screens.site import (
    HOSTILE,
    LOCKS,
    MAIN_GATE,
    book_of,
    canned,
    press,
    press_to,
    shown,
    words,
)
from tests.screens.snapshots import assert_picture


async def open_form(pilot: Pilot[int], key: str = "a") -> None:
    await press_to(pilot, LockForm, key)


def field(pilot: Pilot[int], name: str) -> FormField:
    return pilot.app.screen.query_one(f"#field-{name}", FormField)


@pytest.mark.long
async def test_adding_by_id_takes_the_names_from_a_remotes_detail(demo: Demo) -> None:
    async with demo(locks=LOCKS) as pilot:
        await open_form(pilot)
        await pilot.press(*"1005", "tab")
        await until(pilot, lambda: field(pilot, "name").value == "Staff entrance")
        await settled(pilot)
        assert "The service knows this lock, with 64 remotes" in words(pilot.app)
        assert "South campus, reception" in words(pilot.app)
        await pilot.press("tab", *"nord", "right", "tab", *"nr-4", "right", "tab")
        await pilot.press(*"europe/ber", "right")
        await until(pilot, lambda: "Local time: 20 Nov 2026 09:00 +01:00" in words(pilot.app))
        assert_picture(pilot.app, "lock-form-80x24")
        await press_to(pilot, LocksScreen, "ctrl+s")
        on = pilot.app.screen.query_one(LocksTable).selected
        assert on is not None and on.lock_id == 1005, "the cursor is on it"
        assert book_of(demo)[1005] == Lock(
            1005,
            name="Staff entrance",
            alias="South campus, reception",
            vendor="nordriegel",
            model="NR-450",
            zone="Europe/Berlin",
            remotes=64,
        )
        assert {path.rpartition("/")[2] for _, path in demo.service.requests} == {"list", "detail"}


async def test_form_shows_the_time_of_the_typed_zone_and_the_default_zone(demo: Demo) -> None:
    async with demo(timezone="Europe/Berlin") as pilot:
        await open_form(pilot)
        zone = field(pilot, "zone")
        zone.focus_control()
        await pilot.press(*"Asia/Tokyo")
        await until(pilot, lambda: zone.note == "Local time: 20 Nov 2026 17:00 +09:00.")
        zone.value = "W. Europe Standard Time"
        note = "Europe/Berlin. Local time: 20 Nov 2026 09:00 +01:00."
        await until(pilot, lambda: zone.note == note)
        zone.value = "-3:30"
        note = "UTC-03:30. Local time: 20 Nov 2026 04:30 -03:30."
        await until(pilot, lambda: zone.note == note)
        zone.value = "GMT+2"
        await until(pilot, lambda: zone.note.startswith("Did you mean UTC+02:00?"))
        await pilot.press("home", "shift+end", "delete")
        default = "If empty, the profile's time zone applies: Europe/Berlin."
        await until(pilot, lambda: zone.note == default)


@pytest.mark.long
async def test_typing_a_name_replaces_the_one_that_the_service_gave(demo: Demo) -> None:
    async with demo() as pilot:
        await open_form(pilot)
        await pilot.press(*"1005", "tab")
        await until(pilot, lambda: field(pilot, "name").value == "Staff entrance")
        await pilot.press(*"Back door")
        assert field(pilot, "name").value == "Back door", "it came while the cursor was there"
        await pilot.press("shift+tab", "backspace", "4", "tab", "tab", *"nord")
        await pilot.press("shift+tab", *" 2")
        assert field(pilot, "name").value == "Back door 2", "what was typed is not replaced"


@pytest.mark.long
async def test_save_straight_after_the_id_waits_for_the_service(demo: Demo) -> None:
    async with demo() as pilot:
        await open_form(pilot)
        await press_to(pilot, LocksScreen, *"1002", "ctrl+s", "ctrl+s")
        assert book_of(demo)[1002].name == "Loading dock"


@pytest.mark.long
async def test_an_id_that_the_service_refuses_stays_on_the_form(demo: Demo) -> None:
    async with demo() as pilot:
        await open_form(pilot)
        await pilot.press("tab", *"My lock", "shift+tab", *"9999", "ctrl+s")
        await until(pilot, lambda: "There is no lock 9999" in words(pilot.app))
        await settled(pilot)
        assert isinstance(pilot.app.screen, LockForm)
        assert field(pilot, "name").value == "My lock"
        assert field(pilot, "id").error, "the refusal stands at the id"
        assert book_of(demo) == {}
        await pilot.press("backspace")
        assert not field(pilot, "id").error


async def test_form_marks_every_wrong_field_when_saved(demo: Demo) -> None:
    async with demo(locks=LOCKS) as pilot:
        await open_form(pilot)
        lock_id, zone = field(pilot, "id"), field(pilot, "zone")
        zone.value = "Europe/Berln"
        await pilot.press(*"12x", "ctrl+s")
        await until(pilot, lambda: "a whole number" in lock_id.error and zone.error)
        assert "did you mean" in zone.error and zone.error.endswith("Europe/Dublin?")
        assert pilot.app.focused in lock_id.query("*")
        await pilot.press(*["backspace"] * 3, *"1001", "ctrl+s")
        await until(pilot, lambda: "already contains lock 1001, as Main gate" in lock_id.error)
        await pilot.press("backspace", "4", "ctrl+s")
        await until(pilot, lambda: pilot.app.focused in zone.query("*"))
        assert {path.rpartition("/")[2] for _, path in demo.service.requests} <= {"list", "detail"}
        assert set(book_of(demo)) == {lock.lock_id for lock in LOCKS}


@pytest.mark.long
async def test_offline_the_lock_is_noted_without_asking(lockterm_app: Starter) -> None:
    async with lockterm_app("http://127.0.0.1:9") as pilot:
        await open_form(pilot)
        await pilot.press(*"77", "tab")
        await until(pilot, lambda: "You can save the lock anyway" in words(pilot.app))
        await press_to(pilot, LocksScreen, *"Far gate", "ctrl+s")
        assert book_of(lockterm_app)[77].name == "Far gate"
        assert any("Saved without a check" in message.title for message in pilot.app.messages)


@pytest.mark.long
async def test_editing_asks_before_it_loses_text_and_keeps_what_is_not_on_the_form(
    demo: Demo,
) -> None:
    async with demo(locks=(MAIN_GATE,)) as pilot:
        await open_form(pilot, "e")
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, LocksScreen), "nothing was typed"
        await open_form(pilot, "e")
        await press_to(pilot, ConfirmModal, "x", "escape")
        await press(pilot, "enter")  # "Stay" has the focus
        assert field(pilot, "name").value == "Main gatex"
        pilot.app.screen.query_one("#leave", Button).focus()
        for _ in range(3):  # every Enter counts: asks, keeps editing, asks again
            pilot.app.post_message(events.Key("enter", "\r"))
        await settled(pilot)
        assert isinstance(pilot.app.screen, ConfirmModal)
        await press_to(pilot, LocksScreen, "tab", "enter")
        assert book_of(demo)[1001] == MAIN_GATE
        await open_form(pilot, "e")
        seen = await press(pilot, *" north", "ctrl+s")
        assert "Main gate north: Saved in the lock book." in seen
        assert book_of(demo)[1001] == replace(MAIN_GATE, name="Main gate north")
        assert list(demo.service.requests) == []


@pytest.mark.long
async def test_hostile_names_from_the_service_become_harmless(lockterm_app: Starter) -> None:
    remote = {"id": 5, "remoteName": "x"}
    page = {"list": [remote], "pageNo": 1, "pageSize": 20, "pages": 1, "total": 1}
    number = iter(range(1000))

    def detail(_: object) -> object:
        text = HOSTILE[next(number) % len(HOSTILE)]
        info = {"lockId": 1, "lockName": text, "lockAlias": text}
        return {"errcode": 0, "errmsg": "", "description": "", "data": remote | {"lockInfo": info}}

    answers = {
        "/list": lambda _: {"errcode": 0, "errmsg": "", "description": "", "data": page},
        "/detail": detail,
    }
    async with canned(answers) as server, lockterm_app(server) as pilot:
        await open_form(pilot)
        for lock_id in range(101, 101 + len(HOSTILE)):
            field(pilot, "id").focus_control()
            field(pilot, "id").value = str(lock_id)
            field(pilot, "name").value = ""
            await pilot.pause()
            await pilot.press("tab")
            await until(pilot, lambda: "The service knows this lock" in field(pilot, "id").note)
            await settled(pilot)
            assert all(char.isprintable() or char in "\n\u200d" for char in shown(pilot.app))
            assert field(pilot, "name").value.replace("\u200d", "").isprintable()
        assert isinstance(pilot.app.screen, LockForm)
