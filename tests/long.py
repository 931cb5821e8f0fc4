"""How much of many cases every run tries; ``pytest --all`` tries all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

T = TypeVar("T")

whole = False
"""Whether all is to be tried; set before tests are imported."""


def begin(*, all_of_it: bool, new_ones: bool) -> None:
    """Settle how much is tried; a busy machine is no mistake of the code, so nothing is timed.

    Args:
        all_of_it: Whether all cases are tried.
        new_ones: Whether other examples are looked for than last time: the tests that decide what
            goes in answer twice alike.
    """
    global whole
    whole = all_of_it
    settings.register_profile(
        "lockterm",
        deadline=None,
        derandomize=not new_ones,
        database=None,
        max_examples=100 if whole else 25,
    )
    settings.load_profile("lockterm")
    if not whole:  # each worker would read all of the code for numbers and texts to try
        providers.is_local_module_file = lambda _: False


def examples(count: int, **more: Any) -> settings:
    """So many examples of a property, or a tenth of them."""
    return settings(max_examples=count if whole else max(count // 10, 10), **more)


def sample(cases: Iterable[T], one_of: int) -> list[T]:
    """All cases, or one of so many; the test is to be marked as ``sampled``."""
    return list(cases)[:: 1 if whole else one_of]


def telling(few: Collection[T], cases: Iterable[T]) -> list[object]:
    """The parameters of a test, those that are not among the telling few marked as long."""
    cases = list(cases)
    assert set(few) <= set(cases), "a case that there is not tells nothing"
    return [case if case in few else pytest.param(case, marks=pytest.mark.long) for case in cases]
