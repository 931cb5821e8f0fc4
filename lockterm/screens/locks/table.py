"""The table of the locks in the lock book, and the line of badges about the selected lock."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import tzinfo
from functools import cached_property
from typing import Any

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widget import Widget

from lockterm.domain import dates
from lockterm.domain.listing import Ends
from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.marks import LockMarks
from lockterm.domain.names import natural
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.text.amount import describe_age, format_short_age
from lockterm.domain.validity import RemoteState, sum_up
from lockterm.widgets.cells import Part, cut_apart, join_parts
from lockterm.widgets.line_table import Piece
from lockterm.widgets.row_table import Column, LazyRows, RowTable

_NAME = 0
"""The index of the column with the names, which is always visible."""

_ENDS: Mapping[int, Sequence[RemoteState]] = {
    6: (RemoteState.ENDED,),
    7: (RemoteState.WEEK, RemoteState.MONTH),
}
"""Maps the index of a column to the states whose remotes the column counts. Only wide terminals
show these columns."""

_READ = 8
"""The index of the column with the age of the numbers of expired and expiring remotes."""

_IN_PANE = frozenset({2, 3, 4, 9})
"""The indexes of the columns that the side panel replaces: vendor, model, zone and "Last
viewed"."""

_OFTEN_EMPTY = (2, 3, 4)
"""The indexes of the columns that are hidden if all their cells are empty: vendor, model, zone."""

_DIGITS = 5
"""The width of a number of remotes in cells. Numbers from 100,000 on are shown in thousands."""

_COUNT = len("× ") + _DIGITS

_BY = {
    "Name": "title",
    "ID": "lock_id",
    "Vendor": "vendor",
    "Model": "model",
    "Zone": "zone",
    "Remotes": "remotes",
    "Last viewed": "opened_ms",
}
"""Maps a column title to the attribute of a lock that is the sort key after a click on the title.

Locks without a value come last.
"""


