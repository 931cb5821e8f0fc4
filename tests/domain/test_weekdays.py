"""Weekdays typed and shown."""

from __future__ import annotations

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.domain import glyphs
from lockterm.domain.dates import draw_week, format_weekdays, parse_weekdays
from lockterm.domain.remotes import FIELDS
from lockterm.domain.table_columns import typed_cell, written


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("mon-fri", {1, 2, 3, 4, 5}),
        ("mo,we", {1, 3}),
        ("Monday, wed; SU", {1, 3, 7}),
        ("1-5", {1, 2, 3, 4, 5}),
        ("135", {1, 3, 5}),
        ("weekdays", {1, 2, 3, 4, 5}),
        ("weekend, mon", {1, 6, 7}),
        ("fri-mon", {1, 5, 6, 7}),
        ("fri - mon", {1, 5, 6, 7}),
        ("sun-mon", {1, 7}),
        ("wed-wed", {3}),
        ("tue-mon", {1, 2, 3, 4, 5, 6, 7}),
        ("every day", {1, 2, 3, 4, 5, 6, 7}),
        ("", set()),
        ("no weekdays", set()),
    ],
)
def test_what_is_understood(text: str, days: set[int]) -> None:
    assert parse_weekdays(text) == days


@pytest.mark.parametrize(
    ("text", "instead"),
    [("127", "1,2,7"), ("21", "2,1"), ("11", "1,1"), ("1,531", "5,3,1"), ("1111100", "")],
)
def test_digits_in_a_row_are_refused_when_they_could_be_a_number(text: str, instead: str) -> None:
    with pytest.raises(ValueError, match="Type mon-fri") as refused:
        parse_weekdays(text)
    assert instead in str(refused.value)


@pytest.mark.parametrize("text", ["m", "t", "0", "8", "mon-", "-fri", "mon-fri-sun", "x", "-", "٣"])
def test_what_is_not_understood_says_how(text: str) -> None:
    with pytest.raises(ValueError, match="Type mon-fri"):
        parse_weekdays(text)


@given(st.frozensets(st.integers(1, 7)))
def test_words_are_read_back(days: frozenset[int]) -> None:
    assert parse_weekdays(format_weekdays(days)) == days
    assert parse_weekdays(format_weekdays(days, short=True)) == days
    assert parse_weekdays(",".join(map(str, days))) == days, "also 1,2,7"


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert parse_weekdays(text) <= set(range(1, 8))
    except ValueError as error:
        assert str(error)


def test_cells_name_weekdays_and_refuse_what_a_spreadsheet_has_rounded() -> None:
    days = ([1, 3], [1, 9], [], None)
    assert [written(FIELDS["weekDay"], one, UTC) for one in days] == ["Mon, Wed", "1,9", "", ""]
    for name in ("remoteNumber", "remoteName", "weekDay", "endDate"):
        with pytest.raises(ValueError, match="shortened a long number"):
            typed_cell(FIELDS[name], " 1.23457E+15", UTC, 0)
    assert typed_cell(FIELDS["extraData"], '{"a": 1E+15}', UTC, 0) == '{"a": 1E+15}'


def test_weekdays_are_shown_in_words_and_letters() -> None:
    assert format_weekdays([5, 1, 2, 4, 3, 3]) == "Mon-Fri"
    assert format_weekdays([1, 2, 4, 5, 6]) == "Mon, Tue, Thu-Sat"
    assert format_weekdays([1, 3, 5], short=True) == "Mon Wed Fri"
    assert format_weekdays(range(1, 8)) == "every day"
    assert format_weekdays(range(1, 8), short=True) == "daily"
    assert format_weekdays([9, 1]) == "Mon, unknown 9"
    assert draw_week([5, 1, 2, 9]) == "M T · · F · ·"
    glyphs.use(glyphs.ASCII)
    assert draw_week([]) == ". . . . . . ."
