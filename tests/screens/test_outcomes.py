"""What is asked about an outcome that is not settled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from textual import events

from lockterm.app import LocktermApp
from lockterm.domain.operation import Operation, State
from lockterm.screens.dialogs.choice import ChoiceModal
from lockterm.service.running import RunningService
from tests.conftest import NOW_MS
from tests.screens.running_app import Starter, settled, until
from tests.screens.site import words

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

    async def check(operation: Operation) -> Operation:
        return operation

    async def bind(operation: Operation, remote_id: int) -> Operation:
        asked.append(remote_id)
        return replace(operation, state=State.CONFIRMED)

    async with lockterm_app(service) as pilot:
        app: Any = pilot.app
        assert isinstance(app, LocktermApp)
        monkeypatch.setattr(app.operations.watch, "check", check)
        monkeypatch.setattr(app.operations.settling, "bind", bind)
        app.outcomes.unsettled = (ADDED,)
        app.action_settle("check")
        await until(pilot, lambda: isinstance(app.screen, ChoiceModal))
        await settled(pilot)
        assert "Which remote is the Anna that was added?" in words(app)
        assert "None of them" in words(app) and "Remote 17" in words(app)
        early = events.Key("enter", None)
        early.time = 0.0
        assert not app.screen.is_meant(early), "typed before the question was painted"
        await pilot.press(*keys.split())
        await settled(pilot)
        assert asked == bound
