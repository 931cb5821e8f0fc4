"""Read-only is proven where it counts: at the service, no path that changes anything was called.

Every key and every command of every screen is tried, and whatever opens is agreed to.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from uuid import uuid4

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from lockterm.app import LocktermApp
from lockterm.domain.locks import VoiceChoice
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.requests import NewRemote, RemoteChanges
from lockterm.errors import LocktermError, RuleViolationError
from lockterm.operations.undoing import undo_one
from lockterm.operations.writes import Writes
from lockterm.paths import Paths
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.screens.modal import RefusedModal
from lockterm.screens.palette import Offers, Palette
from lockterm.screens.plan.screen import PlanScreen
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from lockterm.store.journal import Journal
from lockterm.widgets.actions import Action, actions_of
from tests.conftest import NOW_MS
from tests.long import telling
from tests.screens.running_app import Demo, Starter, settled, until
from tests.screens.site import MAIN_GATE, shown

READING = frozenset(
    {
        ("GET", "/api/v1/bluetooth-remote/list"),
        ("POST", "/api/v1/bluetooth-remote/detail"),
        ("POST", "/api/v1/bluetooth-remote/checkRemoteName"),
        ("POST", "/api/v1/voice/list"),
        ("POST", "/api/v1/voice/packs"),
        ("POST", "/api/v1/voice/detail"),
    }
)
"""The contract's calls that change nothing (4.2, 4.3, 4.5, 4.9 to 4.11)."""

WRITING = {
    "remotes": {
        *("remotes.add", "remotes.edit", "remotes.delete", "remotes.renew", "remotes.replace"),
        *("remotes.user_number", "remotes.clear", "outcome.send_again"),
    },
    "remote": {
        *("remote.edit", "remote.delete", "remote.renew", "remote.replace", "remote.user_number"),
    },
    "voices": {"voice.set"},
}
"""Screen -> ids of the bindings whose actions send a change."""

ENDING = ("app.quit", "app.quit_always")


def changed(service: RunningService) -> list[tuple[str, str]]:
    """The calls that were no reading; fetching a pack is one."""
    return [
        (method, path)
        for method, path in service.requests
        if (method, path) not in READING and not (method == "GET" and path.startswith("/packs/"))
    ]


def operation(call: str, **given: object) -> Operation:
    """A change of an earlier session whose answer never came."""
    paths = {"updateLockSetting": "/api/v1/lockSetting/updateLockSetting"}
    fields = {
        "id": uuid4().hex,
        "profile": "demo",
        "call": call,
        "path": paths.get(call, f"/api/v1/bluetooth-remote/{call}"),
        "body": {},
        "lock_id": 1001,
        "lock_name": "Main gate",
        "remote_id": None,
        "remote_name": "",
        "before": (),
        "state": OperationState.PREPARED,
        "session": "earlier",
        "prepared_ms": NOW_MS - 60_000,
    }
    return Operation(**(fields | given))  # type: ignore[arg-type]


def leave_unsettled(starter: Starter, left: Operation) -> None:
    """Write it into the journal as a session that was killed leaves it."""
    database = Database(Paths.below(starter.directory).database)
    journal = Journal(database, "demo")
    journal.prepare(left)
    journal.move(left.id, [OperationState.PREPARED], state=OperationState.UNKNOWN)
    database.close()


@pytest.fixture
async def worked(lockterm_app: Starter, service: RunningService) -> Starter:
    """A session that may write left a delete, a draft, and a voice that cannot be read back."""
    async with lockterm_app(service) as pilot:
        assert isinstance(pilot.app, LocktermApp)
        operations = pilot.app.operations
        await operations.locks.save(MAIN_GATE)
        (remote, *_) = await operations.remotes.all(1003)
        await operations.writes.delete_remote(1003, remote)
        typed = {"remoteName": "Draft", "remoteNumber": "D-1", "remoteType": "1"}
        operations.drafts.keep(("remote", 1001, None), typed, print)
        await operations.drafts.flush()
    leave_unsettled(
        lockterm_app,
        operation(
            "updateLockSetting",
            body={"lockId": 1001, "currentVoiceTimbre": {"lang": "fr-FR", "timbre": "marc"}},
        ),
    )
    service.requests.clear()
    return lockterm_app


async def press(pilot: Pilot[int], *keys: str) -> None:
    """Press keys, each when the one before has had its effect."""
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


