"""JSON objects as they are typed and shown."""

from __future__ import annotations

import pytest

from lockterm.domain import json_text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1, column 1"),
        ("{\n  'a': 1}", "line 2, column 3"),
        ("[1]", "a JSON object"),
        ('{"a": NaN}', "NaN"),
        ('{"a": 1, "a": 2}', "duplicate"),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"a":' * 20_000 + "1" + "}" * 20_000, "deep"),
        ('{"a":' * 65 + "1" + "}" * 65, "deep"),
        ('{"a": ' + "9" * 5000 + "}", "too long"),
        ('{"a": 1e999}', "too large"),
        *((text, "^Not JSON at line 1, column ") for text in ('{"a": 1,}', '{"a": [1,]}')),
    ],
)
def test_json_is_read_strictly(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says) as raised:
        json_text.read_object(text)
    assert not any(word in str(raised.value) for word in ("\n", "Expecting", "Illegal"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "line 1, column 2: a name in double quotes is missing"),
        ('{"a" 1}', "line 1, column 6: a colon is missing"),
        ('{"a": }', "line 1, column 7: a value is missing, or is not JSON"),
        ('{"a": 1\n"b": 2}', "line 2, column 1: a comma or a closing bracket is missing"),
        ('{"a": 1} x', "line 1, column 10: more text follows the value"),
        ('{"a": "b}', "line 1, column 7: the closing quote of this string is missing"),
        (
            '{"a": "b\tc"}',
            "line 1, column 9: a string contains a line break or a control character",
        ),
        ('{"a": "\\x"}', "line 1, column 8: a string contains an invalid backslash escape"),
        ('{"a": "\\u12"}', "line 1, column 9: a string contains an invalid backslash escape"),
        ("\ufeff{}", "line 1, column 1: the text begins with a byte order mark"),
    ],
)
def test_read_object_explains_in_our_own_words_when_a_text_is_not_json(
    text: str, says: str
) -> None:
    with pytest.raises(ValueError) as raised:
        json_text.read_object(text)
    assert str(raised.value) == f"Not JSON at {says}."


def test_json_survives_being_shown() -> None:
    value = {"名": ["é", "\x1b[2J"], "n": 1.5}
    shown = json_text.write_object(value)
    assert "\x1b" not in shown
    assert json_text.read_object(shown) == value
    assert json_text.size({"é": 1}) == len('{"é":1}'.encode())
    assert json_text.read_object('{"a":' * 64 + "1" + "}" * 64), "one level more is refused"
