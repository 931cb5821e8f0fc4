"""A key that lands where it was not meant deletes nothing: the three walls before that.

While a text field has the focus, a key with alt edits. After Escape has closed a form, letters do
nothing for a second. A question that deletes takes its key only as the first one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.app import App
from textual.widgets import Button, Input

from lockterm.app.first_run_app import FirstRunApp
from lockterm.config import Options
from lockterm.config.look import FULL_LOOK
from lockterm.config.preferences import Preferences
from lockterm.config.profiles import Profiles
from lockterm.domain.locks import Lock
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.screens.help import HelpScreen
from lockterm.screens.import_file import FileScreen
from lockterm.screens.locks.form import LockForm
from lockterm.screens.profiles.form import ProfileForm
from lockterm.screens.remote_form import RemoteForm
from lockterm.screens.remote_form.marked import MarkedForm
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from lockterm.terminal.terminal_input import TerminalInput
from lockterm.widgets.choice import Choice
from lockterm.widgets.text_input import SingleLineInput
from tests.long import telling
from tests.screens import someone_else
from tests.screens.conftest import clock, lockterm_app
from tests.screens.forms.conftest import KEYS
from tests.screens.running_app import Starter, notices, settled, until
from tests.screens.site import fill_book, press, press_to, settled_when, words

__all__ = ["clock", "lockterm_app"]

ALT_KEYS = {
    "alt+backspace": b"\x1b\x7f",
    "alt+ctrl+h": b"\x1b\x08",
    "alt+d": b"\x1bd",
    "alt+b": b"\x1bb",
    "alt+f": b"\x1bf",
    "alt+left": b"\x1b[1;3D",
    "alt+up": b"\x1b[1;3A",
    "alt+ctrl+right": b"\x1b[1;7C",
    "alt+delete": b"\x1b[3;3~",
    "alt+left of rxvt": b"\x1b\x1b[D",
    "alt+x": b"\x1bx",
    "alt+enter": b"\x1b\r",
}
TEXT = "delivery Door"


def type_(app: App[Any], *read: bytes | str, term: str = "screen-256color") -> None:
    """Have bytes arrive, each in a read of its own and a long time apart."""
    terminal, now_s = TerminalInput(term=term), 0.0
    for data in read:
        now_s += 10
        sent = data.encode() if isinstance(data, str) else data
        for message in (*terminal.feed(sent, now_s), *terminal.tick(now_s + 5)):
            app.post_message(message)


def letters(text: str) -> Iterator[events.Key]:
    """Keys that are typed now, whichever names they have."""
    for message in TerminalInput().feed(text.encode(), 0.0):
        assert isinstance(message, events.Key)
        yield message


# --- input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "term", ["screen-256color", pytest.param("xterm-256color", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("name", telling(["alt+backspace", "alt+d", "alt+left of rxvt"], ALT_KEYS))
async def test_form_stays_when_a_key_with_alt_is_typed_into_it(
    service: RunningService, lockterm_app: Starter, name: str, term: str
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        type_(pilot.app, "e")
        await settled_when(pilot, lambda: isinstance(pilot.app.screen, RemoteForm))
        form = pilot.app.screen
        type_(pilot.app, ALT_KEYS[name], *TEXT, term=term)
        await settled(pilot)
        assert pilot.app.screen is form
        assert TEXT in form.query_one("#remoteName", Input).value
        await press(pilot, "escape")
        await pilot.press("right", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RemotesScreen))
        assert len(someone_else.page(service, 1003)) == 9
        assert await pilot.app.operations.journal.history() == []


async def test_form_stays_when_a_key_with_alt_is_typed_on_its_choice(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await press(pilot, "e")
        form = pilot.app.screen
        for widget in ("remoteType", "isCoerced"):
            form.query_one(f"#{widget}").focus()
            type_(pilot.app, *ALT_KEYS.values())
            await settled(pilot)
            assert pilot.app.screen is form


class Field(App[None]):
    """A text field in an app of its own."""

    def compose(self) -> Iterator[SingleLineInput]:
        yield SingleLineInput("Anna Maria Weber", id="field")


async def test_field_edits_by_words_as_readline_does() -> None:
    name = "Anna Maria Weber"
    app = Field()
    async with app.run_test() as pilot:
        field = app.query_one(SingleLineInput)
        for keys, left, cursor in (
            ("end alt+backspace", "Anna Maria ", 11),
            ("end alt+backspace alt+backspace", "Anna ", 5),
            ("end ctrl+backspace", "Anna Maria ", 11),
            ("home alt+d", " Maria Weber", 0),
            ("home alt+d alt+d", " Weber", 0),
            ("home alt+delete", " Maria Weber", 0),
            ("home ctrl+delete", " Maria Weber", 0),
            ("end alt+b", name, 11),
            ("end alt+left alt+left", name, 5),
            ("end alt+ctrl+left", name, 11),
            ("home alt+f", name, 4),
            ("home alt+right alt+f", name, 10),
            ("end alt+f alt+d", name, 16),
            ("end alt+x alt+Enter alt+up", name, 16),
        ):
            field.value = name
            await pilot.press(*keys.split())
            assert (field.value, field.cursor_position) == (left, cursor), keys
        field.value, field.password = name, True  # words of a secret are not shown
        await pilot.press("home", "alt+f")
        assert field.cursor_position == len(name)
        await pilot.press("home", "alt+d")
        assert field.value == ""


async def test_escape_and_a_key_are_separated_by_pause_or_multiplexer(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await press(pilot, "enter")
        detail = pilot.app.screen
        type_(pilot.app, b"\x1bM", term="xterm-256color")
        await settled(pilot)
        assert pilot.app.screen is detail
        assert "To press Escape and then M, wait between" in notices(pilot)
        type_(pilot.app, b"\x1b[1;3A", b"\x1b[3;3~")
        await settled(pilot)
        assert pilot.app.screen is detail
        type_(pilot.app, b"\x1bk", term="tmux-256color")
        await until(pilot, lambda: isinstance(pilot.app.screen, RemotesScreen))


HANDS: tuple[bytes | str, ...] = (
    *ALT_KEYS.values(),
    *"delivery Door dD cC xX aewu q? 12",
    *(b"\t", b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x7f", b"\x1bD", b"\x1b?"),
)
"""What hands type into a form, without Enter and Escape."""


@pytest.mark.parametrize("seed", telling([1], range(1, 13)))
async def test_nothing_is_sent_when_hands_type_at_random_into_a_form(
    service: RunningService, lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr("lockterm.terminal.key_queue.CLOSED_S", 3600.0)  # all within the second
    rng = random.Random(seed)
    ways = ("e", "a", "w", " w")
    async with lockterm_app(service, 1003) as pilot:
        for way in ways[seed % len(ways)]:
            await press(pilot, KEYS.get(way, way))
        for _ in range(20):
            typed = rng.choices(HANDS, k=rng.randrange(1, 30))
            type_(pilot.app, *typed, term=rng.choice(["xterm", "tmux-256color"]))
            await settled(pilot)
        assert await pilot.app.operations.journal.history() == []
    sent = {path.rpartition("/")[2] for _, path in service.requests}
    assert sent.isdisjoint({"add", "update", "delete", "clear", "updateRemoteUserNo"})


# --- after a form ------------------------------------------------------------------------------


FORMS: dict[str, tuple[type[Any], tuple[str, ...]]] = {
    "remote": (RemoteForm, ("e",)),
    "new remote": (RemoteForm, ("a",)),
    "marked": (MarkedForm, ("space", "w")),
    "file": (FileScreen, ("I",)),
    "lock": (LockForm, ("escape", "e")),
    "profile": (ProfileForm, ("P", "a")),
}


@pytest.fixture
def closing(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A test says how much of the second after a closed form has passed.

    The second takes an hour, so that a slow machine does not end it.
    """
    hour_s = 3600.0
    monkeypatch.setattr("lockterm.terminal.key_queue.CLOSED_S", hour_s)
    passed = [0.0]
    init = events.Key.__init__

    def typed_later(self: events.Key, *given: Any) -> None:
        init(self, *given)
        self.time += passed[0]

    monkeypatch.setattr(events.Key, "__init__", typed_later)
    return lambda seconds: passed.__setitem__(0, seconds * hour_s)


