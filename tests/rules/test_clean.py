"""Names that differ look different, and none covers what stands around it."""

from __future__ import annotations

import html
import json
from urllib.parse import quote, quote_plus

import pytest

from lockterm.api.transport import Transport
from lockterm.text import MOST_MARKS, REPLACEMENT, clean
from tests.api.conftest import Settings


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


TOKEN = 'ab/cd+ef=gh&ij"kl'


@pytest.mark.parametrize(
    "echo",
    [
        TOKEN,
        html.escape(TOKEN),
        quote(TOKEN),
        quote(TOKEN, safe=""),
        quote_plus(TOKEN),
        json.dumps(TOKEN),
        TOKEN.replace("/", r"\/"),
    ],
)
def test_a_gateway_that_echoes_a_secret_is_not_quoted_with_it(echo: str):
    transport = Transport(Settings("http://127.0.0.1:1", headers={"A": f"Bearer {TOKEN}"}))
    for padding in (0, *range(3150, 3200)):  # around where a long text is cut
        quoted = transport._quote(" " * padding + f"you sent: Bearer {echo}".encode().decode())
        assert "cd" not in quoted and "ab" not in quoted, quoted
