"""The application: the 12 endpoints, the files of packs, and errors for all other paths."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from . import remotes, voices
from .answers import LOCK_SETTING, VOICE_PACKS, Code, RequestRefusedError, refusal, success
from .calls import Call, ServiceState, now_ms, read_parameters
from .guards import HEALTH, LOOPBACK_HOSTS, READINESS, RequestFilter
from .packs import download
from .sample_data import fill
from .storage import (
    Begin,
    CommitUnknownError,
    Connection,
    Database,
    DatabaseUnavailableError,
    DatabaseUnusableError,
    DuplicateNameError,
    SqliteDatabase,
    TransactionConflictError,
)
from .tokens import Tokens
from .watch import Log, Watch

if TYPE_CHECKING:
    from .figures import Figures

T = TypeVar("T")

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
"""The method, path and function of each endpoint, in the order of contract 4."""

METRICS = "/metrics"
"""The path of the counters for Prometheus, which requires a token like the endpoints do."""
WATCHED = (*(path for _, path, _ in OPERATIONS), "/packs/", HEALTH, READINESS, METRICS)
"""The paths that the log and the metrics list separately."""

REMEMBERED_REQUESTS = 10_000
_ATTEMPTS = 5
"""Maximum number of attempts at a transaction that conflicts with others."""
_PAUSE_S = 0.02
"""Maximum pause before the second attempt, in seconds; each later pause is twice as long."""
_RETRY_AFTER_S = 1


def create_service(
    database: Path | str | None = None,
    *,
    migrate: bool = False,
    sample_data: bool = True,
    today: date | None = None,
    clock: Callable[[], int] = now_ms,
    tokens: Tokens | None = None,
    rate: float | None = None,
    allowed_hosts: Iterable[str] = LOOPBACK_HOSTS,
    public_url: str | None = None,
    log: Log | None = None,
    figures: Figures | None = None,
) -> Starlette:
    """Create the service.

    The returned application has three attributes: ``state.requests`` has the method and path of the
    last requests, ``state.failures`` has the exceptions behind answers with status 5xx, and
    ``state.site`` is the state that the operations share.

    Args:
        database: A ``Path`` of a file, or the ``postgresql://`` address of a database as a string;
            None keeps everything in memory.
        migrate: Whether to create the tables in PostgreSQL or update them to this version. In a new
            SQLite file, the tables are always created.
        sample_data: Whether to fill a new database with a site of six locks. A database that was
            created without sample data accepts any lock ID from then on.
        today: The reference day of the sample data; by default the clock's day in UTC.
        clock: A function that returns the time in milliseconds since 1970.
        tokens: The valid bearer tokens; None if no request needs one.
        rate: Average number of requests a second that this process answers for each token, or in
            total if there are no tokens; further requests get status 429. None means no limit.
        allowed_hosts: Hosts that requests may be addressed to, without ports.
        public_url: The address of a proxy before the service, without a slash at the end. Its host
            is allowed, and the addresses of packs begin with it. By default they begin with the
            address in the Host header.
        log: The log of requests and failures.
        figures: The counters of requests; None if the service must not have the path ``METRICS``.

    Raises:
        OSError: If the database cannot be used.
    """
    requests: deque[tuple[str, str]] = deque(maxlen=REMEMBERED_REQUESTS)
    failures: deque[Exception] = deque(maxlen=100)

    log = log or Log()

    def begin(db: Connection) -> None:
        db.execute("INSERT INTO site VALUES (?)", (int(not sample_data),))
        if sample_data:
            fill(db, today or datetime.fromtimestamp(clock() / 1000, UTC).date())

    opened = _open(database, begin, migrate=migrate)
    try:
        found = opened.rows("SELECT any_lock FROM site")[0]
    except DatabaseUnavailableError as error:
        opened.close()
        reason = "it has no connection to spare, or this user may not read its tables"
        raise DatabaseUnusableError(
            reason, "that was named", "Try again, or check its rights."
        ) from error
    any_lock = not sample_data or bool(found[0])
    site = ServiceState(opened, clock, any_lock)
    # A switch to these threads and back takes a third of the time of anyio's.
    threads = ThreadPoolExecutor(opened.threads, "lockterm-request")

    async def answer_error(request: Request, error: Exception) -> Response:
        refused = _to_refusal(error)
        if refused.code.http_status >= 500:
            failures.append(error)
            log.failed(error)
        return refusal(request.scope["path"], refused)

    async def metrics(_: Request) -> Response:
        assert figures is not None
        return Response(figures.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        threads.shutdown(wait=False, cancel_futures=True)
        opened.close()

    watch = Middleware(Watch, endpoints=WATCHED, log=log, figures=figures)
    service = Starlette(
        routes=[
            *(
                Route(path, _endpoint(site, threads, operation, public_url), methods=[method])
                for method, path, operation in OPERATIONS
            ),
            Route("/packs/{path:path}", download, methods=["GET"]),
            Route(HEALTH, _is_alive, methods=["GET"]),
            *((Route(METRICS, metrics, methods=["GET"]),) if figures else ()),
            Route(READINESS, _readiness(site, threads), methods=["GET"]),
        ],
        middleware=[
            *((watch,) if figures or log.as_json else ()),
            Middleware(
                RequestFilter,
                allowed_hosts=allowed_hosts,
                public_url=public_url,
                rate=rate,
                tokens=tokens,
                clock=clock,
                requests=requests,
            ),
        ],
        exception_handlers={
            # Starlette raises an error again if only the handler of ``Exception`` answers it.
            RequestRefusedError: answer_error,
            DuplicateNameError: answer_error,
            HTTPException: answer_error,
            DatabaseUnavailableError: answer_error,
            CommitUnknownError: answer_error,
            Exception: answer_error,
        },
        lifespan=lifespan,
    )
    service.router.redirect_slashes = False
    service.state.requests = requests
    service.state.failures = failures
    service.state.site = site
    return service


def _open(database: Path | str | None, begin: Begin, *, migrate: bool) -> Database:
    if not isinstance(database, str):
        return SqliteDatabase(database, begin)
    from .postgres_storage import PostgresDatabase

    return PostgresDatabase(database, begin, migrate=migrate)


def _to_refusal(error: Exception) -> RequestRefusedError:
    match error:
        case RequestRefusedError():
            return error
        case DuplicateNameError():
            said = "The bluetooth remote name exists on this lock."
            return RequestRefusedError(Code.NAME_EXISTS, said)
        case HTTPException():
            headers = dict(error.headers or {})
            return RequestRefusedError(Code.of_status(error.status_code), headers=headers)
        case DatabaseUnavailableError():
            headers = {"Retry-After": str(_RETRY_AFTER_S)}
            return RequestRefusedError(Code.UNAVAILABLE, headers=headers)
        case CommitUnknownError():
            return RequestRefusedError(Code.OUTCOME_UNKNOWN)
    return RequestRefusedError(Code.INTERNAL)


def _endpoint(
    site: ServiceState, threads: Executor, operation: Operation, public_url: str | None
) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        path = request.scope["path"]
        given = await read_parameters(request, form_allowed=path != LOCK_SETTING)
        call = Call(site, given, request, public_url)
        if request.method == "GET" and site.database.is_quick:
            return success(path, operation(call))
        loop = asyncio.get_running_loop()
        return success(path, await loop.run_in_executor(threads, _done, operation, call))

    return endpoint


def _readiness(site: ServiceState, threads: Executor) -> Endpoint:
    """Return the endpoint for readiness, which needs no token.

    Simultaneous requests share one check of the database, because anyone may send many of them.
    """
    asking: asyncio.Future[object] | None = None

    async def endpoint(request: Request) -> Response:
        nonlocal asking
        if asking is None or asking.done():
            loop = asyncio.get_running_loop()
            asking = loop.run_in_executor(threads, _done, _is_ready, site)
        return success(request.scope["path"], await asyncio.shield(asking))

    return endpoint


def _done(work: Callable[[T], object], given: T) -> object:
    for attempt in range(1, _ATTEMPTS):
        with suppress(TransactionConflictError):
            return work(given)
        # The pauses differ, because transactions that start together would conflict again.
        time.sleep(random.uniform(0.5, 1) * _PAUSE_S * 2 ** (attempt - 1))
    return work(given)


async def _is_alive(request: Request) -> Response:
    return success(request.scope["path"], {})


def _is_ready(site: ServiceState) -> object:
    site.database.rows("SELECT any_lock FROM site")
    return {}
