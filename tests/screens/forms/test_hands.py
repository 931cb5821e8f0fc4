"""What an edit form shows is what a key does: the cursor of options, pasted text, drafts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual import events
from textual.widgets import Input

from lockterm.domain.rules import new_remote
from lockterm.errors import OutcomeUnknown
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.remote_form import RemoteForm
from lockterm.service.running import RunningService
from lockterm.widgets.choice import Choice
from tests.conftest import NOW_MS
from tests.screens.forms.conftest import GATE, Line, Opener, add
from tests.screens.running_app import Clock, Starter, notices, shown, until
from tests.screens.site import DAY_MS


@pytest.mark.long
@pytest.mark.parametrize("kind", [1, 2, 4])
async def test_space_on_the_type_of_a_remote_leaves_it(
    service: RunningService, open_form: Opener, kind: int
) -> None:
    dates = {"startDate": NOW_MS, "endDate": NOW_MS + DAY_MS} if kind != 1 else {}
    remote_id = add(service, remoteName="Crew", remoteType=kind, isCoerced=2, **dates)
    async with open_form(service, remote_id) as form:
        for line in form.screen.query(Choice):
            assert line.options[line.cursor][0] == line.value
        await form.press("tab", "space")
        assert form.screen.fields.reading.values.remote_type == kind
        assert not form.screen.touched()


@pytest.mark.parametrize(
    ("keys", "is_asked"),
    [
        (("' xyz", "alt+backspace"), False),  # a space is left
        (("' xyz",), True),
        (("ctrl+u", "'crew"), True),
        (("ctrl+u", "' Crew "), False),
    ],
)
async def test_edit_form_asks_before_leaving_if_saving_would_send_something(
    service: RunningService, open_form: Opener, keys: tuple[str, ...], is_asked: bool
) -> None:
    remote_id = add(service, remoteName="Crew", remoteNumber="A-7")
    async with open_form(service, remote_id) as form:
        await form.press(*keys)
        assert ("You have not changed anything yet." in shown(form.pilot)) is not is_asked
        await form.press("escape")
        assert isinstance(form.pilot.app.screen, ConfirmModal) is is_asked
        assert (form.screen in form.pilot.app.screen_stack) is is_asked


@pytest.mark.long
async def test_a_paste_of_several_lines_says_what_was_dropped(
    service: RunningService, open_form: Opener
) -> None:
    async with open_form(service) as form:
        field = form.pilot.app.focused
        assert field is not None
        field.post_message(events.Paste("\nAnna Weber\r\n"))  # one line, whatever ends it
        await until(form.pilot, lambda: form.screen.fields.typed()["remoteName"] == "Anna Weber")
        assert "Pasted text cut" not in notices(form.pilot)
        await form.press("ctrl+u")
        field.post_message(events.Paste("Ben Carter\nA-2041\x1b[2J\n\npermanent\n"))
        await until(form.pilot, lambda: form.screen.fields.typed()["remoteName"] == "Ben Carter")
        assert (
            "the pasted text has 3. lockterm dropped 2 lines, starting with “A-2041�[2J”."
            in notices(form.pilot)
        )


@pytest.mark.parametrize(
    ("keys", "paste", "stays", "said"),
    [
        (("slash",), "Anna\nBen", "Anna", "dropped 1 line, starting with “Ben”"),
        (("slash",), "A" * 300, "A" * 200, "200 of the 300 characters fit"),
        (("colon",), "page 3", "", "“page 3” is not valid in this field"),
        (("colon",), "3\n4", "3", "dropped 1 line, starting with “4”"),
    ],
)
async def test_no_field_drops_a_part_of_a_paste_in_silence(
    service: RunningService,
    lockterm_app: Starter,
    keys: tuple[str, ...],
    paste: str,
    stays: str,
    said: str,
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        await pilot.press(*keys)
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        field = pilot.app.focused
        assert isinstance(field, Input)
        field.post_message(events.Paste(paste))
        await until(pilot, lambda: said in notices(pilot))
        assert field.value == stays


@pytest.mark.parametrize("applies", [True, False])
async def test_a_draft_of_an_add_that_was_sent_says_so(
    line: Line, open_form: Opener, applies: bool
) -> None:
    line.lose, line.applies = "add", applies
    async with open_form(line) as form:
        operations = form.screen.operations
        await form.fill(remoteName="Ben", remoteNumber="B-1", remoteType="1")
        form.screen.soon.end()
        request = new_remote(GATE.lock_id, form.screen.fields.reading.values)
        with pytest.raises(OutcomeUnknown):
            await operations.writes.add_remote(request)
        if applies:  # and the list shows it, which may take a moment
            while await operations.journal.unsettled():
                await form.pilot.pause()
        form.pilot.app.pop_screen()
        form.pilot.app.push_screen(RemoteForm(operations, GATE))
        await until(form.pilot, lambda: form.pilot.app.screen.is_modal)
        assert "The form for a new remote on Main gate was not finished" in form.dialog
        assert "! The form was sent 20 Nov 2026 09:00" in form.dialog
        seen = (
            ": recorded, verified by"
            if applies
            else "The change is probably recorded. Check the lock first."
        )
        assert seen in form.dialog
        assert "may have the remote twice" in form.dialog


@pytest.mark.long
async def test_sent_change_is_shown_when_the_clock_was_set_back(
    service: RunningService, open_form: Opener, clock: Clock
) -> None:
    async with open_form(service) as form:
        operations = form.screen.operations
        await form.fill(remoteName="Ben", remoteNumber="B-1", remoteType="1")
        form.screen.soon.end()
        typed = form.screen.fields.reading.values
        await operations.writes.add_remote(new_remote(GATE.lock_id, typed))
        clock.set_back_s = DAY_MS / 1000
        other = replace(typed, remote_name="Carla", remote_number="C-1")
        await operations.writes.add_remote(new_remote(GATE.lock_id, other))
        form.pilot.app.pop_screen()
        form.pilot.app.push_screen(RemoteForm(operations, GATE))
        await until(form.pilot, lambda: form.pilot.app.screen.is_modal)
        assert "! The form was sent 20 Nov 2026 09:00" in form.dialog
