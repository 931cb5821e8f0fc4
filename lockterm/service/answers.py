"""The table of codes, and both envelopes (contract 2.1).

The contract defines two codes: 0 is success, and -3 means that another remote has the name
(contract 7). This service adds the following rules:

* If a rule refuses the request, the answer is HTTP 200 with a negative code, as is usual for
  such services.
* If the request fails before any rule applies (address, method, credential, size, encoding), the
  code of the answer is the same number as its HTTP status.
* A refusal has no ``data``, as the contract shows for -3 of ``checkRemoteName``.
* The contract lists ``status``, ``statusText`` and ``content`` for two endpoints. In this service,
  each answer of the two endpoints has these fields: the HTTP status, its phrase, and an empty text.
* An answer at an unknown path has the field names of the remote endpoints, such as ``errcode``.
"""

from __future__ import annotations

from enum import Enum
from http import HTTPStatus

from starlette.responses import JSONResponse

VOICE_PACKS = "/api/v1/voice/packs"
LOCK_SETTING = "/api/v1/lockSetting/updateLockSetting"


class Code(Enum):
    """The codes of answers, each with its number, message and meaning."""

    SUCCESS = 0, "no error", "the operation was done"
    BAD_PARAMETER = (
        -1,
        "parameter error",
        "a parameter is missing, of the wrong type or out of its range",
    )
    BAD_PERIOD = (
        -2,
        "validity period error",
        "the type, dates and weekdays of the remote, an update's result included, do not fit",
    )
    NAME_EXISTS = (
        -3,
        "the bluetooth remote name exists",
        "checkRemoteName, add and update: another remote of the lock has this very name",
    )
    UNKNOWN_LOCK = -4, "lock not found", "there is no lock with this lockId"
    UNKNOWN_REMOTE = -5, "bluetooth remote not found", "no remote has this remoteId"
    FOREIGN_REMOTE = (
        -6,
        "the bluetooth remote belongs to another lock",
        "update and updateRemoteUserNo: the remote exists, but not on this lock",
    )
    UNKNOWN_MODEL = (
        -7,
        "vendor or model not found",
        "voice/packs: no packs for this vendor and model",
    )
    UNKNOWN_PACK = (
        -8,
        "voice pack not found",
        "voice/detail: the lock's packs have none of this name",
    )
    UNKNOWN_VOICE = (
        -9,
        "voice not available",
        "updateLockSetting: the lock's packs do not have this language and timbre",
    )
    MALFORMED = (
        400,
        "malformed request",
        "no HTTP, or the parameters cannot be read: not UTF-8, broken JSON or form, NaN, a key or"
        " parameter given twice, NUL, half a surrogate pair, a number beyond int64, nested deeper"
        " than 16",
    )
    UNAUTHORIZED = (
        401,
        "unauthorized",
        "the service expects a valid token, as in: Authorization: Bearer TOKEN",
    )
    FORBIDDEN = 403, "forbidden", "the Origin header names another site"
    NOT_FOUND = 404, "not found", "there is nothing at this path"
    METHOD_NOT_ALLOWED = (
        405,
        "method not allowed",
        "the path exists; the Allow header says with which methods",
    )
    TIMEOUT = 408, "request timeout", "the request's body did not arrive within 20 s"
    TOO_LARGE = 413, "request too large", "the body is larger than 64 KiB"
    UNSUPPORTED = (
        415,
        "unsupported media type",
        "a POST is neither JSON nor a URL-encoded form (the voice setting: not JSON), or not UTF-8",
    )
    BAD_RANGE = 416, "range not satisfiable", "a pack was asked for beyond its end"
    MISDIRECTED = (
        421,
        "misdirected request",
        "the Host header names no host that this service serves",
    )
    TOO_MANY = (
        429,
        "too many requests",
        "more than --rate-limit allows; Retry-After says when to ask again",
    )
    INTERNAL = 500, "internal error", "a bug of this service; the answer says no more"
    UNAVAILABLE = (
        503,
        "database unavailable",
        "the database is locked, full, read-only or gone; nothing was changed, and Retry-After says"
        " when to ask again",
    )
    OUTCOME_UNKNOWN = (
        504,
        "outcome unknown",
        "the database was lost while it recorded the change: it may be there or not",
    )

    def __init__(self, number: int, message: str, meaning: str) -> None:
        self.number = number
        """The value of ``errcode`` or ``errorCode`` in an answer."""
        self.message = message
        """The value of ``errmsg`` or ``errorMsg`` in an answer, always the same for a code."""
        self.meaning = meaning
        """The general meaning of the code, for documentation and as the default description."""
        self.http_status = max(number, 0) or 200
        """The HTTP status of answers with this code."""

    @classmethod
    def of_status(cls, http_status: int) -> Code:
        """Return the code for an HTTP status that Starlette chose, such as 404 for a wrong path."""
        other = cls.INTERNAL if http_status >= 500 else cls.MALFORMED
        return next((code for code in cls if code.number == http_status), other)


class RequestRefusedError(Exception):
    """The refusal of a request, which the service converts to an answer.

    Args:
        code: The code of the answer.
        description: The ``description`` of the answer; by default the meaning of the code.
        headers: HTTP headers of the answer.
    """

    def __init__(
        self, code: Code, description: str = "", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(code.number, description)
        self.code = code
        self.description = description or code.meaning
        self.headers = headers or {}


def success(path: str, data: object) -> JSONResponse:
    """Return the answer of the endpoint at ``path`` to an operation that succeeded.

    The answer of the endpoint that sets the voice has no ``data`` (contract 4.12).
    """
    answer = _envelope(path, Code.SUCCESS, "")
    if path != LOCK_SETTING:
        answer["data"] = data
    return JSONResponse(answer)


def refusal(path: str, refused: RequestRefusedError) -> JSONResponse:
    """Return the answer of the endpoint at ``path`` to an operation that was refused."""
    return JSONResponse(
        _envelope(path, refused.code, refused.description),
        status_code=refused.code.http_status,
        headers=refused.headers,
    )


def _envelope(path: str, code: Code, description: str) -> dict[str, object]:
    """Return the envelope of an answer at ``path``, without its ``data``."""
    if path not in (VOICE_PACKS, LOCK_SETTING):
        return {"errcode": code.number, "errmsg": code.message, "description": description}
    return {
        "errorCode": code.number,
        "errorMsg": code.message,
        "description": description,
        "status": code.http_status,
        "statusText": HTTPStatus(code.http_status).phrase,
        "content": "",
    }
