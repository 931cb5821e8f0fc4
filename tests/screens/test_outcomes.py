"""What is asked about an outcome that is not settled."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from textual import events

from lockterm.app import LocktermApp
from lockterm.domain.locks import VoiceChoice
from lockterm.domain.operation import UNSETTLED, Operation, State
from lockterm.errors import OutcomeUnknown
from lockterm.paths import Paths
from lockterm.screens.dialogs.choice import ChoiceModal
from lockterm.screens.modal import RefusedModal
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from lockterm.store.journal import Journal
from tests.conftest import NOW_MS
from tests.faults.catalogue import close
from tests.faults.proxy import FaultProxy
from tests.screens.running_app import Starter, settled, until
from tests.screens.site import MAIN_GATE, book_of, fill_book, words
from tests.screens.test_read_only import leave_unsettled
from tests.servers import port_of

ADDED = Operation(
    id="4f1c",
    profile="demo",
    call="add",
    path="/api/v1/remote/add",
    body={},
    lock_id=1001,
    lock_name="Main gate",
    remote_id=None,
    remote_name="Anna",
    before=(),
    state=State.AMBIGUOUS,
    session="",
    prepared_ms=NOW_MS,
    candidates=(17, 23),
)


@pytest.mark.parametrize(("keys", "bound"), [("enter", []), ("down down enter", [23])])
async def test_of_two_remotes_like_the_one_that_was_added_a_person_says_which(
    lockterm_app: Starter,
    service: RunningService,
    monkeypatch: pytest.MonkeyPatch,
    keys: str,
    bound: list[int],
) -> None:
    asked: list[int] = []

    async def unsettled() -> list[Operation]:
        return [ADDED]

    async def check(operation: Operation) -> Operation:
        return operation

    async def bind(operation: Operation, remote_id: int) -> Operation:
        asked.append(remote_id)
        return replace(operation, state=State.CONFIRMED)

    async with lockterm_app(service) as pilot:
        app: Any = pilot.app
        assert isinstance(app, LocktermApp)
        monkeypatch.setattr(app.operations.watch, "check", check)
        monkeypatch.setattr(app.operations.journal, "unsettled", unsettled)
        monkeypatch.setattr(app.operations.resolution, "bind", bind)
        app.outcomes.unsettled = (ADDED,)
        app.action_settle("check")
        await until(pilot, lambda: isinstance(app.screen, ChoiceModal))
        await settled(pilot)
        assert "You added Anna. Which remote is it?" in words(app)
        assert "None of them" in words(app) and "Remote 17" in words(app)
        early = events.Key("enter", None)
        early.time = 0.0
        assert not app.screen.is_meant(early), "typed before the question was painted"
        await pilot.press(*keys.split())
        await settled(pilot)
        assert asked == bound


async def test_sending_a_voice_again_names_it_and_the_one_that_it_would_replace(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with FaultProxy(port_of(service)).running() as proxy, lockterm_app(proxy) as pilot:
        app = pilot.app
        assert isinstance(app, LocktermApp)
        writes = app.operations.writes
        proxy.arm("updateLockSetting", close, 1)
        with pytest.raises(OutcomeUnknown):
            await writes.set_voice(MAIN_GATE, VoiceChoice("fr-FR", "marc"))
        await until(pilot, lambda: "voice fr-FR marc on Main gate, sent 09:00" in words(app))
        await pilot.press("A")
        await settled(pilot)
        assert "replaces a later change" not in words(app)
        await pilot.press("escape")
        await settled(pilot)
        lockterm_app.clock.now_s += 60
        await writes.set_voice(MAIN_GATE, VoiceChoice("de-DE", "jonas"))
        await pilot.press("A")
        await settled(pilot)
        assert "! This replaces a later change: voice de-DE jonas on Main gate" in words(app)
        await pilot.press(*"send", "enter", "enter")
        await until(pilot, lambda: not app.outcomes.unsettled)
        await settled(pilot)
        assert book_of(lockterm_app)[1001].voice == VoiceChoice("fr-FR", "marc")


async def test_an_outcome_leaves_the_screen_when_another_session_dismisses_it(
    lockterm_app: Starter, service: RunningService
) -> None:
    leave_unsettled(lockterm_app, ADDED)
    async with lockterm_app(service) as pilot:
        await until(pilot, lambda: "UNCONFIRMED add Anna" in words(pilot.app))
        settle_elsewhere(lockterm_app, ADDED.id)
        await until(pilot, lambda: "UNCONFIRMED" not in words(pilot.app))


async def test_store_is_not_read_when_no_change_is_unconfirmed(
    lockterm_app: Starter, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lockterm.screens.outcomes.SHOWN_S", 0.005)
    leave_unsettled(lockterm_app, ADDED)
    async with lockterm_app(service) as pilot:
        app, looks, ticks = pilot.app, list[int](), list[int]()
        assert isinstance(app, LocktermApp)

        async def look_again() -> None:
            looks.append(len(ticks))
            await outcomes_look_again()

        outcomes_look_again = app.outcomes.look_again
        monkeypatch.setattr(app.outcomes, "look_again", look_again)
        await until(pilot, lambda: looks)
        settle_elsewhere(lockterm_app, ADDED.id)
        await until(pilot, lambda: not app.outcomes.unsettled)
        await settled(pilot)
        looks.clear()
        app.set_interval(0.005, lambda: ticks.append(1))
        await until(pilot, lambda: len(ticks) > 9)  # such a timer would have looked by now
        assert not looks


async def test_what_another_session_leaves_and_settles_is_seen_here(
    lockterm_app: Starter, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lockterm.screens.outcomes.SHOWN_S", 3600.0)
    async with lockterm_app(service) as pilot:
        app = pilot.app
        assert isinstance(app, LocktermApp)
        leave_unsettled(lockterm_app, ADDED)
        assert "UNCONFIRMED" not in words(app)
        await app.outcomes.look_again()
        await until(pilot, lambda: "UNCONFIRMED add Anna" in words(app))
        settle_elsewhere(lockterm_app, ADDED.id)
        for key in ("A", "X", "c"):
            shown = app.outcomes.unsettled
            await pilot.press(key)
            await settled(pilot)
            assert isinstance(app.screen, RefusedModal)
            assert "The change is already resolved" in words(app)
            await pilot.press("escape")
            await settled(pilot)
            assert "UNCONFIRMED" not in words(app)
            app.outcomes.unsettled = shown
        await app.outcomes.look_again()
        assert not app.outcomes.unsettled


async def test_what_was_settled_is_said_though_the_journal_changes_amid_it(
    lockterm_app: Starter, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_unsettled(lockterm_app, ADDED)
    async with lockterm_app(service) as pilot:
        app = pilot.app
        assert isinstance(app, LocktermApp)
        await until(pilot, lambda: app.outcomes.unsettled)
        journal = app.operations.journal
        find, asked = journal.find, list[str]()

        async def find_amid_changes(operation_id: str) -> Operation | None:
            asked.append(operation_id)
            if len(asked) == 1:
                journal.on_change()
                await asyncio.Event().wait()  # until it is cut short
            return await find(operation_id)

        monkeypatch.setattr(journal, "find", find_amid_changes)
        settle_elsewhere(lockterm_app, ADDED.id, State.CONFIRMED_BY_READING)
        journal.on_change()
        await until(pilot, lambda: any(one.title == "Resolved: Add Anna" for one in app.messages))


def settle_elsewhere(starter: Starter, operation_id: str, state: State = State.GIVEN_UP) -> None:
    database = Database(Paths.below(starter.directory).database)
    Journal(database, "demo").move(operation_id, UNSETTLED, state=state)
    database.close()


@pytest.mark.parametrize("is_adopted", [True, False])
async def test_what_a_renamed_profile_has_left_is_adopted_after_a_question(
    lockterm_app: Starter, service: RunningService, is_adopted: bool
) -> None:
    async with lockterm_app(service) as pilot:
        assert isinstance(pilot.app, LocktermApp)
        journal = pilot.app.operations.journal
        await journal.unsettled()
        left = replace(ADDED, profile="old", service=service.base_url, account=journal.account.name)
    leave_unsettled(lockterm_app, left)
    async with lockterm_app(service) as pilot:
        question = 'Adopt 1 unconfirmed change of the profile "old"?'
        await until(pilot, lambda: question in words(pilot.app))
        await settled(pilot)
        await pilot.press(*(["right"] if is_adopted else []), "enter")
        await until(pilot, lambda: question not in words(pilot.app))
        await settled(pilot)
        assert ("UNCONFIRMED add Anna" in words(pilot.app)) is is_adopted
