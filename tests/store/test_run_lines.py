"""The runs of a profile in short, as the store counts them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from lockterm.domain.plan import Action, Plan, Step, StepState
from lockterm.store.database import Database
from lockterm.store.runs import RunStore

STEP = Step(1, Action.DELETE, 1001, 7, "Anna", before={"id": 7})


def test_run_line_counts_as_left_out_only_what_was_not_planned_and_refused(tmp_path: Path) -> None:
    """The service may refuse a step, too: that one was planned."""
    steps = [
        replace(STEP, number=1),
        replace(STEP, number=2, state=StepState.REFUSED),
        *(
            replace(STEP, number=number, state=StepState.REFUSED, is_planned=False)
            for number in (3, 4)
        ),
        replace(STEP, number=5, state=StepState.NOT_SENT, is_planned=False),
    ]
    with closing(Database(tmp_path / "lockterm.db")) as database:
        store = RunStore(database)
        store.keep(Plan("one", "north", "https://a.example", "a test", 1, tuple(steps)))
        store.keep(Plan("two", "north", "https://a.example", "a test", 2, tuple(steps[:2])))
        lines = store.lines("north", lambda session: False)
    assert [(line.id, line.left_out) for line in lines] == [("two", 0), ("one", 2)]
