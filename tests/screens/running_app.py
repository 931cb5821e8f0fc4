"""A running LocktermApp in front of a real service, and waiting for it without sleeping."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.worker import WorkerState

from lockterm.app import LocktermApp
from lockterm.config import Profile
from lockterm.config.look import EVERYTHING, Look
from lockterm.paths import Paths
from tests.conftest import NOW_MS

PATIENCE_S = 30.0
"""How long a condition is waited for before the test fails."""


class PictureProfile(Profile):
    """A profile that looks the same in every run: the service's port is another each time."""

    host = "127.0.0.1:8080"  # type: ignore[assignment]


@dataclass
class Clock:
    """The app's clock: it stands still until a test moves it."""

    now_s: float = NOW_MS / 1000

    def __call__(self) -> float:
        """Seconds since the epoch."""
        return self.now_s


@dataclass
class Starter:
    """Makes apps on a store of the test's own."""

    directory: Path
    clock: Clock

    def app(
        self,
        service: Any,
        open_lock: int | None = None,
        look: Look = EVERYTHING,
        **profile: Any,
    ) -> LocktermApp:
        """An app on a service, not yet running.

        Args:
            service: What has a ``base_url``; or that URL itself.
            open_lock: Open straight on the remotes of this lock.
            look: What the terminal can do.
            profile: Other fields of the profile: ``read_only=True``, ``page_size=10``.
        """
        base_url = service if isinstance(service, str) else service.base_url
        fields = {"name": "demo", "timezone": "Europe/Berlin", "timeout_s": 5.0} | profile
        app = LocktermApp(
            PictureProfile(base_url=base_url, **fields),
            Paths.below(self.directory),
            look=look,
            open_lock=open_lock,
            clock=self.clock,
        )
        app.animation_level = "none"
        return app

    @asynccontextmanager
    async def __call__(
        self,
        service: Any,
        open_lock: int | None = None,
        look: Look = EVERYTHING,
        *,
        size: tuple[int, int] = (80, 24),
        **profile: Any,
    ) -> AsyncIterator[Pilot[int]]:
        """A running app on a service, settled on its first screen; arguments as for ``app``."""
        app = self.app(service, open_lock, look, **profile)
        async with app.run_test(size=size, notifications=True) as pilot:
            await settled(pilot)
            yield pilot


async def until(pilot: Pilot[int], condition: Callable[[], object]) -> None:
    """Wait for a condition; fails after :data:`PATIENCE_S`."""
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE_S
    while True:
        await pilot.pause()
        if condition():
            return
        assert loop.time() < end, "the condition did not come true in time"
        await asyncio.sleep(0.005)


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
        waiting = len(app.screen_stack) - 1 if app.screen.is_modal else 0
        return (
            not app.is_dealing
            and app.screen.is_mounted
            and len(busy) <= waiting
            and all(task.done() for task in app.operations._pages.values())
        )

    await until(pilot, quiet)
    await pilot.pause()


def shown(pilot: Pilot[Any]) -> str:
    """What stands on the screen now, line by line."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


def notices(pilot: Pilot[Any]) -> str:
    """Every notice of this session: titles and texts."""
    return "\n".join(f"{message.title}: {message.text}" for message in pilot.app.messages)
