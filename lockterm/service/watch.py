"""What is told of the service to those who run it: lines of a log, and figures for Prometheus.

Nothing of it has a header or a body, and no name but that of a token: of a path it tells only which
endpoint it is.
"""

from __future__ import annotations

import json
import os
import re
import time
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import accumulate
from mmap import mmap

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .answers import Code
from .guards import TOKEN_NAME

_METHODS = ("GET", "HEAD", "POST")
_OTHER = "other"
_BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_CODES = tuple(code.number for code in Code)
_CODE = re.compile(rb'\{"err(?:or)?[cC]ode":(-?[0-9]{1,3}),')


class Log:
    """Lines on stderr, each written at once, so that those of several processes do not mix.

    Args:
        as_json: one JSON object a line, for each request too; else sentences, and of requests
            nothing.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    def tell(self, event: str, said: str = "", **facts: object) -> None:
        """Something happened.

        Args:
            event: what kind of thing, for programs.
            said: a sentence, for people; without one it is told to programs alone.
            facts: more, for programs.
        """
        if self.as_json:
            now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            line = {"time": now, "event": event, "pid": os.getpid(), **facts}
            self._write(json.dumps(line | ({"said": said} if said else {})))
        elif said:
            self._write(f"lockterm: {said}")

    def failed(self, error: BaseException) -> None:
        """An error behind an answer, without its words: a database repeats values in them."""
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


class Figures:
    """Counts of all workers, in memory that they share; made before they are started.

    Each worker writes to a part of its own, in one thread. One that takes the place of another
    goes on in the same part: what was counted is not lost with it, and never goes back.

    Args:
        endpoints: the paths that are told apart.
        workers: how many parts there are.
    """

    def __init__(self, endpoints: Sequence[str], workers: int) -> None:
        self._endpoints = (*endpoints, _OTHER)
        self._row = len(_CODES) + len(_BOUNDS_S) + 2
        """Cells of an endpoint: one for each code, for each span of time, and the microseconds."""
        self._workers = workers
        cells = workers * len(self._endpoints) * self._row
        self._cells = memoryview(mmap(-1, (cells + 1) * 8)).cast("Q")
        """The last one has the failed reloads of tokens."""
        self._first_process = os.getpid()
        self.part = 0
        """Which of the parts is this process's."""

    def count(self, endpoint: str, code: int, seconds: float) -> None:
        """A request was answered."""
        row = self._first(self.part, self._endpoints.index(endpoint))
        self._cells[row + _CODES.index(code)] += 1
        self._cells[row + len(_CODES) + bisect_left(_BOUNDS_S, seconds)] += 1
        self._cells[row + self._row - 1] += round(seconds * 1e6)

    def count_failed_reload(self) -> None:
        """The tokens could not be read again; workers, which read them too, do not count it."""
        if os.getpid() == self._first_process:
            self._cells[-1] += 1

    def text(self) -> str:
        """All of them in Prometheus' text format; what was never counted is left out."""
        counts, times = ["# TYPE lockterm_requests_total counter"], list[str]()
        times.append("# TYPE lockterm_request_seconds histogram")
        for number, endpoint in enumerate(self._endpoints):
            rows = [self._first(part, number) for part in range(self._workers)]
            sums = [sum(self._cells[row + cell] for row in rows) for cell in range(self._row)]
            codes, spans = sums[: len(_CODES)], sums[len(_CODES) : -1]
            if not any(codes):
                continue
            of = f'endpoint="{endpoint}"'
            for code, count in zip(_CODES, codes, strict=True):
                if count:
                    counts.append(f'lockterm_requests_total{{{of},code="{code}"}} {count}')
            ends = (*_BOUNDS_S, "+Inf")
            for end, count in zip(ends, accumulate(spans), strict=True):
                times.append(f'lockterm_request_seconds_bucket{{{of},le="{end}"}} {count}')
            times.append(f"lockterm_request_seconds_sum{{{of}}} {sums[-1] / 1e6}")
            times.append(f"lockterm_request_seconds_count{{{of}}} {sum(spans)}")
        name = "lockterm_token_reloads_failed_total"
        reloads = [f"# TYPE {name} counter", f"{name} {self._cells[-1]}"]
        return "\n".join([*counts, *times, *reloads, ""])

    def _first(self, part: int, endpoint: int) -> int:
        return (part * len(self._endpoints) + endpoint) * self._row


class Watch:
    """ASGI middleware around all others: tells of each answer when it was given.

    Args:
        app: what answers.
        endpoints: the paths that are told apart; one that ends in a slash has all below it.
        log: where a request is told, if it tells of them.
        figures: where it is counted; None: nowhere.
    """

    def __init__(
        self, app: ASGIApp, *, endpoints: Sequence[str], log: Log, figures: Figures | None
    ) -> None:
        self._app = app
        self._endpoints = frozenset(endpoints)
        self._log = log
        self._figures = figures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, and note what was answered."""
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
            if status:  # else who asked hung up before the end
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
