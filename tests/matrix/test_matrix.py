"""The whole main job on every terminal of the matrix, by keys alone, each screen read back."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from lockterm.service.calls import now_ms
from lockterm.service.running import RunningService
from tests.conftest import MATRIX_STEPS
from tests.matrix.driving import drive, leave
from tests.matrix.job_more import whole
from tests.matrix.job_sites import FILES
from tests.matrix.terminals import FEW, TERMINALS

BY_NAME = {terminal.name: terminal for terminal in TERMINALS}


@pytest.mark.long
@pytest.mark.parametrize("name", BY_NAME)
def test_the_main_job(
    name: str,
    running_service: Callable[..., RunningService],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    """Nothing cut off or unreadable, no state by color alone, nothing sent that is not known."""
    terminal = BY_NAME[name]
    service = running_service(today=date.today(), clock=now_ms)
    steps = whole(terminal)
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    with terminal.running(service.base_url, tmp_path) as session:
        outcome = drive(session, terminal, steps)
        left = leave(session, terminal) if not outcome.is_stuck else ["it never came so far"]
    outcome.passed += not left
    record_property(MATRIX_STEPS, f"{outcome.passed}/{len(steps) + 1}")
    assert [*outcome.problems, *left] == [], "\n\n".join([*outcome.problems, *left])
    chosen = tmp_path / "state/lockterm/choices.json"
    theme = json.loads(chosen.read_text()).get("theme", "") if chosen.exists() else ""
    assert (theme != terminal.theme) is (terminal.colors > FEW), theme
