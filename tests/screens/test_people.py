"""The screen People: who can open what, in every state, and what leads there and on."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.domain import people as domain
from lockterm.domain.listing import Block, Listing
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import Remote
from lockterm.errors import StoreError
from lockterm.screens.all_locks import AllLocksSearchScreen, people
from lockterm.screens.all_locks.people import PeopleScreen, PeopleTable
from lockterm.screens.all_locks.search import PersonScreen
from lockterm.store.lock_book import Locks
from lockterm.widgets.data_status import Pager
from tests.conftest import NOW_MS
from tests.long import telling
from tests.screens.running_app import Clock, Demo, Starter, until
from tests.screens.site import DAY_MS, HOSTILE, LOCKS, fill_book, press, press_to, words
from tests.screens.snapshots import assert_picture
from tests.screens.test_all_locks import YARD, Site, remote, rows

ENDS = {"remoteType": 2, "startDate": 1, "endDate": NOW_MS + 5 * DAY_MS}


def names(pilot: Pilot[int]) -> list[str]:
    table = pilot.app.screen.query_one(PeopleTable)
    return [key.partition("\n")[0] for key in table.in_sight]


def two_locks() -> Site:
    return Site(
        L1=[
            remote(1, 1, "Anna Weber"),
            remote(2, 1, "Ben", **ENDS),
            remote(3, 1, "anna weber"),
        ],
        L2=[remote(1, 2, "Anna Weber"), remote(5, 2, "王小明", **ENDS | {"endDate": 2})],
    )


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_it_looks_like(demo: Demo, clock: Clock, size: tuple[int, int]) -> None:
    demo.fill_book(*LOCKS, YARD)
    at = f"{size[0]}x{size[1]}"
    async with demo(size=size) as pilot:
        await press(pilot, "F", "ctrl+r", "enter", "o")
        clock.now_s += 3 * 3600
        await press(pilot, "ctrl+r", "j", "j")
        assert_picture(pilot.app, f"people-{at}")


@pytest.mark.parametrize("size", telling([(80, 24)], [(80, 24), (60, 20), (120, 40)]))
async def test_people_are_grouped_and_lead_to_their_remotes(
    lockterm_app: Starter, size: tuple[int, int]
) -> None:
    site = two_locks()
    async with site.app(lockterm_app, size=size) as pilot:
        seen = await press(pilot, "F", "enter", "o")
        assert "No lock has been read yet." in seen and not site.asked
        assert "Ctrl+R read all 2 locks now" in seen
        seen = await press(pilot, "ctrl+r")
        assert names(pilot) == ["Anna Weber", "anna weber", "Ben", "王小明"]
        assert "4 people, 5 remotes" in seen
        assert "similar: anna weber (spelling)" in seen
        assert "Anna Weber 2 N-1 no end active" in seen
        assert "25 Nov 2026" in seen
        await press_to(pilot, PersonScreen, "enter")
        assert rows(pilot) == [(1, 1), (2, 1)]
        await press(pilot, "slash", *"lock", "enter")
        assert rows(pilot) == []
        await press_to(pilot, PeopleScreen, "escape", "escape")
        await press(pilot, "end", "enter")
        assert rows(pilot) == [(2, 5)]
        await press_to(pilot, AllLocksSearchScreen, "escape", "escape")


async def test_people_come_from_an_empty_search_are_searched_and_called_old(
    lockterm_app: Starter, clock: Clock
) -> None:
    site = two_locks()
    async with site.app(lockterm_app) as pilot:
        assert "Ctrl+R read all 2 locks now" in await press(pilot, "F")
        seen = await press(pilot, "ctrl+r")
        assert "2 of 2 locks read: 5 remotes." in seen and "Ctrl+R read again" in seen
        asked = len(site.asked)
        assert "Enter o people" in seen
        assert "oldest just now" in await press(pilot, "enter", "o")
        assert len(names(pilot)) == 4
        clock.now_s += 18
        assert "oldest 18 s ago" in await press(pilot, "down")
        seen = await press(pilot, "slash", *"weber n-1")
        assert names(pilot) == ["Anna Weber"] and "1 of 4 people" in seen
        seen = await press(pilot, *["backspace"] * 9, *"zzz", "enter")
        assert "No person matches “zzz”." in seen
        assert len(await press(pilot, "escape")) and len(names(pilot)) == 4
        assert isinstance(pilot.app.screen, PeopleScreen) and len(site.asked) == asked
        clock.now_s += 3 * 3600
        site.broken.add(2)
        seen = await press(pilot, "r")
        assert "1 of 2 locks read, Lock 2:" in seen and "oldest 3 h ago" in seen
        assert names(pilot)[-1] == "王小明", "the last list of the lock is still shown"


@pytest.mark.parametrize("size", [(60, 20), (80, 24)])
async def test_long_names_differ_and_the_selected_one_is_shown_in_full(
    lockterm_app: Starter, size: tuple[int, int]
) -> None:
    long = [f"Viktor Lindqvist {'north ' * 4}{end}" for end in ("dock", "docks")]
    chinese = [f"王小明王小明王小明（{gate}）" for gate in "南北"]
    site = Site(L1=[remote(n, 1, name, **ENDS) for n, name in enumerate((*long, *chinese))])
    async with site.app(lockterm_app, size=size) as pilot:
        seen = await press(pilot, "F", "ctrl+r", "enter", "o")
        assert "State" in seen and "< 7 days" in seen and "Esc back" in seen
        table = pilot.app.screen.query_one(PeopleTable)
        shown = ["".join(text for text, _ in table.line(row)) for row in range(4)]
        assert len({line.partition("  ")[0] for line in shown}) == 4, shown
        assert [table.margin_sign(row) for row in range(4)] == ["~"] * 4
        for name in long + chinese[::-1]:
            assert f"{name} · similar" in seen or name in chinese
            seen = await press(pilot, "down")


async def test_locks_of_a_person_differ_in_a_narrow_terminal(lockterm_app: Starter) -> None:
    site = Site(**{f"L{n}": [remote(n, n, "Anna Weber", **ENDS)] for n in (1, 2)})
    async with site.running(lockterm_app) as service:
        gates = [Lock(n, name=f"North campus, building 12, gate {n}") for n in (1, 2)]
        fill_book(lockterm_app, *gates)
        async with lockterm_app(service, size=(60, 20)) as pilot:
            seen = await press(pilot, "F", "ctrl+r", "enter", "o", "enter")
            assert isinstance(pilot.app.screen, PersonScreen)
            assert "gate 1 N-1 until" in seen and "gate 2 N-2 until" in seen


async def test_a_long_list_is_cut_but_searched_and_exported_in_full(
    lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "MOST_SHOWN", 2)
    site = two_locks()
    async with site.app(lockterm_app) as pilot:
        seen = await press(pilot, "F", "ctrl+r", "enter", "o")
        assert names(pilot) == ["Anna Weber", "anna weber"]
        assert "4 people, 5 remotes, 2 listed" in seen
        assert "1 of 4 people" in await press(pilot, "slash", *"ben")
        assert names(pilot) == ["Ben"]
        seen = await press(pilot, "escape", "E")
        assert "Wrote 4 people with 5 remotes to" in seen.replace("▌ ", "")


async def test_empty_lists_and_book_are_told_apart(lockterm_app: Starter) -> None:
    site = Site(L1=[])
    async with site.app(lockterm_app) as pilot:
        seen = await press(pilot, "F", "enter", "o", "ctrl+r")
        assert "The locks have no remotes" in seen
        assert "there is nothing to export" in await press(pilot, "E")
        assert isinstance(pilot.app.screen, PeopleScreen)


async def test_an_unreadable_lock_book_is_told_and_tried_again(
    lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, read = two_locks(), Locks.all
    async with site.app(lockterm_app) as pilot:
        await press(pilot, "F", "ctrl+r", "escape")

        async def fails(self: Locks) -> Any:
            raise StoreError("The disk is gone.")

        monkeypatch.setattr(Locks, "all", fails)
        seen = await press(pilot, "F", "enter", "o")
        assert "The disk is gone." in seen and "try again" in seen
        monkeypatch.setattr(Locks, "all", read)
        await press(pilot, "r")
        assert len(names(pilot)) == 4


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_hostile_and_long_names_stay_in_their_column(
    lockterm_app: Starter, size: tuple[int, int]
) -> None:
    fields = [remote(n, 1, name) for n, name in enumerate((*HOSTILE, "長" * 99), 1)]
    site = Site(L1=[one | {"remoteNumber": one["remoteName"]} for one in fields])
    async with site.app(lockterm_app, size=size) as pilot:
        seen = await press(pilot, "F", "enter", "o", "ctrl+r")
        assert "(no name)" in seen and "\x1b" not in seen and "\u202e" not in seen
        for _ in fields:
            await press(pilot, "down")
            await press_to(pilot, PersonScreen, "enter")
            assert len(rows(pilot)) >= 1
            await press(pilot, "escape")


async def test_first_people_are_shown_early(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "PROGRESS_S", 0.0)
    monkeypatch.setattr(people, "FIRST_S", 0.0)
    shown: list[tuple[int, int | None]] = []
    take = PeopleScreen.take_people

    async def taken(self: PeopleScreen, found: domain.People, *args: Any) -> None:
        await take(self, found, *args)
        shown.append((len(found), self._done))
        if self._done is not None:
            counts = self.query_one(Pager).render().plain
            assert f"so far, {self._done} of 3 locks" in counts

    monkeypatch.setattr(PeopleScreen, "take_people", taken)
    demo.fill_book(*[Lock(n, f"Lock {n}") for n in (1, 2, 3)])
    async with demo() as pilot:
        for n in (1, 2, 3):
            block = Block.of([Remote.read(remote(n, n, f"Name {n}"))])
            listing = Listing([block], NOW_MS)
            await pilot.app.operations.kept_lists.keep(n, listing)
        await press(pilot, "F", "enter", "o")
        assert len(names(pilot)) == 3
    assert shown[0] == (1, 0) and shown[-1] == (3, None)
    assert [count for count, _ in shown] == sorted(count for count, _ in shown)


async def test_changes_from_the_screen_of_a_person_are_shown(lockterm_app: Starter) -> None:
    site = two_locks()
    async with site.app(lockterm_app) as pilot:
        await press(pilot, "F", "enter", "o", "ctrl+r", "j", "j", "enter")
        await press(pilot, "d")
        await press(pilot, "D")
        assert isinstance(pilot.app.screen, PersonScreen), words(pilot.app)
        await until(pilot, lambda: rows(pilot) == [])
        await press(pilot, "escape")
        await until(pilot, lambda: names(pilot) == ["Anna Weber", "anna weber", "王小明"])


async def test_export_writes_the_shown_people_with_ages_and_unread_locks(
    lockterm_app: Starter,
) -> None:
    site = two_locks()
    site.lists[1].append(remote(9, 1, "=<b>Eve</b>"))
    async with site.running(lockterm_app) as service:
        fill_book(lockterm_app, Lock(3, "Lock 3"))
        site.lists[3], site.broken = [], {3}
        async with lockterm_app(service) as pilot:
            await press(pilot, "F", "enter", "o", "ctrl+r")
            seen = await press(pilot, "E")
            assert "Wrote 5 people with 6 remotes to" in seen.replace("▌ ", "")
            page, table = sorted(pilot.app.exports.glob("people-*"), reverse=True)[:2]
            page, table = sorted((page, table), key=lambda path: path.suffix, reverse=True)
            listed = list(csv.DictReader(io.StringIO(table.read_text(), newline="")))
            assert [(one["name"], one["lockId"]) for one in listed] == [
                ("'=<b>Eve</b>", "1"),
                ("Anna Weber", "1"),
                ("Anna Weber", "2"),
                ("anna weber", "1"),
                ("Ben", "1"),
                ("王小明", "2"),
                ("", "3"),
            ]
            assert listed[-1]["notRead"] and not listed[-1]["read"]
            html = page.read_text()
            assert "&lt;b&gt;Eve" in html and "<b>" not in html and "<script" not in html
            for shown in ("Locks not read", "Lock 3", "demo", "read just now", "anna weber"):
                assert shown in html
            await press(pilot, "slash", *"ben", "enter", "E")
            (second,) = pilot.app.exports.glob("people-*-2.csv")
            assert "Ben" in second.read_text() and "王小明" not in second.read_text()
