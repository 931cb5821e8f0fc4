"""The columns of a table of remotes: any choice, any width, any records."""

from __future__ import annotations

from operator import le
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from lockterm.domain.names import natural
from lockterm.domain.remotes import Remote
from lockterm.screens.remotes.columns import (
    COLUMNS,
    GROWING,
    USUAL,
    Arrangement,
    SortOrder,
    line,
    plan,
    sorted_remotes,
    titles,
)
from lockterm.screens.remotes.table import RemoteRow, cells

BERLIN = ZoneInfo("Europe/Berlin")
NOW = 1_795_248_000_000

_keys = st.sampled_from(sorted(COLUMNS))
orders = st.none() | st.builds(SortOrder, _keys, st.booleans())
arrangements = st.builds(
    Arrangement.of,
    st.just(())
    | st.lists(_keys, unique=True, min_size=1).map(
        lambda keys: tuple(keys if "name" in keys else ["name", *keys])
    ),
    orders,
)
_texts = st.text(max_size=30) | st.sampled_from(
    [
        "\ud800",
        "A-2",
        "A-10",
        "a-007",
        "張偉" * 20,
        "👩‍🚒 Fire",
        "e\u0301" * 20,
        "9" * 5000,
        "²³",
        "",
    ]
)
_odd = st.none() | st.booleans() | st.floats() | st.lists(st.integers(), max_size=2)
_numbers = st.integers(-(2**70), 2**70) | st.sampled_from([0, 1, 2, 4, 7, NOW, NOW // 1000])
_NUMBERED = (
    *("id", "remoteType", "addType", "startDate", "endDate", "isCoerced", "status"),
    *("apiUserId", "createTime", "updateTime"),
)
records = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("remoteName", "remoteNumber"), _texts | _odd),
        **dict.fromkeys(_NUMBERED, _numbers | _odd | _texts),
        "weekDay": st.lists(st.integers(-1, 9), max_size=7) | _odd,
    },
)
lists = st.lists(records.map(Remote.read), max_size=12)


PLAIN = {"name": "remote_name", "id": "id", "end": "end_ms"}
"""Columns that are compared by what is in the record."""


def widths(rows: list[RemoteRow]) -> dict[str, int]:
    return {key: allowed[len(rows) % len(allowed)] for key, allowed in GROWING.items()}


@pytest.mark.long
@given(arrangements, st.integers(20, 220), lists, st.sampled_from(["", "deleting"]))
def test_a_line_is_as_wide_as_planned_and_has_a_name(
    arrangement: Arrangement, room: int, remotes: list[Remote], busy: str
) -> None:
    rows = [RemoteRow.of(remote, BERLIN, NOW, busy) for remote in remotes]
    layout = plan(room, widths(rows), arrangement)
    shown = list(layout.widths)
    if arrangement.columns:
        assert sum(layout.widths.values()) + layout.gap * (len(shown) - 1) <= room
        others = [key for key in arrangement.columns if key != "name"]
        kept = [key for key in shown if key != "name"]
        assert kept == others[: len(kept)], "the last ones give way, in the chosen order"
        assert shown == [key for key in arrangement.columns if key in shown]
    assert "name" in shown
    wide = sum(layout.widths.values()) + layout.gap * len(shown)
    for found in (titles(layout), *(cells(row, layout) for row in rows)):
        lengths = [cell_len(text) for text, _ in found]
        assert all(map(le, lengths, layout.widths.values()))
        assert sum(cell_len(text) for text, _ in line(found, layout)) == wide
    for row in rows:
        told = " ".join(text for text, _ in cells(row, layout))
        assert not busy or busy[:3] in told, "what is being done is said without the state too"


@given(arrangements, st.integers(20, 220))
def test_the_column_it_is_sorted_by_has_a_marker(arrangement: Arrangement, room: int) -> None:
    layout = plan(room, widths([]), arrangement)
    marked = [
        key
        for key, (title, _) in zip(layout.widths, titles(layout), strict=True)
        if title[-1] in "^v"
    ]
    order = arrangement.order
    assert marked == ([order.key] if order and order.key in layout.widths else [])


@given(lists, st.builds(SortOrder, _keys, st.booleans()))
def test_sorting_loses_nothing_and_puts_the_missing_last(
    remotes: list[Remote], order: SortOrder
) -> None:
    found = sorted_remotes(remotes, order, NOW, BERLIN, {})
    assert sorted(map(id, found)) == sorted(map(id, remotes))
    if order.key in PLAIN:
        values = [getattr(remote, PLAIN[order.key]) for remote in found]
        there = [value for value in values if value or (order.key == "id" and value == 0)]
        assert values[: len(there)] == there, "whichever way, what is missing comes last"
        if order.key != "name":
            assert there == sorted(there, reverse=order.descending)
    again = sorted_remotes(found, order, NOW, BERLIN, {})
    assert list(map(id, again)) == list(map(id, found))


@pytest.mark.parametrize("descending", [False, True])
def test_equal_ones_stay_in_the_order_of_the_service(descending: bool) -> None:
    remotes = [Remote.read({"id": i, "remoteType": i % 2 + 1}) for i in range(8)]
    found = sorted_remotes(remotes, SortOrder("type", descending), NOW, BERLIN, {})
    ids = [remote.id for remote in found]
    permanent, limited = [0, 2, 4, 6], [1, 3, 5, 7]
    assert ids == (limited + permanent if descending else permanent + limited)


def test_names_and_numbers_sort_as_people_read_them() -> None:
    texts = ["A-2", "a-007", "A-10", "a-10b", "B-1", "Emil", "Élodie", "Fritz", "張"]
    assert sorted(reversed(texts), key=natural) == texts
    assert natural("9" * 5000) > natural("8" * 400)


def test_always_is_the_last_end_of_all() -> None:
    def remote(name: str, kind: int, end: int | None) -> Remote:
        return Remote.read({"remoteName": name, "remoteType": kind, "startDate": 1, "endDate": end})

    remotes = [
        remote("unclear", 2, None),
        remote("always", 1, 0),
        remote("later", 2, NOW + 2),
        remote("soon", 4, NOW + 1),
    ]
    for descending, names in (
        (False, ["soon", "later", "always", "unclear"]),
        (True, ["always", "later", "soon", "unclear"]),
    ):
        found = sorted_remotes(remotes, SortOrder("valid", descending), NOW, BERLIN, {})
        assert [remote.remote_name for remote in found] == names


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | _keys,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner),
)


@given(
    _json
    | st.fixed_dictionaries({}, optional={"columns": _json, "sort": _json, "descending": _json})
)
def test_whatever_was_kept_is_read_as_far_as_it_makes_sense(kept: Any) -> None:
    found = Arrangement.read(kept)
    assert set(found.columns) <= set(COLUMNS)
    assert len(set(found.columns)) == len(found.columns)
    assert not found.columns or "name" in found.columns
    assert found.columns != USUAL


@given(arrangements)
def test_what_is_kept_is_read_back(arrangement: Arrangement) -> None:
    assert Arrangement.read(arrangement.as_kept()) == arrangement
