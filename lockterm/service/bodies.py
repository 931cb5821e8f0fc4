"""Reads the parameters of a request: JSON or form in a body, or the query.

Strict, because what is read here is kept and shown to others: one encoding (UTF-8), no key twice,
no NaN, no number that is not itself in int64 or a double, no NUL, no half surrogate pair, and
nesting no deeper than ``MAX_DEPTH``. What breaks these rules is ``MALFORMED``; what is wrong with
a single parameter is said later, by ``parameters``.
"""

from __future__ import annotations

import json
import math
from typing import NoReturn
from urllib.parse import parse_qsl

from starlette.requests import Request

from .codes import MALFORMED, UNSUPPORTED, Refusal

MAX_DEPTH = 16
"""Levels of objects and arrays in a JSON body, the body itself being the first."""
INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
_MAX_PARAMETERS = 100
_FORM = "application/x-www-form-urlencoded"


async def read_body(request: Request, *, form_allowed: bool) -> tuple[dict[str, object], bool]:
    """The parameters of a POST, and whether they came as text (a form).

    Raises:
        Refusal: the content type is not served here, or the body cannot be read.
    """
    kind, charset = _content_type(request.headers.get("content-type", ""))
    if charset not in ("", "utf-8", "utf8", "us-ascii"):
        raise Refusal(UNSUPPORTED, "The body has to be UTF-8.")
    body = await request.body()
    if kind == "application/json":
        values = decode_json(_utf8(body))
        if not isinstance(values, dict):
            raise Refusal(MALFORMED, "The body has to be one JSON object.")
        return values, False
    if kind == _FORM and form_allowed:
        return _pairs(body), True
    wanted = f"application/json or {_FORM}" if form_allowed else "application/json"
    raise Refusal(UNSUPPORTED, f"The content type has to be {wanted}.")


def read_query(request: Request) -> dict[str, object]:
    """The parameters of a GET; all of them are text."""
    return _pairs(request.scope["query_string"])


def decode_json(text: str, *, depth: int = MAX_DEPTH) -> object:
    """One JSON text as Python objects, or ``Refusal`` saying what is wrong with it."""
    try:
        value: object = json.loads(
            text,
            object_pairs_hook=_without_repeats,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_int64,
        )
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise Refusal(MALFORMED, f"This is not JSON: {_reason(error)}.") from None
    _inspect(value, depth)
    return value


def _content_type(header: str) -> tuple[str, str]:
    kind, *options = (part.strip().lower() for part in header.split(";"))
    for option in options:
        name, _, value = option.partition("=")
        if name == "charset":
            return kind, value.strip('"')
    return kind, ""


def _utf8(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal(MALFORMED, "The body is not UTF-8.") from None


def _pairs(encoded: bytes) -> dict[str, object]:
    if not encoded:
        return {}
    try:
        pairs = parse_qsl(
            encoded.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=_MAX_PARAMETERS,
        )
    except ValueError:
        raise Refusal(MALFORMED, "The parameters are not URL-encoded UTF-8.") from None
    values = _without_repeats(list(pairs))
    _inspect(values, MAX_DEPTH)
    return values


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise Refusal(MALFORMED, "A key is given twice.")
    return values


def _no_constant(name: str) -> NoReturn:
    raise Refusal(MALFORMED, f"{name} is not JSON.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Refusal(MALFORMED, "A number is too large for a double.")
    return number


def _int64(text: str) -> int:
    # The length first: Python itself refuses to read thousands of digits.
    if len(text) > 20 or not INT64_MIN <= int(text) <= INT64_MAX:
        raise Refusal(MALFORMED, "A whole number is beyond int64.")
    return int(text)


def _reason(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos}"
    return "it cannot be read"


def _inspect(value: object, depth: int) -> None:
    """Walk through ``value`` for depth and for texts that could not be kept as they are."""
    open_values = [(value, 1)]
    while open_values:
        one, level = open_values.pop()
        if isinstance(one, str):
            _check_text(one)
        elif isinstance(one, dict | list):
            if level > depth:
                raise _too_deep()
            if isinstance(one, dict):
                open_values.extend((key, level) for key in one)
            members = one.values() if isinstance(one, dict) else one
            open_values.extend((member, level + 1) for member in members)


def _check_text(text: str) -> None:
    if "\0" in text:
        raise Refusal(MALFORMED, "A text contains NUL.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise Refusal(MALFORMED, "A text contains half a surrogate pair.") from None


def _too_deep() -> Refusal:
    return Refusal(MALFORMED, f"Nested deeper than {MAX_DEPTH} levels.")
