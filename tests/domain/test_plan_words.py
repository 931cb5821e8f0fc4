"""Plans in words: what is said of locks, and of what is to be changed."""

from __future__ import annotations

import pytest

from lockterm.domain.plan import Action, Step, StepState
from lockterm.domain.plan_words import gone_words


def deletes(words: str) -> list[Step]:
    """``1 recorded``, ``2 add recorded``: steps of locks, which are deletes where not told."""
    steps = []
    for number, one in enumerate(words.split(", "), 1):
        lock_id, *action, state = one.split()
        kind = Action(action[0]) if action else Action.DELETE
        steps.append(Step(number, kind, int(lock_id), 7, "Anna", state=StepState(state)))
    return steps


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("1 recorded", ""),
        ("1 recorded, 1 refused", ""),
        ("1 add recorded, 2 add refused", ""),
        ("1 not_sent, 2 not_sent", ""),
        ("1 recorded, 2 unchanged", "Gone from 2 of 2 locks."),
        ("1 recorded, 2 not_sent", "Gone from 1 of 2 locks; not reached: Yard."),
        (
            "1 recorded, 2 not_sent, 2 add recorded",
            "Gone from 1 of 2 locks; not sent: Yard.",
        ),
        (
            "1 recorded, 1 sent, 2 recorded, 3 refused, 4 skipped, 5 to_do",
            "Gone from 1 of 5 locks; unknown: Gate; refused: lock 3; changed since: lock 4;"
            " left: lock 5.",
        ),
        (
            "1 recorded, 3 refused, 4 refused, 5 refused, 6 refused, 7 refused",
            "Gone from 1 of 6 locks; refused: lock 3, lock 4, lock 5 and 2 more.",
        ),
    ],
)
def test_deletes_on_several_locks_are_told_lock_by_lock(steps: str, said: str) -> None:
    assert gone_words(deletes(steps), {1: "Gate", 2: "Yard"}) == said


def test_a_hostile_name_of_a_lock_is_cleaned() -> None:
    assert "\x1b" not in gone_words(deletes("1 recorded, 2 refused"), {2: "\x1b[31mYard"})
