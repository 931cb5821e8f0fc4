"""Text that runs into a question which came in place of a form: it answers nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from lockterm.screens.dialogs.confirm import READ_S, ConfirmModal
from lockterm.screens.remote_form import RemoteForm
from lockterm.service.running import RunningService
from tests.screens.running_app import Clock, Starter, notices, settled, until
from tests.screens.site import press, press_to


@pytest.mark.long
async def test_a_name_and_enter_do_not_start_a_draft_afresh(
    service: RunningService, tmp_path: Path
) -> None:
    starter = Starter(tmp_path / "lockterm", Clock())
    form = ("remote", 1001, None)
    async with starter(service, 1001) as pilot:
        typed = {"remoteName": "Draft", "remoteNumber": "D-1", "remoteType": "1"}
        pilot.app.operations.drafts.keep(form, typed, print)
        await pilot.app.operations.drafts.flush()
    async with starter(service, 1001) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        await pilot.press("escape")  # later: it comes with its form
        await settled(pilot)
        for key in ("a", *"Anna", "enter"):  # as hands type it, without looking
            await press(pilot, key)
        assert isinstance(pilot.app.screen, ConfirmModal)
        assert "You were still typing text." in notices(pilot)
        await press_to(pilot, RemoteForm, "right", "enter")
        assert pilot.app.screen.fields.typed()["remoteName"] == "Draft"


@pytest.mark.parametrize(("pause_s", "is_answer"), [(READ_S / 2, False), (READ_S, True)])
async def test_question_takes_an_answer_when_it_was_visible_long_enough_after_text(
    service: RunningService, lockterm_app: Starter, pause_s: float, is_answer: bool
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        app = pilot.app
        question = ConfirmModal("Leave?", verb="Leave", loses_text=True)
        app.push_screen(question)
        await until(pilot, lambda: question.painted_s is not None)
        letters = [events.Key("x", "x"), events.Key("y", "y")]
        answer = [events.Key("right", None), events.Key("enter", "\r")]
        for key in answer:
            key.time = letters[-1].time + pause_s
        for key in (*letters, *answer):
            app.post_message(key)
        await settled(pilot)
        assert (question not in app.screen_stack) is is_answer
        assert ("You were still typing" in notices(pilot)) is not is_answer


async def test_question_takes_no_answer_of_a_burst_that_arrived_before_it_was_visible(
    service: RunningService, lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keys waited in the link, so their times do not show when the user typed them."""
    async with lockterm_app(service, 1003) as pilot:
        app, drawn = pilot.app, []
        monkeypatch.setattr(app, "ask_drawn", drawn.append)
        question = ConfirmModal("Leave?", verb="Leave", loses_text=True)
        app.push_screen(question)
        await until(pilot, lambda: drawn)
        letter = events.Key("x", "x")
        answer = [events.Key("right", None), events.Key("enter", "\r")]
        for key in answer:
            key.time = letter.time + 10 * READ_S
        drawn[0](letter.time + 9.5 * READ_S)
        for key in (letter, *answer):
            app.post_message(key)
        await settled(pilot)
        assert question in app.screen_stack
