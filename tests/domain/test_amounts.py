"""Durations in words: where one unit gives way to the next."""

from __future__ import annotations

import pytest

from lockterm.domain.text.amount import format_duration


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 s"),
        (89.4, "89 s"),
        (90, "2 min"),
        (89 * 60, "89 min"),
        (90 * 60, "1.5 h"),
        (150 * 60, "2.5 h"),
    ],
)
def test_roughly_takes_the_next_unit_when_ninety_are_reached(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words
