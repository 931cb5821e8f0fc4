"""The screen "People": who can open which locks, according to the last known lists."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from lockterm import screens
from lockterm.domain.glyphs import quoted, separator
from lockterm.domain.listing import split_needle
from lockterm.domain.people import (
    NO_ONE,
    People,
    PeopleSearch,
    Person,
    count_people,
    describe_bounds,
    describe_person_state,
    describe_similar,
    format_numbers,
    format_people,
    format_person,
)
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.validity import RemoteState, StateFilter
from lockterm.errors import StoreError
from lockterm.operations import Operations
from lockterm.operations.export import export_files, rows_as_csv
from lockterm.operations.people import CSV_COLUMNS, PeopleReport
from lockterm.screens.all_locks.lock_lists import EMPTY_BOOK, LockLists, TimeSlicer
from lockterm.screens.base import PROGRESS_S, HasOperations
from lockterm.screens.list_screen import ListScreen
from lockterm.terminal.key_queue import PendingNavigation, opening
from lockterm.widgets.actions import bindings
from lockterm.widgets.cells import cut, shorten_middle
from lockterm.widgets.data_status import KeyOffers, Pager, describe_error
from lockterm.widgets.line_table import Piece
from lockterm.widgets.row_table import Column, LazyRows, RowTable
from lockterm.widgets.text_input import FindLine

if TYPE_CHECKING:
    from lockterm.domain.locks import Lock
    from lockterm.operations.all_locks import LockRead

_UNTIL, _STATE, _SIMILAR = 3, 4, 5
"""The indexes of the columns with the end dates, the states and the similar names."""

_SIMILAR_CELLS = 26
"""The minimum width of the column with similar names, in cells. A narrow screen has no room for
this column. There, a sign in the margin and the line below the table show that there are similar
names."""

_SIMILAR_SIGN = "~"
"""The sign in the margin of a person with similar names."""

MOST_MEASURED = 200
"""Maximum number of people whose cells determine the widths of the columns."""

MOST_SHOWN = 2000
"""Maximum number of rows. The user reaches other people by searching, or by sorting the rows."""

_URGENT = (RemoteState.UNCLEAR, RemoteState.WEEK, RemoteState.MONTH)
"""The states that give the column of states its color, the most important first."""


class Row(NamedTuple):
    """The texts of a row, computed again only after the displayed time has changed."""

    cells: tuple[str, ...]
    states: tuple[str, ...]
    """The texts for the column of states, the longest first."""
    counts: Counter[StateFilter]


class PeopleTable(RowTable):
    """The table of people: name, number of locks, fob numbers, end dates, states, similar names.

    Args:
        zone_of: A function that returns the time zone for a zone name of the lock book. Only the
            screen knows the profile, whose time zone is the default.
    """

    sortable = ("Name", "Locks")

    def __init__(self, zone_of: Callable[[str], tzinfo]) -> None:
        super().__init__(
            Column("Name", most=40, least=14, good=34),
            Column("Locks", most=6, right=True),
            Column("Number", most=20, least=9, good=10),
            Column("Until", most=26, least=11),
            Column("State", most=34, least=10, rank=1, good=22),
            Column("Similar", most=40, least=_SIMILAR_CELLS, rank=2),
            id="found",
        )
        self._zone_of = zone_of
        self._people = People()
        self._persons: Mapping[str, Person] = {}
        self._now_ms = 0
        self._rows: dict[str, Row] = {}
        self._widest = [0] * len(self._plan)

    @property
    def current(self) -> Person | None:
        """The selected person; None in an empty table."""
        return self._persons.get(self.highlighted or "")

    def note_people(self, people: People, now_ms: int) -> None:
        """Forget the cells and widths of rows, because remotes were grouped by person again."""
        self._people, self._now_ms, self._rows = people, now_ms, {}
        self._widest = [0] * len(self._plan)

    def measure(self, person: Person) -> None:
        """Make the columns wide enough for a person. A search does not change the widths."""
        widths = map(cell_len, self._row(person).cells)
        self._widest = [max(pair) for pair in zip(self._widest, widths, strict=True)]

    def show_people(self, persons: Sequence[Person], now_ms: int, *, top: bool = False) -> None:
        """Replace the rows, sorted by the clicked column title. The same person stays selected.

        Args:
            persons: The people to show, sorted by name. At most :data:`MOST_SHOWN` are shown.
            now_ms: The current time in milliseconds.
            top: Whether to select the first row instead, for example after a new search.
        """
        self._now_ms = now_ms
        self.hidden = frozenset() if self._people.has_similar else frozenset({_SIMILAR})
        self._persons = {one.row: one for one in self.in_order(persons)[:MOST_SHOWN]}
        first = next(iter(self._persons), None) if top else None
        self.show(LazyRows(self._persons, self._cells), first)

    def sort_key(self, person: Person, title: str) -> Any:
        return person.order if title == "Name" else person.locks

    def refresh_relative_times(self, now_ms: int) -> None:
        """Update states and end dates to the time ``now_ms`` without moving rows."""
        self._now_ms, self._rows = now_ms, {}
        self.refresh()

    def widest(self) -> Sequence[int]:
        """Return the width of each column's longest content among the measured people."""
        *others, similar = self._widest
        return *others, max(similar, _SIMILAR_CELLS)

    def margin_sign(self, row: int) -> str:
        person = self._persons[self._keys[row]]
        return _SIMILAR_SIGN if self._people.similar(person) else ""

    def row_look(self, row: int) -> str:
        counts = self._row(self._persons[self._keys[row]]).counts
        return RemoteState.ENDED.look if counts.keys() == {RemoteState.ENDED} else ""

    def signs(self, row: int) -> Mapping[int, Sequence[Piece]]:
        """Return the styled text of the column of states, by the index of the column.

        The text has the color of the person's most important state. If no state has a color, or if
        the column is hidden, the result is empty.
        """
        width, found = self._widths.get(_STATE), self._row(self._persons[self._keys[row]])
        look = next((state.look for state in _URGENT if found.counts[state]), "")
        if width is None or not look:
            return {}
        text = _fit(found.states, width)
        return {_STATE: [(text + " " * (width - cell_len(text)), look)]}

    def _cells(self, person: Person) -> Sequence[str]:
        row, until = self._row(person), self._widths[_UNTIL]
        name, *middle, end, _, similar = row.cells
        if cell_len(end) > until:
            bounds = person.bounds(self._now_ms)
            end = describe_bounds(bounds, self._zone_of, last_only=True)
        state = _fit(row.states, self._widths.get(_STATE, 0))
        return (shorten_middle(name, self._widths[0]), *middle, end, state, similar)

    def _row(self, person: Person) -> Row:
        if (known := self._rows.get(person.row)) is None:
            now_ms = self._now_ms
            counts, states = person.counts(now_ms), describe_person_state(person, now_ms)
            urgent = next((state for state in _URGENT if counts[state]), None)
            if urgent is not None and len(counts) > 1:
                states = (*states, f"{counts[urgent]:,} {urgent.word}")
            cells = (
                format_person(person, LONGEST_CELL),
                f"{person.locks:,}",
                format_numbers(person),
                describe_bounds(person.bounds(now_ms), self._zone_of),
                states[0],
                describe_similar(self._people.similar(person), 1, with_why=False),
            )
            known = self._rows[person.row] = Row(cells, states, counts)
        return known


