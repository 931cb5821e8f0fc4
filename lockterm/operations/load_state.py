"""The state of a value that a screen loads from the service again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from lockterm.domain.callbacks import ignore
from lockterm.errors import LocktermError, RefusedError

if TYPE_CHECKING:
    from lockterm.operations.cached_reads import Fetched

T = TypeVar("T")

SOON_S = 0.1
"""Number of seconds after which a value without an answer is shown as loading."""


# Without __eq__, a reactive attribute treats each state as new: comparing long values is slow.
@dataclass(frozen=True, slots=True, eq=False)
class LoadState(Generic[T]):
    """The state of a value: not loaded, loaded, failed, or stale (a value and an error)."""

    seen: Fetched[T] | None = None
    """The last value and the time of its answer; None if there is no value yet."""
    error: LocktermError | None = None
    """The error of the last attempt to load; None if it succeeded."""
    busy: bool = False
    """Whether the value is being loaded."""
    slow: bool = False
    """Whether loading takes longer than :data:`SOON_S`."""
    kept: bool = False
    """Whether the value comes from the cache, and the service has not answered yet."""

    @property
    def value(self) -> T | None:
        """The last value; None if there is none yet."""
        return self.seen.value if self.seen is not None else None

    @property
    def stale(self) -> bool:
        """Whether the value may be outdated."""
        return self.kept or self.error is not None

    def shows(self, other: LoadState[T]) -> bool:
        """Return whether another state has the same value, error and origin of the value."""
        return self.seen is other.seen and self.error is other.error and self.kept == other.kept

    def failed(self, error: LocktermError) -> LoadState[T]:
        """Return the state after an error. If the service denied access, drop a cached value."""
        if self.kept and isinstance(error, RefusedError) and error.is_denial:
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
    """Load a value, and show each new state during the loading.

    If the service is slow or an error occurs, the cached value is shown.

    Args:
        state: A function that returns the present state.
        show: A function that shows a new state.
        read: A function that reads the value from the service.
        kept: A function that returns the cached value; None if there is none.
        kept_shown: A function to call when the cached value is shown before the service has
            answered.
        is_other: A function that returns whether the screen shows another value than the wanted
            one, for example the previous page. If so, the cached value replaces that value after an
            error.

    Returns:
        The value; None after an error, which is then in the state.
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
