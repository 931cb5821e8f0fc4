"""The search of all locks, and what ends: what is found, where from, and what was not read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.domain import glyphs
from lockterm.domain.locks import Lock
from lockterm.domain.plan import Action
from lockterm.domain.text.remote import format_remote
from lockterm.domain.validity import RemoteState
from lockterm.errors import StoreError
from lockterm.operations.all_locks import LockRead
from lockterm.screens.all_locks import AllLocksSearchScreen, base, lock_lists
from lockterm.screens.all_locks.base import AllLocksScreen
from lockterm.screens.all_locks.expiring import MORE, DaysToCome, ExpiringScreen, bars, numbers
from lockterm.screens.all_locks.table import OnLocksTable
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.screens.modal import RefusedModal
from lockterm.screens.plan.opening import report_end
from lockterm.screens.plan.screen import PlanScreen
from lockterm.screens.remote_form import RemoteForm
from lockterm.screens.remote_form.marked import MarkedForm
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.detail import RemoteDetailScreen
from lockterm.widgets.form_field import FormField
from lockterm.widgets.text_input import FindLine
from tests.conftest import NOW_MS
from tests.long import telling
from tests.operations.runs.planning import execute, run_of
from tests.screens.running_app import Clock, Demo, Starter, notices, settled, until
from tests.screens.site import (
    DAY_MS,
    HOSTILE,
    HOUR_MS,
    LOCKS,
    canned,
    fill_book,
    press,
    press_each,
    press_to,
    shown,
    words,
)
from tests.screens.snapshots import assert_picture

YARD = Lock(1099, name="Yard")
"""A lock that the service does not know."""


def rows(pilot: Pilot[int]) -> list[tuple[int, int | None]]:
    """Lock and id of each remote that is shown, and None for a lock that was not read."""
    found = pilot.app.screen.query_one(OnLocksTable).rows
    return [(row.lock.lock_id, row.remote.id if row.remote else None) for row in found]


def current(pilot: Pilot[int]) -> tuple[int, int | None] | None:
    row = pilot.app.screen.query_one(OnLocksTable).current
    return None if row is None else (row.lock.lock_id, row.remote.id if row.remote else None)


def remote(remote_id: int, lock_id: int, name: str, **fields: Any) -> dict[str, Any]:
    named = {"remoteName": name, "remoteNumber": f"N-{remote_id}"}
    return {"id": remote_id, "lockId": lock_id, **named, "remoteType": 1, "status": 1, **fields}


def until_day(
    remote_id: int, lock_id: int, day: float, name: str = "", **fields: Any
) -> dict[str, Any]:
    """Return a remote that expires a number of days from now."""
    end_ms = NOW_MS + int(day * DAY_MS)
    period = {"remoteType": 2, "startDate": NOW_MS - 99 * DAY_MS, "endDate": end_ms}
    return remote(remote_id, lock_id, name or f"R{remote_id}", **period | fields)


class Site:
    """Locks 1, 2, ... and what they answer with: remotes, or what happens instead."""

    def __init__(self, **lists: list[dict[str, Any]]) -> None:
        self.lists = {int(name[1:]): remotes for name, remotes in lists.items()}
        self.silent: set[int] = set()
        """Locks that are never answered for."""
        self.broken: set[int] = set()
        """Locks for which a connection is reset."""
        self.asked: list[int] = []
        self.go_on = asyncio.Event()
        self.go_on.set()

    @asynccontextmanager
    async def running(self, starter: Starter) -> AsyncIterator[Any]:
        fill_book(starter, *[Lock(lock_id, name=f"Lock {lock_id}") for lock_id in self.lists])
        answers = {
            "remote/list": self._list,
            "remote/detail": self._detail,
            "remote/delete": self._delete,
        }
        async with canned(answers) as service:
            yield service

    @asynccontextmanager
    async def app(self, starter: Starter, **more: Any) -> AsyncIterator[Pilot[int]]:
        """A running app on the locks; arguments as for a ``Starter``."""
        async with self.running(starter) as service, starter(service, **more) as pilot:
            yield pilot

    async def _list(self, asked: dict[str, Any]) -> dict[str, Any] | None:
        lock_id = int(asked["lockId"])
        self.asked.append(lock_id)
        await self.go_on.wait()
        if lock_id in self.silent:
            await asyncio.Event().wait()
        if lock_id in self.broken:
            return None
        found = self.lists[lock_id]
        return {"errcode": 0, "data": {"list": found, "pages": 1, "total": len(found)}}

    async def _detail(self, asked: dict[str, Any]) -> dict[str, Any]:
        every = [one for found in self.lists.values() for one in found]
        found = next(one for one in every if one["id"] == int(asked["remoteId"]))
        return {"errcode": 0, "data": found}

    async def _delete(self, asked: dict[str, Any]) -> dict[str, Any]:
        await self.go_on.wait()
        for found in self.lists.values():
            found[:] = [one for one in found if one["id"] != asked["remoteId"]]
        return {"errcode": 0, "data": None}


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_it_looks_like(demo: Demo, size: tuple[int, int]) -> None:
    fill_book(demo, *LOCKS, YARD)
    at = f"{size[0]}x{size[1]}"
    async with demo(size=size) as pilot:
        await press(pilot, "F", *"zzzz", "ctrl+r", "enter")
        demo.clock.now_s += 3 * 3600
        await pilot.app.operations.writes.delete_remote(
            1003, await pilot.app.operations.remotes.detail(48247)
        )
        await press(pilot, "escape", "F", *"herrera", "ctrl+r", "enter", "j")
        assert_picture(pilot.app, f"everywhere-{at}")
        await press(pilot, "escape", "W", "j")
        assert_picture(pilot.app, f"ends-{at}")
        if size[1] < 36:  # a higher one shows the days by itself
            await press(pilot, "V")
            assert_picture(pilot.app, f"ends-days-{at}")


@pytest.mark.long
async def test_it_is_there_from_what_was_read_last_and_asks_nothing(
    lockterm_app: Starter, clock: Clock
) -> None:
    site = Site(
        L1=[remote(1, 1, "Anna Weber"), remote(2, 1, "Ben", extraData={"card": "5512-Ä"})],
        L2=[remote(3, 2, "Anna B"), remote(4, 2, "王小明")],
    )
    async with site.running(lockterm_app) as service:
        async with lockterm_app(service) as pilot:
            seen = await press(pilot, "F", *"anna")
            assert "No lock has been read yet" in seen and not site.asked
            seen = await press(pilot, "enter")
            assert "No lock has been read yet" in seen and not site.asked, "enter reads nothing"
            seen = await press(pilot, "ctrl+r")
            assert rows(pilot) == [(1, 1), (2, 3)]
            assert "2 on 2 locks" in seen and "2 of 2 locks read" in seen
        clock.now_s += 3 * 3600
        asked = len(site.asked)
        async with lockterm_app(service) as pilot:
            for needle, found in {
                "anna": [(1, 1), (2, 3)],
                "5512-ä": [(1, 2)],
                "小明": [(2, 4)],
                "weber anna": [(1, 1)],
                "anna ben": [],
            }.items():
                await press(pilot, "F", *needle)
                assert rows(pilot) == found, needle
                if found:
                    seen = words(pilot.app)
                    assert "3h" in seen and "read 3 h ago" in seen
                await press(pilot, "escape", "escape")
        assert len(site.asked) == asked, "letters ask nothing"


@pytest.mark.long
async def test_a_lock_without_an_answer_is_a_line_and_holds_nothing_up(
    lockterm_app: Starter, clock: Clock
) -> None:
    site = Site(L1=[remote(1, 1, "Anna")], L2=[remote(2, 2, "Anna")], L3=[remote(3, 3, "Anna")])
    async with site.running(lockterm_app) as service:
        async with lockterm_app(service, timeout_s=60) as pilot:
            await press(pilot, "F", *"anna", "ctrl+r", "enter")
            assert rows(pilot) == [(1, 1), (2, 2), (3, 3)]
        clock.now_s += 3600
        site.silent = {2}
        async with lockterm_app(service, timeout_s=0.3) as pilot:
            seen = await press(pilot, "F", *"anna", "ctrl+r", "enter")
            assert rows(pilot) == [(1, 1), (2, 2), (3, 3), (2, None)]
            assert "2 of 3 locks read, Lock 2: no answer" in seen
            assert "The remotes shown were read 60 min ago" in seen
            await press_to(pilot, RemotesScreen, "G", "enter")
            assert pilot.app.screen.lock_entry.lock_id == 2


async def test_the_cursor_stays_on_its_remote_when_what_is_fresh_comes(
    lockterm_app: Starter,
) -> None:
    site = Site(L1=[remote(1, 1, "Anna"), remote(2, 1, "Anna")], L2=[remote(3, 2, "Anna")])
    async with site.app(lockterm_app) as pilot:
        await press(pilot, "F", *"anna", "ctrl+r", "enter", "j")
        assert current(pilot) == (1, 2)
        site.lists[1] = [remote(n, 1, "Anna") for n in (9, 8, 7, 2)]
        await press(pilot, "r")
        assert rows(pilot) == [(1, 9), (1, 8), (1, 7), (1, 2), (2, 3)]
        assert current(pilot) == (1, 2)
        await press_to(pilot, RemoteDetailScreen, "enter")
        assert pilot.app.screen.remote_id == 2


async def test_keys_typed_ahead_open_the_remote_that_was_searched(lockterm_app: Starter) -> None:
    site = Site(L1=[remote(1, 1, "Anna"), remote(2, 1, "Daniel")])
    site.go_on.clear()
    async with site.app(lockterm_app) as pilot:
        typing = asyncio.ensure_future(pilot.press("F", *"dan", "ctrl+r", "enter", "enter"))
        await until(pilot, lambda: site.asked)
        assert pilot.app.screen.query_one(FindLine).value == "dan"
        site.go_on.set()
        await typing
        await until(pilot, lambda: isinstance(pilot.app.screen, RemoteDetailScreen))
        assert pilot.app.screen.remote_id == 2
        await settled(pilot)
        (lock,) = await pilot.app.operations.locks.all()
        assert lock.opened_ms is not None, "the lock was viewed"
        asked = len(site.asked)
        await press(pilot, "escape", "slash", "enter")
        assert isinstance(pilot.app.focused, OnLocksTable) and current(pilot) == (1, 2)
        assert len(site.asked) == asked, "a search reads nothing"


@pytest.mark.long
@pytest.mark.parametrize("screen", [AllLocksSearchScreen, ExpiringScreen])
async def test_keys_are_for_the_selected_remote_when_nothing_is_marked(
    demo: Demo, screen: type[AllLocksScreen]
) -> None:
    way = ("F", *"herrera", "ctrl+r", "enter") if screen is AllLocksSearchScreen else ("W",)
    async with demo(size=(60, 20), locks=LOCKS) as pilot:
        assert "Esc back" in await press(pilot, *way)
        await press(pilot, "j")
        before, on = rows(pilot), current(pilot)
        row = pilot.app.screen.query_one(OnLocksTable).current
        assert on is not None and row is not None and row.remote is not None
        name = (row.remote.remote_name or "").partition(",")[0]
        await press_to(pilot, RemoteForm, "w")
        edit = f"Edit {row.remote.remote_name}"
        assert pilot.app.screen.breadcrumbs()[1:] == (row.lock.title, "Remotes", edit)
        focused = pilot.app.focused
        assert focused is not None and focused.query_ancestor(FormField).field == "endDate"
        await press(pilot, "escape")
        asked = " ".join((await press(pilot, "d", "j")).replace("│", " ").split())
        assert f"Delete {name}" in asked and row.lock.title in asked
        await press(pilot, "escape", "d")
        # The cursor goes on meanwhile: what is deleted is what was asked about.
        await press(pilot, "D", "j")
        await until(pilot, lambda: isinstance(pilot.app.screen, screen))
        await until(pilot, lambda: on not in rows(pilot))
        assert rows(pilot) == [one for one in before if one != on]
        (done,) = await pilot.app.operations.journal.history()
        assert (done.call, done.lock_id, done.remote_id) == ("delete", *on)
        gone = current(pilot)  # and from its detail
        await press(pilot, "enter")
        await press_each(pilot, "d", "D")
        await until(pilot, lambda: isinstance(pilot.app.screen, screen))
        await until(pilot, lambda: rows(pilot) == [one for one in before if one not in (on, gone)])


@pytest.mark.long
async def test_notice_names_the_lock_of_a_remote_when_all_locks_are_shown(demo: Demo) -> None:
    async with demo(locks=LOCKS) as pilot:
        await press(pilot, "F", *"herrera", "ctrl+r", "enter")
        row = pilot.app.screen.query_one(OnLocksTable).current
        assert row is not None and row.remote is not None
        await press_each(pilot, "w", *"+40d", "ctrl+s")
        await press(pilot, "right", "enter")
        changed = f"Changed {format_remote(row.remote)} at {row.lock.title}:"
        await until(pilot, lambda: changed in notices(pilot))


@pytest.mark.long
@pytest.mark.parametrize(("key", "size"), [("F", (80, 24)), ("W", (60, 20))])
async def test_rows_show_their_delete_while_it_runs(
    lockterm_app: Starter, size: tuple[int, int], key: str
) -> None:
    """Two at once: the second begins while the first has no answer yet."""
    names = ("Anna", "Anna Maria", "Anna Lena")
    site = Site(L1=[until_day(n, 1, 1, name) for n, name in enumerate(names, 1)], L2=[])
    async with site.app(lockterm_app, size=size) as pilot:
        await press(pilot, key, *(["ctrl+r", *"anna", "enter"] if key == "F" else ["r"]))
        await until(pilot, lambda: len(rows(pilot)) == 3)
        site.go_on.clear()
        deleted = list[int | None]()
        for _ in range(2):
            deleted.append((current(pilot) or (0, None))[1])
            await pilot.press("d")
            await until(pilot, lambda: "State:" in words(pilot.app))
            modal = pilot.app.screen
            assert isinstance(modal, DestroyModal)
            # D counts for nothing before the question has been read and seen.
            await until(pilot, lambda modal=modal: modal.painted_s is not None)
            await pilot.press("D")
            await until(pilot, lambda: shown(pilot.app).count("deleting") == len(deleted))
            await pilot.press("j")
        site.go_on.set()
        await until(pilot, lambda: {one for _, one in rows(pilot)} == {1, 2, 3} - {*deleted})
        await until(pilot, lambda: "deleting" not in shown(pilot.app))


@pytest.mark.long
async def test_rows_show_weekdays_of_recurring_remotes(lockterm_app: Starter) -> None:
    since = {"startDate": NOW_MS - DAY_MS}
    plain = until_day(1, 1, 20, "Plain", **since)
    weekly = until_day(2, 1, 20, "Range", remoteType=4, weekDay=[1, 2, 3, 4, 5], **since)
    some = until_day(3, 1, 20, "Some", remoteType=4, weekDay=[1, 3, 5, 7], **since)

    def by_name(pilot: Pilot[int]) -> dict[str, str]:
        lines = shown(pilot.app).splitlines()[2:7]
        names = ("Plain", "Range", "Some", "Days")
        return {name: line for name in names for line in lines if name in line}

    async with Site(L1=[plain, weekly, some]).app(lockterm_app) as pilot:
        seen = await press(pilot, "F", "ctrl+r", *"n-", "enter", "j")
        lines = by_name(pilot)
        assert "until" in lines["Plain"] and "4 weekdays " in lines["Some"]
        assert "Mon-Fri to " in lines["Range"] and "Range · Mon-Fri · " in seen
        seen = await press(pilot, "escape", "escape", "W", "j")
        lines = by_name(pilot)
        assert "Range · Mon-Fri · " in seen and all(
            "in 20 days" in lines[one] for one in lines if one != "Days"
        )
        assert "Mon-Fri" in lines["Range"] and "Mon Wed" in lines["Some"]
        assert lines["Plain"].partition("N-1")[2].split() == ["now"]
        await pilot.resize_terminal(60, 20)
        await until(pilot, lambda: "Days" not in by_name(pilot))
        assert "in 20 days" in by_name(pilot)["Plain"], "the time left outranks the days"


async def test_expiring_shows_in_words_what_has_expired_in_a_narrow_terminal(
    lockterm_app: Starter,
) -> None:
    ends = {"Anna": -2, "Ben": 5, "Carla": -200}
    remotes = [
        remote(n, 1, name, remoteType=2, startDate=1, endDate=NOW_MS + days * DAY_MS)
        for n, (name, days) in enumerate(ends.items())
    ]
    site = Site(L1=remotes)
    async with site.running(lockterm_app) as service:
        fill_book(lockterm_app, Lock(1, name="North campus, building 12"))
        async with lockterm_app(service, size=(60, 20)) as pilot:
            seen = await press(pilot, "W")
            assert "! in 5 days North" in seen and " 2 days ago North" in seen
            assert " 200 d ago North" in seen and "Ben · ends 25 Nov 2026 · " in seen


@pytest.mark.long
@pytest.mark.parametrize("key", telling(["W"], ["F", "W"]))
async def test_hostile_names_are_shown_with_care(lockterm_app: Starter, key: str) -> None:
    dates = {"remoteType": 2, "startDate": NOW_MS - 9 * DAY_MS, "endDate": NOW_MS + HOUR_MS}
    found = [
        remote(n, 1, text, remoteNumber=text, extraData={text: text, "k": 1}, **dates)
        for n, text in enumerate(HOSTILE, 1)
    ]
    site = Site(L1=found)
    fill_book(lockterm_app, Lock(1, name=HOSTILE[3]))
    async with site.running(lockterm_app) as service:
        fill_book(lockterm_app, Lock(1, name=HOSTILE[3]))
        async with lockterm_app(service) as pilot:
            await press(pilot, key, *(("k", "ctrl+r", "enter") if key == "F" else ()))
            assert len(rows(pilot)) == len(HOSTILE)
            for _ in HOSTILE:
                await press(pilot, "j")
                text = shown(pilot.app)
                assert all(char.isprintable() or char == "\n" for char in text)


@pytest.mark.long
async def test_expiring_shows_ends_by_day_and_span(
    lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_lists, "PROGRESS_S", 3600)  # else the cursor stands on what came first

    permanent = until_day(4, 1, -2, remoteType=1)
    site = Site(
        L1=[*(until_day(n, 1, day) for n, day in enumerate((20, -2, 31), 1)), permanent],
        L2=[until_day(5, 2, 5, remoteType=4, weekDay=[1]), until_day(6, 2, -9)],
    )
    async with site.running(lockterm_app) as service:
        async with lockterm_app(service) as pilot:
            seen = await press(pilot, "W")
            assert isinstance(pilot.app.screen, ExpiringScreen)
            assert "[all 4] expired 2 within 7 days 1 within 30 days 2" in seen
            assert rows(pilot) == [(2, 5), (1, 1), (1, 2), (2, 6)]
            assert current(pilot) == (2, 5), "the first of them, not of what was there before"
            spans = []
            for _ in range(3):
                await press(pilot, "n")
                spans.append(rows(pilot))
            assert spans == [[(1, 2), (2, 6)], [(2, 5)], [(2, 5), (1, 1)]]
            await press(pilot, "p", "p", "slash", *"r6", "down")
            assert rows(pilot) == [(2, 6)]
            await press_to(pilot, RemoteDetailScreen, "enter")
        asked = len(site.asked)
        async with lockterm_app(service) as pilot:
            await press(pilot, "W")
            assert len(rows(pilot)) == 4
            assert len(site.asked) == asked, "it was read just now"


async def test_expiring_row_becomes_expired_in_place(lockterm_app: Starter, clock: Clock) -> None:
    site = Site(L1=[until_day(1, 1, 100_000 / DAY_MS), until_day(2, 1, 5)])
    async with site.app(lockterm_app) as pilot:
        seen = await press(pilot, "W", "n", "n")
        assert "expired 0 [within 7 days 2]" in seen and "Lock 1 read just now" in seen
        assert current(pilot) == (1, 1)
        asked = len(site.asked)
        clock.now_s += 13 * 60
        pilot.app.screen.refresh_relative_times()
        await settled(pilot)
        seen = words(pilot.app)
        assert "expired 1 [within 7 days 1]" in seen and "Lock 1 read 13 min ago" in seen
        assert "1 < 7 days, 1 disagree" in seen
        table = pilot.app.screen.query_one(OnLocksTable)
        lines = ["".join(text for text, _ in table.line(row)).split() for row in (0, 1)]
        assert [line[-1] for line in lines] == ["13m", "13m"] and lines[0][
            0
        ] == RemoteState.DISAGREE.sign
        assert rows(pilot) == [(1, 1), (1, 2)] and current(pilot) == (1, 1)
        assert len(site.asked) == asked


@pytest.mark.long
@pytest.mark.parametrize(
    ("size", "room", "cells", "many"),
    [((60, 20), 24, 1, "^"), ((80, 24), 10, 2, "^"), ((120, 29), 16, 3, "13")],
)
async def test_what_ends_is_also_days_to_come(
    lockterm_app: Starter, size: tuple[int, int], room: int, cells: int, many: str
) -> None:
    site = Site(
        L1=[until_day(n, 1, day) for n, day in enumerate((-3, 5, 20), 1)],
        L2=[until_day(n, 2, 5) for n in range(10, 22)],
    )
    async with site.app(lockterm_app, size=size) as pilot:

        def cell(label: str, day: int) -> str:
            line = next(one for one in shown(pilot.app).splitlines() if one[1:].startswith(label))
            return line.ljust(size[0])[1 + room + day * cells :][:cells].strip()

        seen = await press(pilot, "W", "V")
        assert "all 14 " in seen and "20 Nov" in seen
        assert (cell("all 14", 5), cell("all 14", 20), cell("all 14", 6)) == (many, "1", "·")
        assert len(rows(pilot)) == 15
        assert "R10" in seen, "the rows are there, too"
        if size[1] > 20:
            assert (cell("Lock 1", 5), cell("Lock 2", 5)) == ("1", many.replace("3", "2"))
        assert "all 14 " not in await press(pilot, "V")


def test_the_signs_of_the_days_to_come_are_apart_in_ascii() -> None:
    glyphs.use(glyphs.ASCII)
    monday = date(2026, 11, 23)
    signs = [*bars([1, 2, 3, 4], 1), numbers(monday, [0], 1), numbers(monday, [10], 1)]
    assert len(set(signs)) == len(signs) == 6
    assert MORE not in [state.sign for state in RemoteState]


@pytest.mark.long
async def test_days_ahead_leaves_out_a_removed_lock(
    lockterm_app: Starter,
) -> None:
    """The book was read again, and what is found in it is not shown yet."""
    site = Site(**{f"L{n}": [until_day(n, n, 5)] for n in (1, 2, 3)})
    async with site.app(lockterm_app) as pilot:

        def days() -> list[str]:
            told = str(pilot.app.screen.query_one(DaysToCome).render())
            return [line[:6] for line in told.splitlines() if line.startswith("Lock")]

        await press(pilot, "W", "V")
        screen = pilot.app.screen
        assert isinstance(screen, ExpiringScreen) and days() == ["Lock 1", "Lock 2", "Lock 3"]
        await pilot.app.operations.locks.remove(1)
        await screen.lock_lists.load()
        await press(pilot, "V", "V")
        await until(pilot, lambda: days() == ["Lock 2", "Lock 3"])


async def test_search_does_not_lay_out_chart_of_same_height(
    lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    layouts: list[bool] = []
    refresh = DaysToCome.refresh

    def noting(self: DaysToCome, *regions: Any, layout: bool = False, **options: Any) -> DaysToCome:
        layouts.append(layout)
        return refresh(self, *regions, layout=layout, **options)

    site = Site(L1=[until_day(1, 1, 5, "Anna"), until_day(2, 1, 6, "Ben")])
    async with site.app(lockterm_app, size=(80, 24)) as pilot:
        assert "all 2 " in await press(pilot, "W", "V", "slash")
        monkeypatch.setattr(DaysToCome, "refresh", noting)
        assert "all 1 " in await press(pilot, *"anna")
        assert layouts and not any(layouts)


@pytest.mark.long
async def test_filter_shows_one_state_of_the_results(lockterm_app: Starter) -> None:
    def anna(remote_id: int, lock_id: int, day: float, status: int) -> dict[str, Any]:
        return until_day(remote_id, lock_id, day, "Anna", status=status)

    site = Site(
        L1=[anna(1, 1, -3, 2), anna(2, 1, 5, 1), remote(3, 1, "Anna", isCoerced=1)],
        L2=[anna(4, 2, -3, 1), anna(5, 2, -1, 2), remote(6, 2, "Ben", status=2)],
    )
    async with site.app(lockterm_app, size=(100, 24)) as pilot:
        seen = await press(pilot, "F", "ctrl+r", "enter", "i")
        assert "& coerced" in seen and "coerced:" not in seen, "not that it is 0"
        seen = await press(pilot, "escape", "slash", *"anna", "enter")
        assert "· 2 expired, 1 within 7 days, 1 disagree" in seen
        seen = await press(pilot, "i")
        assert "× expired: 2" in seen and "& coerced: 1" in seen
        seen = await press(pilot, "j", "enter")
        assert rows(pilot) == [(1, 1), (2, 5)] and "expired: 2 on 2 locks" in seen
        await press(pilot, "i", "G", "enter")
        assert rows(pilot) == [(1, 3)]
        seen = await press(pilot, "i", *["k"] * 3, "enter")
        assert rows(pilot) == [] and "matches “anna” and the state “upcoming”" in seen
        # With nothing typed it is all that was stored; escape shows all again, then goes.
        await press(pilot, "slash", *["backspace"] * 4, "enter", "i", "G", "k", "enter")
        assert rows(pilot) == [(2, 6)], "unclear"
        await press(pilot, "slash", *"ben", "enter")
        assert rows(pilot) == [(2, 6)]
        assert "1 on 1 lock ·" in await press(pilot, "escape") and rows(pilot) == [(2, 6)]
        seen = await press(pilot, "escape", "W", "i", "j", "enter")
        assert rows(pilot) == [(2, 5), (1, 1)] and "[all 4] expired 3" in seen
        await press(pilot, "escape")
        assert rows(pilot) == [(1, 2), (2, 5), (1, 1), (2, 4)]
        await press(pilot, "n")
        assert "expired: 2" in await press(pilot, "i")
        await press(pilot, "j", "enter", "n")
        seen = await press(pilot, "i")
        assert "[within 7 days 1]" in seen
        assert "expires within 7 days:" not in seen, "counts of the span before"


@pytest.mark.long
async def test_what_comes_is_shown_while_more_comes_and_one_state_alone_is_shown(
    lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """News do not stop what is being found."""
    monkeypatch.setattr(lock_lists, "PROGRESS_S", 0)
    monkeypatch.setattr(lock_lists, "SLICE_S", 0)
    lists = {
        f"L{n}": [remote(n * 10 + i, n, "Anna", isCoerced=1) for i in range(9)] for n in (1, 2)
    }
    site, seen = Site(**lists), list[bool]()
    async with site.app(lockterm_app) as pilot:
        await press(pilot, "F", "ctrl+r", *"anna", "enter", "i", "G", "enter")
        assert len(rows(pilot)) == 18
        everywhere = pilot.app.operations.all_locks
        for found in site.lists.values():
            del found[1:]
        first, second = sorted([one async for one in everywhere.read()], key=lambda one: one.place)

        async def reads(**_: object) -> AsyncIterator[LockRead]:
            for _ in range(500):
                if len(rows(pilot)) > 10:
                    yield second
                    await asyncio.sleep(0)
            seen.append(len(rows(pilot)) == 10)
            yield first  # and then nothing more for long
            for _ in range(500):
                if len(rows(pilot)) > 2:
                    await asyncio.sleep(0)
            seen.append(rows(pilot) == [(1, 10), (2, 20)])

        monkeypatch.setattr(everywhere, "read", reads)
        await press(pilot, "ctrl+r")
        assert seen == [True, True], "it was shown before the reading was over"


@pytest.mark.long
async def test_filter_looks_at_no_more_remotes_than_its_limit(
    lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "MOST_LOOKED_AT", 3)
    site = Site(L1=[remote(n, 1, "Anna", isCoerced=int(n in (2, 5))) for n in range(1, 7)])
    async with site.app(lockterm_app) as pilot:
        seen = await press(pilot, "F", "ctrl+r", *"anna", "enter", "i", "G", "enter")
        assert rows(pilot) == [(1, 2)] and "coerced: the first 1 on 1 lock" in seen


@pytest.mark.long
async def test_screens_of_all_locks_say_that_the_book_is_empty(demo: Demo) -> None:
    empty = "The lock book is empty"
    async with demo() as pilot:
        assert empty in await press(pilot, "F", *"anna", "ctrl+r", "enter")
        assert empty in await press(pilot, "o") and empty in await press(pilot, "r"), "People"
        await press(pilot, *["escape"] * 3)
        assert empty in await press(pilot, "W")
        await press_to(pilot, RefusedModal, "enter")


async def test_marked_ones_of_several_locks_go_into_one_plan(lockterm_app: Starter) -> None:
    site = Site(
        L1=[remote(1, 1, "Anna"), remote(2, 1, "Annabel")],
        L2=[remote(3, 2, "Anna")],
        L3=[remote(4, 3, "Anna")],
    )
    site.broken = {3}
    async with site.app(lockterm_app) as pilot:
        seen = await press(pilot, "F", *"anna", "ctrl+r", "enter", "m")
        assert "Nothing marked" in seen
        seen = await press(pilot, "escape", "space", "j", "space")
        assert current(pilot) == (3, None), "the cursor goes down"
        assert "2 marked" in seen
        await press(pilot, "slash", *"bel")
        assert rows(pilot) == [(1, 2), (3, None)]
        assert "2 marked, 2 not shown" in words(pilot.app)
        await press_to(pilot, PlanScreen, "down", "d")
        drawn = pilot.app.screen.drawn
        planned = (one for one in drawn.plan.steps if one.is_planned)
        steps = [(one.action, one.lock_id, one.remote_id) for one in planned]
        assert steps == [(Action.DELETE, 1, 1), (Action.DELETE, 2, 3)]
        assert [(one.lock_id, one.message.partition(".")[0]) for one in drawn.left] == [
            (3, "Not reached")
        ]
        assert "2 marked" in await press(pilot, "escape")
        await press_to(pilot, MarkedForm, "w")
        await press(pilot, "escape")
        await press(pilot, "U")
        pilot.app.clear_notifications()
        await until(pilot, lambda: "marked" not in shown(pilot.app).splitlines()[-2])
        await press(pilot, "U")
        assert "2 marked" in shown(pilot.app).splitlines()[-2]


@pytest.mark.long
async def test_marks_stay_when_rows_move_and_no_range_ends_at_an_unread_lock(
    lockterm_app: Starter,
) -> None:
    site = Site(L1=[remote(n, 1, "Anna") for n in range(1, 9)], L2=[remote(9, 2, "Anna")])
    site.broken = {2}
    async with site.app(lockterm_app) as pilot:
        seen = await press(pilot, "F", *"anna", "ctrl+r", "enter", "asterisk")
        assert "8 marked" in seen, "not the lock that was not read"
        await press(pilot, "asterisk", "g", "j", "j", "j", "j", "space", "G")
        assert current(pilot) == (2, None)
        seen = await press(pilot, "S")
        assert "The selected row has no remote with an ID." in seen
        assert isinstance(pilot.app.screen, AllLocksSearchScreen)
        site.lists[1].reverse()
        await press(pilot, "r")
        assert [one.id for _, one in pilot.app.screen.marks.rows] == [5]
        await press(pilot, "g", "j", "S")
        assert [one.id for _, one in pilot.app.screen.marks.rows] == [5, 6, 7]


@pytest.mark.long
async def test_run_unmarks_the_remotes_that_it_deleted_and_reads_their_lock_again(
    demo: Demo,
) -> None:
    async with demo(locks=LOCKS) as pilot:
        await press(pilot, "F", *"herrera", "ctrl+r", "enter")
        everywhere = pilot.app.screen
        assert isinstance(everywhere, AllLocksSearchScreen)
        before, gone = rows(pilot), current(pilot)
        await press(pilot, "space", "d")
        run = run_of(pilot.app.operations, pilot.app.screen.drawn.plan)
        await execute(pilot.app.operations, run)
        report_end(pilot.app, run)
        await until(pilot, lambda: len(everywhere.rows) < len(before))
        await press(pilot, "escape")
        assert rows(pilot) == [row for row in before if row != gone] and not everywhere.marks


async def test_what_a_run_has_changed_is_behind_until_it_is_read(lockterm_app: Starter) -> None:
    site = Site(L1=[remote(1, 1, "Anna")], L2=[remote(2, 2, "Anna")])
    async with site.app(lockterm_app) as pilot:
        await press(pilot, "F", *"anna", "ctrl+r", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, AllLocksSearchScreen)
        site.go_on.clear()
        asked = len(site.asked)
        screen.read_changed({2, 77})
        await until(pilot, lambda: len(site.asked) > asked)
        await until(pilot, lambda: [row.read for row in screen.rows] == ["now", "now!"])
        screen.read_changed({1})  # while another one is read
        site.go_on.set()
        await settled(pilot)
        assert site.asked[asked:] == [2, 1]
        assert [row.read for row in screen.rows] == ["now", "now"]


@pytest.mark.long
async def test_a_reading_that_was_replaced_does_not_end_the_one_after_it(
    lockterm_app: Starter,
) -> None:
    site = Site(L1=[remote(1, 1, "Anna")])
    async with site.app(lockterm_app) as pilot:
        await press(pilot, "F", *"anna", "ctrl+r", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, AllLocksSearchScreen)
        site.go_on.clear()
        for _ in range(2):
            asked = len(site.asked)
            await pilot.press("r")
            await until(pilot, lambda asked=asked: len(site.asked) > asked)
        assert screen.lock_lists.is_reading
        assert "reading: 0 of 1 locks" in words(pilot.app)
        site.go_on.set()
        await settled(pilot)
        assert not screen.lock_lists.is_reading


async def test_a_plan_to_delete_names_the_locks_that_are_still_being_read(
    lockterm_app: Starter,
) -> None:
    site = Site(L1=[remote(1, 1, "Anna")], L2=[remote(2, 2, "Anna")])
    async with site.app(lockterm_app) as pilot:
        await press(pilot, "F", *"anna", "ctrl+r", "enter")
        site.go_on.clear()
        await pilot.press("ctrl+r")
        await until(pilot, lambda: len(site.asked) > 3)
        plan = await press_to(pilot, PlanScreen, "asterisk", "d")
        assert [(one.lock_id, one.message.partition(".")[0]) for one in plan.drawn.left] == [
            (1, "The lock was still being read"),
            (2, "The lock was still being read"),
        ]
        site.go_on.set()
        await settled(pilot)


@pytest.mark.long
async def test_of_a_lock_that_left_the_book_nothing_stays_marked(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(**_: object) -> AsyncIterator[LockRead]:
        raise StoreError("The disk is full.", hint="Free some disk space.")
        yield

    async with demo(locks=LOCKS) as pilot:
        await press(pilot, "F", "ctrl+r", "a", "enter", "asterisk")
        screen, operations = pilot.app.screen, pilot.app.operations
        assert isinstance(screen, AllLocksSearchScreen)
        first = LOCKS[0].lock_id
        assert any(lock_id == first for lock_id, _ in screen.marks.rows)
        with monkeypatch.context() as broken:
            broken.setattr(operations.all_locks, "read", fails)
            await press(pilot, "ctrl+r")
        await operations.locks.remove(first)
        await press(pilot, "ctrl+r")
        assert screen.marks and all(lock_id != first for lock_id, _ in screen.marks.rows)
        await press_to(pilot, PlanScreen, "d")
