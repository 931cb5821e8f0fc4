"""The columns of another system's table: each gets a meaning, which the next file has too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lockterm.config.look import Look
from lockterm.config.preferences import Preferences
from lockterm.domain.locks import Lock
from lockterm.domain.plan import Action
from lockterm.domain.table_map import TableMap, parse_map
from lockterm.paths import Paths
from lockterm.screens.dialogs.choice import ChoiceList, ChoiceModal
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.import_file import KEPT_MAPS, MOST_BYTES, FileScreen, find_saved_map, save_map
from lockterm.screens.plan.screen import PlanScreen
from lockterm.screens.table_map import LockModal, MapScreen, ValueModal
from lockterm.widgets.row_table import RowTable
from tests.screens.running_app import Demo, notices, shown, until
from tests.screens.site import press, press_to, settled_when, words
from tests.screens.snapshots import assert_picture
from tests.screens.test_take_file import folder, opened, plan_of, take

__all__ = ["folder"]

EXAMPLES = Path(__file__).parents[2] / "docs/how-to/examples"

BOOK = (Lock(1001, name="Main gate"), Lock(1004, name="Yard"))


async def columns(pilot: Pilot[int]) -> MapScreen:
    """Wait for the screen of the columns."""
    await settled_when(pilot, lambda: isinstance(pilot.app.screen, MapScreen))
    assert isinstance(pilot.app.screen, MapScreen)
    return pilot.app.screen


async def take_columns(pilot: Pilot[int], name: str) -> MapScreen:
    """Take a file whose columns have no meaning yet."""
    await opened(pilot)
    await take(pilot, name)
    return await columns(pilot)


async def choose(pilot: Pilot[int], row: str, choice: str) -> None:
    """Move to the row whose first cell begins so, and choose what begins so from its list."""
    screen = pilot.app.screen
    table = screen.query_one(RowTable)
    await pilot.press("home")
    while not "".join(text for text, _ in table.line(table.cursor_row)).startswith(row):
        await pilot.press("down")
    await press_to(pilot, ChoiceModal, "enter")
    listed = pilot.app.screen.query_one(ChoiceList)
    labels = [str(option.prompt) for option in listed.options]
    wanted = next(at for at, label in enumerate(labels) if label.startswith(choice))
    await pilot.press("home", *["down"] * wanted, "enter")
    await settled_when(pilot, lambda: not isinstance(pilot.app.screen, ChoiceModal))


async def choose_door(pilot: Pilot[int], column: str, lock: str) -> None:
    await choose(pilot, column, "door")
    assert isinstance(pilot.app.screen, LockModal)
    await pilot.press("home", "shift+end", *lock, "enter")
    await columns(pilot)


async def assign_door_list(pilot: Pilot[int]) -> None:
    """Give the columns of the door list the meanings that its mapping file has."""
    for column, meaning in (("Card no", "number"), ("Valid from", "start"), ("Valid to", "end")):
        await choose(pilot, column, meaning)
    await pilot.press("down", "x")  # Department
    await choose_door(pilot, "Main entrance", "1001")
    await choose_door(pilot, "Car park", "yard")
    await choose(pilot, "(date order)", "day/month/year")
    await choose(pilot, "(number format)", "hex")
    await choose(pilot, "(default type)", "by end")


async def test_lock_of_a_column_is_completed(demo: Demo, folder: Path) -> None:
    demo.fill_book(*BOOK, Lock(1003, name="Yard office"))
    shutil.copy(EXAMPLES / "door-list.csv", folder / "doors.csv")
    gate, yard = "door of Main gate (1001)", "door of Yard (1004)"
    async with demo() as pilot:
        await take_columns(pilot, "doors.csv")
        for typed, said in (("main", gate), ("yard", yard), ("MAIN G", gate)):
            await choose_door(pilot, "Main entrance", typed)
            assert said in words(pilot.app)
        await choose(pilot, "Main entrance", "door")
        for typed, said in (
            ("y", "Several locks have names that start like this. Type more of the name."),
            ("gate", "The lock book has no lock with this name. Type its ID."),
        ):
            await pilot.press("home", "shift+end", *typed, "enter")
            await until(pilot, lambda said=said: said in words(pilot.app))


@pytest.mark.parametrize("look", [Look(colors=0), Look(colors=16)])
async def test_suggestion_has_brackets_without_colors(demo: Demo, folder: Path, look: Look) -> None:
    demo.fill_book(*BOOK)
    (folder / "doors.csv").write_text((EXAMPLES / "door-list.csv").read_text())
    async with demo(None, look) as pilot:
        await take_columns(pilot, "doors.csv")
        await choose(pilot, "Main entrance", "door")
        await pilot.press("home", "shift+end", *"Main")
        await until(pilot, lambda: " Main( gate) " in shown(pilot))
        await pilot.press("right")
        await until(pilot, lambda: " Main gate " in shown(pilot))


async def confirm(pilot: Pilot[int], done: str) -> None:
    await press_to(pilot, ConfirmModal, "enter")
    await pilot.press("right", "enter")
    await settled_when(pilot, lambda: done in words(pilot.app))


async def test_door_list_is_imported_and_its_columns_are_kept(demo: Demo, folder: Path) -> None:
    demo.fill_book(*BOOK)
    table = (EXAMPLES / "door-list.csv").read_text()
    (folder / "doors.csv").write_text(table)
    head, anna, *_ = table.splitlines()
    (folder / "next.csv").write_text(f"{head}\n{anna.replace(';x;', ';;31/01/2027')}\n")
    async with demo() as pilot:
        screen = await take_columns(pilot, "doors.csv")
        assert "6 columns have no meaning yet: Card no, Valid from, Valid to" in words(pilot.app)
        await press(pilot, "ctrl+s")
        assert "have no meaning yet" in words(pilot.app)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        await assign_door_list(pilot)
        assert "door of Yard (1004)" in words(pilot.app)
        assert not demo.service.requests
        for told in ("Mapping written to", "cannot be written: File exists."):
            await pilot.press("E")
            await until(pilot, lambda told=told: told in notices(pilot))
        written = parse_map((folder / "doors.toml").read_bytes())
        assert written == parse_map((EXAMPLES / "door-list.toml").read_bytes())
        await press_to(pilot, PlanScreen, "ctrl+s")
        assert plan_of(pilot) == [
            (Action.ADD, 1001, "Anna Weber"),
            (Action.ADD, 1001, "Tomás Vidal"),
            (Action.ADD, 1001, "Mei Wang"),
            (Action.ADD, 1004, "Tomás Vidal"),
            (Action.ADD, 1004, "Mei Wang"),
        ]
        assert not demo.counted("add")
        await confirm(pilot, "5 steps recorded.")
        numbers = [one["remoteNumber"] for one in demo.page(1004)]
        assert {"04A23B77", "04A23B9F"} <= {*numbers}
    async with demo() as pilot:  # also after a restart
        await opened(pilot)
        await take(pilot, "next.csv")
        assert plan_of(pilot) == [(Action.ADD, 1004, "Anna Weber")]
        assert (
            "lockterm uses the meanings that you saved for a table with the same columns."
            in notices(pilot)
        )
        await press(pilot, "enter")
        assert "Ignored columns: Department." in words(pilot.app)
        await press_to(pilot, FileScreen, "escape", "escape")
        await pilot.press("ctrl+o")
        await columns(pilot)
        assert "door of Main gate (1001)" in words(pilot.app)
        await choose(pilot, "(date order)", "month/day/year")
        await pilot.press("ctrl+s")
        await settled_when(pilot, lambda: "2 problems. Nothing was sent." in words(pilot.app))
        told = " ".join(words(pilot.app).split())
        assert "The date does not exist in the order month/day/year." in told
        assert "Valid to" in told
        assert demo.counted("add") == 5


async def test_card_list_is_imported_with_lock_names(demo: Demo, folder: Path) -> None:
    demo.fill_book(Lock(1001, name="North door"), Lock(1004, name="Yard"))
    shutil.copy(EXAMPLES / "card-list.csv", folder / "cards.csv")
    async with demo() as pilot:
        await take_columns(pilot, "cards.csv")
        for column, meaning in (
            *(("Cardholder", "name"), ("Credential", "number"), ("Door", "lock")),
            *(("Activates", "start"), ("Expires", "end")),
        ):
            await choose(pilot, column, meaning)
        await pilot.press("asterisk")
        await choose(pilot, "(date order)", "month/day/year")
        await choose(pilot, "(number format)", "decimal")
        await choose(pilot, "(default type)", "time-limited")
        await press_to(pilot, PlanScreen, "ctrl+s")
        assert plan_of(pilot) == [
            (Action.ADD, 1001, "Paul Novak"),
            (Action.ADD, 1004, "Paul Novak"),
            (Action.ADD, 1004, "O'Brien, Sean"),
        ]
        await confirm(pilot, "3 steps recorded.")
        (sean,) = [one for one in demo.page(1004) if one["remoteNumber"] == "12300461"]
        assert sean["remoteType"] == 2


@pytest.mark.long
async def test_wrong_cells_are_listed_by_the_columns_of_the_file(demo: Demo, folder: Path) -> None:
    (folder / "bad.csv").write_text("Card,Until,Name\n04:A2,31/12/2026,Anna\nxyz,1/2/26,Ben\n")
    async with demo(1004) as pilot:
        screen = await opened(pilot)
        await take(pilot, "bad.csv")
        await columns(pilot)
        await choose(pilot, "Card", "number")
        await choose(pilot, "Until", "end")
        await choose(pilot, "(date order)", "day/month/year")
        await choose(pilot, "(number format)", "hex")
        await choose(pilot, "(default type)", "time-limited")
        await press_to(pilot, ValueModal, "down", "enter")
        await pilot.press(*"1/2/2027", "enter")
        await settled_when(pilot, lambda: "Day, month and year are ambiguous." in words(pilot.app))
        await pilot.press(*["backspace"] * 8, *"now", "enter")
        await columns(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pilot.app.screen is screen)
        await settled_when(pilot, lambda: "2 problems. Nothing was sent." in words(pilot.app))
        found = [line.split()[:2] for line in shown(pilot).splitlines() if line.split()]
        assert [row for row in found if row[0] == "3"] == [["3", "Card"], ["3", "Until"]]
        assert not any(demo.counted(call) for call in ("add", "update", "delete"))


async def test_leaving_the_columns_asks_and_saves_nothing(demo: Demo, folder: Path) -> None:
    (folder / "a.csv").write_text("Holder,Card\nAnna,1\n")
    (folder / "b.json").write_text('{"format": "x"}')
    async with demo() as pilot:
        screen = await opened(pilot)
        await take(pilot, "a.csv")
        await columns(pilot)
        await pilot.press("escape")  # nothing is assigned yet
        await until(pilot, lambda: pilot.app.screen is screen)
        await take(pilot, "a.csv")
        await columns(pilot)
        await press_to(pilot, ConfirmModal, "x", "escape")
        assert "Leave without saving the meanings of the columns?" in words(pilot.app)
        await pilot.press("right", "enter")
        await settled_when(pilot, lambda: pilot.app.screen is screen)
        choices = Paths.below(demo.starter.directory).choices
        assert not choices.exists() or b"table_maps" not in choices.read_bytes()
        await take(pilot, "b.json")
        await press(pilot, "ctrl+o")
        assert "so it has no columns to assign" in " ".join(shown(pilot).split())


async def test_a_missing_type_is_announced_and_explained(demo: Demo, folder: Path) -> None:
    (folder / "a.csv").write_text("Holder,Card\nAnna,1\n")
    async with demo(1004) as pilot:
        screen = await opened(pilot)
        await take(pilot, "a.csv")
        await columns(pilot)
        await choose(pilot, "Holder", "name")
        await choose(pilot, "Card", "number")
        assert pilot.app.screen.query_one(RowTable).cursor_row == 1, "the cursor stays"
        told = "No column gives the type, which new remotes need. Choose it in the row"
        assert f"{told} (default type)." in words(pilot.app)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pilot.app.screen is screen)
        await until(pilot, lambda: "A new remote needs a type" in words(pilot.app))
        assert "Press Ctrl+O and choose the type in the row (default type)." in words(pilot.app)
        await pilot.press("ctrl+o")
        await columns(pilot)
        await choose(pilot, "(default type)", "permanent")
        assert "No column gives the type" not in words(pilot.app)
        await press_to(pilot, PlanScreen, "ctrl+s")


async def test_import_says_that_no_row_gives_access(demo: Demo, folder: Path) -> None:
    (folder / "a.csv").write_text("Holder,Gate\nAnna,no\nBen,\n")
    async with demo() as pilot:
        await take_columns(pilot, "a.csv")
        await choose(pilot, "Holder", "name")
        await choose_door(pilot, "Gate", "1004")
        await pilot.press("ctrl+s")
        told = "The file contains no rows that give access, so there is nothing to change."
        await until(pilot, lambda: told in words(pilot.app))


HOSTILE = ["\x1b[2J", "[@click=app.quit]x[/]", "卡号" * 40, "\u202eevil", "a\nb", "", *"defghijklm"]


@pytest.mark.parametrize("size", [(60, 20), pytest.param((120, 40), marks=pytest.mark.long)])
async def test_many_hostile_columns(demo: Demo, folder: Path, size: tuple[int, int]) -> None:
    header = ",".join(f'"{name}"' for name in HOSTILE).replace("\x1b", "\u009b")
    row = ",".join(f"[b]{place}" for place in range(len(HOSTILE)))
    (folder / "hostile.csv").write_text(f"{header}\n{row}\n")
    async with demo(1004, size=size) as pilot:
        screen = await take_columns(pilot, "hostile.csv")
        assert "[@click=app.quit]x[/]" in shown(pilot)
        assert not {"\u009b", "\u202e"} & {*shown(pilot)}
        await choose(pilot, "m", "name")
        await pilot.press("asterisk")
        assert screen.table_map.columns["m"] == "remoteName"
        assert screen.table_map.fits(screen.table_map.columns)
        await choose(pilot, "(default type)", "permanent")
        await choose(pilot, "d", "number")
        await pilot.press("E")
        await until(pilot, lambda: (folder / "hostile.toml").exists())
        assert parse_map((folder / "hostile.toml").read_bytes()).values["lockId"] == "1004"
        await press_to(pilot, PlanScreen, "ctrl+s")
        assert plan_of(pilot) == [(Action.ADD, 1004, "[b]15")]


@pytest.mark.long
async def test_the_columns_look_as_they_should(demo: Demo, folder: Path) -> None:
    demo.fill_book(*BOOK)
    shutil.copy(EXAMPLES / "door-list.csv", folder / "doors.csv")
    async with demo() as pilot:
        await take_columns(pilot, "doors.csv")
        await choose(pilot, "Card no", "number")
        await choose_door(pilot, "Main entrance", "1001")
        assert not pilot.app.screen.query(Input)
        assert_picture(pilot.app, "table-map")


# --- saved meanings of columns -------------------------------------------------------------------

HERE, THERE = "https://one.example", "https://two.example"
HEAD = ["Holder", "Card", "Gate"]
DOORS = TableMap({"Holder": "remoteName", "Card": "remoteNumber"}, {"Gate": "1001"})


@pytest.fixture
def kept(tmp_path: Path) -> Preferences:
    return Preferences(tmp_path / "choices.json")


def test_a_saved_map_is_found_by_its_columns_in_any_order(kept: Preferences) -> None:
    assert find_saved_map(kept, HERE, HEAD) is None
    assert save_map(kept, HERE, HEAD, DOORS)
    assert find_saved_map(kept, HERE, HEAD[::-1]) == DOORS
    assert find_saved_map(kept, HERE, [*HEAD, "Phone"]) is None
    assert find_saved_map(kept, HERE, HEAD[:2]) is None
    assert find_saved_map(kept, THERE, HEAD) is None, "other locks have these IDs there"


def test_a_changed_map_replaces_the_earlier_one(kept: Preferences) -> None:
    changed = TableMap(dict.fromkeys(HEAD[1:], "ignore") | {"Holder": "remoteName"})
    save_map(kept, THERE, HEAD, DOORS)
    save_map(kept, HERE, HEAD, DOORS)
    save_map(kept, HERE, HEAD, changed)
    assert find_saved_map(kept, HERE, HEAD) == changed
    assert find_saved_map(kept, THERE, HEAD) == DOORS
    assert len(kept.get(KEPT_MAPS)) == 2


def test_the_oldest_maps_make_room(kept: Preferences, tmp_path: Path) -> None:
    headers = [[f"{place} {'王' * 900}"] for place in range(30)]
    for header in headers:
        assert save_map(kept, HERE, header, TableMap({header[0]: "remoteName"}))
    assert find_saved_map(kept, HERE, headers[0]) is None
    assert find_saved_map(kept, HERE, headers[-1]) is not None
    assert not save_map(kept, HERE, ["y"], TableMap({"y" * MOST_BYTES: "ignore"}))
    again = Preferences(tmp_path / "choices.json")
    assert find_saved_map(again, HERE, headers[-1]) is not None, "the file is still read"


@pytest.mark.parametrize("value", [1, [1, {}, {"service": HERE, "map": "["}], {"map": ""}])
def test_an_edited_file_does_no_harm(tmp_path: Path, value: object) -> None:
    file = tmp_path / "choices.json"
    file.write_text(json.dumps({KEPT_MAPS: value}))
    kept = Preferences(file)
    assert find_saved_map(kept, HERE, HEAD) is None
    assert save_map(kept, HERE, HEAD, DOORS)
    assert find_saved_map(kept, HERE, HEAD) == DOORS
