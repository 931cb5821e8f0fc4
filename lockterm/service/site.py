"""The state that all operations of the service share: locks, database and clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from .answers import Code, RequestRefusedError
from .packs import MODELS, Model
from .parameters import Parameters
from .storage import Connection, Database


def now_ms() -> int:
    """Return this machine's time in milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class SiteLock:
    """A smart lock of the service, with its model."""

    id: int
    name: str
    alias: str
    model: Model


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The state of a running service."""

    database: Database
    """The database with all remotes and settings."""
    clock: Callable[[], int]
    """A function that returns the time in milliseconds since 1970."""
    any_lock: bool
    """Whether any unknown lock ID is accepted, as a lock of the first model."""

    def lock(self, db: Connection, lock_id: int) -> SiteLock:
        """Return the lock with this ID.

        Raises:
            RequestRefusedError: If no lock has this ID.
        """
        query = "SELECT name, alias, vendor, model FROM lock WHERE id = ?"
        row = db.execute(query, (lock_id,)).fetchone()
        if row is not None:
            name, alias, vendor, model = row
            return SiteLock(lock_id, name, alias, MODELS[vendor, model])
        if not self.any_lock:
            raise no_lock(lock_id)
        return SiteLock(lock_id, f"Lock {lock_id}", "", next(iter(MODELS.values())))


@dataclass(frozen=True, slots=True)
class Call:
    """A request to an operation, with its parameters already read."""

    site: ServiceState
    """The state of the service."""
    given: Parameters
    """The parameters of the request."""
    request: Request
    public_url: str | None
    """The address of a proxy before the service, without a slash at the end; None if there is none.
    """

    @property
    def base_url(self) -> str:
        """The service's address for this caller, without a slash at the end."""
        return self.public_url or str(self.request.base_url).rstrip("/")


def no_lock(lock_id: int) -> RequestRefusedError:
    """Return the refusal for an unknown lock ID."""
    return RequestRefusedError(Code.UNKNOWN_LOCK, f"There is no lock {lock_id}.")
