"""Something that is read from the service again and again, and what is known of it now."""

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
"""What the service answers within this is not announced as being loaded."""


# Each is new to the reactive that holds it; comparing long values would take time.
@dataclass(frozen=True, slots=True, eq=False)
class LoadState(Generic[T]):
    """Nothing yet, a value, an error, or both: then the value is stale."""

    seen: Fetched[T] | None = None
    """What was read last, and when; None: nothing yet."""
    error: LocktermError | None = None
    """Why the last reading failed; None: it did not."""
    busy: bool = False
    """Whether it is being read now."""
    slow: bool = False
    """Whether that takes longer than :data:`SOON_S`."""
    kept: bool = False
    """Whether what is shown is of an earlier session or time, until the service answers."""

    @property
    def value(self) -> T | None:
        """What was read last; None: nothing yet."""
        return self.seen.value if self.seen is not None else None

    @property
    def stale(self) -> bool:
        """Whether what is shown may be older than it could be."""
        return self.kept or self.error is not None

    def shows(self, other: LoadState[T]) -> bool:
        """Whether the same is to be seen in both."""
        return self.seen is other.seen and self.error is other.error and self.kept == other.kept

    def failed(self, error: LocktermError) -> LoadState[T]:
        """What is known after a reading that failed: as before, unless just that is denied."""
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
    """Read something; while the service takes its time, and where it fails, show what was kept.

    Args:
        state: Returns what is known of it now.
        show: Takes what is known from now on.
        read: Asks the service.
        kept: Returns what was read of it at an earlier time.
        kept_shown: Called when that is shown before the service has answered.
        is_other: Whether what is shown is not what is asked for, but the page before.

    Returns:
        What was read; None if it failed: the state has the error.
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
