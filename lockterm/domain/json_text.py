"""Functions that parse, format, compare and measure JSON objects."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from lockterm.domain.glyphs import ellipsis
from lockterm.domain.safe_text import clean

MAX_DEPTH = 64
"""Maximum number of nested objects and arrays in JSON that lockterm reads or sends.

The embedded service accepts 16 levels. Python's own limit differs between versions.
"""
_DIGITS = 1000
"""Maximum number of digits of a number in JSON. Python's own limit is 4,300."""
EDITED = 8 * 1024
"""Maximum length of an object that a form can edit, in characters. Contract 8 recommends at most 1
KB of extra data."""
SHOWN = 64 * 1024
"""Maximum length of an object in a read-only view, in characters."""


def read_object(text: str) -> dict[str, Any]:
    """Parse a JSON object strictly: NaN, duplicate names and lone surrogates are errors.

    Raises:
        ValueError: The text is not a valid JSON object. The message is a sentence with the reason.
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=unique,
            parse_constant=_no_constant,
            parse_int=_whole,
            parse_float=_fraction,
        )
        if is_too_deep(value):
            raise ValueError("Nested too deeply.")
        size(value)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ValueError(describe_error(error, where)) from None
    except UnicodeEncodeError:
        raise ValueError(
            "Not JSON: the text contains half of a surrogate pair (\\ud800-\\udfff)."
        ) from None
    except RecursionError:
        raise ValueError("Nested too deeply.") from None
    if not isinstance(value, dict):
        raise ValueError("This field requires a JSON object: { ... }.")
    return value


def is_too_deep(value: object) -> bool:
    """Return whether a JSON value has more than :data:`MAX_DEPTH` nested objects and arrays."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            part
            for item in level
            if item and (type(item) is dict or type(item) is list)
            for part in (item.values() if type(item) is dict else item)
        ]
        if not level:
            return False
    return True


def describe_error(error: json.JSONDecodeError, where: str) -> str:
    """Return a sentence that explains why a text is not JSON.

    Args:
        error: The error of Python's parser.
        where: The position of the error, in words.
    """
    reason = next((text for begin, text in _REASONS.items() if error.msg.startswith(begin)), "")
    return f"Not JSON at {where}{f': {reason}' if reason else ''}."


_REASONS = {
    "Expecting value": "a value is missing, or is not JSON",
    "Expecting property name": "a name in double quotes is missing",
    "Expecting ':'": "a colon is missing",
    "Expecting ','": "a comma or a closing bracket is missing",
    "Illegal trailing comma": "there is a comma before a closing bracket",
    "Extra data": "more text follows the value",
    "Unterminated string": "the closing quote of this string is missing",
    "Invalid control character": "a string contains a line break or a control character",
    "Invalid \\": "a string contains an invalid backslash escape",
    "Unexpected UTF-8 BOM": "the text begins with a byte order mark",
}
"""Maps the beginnings of Python's error messages, which differ between Python versions, to
lockterm's texts."""


def size(value: object) -> int:
    """Return the size of a value as compact JSON in UTF-8, in bytes."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def canonical(value: object) -> str:
    """Return a value as JSON with sorted names, so that equal values give equal texts."""
    return json.dumps(value, sort_keys=True)


def one_line(value: object) -> str:
    """Return a value as JSON on one line, for copying into a shell or a message.

    If any character is not safe to show, all characters beyond ASCII are escaped, so that the user
    can copy the complete value.
    """
    text = json.dumps(value, ensure_ascii=False)
    return text if clean(text) == text else json.dumps(value)


def write_object(value: Mapping[str, Any] | None) -> str:
    """Return a JSON object as text that the user can edit; empty for None.

    Lone surrogates and control characters are escaped, so that the text is safe to show. If the
    object is too large for a form, the function returns a sentence instead of JSON. If the user
    does not change this sentence, lockterm does not change the object.
    """
    if value is None:
        return ""
    if is_longer(value, EDITED):
        return f"More than {EDITED:,} characters, too many to edit here. The value stays unchanged."
    text = json.dumps(value, ensure_ascii=False, indent=2)
    if len(text) > 2 * EDITED:  # a deep object is mostly indentation
        text = json.dumps(value, ensure_ascii=False)
    return text if text.replace("\n", "").isprintable() else json.dumps(value, indent=2)


def shown_object(value: object) -> str:
    """Return a value as indented JSON for a read-only view, cut after :data:`SHOWN` characters."""
    if not is_longer(value, SHOWN):
        return json.dumps(value, ensure_ascii=False, indent=2)[:SHOWN]
    pieces, length = [], 0
    for piece in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(value):
        pieces.append(piece[: SHOWN - length])
        length += len(pieces[-1])
        if length >= SHOWN:
            break
    return "".join(pieces) + f" {ellipsis()}"


def is_longer(value: object, most: int) -> bool:
    """Return whether the JSON of a value exceeds a length, without encoding the whole value.

    Args:
        value: A value of types that JSON can represent.
        most: The maximum length, in characters of compact JSON. The comparison is approximate.
    """
    todo, length = [value], 0
    while todo and length <= most:
        value = todo.pop()
        length += 2
        if isinstance(value, str):
            length += len(value)
        elif isinstance(value, dict):
            length += sum(map(len, value))
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
        else:
            length += len(str(value))
    return length > most


class NamedTwiceError(ValueError):
    """An error for a JSON object in which a name occurs twice.

    Args:
        name: The duplicate name, as received; may contain control characters.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"The name {json.dumps(name)} is a duplicate.")
        self.name = name


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a dict of name-value pairs, none of which may have the same name as another one.

    Pass this function to ``json.loads`` as ``object_pairs_hook``.

    Raises:
        NamedTwiceError: Two pairs have the same name.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise NamedTwiceError(next(name for name in names if names.count(name) > 1))
    return found


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError(f"A number of {len(digits):,} digits is too long.")
    return int(digits)


def _fraction(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"The number {digits[:12]} is too large.")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number.")
