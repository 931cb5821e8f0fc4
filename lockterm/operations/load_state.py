"""The state of a value that is read from the service repeatedly."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from lockterm.domain.callbacks import ignore
from lockterm.errors import LocktermError, Refused

if TYPE_CHECKING:
    from lockterm.operations.cached_reads import Fetched

T = TypeVar("T")

SOON_S = 0.1
"""Seconds to wait for an answer before the value is shown as loading."""


# A reactive attribute treats each state as new, because comparing long values would be slow.
@dataclass(frozen=True, slots=True, eq=False)
class LoadState(Generic[T]):
    """The state of a value: no value yet, a value, an error, or both if the value is stale."""

    seen: Fetched[T] | None = None
    """The last value and its time; None before the first."""
    error: LocktermError | None = None
    """The error of the last read; None if the read succeeded."""
    busy: bool = False
    """Whether the value is being read."""
    slow: bool = False
    """Whether the read takes longer than :data:`SOON_S`."""
    kept: bool = False
    """Whether the value is from the cache because the service has not answered yet."""

    @property
    def value(self) -> T | None:
        """The last value; None before the first."""
        return self.seen.value if self.seen is not None else None

    @property
    def stale(self) -> bool:
        """Whether the value may be outdated."""
        return self.kept or self.error is not None

    def shows(self, other: LoadState[T]) -> bool:
        """Return whether two states look the same."""
        return self.seen is other.seen and self.error is other.error and self.kept == other.kept

    def failed(self, error: LocktermError) -> LoadState[T]:
        """Return the state after a failed read: a cached value is removed if access was denied."""
        if self.kept and isinstance(error, Refused) and error.is_denial:
            return LoadState(error=error)
        return replace(self, error=error, busy=False, slow=False)


async def load(
    state: Callable[[], LoadState[T]],
    show: Callable[[LoadState[T]], None],
    read: Callable[[], Awaitable[Fetched[T]]],
    kept: Callable[[], Awaitable[Fetched[T] | None]],
    *,
    kept_shown: Callable[[], None] = ignore,
    is_other: Callable[[T], bool] = lambda _: False,
) -> Fetched[T] | None:
    """Read a value; show the cached value while the service is slow, or if the read fails.

    Args:
        state: A function that returns the present state.
        show: A function that shows a new state.
        read: A function that reads the value from the service.
        kept: A function that returns the cached value.
        kept_shown: A function that is called when the cached value is shown before the service has
            answered.
        is_other: A function that returns whether the shown value is not the wanted one, such as the
            page before.

    Returns:
        The value; None if the read failed. The state then contains the error.
    """

    async def show_slow() -> None:
        await asyncio.sleep(SOON_S)
        cached = await kept() if state().seen is None else None
        if cached is None or state().seen is not None:
            show(replace(state(), slow=True))
        else:
            show(replace(state(), seen=cached, kept=True, slow=True))
            kept_shown()

    show(replace(state(), busy=True))
    slow = asyncio.create_task(show_slow())
    try:
        seen = await read()
    except LocktermError as error:
        slow.cancel()
        now = state().failed(error)
        if (now.seen is None or is_other(now.seen.value)) and (cached := await kept()):
            now = replace(now, seen=cached, kept=True)
        show(now)
        return None
    finally:
        slow.cancel()
    show(LoadState(seen))
    return seen
