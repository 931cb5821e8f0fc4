"""Random keys in random chunks do what they do one at a time, on every screen.

Each walk is done twice, on a fresh service and a fresh store: once with all keys of a chunk posted
in one go, as one read of a stalled link brings them, and once with a wait behind each key. The key
that deletes comes in chunks of its own: typed with its question it counts for nothing.

A walk goes through a session that may do everything, or one that refuses some keys: on a read-only
profile, or behind changes whose outcomes are unknown. A walk ends where keys came too early, and
that was said: those typed for a page before it is there are for nothing else when it does not come,
and one that asks for a voice while another is being sent is refused at once, not kept.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.message import Message
from textual.widgets import Button, Input, TextArea

from lockterm.app import LocktermApp
from lockterm.domain.locks import Lock
from lockterm.domain.operation import OperationState
from lockterm.domain.remotes import Remote
from lockterm.operations.proof import Horizon
from lockterm.paths import Paths
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.screens.remotes.table import RemotesTable
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from lockterm.store.journal import Journal
from lockterm.terminal import key_queue
from lockterm.terminal.terminal_input import TerminalInput
from lockterm.widgets.choice import OptionLine
from lockterm.widgets.line_table import LineTable
from tests import long
from tests.conftest import NOW_MS
from tests.long import telling
from tests.samples import an_operation
from tests.screens.running_app import PATIENCE_S, Clock, Starter, awaited, until
from tests.screens.site import fill_book
from tests.terminal.pty_session import KEYS

PLACES: tuple[tuple[str, ...], ...] = (
    (),
    ("a",),
    ("e",),
    ("enter",),
    ("enter", "enter"),
    ("enter", "a"),
    ("enter", "e"),
    ("enter", "w"),
    ("enter", "d"),
    ("enter", "u"),
    ("enter", "/"),
    ("enter", "t"),
    ("enter", "C"),
    ("v",),
    ("H",),
    ("H", "enter"),
    ("o",),
    ("?",),
    ("M",),
    ("P",),
    ("\x10",),
    ("enter", "\x10"),
)
"""From the locks to every screen."""

ALPHABET: tuple[str, ...] = (
    *("enter", "enter", "escape", "tab", "shift+tab", "up", "down", "left", "right", "space"),
    *("backspace", "home", "end", "pageup", "pagedown", "\x13", "\x0e", "\x0f"),
    *"aedwunpvjkrstyhlzCHMRoxmciNZAXSU*/:<>?+#@=0137-. '",
    *("+30d", "w", "e", "d", "u", "/", ":", "\x10"),
    *("\n", "\x1b\x7f", "\x1bd", "\x1bf", "\x1b[1;3D", "\x1b[1;7A", "\x1b[3;3~", "\x1b\x1b[C"),
    *("\x1b[200~An na\x1b[201~", "\x1b[200~+30d\n7\x1b[201~"),
)
"""Without keys that quit, write files or fetch from elsewhere."""

WHOLE: tuple[tuple[str, ...], ...] = (
    ("w", "+30d", "\x13", "right", "enter"),
    ("e", "X", "\x13", "right", "enter"),
    ("u", "7", "enter"),
    ("/", "an", "enter", "enter"),
    (":", "2", "enter"),
    ("A", "send", "enter", "enter"),
    ("X", "dismiss", "enter", "enter"),
    ("a", "Paxe dC", "enter", "A-1", "\x13", "right", "enter"),
    ("+", "\x0e", "right", "enter", "\x0e", "right", "enter"),
    ("+", "Xa", "tab", "B-7", "\x0e", "right", "enter", "Y", "escape"),
    (" ", " ", "w", "+30d", "\x13", "down", "escape", "escape"),
    ("*", "m", "down", "enter", "1", "enter", "escape", "U"),
    ("\x10", "edit", "enter", "X", "\x13", "right", "enter"),
)
"""What a person types without looking, where only the keys of the list come to it at random."""

HOW = ("free", "read-only", "held")
"""What a session may do; a walk's seed chooses."""

WRITES = ("add", "update", "delete", "clear", "updateRemoteUserNo", "updateLockSetting")


TOO_EARLY = ("that you typed before", "is still sending")
"""What is said of keys that do something only where they come later."""


def messages_of(keys: tuple[str, ...]) -> Iterator[Message]:
    """What the driver posts for keys; an escape is one that nothing has followed at once."""
    terminal, now_s = TerminalInput(), 0.0
    for key in keys:
        now_s += 10
        yield from terminal.feed(KEYS.get(key, key).encode(), now_s)
        yield from terminal.tick(now_s + 5)


