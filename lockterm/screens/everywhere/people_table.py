"""The table of people, with a row for each name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from operator import attrgetter
from typing import NamedTuple

from rich.cells import cell_len

from lockterm.domain.names import sorted_by
from lockterm.domain.people import People, Person
from lockterm.domain.remote_states import StateFilter
from lockterm.domain.safe_text import LONGEST_CELL
from lockterm.domain.text.people import (
    describe_bounds,
    describe_person_state,
    describe_similar,
    format_numbers,
    format_person,
)
from lockterm.domain.validity import RemoteState
from lockterm.widgets.cells import cut, shorten_middle
from lockterm.widgets.line_table import Piece
from lockterm.widgets.row_table import Column, LazyRows, RowTable

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
    """The texts of a row. They are computed again only after the displayed time has changed."""

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

    def __init__(self, zone_of: Callable[[str], tzinfo], *, id: str | None = None) -> None:
        super().__init__(
            Column("Name", most=40, least=14, good=34),
            Column("Locks", most=6, right=True),
            Column("Number", most=20, least=9, good=10),
            Column("Until", most=26, least=11),
            Column("State", most=34, least=10, rank=1, good=22),
            Column("Similar", most=40, least=_SIMILAR_CELLS, rank=2),
            id=id,
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
        if (sorting := self.sorting) is not None:
            is_by_name = sorting.key == "Name"
            persons = sorted_by(
                persons,
                attrgetter("order" if is_by_name else "locks"),
                descending=sorting.descending,
            )
        self._now_ms = now_ms
        self.hidden = frozenset() if self._people.has_similar else frozenset({_SIMILAR})
        self._persons = {one.row: one for one in persons[:MOST_SHOWN]}
        first = next(iter(self._persons), None) if top else None
        self.show(LazyRows(self._persons, self._cells), first)

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
        """Return a person's states as text in the color of the most important state."""
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
    """Return the longest text that fits, or the shortest text cut to the width if none fits."""
    return next((form for form in forms if cell_len(form) <= width), cut(forms[-1], width))
