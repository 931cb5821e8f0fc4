"""An app on chosen keys: they work, and everything that names a key names them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input, OptionList

from lockterm.domain.locks import Lock
from lockterm.domain.remotes import RemotePage
from lockterm.keymap.check import check
from lockterm.keymap.hints import with_keys
from lockterm.operations import Fetched
from lockterm.operations.list_state import ListState, LoadState
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.screens.help import HelpScreen
from lockterm.screens.locks import LocksScreen
from lockterm.screens.palette import Palette
from lockterm.screens.remote_form import RemoteForm
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.list_text import describe_empty
from lockterm.service.running import RunningService
from tests.screens.running_app import Starter, settled, until
from tests.screens.site import LOCKS, MAIN_GATE, fill_book, shown, words


@asynccontextmanager
async def choosing(
    starter: Starter, service: RunningService, open_lock: int | None = None, **chosen: str
) -> AsyncIterator[Pilot[int]]:
    """A running app on chosen keys; ids are written with ``__`` for the dot."""
    app = starter.app(service, open_lock)
    app.use_keys(check({name.replace("__", "."): keys for name, keys in chosen.items()}))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(pilot)
        yield pilot


async def test_chosen_keys_work_and_are_shown(
    lockterm_app: Starter, service: RunningService
) -> None:
    """The line of keys keeps its order; help and palette name the new key; the old one is dead."""
    chosen = {"remotes__add": "b", "remotes__delete": "x", "app__help": "f1", "row__down": "Z"}
    async with choosing(lockterm_app, service, MAIN_GATE.lock_id, **chosen) as pilot:
        app = pilot.app
        line = shown(app).splitlines()[-1]
        assert line.split("  ")[0].strip() == "b add", "it keeps its place"
        assert "x delete" in line
        assert "F1 help" in line
        assert "d delete" not in line
        before = app.screen.current
        await pilot.press("d", "delete", "question_mark", "j", "a")
        await settled(pilot)
        assert type(app.screen) is RemotesScreen
        assert app.screen.current == before
        await pilot.press("Z")
        await until(pilot, lambda: app.screen.current != before)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, DestroyModal))
        await pilot.pause()
        await pilot.press("escape")
        await until(pilot, lambda: type(app.screen) is RemotesScreen)

        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await settled(pilot)
        helped = words(app)
        assert "b add" in " ".join(helped.split())
        await pilot.press("escape", "ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, Palette))
        await until(pilot, lambda: app.screen.query_one(OptionList).option_count > 5)
        prompts = [str(option.prompt) for option in app.screen.query_one(OptionList).options]
        assert any(prompt.endswith(" b") for prompt in prompts if prompt.startswith("Add"))


@pytest.mark.long
async def test_they_are_named_where_there_is_nothing_to_show(
    lockterm_app: Starter, service: RunningService
) -> None:
    chosen = {"voice__vendor_model": "w", "app__history": "f6", "history__restore": "u"}
    fill_book(lockterm_app, Lock(1003, name="Server room"))
    async with choosing(lockterm_app, service, 1003, **chosen) as pilot:
        await pilot.press("v")
        await settled(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: "w set vendor and model" in words(pilot.app))
        page = RemotePage(page_no=1, page_size=20, pages=0, total=0)
        view = ListState(LoadState(Fetched(page, 0, 0)))
        _, offers = describe_empty(view, "Server room", may_add=True, may_restore=True)
        assert with_keys("{app.history}") == "F6"
        assert offers["{app.history}"] == "history (there, u restores)"


@pytest.mark.long
async def test_a_key_chosen_in_place_of_a_letter_works_in_a_field(
    lockterm_app: Starter, service: RunningService
) -> None:
    """As nobody can ask for help with ``?`` there."""
    chosen = {"app__help": "f1", "form__save": "f5", "form__leave": "escape,f9"}
    async with choosing(lockterm_app, service, MAIN_GATE.lock_id, **chosen) as pilot:
        app = pilot.app
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.focused, Input))
        await pilot.press("x", "f5")
        await pilot.pause()
        assert "F5 save" in words(app)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RemoteForm))
        await pilot.press("f9")
        await until(pilot, lambda: isinstance(app.screen, ConfirmModal))


async def test_quitting_works_in_every_dialog_and_field(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with choosing(lockterm_app, service, app__quit_always="f10") as pilot:
        app = pilot.app
        await pilot.press("ctrl+c", "o")
        await until(pilot, lambda: isinstance(app.focused, Input))
        await pilot.pause()
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert app.is_running, "it is F10 now"
        assert "Press F10 to quit lockterm from any screen." in [one.text for one in app.messages]
        await pilot.press("f10")
        await until(pilot, lambda: not app.is_running)


async def test_vims_keys_work_in_dialogs_and_lists(
    lockterm_app: Starter, service: RunningService
) -> None:
    async with lockterm_app(service, open_lock=MAIN_GATE.lock_id) as pilot:
        await settled(pilot)
        app = pilot.app
        await pilot.press("number_sign")
        await until(pilot, lambda: isinstance(app.focused, OptionList))
        await pilot.pause()
        assert isinstance(app.focused, OptionList)
        sizes = app.focused
        for key, place in (("G", sizes.option_count - 1), ("k", -2), ("g", 0), ("j", 1)):
            await pilot.press(key)
            await pilot.pause()
            assert sizes.highlighted == place % sizes.option_count, key
        await pilot.press("escape", "d")
        await until(pilot, lambda: isinstance(app.focused, Button))
        await pilot.pause()
        assert isinstance(app.focused, Button)
        assert app.focused.id == "keep"


@pytest.mark.long
async def test_the_keys_of_outcomes_say_why_they_do_nothing(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, LocksScreen))
        await settled(pilot)
        for key in "cAX":
            told = len(pilot.app.messages)
            await pilot.press(key)
            await pilot.pause()
            assert pilot.app.messages[told].text.startswith("There are no unconfirmed changes")
            await pilot.press("escape")
            await pilot.pause()
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
