"""The lock book on the screen: finding, opening, removing, and what it says without one."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lockterm.app import terminal_app
from lockterm.domain.locks import Lock
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.locks import LocksScreen
from lockterm.screens.locks.form import LockForm
from lockterm.screens.locks.table import LocksTable
from lockterm.screens.remote_form import RemoteForm
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.sample_data import LOCKS as SAMPLES
from lockterm.store.lock_book import Locks
from tests.conftest import NOW_MS
from tests.faults.calls import new_remote
from tests.screens import someone_else
from tests.screens.running_app import Demo, settled, until
from tests.screens.site import (
    DAY_MS,
    HOSTILE,
    LOCKS,
    book_of,
    fill_book,
    press,
    press_to,
    shown,
    words,
)
from tests.screens.snapshots import assert_picture


async def test_book_shows_the_last_viewed_first_with_its_age(demo: Demo) -> None:
    async with demo(locks=LOCKS) as pilot:
        assert_picture(pilot.app, "locks-80x24")
        await pilot.resize_terminal(120, 29)
        await until(pilot, lambda: "Asia/Shanghai" in shown(pilot.app).splitlines()[5])
        rows = [row.split("  ") for row in shown(pilot.app).splitlines()[2:6]]
        assert [(row[0].strip(" >"), row[-1].strip()) for row in rows] == [
            ("Loading dock", "20 minutes ago"),
            ("Server room", "30 hours ago"),
            ("Main gate", "3 days ago"),
            ("化学品仓库", "never"),
        ]


def ends(pilot: Pilot[int]) -> dict[str, str]:
    """What the book says of each lock between its remotes and when it was opened."""
    table = pilot.app.screen.query_one(LocksTable)
    titles = "".join(text for text, _ in table.titles())
    start, end = (titles.index(title) for title in ("Expired", "Last viewed"))
    told = {}
    for row, lock in enumerate(table.locks):
        if lock.title.isascii():  # a cell for each character
            line = "".join(text for text, _ in table.line(row))
            told[lock.title] = " ".join(line[start:end].split())
    return told


async def test_columns_without_any_value_leave_their_room_to_the_names(demo: Demo) -> None:
    async with demo(
        size=(60, 20), locks=(Lock(1001, name="A gate with a rather long name"), Lock(1002))
    ) as pilot:
        assert "A gate with a rather long name" in shown(pilot.app)
        titles = shown(pilot.app).splitlines()[1].split()
        assert titles == ["Name", "ID", "Remotes", "Last", "viewed"]


@pytest.mark.long
async def test_wide_book_shows_expiring_counts_and_their_age(demo: Demo) -> None:
    since = {"remoteType": 2, "startDate": NOW_MS - 90 * DAY_MS}
    for days in (-2, -1, 6, 20, 25, 40):
        someone_else.add(demo.service, 1004, f"{days}", endDate=NOW_MS + days * DAY_MS, **since)
    async with demo(size=(120, 29), locks=(*LOCKS[1:], Lock(1004, name="Yard"))) as pilot:
        operations = pilot.app.operations
        yard = [lock for lock in await operations.locks.all() if lock.lock_id == 1004]
        async for one in operations.all_locks.read(locks=yard):
            assert not one.problem
        await pilot.press("f5")
        await until(pilot, lambda: ends(pilot)["Yard"] == "× 2 ! 1 ¡ 2 now")
        assert {one for name, one in ends(pilot).items() if name != "Yard"} == {"-"}
        demo.clock.now_s += 7 * DAY_MS / 1000
        await operations.writes.add_remote(new_remote(1004, "Anna"))
        row = [lock.title for lock in pilot.app.screen.query_one(LocksTable).locks].index("Yard")
        await pilot.press("f5", *["down"] * row)
        await until(pilot, lambda: ends(pilot)["Yard"] == "× 3 ¡ 2 7d!")
        await until(pilot, lambda: "before your last change: 3 expired" in words(pilot.app))
        await pilot.resize_terminal(119, 23)  # Textual resizes a moment later
        await until(pilot, lambda: "Expired" not in shown(pilot.app))
        assert "3 expired" not in words(pilot.app), "it is not read again here"


async def test_the_ages_of_a_book_that_is_left_open_go_on(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal_app, "MINUTE_S", 0.05)
    async with demo(size=(120, 29), locks=LOCKS[1:]) as pilot:
        async for one in pilot.app.operations.all_locks.read():
            assert not one.problem
        await pilot.press("f5")
        await until(pilot, lambda: ends(pilot)["Loading dock"].endswith(" now"))
        demo.clock.now_s += 3 * DAY_MS / 1000
        await until(pilot, lambda: ends(pilot)["Loading dock"].endswith(" 3d"))


@pytest.mark.long
async def test_what_ends_is_read_of_the_locks_in_sight(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with demo(
        size=(80, 23), locks=[Lock(number, name=f"gate {number}") for number in range(1, 101)]
    ) as pilot:
        kept_lists, asked = pilot.app.operations.kept_lists, list[int]()

        async def noted(lock_id: int) -> None:
            asked.append(lock_id)

        monkeypatch.setattr(kept_lists, "ends", noted)
        await press(pilot, "G", "g", "f5")
        assert not asked
        table = pilot.app.screen.query_one(LocksTable)
        await pilot.resize_terminal(120, 24)
        await until(pilot, lambda: {*asked} == {int(key) for key in table.in_sight})
        await settled(pilot)
        assert 10 < len({*asked}) < 24
        asked.clear()
        await press(pilot, "j", "k")
        assert not asked, "it knows them"
        await pilot.press("G")
        await until(pilot, lambda: {*asked} >= {int(key) for key in table.in_sight})
        await settled(pilot)
        assert len({*asked}) < 50 and 50 not in asked
        await pilot.press("slash", *"gate 50")
        await until(pilot, lambda: 50 in asked)


async def test_a_form_that_is_typed_ahead_has_the_name_and_the_zone_of_its_lock(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the profile's zone, what is typed into it would open hours longer than it should."""
    goes_on, find = asyncio.Event(), Locks.find

    async def late(self: Locks, lock_id: int) -> Lock:
        await goes_on.wait()
        return await find(self, lock_id)

    monkeypatch.setattr(Locks, "find", late)
    far = replace(LOCKS[0], zone="Asia/Shanghai")
    fill_book(demo, far)
    async with demo.app(far.lock_id).run_test(size=(80, 24)) as pilot:
        pilot.app.simulate_key("e")
        await until(pilot, lambda: "Omar Haddad" in words(pilot.app))
        assert isinstance(pilot.app.screen, RemotesScreen)
        goes_on.set()
        await until(pilot, lambda: isinstance(pilot.app.screen, RemoteForm))
        await settled(pilot)
        assert far.title in words(pilot.app) and "+08:00" in words(pilot.app)