async def rested(app: LocktermApp) -> None:
    """Wait until no key is waited for and nothing is read, written or carried out any more."""
    end_s = time.monotonic() + PATIENCE_S
    quiet = 0
    while quiet < 2:
        await asyncio.sleep(0.001)
        busy = [worker for worker in app.workers if not worker.is_finished]
        is_busy = (
            app.key_queue.is_dealing
            or not app.screen.is_mounted
            or len(busy) > awaited(app)
            or app.operations.remotes.is_reading
            or app.operations.run_under_way is not None
            or (isinstance(app.screen, DestroyModal) and app.screen.painted_s is None)
        )
        quiet = 0 if is_busy else quiet + 1
        assert time.monotonic() < end_s, (app.screen_stack, busy)


def state(app: LocktermApp, service: RunningService) -> tuple[Any, ...]:
    """What a person would see of where they are, and what the service was told."""
    screens = []
    for screen in app.screen_stack:
        fields = [
            (type(one).__name__, one.id, getattr(one, "text", None) or getattr(one, "value", None))
            for kind in (Input, TextArea, OptionLine)
            for one in screen.query(kind)
            if all(node.display for node in one.ancestors_with_self)  # a search that was left
        ]
        rows = [
            (one.id, one.cursor_row, one.row_count)
            for one in screen.query(LineTable)
            if one.id != "messages"  # the outcome of a write comes when it comes
        ]
        on = [one.selected.id for one in screen.query(RemotesTable) if one.selected]
        focus = screen.focused
        at = focus.css_path_nodes[1:] if focus is not None else ()
        path = [(type(node).__name__, node.id) for node in at]
        screens.append((type(screen).__name__, path, fields, rows, on))
    writes = [path for _, path in service.requests if path.rpartition("/")[2] in WRITES]
    return (screens, writes)


