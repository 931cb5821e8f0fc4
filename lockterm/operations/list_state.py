"""What is known of a lock's list of remotes: a page, the results of a search, recent changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

from lockterm.domain.remote_states import StateFilter, has_state
from lockterm.domain.remotes import Remote, RemotePage
from lockterm.domain.searching import has_words
from lockterm.operations.load_state import LoadState
from lockterm.operations.recorded import DELETED, Unlisted


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The results of a search through the whole list."""

    remotes: tuple[Remote, ...] = ()
    """The remotes that match, in the order of the list."""
    searched: int = 0
    """Number of remotes that were looked at."""
    total: int = 0
    """Number of remotes the service says there are."""
    running: bool = True
    ended: str = ""
    """Why it ended before the end of the list; empty if it did not."""
    at_ms: int = 0
    """When it began."""


@dataclass(frozen=True, slots=True, eq=False)
class ListState:
    """All that a screen shows of a list: nothing yet, a page, a page with an error, or a search.

    The five states of a table: no page and no error is loading; an empty page is empty; a
    ``needle`` without rows matches nothing; an error without a page is an error, with one stale.
    """

    load: LoadState[RemotePage] = field(default_factory=LoadState)
    """The page that is shown, and what has become of the last load."""
    wanted: int = 0
    """Number of the page that takes its time, or could not be loaded."""
    needle: str = ""
    """The text that is searched for; empty if none is."""
    only: StateFilter | None = None
    """The state whose remotes are shown alone; None for all states."""
    found: Found | None = None
    """The results from the whole list; None if only this page was searched."""
    unlisted: Unlisted | None = None
    """Changes that the journal knows and the page does not show yet; None if there are none."""

    @property
    def page(self) -> RemotePage | None:
        """The page that is shown."""
        return self.load.value

    @property
    def page_no(self) -> int:
        """Number of the page that is shown; 0 if none is."""
        return self.page.page_no if self.page is not None else 0

    @property
    def last_page(self) -> int:
        """Number of the list's last page, as far as it is known."""
        return max(self.page.pages, 1) if self.page else 1

    @property
    def is_narrowed(self) -> bool:
        """Whether only some of the remotes are asked for."""
        return bool(self.needle) or self.only is not None

    @property
    def has_rest(self) -> bool:
        """Whether only some are asked for, and the page is not the whole list."""
        page = self.page
        return self.is_narrowed and page is not None and page.total > len(page.remotes)

    def has_rows_of(self, other: ListState) -> bool:
        """Return whether another state has the same rows, which need not be painted again."""
        mine, others = (
            (one.load.seen, one.needle, one.only, one.found, one.unlisted) for one in (self, other)
        )
        return all(one is another for one, another in zip(mine, others, strict=True))

    @property
    def known(self) -> Sequence[Remote]:
        """The remotes of the page, those found, and those that were just added from here."""
        found = self.found.remotes if self.found else ()
        added = self.unlisted.added if self.unlisted else ()
        return (*(self.page.remotes if self.page else ()), *found, *added)

    def is_deleted(self, remote: Remote) -> bool:
        """Return whether a remote was deleted from here while the list still has it."""
        if self.unlisted is None or remote.id is None:
            return False
        return self.unlisted.words.get(remote.id) == DELETED

    def matches(self, remote: Remote, zone: tzinfo, now_ms: int) -> bool:
        """Return whether a remote is one of those that are asked for."""
        is_one = has_state(remote, self.only, now_ms)
        return is_one and (not self.needle or has_words(self.needle, remote, zone, now_ms))

    def remotes(self, zone: tzinfo, now_ms: int) -> Iterator[Remote]:
        """Yield the remotes to show, in the order of the service."""
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
