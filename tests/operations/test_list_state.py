"""What a screen shows of a list: the rows of its page, brought up to what is known from here."""

from __future__ import annotations

from datetime import UTC

import pytest

from lockterm.domain.remotes import Remote, RemotePage
from lockterm.operations.cached_reads import Fetched
from lockterm.operations.list_state import (
    ADDED,
    CHANGED,
    DELETED,
    Found,
    ListState,
    LoadState,
    Unlisted,
)


def remote(remote_id: int, name: str, coerced: int = 0) -> Remote:
    return Remote.read({"id": remote_id, "remoteName": name, "remoteType": 1, "isCoerced": coerced})


ANNA, BO, CYD = remote(1, "Anna"), remote(2, "Bo"), remote(3, "Cyd")
NEW, CHANGED_BO = remote(4, "Dan"), remote(2, "Bea", 1)
UNLISTED = Unlisted((NEW,), {2: CHANGED_BO}, {4: ADDED, 2: CHANGED, 3: DELETED})


def state(total: int = 3, **fields: object) -> ListState:
    page = RemotePage(remotes=(ANNA, BO, CYD), page_no=1, page_size=3, pages=1, total=total)
    return ListState(load=LoadState(Fetched(page, 0, 0)), **fields)


def names(shown: ListState) -> list[str | None]:
    return [one.remote_name for one in shown.remotes(UTC, 0)]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, ["Anna", "Bea", "Cyd", "Dan"]),
        ({"needle": "bea"}, ["Bea"]),  # by its name of now
        ({"needle": "bo"}, []),
        ({"needle": "dan"}, ["Dan"]),
        ({"needle": "anna"}, ["Anna"]),
        ({"only": "coerced"}, ["Bea"]),
        ({"only": "coerced", "needle": "anna"}, []),
        ({"only": "coerced", "needle": "bea"}, ["Bea"]),
        ({"found": Found((NEW,))}, ["Dan"]),  # the whole list was searched
    ],
)
def test_remotes_are_those_of_now_when_the_list_is_behind(
    asked: dict[str, object], expected: list[str]
) -> None:
    assert names(state(**asked, unlisted=UNLISTED)) == expected


def test_is_deleted_is_true_only_when_it_was_deleted_from_here() -> None:
    shown = state(unlisted=UNLISTED)
    assert [shown.is_deleted(one) for one in (ANNA, BO, CYD, NEW)] == [False, False, True, False]
    assert not shown.is_deleted(remote(0, "x")) and not state().is_deleted(CYD)


def test_known_has_the_page_what_was_found_and_what_was_added() -> None:
    other = remote(9, "Eve")
    shown = state(found=Found((other,)), unlisted=UNLISTED)
    assert [one.id for one in shown.known] == [1, 2, 3, 9, 4]


@pytest.mark.parametrize(
    ("total", "needle", "expected"), [(3, "a", False), (4, "a", True), (4, "", False)]
)
def test_has_rest_is_true_when_only_some_of_a_longer_list_are_asked_for(
    total: int, needle: str, expected: bool
) -> None:
    assert state(total, needle=needle).has_rest is expected
