"""A fresh service with its sample data, and apps on it: what most tests of screens begin with."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.domain.locks import Lock
from lockterm.service.running import RunningService
from tests.screens import someone_else
from tests.screens.running_app import Starter
from tests.screens.site import fill_book


@dataclass
class Demo:
    """A service, apps on it, and someone else who uses it at the same time."""

    service: RunningService
    starter: Starter

    def __call__(self, *args: Any, **options: Any) -> AbstractAsyncContextManager[Pilot[int]]:
        """Run an app on the service; arguments as for ``Starter``."""
        return self.starter(self.service, *args, **options)

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
