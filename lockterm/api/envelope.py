"""The conversion of an HTTP answer to its envelope (contract 2.1) and to records, or an error.

The JSON decoder is strict and limited, and its only error is :class:`InvalidJsonError`. Any
endpoint may use either spelling of the envelope's fields. An answer without a code, with two
different codes, or with an HTTP status that contradicts its code is malformed, and never a success.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from dataclasses import replace
from json import JSONDecodeError
from typing import Any, NamedTuple, NoReturn, TypeVar

from lockterm.api.answer import Answer, retry_after_s
from lockterm.domain.json_text import is_too_deep
from lockterm.domain.reading import Record, is_number
from lockterm.domain.remotes import Remote, RemotePage
from lockterm.errors import MalformedAnswerError, RateLimitedError, RefusedError

R = TypeVar("R", bound=Record)

MAX_DIGITS = 100
"""Maximum number of characters of a JSON number."""
MAX_PARTS = 100_000
"""Maximum total number of objects, arrays and members in a JSON text; a page of 200 remotes has
about 6,000. Decoding 8 MiB of empty objects would take gigabytes of memory and delay key
presses."""

_SURROGATE = re.compile(r"\\ud[89a-f]", re.IGNORECASE)


class InvalidJsonError(ValueError):
    """An error for bytes that are not valid JSON or exceed a limit. Its message is the reason."""


def decode(body: bytes) -> Any:
    """Decode a JSON text in UTF-8.

    Half of a surrogate pair without its other half becomes a replacement character, because neither
    the store nor a terminal accepts it.

    Raises:
        InvalidJsonError: The bytes are not one well-formed, unambiguous JSON value within the
            limits.
    """
    if sum(map(body.count, (b"{", b"[", b","))) > MAX_PARTS:
        raise InvalidJsonError("it has too many parts")
    if body.count(b"\\ud") + body.count(b"\\uD") > MAX_PARTS:
        raise InvalidJsonError("it contains too many unpaired surrogates")
    try:
        text = body.removeprefix(BOM_UTF8).decode()  # some servers begin with a byte order mark
    except UnicodeDecodeError:
        raise InvalidJsonError("it is not UTF-8") from None
    try:
        # Most texts have no long number, and Python's own integer parser takes half the time.
        has_long = b"0" * MAX_DIGITS in body.translate(_AS_DIGITS)
        value = (_CAREFUL if has_long else _DECODER).decode(text)
    except JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip())
        raise InvalidJsonError("it is cut short" if cut and text else "it is not JSON") from None
    except RecursionError:
        raise InvalidJsonError("it is nested too deeply") from None
    if is_too_deep(value):
        raise InvalidJsonError("it is nested too deeply")
    return _mended(value) if _SURROGATE.search(text) else value


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise InvalidJsonError("an object has the same key twice")
    return result


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise InvalidJsonError("a number is too long")
    return int(digits)


def _real(digits: str) -> float:
    if len(digits) > MAX_DIGITS:
        raise InvalidJsonError("a number is too long")
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise InvalidJsonError("a number is too large")
    return value


def _no_constant(name: str) -> NoReturn:
    raise InvalidJsonError(f"it contains {name}")


_AS_DIGITS = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else 0 for byte in range(256))
"""A translation table that turns every digit into ``0`` and every other byte into NUL."""

_DECODER = json.JSONDecoder(
    object_pairs_hook=_unambiguous, parse_float=_real, parse_constant=_no_constant
)
_CAREFUL = json.JSONDecoder(
    object_pairs_hook=_unambiguous,
    parse_int=_integer,
    parse_float=_real,
    parse_constant=_no_constant,
)
"""The decoder for texts with so many digits in a row that a number may be too long."""


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return _unambiguous([(_mended(key), _mended(item)) for key, item in value.items()])
    return value


_DIGITS = re.compile(r"-?[0-9]{1,18}")
_SOMETHING_ELSE = (
    "The answer may come from a proxy, a login page, or the wrong base_url in the profile."
)
_OF_PROXIES = frozenset({407, 511})
"""The HTTP statuses of proxies: proxy authentication required, network authentication required."""


class Envelope(NamedTuple):
    """The content of an envelope. Its texts may contain control characters."""

    code: int
    message: str
    description: str
    data: Any
    """The payload; None if the envelope has none."""

    @property
    def text(self) -> str:
        """The code, message and description as one text."""
        texts = dict.fromkeys(text for text in (self.message, self.description) if text)
        return ": ".join([f"code {self.code}", *texts])


def read_envelope(value: Any) -> Envelope:
    """Return the envelope in a decoded JSON value.

    Raises:
        ValueError: The value is not an envelope. The message is the reason.
    """
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    codes = {_code(value[name]) for name in ("errcode", "errorCode") if name in value}
    if not codes:
        raise ValueError("it has neither errcode nor errorCode")
    if len(codes) > 1:
        raise ValueError("its errcode and errorCode differ")
    message = _text(value.get("errmsg")) or _text(value.get("errorMsg"))
    return Envelope(codes.pop(), message, _text(value.get("description")), value.get("data"))


def open_answer(answer: Answer) -> Any:
    """Return the payload of a successful answer; None if the answer has no payload.

    Raises:
        RefusedError: The service refused the call, and nothing was applied.
        MalformedAnswerError: The answer shows neither success nor refusal.
    """
    try:
        return _opened(answer)
    except (MalformedAnswerError, RefusedError) as error:
        error.out_of_reach = _is_elsewhere(answer)
        raise


def _is_elsewhere(answer: Answer) -> bool:
    """Return whether a proxy, portal or gateway answered instead of the service."""
    if answer.status in _OF_PROXIES or 300 <= answer.status < 400:
        return True
    is_page = answer.body.lstrip()[:1] == b"<"
    return is_page and (200 <= answer.status < 300 or answer.status >= 500)


def _opened(answer: Answer) -> Any:
    status = answer.status
    envelope, problem = None, answer.flaw
    if not problem:
        try:
            envelope = read_envelope(decode(answer.body))
        except ValueError as error:
            problem = str(error)
    quoted = answer.quote(answer.body if envelope is None else envelope.text)

    if 400 <= status < 500 and status != 408:
        if envelope is not None and envelope.code == 0:
            raise MalformedAnswerError(f"The answer contradicts itself: HTTP {status} with code 0.")
        raise _refusal(answer, envelope, quoted)
    if not 200 <= status < 300:
        raise _failure(answer, quoted)
    if envelope is None:
        message = (
            f"The answer (HTTP {status}) cannot be used: {problem}. The answer begins: {quoted}"
        )
        raise MalformedAnswerError(message, hint=_SOMETHING_ELSE)
    if envelope.code != 0:
        raise _refusal(answer, envelope, quoted)
    return envelope.data


def _refusal(answer: Answer, envelope: Envelope | None, quoted: str) -> RefusedError:
    status, quote = answer.status, answer.quote
    message = quote(envelope.message) if envelope else ""
    message = message or f"The service answered HTTP {status}: {quoted or 'nothing more'}"
    if status == 429:
        wait_s = retry_after_s(answer.headers)
        hint = "Try again in some seconds."
        if wait_s:
            hint = f"The service accepts calls again in {wait_s:.0f} s."
        return RateLimitedError(message, retry_after_s=wait_s, hint=hint)
    hint = {
        401: "The service requires credentials. Check the headers of the profile.",
        403: (
            "The service does not allow this. Check the headers of the profile and the rights"
            " of the account."
        ),
        407: "A proxy requires a login, so lockterm did not reach the service.",
        404: "" if envelope else "Check base_url in the profile.",
    }.get(status, "")
    return RefusedError(
        message,
        code=envelope.code if envelope else None,
        status=status,
        description=quote(envelope.description) if envelope else "",
        hint=hint,
    )


def _failure(answer: Answer, quoted: str) -> MalformedAnswerError:
    status = answer.status
    hint = "The service or its gateway has a problem. Try again later."
    title, more = "The service failed", quoted or "nothing more"
    if status < 400:
        title, hint = "Not the service", _SOMETHING_ELSE
        if location := answer.headers.get("location"):
            more = f"a redirect to {_without_query(location, answer.quote)}, not followed"
    return MalformedAnswerError(f"The answer was HTTP {status}: {more}.", title=title, hint=hint)


def _without_query(location: str, quote: Callable[[str], str]) -> str:
    return quote(re.split(r"[?#]", location, maxsplit=1)[0])


def _code(value: Any) -> int:
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if not is_number(value):
        raise ValueError("its code is not a whole number")
    return int(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


# --- the records in ``data`` ----------------------------------------------------------------------


def page_of(answer: Answer, page_no: int, page_size: int, lock_id: int) -> RemotePage:
    """Return the page of a lock's remotes (contract 4.3) that an answer contains.

    Raises:
        MalformedAnswerError: The answer shows neither success nor refusal, or does not contain a
            list of this lock.
        RefusedError: The service refused the call.
    """
    page = read_page(open_answer(answer), page_no, page_size, lock_id)
    return replace(page, answer_bytes=len(answer.body))


def read_page(data: Any, page_no: int, page_size: int, lock_id: int | None = None) -> RemotePage:
    """Return a page of remotes (contract 4.3) from the data of an answer.

    The page has the counts that the service reported. A missing or impossible count is computed:
    the page number and the page size from the request, and the totals from the records. A computed
    total is the smallest possible one.

    Raises:
        MalformedAnswerError: ``data`` is not an object, its ``list`` is not an array, or the list
            belongs to another lock.
    """
    items = _object(data).get("list")
    if not isinstance(items, list):
        raise MalformedAnswerError("The answer has no list of remotes.")
    remotes = tuple(Remote.read(item) for item in items if isinstance(item, Mapping))
    lock_ids = {remote.lock_id for remote in remotes} - {None, 0}
    if lock_id is not None and lock_ids and lock_id not in lock_ids:
        raise MalformedAnswerError(
            f"The answer contains the list of another lock, not of lock {lock_id}."
        )

    minimums = {"pageNo": 1, "pageSize": 1, "pages": 0, "total": 0}
    counts = {name: _count(data.get(name), minimum) for name, minimum in minimums.items()}
    size = counts["pageSize"] or max(page_size, 1)
    number = counts["pageNo"] or max(page_no, 1)
    total, pages = counts["total"], counts["pages"]
    if total is None:
        to_here = (number - 1) * size + len(items) if items else 0
        total = max(to_here, (pages - 1) * size + 1 if pages else 0)
    if pages is None:
        # If the total is missing, another page may follow a full page.
        open_end = counts["total"] is None and len(items) >= size
        pages = number + 1 if open_end else -(-total // size)
    return RemotePage(
        raw=data,
        odd={name: data.get(name) for name, count in counts.items() if count is None},
        remotes=remotes,
        page_no=number,
        page_size=size,
        pages=pages,
        total=total,
        unreadable=len(items) - len(remotes),
    )


def read_remote(data: Any, remote_id: int) -> Remote:
    """Return a remote with its details (contract 4.5) from the data of an answer.

    If ``data`` has no ID, the remote gets the requested one.

    Raises:
        MalformedAnswerError: ``data`` is not an object, or has the ID of another remote. Without
            this error, a later change could affect that remote by mistake.
    """
    received_id = _object(data).get("id")
    remote = Remote.read(data if received_id is not None else {**data, "id": remote_id})
    if remote.id != remote_id:
        about = remote.id if remote.id is not None else "something without a usable ID"
        raise MalformedAnswerError(f"The answer is about {about}, not about remote {remote_id}.")
    return remote


def read_one(data: Any, kind: type[R]) -> R:
    """Return the data of an answer as a record, such as a voice pack.

    Args:
        data: The payload of the answer.
        kind: The class of the record.

    Raises:
        MalformedAnswerError: ``data`` is not an object.
    """
    return kind.read(_object(data))


def read_many(data: Any, kind: type[R]) -> list[R]:
    """Return the data of an answer as a list of records. Entries that are not objects are left out.

    Raises:
        MalformedAnswerError: ``data`` is not an array.
    """
    if not isinstance(data, list):
        raise MalformedAnswerError("The field 'data' of the answer is not a list.")
    return [kind.read(item) for item in data if isinstance(item, Mapping)]


def read_result(data: Any, name: str) -> int | None:
    """Return a number from the data of an answer to a write, such as the ID of a new remote.

    Args:
        data: The payload of the answer.
        name: The name of the field with the number.

    Returns:
        The number; None if the answer has no such number, or an invalid one.
    """
    return _count(data.get(name), 0) if isinstance(data, dict) else None


def _object(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise MalformedAnswerError("The field 'data' of the answer is not an object.")
    return data


def _count(value: Any, minimum: int) -> int | None:
    return value if is_number(value) and value >= minimum else None
