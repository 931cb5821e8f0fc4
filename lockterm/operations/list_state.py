"""The state of a value that a screen loads repeatedly, and the state of a lock's list."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from lockterm.domain.callbacks import ignore
from lockterm.domain.remotes import Remote, RemotePage
from lockterm.domain.searching import has_words
from lockterm.domain.validity import StateFilter, has_state
from lockterm.errors import LocktermError, RefusedError

if TYPE_CHECKING:
    from lockterm.domain.changes_elsewhere import Unseen
    from lockterm.operations.cached_reads import Fetched

T = TypeVar("T")

SOON_S = 0.1
"""Time after which a value that is not loaded yet is shown as loading, in seconds."""


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
    """Whether the value comes from the cache, because the service has not returned it yet."""

    @property
    def value(self) -> T | None:
        """The last value; None if there is none yet."""
        return self.seen.value if self.seen is not None else None

    @property
    def stale(self) -> bool:
        """Whether the value may be outdated."""
        return self.kept or self.error is not None

    def looks_like(self, other: LoadState[T]) -> bool:
        """Return whether both states have the same value, error and ``kept``."""
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

    If the service is slow or an error occurs, and no value is shown yet, the cached value is shown.

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
        The value from the service; None after an error. The last shown state has the error.
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


# --- the list of a lock ---------------------------------------------------------------------------

ADDED, CHANGED, DELETED = "just added", "just changed", "just deleted"
"""The labels of remotes for which a list is outdated: it does not show an added remote yet, shows
the old values of an updated remote, or still shows a deleted remote."""


class Unlisted(NamedTuple):
    """Recorded changes that a list does not show yet."""

    added: tuple[Remote, ...]
    """The added remotes that the list lacks, with the values that were sent."""
    changed: Mapping[int, Remote]
    """Maps remote IDs to changed remotes for which the list still shows the old values."""
    words: Mapping[int, str]
    """Maps remote IDs to :data:`ADDED`, :data:`CHANGED` or :data:`DELETED`."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The results of a search through the complete list of a lock."""

    remotes: tuple[Remote, ...] = ()
    """The matching remotes, in the order of the list."""
    searched: int = 0
    """Number of remotes that were searched."""
    total: int = 0
    """Number of remotes on the lock, as the service reports it."""
    running: bool = True
    """Whether the search is still reading pages."""
    ended: str = ""
    """Why the search ended early, as a text; empty if it searched the complete list."""
    at_ms: int = 0
    """When the search began, in milliseconds."""


@dataclass(frozen=True, slots=True, eq=False)
class ListState:
    """All data that a screen shows about a list of remotes.

    A table has five special states: loading (no page and no error), empty (an empty page), no match
    (a search without rows), error (an error and no page), and stale (an error and a page).
    """

    load: LoadState[RemotePage] = field(default_factory=LoadState)
    """The shown page, and the result of the last load."""
    wanted: int = 0
    """The number of the page that is being loaded, or that could not be loaded."""
    needle: str = ""
    """The search text; empty if there is no search."""
    only: StateFilter | None = None
    """The filter by state; None to show all states."""
    found: Found | None = None
    """The results of a search through the complete list; None if only the page is searched."""
    unlisted: Unlisted | None = None
    """Changes that the service has recorded and that the page does not show yet; None if none."""
    elsewhere: Unseen = field(default_factory=dict)
    """Changes by others on this lock that the user has not looked at."""

    @property
    def page(self) -> RemotePage | None:
        """The page on the screen; None if no page is loaded."""
        return self.load.value

    @property
    def page_no(self) -> int:
        """The number of the page on the screen; 0 if there is none."""
        return self.page.page_no if self.page is not None else 0

    @property
    def last_page(self) -> int:
        """The number of the last page of the list; 1 if no page is loaded."""
        return max(self.page.pages, 1) if self.page else 1

    @property
    def is_narrowed(self) -> bool:
        """Whether a search or filter is active."""
        return bool(self.needle) or self.only is not None

    @property
    def has_rest(self) -> bool:
        """Whether a search or filter is active, and the list has more remotes than the page."""
        page = self.page
        return self.is_narrowed and page is not None and page.total > len(page.remotes)

    def has_rows_of(self, other: ListState) -> bool:
        """Return whether another state shows the same rows, so that no repaint is needed."""
        mine, others = (
            (one.load.seen, one.needle, one.only, one.found, one.unlisted, one.elsewhere)
            for one in (self, other)
        )
        return all(one is another for one, another in zip(mine, others, strict=True))

    @property
    def known(self) -> Sequence[Remote]:
        """The remotes on the page, the search results, and remotes recently added by lockterm."""
        found = self.found.remotes if self.found else ()
        added = self.unlisted.added if self.unlisted else ()
        return (*(self.page.remotes if self.page else ()), *found, *added)

    def is_deleted(self, remote: Remote) -> bool:
        """Return whether lockterm has deleted a remote that the list still contains."""
        if self.unlisted is None or remote.id is None:
            return False
        return self.unlisted.words.get(remote.id) == DELETED

    def matches(self, remote: Remote, zone: tzinfo, now_ms: int) -> bool:
        """Return whether a remote matches the search text and the filter."""
        is_one = has_state(remote, self.only, now_ms)
        return is_one and (not self.needle or has_words(self.needle, remote, zone, now_ms))

    def remotes(self, zone: tzinfo, now_ms: int) -> Iterator[Remote]:
        """Yield the remotes to show in the table, in the service's order."""
        if self.found is not None:
            yield from self.found.remotes
            return
        changed = self.unlisted.changed if self.unlisted is not None else {}
        for remote in self.page.remotes if self.page else ():
            remote = changed.get(remote.id or 0, remote)
            if not self.is_narrowed or self.matches(remote, zone, now_ms):
                yield remote
        for remote in self.unlisted.added if self.unlisted is not None else ():
            if not self.is_narrowed or self.matches(remote, zone, now_ms):
                yield remote
