"""The log of the service, and the middleware that logs and counts requests.

To protect secrets and names, a line of the log contains no header, no body, and no name except the
name of a token. The line contains the endpoint instead of the requested path.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .answers import Code
from .guards import TOKEN_NAME

if TYPE_CHECKING:
    from .figures import Figures

_METHODS = ("GET", "HEAD", "POST")
_OTHER = "other"
_CODES = tuple(code.number for code in Code)
_CODE = re.compile(rb'\{"err(?:or)?[cC]ode":(-?[0-9]{1,3}),')


class Log:
    """A log on stderr. Each line is written in one call, so that lines of processes do not mix.

    Args:
        as_json: Whether to write a JSON object for each event and request. Otherwise the log has
            sentences, and no requests.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    def tell(self, event: str, said: str = "", **facts: object) -> None:
        """Log an event.

        Args:
            event: The kind of event, for the JSON log.
            said: A sentence for people. If the sentence is empty, only a JSON log records the
                event.
            facts: More values for the JSON log, by name.
        """
        if self.as_json:
            now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            line = {"time": now, "event": event, "pid": os.getpid(), **facts}
            self._write(json.dumps(line | ({"said": said} if said else {})))
        elif said:
            self._write(f"lockterm: {said}")

    def failed(self, error: BaseException) -> None:
        """Log the type and line of the error behind an answer, but only in a JSON log.

        The message of the error is left out, because it may contain values of a request.
        """
        cause = error.__cause__ or error
        frame = cause.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        at = ""
        if frame is not None:
            file = os.path.basename(frame.tb_frame.f_code.co_filename)
            at = f"{file}:{frame.tb_lineno}"
        state = getattr(cause, "sqlstate", None)
        self.tell("failure", kind=type(cause).__name__, at=at, sqlstate=state)

    @staticmethod
    def _write(line: str) -> None:
        with suppress(OSError):
            os.write(2, f"{line}\n".encode("utf-8", "backslashreplace"))


class Watch:
    """The outermost ASGI middleware, which logs and counts each answer.

    Args:
        app: The application that answers.
        endpoints: The paths to count separately; a path that ends in a slash includes all paths
            below it.
        log: The log of requests.
        figures: The counters of requests; None if there are none.
    """

    def __init__(
        self, app: ASGIApp, *, endpoints: Sequence[str], log: Log, figures: Figures | None
    ) -> None:
        self._app = app
        self._endpoints = frozenset(endpoints)
        self._log = log
        self._figures = figures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to the application, and log and count its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun_s, status, code = time.perf_counter(), 0, 0

        async def send_and_look(message: Message) -> None:
            nonlocal status, code
            if message["type"] == "http.response.start":
                status = message["status"]
                code = status if status >= 400 else 0
            elif found := _CODE.match(message.get("body", b"")):
                code = int(found[1])
            await send(message)

        try:
            await self._app(scope, receive, send_and_look)
        except Exception:
            status = code = Code.INTERNAL.number
            raise
        finally:
            if status:  # else the caller closed the connection before the answer
                self._note(scope, status, code, begun_s)

    def _note(self, scope: Scope, status: int, code: int, begun_s: float) -> None:
        method, path = scope["method"], scope["path"]
        if code not in _CODES:
            code = Code.INTERNAL.number
        seconds = time.perf_counter() - begun_s
        endpoint = path if path in self._endpoints else f"/{path[1:].partition('/')[0]}/"
        endpoint = endpoint if endpoint in self._endpoints else _OTHER
        if self._figures is not None:
            self._figures.count(endpoint, code, seconds)
        if self._log.as_json:
            method = method if method in _METHODS else _OTHER
            ms = round(seconds * 1000, 1)
            peer, *_ = scope.get("client") or [None]
            who = {"peer": peer, "token": scope.get(TOKEN_NAME) or None}
            self._log.tell(
                "request", method=method, endpoint=endpoint, status=status, code=code, ms=ms, **who
            )