async def test_book_says_what_to_do_when_its_last_lock_is_removed(demo: Demo) -> None:
    async with demo(locks=LOCKS[:1]) as pilot:
        table = pilot.app.screen.query_one(LocksTable)
        await press(pilot, "x")
        seen = await press(pilot, "tab", "enter")
        ids = [lock_id for lock_id, *_ in SAMPLES]
        assert "The lock book is empty" in seen and f"locks {min(ids)} to {max(ids)}" in seen
        assert not table.display and pilot.app.focused is table, "its keys still work"
        assert "No lock is listed" in await press(pilot, "enter")


async def test_search_narrows_the_book_and_enter_opens_the_lock(demo: Demo) -> None:
    async with demo(locks=LOCKS) as pilot:
        assert "None of the 4 locks matches “zzz”" in await press(pilot, "slash", *"zzz")
        await press(pilot, "escape")
        table = pilot.app.screen.query_one(LocksTable)
        assert table.row_count == 4 and table.has_focus
        assert "1 of 4 locks" in await press(pilot, "slash", *"nord 450")
        await press(pilot, "enter", "enter")
        assert isinstance(pilot.app.screen, RemotesScreen) and "Main gate" in shown(pilot.app)
        assert ("GET", "/api/v1/bluetooth-remote/list") in demo.service.requests
        await press_to(pilot, LocksScreen, "q")
        assert book_of(demo)[1001].opened_ms == NOW_MS, "the look was noted"


