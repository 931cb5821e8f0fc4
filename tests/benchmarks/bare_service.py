"""A bare Starlette app that answers a page of remotes from a database of ours, and nothing else.

``python -m tests.benchmarks.bare_service FILE`` prints its port. No rule, limit, header or error is
looked after: it is what such a page costs at least.
"""

from __future__ import annotations

import socket
import sqlite3
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

QUERY = "SELECT * FROM remote WHERE lock_id = ? ORDER BY id LIMIT ? OFFSET ?"


def main(file: str) -> None:
    """Serve until ended."""
    db = sqlite3.connect(file)
    db.row_factory = sqlite3.Row

    async def page(request: Request) -> JSONResponse:
        lock_id, page_no, size = (
            int(request.query_params[name]) for name in ("lockId", "pageNo", "pageSize")
        )
        rows = db.execute(QUERY, (lock_id, size, (page_no - 1) * size)).fetchall()
        return JSONResponse({"errcode": 0, "data": {"list": [dict(row) for row in rows]}})

    app = Starlette(routes=[Route("/api/v1/bluetooth-remote/list", page)])
    # asyncio sends at once only on a socket whose protocol is named: else each answer waits 40 ms.
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        print(listening.getsockname()[1], flush=True)
        config = uvicorn.Config(app, log_level="error", http="h11", loop="asyncio")
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(sys.argv[1])
