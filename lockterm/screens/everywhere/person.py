"""The remotes of one person on all locks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from lockterm.domain.listing import split_needle
from lockterm.domain.people import Person, key_of_person
from lockterm.domain.text.people import format_person
from lockterm.operations import Operations
from lockterm.screens.everywhere.all_locks import SEARCH_COLUMNS, AllLocksScreen
from lockterm.screens.everywhere.table import OnLock, problem_rows
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
    columns = tuple(key for key in SEARCH_COLUMNS if key != "name")  # the header shows the name

    def __init__(
        self, operations: Operations, person: Person, known: Mapping[int, LockRead]
    ) -> None:
        super().__init__(operations)
        self.lock_lists.locks.update(known)
        self._key = person.key
        self._who = format_person(person, 60)

    def breadcrumbs(self) -> tuple[str, ...]:
        """Return the breadcrumbs for the header, with the person."""
        return ("All locks", "People", self._who)

    def search(self) -> Iterator[OnLock | None]:
        lock_lists, named = self.lock_lists, split_needle(" ".join(self._key))
        words = [*dict.fromkeys((*named, *split_needle(self.needle)))]
        for one in lock_lists.locks.values():
            if one.listing is not None:
                zone, read = self.operations.zone(one.lock), lock_lists.short_age(one.listing)
                for place in one.listing.find(words) if words else one.listing.places():
                    row = OnLock(one.lock, zone, read, one.listing, place)
                    remote = row.remote
                    if remote is not None and self._key == key_of_person(
                        remote.remote_name, remote.remote_number
                    ):
                        yield row
                    yield None
            yield None
        yield from problem_rows(lock_lists, self.operations)

    def describe_no_match(self) -> tuple[str, str]:
        if self.asked_for:
            needle = " and ".join(self.asked_for)
            return f"No remote of {self._who} matches {needle}.", "esc  show all"
        return f"No lock has a remote of {self._who}.", "esc  back"

    def action_open_by_person(self) -> None:
        """Go back to the screen with all people."""
        self.dismiss(None)

    def action_back(self) -> None:
        """Clear the search; without a search, clear the filter or the marks, or go back."""
        if self.needle:
            self.query_one(FindLine).action_close()
        else:
            super().action_back()
