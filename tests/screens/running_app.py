"""A running LocktermApp in front of a real service, and waiting for it without sleeping."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import textual.app
import textual.pilot
from textual._context import active_app
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from textual.worker import WorkerState

from lockterm.app import LocktermApp
from lockterm.config import Profile
from lockterm.config.look import FULL_LOOK, Look
from lockterm.config.profiles import Profiles
from lockterm.domain import dates
from lockterm.domain.locks import Lock
from lockterm.paths import Paths
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from lockterm.store.lock_book import LockBook
from tests.conftest import NOW_MS
from tests.operations.forwarder import Forwarder
from tests.screens import someone_else

PATIENCE_S = 60.0
"""How long a condition is waited for before the test fails."""
RESTLESS_S = 5.0
"""How long an event loop is waited for that never rests."""


class PictureProfile(Profile):
    """A profile that looks the same in every run: the service's port is another each time."""

    host = "127.0.0.1:8080"  # type: ignore[assignment]


class Clock(dates.Clock):
    """The app's clock: it stands still until a test moves it."""

    def __init__(self) -> None:
        super().__init__(wall=lambda: self.now_s - self.set_back_s, steady=lambda: self.now_s)
        self.now_s = NOW_MS / 1000
        self.set_back_s = 0.0
        """By how much somebody has set the time back; what has passed is not changed by that."""


@dataclass
class Starter:
    """Makes apps on a store of the test's own."""

    directory: Path
    clock: Clock

    def app(
        self,
        service: Any,
        open_lock: int | None = None,
        look: Look = FULL_LOOK,
        profiles: Profiles | None = None,
        **profile: Any,
    ) -> LocktermApp:
        """An app on a service, not yet running.

        Args:
            service: What has a ``base_url``; or that URL itself.
            open_lock: Open straight on the remotes of this lock.
            look: What the terminal can do.
            profiles: Those that can be gone on with; None: there are no others.
            profile: Other fields of the profile: ``read_only=True``, ``page_size="auto"``; without
                that a page has 20 remotes, on every terminal.
        """
        base_url = service if isinstance(service, str) else service.base_url
        fields: dict[str, Any] = {"name": "demo", "timezone": "Europe/Berlin", "page_size": 20}
        fields |= {"timeout_s": 5.0} | profile
        app = LocktermApp(
            PictureProfile(base_url=base_url, **fields),
            Paths.below(self.directory),
            look=look,
            open_lock=open_lock,
            clock=self.clock,
            profiles=profiles,
        )
        app.animation_level = "none"
        return app

    @asynccontextmanager
    async def __call__(
        self,
        service: Any,
        open_lock: int | None = None,
        look: Look = FULL_LOOK,
        *,
        size: tuple[int, int] = (80, 24),
        **profile: Any,
    ) -> AsyncIterator[Pilot[int]]:
        """A running app on a service, settled on its first screen; arguments as for ``app``."""
        app = self.app(service, open_lock, look, **profile)
        async with app.run_test(size=size, notifications=True) as pilot:
            await settled(pilot)
            yield pilot


@dataclass
class Demo:
    """A service with sample data, apps on it, and someone else who uses it at the same time."""

    starter: Starter
    service: RunningService

    @property
    def directory(self) -> Path:
        return self.starter.directory

    @property
    def clock(self) -> Clock:
        return self.starter.clock

    def app(self, *where: Any, **more: Any) -> LocktermApp:
        """An app that is not running yet; arguments as for ``Starter.app``, without a service."""
        return self.starter.app(self.service, *where, **more)

    @asynccontextmanager
    async def __call__(
        self, *where: Any, locks: Iterable[Lock] = (), **more: Any
    ) -> AsyncIterator[Pilot[Any]]:
        """A running app; arguments as for a ``Starter``, and locks to write into its lock book."""
        self.fill_book(*locks)
        async with self.starter(self.service, *where, **more) as pilot:
            yield pilot

    @asynccontextmanager
    async def held(
        self, *where: Any, hold_from: int, hold: str = "/add", **more: Any
    ) -> AsyncIterator[tuple[Forwarder, Pilot[Any]]]:
        """Run an app whose calls wait: those that end like ``hold``, from that number on."""
        more = {"timeout_s": 60.0} | more
        async with (
            Forwarder(self.service, hold_from=hold_from, hold=hold).running() as way,
            self.starter(way, *where, **more) as pilot,
        ):
            yield way, pilot

    def fill_book(self, *locks: Lock) -> None:
        """Write a lock book for the apps."""
        fill_book(self, *locks)

    def post(self, call: str, **parameters: Any) -> Any:
        """Make a call about remotes as someone else, and return its data."""
        return someone_else.post(self.service, call, **parameters)

    def add(self, lock_id: int, name: str, **other: Any) -> int:
        """Add a permanent remote as someone else, and return its ID."""
        return someone_else.add(self.service, lock_id, name, **other)

    def page(self, lock_id: int, page_no: int = 1, size: int = 20) -> list[Any]:
        """Return the records of a page."""
        return someone_else.page(self.service, lock_id, page_no, size)

    def counted(self, call: str) -> int:
        """Return how often a call about remotes has reached the service so far."""
        return someone_else.counted(self.service, call)


