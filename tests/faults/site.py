"""What every fault test stands on: the real service, locks of one's own, and quick operations."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import shutil
import socket
import ssl
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

from lockterm.api.client import LockService
from lockterm.api.retry_policy import RetryPolicy
from lockterm.config import Profile
from lockterm.domain.operation import Operation
from lockterm.domain.remotes import Remote
from lockterm.operations import Operations
from lockterm.service import remote_table
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from tests.faults.proxy import FaultProxy
from tests.servers import port_of

STRANGER = Path(__file__).parent / "certs"
DOMAIN = ".lockterm.test"
"""Names in it are this machine's, until a test breaks them."""

QUICK = RetryPolicy(pause_s=0.01, longest_wait_s=0.5, total_s=240.0)
"""Three attempts at a read, hardly any pause."""
SHORT_S, LONG_S = 5.0, 60.0
"""The deadline of an attempt while a fault is on that never ends by itself, and of any other."""

Attempt = Callable[[float], Awaitable[Any]]

broken_names: set[str] = set()
short_deadlines: set[str] = set()
"""Profiles whose attempts have only ``SHORT_S`` now."""


def tls_context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.with_suffix(".pem"), certificate.with_suffix(".key"))
    return context


@dataclass(frozen=True)
class _Retries:
    """Those of ``QUICK``; an attempt has little time only while a test says so."""

    name: str

    async def read(self, attempt: Attempt, timeout_s: float) -> Any:
        return await QUICK.read(self._in_time(attempt), timeout_s)

    async def write(self, attempt: Attempt, timeout_s: float) -> Any:
        return await QUICK.write(self._in_time(attempt), timeout_s)

    def _in_time(self, attempt: Attempt) -> Attempt:
        return lambda left_s: attempt(SHORT_S if self.name in short_deadlines else left_s)


def quick_client(profile: Profile, **options: Any) -> LockService:
    return LockService(replace(profile, timeout_s=LONG_S), _Retries(profile.name), **options)


@contextlib.contextmanager
def quick() -> Iterator[None]:
    """Clients without long pauses, and names that resolve or do not as a test says."""
    really = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name in broken_names:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return really("127.0.0.1" if name and name.endswith(DOMAIN) else host, *args, **options)

    with (
        mock.patch("socket.getaddrinfo", getaddrinfo),
        mock.patch("lockterm.operations.connection.load_client", lambda: quick_client),
        mock.patch("lockterm.operations.connection.FIRST_RETRY_S", 0.02),
        mock.patch("lockterm.operations.connection.LAST_RETRY_S", 0.2),
        mock.patch("lockterm.operations.watching.FIRST_RETRY_S", 0.02),
        mock.patch("lockterm.operations.watching.LAST_RETRY_S", 0.2),
    ):
        yield


class Site:
    """The service with locks of one's own, each with remotes.

    Args:
        service: A running service that takes any lock id.
        folder: Where stores are made.
        lock_ids: The ids of its locks; more than one site on a service share them.
    """

    def __init__(
        self, service: RunningService, folder: Path, lock_ids: Iterator[int] | None = None
    ) -> None:
        self.service = service
        self.port = port_of(service)
        self._folder = folder
        self._lock_ids = lock_ids or itertools.count(10_001)
        self._stores = itertools.count()
        self._template = folder / "template.db"
        template = Database(self._template)
        with template.transaction():
            pass
        template.close()

    def new_lock(self, remotes: int = 3) -> int:
        """The id of a new lock with that many remotes."""
        lock_id = next(self._lock_ids)
        rows = [_row(lock_id, number) for number in range(remotes)]
        with self.service.app.state.site.database.writing() as db:
            remote_table.insert_many(db, rows)
        return lock_id

    def state(self, lock_id: int) -> list[dict[str, Any]]:
        """Everything that the service has of a lock, straight from its tables."""
        with self.service.app.state.site.database.reading() as db:
            rows = db.execute("SELECT * FROM remote WHERE lock_id = ? ORDER BY id", (lock_id,))
            names = [column[0] for column in rows.description]
            remotes = [dict(zip(names, row, strict=True)) for row in rows]
            voice = db.execute("SELECT * FROM voice_setting WHERE lock_id = ?", (lock_id,))
            return [*remotes, {"voice": [*map(tuple, voice)]}]

    def ask(self, call: str, **body: Any) -> Any:
        """The ``data`` of a call's answer, asked without any proxy."""
        request = urllib.request.Request(
            f"{self.service.base_url}/api/v1/{call}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            value = json.load(answer)
        assert value["errcode"] == 0, value
        return value["data"]

    def remotes(self, lock_id: int) -> list[Remote]:
        """The remotes of a lock, asked without any proxy."""
        page = remote_table.page(self.service.app.state.site.database, lock_id, 0, 1000)
        ids = [remote.id for remote in page.remotes]
        return [Remote.read(self.ask("bluetooth-remote/detail", remoteId=one)) for one in ids]

    def alter_newest(self, lock_id: int) -> None:
        """Keep the newest remote of a lock otherwise than it was sent."""
        with self.service.app.state.site.database.writing() as db:
            db.execute(
                "UPDATE remote SET add_type = 3 - add_type"
                " WHERE id = (SELECT max(id) FROM remote WHERE lock_id = ?)",
                (lock_id,),
            )

    def new_store(self) -> Path:
        """A migrated store of one's own."""
        path = self._folder / f"store{next(self._stores)}" / "lockterm.db"
        path.parent.mkdir()
        shutil.copy(self._template, path)
        return path

    @contextlib.asynccontextmanager
    async def proxy(self, host: str = "127.0.0.1", **options: Any) -> AsyncIterator[FaultProxy]:
        """A proxy before the service."""
        async with FaultProxy(self.port, host, **options).running() as proxy:
            yield proxy

    @contextlib.asynccontextmanager
    async def operations(
        self,
        proxy: FaultProxy,
        store: Path | None = None,
        *,
        reads_back: bool = True,
        **profile: Any,
    ) -> AsyncIterator[Operations]:
        """A session of lockterm, through a proxy."""
        settings = replace(Profile(name=f"p{proxy.port}", base_url=proxy.base_url), **profile)
        operations = Operations(settings, store or self.new_store(), reads_back=reads_back)
        try:
            yield operations
        finally:
            await operations.close()


async def until(condition: Callable[[], Any], *, within_s: float = 60.0) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(0.005)


async def verify_step(operations: Operations) -> None:
    """Wait until nothing is read back any more."""
    while (running := operations.watch.running) is not None and not running.done():
        await asyncio.wait([running])


async def checked(operations: Operations, operation: Operation) -> Operation:
    """Check an operation as a person does, and wait for what is proven by the readings then."""
    await operations.watch.check(operation)
    operations.watch.start()
    await verify_step(operations)
    return await operations.journal.find(operation.id) or operation


def _row(lock_id: int, number: int) -> dict[str, object]:
    kind = (1, 2, 4)[number % 3]
    return {
        "lock_id": lock_id,
        "name": f"Fob {number}",
        "number": f"N-{number}",
        "type": kind,
        "add_type": 1,
        "start_ms": 0 if kind == 1 else 1_795_000_000_000,
        "end_ms": 0 if kind == 1 else 1_805_000_000_000,
        "weekdays": "[1, 3]" if kind == 4 else "[]",
        "coerced": 0,
        "extra_data": "{}",
        "api_user_id": 30017,
        "created_ms": 1_795_000_000_000,
        "updated_ms": 1_795_000_000_000,
    }
