"""A service that means harm: every string it answers with could steer a terminal or a widget."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

PAYLOADS = (
    "[@click=app.quit]PWNED[/]",
    "[/]",
    "[b",
    "\x1b]0;PWNED\x07",
    "\x1b]52;c;UFdORUQ=\x07",
    "\x1b[2J\x1b[38;5;199;5mPWNED",
    "\x1b[6n\x1b[?1049l",
    "\x1bP+q544e\x1b\\",
    "\x9b31mPWNED",
    "\x9d0;PWNED\x9c",
    "a\x00b\x08\x7f",
    "one\r\ntwo\tthree\x0b\x0c",
    "\u202egnol\u2066\u2069\u061c",
    "zero\u200b\u200e\ufeff\u00ad\u2028\u2029width",
    "\ud800 half \udfff",
    "\U000e0041tag",
    "👩\u200d🚒" + "e\u0301" * 30,
    "長" * 3000,
)
"""What each string of the service may be; lone surrogates travel as JSON escapes."""


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(json.loads(body))

    def _answer(self, given: dict[str, Any]) -> None:
        call = self.path.partition("?")[0].rpartition("/")[2]
        self.server.calls.append(call)
        document = {
            "list": self._voices if "/voice/" in self.path else self._page,
            "detail": self._pack if "/voice/" in self.path else self._remote_detail,
            "packs": self._languages,
        }.get(call, self._refusal)()
        content = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    # --- the answers -----------------------------------------------------------------------------

    def _bad(self) -> str:
        return self.server.random.choice(PAYLOADS)

    def _success(self, data: object) -> dict[str, object]:
        return {"errcode": 0, "errmsg": self._bad(), "description": self._bad(), "data": data}

    def _refusal(self) -> dict[str, object]:
        codes = {"errcode": -99, "errmsg": self._bad(), "description": self._bad()}
        if self.path.endswith("updateLockSetting"):
            return {"errorCode": -99, "errorMsg": self._bad(), "description": self._bad()}
        return codes

    def _page(self) -> dict[str, object]:
        remotes = [self._remote(number) for number in range(1, 21)]
        return self._success(
            {"list": remotes, "pageNo": 1, "pageSize": 20, "pages": 1, "total": len(remotes)}
        )

    def _remote(self, number: int) -> dict[str, object]:
        own = Random(number)  # asked for again, it is the same one
        return {
            "id": number,
            "lockId": 7,
            "remoteName": own.choice(PAYLOADS),
            "remoteNumber": own.choice(PAYLOADS),
            "remoteType": (1, 2, 4, 9)[number % 4],
            "remoteTypeName": self._bad(),
            "addType": 1,
            "addTypeName": self._bad(),
            "startDate": 1_700_000_000_000,
            "endDate": 1_800_000_000_000,
            "weekDay": [1, 2],
            "isCoerced": 1,
            "extraData": {self._bad(): self._bad()},
            "status": 1,
            "statusName": self._bad(),
            "apiUserId": 1,
            "createTime": 1_700_000_000_000,
            "updateTime": 1_700_000_000_000,
            self._bad(): self._bad(),
        }

    def _remote_detail(self) -> dict[str, object]:
        lock = {"lockId": 7, "lockName": self._bad(), "lockAlias": self._bad()}
        firmware = {self._bad(): self._bad()}
        more = {"lockInfo": lock, "mac": self._bad(), "firmwareInfo": firmware}
        return self._success(self._remote(1) | more)

    def _voices(self) -> dict[str, object]:
        packs = [
            {"name": self._bad(), "label": self._bad(), "updated_at": 1_700_000_000_000}
            for _ in PAYLOADS
        ]
        return self._success(packs)

    def _pack(self) -> dict[str, object]:
        text = {key: self._bad() for key in ("name", "label", "timbrePackUrl", "fileMd5")}
        return self._success(text | {"updated_at": 1_700_000_000, "fileSize": 5})

    def _languages(self) -> dict[str, object]:
        languages = [
            {
                "lang": self._bad(),
                "timbres": [
                    {key: self._bad() for key in ("timbre", "name", "timbrePackUrl")}
                    for _ in range(2)
                ],
            }
            for _ in PAYLOADS
        ]
        return {"errorCode": 0, "errorMsg": "", "description": "", "data": languages}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.random = Random(20)
        self.calls: list[str] = []


@contextmanager
def hostile_service() -> Iterator[tuple[str, list[str]]]:
    """Its base URL, and the last part of the path of every call so far."""
    with _Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", server.calls
        finally:
            server.shutdown()
            thread.join()
