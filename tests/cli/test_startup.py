"""What the first frame waits for, and what waits for the first frame."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from pathlib import Path

import pytest

from lockterm.app import LocktermApp
from lockterm.config import Profile
from lockterm.domain.locks import Lock
from lockterm.paths import Paths
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from lockterm.store.lock_book import LockBook
from lockterm.terminal import startup
from tests.cli.first_frame import connecting, imported, imported_for_replay
from tests.terminal.pty_session import clean_environment

FRAME = "lockterm.__main__, lockterm.cli.plain, lockterm.cli.ui, lockterm.cli.ending, lockterm.app"
"""What comes before any frame."""

AFTER_PAGE = (
    *("pydantic", "babel", "starlette", "uvicorn", "click", "tomllib"),
    *("lockterm.domain.requests", "lockterm.domain.voices"),
    *(
        "lockterm.screens.dialogs.confirm",
        "lockterm.screens.remote_form",
        "lockterm.screens.dialogs.choice",
    ),
    *("lockterm.domain.drafts", "lockterm.operations.readback"),
    *(
        "lockterm.screens.modal",
        "lockterm.screens.marked.commands",
        "lockterm.widgets.notice_line",
        "lockterm.widgets.coloured_title",
    ),
)
"""What neither the first frame nor the first page needs."""

STORE = (
    *("sqlite3", "lockterm.store.database", "lockterm.store.journal", "lockterm.store.cache"),
    *("lockterm.screens.outcomes", "lockterm.domain.operation"),
)
"""What waits for a first frame in any case: the local store, and what is not settled in it."""

AFTER_FRAME = (*AFTER_PAGE, *STORE, "httpx", "anyio", "hashlib", "lockterm.api.answer")
"""What no first frame needs."""


@pytest.mark.parametrize(
    ("modules", "later"),
    [
        (
            "lockterm.screens.locks",
            (*AFTER_FRAME, "lockterm.screens.remotes", "lockterm.domain.remotes"),
        ),
        ("lockterm.screens.remotes", (*AFTER_FRAME, "lockterm.screens.locks")),
        (
            "lockterm.screens.remotes, lockterm.api",
            (*AFTER_PAGE, *STORE, "lockterm.screens.locks"),
        ),
    ],
)
def test_nothing_is_imported_before_it_is_needed(modules: str, later: tuple[str, ...]) -> None:
    code = (
        f"import sys, {FRAME}, {modules}\n"
        f"print(*[name for name in {later!r} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stdout.split() == []


def test_memory_is_not_spent_on_what_few_use() -> None:
    """Tables for hosts beyond ASCII, how Python was built: there where they are asked for."""
    code = """
from lockterm.terminal import startup
startup.import_zoneinfo()
import os, sys, zoneinfo
from lockterm.api.http import httpx
heavy = [name for name in sys.modules if name.startswith(("_sysconfigdata", "idna"))]
host = httpx.URL("http://m\\xfcnchen.example").raw_host, httpx.URL("http://xn--mnchen-3ya.de").host
print(heavy, ascii(host), "PYTHONTZPATH" in os.environ, zoneinfo.ZoneInfo("Asia/Tokyo"))
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    hosts = "(b'xn--mnchen-3ya.example', 'm\\xfcnchen.de')"
    assert result.stdout == f"[] {hosts} False Asia/Tokyo\n"


def test_keys_do_not_wait_for_what_the_first_request_imports() -> None:
    """The client is imported in a thread; what is imported later is, in the event loop."""
    code = """
import asyncio, sys
from lockterm.api.client import LockService
from lockterm.config import Profile

async def ask():
    async with LockService(Profile(name="north", base_url=sys.argv[1])) as service:
        before = {*sys.modules}
        page = await service.list_remotes(1001, 1, 20)
        print(len(page.remotes), *{*sys.modules} - before)

asyncio.run(ask())
"""
    with RunningService() as service:
        command = [sys.executable, "-c", code, service.base_url]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.split() == ["20"]


