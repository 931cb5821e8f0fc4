"""JSON objects as they are typed and shown."""

from __future__ import annotations

import pytest

from lockterm.domain import json_text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1]", "This field requires a JSON object: { ... }."),
        ('{"a": NaN}', "NaN is not a JSON number."),
        ('{"a": 1, "a": 2}', 'The name "a" is a duplicate.'),
        ('{"a": "\\ud800"}', "Not JSON: the text contains half of a surrogate pair "),
        ('{"a":' * 20_000 + "1" + "}" * 20_000, "Nested too deeply."),
        ('{"a":' * 65 + "1" + "}" * 65, "Nested too deeply."),
        ('{"a": ' + "9" * 5000 + "}", "A number of 5,000 digits is too long."),
        ('{"a": 1e999}', "The number 1e999 is too large."),
        *((text, "Not JSON at line 1, column ") for text in ('{"a": 1,}', '{"a": [1,]}')),
        ("", "Not JSON at line 1, column 1: a value is missing, or is not JSON."),
        ("{\n  'a': 1}", "Not JSON at line 2, column 3: a name in double quotes is missing."),
        ('{"a" 1}', "Not JSON at line 1, column 6: a colon is missing."),
        ('{"a": 1\n"b": 2}', "Not JSON at line 2, column 1: a comma or a closing bracket is "),
        ('{"a": 1} x', "Not JSON at line 1, column 10: more text follows the value."),
        ('{"a": "b}', "Not JSON at line 1, column 7: the closing quote of this string is missing."),
        ('{"a": "b\tc"}', "Not JSON at line 1, column 9: a string contains a line break or a "),
        ('{"a": "\\x"}', "Not JSON at line 1, column 8: a string contains an invalid backslash "),
        ('{"a": "\\u12"}', "Not JSON at line 1, column 9: a string contains an invalid backslash "),
        ("\ufeff{}", "Not JSON at line 1, column 1: the text begins with a byte order mark."),
    ],
)
def test_json_is_read_strictly_and_errors_are_in_our_own_words(text: str, says: str) -> None:
    with pytest.raises(ValueError) as raised:
        json_text.read_object(text)
    assert str(raised.value).startswith(says)
    assert not any(word in str(raised.value) for word in ("\n", "Expecting", "Illegal"))


def test_json_survives_being_shown() -> None:
    value = {"名": ["é", "\x1b[2J"], "n": 1.5}
    shown = json_text.write_object(value)
    assert "\x1b" not in shown
    assert json_text.read_object(shown) == value
    assert json_text.size({"é": 1}) == len('{"é":1}'.encode())
    assert json_text.read_object('{"a":' * 64 + "1" + "}" * 64), "one level more is refused"