def _fit(forms: Sequence[str], width: int) -> str:
    """Return the longest text that fits into ``width`` cells, or else the shortest text, cut."""
    return next((form for form in forms if cell_len(form) <= width), cut(forms[-1], width))


FIRST_S = 0.05
"""Seconds until the first people are shown while remotes are grouped by person."""

_REST = 5
"""The pause before remotes are grouped by person again, as a multiple of the time that grouping
took."""

_STEP = 256
"""The number of people to handle between two checks of whether a time slice has ended."""


class PeopleScreen(ListScreen[None]):
    """The screen with a row for each person who has a remote on any lock.

    Args:
        operations: The operations on the service and the local store.
        known: Maps lock IDs to locks with their last lists; empty if no screen has loaded them.
    """

    BINDINGS = bindings("people")

    table: PeopleTable

    def __init__(self, operations: Operations, known: Mapping[int, LockRead]) -> None:
        super().__init__(operations, PeopleTable(self._zone_of))
        self.lock_lists = LockLists(operations)
        """The locks of the lock book, each with its last list of remotes."""
        self.lock_lists.locks.update(known)
        self.error: StoreError | None = None
        """The error of reading the lock book, or None."""
        self.needle = ""
        """The text to search for."""
        self._people: People | None = None
        """The people of all locks; None until some are known."""
        self._search = PeopleSearch(())
        self._found: Sequence[int] = ()
        """The indexes of the people that the search found."""
        self._counts = ""
        """The numbers of all people and of their remotes, as text."""
        self._done: int | None = 0
        """The number of locks whose people are shown so far; None if the people of all locks are
        shown."""
        self._due_s = 0.0
        """The earliest time, in seconds on the event loop's clock, to group remotes by person again
        while locks are read."""
        self._zones: dict[str, tzinfo] = {}
        self._has_left = False
        """Whether the user opened the screen of a person, which may have changed remotes."""

    def breadcrumbs(self) -> tuple[str, ...]:
        """Return the breadcrumbs for the header, which name no lock."""
        return ("All locks", "People")

    def compose_body(self) -> ComposeResult:
        with Vertical(id="results"):
            yield from self.compose_list()
            yield FindLine(id="find")
            yield Static(id="row", markup=False)
            yield Pager(self.operations.clock.steady_ms, id="pager")

    def on_mount(self) -> None:
        """Focus the table, and load the stored lists."""
        self.table.focus()
        self.load()

    def on_screen_resume(self) -> None:
        """Load the lists again, because the screen of a person may have changed some lists."""
        if self._has_left:
            self._has_left = False
            self.load(reads_changed=True)

    def read_changed(self, lock_ids: Iterable[int]) -> None:
        """Read again the locks that a run has changed."""
        if not self._has_left:  # else this is done when the user comes back
            self.load(reads_changed=True)

    # --- loading -------------------------------------------------------------------------------

    @work(exclusive=True, group="load")
    async def load(self, *, reads_changed: bool = False) -> None:
        """Load the stored lists, and group their remotes by person.

        Args:
            reads_changed: Whether to read again the locks that lockterm has changed.
        """
        opened = opening(self, "the people", passes=self.edits_search)
        if self._people is not None:
            opened.end()
        with opened:
            try:
                if reads_changed or not self.lock_lists.locks:
                    await self.lock_lists.load()
            except StoreError as error:
                self.error = error
            await self._join(opened)
        changed = [
            one.lock
            for one in self.lock_lists.locks.values()
            if one.listing is not None and one.listing.changed
        ]
        if reads_changed and changed:
            self.read(changed)

    @work(exclusive=True, group="read")
    async def read(self, locks: Sequence[Lock] | None = None) -> None:
        """Read locks from the service, and show the people as the lists arrive.

        Args:
            locks: The locks to read; None for all locks of the lock book.
        """
        self._due_s = asyncio.get_running_loop().time() + PROGRESS_S
        opened = opening(self, "the people", passes=self.edits_search)
        if self._found:
            opened.end()
        with opened:
            try:
                await self.lock_lists.read(self._show_news, locks)
            except StoreError as error:
                self.error = error
            self.workers.cancel_group(self, "join")
            await self._join(opened)

    def _show_news(self) -> None:
        self._describe()
        if asyncio.get_running_loop().time() >= self._due_s:
            self.join()

    @work(exclusive=True, group="join")
    async def join(self) -> None:
        """Group the remotes of all lists by person again. Until then, the old rows stay."""
        await self._join(None)

    async def _join(self, opened: PendingNavigation | None) -> None:
        clock = asyncio.get_running_loop().time
        people, slices, begun_s = People(self.operations.now_ms()), TimeSlicer(), clock()
        self._due_s = float("inf")
        shown_s, is_first = begun_s + FIRST_S, self._people is None
        for number, (lock_id, one) in enumerate([*self.lock_lists.locks.items()]):
            for block in one.listing.blocks if one.listing is not None else ():
                people.add(lock_id, one.lock.zone, block.raws(), block.ends)
                await slices.pause()
                if is_first and clock() >= shown_s:
                    before_s, self._done = clock(), number
                    await self.take_people(people, slices, opened)
                    shown_s = clock() + max(PROGRESS_S, _REST * (clock() - before_s))
        await asyncio.to_thread(people.compare_letters)
        self._done = None
        await self.take_people(people, slices, opened)
        self._due_s = clock() + max(PROGRESS_S, _REST * (clock() - begun_s))

    async def take_people(
        self, people: People, slices: TimeSlicer, opened: PendingNavigation | None
    ) -> None:
        """Show the people that are known so far.

        Args:
            people: The people, grouped from the lists that were handled so far.
            slices: The timer that lets the app handle keys during the work.
            opened: The pending navigation, which ends here, so that keys no longer wait; None if no
                keys wait.
        """
        found = list[Person]()
        for number, person in enumerate(people.sort()):
            if person is not None:
                found.append(person)
            if person is None or not number % _STEP:
                await slices.pause()
        search = PeopleSearch(found)
        for _ in search.prepare():
            await slices.pause()
        self._people, self._search, self._counts = people, search, count_people(found)
        self.table.note_people(people, self.operations.now_ms())
        for person in found[:: len(found) // MOST_MEASURED + 1]:
            self.table.measure(person)
            await slices.pause()
        await self._search_and_show(slices)
        if opened is not None:
            opened.end()

    @work(exclusive=True, group="find")
    async def start_search(self) -> None:
        """Show the people that match the search text."""
        await self._search_and_show(TimeSlicer(), top=True)

    async def _search_and_show(self, slices: TimeSlicer, *, top: bool = False) -> None:
        search, found = self._search, list[int]()
        words = split_needle(self.needle)
        for part in search.find(words) if words else ():
            found += part
            await slices.pause()
        if self.is_running and search is self._search:
            self._found = found if words else range(len(search.people))
            self.paint(top=top)

    # --- what is shown -------------------------------------------------------------------------

    def paint(self, *, top: bool = False) -> None:
        if self._people is not None:
            found = self._found if self.table.sorting else self._found[:MOST_SHOWN]
            self.table.show_people(self._persons(found), self.operations.now_ms(), top=top)
        self._describe()
        self.refresh_bindings()

    def _persons(self, found: Sequence[int]) -> Sequence[Person]:
        return [self._search.people[index] for index in found]

    def refresh_relative_times(self) -> None:
        self.table.refresh_relative_times(self.operations.now_ms())
        self._describe()

    def search_for(self, text: str) -> None:
        if text != self.needle:
            self.needle = text
            self.start_search()

    def describe_rows(self) -> None:
        self.query_one(Pager).tick()
        self._show_row()

    def describe_title(self) -> str:
        count = len(self._found)
        return f"People {count:,}" if count else "People"

    def describe_empty(self) -> tuple[str, KeyOffers]:
        lock_lists = self.lock_lists
        if self.error is not None:
            return describe_error(self.error), {"{everywhere.read}": "try again", "Esc": "back"}
        if self._people is None:
            return "Reading the stored lists ...", {}
        if not lock_lists.locks:
            return EMPTY_BOOK, {"Esc": "back"}
        offers = {"{everywhere.read}": f"read {lock_lists.describe_all()} now", "Esc": "back"}
        if lock_lists.unread == len(lock_lists.locks):
            if lock_lists.is_reading:
                return "Reading the locks ...", {"Esc": "back"}
            return "No lock has been read yet.", offers
        if self.needle:
            needle = quoted(clean(self.needle, 60))
            return f"No person matches {needle}.", {"Esc": "show all"}
        return NO_ONE, offers

    def _describe(self) -> None:
        """Update the lines about the rows, and the empty state if there are no rows."""
        self.show_list()
        pager, lock_lists = self.query_one(Pager), self.lock_lists
        if (
            self._people is None
            or not lock_lists.locks
            or lock_lists.unread == len(lock_lists.locks)
        ):
            pager.show([(lock_lists.describe_reads() if lock_lists.locks else "", None)])
        else:
            counts = self._counts
            if self.needle:
                counts = f"{len(self._found):,} of {format_people(len(self._search.people))}"
            if len(self._found) > MOST_SHOWN:
                counts += f", {MOST_SHOWN:,} listed"
            if self._done is not None:
                locks = format_count(len(lock_lists.locks), "lock")
                counts += f" so far, {self._done:,} of {locks}"
            reads = map(lock_lists.describe_reads, (None, 30, 10, 0))
            forms = [(separator().join((counts, one, "oldest ")), "") for one in reads]
            pager.show([*forms, (counts, None)], lock_lists.oldest_ms())
        self._show_row()

    def _show_row(self) -> None:
        """Show the selected person: name, similar names, remotes, end dates and fob numbers."""
        person, parts = self.table.current, list[str]()
        if person is not None and self._people is not None:
            parts.append(format_person(person, 200))
            if similar := self._people.similar(person):
                parts.append(f"similar: {describe_similar(similar, 5)}")
            now_ms = self.operations.now_ms()
            remotes = format_count(person.count, "remote")
            ends = describe_bounds(person.bounds(now_ms), self._zone_of)
            parts.append(f"{remotes}, {describe_person_state(person, now_ms)[0]}, end: {ends}")
            if len(person.numbers) > 1:
                parts.append(f"numbers {format_numbers(person, 5)}")
        self.query_one("#row", Static).update(separator().join(parts), layout=False)

    def _zone_of(self, zone: str) -> tzinfo:
        """Return the time zone for a zone name of the lock book, and cache it."""
        if (known := self._zones.get(zone)) is None:
            lock = next(one.lock for one in self.lock_lists.locks.values() if one.lock.zone == zone)
            known = self._zones[zone] = self.operations.zone(lock)
        return known

    # --- actions -------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        if action == "open" and self.table.current is None:
            return "No person is selected."
        if action == "export" and not self._found:
            return "The list is empty, so there is nothing to export."
        is_empty = self._people is not None and self.error is None and not self.lock_lists.locks
        return EMPTY_BOOK if action == "read" and is_empty else ""

    def action_open(self) -> None:
        """Open the screen with the selected person's remotes on all locks."""
        if (person := self.table.current) is not None:
            self._has_left = True
            self.app.push_screen(
                screens.PersonScreen(self.operations, person, self.lock_lists.locks)
            )

    def action_read(self) -> None:
        """Read all locks again. If the lock book could not be loaded, try to load it again."""
        if self.error is not None:
            self.error = None
            self.load(reads_changed=True)
        elif self._people is not None and self.lock_lists.locks:
            self.read()
            self._describe()

    def action_export(self) -> None:
        """Write the shown people to a CSV file and an HTML page."""
        self.run_alone(self._export, "export")

    async def _export(self) -> None:
        if self._people is None:
            return
        operations, slices, found = self.operations, TimeSlicer(), self._persons(self._found)
        report = PeopleReport(
            operations, self._people, found, [*self.lock_lists.locks.values()], self.needle
        )
        for _ in report.collect():
            await slices.pause()
        directory = cast("HasOperations", self.app).exports
        with self.showing_errors():
            table = await asyncio.to_thread(rows_as_csv, CSV_COLUMNS, report.csv_rows())
            page = await asyncio.to_thread(report.as_html)
            files = await asyncio.to_thread(
                export_files,
                "people",
                table.encode("utf-8", "backslashreplace"),
                page,
                directory,
                operations.machine_ms(),
                ending=".html",
            )
            self.notify(
                f"Wrote {count_people(found, ' with ')} to {files[0]} and {files[1].name}."
                " The data is from the last reading of each lock.",
                title="Exported",
            )

    def action_back(self) -> None:
        """Clear the search. If there is no search, go back."""
        if self.needle:
            self.query_one(FindLine).action_close()
        else:
            self.dismiss(None)
