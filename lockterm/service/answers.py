"""Both envelopes of the contract (section 2.1), each on its own endpoints.

Choices where the contract is silent or doubtful:

* A refusal has no ``data`` at all, as the contract shows for -3 of ``checkRemoteName``.
* ``status``, ``statusText`` and ``content`` are on every answer of the two endpoints whose tables
  list them: the HTTP status, its phrase, and an empty text.
* A path that does not exist is answered in the spelling of the remote endpoints.
"""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import JSONResponse

from .codes import SUCCESS, Code, Refusal

VOICE_PACKS = "/api/v1/voice/packs"
LOCK_SETTING = "/api/v1/lockSetting/updateLockSetting"
_OTHER_SPELLING = frozenset({VOICE_PACKS, LOCK_SETTING})


def envelope(path: str, code: Code, description: str) -> dict[str, object]:
    """The envelope for an answer at ``path``, without its ``data``."""
    if path not in _OTHER_SPELLING:
        return {"errcode": code.number, "errmsg": code.message, "description": description}
    return {
        "errorCode": code.number,
        "errorMsg": code.message,
        "description": description,
        "status": code.http_status,
        "statusText": HTTPStatus(code.http_status).phrase,
        "content": "",
    }


def success(path: str, data: object) -> JSONResponse:
    """The answer to an operation that was done.

    ``data`` is left out for the voice setting, whose answer has no such member (section 4.12).
    """
    answer = envelope(path, SUCCESS, "")
    if path != LOCK_SETTING:
        answer["data"] = data
    return JSONResponse(answer)


def refusal(path: str, refused: Refusal) -> JSONResponse:
    """The answer to an operation that was not done."""
    return JSONResponse(
        envelope(path, refused.code, refused.description),
        status_code=refused.code.http_status,
        headers=refused.headers,
    )
