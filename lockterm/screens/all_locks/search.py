"""The screen that searches all locks, and the screen with the remotes of one person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from textual import on

from lockterm import screens
from lockterm.domain.listing import Lacking, split_needle
from lockterm.domain.people import Person, format_person, key_of_person
from lockterm.domain.text.amount import format_count
from lockterm.operations import Operations
from lockterm.screens.all_locks.base import SEARCH_COLUMNS, AllLocksScreen
from lockterm.screens.all_locks.lock_lists import EMPTY_BOOK
from lockterm.screens.all_locks.table import OnLock, problem_rows
from lockterm.widgets.actions import bindings
from lockterm.widgets.data_status import KeyOffers
from lockterm.widgets.text_input import FindLine

if TYPE_CHECKING:
    from lockterm.operations.all_locks import LockRead


class AllLocksSearchScreen(AllLocksScreen):
    """The screen that searches the remotes of all locks in the lock book."""

    BINDINGS = bindings("everywhere")

    finds_first = True

    def __init__(self, operations: Operations) -> None:
        super().__init__(operations)
        self._lacking = Lacking()

    def breadcrumbs(self) -> tuple[str, ...]:
        """Return the breadcrumbs for the header, which name no lock."""
        return ("All locks",)

    def describe_title(self) -> str:
        """Return the title with the number of shown remotes. Rows of unread locks do not count."""
        count = len(self.rows)
        return f"{self.breadcrumbs()[-1]} {count:,}" if count else self.breadcrumbs()[-1]

    def find_matches(self) -> Iterator[OnLock | None]:
        needed = split_needle(self.needle)
        if not needed and self.only is None:
            return
        lock_lists, lacks = self.lock_lists, self._lacking.lacks
        for lock_id, one in lock_lists.locks.items():
            # Most lists lack a word, so the next line skips them without a search.
            if one.listing is not None and not lacks(lock_id, one.listing, needed):
                zone, read = self.operations.zone(one.lock), lock_lists.short_age(one.listing)
                for place in one.listing.find(needed) if needed else one.listing.places():
                    yield OnLock(one.lock, zone, read, one.listing, place)
            yield None
        yield from problem_rows(lock_lists, self.operations)

    def describe_no_match(self) -> tuple[str, KeyOffers]:
        lock_lists = self.lock_lists
        if not lock_lists.locks:
            return EMPTY_BOOK, {"Esc": "back"}
        read_all = {"{everywhere.read}": f"read {lock_lists.describe_all()} now"}
        read_again = {"{everywhere.read}": "read again"}
        if not self.needle and self.only is None:
            others = {"Enter {everywhere.open_by_person}": "people", "Esc": "back"}
            how = "To search all locks, type a name, a number, an ID, or extra data."
            if not lock_lists.is_reading and lock_lists.asked.keys() >= lock_lists.locks.keys():
                known = format_count(lock_lists.count, "remote")
                reads = lock_lists.describe_reads(30)
                has_all = all(one and not one.problem for one in lock_lists.asked.values())
                text = f"{reads}: {known}." if has_all else f"{reads}.\n\n{known} in the lists."
                return f"{text} {how}", read_again | others
            return how, read_all | others
        needle = " and ".join(self.asked_for)
        if lock_lists.is_reading:
            return f"No remote matches {needle} so far.", {"Esc": "back"}
        if len(lock_lists.asked) == len(lock_lists.locks):
            searched = f"lockterm searched {lock_lists.describe_all()}."
            return f"No remote matches {needle}. {searched}", read_again
        if lock_lists.unread == len(lock_lists.locks):
            return "No lock has been read yet.", read_all
        return f"No remote in the stored lists matches {needle}.", read_all

    def action_open_by_person(self) -> None:
        """Open the screen with the people who have remotes on any lock."""
        self.app.push_screen(screens.PeopleScreen(self.operations, self.lock_lists.locks))

    @on(FindLine.GivenUp)
    def _given_up(self) -> None:
        self.action_back()


class PersonScreen(AllLocksScreen):
    """The remotes of one person on all locks.

    Args:
        operations: The operations on the service and the local store.
        person: The person, identified by the name or the fob number on remotes.
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

    def find_matches(self) -> Iterator[OnLock | None]:
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

    def describe_no_match(self) -> tuple[str, KeyOffers]:
        if self.asked_for:
            needle = " and ".join(self.asked_for)
            return f"No remote of {self._who} matches {needle}.", {"Esc": "show all"}
        return f"No lock has a remote of {self._who}.", {"Esc": "back"}

    def action_open_by_person(self) -> None:
        """Go back to the screen with all people."""
        self.dismiss(None)
