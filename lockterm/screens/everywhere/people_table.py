"""The table of people, with a row for each name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from typing import NamedTuple

from rich.cells import cell_len

from lockterm.domain.people import People, Person
from lockterm.domain.remote_states import StateFilter
from lockterm.domain.safe_text import clean
from lockterm.domain.sorting import sorted_by
from lockterm.domain.text.people import (
    NO_NAME,
    describe_bounds,
    describe_person_state,
    describe_similar,
    format_numbers,
    format_person,
)
from lockterm.domain.validity import State
from lockterm.widgets.cells import cut
from lockterm.widgets.line_table import Piece
from lockterm.widgets.row_table import Column, LazyRows, RowTable

_NAME = 40
"""The maximum width of a person's name, in cells."""

_UNTIL, _STATE, _SIMILAR = 3, 4, 5
"""The indexes of the columns with the end dates, the states and the similar names."""

_BOTH_ENDS = 26
"""The width of the first and the last end date, in cells. A narrower column shows only the last."""

_URGENT = (State.UNCLEAR, State.WEEK, State.MONTH)
"""The states that give the column of states its color, the most important first."""


class Row(NamedTuple):
    """The texts of a row, which are computed once and again when the time has changed."""

    cells: tuple[str, ...]
    counts: Counter[StateFilter]


class PeopleTable(RowTable):
    """The table of people: name, number of locks, fob numbers, end dates, states, similar names.

    Args:
        zone_of: A function that returns the time zone for a zone name of the lock book. Only the
            screen knows the profile, whose time zone is the default.
    """

    sortable = ("Name", "Locks")

    def __init__(self, zone_of: Callable[[str], tzinfo], *, id: str | None = None) -> None:
        super().__init__(
            Column("Name", most=_NAME, least=12, good=18),
            Column("Locks", most=6, right=True),
            Column("Number", most=20, least=8, good=10),
            Column("Until", most=_BOTH_ENDS, least=11, good=_BOTH_ENDS),
            Column("State", most=24, least=9, rank=2, good=10),
            Column("Similar", most=40, least=9, rank=1, good=12),
            id=id,
        )
        self._zone_of = zone_of
        self._people = People()
        self._persons: Mapping[str, Person] = {}
        self._now_ms = 0
        self._rows: dict[str, Row] = {}
        self._widest_name = 0

    @property
    def current(self) -> Person | None:
        """The selected person; None in an empty table."""
        return self._persons.get(self.highlighted or "")

    def note_people(self, persons: Sequence[Person]) -> None:
        """Measure all names, and forget the cells of rows, because people were joined again.

        The columns and the cells then stay while the user searches.
        """
        self._rows = {}
        self._widest_name = max(map(_measure, persons), default=0)

    def show_people(
        self, people: People, persons: Sequence[Person], now_ms: int, *, top: bool = False
    ) -> None:
        """Replace the rows, sorted by the clicked title; the same person stays selected.

        Args:
            people: The people of all locks, with the names that are similar.
            persons: The people to show, sorted by name.
            now_ms: The current time in milliseconds.
            top: Whether to select the first row instead, as after a new search.
        """
        if (sorting := self.sorting) is not None:
            is_by_name = sorting.key == "Name"
            persons = sorted_by(
                persons,
                (lambda one: one.order) if is_by_name else (lambda one: one.locks),
                descending=sorting.descending,
            )
        self._people, self._now_ms = people, now_ms
        self.hidden = frozenset() if people.has_similar else frozenset({_SIMILAR})
        self._persons = {one.row: one for one in persons}
        first = next(iter(self._persons), None) if top else None
        self.show(LazyRows(self._persons, self._cells), first)

    def pass_time(self, now_ms: int) -> None:
        """Update states and end dates to the time ``now_ms`` without moving rows."""
        self._now_ms, self._rows = now_ms, {}
        self.refresh()

    def widest(self) -> Sequence[int]:
        """Return the width of each column's longest content, in cells.

        Only the names are measured. The other columns get their maximum width, because their
        cells are created only for visible rows.
        """
        return [self._widest_name, *(column.most for column in self._plan[1:])]

    def row_look(self, row: int) -> str:
        counts = self._row(self._persons[self._keys[row]]).counts
        return State.ENDED.look if counts.keys() == {State.ENDED} else ""

    def signs(self, row: int) -> Mapping[int, Sequence[Piece]]:
        """Return the piece with a person's states, in the color of the most important state."""
        width, found = self._widths.get(_STATE), self._row(self._persons[self._keys[row]])
        look = next((state.look for state in _URGENT if found.counts[state]), "")
        if width is None or not look:
            return {}
        text = cut(found.cells[_STATE], width)
        return {_STATE: [(text + " " * (width - cell_len(text)), look)]}

    def _cells(self, person: Person) -> Sequence[str]:
        cells = self._row(person).cells
        if self._widths[_UNTIL] >= cell_len(cells[_UNTIL]):
            return cells
        bounds = person.bounds(self._now_ms)
        last = describe_bounds(bounds, self._zone_of, last_only=True)
        return (*cells[:_UNTIL], last, *cells[_STATE:])

    def _row(self, person: Person) -> Row:
        if (known := self._rows.get(person.row)) is None:
            now_ms = self._now_ms
            cells = (
                format_person(person, _NAME),
                f"{person.locks:,}",
                format_numbers(person),
                describe_bounds(person.bounds(now_ms), self._zone_of),
                describe_person_state(person, now_ms),
                describe_similar(self._people.similar(person), 1, with_why=False),
            )
            known = self._rows[person.row] = Row(cells, person.counts(now_ms))
        return known


def _measure(person: Person) -> int:
    """Return the width of a person's name, in cells."""
    name = person.name or NO_NAME
    return len(name) if name.isascii() else cell_len(clean(name[:_NAME]))
