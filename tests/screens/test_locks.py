"""The lock book on the screen: finding, opening, removing, and what it says without one."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lockterm.app import terminal_app
from lockterm.domain.locks import Lock
from lockterm.operations.locks import Locks
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.locks import LocksScreen
from lockterm.screens.locks.form import LockForm
from lockterm.screens.locks.table import LocksTable
from lockterm.screens.remote_form import RemoteForm
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from lockterm.service.sample_data import LOCKS as SAMPLES
from tests.conftest import NOW_MS
from tests.faults.calls import new_remote
from tests.screens import someone_else
from tests.screens.running_app import Clock, Starter, settled, until
from tests.screens.site import DAY_MS, HOSTILE, LOCKS, book_of, fill_book, shown, words
from tests.screens.snapshots import assert_picture


async def test_the_book_as_a_picture(lockterm_app: Starter, service: RunningService) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
        assert_picture(pilot.app, "locks-80x24")


async def test_the_last_opened_is_first_and_ages_are_in_words(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service, size=(120, 29)) as pilot:
        rows = shown(pilot.app).splitlines()[2:6]
        assert [row.split()[0] for row in rows] == ["Loading", "Server", "Main", "化学品仓库"]
        assert [row.split("  ")[-1].strip() for row in rows] == [
            "20 minutes ago",
            "30 hours ago",
            "3 days ago",
            "not yet",
        ]
        assert "Asia/Shanghai" in rows[3]


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


async def test_columns_without_any_value_leave_their_room_to_the_names(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, Lock(1001, name="A gate with a rather long name"), Lock(1002))
    async with lockterm_app(service, size=(60, 20)) as pilot:
        assert "A gate with a rather long name" in shown(pilot.app)
        titles = shown(pilot.app).splitlines()[1].split()
        assert titles == ["Name", "ID", "Remotes", "Last", "viewed"]


@pytest.mark.long
async def test_wide_book_shows_expiring_counts_and_their_age(
    lockterm_app: Starter, service: RunningService, clock: Clock
) -> None:
    fill_book(lockterm_app, *LOCKS[1:], Lock(1004, name="Yard"), Lock(1005, name="Shed"))
    since = {"remoteType": 2, "startDate": NOW_MS - 90 * DAY_MS}
    for days in (-2, -1, 6, 20, 25, 40):
        someone_else.add(service, 1004, f"{days}", endDate=NOW_MS + days * DAY_MS, **since)
    someone_else.add(service, 1004, "always")
    async with lockterm_app(service, size=(120, 29)) as pilot:
        operations, count = pilot.app.operations, len(service.requests)
        assert {*ends(pilot).values()} == {"-"}
        yard = [lock for lock in await operations.locks.all() if lock.lock_id == 1004]
        async for one in operations.everywhere.read(locks=yard):
            assert not one.problem
        assert len(service.requests) == count + 1
        await pilot.press("f5")
        told = "× 2 ! 1 ¡ 2 now"
        await until(pilot, lambda: ends(pilot)["Yard"] == told)
        assert {one for name, one in ends(pilot).items() if name != "Yard"} == {"-"}
        clock.now_s += 3 * DAY_MS / 1000
        row = [lock.title for lock in pilot.app.screen.query_one(LocksTable).locks].index("Yard")
        await pilot.press("f5", *["down"] * row)
        words_of_it = "read 3 d ago: 2 expired, 1 within 7 days, 2 within 30 days"
        await until(pilot, lambda: ends(pilot)["Yard"] == "× 2 ! 1 ¡ 2 3d")
        await until(pilot, lambda: words_of_it in words(pilot.app))
        clock.now_s += 4 * DAY_MS / 1000
        await operations.writes.add_remote(new_remote(1004, "Anna"))
        await pilot.press("f5")
        await until(pilot, lambda: ends(pilot)["Yard"] == "× 3 ¡ 2 7d!")
        await until(pilot, lambda: "before your last change: 3 expired" in words(pilot.app))
        await pilot.resize_terminal(119, 23)  # Textual resizes a moment later
        await until(pilot, lambda: "Expired" not in shown(pilot.app))
        assert "3 expired" not in words(pilot.app), "it is not read again here"


async def test_the_ages_of_a_book_that_is_left_open_go_on(
    lockterm_app: Starter, service: RunningService, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal_app, "MINUTE_S", 0.05)
    fill_book(lockterm_app, *LOCKS[1:])
    async with lockterm_app(service, size=(120, 29)) as pilot:
        async for one in pilot.app.operations.everywhere.read():
            assert not one.problem
        await pilot.press("f5")
        await until(pilot, lambda: ends(pilot)["Loading dock"].endswith(" now"))
        clock.now_s += 3 * DAY_MS / 1000
        await until(pilot, lambda: ends(pilot)["Loading dock"].endswith(" 3d"))


@pytest.mark.long
async def test_what_ends_is_read_of_the_locks_in_sight(
    lockterm_app: Starter, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_book(lockterm_app, *[Lock(number, name=f"gate {number}") for number in range(1, 101)])
    async with lockterm_app(service, size=(80, 23)) as pilot:
        remotes, asked = pilot.app.operations.remotes, list[int]()

        async def noted(lock_id: int) -> None:
            asked.append(lock_id)

        monkeypatch.setattr(remotes, "ends", noted)
        await pilot.press("G", "g", "f5")
        await settled(pilot)
        assert not asked
        table = pilot.app.screen.query_one(LocksTable)
        await pilot.resize_terminal(120, 24)
        await until(pilot, lambda: {*asked} == {int(key) for key in table.in_sight})
        await settled(pilot)
        assert 10 < len({*asked}) < 24
        asked.clear()
        await pilot.press("j", "k")
        await settled(pilot)
        assert not asked, "it knows them"
        await pilot.press("G")
        await until(pilot, lambda: {*asked} >= {int(key) for key in table.in_sight})
        await settled(pilot)
        assert len({*asked}) < 50 and 50 not in asked
        await pilot.press("slash", *"gate 50")
        await until(pilot, lambda: 50 in asked)


@pytest.mark.long
async def test_an_age_is_whole_beside_a_long_name(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(
        lockterm_app, replace(LOCKS[1], name="Loading dock of the northern warehouse, gate 4")
    )
    async with lockterm_app(service) as pilot:
        assert "20 minutes ago" in shown(pilot.app)


async def test_a_form_that_is_typed_ahead_has_the_name_and_the_zone_of_its_lock(
    lockterm_app: Starter, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the profile's zone, what is typed into it would open hours longer than it should."""
    goes_on, find = asyncio.Event(), Locks.find

    async def late(self: Locks, lock_id: int) -> Lock:
        await goes_on.wait()
        return await find(self, lock_id)

    monkeypatch.setattr(Locks, "find", late)
    far = replace(LOCKS[0], zone="Asia/Shanghai")
    fill_book(lockterm_app, far)
    async with lockterm_app.app(service, far.lock_id).run_test(size=(80, 24)) as pilot:
        pilot.app.simulate_key("e")
        await until(pilot, lambda: "Omar Haddad" in words(pilot.app))
        assert isinstance(pilot.app.screen, RemotesScreen)
        goes_on.set()
        await until(pilot, lambda: isinstance(pilot.app.screen, RemoteForm))
        await settled(pilot)
        assert far.title in words(pilot.app) and "+08:00" in words(pilot.app)


