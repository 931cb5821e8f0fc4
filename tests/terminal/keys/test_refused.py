"""Behind a key that can open nothing, no text is a command: whatever it spells, on every screen.

Each key that opens something is pressed on its screen in each state that refuses some of them, and
text of every character is typed behind it, with the keys that go through a form and save it. All
are refused by one dialog: a plain run types all of the text behind the first of a screen, and what
saves and answers behind the others.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual import events

from lockterm.app import LocktermApp
from lockterm.config import Options
from lockterm.config.profile import Profile
from lockterm.config.profiles import Profiles
from lockterm.domain.operation import OperationState
from lockterm.keymap.keys import PLACES
from lockterm.paths import Paths
from lockterm.screens.history.table import HistoryTable
from lockterm.screens.modal import RefusedModal
from lockterm.service.running import RunningService
from tests import long
from tests.screens.running_app import Clock, Starter, until
from tests.screens.site import LOCKS, fill_book, words
from tests.terminal.keys.test_any_chunks import leave_behind, messages_of, rested, state

SAVING = ("x", "right", "enter", "\x13", "right", "enter", "D")
"""What is typed into a form, saves it, and answers what saving asks."""
TEXT = (
    *string.ascii_letters,
    *string.digits,
    *"/:+<>?. ",
    *("enter", "tab", "shift+tab", "up", "down", "left", "right", "home", "end", "backspace"),
    *SAVING,
)
"""Every letter, what goes through a form, and that."""

WAYS = {
    "locks": (),
    "remotes": ("enter",),
    "remote": ("enter", "enter"),
    "voice": ("v",),
    "history": ("H",),
    "operation": ("H", "enter"),
    "profiles": ("P",),
}
"""From the locks to each screen whose keys open something."""

EMPTY_LOCK = 1004
ON_A_REMOTE = {"edit", "renew", "replace", "user_number", "delete"}
WRITES = {*ON_A_REMOTE, "add", "another", "clear"}
TYPED = {
    **{"slash": "/", "colon": ":", "question_mark": "?", "plus": "+", "ctrl+p": "\x10"},
    **{"f2": "M", "number_sign": "#", "at": "@", "equals_sign": "=", "exclamation_mark": "!"},
}
"""What is typed for a key, where that is not its name."""

REFUSED: dict[tuple[str, str], set[str]] = {
    ("read-only", "remotes"): {f"remotes.{one}" for one in WRITES | {"undo"}},
    ("read-only", "remote"): {f"remote.{one}" for one in ON_A_REMOTE},
    ("read-only", "voice"): {"voice.set"},
    ("read-only", "history"): {"history.restore", "history.undo"},
    ("read-only", "operation"): {"operation.restore", "app.history"},
    ("offline", "remotes"): {f"remotes.{one}" for one in WRITES},
    ("offline", "remote"): {f"remote.{one}" for one in ON_A_REMOTE},
    ("held", "remotes"): {f"remotes.{one}" for one in WRITES},
    ("held", "remote"): {f"remote.{one}" for one in ON_A_REMOTE},
    ("held", "history"): {"history.restore", "history.undo"},
    ("nothing", "locks"): {f"locks.{one}" for one in ("open", "edit", "remove", "voice")},
    ("nothing", "remotes"): {f"remotes.{one}" for one in WRITES - {"add"} | {"detail", "copy"}},
    ("nothing", "history"): {"history.open", "history.restore", "history.undo"},
    ("nothing", "profiles"): {f"profiles.{one}" for one in ("open", "edit", "remove")},
}
"""State and screen -> keys that are refused there for certain, beside others."""


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths.below(tmp_path / "lockterm")


@pytest.fixture
def starter(tmp_path: Path) -> Starter:
    return Starter(tmp_path / "lockterm", Clock())


async def type_(app: LocktermApp, *keys: str) -> None:
    """As one read of a link that has stalled brings them."""
    for message in messages_of(keys):
        app.post_message(message)
    await rested(app)


def opening_keys(place: str) -> Iterator[tuple[str, str]]:
    """The id and the first key of all that opens something on a screen.

    Not those that show another lock in place of this one: see ``screens/test_book_pane.py``.
    """
    for each in (PLACES[place], PLACES["app"]):
        for key in each.own:
            if key.opens and key.id not in ("remotes.next_lock", "remotes.previous_lock"):
                first = key.keys.split(",")[0]
                yield key.id, TYPED.get(first, first)


STATES = [
    (how, place)
    for how in ("read-only", "offline", "held", "nothing")
    for place in WAYS
    if how != "nothing" or place not in ("remote", "voice", "operation")
]
TELLING = [("read-only", "operation")]


@pytest.mark.parametrize("case", long.telling(TELLING, STATES), ids="-".join)
async def test_text_behind_a_refused_key_runs_nothing(
    service: RunningService, starter: Starter, paths: Paths, case: tuple[str, str]
) -> None:
    how, place = case
    if how != "nothing":
        fill_book(starter, LOCKS[0])
        async with starter(service, 1001) as pilot:
            remote = pilot.app.screen.current  # type: ignore[attr-defined]
        left = OperationState.NOT_SEEN if how == "held" else OperationState.CONFIRMED
        leave_behind(paths, service.base_url, remote, left)
    paths.config_file.parent.mkdir(parents=True, exist_ok=True)
    profiles = f'[profiles.demo]\nbase_url = "{service.base_url}"\n' if how != "nothing" else ""
    paths.config_file.write_text(profiles)
    profile = Profile(name="demo", base_url=service.base_url, read_only=how == "read-only")
    open_lock = EMPTY_LOCK if (how, place) == ("nothing", "remotes") else None
    app = LocktermApp(
        profile,
        paths,
        clock=starter.clock,
        open_lock=open_lock,
        profiles=Profiles(paths.config_file, Options(), {}),
    )
    app.animation_level = "none"
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await rested(app)
        if how == "held":
            await until(pilot, lambda: len(app.outcomes.unconfirmed) == 2)
        for key in () if open_lock else WAYS[place]:
            await type_(app, key)
        if how == "offline":
            service.stop()
            await type_(app, *("r",) if place in ("remotes", "remote", "voice") else ("escape",))
        refused = set()
        for name, key in opening_keys(place):
            stack = list(app.screen_stack)
            before = state(app, service), paths.config_file.read_text(), app.theme
            await type_(app, key)
            if isinstance(app.screen, RefusedModal):
                refused.add(name)
                modal = app.screen
                await type_(app, *TEXT if long.whole or len(refused) == 1 else SAVING)
                app.post_message(events.Paste("x\nD"))
                await rested(app)
                assert app.screen is modal, name
                assert "Other keys do nothing here" in words(app)
            for _ in range(4):
                if app.screen_stack == stack and state(app, service) == before[0]:
                    break
                await type_(app, "escape")
            after = state(app, service), paths.config_file.read_text(), app.theme
            assert app.screen_stack == stack, name
            assert after == before, name
        assert refused >= REFUSED.get((how, place), set())


async def test_a_screen_that_is_being_taken_down_paints_its_keys(
    service: RunningService, starter: Starter
) -> None:
    """What is inside a screen goes before it, and the line of keys is painted meanwhile."""
    async with starter(service) as pilot:
        await type_(pilot.app, "H")  # type: ignore[arg-type]
        await pilot.app.screen.query_one(HistoryTable).remove()
        pilot.app.screen.refresh_bindings()
        await rested(pilot.app)  # type: ignore[arg-type]
        assert pilot.app.is_running and pilot.app.return_code is None
