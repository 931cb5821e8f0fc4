"""What every operation works on: the locks, the database, the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from .answers import Code, Refusal
from .packs import MODELS, Model
from .parameters import Parameters
from .storage import Connection, Database


def now_ms() -> int:
    """The time of this machine in milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class SiteLock:
    """A lock as the service knows it."""

    id: int
    name: str
    alias: str
    model: Model


@dataclass(frozen=True, slots=True)
class Site:
    """One running service's state."""

    database: Database
    """Where everything that changes is kept."""
    clock: Callable[[], int]
    """Now, in milliseconds since 1970."""
    any_lock: bool
    """Whether a lock id in no table counts as a lock; it then has the first model's voices."""

    def lock(self, db: Connection, lock_id: int) -> SiteLock:
        """The lock with this id.

        Raises:
            Refusal: there is none.
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
    """One request, ready to be worked on."""

    site: Site
    """Where."""
    given: Parameters
    """With what."""
    request: Request
    public_url: str | None
    """How a proxy in front is reached, without a slash at the end."""

    @property
    def base_url(self) -> str:
        """How the caller reaches the service, without a slash at the end."""
        return self.public_url or str(self.request.base_url).rstrip("/")


def no_lock(lock_id: int) -> Refusal:
    """The refusal for the id of no lock."""
    return Refusal(Code.UNKNOWN_LOCK, f"There is no lock {lock_id}.")
