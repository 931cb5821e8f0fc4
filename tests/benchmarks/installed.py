"""The first start after an install, as the README tells to make one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lockterm
from tests.benchmarks.measuring import UNCACHED, Session

ROUNDS = 3


def starts(case: dict[str, Any], home: Path) -> Iterator[tuple[str, float, float]]:
    """What the first start costs beside the second one; the fastest of some.

    Args:
        case: A start to the first page.
        home: A directory for what is installed.

    Yields:
        What it is, today's figure, and what it must be.
    """
    tree, source, target = Path(lockterm.__file__).parents[1], home / "source", home / "installed"
    # As it is tracked: what was compiled here is not taken along.
    shutil.copytree(tree / "lockterm", source / "lockterm", ignore=shutil.ignore_patterns("*.pyc"))
    for file in tree.glob("*.*"):
        if file.is_file():
            shutil.copy(file, source)
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(target)]
    subprocess.run([*command, str(source)], check=True, capture_output=True)
    taken: list[list[float]] = [[], []]
    for number in range(ROUNDS):
        fresh = home / f"installed {number}"
        shutil.copytree(target, fresh)
        for times in taken:
            times.append(_milliseconds(case, fresh))
    first, second = (min(times) for times in taken)
    yield "first start after pip install, beside the second", first / second, 1.2


def _milliseconds(case: dict[str, Any], place: Path) -> float:
    """Until the first page, of the lockterm in a directory."""
    options = case["cmd"][len(UNCACHED) + 1 :]
    session = Session(
        case
        | {"cmd": [*UNCACHED, sys.executable, *options], "cwd": str(place)}
        | {"env": case["env"] | {"PYTHONPATH": str(place)}}
    )
    session.close()
    return float(session.start["until_ms"])
