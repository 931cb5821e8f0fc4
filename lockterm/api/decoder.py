"""The one JSON decoder: strict, bounded, and with a single way to fail.

Python's own is lenient where two readers of one text could disagree (duplicate keys, NaN, 1e999)
and has limits that surface as errors of different kinds. Here each of them is :class:`NotJson`.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from json import JSONDecodeError
from typing import Any, NoReturn

from lockterm.domain.json_text import is_deeper

MAX_DIGITS = 100
"""Characters of one number."""
MAX_PARTS = 100_000
"""Objects, arrays and their members in all, a page of 200 remotes having some 6,000: 8 MiB of empty
objects would fill gigabytes as records, and keep the keys waiting."""

_SURROGATE = re.compile(r"\\ud[89a-f]", re.IGNORECASE)


class NotJson(ValueError):
    """The bytes are no JSON that can be trusted; the message says why, in a few words."""


def decode(body: bytes) -> Any:
    """Decode a JSON text of UTF-8.

    Halves of surrogate pairs that were escaped alone come out as replacement characters, since
    neither the store nor a terminal could take them.

    Raises:
        NotJson: For anything else than one well-formed, unambiguous, bounded JSON value.
    """
    if sum(map(body.count, (b"{", b"[", b","))) > MAX_PARTS:
        raise NotJson("it has too many parts")
    if body.count(b"\\ud") + body.count(b"\\uD") > MAX_PARTS:
        raise NotJson("it has too many halves of pairs")
    try:
        text = body.removeprefix(BOM_UTF8).decode()  # some servers begin with a byte order mark
    except UnicodeDecodeError:
        raise NotJson("it is not UTF-8") from None
    try:
        # Python reads the numbers of most texts by itself, in half the time: none can be too long.
        has_long = b"0" * MAX_DIGITS in body.translate(_AS_DIGITS)
        value = (_CAREFUL if has_long else _DECODER).decode(text)
    except JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip())
        raise NotJson("it is cut short" if cut and text else "it is not JSON") from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    if is_deeper(value):
        raise NotJson("it is nested too deeply")
    return _mended(value) if _SURROGATE.search(text) else value


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise NotJson("an object has the same key twice")
    return result


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise NotJson("a number is too long")
    return int(digits)


def _real(digits: str) -> float:
    if len(digits) > MAX_DIGITS:
        raise NotJson("a number is too long")
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise NotJson("a number is too large")
    return value


def _no_constant(name: str) -> NoReturn:
    raise NotJson(f"it contains {name}")


_AS_DIGITS = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else 0 for byte in range(256))
"""Makes every digit a zero, and all else none."""

_DECODER = json.JSONDecoder(
    object_pairs_hook=_unambiguous, parse_float=_real, parse_constant=_no_constant
)
_CAREFUL = json.JSONDecoder(
    object_pairs_hook=_unambiguous,
    parse_int=_integer,
    parse_float=_real,
    parse_constant=_no_constant,
)
"""For texts in which so many digits follow each other that they may be too long a number."""


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return _unambiguous([(_mended(key), _mended(item)) for key, item in value.items()])
    return value