class LockRows:
    """A list of locks whose column widths are computed once instead of at each key press.

    Args:
        locks: The locks in display order.
    """

    def __init__(self, locks: Sequence[Lock]) -> None:
        self.locks: Mapping[str, Lock] = {str(lock.lock_id): lock for lock in locks}
        """Maps row keys to locks, in display order."""
        self._widest_opened: tuple[int, int] | None = None
        self._forms: tuple[int, Mapping[str, str]] | None = None

    @cached_property
    def widest(self) -> Sequence[int]:
        """The width of the longest content of each column up to "Remotes", in cells.

        The cells of the rows are not created, because there may be 10,000 rows.
        """
        locks = self.locks.values()
        return (
            _widest([lock.name or lock.title for lock in locks]),
            _widest(self.locks),
            _widest({lock.vendor for lock in locks}),
            _widest({lock.model for lock in locks}),
            _widest({lock.zone for lock in locks}),
            _widest([str(count) for count in {lock.remotes or 0 for lock in locks}]),
        )

    def short_names(self, width: int) -> Mapping[str, str]:
        """Return short forms, by name, for names that would look equal if their ends were cut.

        Args:
            width: The width of the column in cells.
        """
        if self._forms is None or self._forms[0] != width:
            names = (clean(lock.title, LONGEST_CELL) for lock in self.locks.values())
            self._forms = width, cut_apart(names, width)
        return self._forms[1]

    def widest_opened(self, now_ms: int) -> int:
        """Return the width of the longest text in the column "Last viewed", in cells.

        The width is computed at most once per minute.
        """
        minute = now_ms // dates.MINUTE_MS
        if self._widest_opened is None or self._widest_opened[0] != minute:
            texts = [opened(at_ms, now_ms) for at_ms in self._moments(now_ms)]
            self._widest_opened = minute, _widest(texts)
        return self._widest_opened[1]

    def _moments(self, now_ms: int) -> set[int | None]:
        """Return a time in milliseconds for each different text in the column "Last viewed".

        The time is None for locks that were never opened.
        """
        two_days_ago_ms, found = now_ms - 2 * dates.DAY_MS, set[int | None]()
        for at_ms in {lock.opened_ms for lock in self.locks.values()}:
            if at_ms is None:
                found.add(None)
            else:
                unit = dates.MINUTE_MS if at_ms > two_days_ago_ms else dates.DAY_MS
                found.add(now_ms - (now_ms - at_ms) // unit * unit)
        return found


class LocksTable(RowTable):
    """The table of locks: name, ID, vendor, model, zone, remotes, expiring remotes, last view.

    For visible rows, the table shows how many remotes have expired or will expire soon, counted in
    the last complete list of the lock. The age of that list is always shown with the counts.

    Args:
        marks: The marked locks.
    """

    sortable = _BY

    def __init__(self, marks: LockMarks) -> None:
        super().__init__(
            Column("Name", most=40, least=18),
            Column("ID", most=19, least=19),
            Column("Vendor", most=20, least=8, rank=2),
            Column("Model", most=20, least=6, rank=6),
            Column("Zone", most=24, least=13, rank=7),
            Column("Remotes", right=True),
            Column("Expired", most=_COUNT, least=_COUNT, rank=5, right=True),
            Column("Expiring", most=2 * _COUNT + 2, least=2 * _COUNT + 2, rank=4),
            Column("Read", most=5, least=5, rank=3, right=True),
            Column("Last viewed", least=14, rank=1),
            id="locks",
        )
        self._marks = marks
        self._shelf = LockRows(())
        self._now_ms = 0
        self._has_room_for_ends = False
        """Whether the terminal has room for the columns that count expired and expiring remotes."""
        self._ends: dict[str, Ends | None] = {}
        """Maps row keys to the lock's numbers of remotes by state; the value is None if no list is
        stored."""
        self.reads_selected = False
        """Whether to count the expiring remotes of the selected lock even if no column shows
        them."""
        self._to_read_again: frozenset[str] = frozenset()
        """The keys of rows whose expiring remotes must be counted again."""

    def show_locks(self, shelf: LockRows, now_ms: int, cursor: int | None = None) -> None:
        """Replace the rows.

        Args:
            shelf: The locks to show.
            now_ms: The current time in milliseconds.
            cursor: The ID of the lock to select; None to keep the selected lock.
        """
        self._shelf = shelf
        self._now_ms = now_ms
        self._choose_columns()
        rows = LazyRows(shelf.locks, self._cells)
        self.show(rows, str(cursor) if cursor is not None else None)
        self.call_after_refresh(self.look_for_lacking)

    def read_ends_again(self) -> None:
        """Request new counts of expired and expiring remotes for all rows.

        The old counts stay visible until the new counts arrive.
        """
        self._to_read_again = frozenset(self._ends)

    def note_ends(self, key: str, ends: Ends | None, now_ms: int) -> None:
        """Store a lock's numbers of remotes by state, which :meth:`show_ends` paints later.

        Args:
            key: The key of the lock's row.
            ends: The numbers of remotes by state; None if no list is stored.
            now_ms: The current time in milliseconds.
        """
        self._ends[key], self._now_ms = ends, now_ms
        self._to_read_again -= {key}

    @property
    def lacking(self) -> Sequence[str]:
        """The keys of the visible rows whose expiring remotes must be counted.

        If the terminal has no room for the counts, only the selected row can be included.
        """
        keys: Sequence[str] = self.in_sight
        if not self._has_room_for_ends:
            selected = self.highlighted if self.reads_selected else None
            keys = () if selected is None else (selected,)
        again = self._to_read_again
        return [key for key in keys if key not in self._ends or key in again]

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns before the base class divides the width among the columns."""
        self._choose_columns()
        self.call_after_refresh(self.look_for_lacking)

    def show_ends(self) -> None:
        """Paint the counts of expired and expiring remotes that :meth:`note_ends` stored."""
        before = self.hidden
        self._choose_columns()
        if self.hidden == before:
            self.refresh()
        else:
            self.measure_again()

    def _choose_columns(self) -> None:
        """Hide the columns that are empty, that the panel replaces, or that have no room."""
        is_framed, is_wide = map(self.screen.has_class, ("-framed", "-wide"))
        self._has_room_for_ends = is_framed or is_wide
        counts = frozenset({*_ENDS, _READ})
        if is_framed:
            has_none = bool(self._ends) and not any(self._ends.values())
            self.hidden = counts if has_none else _IN_PANE
        else:
            self.hidden = frozenset() if is_wide else counts
        self.hidden |= {column for column in _OFTEN_EMPTY if not self._shelf.widest[column]}

    def signs(self, row: int) -> Mapping[int, Sequence[Piece]]:
        """Return styled texts by column index: the counts of expired and expiring remotes."""
        ends = self._ends.get(self._keys[row])
        if ends is None:
            return {}
        found: dict[int, Sequence[Piece]] = {}
        for column, states in _ENDS.items():
            pieces: list[Piece] = []
            for state in states:
                count = ends.counts[state]
                pieces.append((_counted(state, count), state.look if count else ""))
                pieces.append((" " * 2, ""))
            found[column] = pieces[:-1]
        return found

    def ends_of(self, lock: Lock) -> Ends | None:
        """Return a lock's numbers of remotes by state; None if not read or not stored."""
        return self._ends.get(str(lock.lock_id))

    def describe_ends(self, lock: Lock) -> str:
        """Return how many remotes of a lock have expired or expire soon; empty if that is unknown.

        An example is ``read 3 h ago: 2 expired, 1 within 7 days``.
        """
        ends = self.ends_of(lock)
        if ends is None or not self._has_room_for_ends:  # counts are not updated
            return ""
        when = describe_age(ends.at_ms, self._now_ms, changed=ends.changed)
        states = [state for column in _ENDS.values() for state in column if ends.counts[state]]
        counts = [f"{ends.counts[state]:,} {state.counted}" for state in states]
        return f"{when}: {', '.join(counts) or 'none expired or expiring'}"

    def sort_key(self, lock: Lock, title: str) -> Any:
        value = getattr(lock, _BY[title])
        return (natural(value) if value else None) if isinstance(value, str) else value

    @property
    def locks(self) -> Collection[Lock]:
        """The rows, from top to bottom."""
        return self._shelf.locks.values()

    def is_marked(self, row: int) -> bool:
        return self._marks.has(self._shelf.locks[self._keys[row]])

    @property
    def selected(self) -> Lock | None:
        """The lock under the cursor; None in an empty table."""
        return self._shelf.locks.get(self.highlighted or "")

    def widest(self) -> Sequence[int]:
        ends = _COUNT, 2 * _COUNT + 2, 5
        return (*self._shelf.widest, *ends, self._shelf.widest_opened(self._now_ms))

    def _cells(self, lock: Lock) -> tuple[str, ...]:
        ends = self.ends_of(lock)
        read = (
            "-"
            if ends is None
            else format_short_age(ends.at_ms, self._now_ms, changed=ends.changed)
        )
        name = clean(lock.title, LONGEST_CELL)
        return (
            self._shelf.short_names(self._widths[_NAME]).get(name, name),
            str(lock.lock_id),
            clean(lock.vendor, LONGEST_CELL),
            clean(lock.model, LONGEST_CELL),
            clean(lock.zone, LONGEST_CELL),
            "-" if lock.remotes is None else str(lock.remotes),
            *("", "", read),
            opened(lock.opened_ms, self._now_ms),
        )


def _counted(state: RemoteState, count: int) -> str:
    """Return the icon of a state and a count, right-aligned; only spaces if the count is 0."""
    digits = str(count) if count < 10**_DIGITS else f"{min(count // 1000, 999)}k"
    return f"{state.sign} {digits}".rjust(_COUNT) if count else " " * _COUNT


def opened(at_ms: int | None, now_ms: int) -> str:
    """Return how long ago lockterm opened a lock, such as ``3 days ago``.

    Args:
        at_ms: The time of the opening, in milliseconds; None if lockterm never opened the lock.
        now_ms: The current time in milliseconds.
    """
    return "never" if at_ms is None else dates.distance(at_ms, now_ms)


def _widest(texts: Collection[str]) -> int:
    """Return the largest width among some texts, in cells."""
    if "".join(texts).isascii():
        return max(map(len, texts), default=0)
    return max(
        len(text) if text.isascii() else cell_len(clean(text, LONGEST_CELL)) for text in texts
    )


def describe_voice(voice: VoiceChoice) -> str:
    """Return the language and the timbre of a voice, without control characters."""
    return f"{clean(voice.lang, 20)} {clean(voice.timbre, 30)}"


def more_about(lock: Lock, zone: tzinfo, now_ms: int) -> list[str]:
    """Return texts about a lock's alias and voice, the longest first and an empty text last.

    Args:
        lock: The lock.
        zone: The time zone of the shown dates.
        now_ms: The current time in milliseconds.
    """
    alias = [f"alias {clean(lock.alias, 40)}"] if lock.alias else []
    voices = []
    if lock.voice:
        voice = f"voice {describe_voice(lock.voice)}"
        voices = [f"{voice}, {lock.voice_since(zone, now_ms)}", voice]
    return [*("   ".join([*alias, voice]) for voice in voices), *alias, ""]


_BADGE_DIGITS = 4
"""The width of a number in the line of badges, in cells."""


class LockBadges(Widget):
    """A line with the last known states of a lock's remotes, and its unconfirmed changes."""

    def __init__(self) -> None:
        super().__init__(id="badges")
        self._parts: list[Part] = []
        self._ages: Sequence[str] = ("",)
        """Texts for the age of the list whose remotes are counted, the longest first. The line
        shows the first text that fits."""
        self.display = False

    def show_lock(self, ends: Ends | None, unconfirmed: int, now_ms: int) -> None:
        """Show the numbers of remotes of a lock by state, or an empty line if no list is stored.

        Args:
            ends: The numbers of remotes in the lock's last list; None if no list is stored.
            unconfirmed: The number of unconfirmed changes of the lock.
            now_ms: The current time in milliseconds.
        """
        parts, ages = list[Part](), [""]
        if unconfirmed:
            text = f"{RemoteState.UNCLEAR.sign} {unconfirmed:,} unconfirmed  "
            parts.append((text, RemoteState.UNCLEAR.look))
        if ends is not None:
            for state, count, word in sum_up(ends.counts):
                # The widths stay, so that a cursor key often sends only the other digits.
                parts.append((state.sign, state.look))
                counted = f"{count:,} {word}".ljust(_BADGE_DIGITS + len(word))
                parts.append((f" {counted}  ", ""))
            if not ends.counts:
                parts.append(("no remotes  ", ""))
            at_ms = now_ms if now_ms - ends.at_ms < dates.MINUTE_MS else ends.at_ms
            shorter = ["before your change"] if ends.changed else []
            ages = [describe_age(at_ms, now_ms, changed=ends.changed), *shorter, ""]
        if (parts, ages) != (self._parts, self._ages):
            self._parts, self._ages = parts, ages
            self.refresh()

    def render(self) -> Content:
        counts = join_parts(self._parts, self.app.theme_variables)
        room = self.content_size.width - counts.cell_length
        age = next((age for age in self._ages if cell_len(age) <= room), "")
        return Content.assemble(counts, age)
