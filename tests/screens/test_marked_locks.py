"""Marks on the lock book: a voice for many locks as one plan, many locks read, copied to."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.config.look import Look
from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.operation import OperationState
from lockterm.domain.plan import Action, Run
from lockterm.errors import StoreError
from lockterm.screens.copy import CopyScreen
from lockterm.screens.dialogs.choice import ChoiceModal
from lockterm.screens.locks import LocksScreen
from lockterm.screens.modal import RefusedModal
from lockterm.screens.plan.screen import PlanScreen
from lockterm.screens.voice import VoiceScreen
from lockterm.screens.voice.voices import VoiceTree
from tests.screens.running_app import Demo, Starter, notices, settled, until
from tests.screens.site import LOCKS, book_of, canned, fill_book, press, press_to, shown, words
from tests.screens.snapshots import assert_picture

SETTING = ("POST", "/api/v1/lockSetting/updateLockSetting")

YARD = Lock(1099, name="Yard", vendor="nobody", model="X")
"""A lock that the service does not know."""

DONE = {"errorCode": 0, "errorMsg": "", "description": ""}

TREE = [
    {
        "lang": "de-DE",
        "timbres": [{"timbre": "anna", "name": "Anna", "timbrePackUrl": "http://x/"}],
    }
]


def book(pilot: Pilot[int]) -> LocksScreen:
    assert isinstance(pilot.app.screen, LocksScreen)
    return pilot.app.screen


def marked(pilot: Pilot[int]) -> set[int]:
    return {lock.lock_id for lock in book(pilot).marks.rows}


def signed(pilot: Pilot[int]) -> list[str]:
    """The names of the rows that have the sign of a mark on the screen."""
    lines = shown(pilot.app).splitlines()[2:]
    return [line[1:].split("  ")[0] for line in lines if line.startswith("*")]


@pytest.mark.long
async def test_marks_stay_when_the_book_is_searched_and_go_with_their_lock(demo: Demo) -> None:
    async with demo(locks=LOCKS) as pilot:
        assert "Nothing marked. Press Space to mark a row." in await press(pilot, "m")
        await press(pilot, "escape", "space", "down", "S")
        assert signed(pilot) == ["Loading dock", "Server room", "Main gate"]
        seen = await press(pilot, "slash", *"main", "enter")
        assert "3 marked, 2 not shown 1 of 4 locks" in seen and signed(pilot) == ["Main gate"]
        await press(pilot, "asterisk", "escape", "a", "escape")  # unmarks what was found
        assert marked(pilot) == {1002, 1003}
        await pilot.app.operations.locks.remove(1003)
        await press(pilot, "question_mark", "escape")
        assert marked(pilot) == {1002}, "what the book has no longer is not marked"


@pytest.mark.long
async def test_one_voice_for_many_locks_is_one_plan(demo: Demo) -> None:
    async with demo(locks=(*LOCKS, YARD)) as pilot:
        # In one burst: what is typed behind the voice is for its screen.
        seen = await press(pilot, "asterisk", "v", "slash", *"anna", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, VoiceScreen) and "5 marked locks" in seen
        assert "2 of 5 marked locks can use this voice. Others: Server room, " in seen
        assert "Anna female 2 of 5 locks anna" in seen
        assert "This screen shows several locks" in await press(pilot, "e")
        await press(pilot, "escape")
        entry = screen.query_one(VoiceTree).entry
        assert entry is not None and entry.choice == VoiceChoice("de-DE", "anna")
        seen = await press(pilot, "enter")
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen)
        assert (
            "2 to get a new voice: 2 requests" in seen and "3 steps could not be planned." in seen
        )
        planned = [one for one in screen.drawn.plan.steps if one.is_planned]
        assert [(one.action, one.lock_id, one.remote_id) for one in planned] == [
            (Action.VOICE, 1002, None),
            (Action.VOICE, 1001, None),
        ]
        assert {one.lock_id: one.message for one in screen.drawn.left} == {
            1003: "The lock book has no vendor and model for this lock, so its voices are unknown.",
            1006: "lumenlock L7 has no voice de-DE anna.",
            1099: "The voices of this lock could not be read: vendor or model not found (code"
            " -7): There are no voice packs for this vendor and model.",
        }
        assert SETTING not in demo.service.requests
        seen = await press(pilot, "enter")
        assert "Set the voice of 2 locks?" in seen
        assert "Loading dock: Voice: unknown -> de-DE anna" in seen
        await press(pilot, "right", "enter")
        await until(
            pilot, lambda: "2 steps recorded" in words(pilot.app) and _run(pilot).is_finished
        )
        assert demo.service.requests.count(SETTING) == 2
        done = await pilot.app.operations.journal.history()
        assert {(one.call, one.lock_id, one.state) for one in done} == {
            ("updateLockSetting", lock_id, OperationState.CONFIRMED) for lock_id in (1001, 1002)
        }
        assert {one.operation_id for one in _run(pilot).plan.steps if one.is_planned} == {
            one.id for one in done
        }
        await press(pilot, "escape")
        await until(pilot, lambda: marked(pilot) == {1003, 1006, 1099})
        assert book_of(demo)[1002].voice == VoiceChoice("de-DE", "anna")


def _run(pilot: Pilot[Any]) -> Run:
    run = pilot.app.operations.run_here
    assert isinstance(run, Run)
    return run


@pytest.mark.long
async def test_mark_is_seen_beside_the_cursor_and_voice_is_refused_when_the_model_is_unknown(
    demo: Demo,
) -> None:
    async with demo(None, Look(quiet=True), locks=LOCKS) as pilot:
        await press(pilot, "j", "space", "k")
        assert shown(pilot.app).splitlines()[3].startswith(">*Server room")
        seen = await press(pilot, "v")
        assert isinstance(pilot.app.screen, RefusedModal)
        assert "Vendor and model determine the voices, but" in seen
        await press(pilot, "escape", "m", "enter")
        assert isinstance(pilot.app.screen, RefusedModal), "the choice refuses it, too"


@pytest.mark.long
async def test_marked_locks_are_read_and_counted(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise StoreError("The disk is full.", hint="Free some disk space.")

    async with demo(locks=(*LOCKS, YARD)) as pilot:
        opened = book_of(demo)[1003].opened_ms
        await press(pilot, "asterisk", "r")
        await until(pilot, lambda: "locks read" in notices(pilot))
        await settled(pilot)
        assert "4 of 5 locks read, Yard: " in notices(pilot)
        assert "The locks that were read have 206 remotes." in notices(pilot)
        rows = {row.split("  ")[0].strip(" *"): row for row in shown(pilot.app).splitlines()}
        assert " 18 " in rows["化学品仓库"]
        kept = book_of(demo)
        assert (kept[1003].remotes, kept[1003].opened_ms) == (9, opened), "it was not opened"
        asked = len(demo.service.requests)
        seen = await press(pilot, "escape", "F")
        assert "1 of 5 locks not read yet" in seen and len(demo.service.requests) == asked
        monkeypatch.setattr(pilot.app.operations.locks, "note_counts", fails)
        await press(pilot, "escape", "asterisk", "r")
        assert "The disk is full." in notices(pilot)
        assert notices(pilot).count("locks read") == 1, "nothing is counted that was not saved"


@pytest.mark.long
async def test_reading_reports_progress_and_ends_with_its_marks(
    lockterm_app: Starter,
) -> None:
    go_on = asyncio.Event()

    async def listed(asked: dict[str, Any]) -> dict[str, Any]:
        if asked["lockId"] == "2":
            await go_on.wait()
        return {"errcode": 0, "data": {"list": [], "pages": 1, "total": 0}}

    fill_book(lockterm_app, Lock(1, name="One"), Lock(2, name="Two"))
    async with canned({"remote/list": listed}) as service, lockterm_app(service) as pilot:
        await pilot.press("asterisk", "r")
        await until(pilot, lambda: "2 marked reading: 1 of 2 locks" in words(pilot.app))
        await pilot.press("r")
        await until(
            pilot, lambda: "The marked locks are being read. Press U to stop." in notices(pilot)
        )
        await press(pilot, "U")
        assert "reading" not in words(pilot.app).rpartition("to stop")[2]
        assert not marked(pilot)
        await pilot.press("U", "r")
        await until(pilot, lambda: "2 marked reading: 1 of 2 locks" in words(pilot.app))
        go_on.set()
        await until(
            pilot,
            lambda: "2 of 2 locks read. The locks that were read have 0 remotes." in notices(pilot),
        )


async def test_what_a_lock_has_is_copied_to_the_marked_ones(demo: Demo) -> None:
    async with demo(locks=LOCKS) as pilot:
        seen = await press(pilot, "space", "space", "Y")
        assert isinstance(pilot.app.screen, CopyScreen)
        assert "all remotes of Main gate" in seen and "2 locks marked." in seen
        assert "[x] Loading dock" in seen and "[ ] 化学品仓库" in seen
        seen = await press(pilot, "escape", "up", "m", "down", "down", "enter")
        assert isinstance(pilot.app.screen, CopyScreen)
        assert "all remotes of Server room" in seen and "1 lock marked." in seen


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_it_looks_like(demo: Demo, size: tuple[int, int]) -> None:
    async with demo(size=size, locks=LOCKS) as pilot:
        seen = await press(pilot, "asterisk")
        assert "Space mark v set voice Y copy to m more U unmark all r read" in seen
        assert_picture(pilot.app, f"locks-marked-{size[0]}x{size[1]}")
        await press_to(pilot, ChoiceModal, "m")


async def test_rows_marked_again_during_a_run_stay_marked(
    lockterm_app: Starter,
) -> None:
    """Else the next key would be for the lock under the cursor."""
    go_on = asyncio.Event()

    async def setting(asked: dict[str, Any]) -> dict[str, Any]:
        if asked["lockId"] == 2:
            await go_on.wait()
        return DONE

    locks = [
        Lock(number, name=name, vendor="v", model="m")
        for number, name in enumerate(("One", "Two", "Zoo"), 1)
    ]
    fill_book(lockterm_app, *locks)
    answers = {
        "updateLockSetting": setting,
        "voice/packs": lambda _: DONE | {"data": TREE},
        "voice/list": lambda _: {"errcode": 0, "data": []},
    }
    async with canned(answers) as service, lockterm_app(service) as pilot:
        await press(pilot, "space", "space", "v", "down", "enter", "enter", "right", "enter")
        await until(pilot, lambda: _run(pilot).done == 1)
        await press(pilot, "escape")
        await until(pilot, lambda: marked(pilot) == {2})
        await press(pilot, "U", "home", "space", "end")
        go_on.set()
        await until(pilot, lambda: _run(pilot).is_finished)
        await settled(pilot)
        assert marked(pilot) == {1}


@pytest.mark.long
async def test_the_voices_of_each_marked_lock_are_read_and_who_lacks_one_is_named(
    lockterm_app: Starter,
) -> None:
    first = {"lang": "aa-AA", "timbres": [{"timbre": "first-voice-of-all", "name": "First"}]}

    def packs(asked: dict[str, Any]) -> dict[str, Any]:
        told = {"m": [first, *TREE], "n": TREE}
        return DONE | {"data": told.get(asked["model"], [])}

    locks = [
        Lock(1, name="One", vendor="v", model="m"),
        Lock(2, name="Two", vendor="v", model="n"),
    ]
    fill_book(lockterm_app, *locks)
    answers = {"voice/packs": packs, "voice/list": lambda _: {"errcode": 0, "data": []}}
    async with canned(answers) as service, lockterm_app(service) as pilot:
        seen = await press(pilot, "asterisk", "v")
        assert "Voices of 2 marked locks" in seen
        entry = pilot.app.screen.query_one(VoiceTree).entry
        assert entry is not None and entry.choice == VoiceChoice("de-DE", "anna")
        assert "All 2 marked locks can use this voice." in seen
        assert re.search(r"1 of 2 locks firs\S*…", seen) and "anna 2 of" not in seen
        seen = await press(pilot, "g", "down")
        assert "1 of 2 marked locks can use this voice. Others: Two." in seen
