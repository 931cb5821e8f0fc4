"""Fixtures for tests of screens.

``lockterm_app(service, open_lock=1001, size=(80, 24))`` is an async context manager that gives the
pilot of a running app; ``lockterm_app.app(...)`` makes one without running it. ``demo(1001,
locks=LOCKS)`` does the same on a service with sample data and a lock book. Wait with
``settled(pilot)`` and ``until(pilot, condition)`` of ``tests.screens.running_app``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockterm.service.running import RunningService
from tests.screens import snapshots
from tests.screens.running_app import Clock, Demo, Starter


@pytest.fixture(scope="session", autouse=True)
def update_pictures(request: pytest.FixtureRequest) -> None:
    snapshots.update = request.config.getoption("--update-screenshots")


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "COLORTERM", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def clock() -> Clock:
    """The app's clock, standing at 2026-11-20 08:00 UTC like the service's."""
    return Clock()


@pytest.fixture
def running_service(
    running_service: Callable[..., RunningService], clock: Clock
) -> Callable[..., RunningService]:
    """Start a service for which as much time passes as for the app; nobody sets its clock."""

    def start(**options: Any) -> RunningService:
        return running_service(**{"clock": lambda: round(clock.now_s * 1000)} | options)

    return start


@pytest.fixture
def lockterm_app(tmp_path: Path, clock: Clock) -> Starter:
    """Starts apps on a fresh service, with a store and a clock of the test's own."""
    return Starter(tmp_path / "lockterm", clock)


@pytest.fixture
def demo(lockterm_app: Starter, service: RunningService) -> Demo:
    """Starts apps on a fresh service with sample data."""
    return Demo(lockterm_app, service)
