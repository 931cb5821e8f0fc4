"""The remotes of one person on all locks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult

from lockterm.domain.listing import split_needle
from lockterm.domain.people import Person, key_of_person
from lockterm.domain.text.people import format_person
from lockterm.operations import Operations
from lockterm.screens.everywhere.results import Results
from lockterm.screens.everywhere.screen import SEARCH_COLUMNS, AllLocksScreen
from lockterm.screens.everywhere.site import Site
from lockterm.screens.everywhere.table import OnLock
from lockterm.widgets.bindings import bindings
from lockterm.widgets.find_line import FindLine

if TYPE_CHECKING:
    from lockterm.operations.everywhere import LockRead


class PersonScreen(AllLocksScreen):
    """The remotes of one person on all locks.

    Args:
        operations: The operations on the service and the local store.
        person: The person, identified by the name or number of remotes.
        known: Maps lock IDs to locks with their last lists.
    """

    BINDINGS = bindings("everywhere")

    columns = SEARCH_COLUMNS

    def __init__(
        self, operations: Operations, person: Person, known: Mapping[int, LockRead]
    ) -> None:
        super().__init__(operations)
        self._known = known
        self._key = person.key
        self._who = format_person(person, 60)

    def crumbs(self) -> tuple[str, ...]:
        """Return the breadcrumbs for the header, with the person."""
        return ("All locks", "People", self._who)

    def compose_body(self) -> ComposeResult:
        results = Results(self.operations, self.table, self.search, self.marks)
        results.site.locks.update(self._known)
        yield results

    def search(self, site: Site, needle: str) -> Iterator[OnLock | None]:
        named, needed = split_needle(" ".join(self._key)), split_needle(needle)
        words = [*dict.fromkeys((*named, *needed))]
        for one in site.locks.values():
            if one.listing is not None:
                zone, read = self.operations.zone(one.lock), site.short_age(one.listing)
                for place in one.listing.find(words) if words else one.listing.places():
                    row = OnLock(one.lock, zone, read, one.listing, place)
                    remote = row.remote
                    if remote is not None and self._key == key_of_person(
                        remote.remote_name, remote.remote_number
                    ):
                        yield row
                    yield None
            yield None
        yield from self.problems(site)

    def describe_no_match(self) -> tuple[str, str]:
        results = self.results
        if results.asked_for:
            needle = " and ".join(results.asked_for)
            return f"No remote of {self._who} matches {needle}.", "escape  show all"
        return f"No lock has a remote of {self._who}.", "escape  back"

    @on(Results.Shown)
    def _shown(self) -> None:
        self.refresh_bindings()

    def action_open_by_person(self) -> None:
        """Go back to the screen with all people."""
        self.dismiss(None)

    def action_back(self) -> None:
        """Clear the search; without a search, clear the filter or the marks, or go back."""
        if self.results.needle:
            self.query_one(FindLine).action_close()
        else:
            super().action_back()
