"""The screen that takes a file: typed with tab, checked as a whole, problems first, then a plan."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lockterm.domain.plan import Action
from lockterm.paths import Paths
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.import_file import FileScreen
from lockterm.screens.plan.screen import PlanScreen
from lockterm.widgets.completion import PathInput, complete
from lockterm.widgets.row_table import RowTable
from tests.long import telling
from tests.screens import someone_else
from tests.screens.running_app import Demo, notices, shown, until
from tests.screens.site import press, press_to, settled_when, words
from tests.screens.snapshots import assert_picture

BAD = """\
lockId;remoteNumber;remoteName;remoteType;startDate;endDate;action
1001;A-9001;Roof contractor;time-limited;01.12.2026;12/31/26;
1001;A-9002;Night crew 9;recurring;01.12.2026;31.12.2026 18:00;
1001;1.2E+11;Ines;permanent;;;
1001;A-9002;Twice;permanent;;;
gate;A-9003;Paul;permanent;;;move
"""
GOOD = """\
lockId;remoteNumber;remoteName;remoteType;startDate;endDate
1001;A-9001;Roof contractor;time-limited;2026-12-01 08:00;31.12.2026 18:00
1003;C-9001;Paul, roof;permanent;;
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where lockterm was started: paths that are shown are the same in every run."""
    here = tmp_path / "files"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(here))
    return here


async def opened(pilot: Pilot[int]) -> FileScreen:
    return await press_to(pilot, FileScreen, "I")


async def take(pilot: Pilot[int], name: str) -> None:
    """Type a path and enter, and wait for what comes of it."""
    pilot.app.screen.query_one(PathInput).focus()
    await press(pilot, "home", "shift+end", *name, "enter")


def path(pilot: Pilot[int]) -> str:
    return pilot.app.screen.query_one(PathInput).value


def plan_of(pilot: Pilot[int]) -> list[tuple[Action, int, str]]:
    screen = pilot.app.screen
    assert isinstance(screen, PlanScreen), shown(pilot)
    steps = screen.drawn.plan.steps
    return [(step.action, step.lock_id, step.remote_name) for step in steps]


async def test_import_finds_a_pasted_path_and_ends(demo: Demo, folder: Path) -> None:
    file = folder / "my files" / "good.csv"
    file.parent.mkdir()
    file.write_text(GOOD)
    async with demo() as pilot:
        before = pilot.app.screen
        await opened(pilot)
        await take(pilot, f"'{file}'")
        assert [step[0] for step in plan_of(pilot)] == [Action.ADD, Action.ADD]
        await press_to(pilot, ConfirmModal, "enter")
        await pilot.press("right", "enter")
        await settled_when(pilot, lambda: "2 steps recorded." in words(pilot.app))
        assert "Press Esc to go back, H for the history, z to undo." in words(pilot.app)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is before)


# --- a good one --------------------------------------------------------------------------------


async def test_a_good_file_becomes_a_plan_and_sends_nothing(demo: Demo, folder: Path) -> None:
    (folder / "roof.csv").write_bytes(GOOD.replace("\n", "\r\n").encode("utf-16"))
    async with demo() as pilot:
        await opened(pilot)
        await take(pilot, "roof.csv")
        assert plan_of(pilot) == [
            (Action.ADD, 1001, "Roof contractor"),
            (Action.ADD, 1003, "Paul, roof"),
        ]
        assert not any(
            map(partial(someone_else.counted, demo.service), ("add", "update", "delete"))
        )


async def test_import_uses_the_open_lock_for_rows_without_one(demo: Demo, folder: Path) -> None:
    (folder / "roof.csv").write_text("remoteNumber;remoteName;remoteType\nA-1;Roof;permanent\n")
    mixed = (
        "lockId;remoteNumber;remoteName;remoteType\n;A-1;Roof;1\n1003;A-2;Attic;1\n;A-3;Loft;1\n"
    )
    (folder / "mixed.csv").write_text(mixed)
    async with demo(1001) as pilot:
        await opened(pilot)
        assert "A row without lockId belongs to lock 1001 (lock 1001)." in words(pilot.app)
        await take(pilot, "roof.csv")
        assert plan_of(pilot) == [(Action.ADD, 1001, "Roof")]
        assert "Plan > lock 1001 > apply roof.csv for lock 1001" in shown(pilot)
        assert "The row has no lockId, so lockterm uses lock 1001." in words(pilot.app)
        await press(pilot, "enter")
        note = "Roof (A-1): The row has no lockId, so lockterm uses lock 1001."
        assert isinstance(pilot.app.screen, ConfirmModal)
        assert note in " ".join(words(pilot.app).replace("│", " ").split())
        await press(pilot, "escape")
        await press(pilot, "escape")
        await take(pilot, "mixed.csv")
        assert {(lock_id, name) for _, lock_id, name in plan_of(pilot)} == {
            (1001, "Roof"),
            (1003, "Attic"),
            (1001, "Loft"),
        }
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen)
        noted = {step.remote_name for step in screen.drawn.plan.steps if step.note}
        assert noted == {"Roof", "Loft"}
    async with demo() as pilot:  # from the book: each row has to say it
        await opened(pilot)
        await take(pilot, "roof.csv")
        assert "The column lockId is missing." in words(pilot.app)
        await take(pilot, "mixed.csv")
        assert "A lock ID is required." in words(pilot.app)


@pytest.mark.long
async def test_import_deletes_only_when_chosen(demo: Demo, folder: Path) -> None:
    number = demo.page(1003)[0]["remoteNumber"]
    (folder / "nine.csv").write_text(f"lockId,remoteNumber\n1003,{number}\n")
    async with demo() as pilot:
        await opened(pilot)
        await take(pilot, "nine.csv")
        assert [one[0] for one in plan_of(pilot)] == [Action.KEEP]
        await press_to(pilot, FileScreen, "escape")
        await press(pilot, "down", "right", "down", *"5", "ctrl+s")
        told = " ".join(shown(pilot).split())
        assert 'The import would delete 8 remotes, more than "Delete at most" allows.' in told
        await press(pilot, "backspace", *"8", "ctrl+s")
        assert [one[0] for one in plan_of(pilot)].count(Action.DELETE) == 8


# --- bad ones ----------------------------------------------------------------------------------


PROBLEMS = {(80, 24): "file-problems", (120, 40): "file-problems-120x40"}
"""Size -> its picture."""


@pytest.mark.long
@pytest.mark.parametrize("size", telling([(80, 24)], PROBLEMS))
async def test_import_lists_problems(demo: Demo, folder: Path, size: tuple[int, int]) -> None:
    (folder / "remotes.csv").write_text(BAD)
    async with demo(size=size) as pilot:
        screen = await opened(pilot)
        await take(pilot, "remotes.csv")
        assert screen.query_one(RowTable).has_focus
        assert_picture(pilot.app, PROBLEMS[size])
        # What was typed is kept; the file is mended elsewhere, and taken again from here.
        assert path(pilot) == "remotes.csv"
        (folder / "remotes.csv").write_text(BAD.splitlines()[0])
        await press(pilot, "ctrl+s")
        assert "The file contains no rows" in shown(pilot)


async def test_import_lists_every_row_of_an_unknown_lock(demo: Demo, folder: Path) -> None:
    head = "lockId,remoteNumber,remoteName,remoteType"
    unknown = [f"7777,{name}-1,{name},permanent" for name in ("Anna", "Ben")]
    (folder / "all.csv").write_text("\n".join([head, *unknown, "1004,C-1,Carl,9"]))
    (folder / "unknown.csv").write_text("\n".join([head, *unknown]))
    async with demo() as pilot:
        screen = await opened(pilot)
        await take(pilot, "all.csv")
        assert "3 problems. Nothing was sent." in words(pilot.app)
        rows = [line.split() for line in shown(pilot).splitlines()]
        assert [row[:2] for row in rows if row and row[0] in {"2", "3", "4"}] == [
            ["2", "lockId"],
            ["3", "lockId"],
            ["4", "remoteType"],
        ]
        assert "Lock 7777 was not read: lock not found" in words(pilot.app)
        screen.query_one(PathInput).focus()
        await take(pilot, "unknown.csv")
        assert plan_of(pilot) == [(Action.ADD, 7777, "Anna"), (Action.ADD, 7777, "Ben")]
        told = [line for line in shown(pilot).splitlines() if "lock not found" in line]
        assert all(any(name in line for line in told) for name in ("Anna", "Ben"))
    assert not demo.counted("add")


@pytest.mark.parametrize("part", [slice(2), pytest.param(slice(2, None), marks=pytest.mark.long)])
async def test_import_reports_a_wrong_file_at_its_path(
    demo: Demo, folder: Path, part: slice
) -> None:
    (folder / "head.csv").write_text(GOOD.splitlines()[0])
    (folder / "empty.csv").touch()
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "image").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    with (folder / "large.csv").open("wb") as file:
        file.truncate(100_000_000)
    told = {
        "none.csv": "No such file.",
        "head.csv": "The file contains no rows",
        "empty.csv": "The file is empty.",
        "folder": "The path is a directory.",
        "pipe": "The path is a pipe or a device",
        "large.csv": "The file has 100,000,000 bytes",
        "~nobody-here/x": "No such home directory.",
        "image": "Neither UTF-8 nor UTF-16",
    }
    async with demo() as pilot:
        screen = await opened(pilot)
        for name, reason in [*told.items()][part]:
            await take(pilot, name)
            assert reason in shown(pilot), name
            assert path(pilot) == name
            if name != "image":  # whose problem is listed
                assert screen.field("path").error.startswith(reason)
                assert screen.query_one(PathInput).has_focus
        await take(pilot, "x")
        await press(pilot, "home", "shift+end", "delete", "enter")
        assert "Type the path of a file." in shown(pilot)
        assert not demo.counted("list")


# --- the path ----------------------------------------------------------------------------------


@pytest.mark.long
async def test_tab_completes_and_says_what_there_is(demo: Demo, folder: Path) -> None:
    (folder / "sites" / "north").mkdir(parents=True)
    for name in ("remotes-a.csv", "remotes-b.csv", ".remotes"):
        (folder / "sites" / "north" / name).touch()
    async with demo(size=(60, 20)) as pilot:
        await opened(pilot)
        assert "sites/" in shown(pilot)
        await pilot.press(*"~/s", "tab", *"n", "tab", "tab")
        await until(pilot, lambda: path(pilot) == "~/sites/north/remotes-")
        await until(pilot, lambda: "remotes-a.csv  remotes-b.csv" in shown(pilot))
        await pilot.press("tab", *"b", "tab")
        await until(pilot, lambda: path(pilot) == "~/sites/north/remotes-b.csv")
        await press(pilot, "tab")
        assert not pilot.app.screen.query_one(PathInput).has_focus
        await press(pilot, "escape")
        # It stands there the next time, and what is typed replaces it.
        await opened(pilot)
        assert path(pilot) == "~/sites/north/remotes-b.csv"
        await pilot.press(*"x.csv")
        assert path(pilot) == "x.csv"
    async with demo() as pilot:  # and after a restart
        await opened(pilot)
        assert path(pilot) == "x.csv"
    assert b"x.csv" in Paths.below(demo.starter.directory).choices.read_bytes()


@pytest.mark.long
def test_completion_goes_by_what_is_there(folder: Path) -> None:
    for name in (".hidden", "a\x1b[2J.csv", "one.csv", "only"):
        (folder / name).touch()
    assert complete("").names == ["one.csv", "only"]
    assert complete(".").names == [".hidden"]
    assert complete("on").common == "on"
    assert complete("one").is_whole
    assert complete("~").common == "~/"
    assert complete("no/x").why_none == "No such file or directory."
    assert complete("\0/").why_none


@pytest.mark.long
@pytest.mark.parametrize(("size", "name"), [((80, 24), "file"), ((120, 40), "file-120x40")])
async def test_the_first_look(demo: Demo, folder: Path, size: tuple[int, int], name: str) -> None:
    for file in ("remotes.csv", "roof.csv", "site.json"):
        (folder / file).touch()
    async with demo(size=size) as pilot:
        await opened(pilot)
        assert isinstance(pilot.app.focused, Input)
        assert_picture(pilot.app, name)


@pytest.mark.parametrize("key", ["ctrl+s", "enter"])
async def test_import_keeps_no_refused_key_for_the_plan(demo: Demo, folder: Path, key: str) -> None:
    """Kept for the plan, the second would ask whether it is meant before the plan was read."""
    (folder / "roof.csv").write_text(GOOD)
    async with demo.held(hold_from=1, hold="/list") as (way, pilot):
        await opened(pilot)
        await pilot.press(*"roof.csv", key, key)
        await until(pilot, lambda: way.held)
        await until(pilot, lambda: "Checking roof.csv ..." in notices(pilot))
        assert isinstance(pilot.app.screen, FileScreen)
        way.release.set()
        await settled_when(pilot, lambda: isinstance(pilot.app.screen, PlanScreen))
        assert len(plan_of(pilot)) == 2