def fill_book(starter: Starter | Demo, *locks: Lock) -> None:
    """Write a lock book for the apps of a starter."""
    if locks:
        database = Database(Paths.below(starter.directory).database)
        book = LockBook(database, "demo")
        for lock in locks:
            book.save(lock)
        database.close()


async def until(pilot: Pilot[int], condition: Callable[[], object]) -> None:
    """Wait for a condition; fails after :data:`PATIENCE_S`."""
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE_S
    while True:
        await pilot.pause()
        if condition():
            return
        assert loop.time() < end, "the condition did not come true in time"
        await asyncio.sleep(0.002)


async def settled(pilot: Pilot[int]) -> None:
    """Wait until nothing is being read or written any more, and all of it is painted.

    A worker that waits for an open dialog counts as done.
    """

    def quiet() -> bool:
        app = pilot.app
        assert isinstance(app, LocktermApp)
        busy = [
            worker
            for worker in app.workers
            if worker.state in (WorkerState.PENDING, WorkerState.RUNNING)
        ]
        return (
            not app.key_queue.is_dealing
            and not app.key_queue.is_opening
            and app.screen.is_mounted
            and app.screen._compositor.size == app.size  # a change of the size has arrived
            # What is typed before a dialog has been painted is not for it.
            and getattr(app.screen, "painted_s", 0.0) is not None
            and len(busy) <= awaited(app)
            and not app.operations.remotes.is_reading
        )

    await until(pilot, quiet)
    await pilot.pause()


def awaited(app: LocktermApp) -> int:
    """How many of the screens have a worker that waits for their answer; most have a callback."""
    answers = [one.future for screen in app.screen_stack for one in screen._result_callbacks]
    return sum(bool(answer is not None and answer._callbacks) for answer in answers)


async def at_rest(_least_s: float = 0.0, _most_s: float = 0.0) -> None:
    """Wait until nothing is left to run on the event loop, and all of it is painted.

    In place of Textual's ``wait_for_idle``, which takes 20 ms in which the process used no
    processor for its rest: other programs may have kept it from one. A loop that never rests is
    not waited for.
    """
    app, loop = active_app.get(), asyncio.get_running_loop()
    end_s = loop.time() + RESTLESS_S
    quiet = 0
    while quiet < 2 and loop.time() < end_s:
        await asyncio.sleep(0.0005)  # a timer: whoever else looks for a loop at rest finds it so
        quiet = 0 if len(loop._ready) else quiet + 1  # type: ignore[attr-defined]
        if quiet and app.is_running and app.screen_stack and is_unpainted(app.screen):
            app.screen._on_timer_update()
            quiet = 0


def is_unpainted(screen: Screen[Any]) -> bool:
    """Whether a screen has something to lay out or to paint, or waits for that."""
    return not screen.app._batch_count and bool(
        screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
        or screen._recompose_required
        or screen._dirty_widgets
        or screen._callbacks
    )


def parsed_once(
    self: Stylesheet,
    css: str,
    read_from: CSSLocation,
    is_default_rules: bool = False,
    tie_breaker: int = 0,
    scope: str = "",
) -> list[RuleSet]:
    """What Textual does, once for all apps of this process: a third of what a start takes."""
    given = (css, read_from, is_default_rules, tie_breaker, scope)
    key = (*given, frozenset(self._variables.items()))
    if key not in _parsed:
        _parsed[key] = _parse_rules(self, *given)
    return _parsed[key]


_parsed: dict[tuple[object, ...], list[RuleSet]] = {}
_parse_rules = Stylesheet._parse_rules
Stylesheet._parse_rules = parsed_once  # type: ignore[method-assign]
textual.app.wait_for_idle = textual.pilot.wait_for_idle = at_rest  # type: ignore[attr-defined]


def strips(screen: Screen[Any]) -> list[Strip]:
    """What stands on a screen now, line by line, with its styles."""
    return screen._compositor.render_strips()


def shown(pilot: Pilot[Any]) -> str:
    """What stands on the screen now, line by line."""
    return "\n".join(strip.text.rstrip() for strip in strips(pilot.app.screen))


def notices(pilot: Pilot[Any]) -> str:
    """Every notice of this session, as often as it was told: titles and texts."""
    return "\n".join(
        f"{message.title}: {message.text}"
        for message in pilot.app.messages
        for _ in range(message.times)
    )
