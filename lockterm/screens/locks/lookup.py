"""Looks up a lock through its remotes, because the service has no call that returns locks."""

from __future__ import annotations

from dataclasses import dataclass

from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.error import format_titled_meaning
from lockterm.errors import RateLimitedError, RefusedError, ServiceError
from lockterm.operations import Operations


@dataclass(frozen=True, slots=True)
class LockAnswer:
    """The service's answer about a lock ID."""

    words: str
    """A sentence about the lock, for the form."""
    unknown: bool = False
    """Whether the service answered that the lock does not exist."""
    asked: bool = True
    """Whether the service's answer is clear: the lock exists, or it does not exist."""
    remotes: int | None = None
    """The number of remotes of the lock; None if unknown."""
    name: str = ""
    """The lock's name without control characters; empty if the service sent none."""
    alias: str = ""
    """The lock's alias without control characters; empty if there is none."""


async def look_up(operations: Operations, lock_id: int, size: int) -> LockAnswer:
    """Look up a lock: read the first page of its remotes, and the details of a remote.

    The details of a remote contain the name and alias of its lock.

    Args:
        operations: The operations on the service and the local store.
        lock_id: The ID of the lock.
        size: The number of remotes in the page. The lock's screen would request the same number.
    """
    try:
        page = (await operations.remotes.page(lock_id, 1, size)).value
    except ServiceError as error:
        reason = _reason(error)
        if _denies_lock(error):
            return LockAnswer(f"{reason} Correct the ID.", unknown=True)
        return LockAnswer(f"{reason} You can save the lock anyway.", asked=False)
    words = f"The service knows this lock, with {format_count(page.total, 'remote')}."
    first = next((remote.id for remote in page.remotes if remote.id is not None), None)
    if first is None:
        return LockAnswer(f"{words} The service reports no name. Type a name.", remotes=page.total)
    try:
        info = (await operations.remotes.detail(first)).lock_info
    except ServiceError:
        info = None
    if info is None or not info.lock_name:
        return LockAnswer(f"{words} The service reports no name. Type a name.", remotes=page.total)
    name, alias = clean(info.lock_name, 200).strip(), clean(info.lock_alias or "", 200)
    return LockAnswer(words, remotes=page.total, name=name, alias=alias)


def _reason(error: ServiceError) -> str:
    """Return the meaning of an error; for a refusal, add the service's message and code."""
    said = format_titled_meaning(error)
    return said if said.endswith(".") else f"{said}."


def _denies_lock(error: ServiceError) -> bool:
    """Return whether an error means that the lock does not exist.

    Other refusals have other causes, such as a rate limit or missing access rights.
    """
    if isinstance(error, RateLimitedError) or not isinstance(error, RefusedError):
        return False
    return error.code is not None and error.status not in (401, 403)