async def agree_to_all(pilot: Pilot[int], home: Screen[object]) -> None:
    """Whatever has opened: fill it in, agree to it once; then leave it."""
    tried: set[Screen[object]] = set()
    for _ in range(20):
        screen = pilot.app.screen
        if screen is home:
            return
        if screen in tried or isinstance(screen, Palette):  # whose commands are chosen apart
            await press(pilot, "escape")
            continue
        tried.add(screen)
        asked = screen.box.typed if isinstance(screen, (ConfirmModal, DestroyModal)) else ()
        if screen.query(Input):
            await pilot.press(*(asked or ("1001",))[0])
            await press(pilot, "enter")
        if pilot.app.screen is screen:
            await press(pilot, "ctrl+s")  # saves a form
        if pilot.app.screen is screen and screen.is_modal:
            to_verb = () if asked else ("right",)  # the word leads there by itself
            # A letter typed into a question that loses text is no answer, nor is what follows it.
            destroys = () if isinstance(screen, ConfirmModal) else ("D",)
            await press(pilot, *destroys, *to_verb, "enter")  # agrees to a question
    raise AssertionError(f"{pilot.app.screen} does not close")


def each_action(screen: Screen[object]) -> Iterator[Action]:
    """What its keys do now, without leaving lockterm; what leaves the screen comes last."""
    actions = [action for action in actions_of(screen) if action.binding.id not in ENDING]
    yield from sorted(actions, key=lambda action: "Esc" in action.keys)


async def press_everything(pilot: Pilot[int]) -> set[str]:
    """Every key; what it opens is agreed to, and what is refused is tried by its name as well.

    Returns:
        The ids of the bindings that were refused because the profile is read-only.
    """
    home, refused = pilot.app.screen, set()
    for action in each_action(home):
        said = len(pilot.app.messages)
        await press(pilot, action.binding.key)
        if "read-only" in action.reason:
            told = [message.text for message in pilot.app.messages][said:]
            assert told, f"{action.binding.id} is silent"
            # A screen reads again what the service has refused it, and tells that behind it.
            assert "read-only" in told[0], action.binding.id
            assert isinstance(pilot.app.screen, RefusedModal)
            await press(pilot, "escape")
            await pilot.app.run_action(action.action, action.node)
            await settled(pilot)
            assert pilot.app.screen is home
            refused.add(str(action.binding.id))
        if not await is_back(pilot, home):
            break
    assert pilot.app.return_code is None, "it ended on the way"
    return refused


async def choose_everything(pilot: Pilot[int]) -> set[str]:
    """Every command of the palette; what it opens is agreed to.

    Returns:
        The commands that only told why they can do nothing, in lower case.
    """
    home, told = pilot.app.screen, set()
    leaving = [action.binding.description for action in actions_of(home) if "Esc" in action.keys]
    for offer in Offers(home).all():
        title = offer.name.lower()
        if title in ("back, or quit", "quit", *leaving):
            continue
        done = offer.run()
        if isinstance(done, Awaitable):
            await done
        await settled(pilot)
        if title.startswith("("):
            assert pilot.app.messages, title
            told.add(title.strip("()"))
        assert await is_back(pilot, home), title
    return told


async def is_back(pilot: Pilot[int], home: Screen[object]) -> bool:
    """Go through with whatever was opened; False where it was the key that leaves the screen."""
    if home not in pilot.app.screen_stack:
        return False
    await agree_to_all(pilot, home)
    for _ in range(2):
        if isinstance(home.focused, Input):
            await press(pilot, "escape")  # out of the line to find in
    return pilot.app.screen is home


SCREENS = {
    "locks": (None, ()),
    "remotes": (1001, ()),
    "remote": (1001, ("enter",)),
    "voices": (1001, ("v",)),
    "packs": (1001, ("v", "tab")),
    "history": (1001, ("H",)),
    "operation": (1001, ("H", "G", "enter")),
    "messages": (1001, ("M",)),
    "help": (1001, ("question_mark",)),
}
"""Name of a screen -> the lock to open on, and the keys that lead to it."""

TELLING = ("remote",)
"""Where keys change what is shown; trying those of a page takes twice as long."""


@pytest.mark.parametrize(
    ("name", "do"),
    [
        *((name, press_everything) for name in TELLING),
        *(
            pytest.param(name, do, marks=pytest.mark.long)
            for name, do in (
                *((name, press_everything) for name in SCREENS if name not in TELLING),
                *((name, choose_everything) for name in ("locks", "remotes", "history", "voices")),
            )
        ),
    ],
)
async def test_no_key_and_no_command_of_a_screen_changes_anything(
    worked: Starter,
    service: RunningService,
    name: str,
    do: Callable[[Pilot[int]], Awaitable[set[str]]],
) -> None:
    lock_id, keys = SCREENS[name]
    async with worked(service, lock_id, read_only=True) as pilot:
        app = pilot.app
        assert isinstance(app, LocktermApp)
        await until(pilot, lambda: app.outcomes.unconfirmed)
        await until(pilot, lambda: isinstance(app.screen, ConfirmModal))
        while isinstance(app.screen, ConfirmModal):  # a draft is offered
            await press(pilot, "escape")
        await press(pilot, *keys)
        refused = await do(pilot)
        assert changed(service) == []
        if do is press_everything:
            assert WRITING.get(name, set()) <= refused
        elif name == "remotes":
            assert {"add", "edit", "delete", "renew", "clear", "send again"} <= refused
    assert name == "help" or service.requests, "it did read"
    assert changed(service) == []


