"""Fixtures for all tests: a fresh embedded service over real HTTP, on a fixed day."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from typing import Any

import pytest
from hypothesis import settings

from lockterm.service.running import RunningService

# A busy machine is no mistake of the code: tests about time measure it themselves.
settings.register_profile("lockterm", deadline=None)
settings.load_profile("lockterm")

TODAY = date(2026, 11, 20)
MATRIX_STEPS = "matrix steps"
"""What each terminal of the matrix reports: how many steps passed, of how many."""
NOW_MS = 1_795_161_600_000
"""2026-11-20T08:00:00Z, the service's time in all tests unless they say otherwise."""


@pytest.fixture
def running_service() -> Iterator[Callable[..., RunningService]]:
    """Start a service with options of one's own, as often as wanted; all end with the test.

    The options are those of ``RunningService`` and ``create_service``.
    """
    with ExitStack() as stack:
        started: list[RunningService] = []

        def start(**options: Any) -> RunningService:
            options = {"today": TODAY, "clock": lambda: NOW_MS} | options
            started.append(stack.enter_context(RunningService(**options)))
            return started[-1]

        yield start
        assert [repr(bug) for one in started for bug in one.failures] == []


@pytest.fixture
def service(running_service: Callable[..., RunningService]) -> RunningService:
    """A fresh service with sample data at ``service.base_url``, lock 1001 having 137 remotes."""
    return running_service()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-screenshots`` rewrites the pictures in ``screenshots/``."""
    parser.addoption(
        "--update-screenshots",
        action="store_true",
        help="write the pictures in screenshots/ anew instead of comparing with them",
    )
    parser.addoption(
        "--long-faults",
        action="store_true",
        help="run many more random faults, kills and interleavings of two sessions",
    )


@pytest.fixture(scope="session")
def long_faults(request: pytest.FixtureRequest) -> bool:
    """Whether the long runs of the fault tests are asked for."""
    return bool(request.config.getoption("--long-faults"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many cases the tests counted that run many of them, and how the matrix went."""
    counts: dict[str, int] = {}
    steps: list[tuple[int, int]] = []
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in report.user_properties if report.when == "call" else ():
                if name == MATRIX_STEPS:
                    passed, _, whole = str(value).partition("/")
                    steps.append((int(passed), int(whole)))
                elif isinstance(value, int) and outcome == "passed":
                    counts[name] = counts.get(name, 0) + value
    for name, count in counts.items():
        terminalreporter.write_line(f"{count} {name}")
    if steps:
        whole = sum(each for _, each in steps)
        terminalreporter.write_line(
            f"terminal matrix: {len(steps)} terminals x {max(each for _, each in steps)} steps,"
            f" {sum(passed for passed, _ in steps)} of {whole} passed"
        )
