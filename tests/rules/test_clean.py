"""Names that differ look different, and none covers what stands around it."""

from __future__ import annotations

import pytest

from lockterm.text import MOST_MARKS, REPLACEMENT, clean


@pytest.mark.parametrize(
    "unseen",
    [
        *("\u200b", "\u200c", "\u200d", "\u2060", "\u00ad", "\u034f", "\u115f", "\u3164"),
        *("\uffa0", "\u2800", "\ufe00", "\ufe0f", "\u180b", "\U000e0101", "\U000e0041"),
    ],
)
def test_no_two_names_look_the_same_for_what_cannot_be_seen(unseen: str):
    for twin in (f"Anna{unseen} Weber", f"Anna Weber{unseen}", f"{unseen}Anna Weber"):
        assert clean(twin) == twin.replace(unseen, REPLACEMENT)
    assert REPLACEMENT in clean(f"王{unseen}秀英")
    assert REPLACEMENT in clean(f"محمد{unseen}")


@pytest.mark.parametrize(
    "name",
    ["👩‍🚒 Fire brigade", "👩🏽‍🔧", "🏳️‍🌈", "❤️‍🔥", "1️⃣ spare", "☎️ desk", "می‌خواهم", "क्‍ष", "क्‌ष", "لُ‌م"],
)
def test_what_joins_something_stays(name: str):
    assert clean(name) == name


def test_marks_are_not_piled_up():
    piled = clean("Z" + "\u0301" * 5000 + "oe")
    assert piled == "Z" + "\u0301" * MOST_MARKS + REPLACEMENT + "oe"