class Walk:
    """One way through the app: it depends on its seed and on what is seen after each chunk."""

    def __init__(self, app: LocktermApp, service: RunningService, *, burst: bool) -> None:
        self._app, self._service, self._burst = app, service, burst
        self._ends = 0
        """How often the palette has ended the program: it goes on for the walk."""
        app.exit = self._end  # type: ignore[method-assign]
        self.seen: list[tuple[tuple[str, ...], Any]] = []
        self.dropped_at: int | None = None
        """The first chunk of which keys were dropped or refused, since they came too early."""

    def _end(self, *_: object) -> None:
        self._ends += 1

    async def type(self, keys: tuple[str, ...]) -> None:
        """A chunk: its keys have all arrived before the first is dealt with, as in one read."""
        for message in list(messages_of(keys)):
            self._app.post_message(message)
            if not self._burst:
                await asyncio.sleep(0)
                await rested(self._app)
        await asyncio.sleep(0)
        await rested(self._app)
        assert self._app.is_running and self._app.return_code is None, keys
        dropped = any(words in one.text for one in self._app.messages for words in TOO_EARLY)
        if dropped and self.dropped_at is None:
            self.dropped_at = len(self.seen)
        self.seen.append((keys, (self._ends, *state(self._app, self._service))))

    async def go_home(self) -> None:
        """Back to the locks, one key at a time."""
        for _ in range(40):
            screen = self._app.screen
            if len(self._app.screen_stack) == 1:
                return
            leaves = isinstance(screen, ConfirmModal) and screen.query_one("#act", Button)
            if leaves and str(leaves.label).startswith("Leave"):
                await self.type(("right",))
                await self.type(("enter",))
            else:
                await self.type(("escape",))
        raise AssertionError(f"no way out of {self._app.screen}")

    async def go(self, seed: int, strings: int) -> None:
        """Type strings of random keys, from each of the places in turn."""
        for number in range(strings):
            rng = random.Random(f"{seed}-{number}")
            if number % 4 == 0:
                await self.go_home()
                place = PLACES[(seed + number // 4) % len(PLACES)]
                await self.type(("escape", "home", *(("down",) * rng.randrange(3)), *place))
            if isinstance(self._app.screen, DestroyModal) and rng.random() < 0.4:
                await self.type(("D",))
            if rng.random() < 0.2:
                await self.type(rng.choice(WHOLE))
            await self.type(tuple(rng.choice(ALPHABET) for _ in range(rng.randrange(1, 7))))


async def leave_unsettled(starter: Starter, service: RunningService) -> None:
    """A journal in which an earlier session has changed a remote and added one, to no avail."""
    async with starter(service, 1003) as pilot:
        remote = pilot.app.screen.current  # type: ignore[attr-defined]
    leave_behind(Paths.below(starter.directory), service.base_url, remote, OperationState.NOT_SEEN)


def leave_behind(paths: Paths, url: str, remote: Remote, how: OperationState) -> None:
    """Write it: an update of the remote, and an add to its lock."""
    database = Database(paths.database)
    journal = Journal(database, "demo", url)
    for call, remote_id in (("update", remote.id), ("add", None)):
        about = {"remoteId": remote_id} if remote_id else {"remoteNumber": "A-1"}
        operation = an_operation(
            call,
            **{"id": f"{call}-of-an-earlier-session", "profile": "demo", "session": "earlier"},
            body={"lockId": remote.lock_id, **about, "remoteName": "Other"},
            **{"lock_id": remote.lock_id or 0, "before": (remote.raw,) if remote_id else ()},
            **{"remote_id": remote_id, "remote_name": remote.remote_name or "", "service": url},
            **{"state": OperationState.PREPARED, "prepared_ms": NOW_MS - 60_000},
        )
        journal.prepare(operation)
        journal.move(operation.id, [OperationState.PREPARED], state=how)
    database.close()


Walked = Callable[..., Awaitable[Walk]]


@pytest.fixture
def walked(
    tmp_path: Path, running_service: Callable[..., RunningService], monkeypatch: pytest.MonkeyPatch
) -> Walked:
    """Walks on which keys wait for as long as a busy machine takes for what they are for.

    Nothing is settled by itself meanwhile: its line would leave the screen, and a page be longer.
    """
    never = Horizon(stale_s=3600, apart_s=3600, later_s=())
    monkeypatch.setattr("lockterm.operations.watching.Horizon", lambda: never)
    for limit in ("TIMEOUT_S", "WAY_OUT_S"):
        monkeypatch.setattr(key_queue, limit, 3600.0)
    # A key may end with the screen that it closes: then this ends the waiting for it.
    monkeypatch.setattr(key_queue, "LOST_S", PATIENCE_S / 3)

    async def walk(name: str, seed: int, strings: int, *, burst: bool) -> Walk:
        service = running_service()
        how = HOW[seed % len(HOW)]
        starter = Starter(tmp_path / name, Clock())
        fill_book(
            starter,
            Lock(1003, name="Server room", vendor="lumenlock", model="L7"),
            Lock(1002, name="Loading dock", vendor="nordriegel", model="NR-200"),
            Lock(1006, name="Chemical store", vendor="lumenlock", model="L7"),
        )
        if how == "held":
            await leave_unsettled(starter, service)
        app = starter.app(service, read_only=how == "read-only")
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await rested(app)
            if how == "held":
                await until(pilot, lambda: len(app.outcomes.unconfirmed) == 2)
            walk = Walk(app, service, burst=burst)
            await walk.go(seed, strings)
            await walk.go_home()
            sent = [
                (one.call, one.body, one.lock_id, one.remote_id, str(one.state))
                for one in await app.operations.journal.history()
            ]
            walk.seen.append(((), sent))
        return walk

    return walk


async def compare(walked: Walked, seed: int, strings: int) -> None:
    one = await walked(f"one-{seed}", seed, strings, burst=False)
    all_at_once = await walked(f"all-{seed}", seed, strings, burst=True)
    for number, (slow, fast) in enumerate(zip(one.seen, all_at_once.seen, strict=False)):
        if number == all_at_once.dropped_at:
            return
        before = [keys for keys, _ in one.seen[max(number - 6, 0) : number]]
        assert slow == fast, f"seed {seed}, chunk {number} {slow[0]} behind {before}"
    assert all_at_once.dropped_at is not None or len(one.seen) == len(all_at_once.seen)


@pytest.mark.parametrize("seed", telling((5,), (5, 6, 7)))
async def test_random_keys_in_random_chunks(walked: Walked, seed: int) -> None:
    await compare(walked, seed, 8 if long.whole else 4)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 130))
async def test_random_keys_in_many_random_chunks(walked: Walked, seed: int) -> None:
    """6,000 chunks are compared: 3,000 strings of random keys, and what leads to and from them."""
    await compare(walked, seed, 100)
