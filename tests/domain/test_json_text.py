"""JSON objects as they are typed and shown."""

from __future__ import annotations

import pytest

from lockterm.domain import json_text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1, column 1"),
        ("{\n  'a': 1}", "line 2, column 3"),
        ("[1]", "an object"),
        ('{"a": NaN}', "NaN"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"a":' * 20_000 + "1" + "}" * 20_000, "deep"),
        ('{"a": ' + "9" * 5000 + "}", "too long"),
        ('{"a": 1e999}', "too large"),
    ],
)
def test_json_is_read_strictly(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says) as raised:
        json_text.read_object(text)
    assert "\n" not in str(raised.value)


def test_json_survives_being_shown() -> None:
    value = {"名": ["é", "\x1b[2J"], "n": 1.5}
    shown = json_text.write_object(value)
    assert "\x1b" not in shown
    assert json_text.read_object(shown) == value
    assert json_text.size({"é": 1}) == len('{"é":1}'.encode())
