"""People: which remotes are joined, which names are similar, and what a search finds."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from datetime import UTC
from itertools import combinations
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lockterm.domain.dates import DAY_MS
from lockterm.domain.listing import NEVER, UNREADABLE, Block, split_needle
from lockterm.domain.names import fold_text, near_key
from lockterm.domain.people import (
    MOST_COMPARED,
    MOST_SIMILAR,
    People,
    PeopleSearch,
    Person,
    Why,
    describe_bounds,
    describe_person_state,
    describe_similar,
    differs_in_one_letter,
    find_typing_errors,
    format_numbers,
    format_person,
    key_of_person,
)
from lockterm.domain.remotes import Remote
from lockterm.domain.validity import RemoteState, state_by_dates
from tests.conftest import NOW_MS

NAMES = st.text("aAäé\u0301ßŁ -1王", max_size=5) | st.sampled_from(("Anna Weber", "Ana Weber"))
NUMBERS = st.text("aA1-\u0301 ", max_size=3)
REMOTES = st.fixed_dictionaries(
    {"remoteType": st.sampled_from((1, 2, 4, 9))},
    optional={
        "remoteName": NAMES | st.none() | st.integers(0, 1),
        "remoteNumber": NUMBERS | st.none() | st.integers(0, 1),
        "startDate": st.sampled_from((0, 1, NOW_MS + DAY_MS)),
        "weekDay": st.sampled_from(([], [1], [9], ["1"], 1)),
        "endDate": st.sampled_from((0, 2, NOW_MS, NOW_MS + DAY_MS, NOW_MS + 20 * DAY_MS)),
    },
)
LOCKS = st.lists(st.lists(REMOTES, max_size=6), max_size=4)


def added(locks: list[list[dict[str, Any]]], zone: str = "") -> People:
    people = People()
    for lock_id, raws in enumerate(locks):
        block = Block.of([Remote.read(raw) for raw in raws])
        people.add(lock_id, zone, block.raws(), block.ends)
    people.compare_letters()
    return people


def named(*names: str) -> People:
    return added(
        [[{"remoteName": name, "remoteNumber": f"N-{at}"}] for at, name in enumerate(names)]
    )


def listed(people: People) -> list[Person]:
    return [one for one in people.sort() if one is not None]


def similar(people: People, name: str) -> dict[str, Why]:
    (person,) = [one for one in listed(people) if one.name == name]
    return {one.person.name: one.why for one in people.similar(person)}


@example([[{"remoteName": "Zo\u00eb"}], [{"remoteName": "Zoe\u0308"}, {"remoteName": "ZO\u00cb"}]])
@given(LOCKS)
def test_remotes_are_joined_exactly_when_their_names_have_one_normal_form(
    locks: list[list[dict[str, Any]]],
) -> None:
    expected = defaultdict[tuple[str, str], list[tuple[int, Remote]]](list)
    for lock_id, raws in enumerate(locks):
        for remote in map(Remote.read, raws):
            name = unicodedata.normalize("NFC", remote.remote_name or "")
            number = unicodedata.normalize("NFC", remote.remote_number or "")
            number = number if number.strip() else ""
            key = (name, "") if name.strip() else ("", number)
            assert key_of_person(remote.remote_name, remote.remote_number) == key
            expected[key].append((lock_id, remote))
    people = listed(added(locks))
    assert Counter(one.key for one in people) == Counter(expected.keys())
    for person in people:
        remotes = expected[person.key]
        assert person.count == len(remotes)
        assert person.locks == len({lock_id for lock_id, _ in remotes})
        numbers = {unicodedata.normalize("NFC", one.remote_number or "") for _, one in remotes}
        assert {*person.numbers} == {one for one in numbers if one.strip()}


@example([[{"remoteType": 2, "startDate": NOW_MS, "endDate": 2}, {"remoteType": 1}]])
@given(LOCKS)
def test_counts_follow_the_dates_of_every_remote(locks: list[list[dict[str, Any]]]) -> None:
    states = Counter[RemoteState]()
    for raws in locks:
        for remote in map(Remote.read, raws):
            states[state_by_dates(remote, NOW_MS)] += 1
    found = Counter[Any]()
    for person in added(locks):
        found.update(person.counts(NOW_MS))
        ends = [end for of_zone in person.ends.values() for end in of_zone]
        dated = [end for end in ends if NEVER < end < UNREADABLE]
        left = [end for end in dated if end > NOW_MS] or (dated if len(dated) == len(ends) else [])
        first, last, *_ = person.bounds(NOW_MS)
        assert (first and first[0], last and last[0]) == (
            min(left, default=None),
            max(left, default=None),
        )
    assert found == states


@given(LOCKS)
def test_similar_people_are_other_people_and_symmetric(locks: list[list[dict[str, Any]]]) -> None:
    people = added(locks)
    pairs = {(one.key, two.person.key, two.why) for one in people for two in people.similar(one)}
    assert {(two, one, why) for one, two, why in pairs} == pairs
    assert all(one != two for one, two, _ in pairs)
    for one, two in combinations(people, 2):
        are_near = bool(near_key(one.name)) and near_key(one.name) == near_key(two.name)
        if are_near or {*one.numbers} & {*two.numbers}:
            assert any(pair[:2] == (one.key, two.key) for pair in pairs)


@given(st.sets(st.text("abc1", min_size=4, max_size=7), max_size=12))
def test_typing_errors_are_all_pairs_that_differ_in_one_letter(keys: set[str]) -> None:
    found = find_typing_errors(sorted(keys))
    long = sorted(key for key in keys if len(key) >= 5)
    for one, other in combinations(long, 2):
        assert (other in found.get(one, ())) == differs_in_one_letter(one, other)
    assert {*found} <= {*long}


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("annaweber", "annaweben", True),
        ("annaweber", "anaweber", True),
        ("annaweber", "annawebr", True),
        ("annaweber", "nanaweber", True),
        ("annaweber", "annaweber", False),
        ("annaweber", "anaweder", False),
        ("guest 1", "guest 2", False),
        ("guest 1", "guest 11", False),
        ("abcde", "abced", True),
        ("abcde", "ebcda", False),
        ("aabbb", "abbbb", True),
    ],
)
def test_one_letter(one: str, other: str, *, is_one: bool) -> None:
    assert differs_in_one_letter(one, other) is is_one
    assert differs_in_one_letter(other, one) is is_one


def test_similar_names_are_shown_and_not_joined() -> None:
    people = named(
        "Anna Weber", "anna weber", "Ánna Weber", "Ana Weber", "Ben", "Guest 1", "Guest 2"
    )
    assert len(people) == 7
    assert similar(people, "Anna Weber") == {
        "anna weber": Why.SPELLING,
        "Ánna Weber": Why.SPELLING,
        "Ana Weber": Why.LETTER,
    }
    assert similar(people, "Ben") == similar(people, "Guest 1") == {}
    series = [f"Cabin {chr(at)}" for at in range(ord("A"), ord("Z") + 1)]
    assert similar(named(*series), "Cabin A") == {}, "26 names are no typing error"
    many = added([[{"remoteName": name, "remoteNumber": "0"} for name in series]])
    assert len(similar(many, "Cabin A")) == MOST_SIMILAR


def test_a_number_under_another_name_is_shown() -> None:
    anna = {"remoteName": "Anna", "remoteNumber": "A-1"}
    locks = [
        [anna],
        [anna, {"remoteNumber": "A-1"}],
        [{"remoteName": "Ben", "remoteNumber": "A-1"}],
    ]
    people = added(locks)
    anna, ben, unnamed = listed(people)
    assert (anna.name, anna.locks, anna.count, [*anna.numbers]) == ("Anna", 2, 2, ["A-1"])
    assert unnamed.key == ("", "A-1")
    words = describe_similar(people.similar(anna), 1)
    assert words == "(no name) (same number A-1), 1 more"
    assert format_person(unnamed) == "(no name)"
    assert "Anna (same number A-1)" in describe_similar(people.similar(ben), 3)
    (person,) = added([[{"remoteName": "A", "remoteNumber": f"N\x1b-{n}"} for n in range(3)]])
    assert format_numbers(person) == "N\ufffd-0 +2"
    assert format_numbers(person, 3) == "N\ufffd-0, N\ufffd-1, N\ufffd-2"


@pytest.mark.long
def test_too_many_names_are_not_compared_letter_by_letter() -> None:
    names = ["Anna Weber", "Ana Weber", *(f"Guest {at}" for at in range(MOST_COMPARED))]
    people = named(*names)
    assert not people.compares_letters
    assert similar(people, "Anna Weber") == {}


@given(LOCKS, st.text("aAä1- ", max_size=3))
def test_search_finds_exactly_the_people_with_every_word(
    locks: list[list[dict[str, Any]]], needle: str
) -> None:
    people = listed(added(locks))
    search = PeopleSearch(people)
    assert [*search.prepare()] == [None] * bool(people)
    words = split_needle(needle)
    expected = [
        one
        for one in people
        if all(word in fold_text(" ".join((one.name, *one.numbers))) for word in words)
    ]
    found = [people[at] for part in search.find(words) for at in part]
    assert found == expected


def test_people_are_sorted_by_name_across_chunks() -> None:
    names = [f"Guest {at}" for at in (*range(1500, 0, -1), "x")]
    people = listed(named(*names, ""))
    assert [one.name for one in people] == [*reversed(names[:-1]), "Guest x", ""]
    search = PeopleSearch(people)
    assert len([*search.prepare()]) == 2
    found = [people[at].name for part in search.find(["1200"]) for at in part]
    assert found == ["Guest 300", "Guest 1200"]


def until(*ends: int) -> list[dict[str, Any]]:
    anna = {"remoteName": "Anna", "remoteType": 2, "startDate": 1}
    return [{**anna, "endDate": NOW_MS + end} for end in ends]


FOREVER = {"remoteName": "Anna", "remoteType": 1}
LATER = {**until(99 * DAY_MS)[0], "startDate": NOW_MS + 1}


@pytest.mark.parametrize(
    ("raws", "bounds", "state"),
    [
        (
            until(-DAY_MS, 5 * DAY_MS, 99 * DAY_MS),
            "25 Nov 2026 to 27 Feb 2027",
            "1 expired, 1 within 7 days",
        ),
        (until(-DAY_MS, -3 * DAY_MS), "17 Nov 2026 to 19 Nov 2026", "expired"),
        ([FOREVER], "no end", "active"),
        ([*until(99 * DAY_MS, -DAY_MS), FOREVER], "27 Feb 2027 or no end", "1 expired"),
        ([FOREVER, *until(-DAY_MS)], "no end", "1 expired"),
        ([FOREVER | {"remoteType": 7}], "unclear", "unclear"),
        (until(99 * DAY_MS, 99 * DAY_MS), "27 Feb 2027", "active"),
        (until(5 * DAY_MS), "25 Nov 2026", "expires within 7 days"),
        ([LATER], "27 Feb 2027", "upcoming"),
        ([LATER, FOREVER], "27 Feb 2027 or no end", "1 upcoming"),
        ([LATER, LATER, *until(-DAY_MS)], "27 Feb 2027", "1 expired, 2 upcoming"),
    ],
)
def test_bounds_leave_out_what_has_expired_unless_all_has(
    raws: list[dict[str, Any]], bounds: str, state: str
) -> None:
    (person,) = added([[one] for one in raws])
    forms = describe_person_state(person, NOW_MS)
    assert (describe_bounds(person.bounds(NOW_MS), lambda _: UTC), forms[0]) == (bounds, state)
    assert "upcoming" not in state or forms[-1] == state.replace("2 upcoming", "2 more")


def test_each_end_is_shown_in_the_zone_of_its_lock() -> None:
    people, midnight = People(), 1_795_993_200_000  # 30 Nov 2026 00:00 in Berlin
    for lock_id, zone, end in ((1, "Europe/Berlin", midnight), (2, "UTC", midnight + DAY_MS)):
        block = Block.of([Remote.read(until(end - NOW_MS)[0])])
        people.add(lock_id, zone, block.raws(), block.ends)
    (person,) = people
    assert describe_bounds(person.bounds(NOW_MS), ZoneInfo) == "29 Nov 2026 to 30 Nov 2026"
