"""The columns of the remotes screen: chosen, ordered, sorted by, kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.paths import Paths
from lockterm.screens.remotes.columns import COLUMNS, Arrangement, SortOrder
from lockterm.screens.remotes.dialogs import ColumnsModal
from tests.long import telling
from tests.screens import someone_else
from tests.screens.running_app import Demo, Starter, notices, settled, shown, until
from tests.screens.site import canned, page_of, press, remote_names, remotes_screen, remotes_table
from tests.screens.snapshots import assert_picture
from tests.screens.test_remotes_hostile import record


def titles(pilot: Pilot[Any]) -> list[str]:
    return shown(pilot).splitlines()[1].split()


async def use(pilot: Pilot[Any], *columns: str, by: SortOrder | None = None) -> None:
    remotes_screen(pilot).arrange_table(Arrangement.of(columns, by))
    await settled(pilot)


@pytest.mark.long
async def test_columns_are_chosen_ordered_and_kept(demo: Demo) -> None:
    async with demo(1001) as pilot:
        usual = shown(pilot)
        for leave in (["escape"], ["tab", "space", "enter"]):
            await press(pilot, "t", "j", "space", "Z", *leave)
            assert shown(pilot) == usual
        assert not Paths.below(demo.directory).choices.exists()
        await press(pilot, "t", "j", "space", "j", "enter", "j", "K", "K", "K")
        assert shown(pilot).count("[x]") == 5
        await press(pilot, "ctrl+s")
        assert titles(pilot) == ["Valid", "Name", "State", "Via", "Coerced"]
        # The next line is the one that was hidden; J takes a column past it.
        await press(pilot, "t", "J", "Z", "Z", "tab", "tab", "enter")
        assert titles(pilot) == ["Name", "Valid", "v", "State", "Via", "Coerced"]
    async with demo(1003) as pilot:  # another session, another lock
        assert titles(pilot) == ["Name", "Valid", "v", "State", "Via", "Coerced"]
        assert "page 1 of 1 · sorted by validity, latest end first" in shown(pilot)
    async with demo(1001) as pilot:
        await press(pilot, "t", "0", "ctrl+s")
        assert [line.rstrip() for line in shown(pilot).splitlines()] == usual.splitlines()
    assert json.loads(Paths.below(demo.directory).choices.read_bytes()) == {}


@pytest.mark.long
async def test_dialog_keeps_the_name_and_says_which_columns_do_not_fit(demo: Demo) -> None:
    async with demo(1001, size=(60, 20)) as pilot:
        await press(pilot, "t")
        assert "[-] 4 columns do not fit: Type, State, Added, Coerced" in shown(pilot)
        await press(pilot, "j", "j", "K", "K")  # the type before name and number
        assert "[-] 3 columns do not fit: State, Added, Coerced" in shown(pilot)
        await press(pilot, "ctrl+s")
        assert titles(pilot) == ["Type", "Name", "Number", "Valid"]
        await pilot.resize_terminal(120, 29)
        wide = ["Type", "Name", "Number", "Valid", "State", "Via", "Coerced│"]
        await until(pilot, lambda: titles(pilot)[:7] == wide)
        await pilot.resize_terminal(60, 20)
        await press(pilot, "t", "0", "space")
        assert "The name column is always shown." in shown(pilot)
        await press(pilot, *["j", "space"] * 6, "ctrl+s")
        assert titles(pilot) == ["Name"]
        remotes_screen(pilot).mark_busy(1001, remotes_table(pilot).selected.id, "deleting")
        await settled(pilot)
        assert "deleting: Night crew 1" in shown(pilot)


@pytest.mark.long
async def test_a_sort_says_that_it_is_of_one_page(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await press(pilot, "j", "j")
        target, as_listed = remotes_table(pilot).selected, remote_names(pilot)
        await press(pilot, "t", "Z", "ctrl+s")
        assert sorted(as_listed, key=str) != as_listed
        assert (
            remote_names(pilot)[0] == "Amelia Hart"
            and remote_names(pilot)[-2] == "张伟（保安队长）"
        )
        assert set(remote_names(pilot)) == set(as_listed)
        assert "page 1 of 7 · this page sorted by name, A to Z · 137 remotes" in shown(pilot)
        assert remotes_table(pilot).selected is target, "the cursor stays on its remote"

        asked = someone_else.counted(demo.service, "list")
        await press(pilot, "n")
        assert "page 2 of 7 · this page sorted by name, A to Z" in shown(pilot)
        assert set(remote_names(pilot)) == {
            listed["remoteName"] for listed in someone_else.page(demo.service, 1001, 2)
        }
        # Page 3, ahead; page 2 was there already. The last one is the test's own.
        assert someone_else.counted(demo.service, "list") == asked + 2
        assert remotes_table(pilot).cursor_row == 0

        await press(pilot, "slash", *"weber", "enter")
        assert "sorted by name" in shown(pilot)
        assert remote_names(pilot) == sorted(remote_names(pilot), key=str)
        assert len(remote_names(pilot)) == 3


@pytest.mark.long
@pytest.mark.parametrize("size", telling([(60, 20)], [(60, 20), (80, 24), (120, 40)]))
@pytest.mark.parametrize("lock", telling([1003], [1001, 1003]))
async def test_the_sort_is_said_at_every_width(
    demo: Demo, size: tuple[int, int], lock: int
) -> None:
    async with demo(lock, size=size) as pilot:
        for key, column in COLUMNS.items():
            if key == "battery":  # a notice about this service takes the place of the line
                continue
            for descending in (False, True):
                # Without the column itself, so that no title says it.
                await use(
                    pilot, *({"name", "state"} - {key} | {"name"}), by=SortOrder(key, descending)
                )
                line = shown(pilot).splitlines()[-2]
                what = "this page sorted by" if lock == 1001 else " · sorted by"
                assert f"{what} {column.noun}" in line
                assert "just now" in line


@pytest.mark.long
async def test_a_stale_page_and_a_search_say_it_too(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await use(pilot, by=SortOrder("updated", descending=True))
        await press(pilot, "slash", *"a-2")
        assert "20 in 20 of 137, by updated · Enter: the rest" in shown(pilot)
        await press(pilot, "escape")
        demo.service.stop()
        await press(pilot, "r")
        line = shown(pilot).splitlines()[-2]
        assert line.startswith(" STALE, 1 of 7 · this page sorted by updated · service unreachable")


async def test_delete_acts_on_its_remote_when_rows_are_sorted(demo: Demo) -> None:
    async with demo(1003) as pilot:
        await press(pilot, "j", "j")
        target, row = remotes_table(pilot).selected, remotes_table(pilot).cursor_row
        assert target is not None
        await press(pilot, "d")
        await use(pilot, by=SortOrder("name", descending=True))
        remotes_table(pilot).move_cursor(row=row)
        assert remotes_table(pilot).selected is not target
        await press(pilot, "D")
        left = {listed["id"] for listed in someone_else.page(demo.service, 1003)}
        assert target.id not in left and len(left) == 8


@pytest.mark.long
async def test_the_cursor_stays_where_ids_are_missing_or_there_twice(
    lockterm_app: Starter,
) -> None:
    records = [
        record(5, remoteName="d"),
        record(5, remoteName="c"),
        record(0, id=None, remoteName="b"),
        record(0, id="x", remoteName="a"),
    ]
    async with canned({"list": page_of(records)}) as site, lockterm_app(site, 7) as pilot:
        for row in range(4):
            remotes_table(pilot).move_cursor(row=row)
            target = remotes_table(pilot).selected
            await use(pilot, by=SortOrder("name"))
            assert remotes_table(pilot).selected is target
            await use(pilot)
            assert remotes_table(pilot).selected is target


@pytest.mark.long
@pytest.mark.parametrize(
    ("kept", "columns"),
    [
        ("[1, 2]", ()),
        ("{{{", ()),
        ('{"remotes.table": {"columns": 7, "sort": []}}', ()),
        ('{"remotes.table": {"columns": ["x", "id", null, "id"]}}', ("name", "id")),
    ],
)
async def test_a_damaged_choice_stops_nothing(
    demo: Demo, kept: str, columns: tuple[str, ...]
) -> None:
    file = Paths.below(demo.directory).choices
    file.parent.mkdir(parents=True)
    file.write_text(kept)
    async with demo(1003) as pilot:
        assert remotes_screen(pilot).table.arrangement == Arrangement(columns)
        assert len(remote_names(pilot)) == 9


@pytest.mark.long
async def test_what_cannot_be_kept_is_said_and_holds(demo: Demo) -> None:
    Paths.below(demo.directory).choices.mkdir(parents=True)  # a directory in its place
    async with demo(1001) as pilot:
        await press(pilot, "t", "j", "space", "ctrl+s")
        assert "Columns not saved: lockterm could not save the columns" in notices(pilot)
        assert "Number" not in titles(pilot)
        await press(pilot, "escape", "o", *"1003", "enter")
        assert "Number" not in titles(pilot)


@pytest.mark.long
async def test_pictures_of_columns_and_of_a_sorted_page(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await press(pilot, "t", *"jjjZZjKjj")
        assert isinstance(pilot.app.screen, ColumnsModal)
        assert_picture(pilot.app, "columns-80x24")
        await press(pilot, "escape")
        await use(pilot, "name", "number", "end", "updated", "state", by=SortOrder("end"))
        assert_picture(pilot.app, "remotes-sorted-80x24")
