"""Fixtures for all tests: a fresh embedded service over real HTTP, on a fixed day."""

from __future__ import annotations

import gc
import logging
import os
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, suppress
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies

from lockterm.domain import glyphs
from lockterm.operations.proof import Horizon
from lockterm.service import app as service_app
from lockterm.service import sample_data
from lockterm.service.running import RunningService
from lockterm.service.storage import Connection
from lockterm.service.tokens import Tokens
from tests import long, programs

os.umask(0o022)
"""Whatever the user's is: files that others may write are refused, as they should be."""
TODAY = date(2026, 11, 20)
MATRIX_STEPS = "matrix steps"
"""What each terminal of the matrix reports: how many steps passed, of how many."""
NOW_MS = 1_795_161_600_000
"""2026-11-20T08:00:00Z, the service's time in all tests unless they say otherwise."""


_sample_data: dict[date, dict[str, list[tuple[Any, ...]]]] = {}
"""Of each day that a service was filled for: table -> its rows."""


def fill_once(db: Connection, today: date) -> None:
    """What the service is filled with, made once a day: a copy takes a fifth of the time."""
    tables = ("lock", "remote", "remote_count")
    if today not in _sample_data:
        sample_data.fill(db, today)
        _sample_data[today] = {
            name: [tuple(row) for row in db.execute(f"SELECT * FROM {name}")] for name in tables
        }
        return
    for name, rows in _sample_data[today].items():
        for row in rows:
            db.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
    db.go_on_after_ids()


service_app.fill = fill_once  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _signs() -> Iterator[None]:
    """A process has one terminal, and the tests of one process have many."""
    yield
    glyphs.use(glyphs.UNICODE)


@pytest.fixture(autouse=True)
def _logging() -> Iterator[None]:
    """Let the next test of the process see messages again, after a test with a log file."""
    yield
    logging.getLogger("lockterm").propagate = True


@pytest.fixture
def running_service() -> Iterator[Callable[..., RunningService]]:
    """Start a service with options of one's own, as often as wanted; all end with the test.

    The options are those of ``RunningService`` and ``create_service``; ``token`` is the only one
    of its tokens.
    """
    with ExitStack() as stack:
        started: list[RunningService] = []

        def start(**options: Any) -> RunningService:
            options = {"today": TODAY, "clock": lambda: NOW_MS} | options
            if "token" in options:
                options["tokens"] = Tokens.only(options.pop("token"))
            started.append(stack.enter_context(RunningService(**options)))
            return started[-1]

        yield start
        assert [repr(bug) for one in started for bug in one.failures] == []


@pytest.fixture
def service(running_service: Callable[..., RunningService]) -> RunningService:
    """A fresh service with sample data at ``service.base_url``, lock 1001 having 137 remotes."""
    return running_service()


def pytest_addoption(parser: pytest.Parser) -> None:
    """How much is run, and whether the pictures in ``screenshots/`` are written anew."""
    parser.addoption(
        "--update-screenshots",
        action="store_true",
        help="write the pictures in screenshots/ anew instead of comparing with them",
    )
    parser.addoption(
        "--all",
        action="store_true",
        help="run the tests marked long too: all terminals, all faults, all kills",
    )
    parser.addoption(
        "--need-programs",
        action="store_true",
        help="fail the tests that need a program which is not installed, instead of skipping them",
    )
    parser.addoption(
        "--long-faults",
        action="store_true",
        help="try many more random faults, kills, keys and interleavings, and new examples",
    )


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell has what it runs in the background ignore ctrl+c, and so would all that is started
        # here; some of it is ended by that.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    getoption = config.getoption
    programs.are_needed = getoption("--need-programs")
    long.begin(all_of_it=getoption("--all"), new_ones=getoption("--long-faults"))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Do once what each worker would do, before it collects.

    They import the tests each in another order: what one has compiled, the others find. Meanwhile
    whoever has started them writes down for them which characters there are.
    """
    config = session.config
    worker = getattr(config, "workerinput", None)
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        if worker is None:
            strategies.text().validate()
        else:
            import_tests(int(worker["workerid"][2:]), worker["workercount"])
    return (yield)


def import_tests(worker: int, workers: int) -> None:
    """Import all tests, beginning where no other worker does."""
    gc.disable()
    here = Path(__file__).parent
    files = sorted(here.rglob("test_*.py"))
    first = len(files) * worker // workers
    for file in files[first:] + files[:first]:
        with suppress(Exception, pytest.skip.Exception):  # told when it is collected
            import_module(".".join(file.relative_to(here.parent).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Keep what is there for all tests out of what the garbage collector looks through in each."""
    gc.enable()
    gc.freeze()


def named(config: pytest.Config) -> Iterator[str]:
    """How the ids begin of what the command line names: a test, or a file of tests."""
    for argument in config.args:
        file, colons, test = argument.partition("::")
        if Path(file).is_file():
            yield Path(os.path.relpath(file, config.rootpath)).as_posix() + colons + test


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long tests to ``--all`` and to whoever names them or their file.

    What tries more of its cases with ``--all`` is one of the long tests then.
    """
    if config.getoption("--all"):
        for item in items:
            test = getattr(item, "obj", None)
            if item.get_closest_marker("sampled") or getattr(test, "is_hypothesis_test", False):
                item.add_marker("long")
        return
    wanted = tuple(named(config))
    left = {
        item
        for item in items
        if item.get_closest_marker("long") and not item.nodeid.startswith(wanted)
    }
    if left:
        config.hook.pytest_deselected(items=list(left))
        items[:] = [item for item in items if item not in left]


NEAR = Horizon(stale_s=0.02, apart_s=0.01, later_s=())
"""For a service whose answers are up to date: what is read back is certain soon."""


@pytest.fixture(autouse=True)
def _near_horizon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lockterm.operations.watching.Horizon", lambda: NEAR)


@pytest.fixture(autouse=True)
def _no_form_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the second after a closed form pass at once; tests of it set it themselves."""
    monkeypatch.setattr("lockterm.terminal.key_queue.CLOSED_S", 0.0)


@pytest.fixture(scope="session")
def long_faults(request: pytest.FixtureRequest) -> bool:
    """Whether the long runs of the fault tests are asked for."""
    return bool(request.config.getoption("--long-faults"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many cases the tests counted that run many of them, and how the matrix went.

    Name the programs that were missing, too.
    """
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
    skipped = programs.count_by_program(terminalreporter.stats.get("skipped", []))
    for program, count in sorted(skipped.items()):
        tests = "1 test" if count == 1 else f"{count} tests"
        terminalreporter.write_line(f"skipped {tests}, {programs.MISSING}{program}")
    if steps:
        whole = sum(each for _, each in steps)
        terminalreporter.write_line(
            f"terminal matrix: {len(steps)} terminals x {max(each for _, each in steps)} steps,"
            f" {sum(passed for passed, _ in steps)} of {whole} passed"
        )