def test_the_plain_command_reads_its_settings_and_logs_without_click(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from lockterm.__main__ import run\n"
        "from lockterm.cli.logfile import log_to\n"
        "code = run([])\n"
        "log_to(pathlib.Path(sys.argv[1]))\n"
        "late = ('click', 'lockterm.cli.commands', 'lockterm.cli.rotating_log',"
        " 'logging.handlers')\n"
        "print(code, *[name for name in late if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "lockterm.log")],
        env=clean_environment(tmp_path, LOCKTERM_BASE_URL="https://locks.example.com"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "no terminal" in result.stderr, "it came as far as wanting to draw"
    assert result.stdout.split() == ["2"]


def test_a_command_is_imported_when_it_is_wanted() -> None:
    code = (
        "import sys\n"
        "from lockterm.cli.commands import NAMES, run\n"
        "for words in (['--version'], ['frobnicate'], ['keys', '--help']):\n"
        "    run(words)\n"
        "late = (*(f'lockterm.cli.{name}' for name in NAMES), 'asyncio', 'sqlite3')\n"
        "print(*[name for name in late if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stdout.splitlines()[-1].split() == [
        "lockterm.cli.keys",
        "lockterm.cli.completion",
    ]


async def test_garbage_is_collected_again_after_the_first_page(tmp_path: Path) -> None:
    done: list[str] = []
    startup.begin()
    try:
        startup.after_first_frame(lambda: done.append("waited"))
        assert not gc.isenabled()
        app = LocktermApp(Profile("none", "http://127.0.0.1:1"), Paths.below(tmp_path))
        async with app.run_test() as pilot:
            await pilot.pause()
            assert done == ["waited"]
            async with asyncio.timeout(60):
                while not gc.isenabled():
                    await pilot.pause()
    finally:
        gc.enable()
        gc.unfreeze()


@pytest.mark.parametrize(("arguments", "collects"), [(["--version"], True), ([], False)])
def test_garbage_is_collected_in_commands_and_not_in_a_start(
    tmp_path: Path, arguments: list[str], collects: bool
) -> None:
    code = (
        "import gc\n"
        "from lockterm.cli import ending\n"
        "def leave(code):\n    print('collects', gc.isenabled())\n"
        "ending.leave = leave\n"
        "from lockterm.__main__ import main\n"
        "main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=clean_environment(tmp_path, LOCKTERM_BASE_URL="https://locks.example.com"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert result.stdout.splitlines()[-1] == f"collects {collects}"


HEAVY = (
    *("textual", "rich", "asyncio", "httpx", "httpcore", "h11", "anyio", "ssl", "sqlite3"),
    *("pydantic", "click", "email", "http", "lockterm.app", "lockterm.screens"),
    *("lockterm.store.database", "lockterm.store.cache"),
)
"""What the first request does not wait for."""


def test_the_first_request_leaves_before_textual_is_imported(
    service: RunningService, tmp_path: Path
) -> None:
    request, frame = imported(tmp_path, service.base_url, "--lock", "1001")
    assert "lockterm.api.first_page" in request and not request & set(HEAVY)
    assert {"textual", "lockterm.screens.remotes"} <= frame
    later = {"httpx", "httpcore", "anyio", "email", "hashlib", "lockterm.api.client"}
    assert not frame & {*AFTER_PAGE, *STORE, *later}


def test_the_connection_for_it_is_begun_before_anything_else(
    service: RunningService, tmp_path: Path
) -> None:
    connection = connecting(tmp_path, service.base_url, "--lock", "1001")
    assert "lockterm.api.pending_connection" in connection
    assert not connection & (BEFORE_CONNECTION - python())


def test_nor_does_that_for_the_lock_opened_last(service: RunningService, tmp_path: Path) -> None:
    file = tmp_path / "config" / "lockterm" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'[profiles.yard]\nbase_url = "{service.base_url}"\nopen_last = true\n')
    database = Database(tmp_path / "state" / "lockterm" / "lockterm.db")
    LockBook(database, "yard").save(Lock(1001, opened_ms=1))
    database.close()
    request, frame = imported(tmp_path, service.base_url, asks=True)
    assert "lockterm.api.first_page" in request
    assert not request & ({*HEAVY} - {"sqlite3"})
    assert "lockterm.screens.remotes" in frame and "lockterm.screens.locks" not in frame


BEFORE_REPLAY = (
    *(*HEAVY, "hashlib", "re", "enum", "json", "signal", "typing", "pathlib", "dataclasses"),
    *("lockterm.config", "lockterm.paths", "lockterm.cli", "lockterm.terminal.last_frame"),
    *("socket", "threading"),
)
"""What the last frame does not wait for."""

BEFORE_CONNECTION = {*BEFORE_REPLAY, "functools", "contextlib", "lockterm.terminal.frame"} - {
    "lockterm.cli"
}
"""What connecting does not wait for, where there is no such frame."""


def python() -> set[str]:
    """What Python itself imports, which differs: not all of it is there because of lockterm."""
    command = [sys.executable, "-c", "import runpy, sys; print(*sys.modules)"]
    bare = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return {*bare.stdout.split()}


def test_the_last_frame_is_shown_before_anything_is_read(
    service: RunningService, tmp_path: Path
) -> None:
    shown = imported_for_replay(tmp_path, service.base_url, "--lock", "1001")
    assert "lockterm.terminal.cell_writer" in shown
    lean = {*BEFORE_REPLAY} - python()
    assert not shown & lean
    # The connection is begun then; what is asked for over it follows from the settings.
    assert not lean & {*(tmp_path / "connection").read_text().split()}
    assert "lockterm.terminal.replayed_keys" in (tmp_path / "frame").read_text().split()


def test_nothing_is_asked_for_the_lock_book(service: RunningService, tmp_path: Path) -> None:
    request, frame = imported(tmp_path, service.base_url)
    assert not request and "lockterm.screens.locks" in frame
    assert not frame & {*AFTER_FRAME, "lockterm.api.first_page", "lockterm.screens.remotes"}
