"""The state of a lock's list of remotes: a page, search results, and recent changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import TYPE_CHECKING

from lockterm.domain.remotes import Remote, RemotePage
from lockterm.domain.searching import has_words
from lockterm.domain.validity import StateFilter, has_state
from lockterm.operations.load_state import LoadState
from lockterm.operations.unlisted import DELETED, Unlisted

if TYPE_CHECKING:
    from lockterm.domain.elsewhere import Unseen


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
