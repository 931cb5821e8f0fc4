"""Makes the application: the 12 endpoints, the packs' files, and an envelope for all else."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from . import remotes, voices
from .answers import LOCK_SETTING, VOICE_PACKS, Code, Refusal, refusal, success
from .database import ServiceDatabase
from .guards import LOOPBACK_HOSTS, Guard
from .packs import download
from .parameters import read_parameters
from .sample_data import fill
from .site import Call, Site, now_ms

Operation = Callable[[Call], object]
Endpoint = Callable[[Request], Awaitable[Response]]

_REMOTE = "/api/v1/bluetooth-remote"
OPERATIONS: tuple[tuple[str, str, Operation], ...] = (
    ("POST", f"{_REMOTE}/add", remotes.add),
    ("POST", f"{_REMOTE}/checkRemoteName", remotes.check_remote_name),
    ("GET", f"{_REMOTE}/list", remotes.list_remotes),
    ("POST", f"{_REMOTE}/update", remotes.update),
    ("POST", f"{_REMOTE}/detail", remotes.detail),
    ("POST", f"{_REMOTE}/delete", remotes.delete),
    ("POST", f"{_REMOTE}/clear", remotes.clear),
    ("POST", f"{_REMOTE}/updateRemoteUserNo", remotes.update_remote_user_no),
    ("POST", "/api/v1/voice/list", voices.list_packs),
    ("POST", VOICE_PACKS, voices.full_packs),
    ("POST", "/api/v1/voice/detail", voices.pack_detail),
    ("POST", LOCK_SETTING, voices.set_voice),
)
"""The endpoints in the order of the contract's section 4."""

REMEMBERED_REQUESTS = 10_000


def create_service(
    database: Path | None = None,
    *,
    sample_data: bool = True,
    today: date | None = None,
    clock: Callable[[], int] = now_ms,
    token: str | None = None,
    allowed_hosts: Iterable[str] = LOOPBACK_HOSTS,
) -> Starlette:
    """Make the service.

    ``state.requests`` of the result holds method and path of the last requests, ``state.failures``
    the exceptions behind answers with 500, ``state.site`` what the operations work on.

    Args:
        database: a file that keeps what is changed; None keeps it in memory.
        sample_data: fill a new database with a site of six locks; without it the service has
            no locks and accepts any lock id. A file that was made so goes on accepting any.
        today: the day that the sample data is relative to; the clock's day in UTC by default.
        clock: now in milliseconds since 1970.
        token: the bearer token that requests have to carry.
        allowed_hosts: hosts that requests may be addressed to, without ports.

    Raises:
        OSError: the database cannot be used.
    """
    requests: deque[tuple[str, str]] = deque(maxlen=REMEMBERED_REQUESTS)
    failures: deque[Exception] = deque(maxlen=100)
    opened = ServiceDatabase(database)
    if opened.is_new:
        day = today or datetime.fromtimestamp(clock() / 1000, UTC).date()
        with opened.writing() as db:
            db.execute("INSERT INTO site VALUES (?)", (not sample_data,))
            if sample_data:
                fill(db, day)
    with opened.reading() as db:
        any_lock = not sample_data or bool(db.execute("SELECT any_lock FROM site").fetchone()[0])
    site = Site(opened, clock, any_lock)

    def answer_refusal(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refusal)
        return refusal(request.scope["path"], error)

    def answer_framework(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        refused = Refusal(Code.of_status(error.status_code), headers=dict(error.headers or {}))
        return refusal(request.scope["path"], refused)

    def answer_database(request: Request, error: Exception) -> Response:
        failures.append(error)
        return refusal(request.scope["path"], Refusal(Code.UNAVAILABLE))

    def answer_bug(request: Request, error: Exception) -> Response:
        failures.append(error)
        return refusal(request.scope["path"], Refusal(Code.INTERNAL))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        opened.close()

    service = Starlette(
        routes=[
            *(
                Route(path, _endpoint(site, operation), methods=[method])
                for method, path, operation in OPERATIONS
            ),
            Route("/packs/{path:path}", _download, methods=["GET"]),
        ],
        middleware=[
            Middleware(
                Guard, allowed_hosts=allowed_hosts, token=token, clock=clock, requests=requests
            )
        ],
        exception_handlers={
            Refusal: answer_refusal,
            HTTPException: answer_framework,
            sqlite3.OperationalError: answer_database,
            Exception: answer_bug,
        },
        lifespan=lifespan,
    )
    service.router.redirect_slashes = False
    service.state.requests = requests
    service.state.failures = failures
    service.state.site = site
    return service


def _endpoint(site: Site, operation: Operation) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        path = request.scope["path"]
        given = await read_parameters(request, form_allowed=path != LOCK_SETTING)
        call = Call(site, given, base_url=str(request.base_url).rstrip("/"))
        return success(path, await run_in_threadpool(operation, call))

    return endpoint


async def _download(request: Request) -> Response:
    return await run_in_threadpool(download, request)