@pytest.mark.parametrize("name", telling(["remote"], list(FORMS)))
async def test_letters_do_nothing_when_escape_has_just_closed_a_form(
    service: RunningService,
    lockterm_app: Starter,
    tmp_path: Path,
    closing: Callable[[float], None],
    name: str,
) -> None:
    kind, ways = FORMS[name]
    fill_book(lockterm_app, Lock(1003, name="Server room"))
    file = tmp_path / "config.toml"
    file.write_text(f'[profiles.demo]\nbase_url = "{service.base_url}"\n')
    app = lockterm_app.app(service, 1003, profiles=Profiles(file, Options(), {}))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(pilot)
        for way in ways:
            await press(pilot, way)
        assert isinstance(app.screen, kind)
        below = app.screen_stack[-2]
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is below)
        for passed in (0.0, 0.5):
            closing(passed)
            for letter in letters("dD xM?"):
                app.post_message(letter)
            await settled(pilot)
            assert app.screen is below
        words = "Form closed: lockterm ignores letters until you stop typing for one second."
        assert notices(pilot).count(words) == 1
        await press(pilot, "f2")
        assert app.screen is not below, "other keys act"
        await press(pilot, "escape")
        closing(1.5)
        await press(pilot, "M")
        assert app.screen is not below, "the second has passed"
        assert someone_else.counted(service, "delete") == 0


