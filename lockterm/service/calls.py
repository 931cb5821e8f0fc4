"""A call of an operation: the state of the service, and the parameters of the request.

Parameters come from a JSON body, a form or the query. The rules are strict, because the service
stores values and shows them to others. A request must be UTF-8 and nested at most ``MAX_DEPTH``
deep. It must not have a repeated key, NaN, a number that is too large for an int64 or a double,
NUL, or half a surrogate pair. Other requests are ``MALFORMED``. A wrong value of a single parameter
is a ``BAD_PARAMETER``. These rules apply to single parameters:

* A bool or 1.0 is not accepted as a whole number.
* ``null`` means that the parameter is missing. In a form or query, an empty value means the same,
  unless the parameter is a text.
* A required text must not be blank. Texts are stored unchanged.
* Parameters that the contract does not name are ignored.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request

from .answers import Code, RequestRefusedError
from .packs import PACKS, Pack
from .storage import Connection, Database

T = TypeVar("T")


def now_ms() -> int:
    """Return this machine's time in milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class SiteLock:
    """A smart lock of the service, with the voice packs of its model."""

    id: int
    name: str
    alias: str
    packs: tuple[Pack, ...]


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The state of a running service."""

    database: Database
    """The database with all remotes and settings."""
    clock: Callable[[], int]
    """A function that returns the time in milliseconds since 1970."""
    any_lock: bool
    """Whether any unknown lock ID is accepted, as a lock of the first model."""

    def lock(self, db: Connection, lock_id: int) -> SiteLock:
        """Return the lock with this ID.

        Raises:
            RequestRefusedError: If no lock has this ID.
        """
        query = "SELECT name, alias, vendor, model FROM lock WHERE id = ?"
        row = db.execute(query, (lock_id,)).fetchone()
        if row is not None:
            name, alias, vendor, model = row
            return SiteLock(lock_id, name, alias, PACKS[vendor, model])
        if not self.any_lock:
            raise no_lock(lock_id)
        return SiteLock(lock_id, f"Lock {lock_id}", "", next(iter(PACKS.values())))


@dataclass(frozen=True, slots=True)
class Call:
    """A request to an operation, with its parameters already read."""

    site: ServiceState
    """The state of the service."""
    given: Parameters
    """The parameters of the request."""
    request: Request
    public_url: str | None
    """The address of a proxy before the service, without a slash at the end; None if there is none.
    """

    @property
    def base_url(self) -> str:
        """The service's address for this caller, without a slash at the end."""
        return self.public_url or str(self.request.base_url).rstrip("/")


def no_lock(lock_id: int) -> RequestRefusedError:
    """Return the refusal for an unknown lock ID."""
    return RequestRefusedError(Code.UNKNOWN_LOCK, f"There is no lock {lock_id}.")


# --- parameters -----------------------------------------------------------------------------------

MAX_DEPTH = 16
"""Maximum number of nested objects and arrays in a JSON body, including the body itself."""
INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
_MAX_PARAMETERS = 100
_FORM = "application/x-www-form-urlencoded"
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,19}")


