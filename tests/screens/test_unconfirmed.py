"""What is asked about an outcome that is not settled."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from textual import events

from lockterm.app import LocktermApp
from lockterm.domain.locks import VoiceChoice
from lockterm.domain.operation import UNCONFIRMED, Operation, OperationState
from lockterm.errors import ResultUnknownError
from lockterm.paths import Paths
from lockterm.screens.dialogs.choice import ChoiceModal
from lockterm.screens.modal import RefusedModal
from lockterm.store.database import Database
from lockterm.store.journal import Journal
from tests.conftest import NOW_MS
from tests.faults.catalogue import close
from tests.faults.proxy import FaultProxy
from tests.screens.running_app import Demo, Starter, until
from tests.screens.site import MAIN_GATE, book_of, press, settled_when, words
from tests.screens.test_read_only import leave_unsettled
from tests.servers import port_of

ADDED = Operation(
    **{"id": "4f1c", "profile": "demo", "call": "add", "path": "/api/v1/remote/add", "body": {}},
    **{"lock_id": 1001, "lock_name": "Main gate", "remote_id": None, "remote_name": "Anna"},
    **{"before": (), "state": OperationState.AMBIGUOUS, "session": "", "prepared_ms": NOW_MS},
    candidates=(17, 23),
)


@pytest.mark.parametrize(("keys", "bound"), [("enter", []), ("down down enter", [23])])
async def test_of_two_remotes_like_the_one_that_was_added_a_person_says_which(
    demo: Demo, monkeypatch: pytest.MonkeyPatch, keys: str, bound: list[int]
) -> None:
    asked: list[int] = []

    async def unconfirmed() -> list[Operation]:
        return [ADDED]

    async def check(operation: Operation) -> Operation:
        return operation

    async def bind(operation: Operation, remote_id: int) -> Operation:
        asked.append(remote_id)
        return replace(operation, state=OperationState.CONFIRMED)

    async with demo() as pilot:
        app: Any = pilot.app
        assert isinstance(app, LocktermApp)
        monkeypatch.setattr(app.operations.watch, "check", check)
        monkeypatch.setattr(app.operations.journal, "list_unconfirmed", unconfirmed)
        monkeypatch.setattr(app.operations.resolution, "bind", bind)
        app.outcomes.unconfirmed = (ADDED,)
        app.action_settle("check")
        await settled_when(pilot, lambda: isinstance(app.screen, ChoiceModal))
        assert "You added Anna. Which remote is it?" in words(app)
        assert "None of them" in words(app) and "Remote 17" in words(app)
        early = events.Key("enter", None)
        early.time = 0.0
        assert not app.screen.is_meant(early), "typed before the question was painted"
        await press(pilot, *keys.split())
        assert asked == bound


async def test_sending_a_voice_again_names_it_and_the_one_that_it_would_replace(demo: Demo) -> None:
    demo.fill_book(MAIN_GATE)
    async with FaultProxy(port_of(demo.service)).running() as proxy, demo.starter(proxy) as pilot:
        app = pilot.app
        assert isinstance(app, LocktermApp)
        writes = app.operations.writes
        proxy.arm("updateLockSetting", close, 1)
        with pytest.raises(ResultUnknownError):
            await writes.set_voice(MAIN_GATE, VoiceChoice("fr-FR", "marc"))
        await until(pilot, lambda: "voice fr-FR marc on Main gate, sent 09:00" in words(app))
        await press(pilot, "A")
        assert "replaces a later change" not in words(app)
        await press(pilot, "escape")
        demo.starter.clock.now_s += 60
        await writes.set_voice(MAIN_GATE, VoiceChoice("de-DE", "jonas"))
        await press(pilot, "A")
        assert "! Sending again replaces a later change: set voice de-DE jonas" in words(app)
        await pilot.press(*"send", "enter", "enter")
        await settled_when(pilot, lambda: not app.outcomes.unconfirmed)
        assert book_of(demo.starter)[1001].voice == VoiceChoice("fr-FR", "marc")


async def test_settled_outcome_leaves_screen(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lockterm.screens.unconfirmed.SHOWN_S", 0.005)
    leave_unsettled(demo.starter, ADDED)
    async with demo() as pilot:
        app, looks, ticks = pilot.app, list[int](), list[int]()
        assert isinstance(app, LocktermApp)

        async def look_again() -> None:
            looks.append(len(ticks))
            await outcomes_look_again()

        outcomes_look_again = app.outcomes.look_again
        monkeypatch.setattr(app.outcomes, "look_again", look_again)
        await until(pilot, lambda: looks and "UNCONFIRMED add Anna" in words(app))
        settle_elsewhere(demo.starter, ADDED.id)
        await settled_when(
            pilot, lambda: not app.outcomes.unconfirmed and "UNCONFIRMED" not in words(app)
        )
        looks.clear()
        app.set_interval(0.005, lambda: ticks.append(1))
        await until(pilot, lambda: len(ticks) > 9)  # such a timer would have looked by now
        assert not looks


async def test_outcome_of_another_session_is_seen(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lockterm.screens.unconfirmed.SHOWN_S", 3600.0)
    async with demo() as pilot:
        app = pilot.app
        assert isinstance(app, LocktermApp)
        leave_unsettled(demo.starter, ADDED)
        assert "UNCONFIRMED" not in words(app)
        await app.outcomes.look_again()
        await until(pilot, lambda: "UNCONFIRMED add Anna" in words(app))
        settle_elsewhere(demo.starter, ADDED.id)
        for key in ("A", "X", "c"):
            shown = app.outcomes.unconfirmed
            await press(pilot, key)
            assert isinstance(app.screen, RefusedModal)
            assert "The change is already resolved" in words(app)
            await press(pilot, "escape")
            assert "UNCONFIRMED" not in words(app)
            app.outcomes.unconfirmed = shown
        await app.outcomes.look_again()
        assert not app.outcomes.unconfirmed


async def test_result_is_said_amid_changes(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_unsettled(demo.starter, ADDED)
    async with demo() as pilot:
        app = pilot.app
        assert isinstance(app, LocktermApp)
        await until(pilot, lambda: app.outcomes.unconfirmed)
        journal = app.operations.journal
        find, asked = journal.find, list[str]()

        async def find_amid_changes(operation_id: str) -> Operation | None:
            asked.append(operation_id)
            if len(asked) == 1:
                journal.on_change()
                await asyncio.Event().wait()  # until it is cut short
            return await find(operation_id)

        monkeypatch.setattr(journal, "find", find_amid_changes)
        settle_elsewhere(demo.starter, ADDED.id, OperationState.CONFIRMED_BY_READING)
        journal.on_change()
        await until(pilot, lambda: any(one.title == "Resolved: Add Anna" for one in app.messages))


def settle_elsewhere(
    starter: Starter, operation_id: str, state: OperationState = OperationState.GIVEN_UP
) -> None:
    database = Database(Paths.below(starter.directory).database)
    Journal(database, "demo").move(operation_id, UNCONFIRMED, state=state)
    database.close()


@pytest.mark.parametrize("is_adopted", [True, False])
async def test_change_of_a_renamed_profile_is_adopted(demo: Demo, is_adopted: bool) -> None:
    async with demo() as pilot:
        assert isinstance(pilot.app, LocktermApp)
        journal = pilot.app.operations.journal
        await journal.list_unconfirmed()
        left = replace(
            ADDED, profile="old", service=demo.service.base_url, account=journal.account.name
        )
    leave_unsettled(demo.starter, left)
    async with demo() as pilot:
        question = 'Adopt 1 unconfirmed change of the profile "old"?'
        await settled_when(pilot, lambda: question in words(pilot.app))
        await pilot.press(*(["right"] if is_adopted else []), "enter")
        await settled_when(pilot, lambda: question not in words(pilot.app))
        assert ("UNCONFIRMED add Anna" in words(pilot.app)) is is_adopted
