"""What an edit form shows is what a key does: the cursor of options, pasted text, drafts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Button, Input

from lockterm.config import Options
from lockterm.config.profiles import Profiles
from lockterm.domain.locks import Lock
from lockterm.domain.rules import new_remote
from lockterm.errors import ResultUnknownError
from lockterm.screens.base import LocktermScreen
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.help import HelpScreen
from lockterm.screens.locks.form import LockForm
from lockterm.screens.messages import MessagesScreen
from lockterm.screens.profiles.form import ProfileForm
from lockterm.screens.remote_form import RemoteForm
from lockterm.service.running import RunningService
from lockterm.widgets.actions import actions_of
from lockterm.widgets.choice import Choice, OptionLine
from tests.conftest import NOW_MS
from tests.faults.proxy import FaultProxy
from tests.long import telling
from tests.screens.forms import conftest
from tests.screens.forms.conftest import GATE, KEYS, Gate, lose
from tests.screens.running_app import Clock, Demo, Starter, notices, settled, shown, until
from tests.screens.site import DAY_MS, press, settled_when


@pytest.mark.long
@pytest.mark.parametrize("kind", [1, 2, 4])
async def test_space_on_the_type_of_a_remote_leaves_it(gate: Gate, kind: int) -> None:
    dates = {"startDate": NOW_MS, "endDate": NOW_MS + DAY_MS} if kind != 1 else {}
    remote_id = gate.add(remoteName="Crew", remoteType=kind, isCoerced=2, **dates)
    async with gate(remote_id) as form:
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
    gate: Gate, keys: tuple[str, ...], is_asked: bool
) -> None:
    remote_id = gate.add(remoteName="Crew", remoteNumber="A-7")
    async with gate(remote_id) as form:
        await form.press(*keys)
        assert ("You have not changed anything yet." in shown(form.pilot)) is not is_asked
        await form.press("escape")
        assert isinstance(form.pilot.app.screen, ConfirmModal) is is_asked
        assert (form.screen in form.pilot.app.screen_stack) is is_asked


@pytest.mark.long
async def test_a_paste_of_several_lines_says_what_was_dropped(gate: Gate) -> None:
    async with gate() as form:
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
    demo: Demo, keys: tuple[str, ...], paste: str, stays: str, said: str
) -> None:
    async with demo(1001) as pilot:
        await pilot.press(*keys)
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        field = pilot.app.focused
        assert isinstance(field, Input)
        field.post_message(events.Paste(paste))
        await until(pilot, lambda: said in notices(pilot))
        assert field.value == stays


@pytest.mark.parametrize("applies", [True, False])
async def test_a_draft_of_an_add_that_was_sent_says_so(
    gate: Gate, proxy: FaultProxy, applies: bool
) -> None:
    lose(proxy, "add", applies=applies)
    async with gate.open(proxy) as form:
        operations = form.screen.operations
        await form.fill(remoteName="Ben", remoteNumber="B-1", remoteType="1")
        form.screen.soon.end()
        request = new_remote(GATE.lock_id, form.screen.fields.reading.values)
        with pytest.raises(ResultUnknownError):
            await operations.writes.add_remote(request)
        if applies:  # and the list shows it, which may take a moment
            while await operations.journal.list_unconfirmed():
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
async def test_sent_change_is_shown_when_the_clock_was_set_back(gate: Gate, clock: Clock) -> None:
    async with gate() as form:
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


# --- text beside the fields ----------------------------------------------------------------------

TEXT = "cAXMHPQOTzbR7:.-"
"""Keys of everywhere, and some of other screens; none that moves the focus."""


def form_of(name: str, pilot: Pilot[int], file: Path) -> LocktermScreen[Any]:
    app: Any = pilot.app
    if name == "remote":
        return RemoteForm(app.operations, GATE)
    if name == "lock":
        return LockForm(app.operations, GATE)
    profiles = Profiles(file, Options(), {})
    return ProfileForm(profiles, profiles.read(), None, app.choices, app.operations)


@pytest.mark.long
@pytest.mark.parametrize("name", telling(["remote"], ["remote", "lock", "profile"]))
async def test_a_letter_beside_the_fields_of_a_form_acts_nowhere_else(
    service: RunningService, lockterm_app: Starter, tmp_path: Path, name: str
) -> None:
    async with lockterm_app(service) as pilot:
        app = pilot.app
        form = form_of(name, pilot, tmp_path / "config.toml")
        await app.push_screen(form)
        await settled(pilot)
        for widget in (*form.query(Button), *form.query(OptionLine)):
            if not widget.focusable:
                continue
            widget.focus()
            await settled(pilot)
            looks = (app.look, app.theme)
            await press(pilot, *(KEYS.get(char, char) for char in TEXT))
            assert app.screen is form and app.focused is not None
            assert (app.look, app.theme) == looks
            assert not app.messages, "and it leaves no notice"
            offered = {key for action in actions_of(form) for key in action.keys if len(key) == 1}
            assert offered - {"?", "q"} <= {"h", "j", "k", "l"}, "what palette and help have"
        assert "f2" in form.active_bindings and "ctrl+p" in form.active_bindings
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, MessagesScreen))
        await pilot.press("escape", "question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await pilot.press("escape")
        await settled_when(pilot, lambda: app.screen is form)
        await pilot.press("q")
        await until(pilot, lambda: app.screen is not form)
        changes = "without saving" in shown(pilot)
        assert changes == (name == "remote"), "letters choose only where nothing is chosen"


async def test_empty_choice_takes_only_space_and_the_number_of_an_option(
    demo: Demo, tmp_path: Path
) -> None:
    async with demo() as pilot:
        form = form_of("remote", pilot, tmp_path)
        await pilot.app.push_screen(form)
        await settled(pilot)
        kind = form.query_one("#remoteType", Choice)
        kind.focus()
        await pilot.press("l", "right", "r", "left", "p")
        assert (kind.value, kind.cursor) == ("", 0)
        await pilot.press("right", "space")
        assert kind.value == "2"
        await pilot.press("l", "h", "r")
        assert kind.value == "2"
        await pilot.press("space")
        assert kind.value == "4"
        await pilot.press("left")
        assert kind.value == "2"
        await pilot.press("1")
        assert kind.value == "1"
        (choose,) = [one for one in actions_of(form) if one.binding.id == "option.choose"]
        assert "first letter" in choose.sentence and "number" in choose.sentence


# --- a lock in an unknown time zone --------------------------------------------------------------


async def test_form_refuses_dates_in_unknown_zone(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conftest, "GATE", Lock(1001, name="Main gate", zone="Europe/Atlantis"))
    period: dict[str, Any] = {"remoteType": 2, "startDate": 1, "endDate": 1_801_436_399_000}
    remote_id = gate.add(remoteName="Roof", **period)
    reason = 'This machine does not know the time zone "Europe/Atlantis" of this lock.'
    async with gate(remote_id, "endDate") as form:
        assert "31 Jan 2027 22:59:59 +00:00" in form.note("endDate")
        assert reason in form.note("endDate")
        await form.press("'2027-06-30", "ctrl+s")
        assert form.error("endDate").startswith(reason)
        assert form.dialog == ""
        await form.fill(endDate="2027-06-30 18:00 +02:00")
        await form.press("ctrl+s")
        assert "30 Jun 2027 16:00 +00:00" in form.dialog
