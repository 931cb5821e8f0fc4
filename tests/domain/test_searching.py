"""Names that are the same or near, and what a search finds, against a plain reading of the rule."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.domain.listing import (
    Block,
    Lacking,
    Listing,
    count_by_dates,
    read_periods,
    split_needle,
)
from lockterm.domain.names import fold_text, is_same_name, near_key, normalize_name
from lockterm.domain.remotes import Remote
from lockterm.domain.searching import find_missing_words, is_found
from lockterm.domain.validity import state_by_dates

LETTERS = st.text("abAB ß1ée\u0301-\u2011", max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-20, 20) | LETTERS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LETTERS, inner, max_size=3),
    max_leaves=6,
)
RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "remoteName": LETTERS,
        "remoteNumber": LETTERS | st.integers(0, 9),
        "id": st.integers(0, 200),
        "extraData": st.dictionaries(LETTERS, JSON, max_size=3) | LETTERS,
        "remoteTypeName": st.just("ab1"),
        "mac": st.just("ab1"),
    },
)


def told(value: Any) -> list[str]:
    """Every text and number in a JSON value, the names of its parts too."""
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in told(part)]
    if isinstance(value, list):
        return [text for part in value for text in told(part)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


@given(needle=LETTERS, raw=RECORDS)
def test_it_is_found_by_its_name_number_id_and_extra_data_alone(
    needle: str, raw: dict[str, Any]
) -> None:
    names = ("remoteName", "remoteNumber", "id", "extraData")
    texts = [fold_text(text) for name in names for text in told(raw.get(name))]
    words = fold_text(needle).split()
    expected = bool(words) and all(any(word in text for text in texts) for word in words)
    assert is_found(needle, Remote.read(raw)) == expected


def test_any_part_any_case_and_any_accent_will_do() -> None:
    extra = {"address": {"straße": "Ring"}, "keyring": [{"no": 4711}, "FOB-9", 3.5, None, True]}
    raw = {"id": 48213, "remoteName": "Anna Weber", "remoteNumber": "A-2041", "extraData": extra}
    for needle in (
        *("weber", "WEBER anna", "a-20", "4821", "straße", "STRASSE", "keyring", "4711"),
        *("fob-9", "3.5", "ännä", "a\u20112041", "a\u20122041", "a\u22122041", "RING"),
    ):
        assert is_found(needle, Remote.read(raw)), needle
    raw = {"id": 1, "remoteName": "Toma\u0301s, \ufb01le", "remoteNumber": "A\uff0d12"}
    assert all(is_found(needle, Remote.read(raw)) for needle in ("TOMÁS", "file", "a-12"))
    text = Remote.read({"id": 1, "extraData": json.dumps({"owner": "Weber"})})
    assert is_found("weber", text), "extra data of any type"


def test_what_no_person_is_known_by_is_not_looked_at() -> None:
    raw = {"id": 1, "remoteName": "Ben", "remoteType": 1, "status": 1, "endDate": 1, "isCoerced": 1}
    remote = Remote.read({**raw, "extraData": {"note": None, "left": False}})
    for needle in ("permanent", "normal", "coerced", "jan", "none", "false", "1970"):
        assert find_missing_words(needle, remote) == [needle]


@given(needle=LETTERS, raws=st.lists(RECORDS, max_size=5))
def test_a_packed_list_is_searched_by_the_same_rule(
    needle: str, raws: list[dict[str, Any]]
) -> None:
    remotes = [Remote.read(raw) for raw in raws]
    listing = Listing([Block.of(remotes[:2]), Block.of(remotes[2:])], at_ms=0)
    assert [one.raw for one in listing.remotes()] == raws
    if words := split_needle(needle):
        found = [listing.remote(place).raw for place in listing.find(words)]
        assert found == [raw for raw in raws if is_found(needle, Remote.read(raw))]


class Counted(str):
    """A text that counts how often something is looked for in it."""

    looks = 0

    def __contains__(self, key: str, /) -> bool:
        Counted.looks += 1
        return super().__contains__(key)


@given(st.lists(RECORDS, max_size=6), st.lists(st.text("abAB ß1é", max_size=4), max_size=4))
def test_a_list_lacks_a_word_only_where_nothing_would_be_found(
    records: list[dict[str, Any]], typed: list[str]
) -> None:
    """Whatever was typed before, and whatever is typed now."""
    remotes = [Remote.read(record) for record in records]
    listing = Listing([Block.of(remotes[:3]), Block.of(remotes[3:])], at_ms=0)
    lacking = Lacking()
    for needle in typed:
        words = split_needle(needle)
        if words and lacking.lacks(7, listing, words):
            assert [*listing.find(words)] == []


def test_what_a_list_lacks_is_not_looked_for_again_with_a_letter_more() -> None:
    block = Block.of([Remote.read({"remoteName": "Anna"})])
    listing = Listing([replace(block, texts=Counted(block.texts))], at_ms=0)
    lacking, new = Lacking(), Listing([Block.of([Remote.read({"remoteName": "Annxy"})])], at_ms=1)
    assert not lacking.lacks(7, listing, ["ann"])
    assert lacking.lacks(7, listing, ["annx"])
    looks = Counted.looks
    assert lacking.lacks(7, listing, ["annxy"]) and lacking.lacks(7, listing, ["annxy", "a"])
    assert Counted.looks == looks
    assert not lacking.lacks(7, listing, ["anna"]), "other letters may be there"
    assert lacking.lacks(8, listing, ["annxy"]) and Counted.looks > looks, (
        "the list of another lock"
    )
    assert not lacking.lacks(7, new, ["annxy"]), "it was read anew"


@given(
    kinds=st.lists(
        st.tuples(
            st.sampled_from([1, 2, 4, 9]),
            st.sampled_from([-30, 0, 7, 30, 40]),
            st.sampled_from([-1, 0, 1, None]),
            st.sampled_from([-40, -1, 1, 35]),
            st.sampled_from([None, [], [1], [9]]),
        ),
        max_size=12,
    )
)
def test_counts_agree_with_the_state_of_each_remote(
    kinds: list[tuple[int, int, int | None, int, list[int] | None]],
) -> None:
    now_ms, day_ms = 1_795_248_000_000, 86_400_000
    remotes = [
        Remote.read(
            {
                **{"remoteType": kind, "startDate": now_ms + start * day_ms, "status": 1},
                "weekDay": week,
                "endDate": 0 if by_ms is None else now_ms + days * day_ms + by_ms,
            }
        )
        for kind, days, by_ms, start, week in kinds
    ]
    told = [state_by_dates(remote, now_ms) for remote in remotes]
    for packed_ms in (0, now_ms):
        block = Block.of(remotes, packed_ms)
        counts = count_by_dates([sorted(block.ends)], read_periods(block.periods), now_ms)
        assert counts == Counter(told)


TEXTS = st.text(max_size=12) | st.text("aAé\u0301ß-\u2011 1\u00a0ﬁ", max_size=12)


@given(TEXTS)
def test_every_encoding_of_a_name_is_the_same_name(name: str) -> None:
    for form in ("NFC", "NFD"):
        assert is_same_name(unicodedata.normalize(form, name), name)
    assert normalize_name(normalize_name(name)) == normalize_name(name)


@given(TEXTS)
def test_fold_text_ignores_encoding_and_case_and_is_idempotent(text: str) -> None:
    folded = fold_text(text)
    assert fold_text(folded) == folded
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert fold_text(unicodedata.normalize(form, text)) == folded
    assert fold_text(text.casefold()) == folded
    assert not any(map(unicodedata.combining, folded))


@given(TEXTS, TEXTS)
def test_fold_text_of_a_line_has_the_folded_words_when_joined(one: str, other: str) -> None:
    assert fold_text(f"{one} {other}") == f"{fold_text(one)} {fold_text(other)}"


@pytest.mark.parametrize(
    ("one", "other", "are_near"),
    [
        ("Zoe Kramer", "Zoë Krämer", True),
        ("ANNA WEBER", "Anna Weber", True),
        ("Anna  Weber", "Anna Weber", True),
        ("AnnaWeber", "Anna Weber", True),
        ("Anna-Maria", "Anna\u2011Maria", True),
        ("Anna Maria", "Anna-Maria", True),
        ("f0a9", "F0A9", True),
        ("B 12", "B-12", True),
        ("Straße", "STRASSE", True),
        ("1-12", "11-2", False),
        ("Room 1 2", "Room 12", False),
        ("Anna", "Anne", False),
    ],
)
def test_near_key_is_equal_only_when_names_differ_in_spelling(
    one: str, other: str, are_near: bool
) -> None:
    assert (near_key(one) == near_key(other) != "") is are_near