async def read_parameters(request: Request, *, form_allowed: bool) -> Parameters:
    """Return the parameters of a request. The parameters of a GET request are text in its query.

    Args:
        request: The request.
        form_allowed: Whether a POST may be a form. The parameters of a form are text.

    Raises:
        RequestRefusedError: If the content type is not accepted, or the body cannot be read.
    """
    if request.method != "POST":
        return Parameters(_pairs(request.scope["query_string"]), as_text=True)
    kind, charset = _content_type(request.headers.get("content-type", ""))
    if charset not in ("", "utf-8", "utf8", "us-ascii"):
        raise RequestRefusedError(Code.UNSUPPORTED, "The body must be UTF-8.")
    body = await request.body()
    if kind == _FORM and form_allowed:
        return Parameters(_pairs(body), as_text=True)
    if kind != "application/json":
        wanted = f"application/json or {_FORM}" if form_allowed else "application/json"
        raise RequestRefusedError(Code.UNSUPPORTED, f"The content type must be {wanted}.")
    try:
        values = decode_json(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise _malformed("The body is not UTF-8.") from None
    if not isinstance(values, dict):
        raise _malformed("The body must be one JSON object.")
    return Parameters(values, as_text=False)


class Parameters:
    """The parameters of a request. Methods raise ``RequestRefusedError`` for an invalid parameter.

    Args:
        values: The values of the parameters, by name.
        as_text: Whether all values are text, as in a query or form. Numbers are then decimal
            digits, and objects and arrays are JSON.
    """

    def __init__(self, values: dict[str, object], *, as_text: bool) -> None:
        self._values = values
        self._as_text = as_text

    def text(self, name: str) -> str:
        """Return the text of a required parameter, which must not be blank."""
        value = self._required(name, self.optional_text(name))
        if not value.strip():
            raise _wrong(f"{name} is blank.")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return the text of a parameter; None if the parameter is missing."""
        value = self._values.get(name)
        if value is not None and not isinstance(value, str):
            raise _wrong(f"{name} must be a string.")
        return value

    def integer(self, name: str, low: int = 1) -> int:
        """Return the whole number of a required parameter, which must be at least ``low``."""
        return self._required(name, self.optional_integer(name, low))

    def optional_integer(self, name: str, low: int = 0, high: int = INT64_MAX) -> int | None:
        """Return the number of a parameter, from ``low`` to ``high``; None if it is missing."""
        value = self._sent(name)
        if isinstance(value, str) and self._as_text and _WHOLE_NUMBER.fullmatch(value):
            value = int(value)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong(f"{name} must be a whole number.")
        if not low <= value <= high:
            raise _wrong(f"{name} must be from {low} to {high}.")
        return value

    def choice(self, name: str, allowed: tuple[int, ...]) -> int:
        """Return the whole number of a required parameter, which must be one of ``allowed``."""
        return self._required(name, self.optional_choice(name, allowed))

    def optional_choice(self, name: str, allowed: tuple[int, ...]) -> int | None:
        """Return the number of a parameter, one of ``allowed``; None if it is missing."""
        value = self.optional_integer(name)
        if value is not None and value not in allowed:
            numbers = ", ".join(str(number) for number in allowed)
            raise _wrong(f"{name} must be one of {numbers}.")
        return value

    def weekdays(self, name: str) -> list[int] | None:
        """Return the weekdays of a parameter, in the order of the request; 1 is Monday.

        The result is None if the parameter is missing.
        """
        value = self._structure(name)
        if value is None:
            return None
        if not isinstance(value, list) or not all(type(day) is int for day in value):
            raise _wrong(f"{name} must be an array of whole numbers.")
        if not all(1 <= day <= 7 for day in value):
            raise _wrong(f"{name} has to hold weekdays from 1 to 7.")
        if len(set(value)) != len(value):
            raise _wrong(f"{name} names a weekday twice.")
        return value

    def json_object(self, name: str) -> dict[str, object]:
        return self._required(name, self.optional_json_object(name))

    def optional_json_object(self, name: str) -> dict[str, object] | None:
        """Return the JSON object of a parameter; None if the parameter is missing."""
        value = self._structure(name)
        if value is not None and not isinstance(value, dict):
            raise _wrong(f"{name} must be a JSON object.")
        return value

    def _sent(self, name: str) -> object:
        value = self._values.get(name)
        return None if self._as_text and value == "" else value

    def _structure(self, name: str) -> object:
        value = self._sent(name)
        if self._as_text and isinstance(value, str):
            return decode_json(value, depth=MAX_DEPTH - 1)
        return value

    @staticmethod
    def _required(name: str, value: T | None) -> T:
        if value is None:
            raise _wrong(f"{name} is missing.")
        return value


def decode_json(text: str, *, depth: int = MAX_DEPTH) -> object:
    """Return a JSON text as Python objects.

    Args:
        text: The JSON text.
        depth: Maximum number of nested objects and arrays.

    Raises:
        RequestRefusedError: If the text breaks a rule of this module.
    """
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
    except json.JSONDecodeError as error:
        reason = f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos}"
        raise _malformed(f"This is not JSON: {reason}.") from None
    _inspect(value, depth)
    return value


def _content_type(header: str) -> tuple[str, str]:
    kind, *options = (part.strip().lower() for part in header.split(";"))
    for option in options:
        name, _, value = option.partition("=")
        if name == "charset":
            return kind, value.strip('"')
    return kind, ""


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
        raise _malformed("The parameters are not URL-encoded UTF-8.") from None
    values = _without_repeats(list(pairs))
    _inspect(values, MAX_DEPTH)
    return values


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise _malformed("A key is given twice.")
    return values


def _no_constant(name: str) -> NoReturn:
    raise _malformed(f"{name} is not JSON.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _malformed("A number is too large for a double.")
    return number


def _int64(text: str) -> int:
    # The length is checked first, because Python refuses to read thousands of digits.
    if len(text) > 20 or not INT64_MIN <= int(text) <= INT64_MAX:
        raise _malformed("A whole number is beyond int64.")
    return int(text)


def _inspect(value: object, depth: int) -> None:
    """Refuse a value that is nested too deeply, or has a text that cannot be stored unchanged."""
    open_values = [(value, 1)]
    while open_values:
        one, level = open_values.pop()
        if isinstance(one, str):
            if "\0" in one:
                raise _malformed("A text contains NUL.")
            try:
                one.encode("utf-8")
            except UnicodeEncodeError:
                raise _malformed("A text contains half a surrogate pair.") from None
        elif isinstance(one, dict | list):
            if level > depth:
                raise _too_deep()
            if isinstance(one, dict):
                open_values.extend((key, level) for key in one)
            members = one.values() if isinstance(one, dict) else one
            open_values.extend((member, level + 1) for member in members)


def _too_deep() -> RequestRefusedError:
    return _malformed(f"Nested deeper than {MAX_DEPTH} levels.")


def _malformed(description: str) -> RequestRefusedError:
    return RequestRefusedError(Code.MALFORMED, description)


def _wrong(description: str) -> RequestRefusedError:
    return RequestRefusedError(Code.BAD_PARAMETER, description)
