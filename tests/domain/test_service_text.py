"""What is said of the service as a whole."""

from __future__ import annotations

import pytest

from lockterm.domain.text.service import describe_clock


@pytest.mark.parametrize(
    ("offset_s", "off"),
    [
        (180, "3 min behind"),
        (-180, "3 min ahead of"),
        (48 * 3600 - 60, "47 h behind"),
        (48 * 3600, "2 days behind"),
        (-400 * 86400, "400 days ahead of"),
    ],
)
def test_clock_difference_is_in_minutes_below_two_days(offset_s: float, off: str) -> None:
    assert f"clock is {off} the service's" in describe_clock(offset_s)
