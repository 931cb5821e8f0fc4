"""Text that hands type where a form takes none, on a choice or a button: it stays in the form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Button

from lockterm.config import Options
from lockterm.config.profiles import Profiles
from lockterm.screens.base import LocktermScreen
from lockterm.screens.help import HelpScreen
from lockterm.screens.locks.form import LockForm
from lockterm.screens.messages import MessagesScreen
from lockterm.screens.profiles.form import ProfileForm
from lockterm.screens.remote_form import RemoteForm
from lockterm.service.running import RunningService
from lockterm.widgets.actions import actions_of
from lockterm.widgets.choice import Choice, OptionLine
from tests.long import telling
from tests.screens.forms.conftest import GATE, KEYS
from tests.screens.running_app import Starter, settled, shown, until

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
            await pilot.press(*(KEYS.get(char, char) for char in TEXT))
            await settled(pilot)
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
        await until(pilot, lambda: app.screen is form)
        await settled(pilot)
        await pilot.press("q")
        await until(pilot, lambda: app.screen is not form)
        changes = "without saving" in shown(pilot)
        assert changes == (name == "remote"), "letters choose only where nothing is chosen"


async def test_empty_choice_takes_only_space_and_the_number_of_an_option(
    service: RunningService, lockterm_app: Starter, tmp_path: Path
) -> None:
    async with lockterm_app(service) as pilot:
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
