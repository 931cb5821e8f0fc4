"""A fresh service with its sample data, and apps on it: what most tests of screens begin with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from lockterm.domain.locks import Lock
from lockterm.service.running import RunningService
from tests.operations.forwarder import Forwarder
from tests.screens import someone_else
from tests.screens.running_app import Starter, settled, until
from tests.screens.site import fill_book


@dataclass
class Demo:
    """A service, apps on it, and someone else who uses it at the same time."""

    service: RunningService
    starter: Starter

    def __call__(self, *args: Any, **options: Any) -> AbstractAsyncContextManager[Pilot[int]]:
        """Run an app on the service; arguments as for ``Starter``."""
        return self.starter(self.service, *args, **options)

    @asynccontextmanager
    async def held(
        self, *args: Any, hold_from: int, hold: str = "/add", **options: Any
    ) -> AsyncIterator[tuple[Forwarder, Pilot[int]]]:
        """Run an app whose calls wait: those that end like ``hold``, from that number on."""
        options = {"timeout_s": 60.0} | options
        async with (
            Forwarder(self.service, hold_from=hold_from, hold=hold).running() as way,
            self.starter(way, *args, **options) as pilot,
        ):
            yield way, pilot

    def fill_book(self, *locks: Lock) -> None:
        """Write a lock book for the apps."""
        fill_book(self.starter, *locks)

    def post(self, call: str, **parameters: Any) -> Any:
        """Carry out a call on remotes as someone else, and return its data."""
        return someone_else.post(self.service, call, **parameters)

    def add(self, lock_id: int, name: str, **other: Any) -> int:
        """Add a permanent remote as someone else, and return its ID."""
        return someone_else.add(self.service, lock_id, name, **other)

    def page(self, lock_id: int, page_no: int = 1, size: int = 20) -> list[Any]:
        """Return the records of a page."""
        return someone_else.page(self.service, lock_id, page_no, size)

    def counted(self, call: str) -> int:
        """Return how often a call on remotes has reached the service so far."""
        return someone_else.counted(self.service, call)


@pytest.fixture
def demo(service: RunningService, lockterm_app: Starter) -> Demo:
    """Return apps on a fresh service, lock 1001 having 137 remotes."""
    return Demo(service, lockterm_app)


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys all at once, and wait until their effects are painted."""
    await pilot.press(*keys)
    await settled(pilot)


async def press_to(pilot: Pilot[Any], screen: type[Screen[Any]], *keys: str) -> None:
    """Press keys, and wait for the screen that they lead to."""
    await pilot.press(*keys)
    await settled_when(pilot, lambda: isinstance(pilot.app.screen, screen))


async def settled_when(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Wait for a condition, and then until nothing is under way and all of it is painted."""
    await until(pilot, condition)
    await settled(pilot)
