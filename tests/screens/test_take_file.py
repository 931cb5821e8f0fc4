"""The screen that takes a file: typed with tab, checked as a whole, problems first, then a plan."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lockterm.domain.plan import Action
from lockterm.paths import Paths
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.file import FileScreen
from lockterm.screens.plan.screen import PlanScreen
from lockterm.service.running import RunningService
from lockterm.widgets.path_input import PathInput, complete
from lockterm.widgets.row_table import RowTable
from tests.long import telling
from tests.operations.forwarder import Forwarder
from tests.screens import someone_else
from tests.screens.running_app import Starter, notices, settled, shown, until
from tests.screens.site import words
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
    await pilot.press("I")
    await until(pilot, lambda: isinstance(pilot.app.screen, FileScreen))
    await settled(pilot)
    assert isinstance(pilot.app.screen, FileScreen)
    return pilot.app.screen


async def take(pilot: Pilot[int], name: str) -> None:
    """Type a path and enter, and wait for what comes of it."""
    pilot.app.screen.query_one(PathInput).focus()
    await pilot.press("home", "shift+end", *name, "enter")
    await settled(pilot)


def path(pilot: Pilot[int]) -> str:
    return pilot.app.screen.query_one(PathInput).value


def plan_of(pilot: Pilot[int]) -> list[tuple[Action, int, str]]:
    screen = pilot.app.screen
    assert isinstance(screen, PlanScreen), shown(pilot)
    steps = screen.drawn.plan.steps
    return [(step.action, step.lock_id, step.remote_name) for step in steps]


async def test_a_pasted_path_is_found_and_the_import_ends_with_its_plan(
    lockterm_app: Starter, service: RunningService, folder: Path
) -> None:
    file = folder / "my files" / "good.csv"
    file.parent.mkdir()
    file.write_text(GOOD)
    async with lockterm_app(service) as pilot:
        before = pilot.app.screen
        await opened(pilot)
        await take(pilot, f"'{file}'")
        assert [step[0] for step in plan_of(pilot)] == [Action.ADD, Action.ADD]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        await settled(pilot)
        await pilot.press("right", "enter")
        await until(pilot, lambda: "2 steps recorded." in words(pilot.app))
        await settled(pilot)
        assert "Press esc to go back, H for the history, z to undo." in words(pilot.app)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is before)


# --- a good one --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "encode",
    [
        str.encode,
        lambda text: codecs.BOM_UTF8 + text.replace(";", "\t").encode(),
        lambda text: text.replace("\n", "\r\n").encode("utf-16"),
        pytest.param(
            lambda text: text.replace(";", "\t").encode("utf-16-be"), marks=pytest.mark.long
        ),
    ],
    ids=["semicolon", "tab with a mark", "utf-16", "utf-16 without a mark"],
)
async def test_a_good_file_becomes_a_plan(
    service: RunningService,
    lockterm_app: Starter,
    folder: Path,
    encode: Callable[[str], bytes],
) -> None:
    (folder / "roof.csv").write_bytes(encode(GOOD))
    async with lockterm_app(service) as pilot:
        await opened(pilot)
        await take(pilot, "roof.csv")
        assert plan_of(pilot) == [
            (Action.ADD, 1001, "Roof contractor"),
            (Action.ADD, 1003, "Paul, roof"),
        ]
        assert not any(map(partial(someone_else.counted, service), ("add", "update", "delete")))


async def test_rows_without_a_lock_are_for_the_lock_that_it_is_opened_from(
    service: RunningService, lockterm_app: Starter, folder: Path
) -> None:
    (folder / "roof.csv").write_text("remoteNumber;remoteName;remoteType\nA-1;Roof;permanent\n")
    mixed = (
        "lockId;remoteNumber;remoteName;remoteType\n;A-1;Roof;1\n1003;A-2;Attic;1\n;A-3;Loft;1\n"
    )
    (folder / "mixed.csv").write_text(mixed)
    async with lockterm_app(service, 1001) as pilot:
        await opened(pilot)
        assert "A row without lockId belongs to lock 1001 (lock 1001)." in words(pilot.app)
        await take(pilot, "roof.csv")
        assert plan_of(pilot) == [(Action.ADD, 1001, "Roof")]
        assert "Plan > lock 1001 > apply roof.csv for lock 1001" in shown(pilot)
        assert "The row has no lockId, so lockterm uses lock 1001." in words(pilot.app)
        await pilot.press("enter")
        await settled(pilot)
        note = "Roof (A-1): The row has no lockId, so lockterm uses lock 1001."
        assert isinstance(pilot.app.screen, ConfirmModal)
        assert note in " ".join(words(pilot.app).replace("│", " ").split())
        await pilot.press("escape")
        await settled(pilot)
        await pilot.press("escape")
        await settled(pilot)
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
    async with lockterm_app(service) as pilot:  # from the book: each row has to say it
        await opened(pilot)
        await take(pilot, "roof.csv")
        assert "The column lockId is missing." in words(pilot.app)
        await take(pilot, "mixed.csv")
        assert "A lock ID is required." in words(pilot.app)


@pytest.mark.long
async def test_what_a_file_lacks_is_deleted_only_where_that_was_chosen(
    service: RunningService, lockterm_app: Starter, folder: Path
) -> None:
    number = someone_else.page(service, 1003)[0]["remoteNumber"]
    (folder / "nine.csv").write_text(f"lockId,remoteNumber\n1003,{number}\n")
    async with lockterm_app(service) as pilot:
        await opened(pilot)
        await take(pilot, "nine.csv")
        assert [one[0] for one in plan_of(pilot)] == [Action.KEEP]
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, FileScreen))
        await pilot.press("down", "right", "down", *"5", "ctrl+s")
        await settled(pilot)
        told = " ".join(shown(pilot).split())
        assert 'The import would delete 8 remotes, more than "Delete at most" allows.' in told
        await pilot.press("backspace", *"8", "ctrl+s")
        await settled(pilot)
        assert [one[0] for one in plan_of(pilot)].count(Action.DELETE) == 8


# --- bad ones ----------------------------------------------------------------------------------


PROBLEMS = {
    (80, 24): "file-problems",
    (120, 40): "file-problems-120x40",
}
"""Size -> its picture."""


@pytest.mark.long
@pytest.mark.parametrize("size", telling([(80, 24)], PROBLEMS))
async def test_what_is_wrong_is_listed_with_line_and_reason(
    service: RunningService, lockterm_app: Starter, folder: Path, size: tuple[int, int]
) -> None:
    (folder / "remotes.csv").write_text(BAD)
    async with lockterm_app(service, size=size) as pilot:
        screen = await opened(pilot)
        await take(pilot, "remotes.csv")
        assert screen.query_one(RowTable).has_focus
        assert_picture(pilot.app, PROBLEMS[size])
        # What was typed is kept; the file is mended elsewhere, and taken again from here.
        assert path(pilot) == "remotes.csv"
        (folder / "remotes.csv").write_text(BAD.splitlines()[0])
        await pilot.press("ctrl+s")
        await settled(pilot)
        assert "The file contains no rows" in shown(pilot)


async def test_import_lists_every_row_when_one_lock_is_unknown_and_another_row_is_wrong(
    service: RunningService, lockterm_app: Starter, folder: Path
) -> None:
    head = "lockId,remoteNumber,remoteName,remoteType"
    unknown = [f"7777,{name}-1,{name},permanent" for name in ("Anna", "Ben")]
    (folder / "all.csv").write_text("\n".join([head, *unknown, "1004,C-1,Carl,9"]))
    (folder / "unknown.csv").write_text("\n".join([head, *unknown]))
    async with lockterm_app(service) as pilot:
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
    assert not someone_else.counted(service, "add")


@pytest.mark.long
async def test_zeros_that_a_spreadsheet_dropped_are_noticed(
    service: RunningService, lockterm_app: Starter, folder: Path
) -> None:
    (folder / "first.csv").write_text("lockId,remoteNumber,remoteName\n1004,0012,Anna\n")
    (folder / "second.csv").write_text("lockId,remoteNumber,remoteName\n1004,12,Anna W.\n")
    someone_else.add(service, 1004, "Anna", remoteNumber="0012")
    async with lockterm_app(service) as pilot:
        await opened(pilot)
        await take(pilot, "second.csv")
        assert "The lock has 0012. A spreadsheet may have dropped the zeros." in words(pilot.app)
        await take(pilot, "first.csv")
        assert [one[0] for one in plan_of(pilot)] == [Action.KEEP]


async def test_import_reports_a_missing_file_and_one_without_rows_at_its_path(
    service: RunningService, lockterm_app: Starter, folder: Path
) -> None:
    (folder / "head.csv").write_text(GOOD.splitlines()[0])
    told = {"none.csv": "No such file.", "head.csv": "The file contains no rows"}
    async with lockterm_app(service) as pilot:
        screen = await opened(pilot)
        for name, reason in told.items():
            await take(pilot, name)
            assert screen.field("path").error.startswith(reason)
            assert reason in shown(pilot)
            assert screen.query_one(PathInput).has_focus


@pytest.mark.long
async def test_import_reports_a_wrong_file_at_its_path(
    service: RunningService, lockterm_app: Starter, folder: Path
) -> None:
    (folder / "empty.csv").touch()
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "image").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    with (folder / "large.csv").open("wb") as file:
        file.truncate(100_000_000)
    told = {
        "empty.csv": "The file is empty.",
        "folder": "The path is a directory.",
        "pipe": "The path is a pipe or a device",
        "large.csv": "The file has 100,000,000 bytes",
        "~nobody-here/x": "No such home directory.",
        "image": "Neither UTF-8 nor UTF-16",
    }
    async with lockterm_app(service) as pilot:
        await opened(pilot)
        for name, reason in told.items():
            await take(pilot, name)
            assert reason in shown(pilot), name
            assert path(pilot) == name
        await take(pilot, "x")
        await pilot.press("home", "shift+end", "delete", "enter")
        await settled(pilot)
        assert "Type the path of a file." in shown(pilot)
        assert not someone_else.counted(service, "list")


# --- the path ----------------------------------------------------------------------------------


@pytest.mark.long
async def test_tab_completes_and_says_what_there_is(
    service: RunningService, lockterm_app: Starter, folder: Path
) -> None:
    (folder / "sites" / "north").mkdir(parents=True)
    for name in ("remotes-a.csv", "remotes-b.csv", ".remotes"):
        (folder / "sites" / "north" / name).touch()
    async with lockterm_app(service, size=(60, 20)) as pilot:
        await opened(pilot)
        assert "sites/" in shown(pilot)
        await pilot.press(*"~/s", "tab", *"n", "tab", "tab")
        await until(pilot, lambda: path(pilot) == "~/sites/north/remotes-")
        await until(pilot, lambda: "remotes-a.csv  remotes-b.csv" in shown(pilot))
        await pilot.press("tab", *"b", "tab")
        await until(pilot, lambda: path(pilot) == "~/sites/north/remotes-b.csv")
        await pilot.press("tab")
        await settled(pilot)
        assert not pilot.app.screen.query_one(PathInput).has_focus
        await pilot.press("escape")
        await settled(pilot)
        # It stands there the next time, and what is typed replaces it.
        await opened(pilot)
        assert path(pilot) == "~/sites/north/remotes-b.csv"
        await pilot.press(*"x.csv")
        assert path(pilot) == "x.csv"


@pytest.mark.long
async def test_the_path_is_there_after_the_end(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service) as pilot:
        await opened(pilot)
        await pilot.press(*"roof.csv")
    async with lockterm_app(service) as pilot:
        await opened(pilot)
        assert path(pilot) == "roof.csv"
    assert b"roof.csv" in Paths.below(lockterm_app.directory).choices.read_bytes()


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
async def test_the_first_look(service: RunningService, lockterm_app: Starter, folder: Path) -> None:
    for name in ("remotes.csv", "roof.csv", "site.json"):
        (folder / name).touch()
    for size, name in (
        ((80, 24), "file"),
        ((120, 40), "file-120x40"),
    ):
        async with lockterm_app(service, size=size) as pilot:
            await opened(pilot)
            assert isinstance(pilot.app.focused, Input)
            assert_picture(pilot.app, name)


@pytest.mark.parametrize("key", ["ctrl+s", "enter"])
async def test_a_key_that_is_refused_while_a_file_is_checked_is_not_kept_for_its_plan(
    service: RunningService, lockterm_app: Starter, folder: Path, key: str
) -> None:
    """Kept for the plan, the second would ask whether it is meant before the plan was read."""
    (folder / "roof.csv").write_text(GOOD)
    async with (
        Forwarder(service, hold_from=1, hold="/list").running() as way,
        lockterm_app(way, timeout_s=60.0) as pilot,
    ):
        await opened(pilot)
        await pilot.press(*"roof.csv", key, key)
        await until(pilot, lambda: way.held)
        await until(pilot, lambda: "Checking roof.csv ..." in notices(pilot))
        assert isinstance(pilot.app.screen, FileScreen)
        way.release.set()
        await until(pilot, lambda: isinstance(pilot.app.screen, PlanScreen))
        await settled(pilot)
        assert len(plan_of(pilot)) == 2
