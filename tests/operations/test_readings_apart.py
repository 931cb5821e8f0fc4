"""Two readings prove an absence only if they are apart, and agree."""

from __future__ import annotations

import pytest

from lockterm.domain.operation import OperationState
from lockterm.operations.proof import Case, Horizon, Sighting
from lockterm.operations.readback import Verdict

HORIZON = Horizon()
GONE = Verdict(OperationState.CONFIRMED_BY_READING, "It is gone.", by_absence=True)
THERE = Verdict(OperationState.NOT_SEEN, "It is there.")


def verdicts(*readings: tuple[float, Verdict], is_fresh: bool = False) -> list[OperationState]:
    """What is proven after each reading of a delete, by seconds since it was sent."""
    case = Case(0.0, HORIZON)
    return [case.add(Sighting(at_s, claim, is_fresh)).state for at_s, claim in readings]


@pytest.mark.parametrize("is_fresh", [True, False])
def test_case_proves_absence_when_two_readings_are_apart(is_fresh: bool) -> None:
    first_s = 0.0 if is_fresh else HORIZON.stale_s
    close_s, apart_s = first_s + HORIZON.apart_s - 0.1, first_s + HORIZON.apart_s
    seen = verdicts((first_s, GONE), (close_s, GONE), (apart_s, GONE), is_fresh=is_fresh)
    assert seen == [
        OperationState.UNKNOWN,
        OperationState.UNKNOWN,
        OperationState.CONFIRMED_BY_READING,
    ]


def test_case_does_not_prove_absence_when_readings_are_of_one_moment() -> None:
    """A list is empty for less than ``apart_s``, however often it is read meanwhile."""
    readings = [(HORIZON.apart_s * part / 10, GONE) for part in range(10)]
    assert set(verdicts(*readings, is_fresh=True)) == {OperationState.UNKNOWN}


def test_readings_start_again_when_one_between_differs() -> None:
    second_s, third_s = HORIZON.apart_s, HORIZON.apart_s + 1.0
    seen = verdicts((0.0, GONE), (second_s, THERE), (third_s, GONE), is_fresh=True)
    assert seen[2] is OperationState.UNKNOWN
