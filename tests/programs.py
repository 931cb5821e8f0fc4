"""Programs that some tests need and a machine may not have."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

MISSING = "missing program: "
"""How the reason begins for which such a test is skipped."""

are_needed = False
"""Whether such a test fails instead; set before tests are run."""


def require(program: str, package: str, *, found: bool | None = None) -> None:
    """Skip the test if a program is not installed, or fail it with ``--need-programs``.

    Args:
        program: The name of the program.
        package: Debian's package that has it.
        found: Whether it is installed; by default, whether it is on the PATH.
    """
    if not (shutil.which(program) if found is None else found):
        reason = f"{MISSING}{program} (apt-get install {package})"
        if are_needed:
            pytest.fail(reason)
        pytest.skip(reason)


def require_readable_checkout(environment: Mapping[str, str]) -> None:
    """Skip the test if Python cannot read this checkout in an environment.

    With ``LC_ALL=C``, Python before 3.13 cannot read an editable installation whose path has
    non-ASCII letters.
    """
    is_affected = sys.version_info < (3, 13) and not str(Path(__file__)).isascii()
    if is_affected and environment.get("LC_ALL") == "C":
        pytest.skip(f"{MISSING}Python 3.13 (for LC_ALL=C at a non-ASCII path)")


def count_by_program(reports: Iterable[pytest.TestReport]) -> dict[str, int]:
    """Return how many of the skipped tests each missing program would have run.

    Args:
        reports: Reports of skipped tests.
    """
    counts: dict[str, int] = {}
    for report in reports:
        _, _, reason = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, "")
        _, found, program = str(reason).partition(MISSING)
        if found:
            counts[program] = counts.get(program, 0) + 1
    return counts
