"""What the first frame waits for, and what waits for the first frame."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

from lockterm import startup
from lockterm.app import LocktermApp
from lockterm.config import Profile
from lockterm.paths import Paths

LATER = ("pydantic", "httpx", "babel", "starlette", "uvicorn", "click", "tomllib", "lockterm.api")
"""What no first frame needs."""


def test_nothing_is_imported_that_the_first_frame_does_not_need() -> None:
    code = (
        "import sys, lockterm.__main__, lockterm.cli.ui, lockterm.cli.ending, lockterm.app\n"
        "import lockterm.screens.locks\n"
        f"print(*[name for name in {LATER!r} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stdout.split() == []


async def test_garbage_is_collected_again_after_the_first_frame(tmp_path: Path) -> None:
    done: list[str] = []
    startup.begin()
    try:
        startup.after_first_frame(lambda: done.append("waited"))
        assert not gc.isenabled()
        app = LocktermApp(Profile("none", "http://127.0.0.1:1"), Paths.below(tmp_path))
        async with app.run_test() as pilot:
            await pilot.pause()
            assert gc.isenabled()
            assert done == ["waited"]
    finally:
        gc.enable()
        gc.unfreeze()