BEFORE = {"id": 10_000, "lockId": 1001, "remoteName": "Gone", "remoteNumber": "G-1"}
NEW = {"lockId": 1001, "remoteName": "New", "remoteNumber": "N-1", "remoteType": 1, "addType": 1}
LEFT = {
    "add": operation("add", body=NEW, remote_name="New"),
    "update": operation(
        "update", body={"remoteId": 5, "remoteName": "B"}, remote_id=5, before=(BEFORE,)
    ),
    "delete": operation("delete", body={"remoteId": 5}, remote_id=5, before=(BEFORE,)),
    "clear": operation("clear", body={"lockId": 1001}, before=(BEFORE,)),
    "updateRemoteUserNo": operation(
        "updateRemoteUserNo", body={"remoteId": 5, "remoteUserNo": 7}, remote_id=5, before=(BEFORE,)
    ),
    "updateLockSetting": operation(
        "updateLockSetting",
        body={"lockId": 1001, "currentVoiceTimbre": {"lang": "fr-FR", "timbre": "marc"}},
    ),
}
"""What may be left unconfirmed, one of each of the six writes."""


@pytest.mark.parametrize("call", telling(("add",), LEFT))
async def test_read_only_never_sends_an_outcome_again(demo: Demo, call: str) -> None:
    demo.fill_book(MAIN_GATE)
    left = LEFT[call]
    if left.remote_id is not None:  # one that is there, so that sending again would reach it
        remote = demo.page(1001)[0]
        changes = {"remote_id": remote["id"], "body": {**left.body, "remoteId": remote["id"]}}
        left = replace(left, before=(remote,), **changes)
    if call == "clear":
        left = replace(left, before=tuple(demo.page(1001, size=200)))
    leave_unsettled(demo.starter, left)
    demo.service.requests.clear()
    async with demo(1001, read_only=True) as pilot:
        app, home = pilot.app, pilot.app.screen
        assert isinstance(app, LocktermApp)
        with pytest.raises(LocktermError):
            await app.operations.resolution.send_again(left)
        for key in ("c", "A", "A", "X"):
            was_unsettled = bool(app.outcomes.unconfirmed)
            await press(pilot, key)
            if key == "A" and was_unsettled:
                assert "read-only" in app.messages[-1].text
                assert isinstance(app.screen, RefusedModal)
            await agree_to_all(pilot, home)
        await until(pilot, lambda: not app.outcomes.unconfirmed)
    assert changed(demo.service) == []


async def test_a_restore_that_is_open_restores_nothing(
    worked: Starter, service: RunningService
) -> None:
    async with worked(service, 1003, read_only=True) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        await press(pilot, "escape")  # the draft
        screen = pilot.app.screen
        assert isinstance(screen, RemotesScreen)
        (deleted,) = [
            one for one in await screen.operations.journal.history() if one.call == "delete"
        ]
        pilot.app.push_screen(PlanScreen(await undo_one(screen.operations, deleted.id)))
        await settled(pilot)
        assert "read-only" in shown(pilot.app)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RefusedModal)
    assert changed(service) == []


async def test_the_one_door_itself_lets_no_change_out(demo: Demo) -> None:
    """Whatever a screen forgets: each of the six writes is refused before anything is written."""
    async with demo(read_only=True) as pilot:
        assert isinstance(pilot.app, LocktermApp)
        operations = pilot.app.operations
        remote = (await operations.remotes.all(1003))[0]
        assert remote.id is not None
        new = NewRemote.model_validate(NEW)
        changes = RemoteChanges.model_validate({"remoteName": "B"})
        calls: list[Callable[[], Awaitable[object]]] = [
            lambda: operations.writes.add_remote(new),
            lambda: operations.writes.update_remote(1003, remote.id or 0, changes, remote),
            lambda: operations.writes.delete_remote(1003, remote),
            lambda: operations.writes.clear_remotes(1003),
            lambda: operations.writes.set_user_no(1003, remote, 7),
            lambda: operations.writes.set_voice(MAIN_GATE, VoiceChoice("de-DE", "anna")),
        ]
        for call in calls:
            with pytest.raises(RuleViolationError, match="read-only"):
                await call()
        assert await operations.journal.history() == []
        public = {
            name
            for name, value in vars(Writes).items()
            if callable(value) and not name.startswith("_")
        }
        assert len(public) == len(calls), "a write that is not tried here"
    assert changed(demo.service) == []
