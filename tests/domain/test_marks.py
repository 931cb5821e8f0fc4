"""Marks, by lock and id, whatever a table shows of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.domain.marks import RemoteMarks, Row
from lockterm.domain.remotes import Remote


def row(
    remote_id: int | None,
    number: str | None = "A-1",
    name: str = "Anna",
    lock_id: int = 1001,
    created_ms: int = 1_700_000_000_000,
) -> Row:
    told = {"id": remote_id, "remoteNumber": number, "remoteName": name, "createTime": created_ms}
    return lock_id, Remote.read(told)


ROWS = [row(1), row(2), row(3), row(4)]


def ids(marks: RemoteMarks) -> list[int | None]:
    return [remote.id for _, remote in marks.rows]


@pytest.mark.parametrize(
    ("to", "expected"), [(1, [2]), (3, [2, 3, 4]), (0, [2, 1]), (-1, [2]), (4, [2])]
)
def test_a_range_goes_from_the_last_marked_to_either_side(to: int, expected: list[int]) -> None:
    marks = RemoteMarks()
    assert not marks.mark_range(ROWS, 2)  # nothing is marked: there is nothing to begin at
    marks.toggle(ROWS[1])
    assert marks.mark_range(ROWS, to) == (0 <= to < len(ROWS))
    assert ids(marks) == expected
    assert not marks.mark_range([row(9)], 0)  # the last one is on another page
    marks.toggle(ROWS[1])
    assert not marks.has(ROWS[1])


def test_all_with_an_id_are_marked_and_unmarked_only_where_all_are_marked() -> None:
    marks = RemoteMarks()
    marks.toggle(row(None))
    marks.toggle(ROWS[2])
    assert marks.toggle_all([row(None), *ROWS]) == 3
    assert marks.toggle_all(ROWS[1:]) == -3
    assert ids(marks) == [1]


def test_another_remote_under_the_same_id_is_not_marked() -> None:
    marks = RemoteMarks()
    marks.toggle(row(1, "A-1", "Anna"))
    marks.see([row(1, "A-1", "Anna Weber"), row(2)])
    assert [remote.remote_name for _, remote in marks.rows] == ["Anna Weber"]
    other = row(1, "B-9", "Berta")
    marks.see([other])
    assert not marks.has(other)
    assert [remote.remote_name for _, remote in marks.rows] == ["Anna Weber"]
    assert marks.hidden([other]) == marks.rows
    assert not marks.has(row(1, lock_id=1002))


@pytest.mark.parametrize("number", ["A-1", None])
def test_one_made_later_under_the_same_id_and_number_is_not_marked(number: str | None) -> None:
    marks = RemoteMarks()
    marks.toggle(row(1, number, "Anna"))
    later = row(1, number, "Berta", created_ms=1_800_000_000_000)
    marks.see([later])
    assert not marks.has(later)
    assert [remote.remote_name for _, remote in marks.rows] == ["Anna"]
    assert marks.still([later, row(2)]) == []
    assert marks.still([row(1, number)]) == marks.rows


def test_marks_that_were_all_taken_away_can_be_brought_back() -> None:
    marks = RemoteMarks()
    marks.toggle_all(ROWS)
    assert marks.clear() == marks.may_bring_back == 4
    assert marks.describe(ROWS) == ""
    marks.bring_back()
    assert ids(marks) == [1, 2, 3, 4]
    marks.clear()
    marks.drop_keys([(1001, 2), (1001, 3)])
    marks.bring_back()
    assert ids(marks) == [1, 4], "without those that were dropped"
    marks.clear()
    marks.toggle(ROWS[0])
    assert marks.may_bring_back == 0


@given(st.sets(st.integers(1, 30)), st.sets(st.integers(1, 30)))
def test_the_words_count_what_is_marked_and_what_of_it_is_not_shown(
    marked: set[int], shown: set[int]
) -> None:
    marks = RemoteMarks()
    marks.toggle_all([row(one) for one in marked])
    words = marks.describe([row(one) for one in shown])
    hidden = len(marked - shown)
    assert words.startswith(f"{len(marked)} marked") == bool(marked)
    assert (f"{hidden} not shown" in words) == bool(hidden)


def test_drop_keys_keeps_rows_that_were_marked_again() -> None:
    marks = RemoteMarks()
    marks.toggle_all(ROWS[:3])
    made = marks.count
    marks.toggle(ROWS[0])
    marks.toggle(ROWS[0])  # anew
    marks.clear()
    marks.bring_back()  # as they were
    marks.toggle(ROWS[3])
    marks.drop_keys([(1001, 1), (1001, 2), (1001, 4)], made)
    assert ids(marks) == [3, 1, 4]
