"""The search of all locks: who or what has a word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult

from lockterm.domain.listing import Lacking, words_of
from lockterm.keymap.hints import key
from lockterm.screens.everywhere.base import EMPTY_BOOK, AllLocksScreen
from lockterm.screens.everywhere.results import Results
from lockterm.screens.everywhere.site import Site
from lockterm.screens.everywhere.table import OnLock
from lockterm.widgets.bindings import bindings

if TYPE_CHECKING:
    from lockterm.operations import Operations


class EverywhereScreen(AllLocksScreen):
    """One search over all locks of the book."""

    BINDINGS = bindings("everywhere")

    columns = ("sign", "lock", "name", "number", "valid", "state", "read")

    def __init__(self, operations: Operations) -> None:
        super().__init__(operations)
        self._lacking = Lacking()

    def crumbs(self) -> tuple[str, ...]:
        """It is about all of them."""
        return ("All locks",)

    def compose_body(self) -> ComposeResult:
        yield Results(
            self.operations, self.table, self.search, self.words, self.marks, finds_first=True
        )

    def search(self, site: Site, needle: str) -> Iterator[OnLock | None]:
        needed = words_of(needle)
        if not needed and self.results.only is None:
            return
        lacks = self._lacking.lacks
        for lock_id, one in site.locks.items():
            if one.listing is not None and not lacks(lock_id, one.listing, needed):  # as most do
                zone, read = self.operations.zone(one.lock), site.short_age(one.listing)
                for place in one.listing.find(needed) if needed else one.listing.places():
                    yield OnLock(one.lock, zone, read, one.listing, place)
            yield None
        yield from self.problems(site)

    def words(self) -> tuple[str, str]:
        results, site = self.results, self.results.site
        if not site.locks:
            return EMPTY_BOOK, "escape  back"
        read = key("everywhere.read")
        locks = "1 lock" if len(site.locks) == 1 else f"all {len(site.locks):,} locks"
        if not results.needle and results.only is None:
            return (
                "Type a name, a number, an id, or any text of the extra data.",
                f"{read}  read {locks} now      escape  back",
            )
        needle = " and ".join(results.asked_for)
        if site.is_reading:
            return f"Nothing has {needle} so far.", "escape  back"
        if len(site.asked) == len(site.locks):
            return f"Nothing on {locks} has {needle}.", f"{read}  read again"
        if site.unread == len(site.locks):
            return "No lock was read yet.", f"{read}  read {locks} now"
        return f"Nothing that was read last has {needle}.", f"{read}  read {locks} now"

    @on(Results.Shown)
    def _shown(self) -> None:
        self.refresh_bindings()

    @on(Results.GivenUp)
    def _given_up(self) -> None:
        self.action_back()
