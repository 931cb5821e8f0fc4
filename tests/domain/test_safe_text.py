"""Names that differ look different, and none covers what stands around it."""

from __future__ import annotations

import html
import json
from urllib.parse import quote, quote_plus

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color

from lockterm.api.transport import Transport
from lockterm.domain.dates import Clock
from lockterm.domain.safe_text import MOST_MARKS, REPLACEMENT, clean
from lockterm.terminal.colors import Sanitizer
from tests.api.conftest import Settings


def test_what_joins_something_stays() -> None:
    for name in (
        *("👩‍🚒 Fire brigade", "👩🏽‍🔧", "🏳️‍🌈", "❤️‍🔥", "1️⃣ spare", "☎️ desk", "می‌خواهم"),
        *("क्‍ष", "क्‌ष", "لُ‌م"),
    ):
        (painted,) = Sanitizer().apply([Segment(name)], Color(0, 0, 0))
        assert clean(name) == painted.text == name


DEFAULT_IGNORABLE = """
00AD 034F 061C 115F-1160 17B4-17B5 180B-180D 180E 180F 200B-200F 202A-202E 2060-2064 2065 2066-206F
3164 FE00-FE0F FEFF FFA0 FFF0-FFF8 1BCA0-1BCA3 1D173-1D17A E0000 E0001 E0002-E001F E0020-E007F
E0080-E00FF E0100-E01EF E01F0-E0FFF
"""
"""DerivedCoreProperties.txt of Unicode 15."""


def test_no_two_names_look_the_same_for_what_cannot_be_seen() -> None:
    chars = []
    for span in DEFAULT_IGNORABLE.split():
        first, _, last = span.partition("-")
        chars += map(chr, range(int(first, 16), int(last or first, 16) + 1))
    assert len(chars) == 4174
    backstop = Sanitizer()
    for char in (*chars, "\u2800"):
        for text in (char, f"Anna{char}Weber", f"Anna Weber{char}", f"{char}Anna"):
            assert clean(text) == text.replace(char, REPLACEMENT)
            (painted,) = backstop.apply([Segment(text)], Color(0, 0, 0))
            assert char not in painted.text or char == "\u2800", f"U+{ord(char):04X}"
            if ord(char) in range(0xE0000, 0xE1000):
                assert cell_len(painted.text) == cell_len(text)
        assert REPLACEMENT in clean(f"王{char}秀英")
        assert REPLACEMENT in clean(f"محمد{char}")
    for harmful, cells in (("\x07", 1), ("\u202e", 1), ("\u115f", 2)):
        (painted,) = backstop.apply([Segment(f"Anna{harmful}Weber")], Color(0, 0, 0))
        assert painted.text == f"Anna{REPLACEMENT * cells}Weber", "one in each cell"


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
    transport = Transport(Settings("http://127.0.0.1:1", headers={"A": f"Bearer {TOKEN}"}), Clock())
    for padding in (0, *range(3000, 3200)):  # around where a long text is cut
        quoted = transport.quote(" " * padding + f"you sent: Bearer {echo}".encode().decode())
        assert "cd" not in quoted and "ab" not in quoted, quoted
