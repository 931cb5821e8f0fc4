"""What the first frame waits for, and what waits for the first frame."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from pathlib import Path

import pytest

from lockterm import startup
from lockterm.app import LocktermApp
from lockterm.config import Profile
from lockterm.paths import Paths
from tests.terminal.pty_session import clean_environment

FRAME = "lockterm.__main__, lockterm.cli.plain, lockterm.cli.ui, lockterm.cli.ending, lockterm.app"
"""What comes before any frame."""

AFTER_PAGE = (
    *("pydantic", "babel", "starlette", "uvicorn", "click", "tomllib"),
    *("lockterm.models.requests", "lockterm.models.voices", "lockterm.models.history"),
    *("lockterm.screens.confirm", "lockterm.screens.remote_form", "lockterm.screens.which_remote"),
    *("lockterm.models.drafts", "lockterm.readback"),
)
"""What neither the first frame nor the first page needs."""

AFTER_FRAME = (*AFTER_PAGE, "httpx", "anyio", "hashlib", "lockterm.api", "lockterm.models.remotes")
"""What no first frame needs."""


@pytest.mark.parametrize(
    ("modules", "later"),
    [
        ("lockterm.screens.locks", (*AFTER_FRAME, "lockterm.screens.remotes")),
        ("lockterm.screens.remotes", (*AFTER_FRAME, "lockterm.screens.locks")),
        ("lockterm.screens.remotes, lockterm.api", (*AFTER_PAGE, "lockterm.screens.locks")),
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


def test_the_plain_command_reads_its_settings_and_logs_without_click(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from lockterm.__main__ import _run\n"
        "from lockterm.logfile import log_to\n"
        "code = _run([])\n"
        "log_to(pathlib.Path(sys.argv[1]))\n"
        "late = ('click', 'lockterm.cli.commands', 'lockterm.rotating_log', 'logging.handlers')\n"
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
            async with asyncio.timeout(10):
                while not gc.isenabled():
                    await pilot.pause()
    finally:
        gc.enable()
        gc.unfreeze()