async def test_an_empty_book_says_what_to_do(
    lockterm_app: Starter, service: RunningService
) -> None:
    async with lockterm_app(service) as pilot:
        assert "The lock book is empty" in words(pilot.app)
        ids = [lock_id for lock_id, *_ in SAMPLES]
        assert f"the locks {min(ids)} to {max(ids)}" in words(pilot.app)
        await pilot.press("enter")
        await until(pilot, lambda: "No lock is selected" in words(pilot.app))


async def test_finding_narrows_and_enter_opens_that_lock(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
        await pilot.press("slash", *"nord 450")
        await until(pilot, lambda: "1 of 4 locks" in shown(pilot.app))
        await pilot.press("enter", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RemotesScreen))
        await settled(pilot)
        assert "Main gate" in shown(pilot.app)
        assert ("GET", "/api/v1/bluetooth-remote/list") in service.requests
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, LocksScreen))
        await settled(pilot)
        assert book_of(lockterm_app)[1001].opened_ms == NOW_MS, "the look was noted"


async def test_table_keeps_the_focus_while_it_is_empty(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, LOCKS[0])
    async with lockterm_app(service) as pilot:
        table = pilot.app.screen.query_one(LocksTable)
        assert table.has_focus
        await pilot.press("x")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        await pilot.pause()
        await pilot.press("tab", "enter")
        await until(pilot, lambda: "The lock book is empty" in words(pilot.app))
        await settled(pilot)
        assert not table.display
        assert pilot.app.screen.focused is table


