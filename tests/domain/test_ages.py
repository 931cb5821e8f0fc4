"""Ages that people type, in days."""

from __future__ import annotations

import pytest

from lockterm.domain.date_input import MOST_DAYS, parse_age, parse_days


@pytest.mark.parametrize(("text", "days"), [("30d", 30), (" 4 w ", 28), ("0d", 0)])
def test_parse_age_returns_days(text: str, days: int) -> None:
    assert parse_age(text) == days


@pytest.mark.parametrize("text", ["", "30", "-3d", "1mo", "2026-01-01", "3 months", "３d"])
def test_parse_age_refuses_text_without_days_or_weeks(text: str) -> None:
    with pytest.raises(ValueError, match="not an age"):
        parse_age(text)


@pytest.mark.parametrize(
    ("text", "days"),
    [("30", 30), (" 1 ", 1), ("3650", MOST_DAYS), ("30d", 30), ("4w", 28), ("521w", 3647)],
)
def test_parse_days_accepts_a_number_or_an_age(text: str, days: int) -> None:
    assert parse_days(text) == days


@pytest.mark.parametrize(
    "text", ["", "0", "0d", "-1", "3651", "522w", "30.5", "1e3", "３0", "soon"]
)
def test_parse_days_refuses_other_text(text: str) -> None:
    with pytest.raises(ValueError, match=r"not an age|out of range"):
        parse_days(text)
