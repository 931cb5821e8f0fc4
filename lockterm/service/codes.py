"""The one table of codes that this service answers with.

The contract fixes two: 0 is success, and -3 says that a remote's name exists (section 7). The
rest is this service's choice:

* A refusal by rule is HTTP 200 with a negative code, as vendors of such services do.
* What fails before any rule is asked (address, method, credential, size, encoding) carries its
  HTTP status, and the same number as its code.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """One row of the table."""

    number: int
    """``errcode`` or ``errorCode``."""
    http_status: int
    """Status of the HTTP answer that carries it."""
    message: str
    """``errmsg`` or ``errorMsg``: always the same text for one code."""
    meaning: str
    """When it is answered; ``description`` says it for the case at hand."""


SUCCESS = Code(0, 200, "no error", "the operation was done")
BAD_PARAMETER = Code(
    -1, 200, "parameter error", "a parameter is missing, of the wrong type or out of its range"
)
BAD_PERIOD = Code(
    -2,
    200,
    "validity period error",
    "the type, dates and weekdays of the remote, an update's result included, do not fit",
)
NAME_EXISTS = Code(
    -3,
    200,
    "the bluetooth remote name exists",
    "checkRemoteName, add and update: another remote of the lock has this very name",
)
UNKNOWN_LOCK = Code(-4, 200, "lock not found", "there is no lock with this lockId")
UNKNOWN_REMOTE = Code(-5, 200, "bluetooth remote not found", "no remote has this remoteId")
FOREIGN_REMOTE = Code(
    -6,
    200,
    "the bluetooth remote belongs to another lock",
    "update and updateRemoteUserNo: the remote exists, but not on this lock",
)
UNKNOWN_MODEL = Code(
    -7, 200, "vendor or model not found", "voice/packs: no packs for this vendor and model"
)
UNKNOWN_PACK = Code(
    -8, 200, "voice pack not found", "voice/detail: the lock's packs have none of this name"
)
UNKNOWN_VOICE = Code(
    -9,
    200,
    "voice not available",
    "updateLockSetting: the lock's packs do not have this language and timbre",
)
MALFORMED = Code(
    400,
    400,
    "malformed request",
    "no HTTP, or the parameters cannot be read: not UTF-8, broken JSON or form, NaN, a key or"
    " parameter given twice, NUL, half a surrogate pair, a number beyond int64, nested deeper"
    " than 16",
)
UNAUTHORIZED = Code(
    401, 401, "unauthorized", "the service was started with a token and this is not it"
)
FORBIDDEN = Code(403, 403, "forbidden", "the Origin header names another site")
NOT_FOUND = Code(404, 404, "not found", "there is nothing at this path")
METHOD_NOT_ALLOWED = Code(
    405, 405, "method not allowed", "the path exists; the Allow header says with which methods"
)
TIMEOUT = Code(408, 408, "request timeout", "the request's body did not arrive within 20 s")
TOO_LARGE = Code(413, 413, "request too large", "the body is larger than 64 KiB")
UNSUPPORTED = Code(
    415,
    415,
    "unsupported media type",
    "a POST is neither JSON nor a URL-encoded form (the voice setting: not JSON), or not UTF-8",
)
BAD_RANGE = Code(416, 416, "range not satisfiable", "a pack was asked for beyond its end")
MISDIRECTED = Code(
    421, 421, "misdirected request", "the Host header names no host that this service serves"
)
INTERNAL = Code(500, 500, "internal error", "a bug of this service; the answer says no more")
UNAVAILABLE = Code(
    503, 503, "database unavailable", "the database is locked, full or gone; nothing was changed"
)

CODES: tuple[Code, ...] = (
    SUCCESS,
    BAD_PARAMETER,
    BAD_PERIOD,
    NAME_EXISTS,
    UNKNOWN_LOCK,
    UNKNOWN_REMOTE,
    FOREIGN_REMOTE,
    UNKNOWN_MODEL,
    UNKNOWN_PACK,
    UNKNOWN_VOICE,
    MALFORMED,
    UNAUTHORIZED,
    FORBIDDEN,
    NOT_FOUND,
    METHOD_NOT_ALLOWED,
    TIMEOUT,
    TOO_LARGE,
    UNSUPPORTED,
    BAD_RANGE,
    MISDIRECTED,
    INTERNAL,
    UNAVAILABLE,
)
"""Every code there is, in the order of the table."""

_BY_STATUS = {code.http_status: code for code in CODES if code.http_status != 200}


def code_of_status(http_status: int) -> Code:
    """The code for an HTTP status that the framework chose by itself."""
    return _BY_STATUS.get(http_status, INTERNAL if http_status >= 500 else MALFORMED)


class Refusal(Exception):
    """An operation that is not done, and why.

    Args:
        code: its row in the table.
        description: the case at hand, for the envelope's ``description``; without it, the
            table's meaning.
        headers: HTTP headers that belong to the answer.
    """

    def __init__(
        self, code: Code, description: str = "", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(code.number, description)
        self.code = code
        self.description = description or code.meaning
        self.headers = headers or {}