async def test_letters_act_when_a_form_was_saved(
    service: RunningService, lockterm_app: Starter, closing: Callable[[float], None]
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await press_to(pilot, ConfirmModal, "e", "X", "ctrl+s")
        await press_to(pilot, RemotesScreen, "right", "enter")
        await press(pilot, "M")
        assert not isinstance(pilot.app.screen, RemotesScreen)


async def test_typed_text_stays_when_text_and_enter_run_into_the_question_to_leave(
    service: RunningService, lockterm_app: Starter, closing: Callable[[float], None]
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await press(pilot, "e", "X")
        form = pilot.app.screen
        typed = form.query_one("#remoteName", Input).value
        assert typed.endswith("X")
        await press_to(pilot, ConfirmModal, "escape")
        for letter in letters("lll\r"):
            pilot.app.post_message(letter)
        await until(pilot, lambda: pilot.app.screen is form)
        assert form.query_one("#remoteName", Input).value == typed, "within the second"
        assert "Still typing: lockterm ignores letters" in notices(pilot)
        assert "Form closed" not in notices(pilot)
        closing(5.0)
        await press_to(pilot, ConfirmModal, "escape")
        closing(10.0)
        for letter in letters("all\r"):
            pilot.app.post_message(letter)
        await settled(pilot)
        assert isinstance(pilot.app.screen, ConfirmModal), "after it"
        assert "You were still typing text." in notices(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is form)
        assert form.query_one("#remoteName", Input).value == typed


# --- questions ---------------------------------------------------------------------------------


QUESTIONS = {
    "delete": ("d",),
    "delete from the detail": ("\r", "d"),
    "delete the marked": (" ", " ", "d", "\r"),
    "delete more than ten": ("*", "d", "\r", "12\r"),
    "clear": ("C", "1003\r"),
}
"""What leads to each question that deletes or clears, up to where its key would act."""


async def come_to(pilot: Any, keys: tuple[str, ...]) -> DestroyModal:
    for each in keys:
        for char in each:
            type_(pilot.app, char)
            await settled(pilot)
    assert isinstance(pilot.app.screen, DestroyModal), words(pilot.app)
    return pilot.app.screen


@pytest.mark.parametrize("other", telling(["e", "h"], ["e", "h", " ", "l", "2", "é", "?"]))
@pytest.mark.parametrize("name", QUESTIONS)
async def test_question_that_deletes_is_disarmed_when_another_key_comes_first(
    service: RunningService, lockterm_app: Starter, name: str, other: str
) -> None:
    for number in range(3):
        someone_else.add(service, 1003, f"More {number}", remoteNumber=f"M-{number}")
    async with lockterm_app(service, 1003) as pilot:
        app = pilot.app
        modal = await come_to(pilot, QUESTIONS[name])
        assert modal.may_act()
        type_(app, other, "D", "D", "\r", "\x1b[C", "\r", "\t", "\r")
        await settled(pilot)
        assert app.screen is modal
        pressed = "Space" if other == " " else other
        assert f"Nothing was deleted, because you first pressed “{pressed}”" in words(app)
        assert "Press Esc to go back." in words(app)
        assert not modal.may_act()
        modal.query_one("#act", Button).press()
        await settled(pilot)
        assert app.screen is modal
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not modal)
        assert len(someone_else.page(service, 1003)) == 12


async def test_question_that_deletes_is_disarmed_by_a_paste_and_not_by_moving_keys(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        modal = await come_to(pilot, ("d",))
        pilot.app.post_message(events.Paste("Door"))
        type_(pilot.app, "D")
        await settled(pilot)
        assert pilot.app.screen is modal
        assert "you pasted text" in words(pilot.app)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is not modal)
        assert len(someone_else.page(service, 1003)) == 9
        for left, first in enumerate(("\x1b[6~", "\x1b[A", "\t"), 1):
            modal = await come_to(pilot, ("d",))
            type_(pilot.app, first, "D")
            await settled_when(pilot, lambda modal=modal: pilot.app.screen is not modal)
            assert len(someone_else.page(service, 1003)) == 9 - left


# --- single keys -------------------------------------------------------------------------------


async def test_line_feed_is_enter_and_a_new_type_takes_no_backspace(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        below = pilot.app.screen
        type_(pilot.app, "\n")
        await settled_when(pilot, lambda: pilot.app.screen is not below)
        await press(pilot, "escape", "a")
        kind = pilot.app.screen.query_one("#remoteType", Choice)
        kind.focus()
        await pilot.press("space", "backspace", "delete")
        assert kind.value == "1"


async def test_choice_keeps_what_is_chosen_when_letters_or_backspace_are_typed(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await press(pilot, "e")
        form = pilot.app.screen
        kind, coerced = (form.query_one(f"#{one}", Choice) for one in ("remoteType", "isCoerced"))
        before = kind.value, coerced.value
        assert before[0]
        for choice in (kind, coerced):
            choice.focus()
            await pilot.press(*"recurdyn")
            assert (kind.value, coerced.value) == before
        kind.focus()
        await pilot.press("backspace", "delete")
        assert (kind.value, coerced.value) == before
        kind.value = kind.options[-1][0]  # as when the values of someone else are taken over
        await pilot.press("right")
        assert kind.value == kind.options[0][0], "a move begins at the choice"
        coerced.focus()
        await pilot.press("y", "space")
        assert coerced.value == "1", "space chooses what a letter has gone to"
        await pilot.press("backspace")
        assert coerced.value == "", "it is an answer that nothing is known"


@pytest.mark.parametrize("key", ["f1", "question_mark"])
async def test_help_opens_on_the_form_that_connects_to_a_service(tmp_path: Path, key: str) -> None:
    profiles = Profiles(tmp_path / "config.toml", Options(), {})
    app = FirstRunApp(profiles, Preferences(tmp_path / "choices"), FULL_LOOK)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
        await pilot.press(key)
        await pilot.pause()
        await pilot.press("2")
        await until(pilot, lambda: isinstance(app.screen, ProfileForm))
        await pilot.pause()
        form = app.screen
        if key == "question_mark":
            await pilot.press(key)
            assert form.query(Input).first().value == "?", "text in a field"
            form.query(Choice).first().focus()
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        assert "Leave without saving" in words(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is form)
