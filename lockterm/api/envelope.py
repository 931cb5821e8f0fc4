"""From an HTTP answer to the ``data`` of the contract's envelope (2.1), or to an error.

Either spelling of the envelope is taken on any endpoint. An answer without a code, with two that
differ, or whose HTTP status and code contradict each other is malformed, and never a success.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lockterm.api.answer import Answer
from lockterm.api.decoder import decode
from lockterm.api.headers import retry_after_s
from lockterm.domain.reading import is_number
from lockterm.errors import MalformedAnswer, RateLimited, Refused

_DIGITS = re.compile(r"-?[0-9]{1,18}")
_SOMETHING_ELSE = (
    "Something else may have answered: a proxy, a login page, or the wrong base_url in the profile."
)
_OF_PROXIES = frozenset({407, 511})
"""HTTP status: proxy authentication required, network authentication required."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """An opened envelope; its texts are as they came."""

    code: int
    message: str
    description: str
    data: Any
    """The payload; None where there was none."""

    @property
    def words(self) -> str:
        """What the service says, in one line: code, message and description."""
        said = dict.fromkeys(text for text in (self.message, self.description) if text)
        return ": ".join([f"code {self.code}", *said])


def read_envelope(value: Any) -> Envelope:
    """Read an envelope from a decoded JSON value.

    Raises:
        ValueError: It is none; the message says why, in a few words.
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
    """The payload of a successful answer; None where it has none.

    Raises:
        Refused: The service said no, and nothing was applied.
        MalformedAnswer: Whether it said yes or no cannot be told.
    """
    try:
        return _opened(answer)
    except (MalformedAnswer, Refused) as error:
        error.out_of_reach = _is_elsewhere(answer)
        raise


def _is_elsewhere(answer: Answer) -> bool:
    """Whether something on the way answered: a proxy that wants a login, a portal, a gateway."""
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
    quoted = answer.quote(answer.body if envelope is None else envelope.words)

    if 400 <= status < 500 and status != 408:
        if envelope is not None and envelope.code == 0:
            raise MalformedAnswer(f"The answer contradicts itself: HTTP {status} with code 0.")
        raise _refusal(answer, envelope, quoted)
    if not 200 <= status < 300:
        raise _failure(answer, quoted)
    if envelope is None:
        message = f"The answer (HTTP {status}) cannot be used: {problem}. It begins: {quoted}"
        raise MalformedAnswer(message, hint=_SOMETHING_ELSE)
    if envelope.code != 0:
        raise _refusal(answer, envelope, quoted)
    return envelope.data


def _refusal(answer: Answer, envelope: Envelope | None, quoted: str) -> Refused:
    status, quote = answer.status, answer.quote
    message = quote(envelope.message) if envelope else ""
    message = message or f"The service answered HTTP {status}: {quoted or 'nothing more'}"
    if status == 429:
        wait_s = retry_after_s(answer.headers)
        hint = "Try again in some seconds."
        if wait_s:
            hint = f"It takes calls again in {wait_s:.0f} s."
        return RateLimited(message, retry_after_s=wait_s, hint=hint)
    hint = {
        401: "It wants credentials: check the profile's headers.",
        403: "It does not allow this: check the profile's headers and what they are good for.",
        407: "A proxy on the way wants a login: the service was not reached.",
        404: "" if envelope else "Check base_url in the profile.",
    }.get(status, "")
    return Refused(
        message,
        code=envelope.code if envelope else None,
        status=status,
        description=quote(envelope.description) if envelope else "",
        hint=hint,
    )


def _failure(answer: Answer, quoted: str) -> MalformedAnswer:
    status = answer.status
    hint = "The service or a gateway before it has a problem; try again later."
    title, more = "The service failed", quoted or "nothing more"
    if status < 400:
        title, hint = "Not the service", _SOMETHING_ELSE
        if location := answer.headers.get("location"):
            more = f"a redirect to {_without_query(location, answer.quote)}, not followed"
    return MalformedAnswer(f"The answer was HTTP {status}: {more}.", title=title, hint=hint)


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