async def test_nothing_matches_says_so_and_escape_shows_all(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
        await pilot.press("slash", *"zzz")
        await until(pilot, lambda: "None of the 4 locks matches “zzz”" in words(pilot.app))
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen.query_one(LocksTable).row_count == 4)
        assert pilot.app.screen.query_one(LocksTable).has_focus


async def test_the_cursor_stays_on_its_lock_when_rows_move(
    lockterm_app: Starter, service: RunningService, clock: Clock
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
        table = pilot.app.screen.query_one(LocksTable)
        await pilot.press("G")
        assert table.selected == LOCKS[-1]
        fill_book(lockterm_app, Lock(1009, name="New", opened_ms=NOW_MS))
        await pilot.press("r")
        await until(pilot, lambda: table.row_count == 5)
        assert table.selected == LOCKS[-1]


async def test_removing_asks_by_name_and_sends_nothing(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
        table = pilot.app.screen.query_one(LocksTable)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        await settled(pilot)
        assert "Loading dock (lock 1002)" in words(pilot.app)
        assert "Nothing will change at the service" in words(pilot.app)
        await pilot.press("enter")  # "Keep it" has the focus
        await settled(pilot)
        assert 1002 in book_of(lockterm_app)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        await pilot.pause()
        await pilot.press("tab", "enter")
        await until(pilot, lambda: table.row_count == 3)
        await settled(pilot)
        assert set(book_of(lockterm_app)) == {1001, 1003, 1006}
        assert list(service.requests) == []


@pytest.mark.long
async def test_an_unusable_store_is_said_and_a_lock_opens_by_its_id(
    lockterm_app: Starter, service: RunningService
) -> None:
    lockterm_app.directory.mkdir()
    (lockterm_app.directory / "state").write_text("no directory")
    async with lockterm_app(service) as pilot:
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
        await pilot.press(*"1003", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RemotesScreen))
        await settled(pilot)
        assert "Ines Duarte" in words(pilot.app)


async def test_a_lock_that_is_opened_by_its_id_can_be_added_to_the_book(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS[:1])
    async with lockterm_app(service) as pilot:
        await pilot.press("o")
        await until(pilot, lambda: pilot.app.screen.is_modal)
        await pilot.pause()
        await pilot.press(*"1003", "tab", "tab", "tab", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LockForm))
        await settled(pilot)
        assert "1003" in shown(pilot.app)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(pilot.app.screen, LocksScreen))
        await settled(pilot)
        locks = await pilot.app.operations.locks.all()
        assert {one.lock_id for one in locks} == {LOCKS[0].lock_id, 1003}


async def test_open_lock_goes_straight_to_its_remotes(
    lockterm_app: Starter, service: RunningService
) -> None:
    async with lockterm_app(service, open_lock=1003) as pilot:
        assert isinstance(pilot.app.screen, RemotesScreen)
        assert "9 remotes" in words(pilot.app)
        assert len(pilot.app.screen_stack) == 1, "no lock book is painted before it is seen"
        await pilot.press("escape")
        await until(pilot, lambda: "The lock book is empty" in words(pilot.app))


@pytest.mark.long
async def test_hostile_names_are_shown_and_do_nothing(
    lockterm_app: Starter, service: RunningService
) -> None:
    locks = [
        Lock(
            number,
            name=text.encode("utf-8", "replace").decode(),
            alias=text.encode("utf-8", "replace").decode(),
            vendor=text.encode("utf-8", "replace").decode(),
            model="[/]",
            zone="[bold]x[/]",
        )
        for number, text in enumerate(HOSTILE, 1)
    ]
    fill_book(lockterm_app, *locks)
    for size in ((80, 24), (60, 20), (200, 60)):
        async with lockterm_app(service, size=size) as pilot:
            for _ in locks:
                await pilot.press("down")
            await pilot.press("x")
            await until(pilot, lambda: pilot.app.screen.is_modal)
            await settled(pilot)
            assert all(char.isprintable() or char in "\n\u200d" for char in shown(pilot.app))
            await pilot.press("escape", "ctrl+p")
            await until(pilot, lambda: pilot.app.screen.is_modal)
            await pilot.press(*"open", "escape")
            await settled(pilot)
            assert "[@click=app.quit]x[/]" in shown(pilot.app) or size[1] < 24
            assert pilot.app.is_running
