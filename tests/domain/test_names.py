"""Names: which are the same, which are near, and what a search compares."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.domain.names import fold_text, is_same_name, near_key, normalize_name

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


def test_fold_text_matches_other_accents_and_dashes() -> None:
    for typed, text in (
        ("tomas", "Tomás Herrera"),
        ("TOMÁS", "Toma\u0301s"),
        ("a-12", "A\u201112"),
        ("a\u201212", "A-12"),
        ("a\u221212", "A\uff0d12"),
        ("strasse", "Straße"),
        ("file", "\ufb01le"),
    ):
        assert fold_text(typed) in fold_text(text)
