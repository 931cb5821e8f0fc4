"""The order of imports and work around the first frame."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from pathlib import Path

import pytest

from lockterm.app import LocktermApp
from lockterm.config import Profile
from lockterm.paths import Paths
from lockterm.terminal import startup
from tests.terminal.pty_session import clean_environment


def test_commands_are_imported_when_they_run() -> None:
    code = (
        "import sys\n"
        "from lockterm.cli.commands import MODULES, run\n"
        "for words in (['--version'], ['frobnicate'], ['keys', '--help']):\n"
        "    run(words)\n"
        "late = (*(f'lockterm.cli.{name}' for name in {*MODULES.values()}), 'asyncio', 'sqlite3')\n"
        "print(*[name for name in late if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stdout.splitlines()[-1].split() == ["lockterm.cli.keys"]


async def test_garbage_collector_starts_when_the_first_page_is_shown(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(("arguments", "collects"), [(["keys"], True), ([], False)])
def test_garbage_collector_runs_in_commands_but_not_at_a_start(
    tmp_path: Path, arguments: list[str], collects: bool
) -> None:
    code = (
        "import gc\n"
        "from lockterm.cli import exit_codes\n"
        "def leave(code):\n    print('collects', gc.isenabled())\n"
        "exit_codes.leave = leave\n"
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
