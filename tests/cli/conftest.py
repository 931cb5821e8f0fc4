"""Fixtures: an empty home, and the command run without a terminal."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal.pty_session import LOCKTERM, clean_environment

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """Where lockterm looks for its configuration; nothing is there yet."""
    path = tmp_path / "config/lockterm/config.toml"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def lockterm(tmp_path: Path) -> Run:
    """Run ``lockterm ARGUMENTS`` to its end; ``env`` adds to the environment."""

    def run(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*LOCKTERM, *arguments],
            env=clean_environment(tmp_path, **(env or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run