async def test_the_cursor_stays_on_its_lock_when_rows_move(demo: Demo) -> None:
    async with demo(locks=LOCKS) as pilot:
        table = pilot.app.screen.query_one(LocksTable)
        await pilot.press("G")
        assert table.selected == LOCKS[-1]
        fill_book(demo, Lock(1009, name="New", opened_ms=NOW_MS))
        await pilot.press("r")
        await until(pilot, lambda: table.row_count == 5)
        assert table.selected == LOCKS[-1]


async def test_removing_a_lock_asks_by_name_and_sends_nothing(demo: Demo) -> None:
    async with demo(locks=LOCKS) as pilot:
        seen = await press(pilot, "x")
        assert isinstance(pilot.app.screen, ConfirmModal)
        assert "Loading dock (lock 1002)" in seen and "Nothing will change at the service" in seen
        await press(pilot, "enter")  # "Keep it" has the focus
        assert 1002 in book_of(demo)
        await press(pilot, "x")
        await press(pilot, "tab", "enter")
        assert pilot.app.screen.query_one(LocksTable).row_count == 3
        assert set(book_of(demo)) == {1001, 1003, 1006}
        assert list(demo.service.requests) == []


@pytest.mark.long
async def test_an_unusable_store_is_said_and_a_lock_opens_by_its_id(demo: Demo) -> None:
    demo.directory.mkdir()
    (demo.directory / "state").write_text("no directory")
    async with demo() as pilot:
        assert "Local store" in words(pilot.app)
        assert "open a lock by its ID" in words(pilot.app)
        await pilot.press("a")
        await until(pilot, lambda: "The lock book cannot be read" in words(pilot.app))
        await pilot.press("escape", "o")
        await until(pilot, lambda: pilot.app.screen.is_modal)
        await pilot.pause()
        await pilot.press(*"x1", "enter")
        await until(pilot, lambda: "a whole number" in words(pilot.app))
        pilot.app.screen.query_one(Input).value = ""
        await press_to(pilot, RemotesScreen, *"1003", "enter")
        assert "Ines Duarte" in words(pilot.app)


async def test_a_lock_that_is_opened_by_its_id_can_be_added_to_the_book(demo: Demo) -> None:
    async with demo(locks=LOCKS[:1]) as pilot:
        await pilot.press("o")
        await until(pilot, lambda: pilot.app.screen.is_modal)
        await pilot.pause()
        await press_to(pilot, LockForm, *"1003", "tab", "tab", "tab", "enter")
        assert "1003" in shown(pilot.app)
        await press_to(pilot, LocksScreen, "ctrl+s")
        locks = await pilot.app.operations.locks.all()
        assert {one.lock_id for one in locks} == {LOCKS[0].lock_id, 1003}


async def test_open_lock_goes_straight_to_its_remotes(demo: Demo) -> None:
    async with demo(1003) as pilot:
        assert isinstance(pilot.app.screen, RemotesScreen)
        assert "9 remotes" in words(pilot.app)
        assert len(pilot.app.screen_stack) == 1, "no lock book is painted before it is seen"
        await pilot.press("escape")
        await until(pilot, lambda: "The lock book is empty" in words(pilot.app))


@pytest.mark.long
async def test_hostile_names_are_shown_and_do_nothing(demo: Demo) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in HOSTILE]
    locks = [
        Lock(number, name=text, alias=text, vendor=text, model="[/]", zone="[bold]x[/]")
        for number, text in enumerate(texts, 1)
    ]
    for size in ((80, 24), (60, 20), (200, 60)):
        async with demo(size=size, locks=locks) as pilot:
            await press(pilot, *["down"] * len(locks), "x")
            assert pilot.app.screen.is_modal
            assert all(char.isprintable() or char in "\n\u200d" for char in shown(pilot.app))
            await press(pilot, "escape", "ctrl+p")
            assert pilot.app.screen.is_modal
            await press(pilot, *"open", "escape")
            assert "[@click=app.quit]x[/]" in shown(pilot.app) or size[1] < 24
            assert pilot.app.is_running
