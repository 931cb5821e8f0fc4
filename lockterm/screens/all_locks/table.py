"""The table of remotes from several locks, with a row for each lock that could not be read."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from lockterm.domain import dates
from lockterm.domain.dates import format_weekdays
from lockterm.domain.glyphs import separator
from lockterm.domain.listing import Listing, ListPosition
from lockterm.domain.locks import Lock
from lockterm.domain.marks import RemoteMarks
from lockterm.domain.names import natural
from lockterm.domain.remotes import Remote, needs_weekdays
from lockterm.domain.safe_text import clean
from lockterm.domain.text.validity import SHORT, format_days
from lockterm.domain.validity import (
    RemoteState,
    StateFilter,
    has_state,
    may_be,
    state_of,
    without_weekdays,
)
from lockterm.screens.remotes.columns import Layout, compared
from lockterm.screens.remotes.table import (
    BEFORE,
    LONGEST,
    SIGNS,
    RemoteRow,
    cells,
    row_look,
    signs,
    state_look,
)
from lockterm.widgets.cells import cut, shorten_middle
from lockterm.widgets.line_table import Piece
from lockterm.widgets.row_table import GAP, Column, RowTable, fit

if TYPE_CHECKING:
    from lockterm.domain.changes_elsewhere import ChangeElsewhere
    from lockterm.operations import Operations
    from lockterm.screens.all_locks.lock_lists import LockLists

LOCK_CELLS = 24
"""The maximum width of a lock's title, in cells."""

COLUMNS: Mapping[str, Column] = {
    "sign": Column("", most=BEFORE - GAP, least=BEFORE - GAP),
    "end": Column("Ends", most=11, least=11, right=True),
    "when": Column("When", most=14, least=7, rank=1, good=11),
    "lock": Column("Lock", most=LOCK_CELLS, least=13),
    "name": Column("Name", most=40, least=10, good=14),
    "who": Column("Name", most=40, least=12, good=18),
    "number": Column("Number", most=12, least=7),
    "valid": Column("Valid", most=SHORT, least=19, good=23),
    "days": Column("Days", most=20, least=11, rank=5),
    "state": Column("State", most=14, least=9, rank=6),
    "read": Column("Read", most=5, least=4, rank=2, right=True),
}
"""Maps keys to the columns that a table of several locks can have."""

_OF_REMOTE = ("name", "number", "valid", "state")
"""The keys of the columns that a table of one lock also has."""

_BY: Mapping[str, str] = {
    **{"Ends": "end", "When": "end", "Name": "name", "Number": "number"},
    **{"Valid": "valid", "State": "state"},
}
"""Maps sortable column titles to the keys of the columns with the same sort order in a table of one
lock."""

_FIRST = ListPosition(0, 0)

_SHORT_WORDS = len("9999 d ago")
"""The minimum width of a column for times such as ``in 41 d``, in cells."""


class OnLock:
    """A table row for a found remote, or for a lock that could not be read.

    Args:
        lock: The lock.
        zone: The time zone of the lock.
        read: The age of the list as a short text, for a narrow column.
        listing: The list that contains the remote; None for a lock that could not be read.
        place: The position of the remote in the list.
        problem: Why the lock could not be read, without control characters.
    """

    def __init__(
        self,
        lock: Lock,
        zone: tzinfo,
        read: str = "",
        listing: Listing | None = None,
        place: ListPosition = _FIRST,
        problem: str = "",
    ) -> None:
        self.lock = lock
        self.zone = zone
        self.read = read
        self.listing = listing
        self.problem = problem
        self._place = place

    @property
    def remote_id(self) -> int | None:
        """The remote's ID, read without decoding the remote; None if there is no ID or remote."""
        return None if self.listing is None else self.listing.id(self._place)

    @property
    def key(self) -> str:
        """The identity of the row, which stays the same when the list is read again."""
        if self.listing is None:
            return f"{self.lock.lock_id}"
        at = f"{self._place.block}.{self._place.line}" if (id := self.remote_id) is None else id
        return f"{self.lock.lock_id} {at}"

    def may_be(self, only: StateFilter | None, now_ms: int) -> bool:
        """Return whether the row may pass a filter.

        The check is fast, because it decodes no remote. If the result is True, ``has_state``
        returns the exact result.
        """
        if self.listing is None or not isinstance(only, RemoteState):
            return True
        return may_be(only, self.listing.end(self._place), now_ms)

    def has_state(self, only: StateFilter | None, now_ms: int) -> bool:
        """Return whether the row passes a filter. A row without a remote passes every filter."""
        if only is None or self.remote is None:
            return True
        return has_state(self.remote, only, now_ms)

    @cached_property
    def remote(self) -> Remote | None:
        """The remote, decoded on first use; None for a lock that could not be read."""
        return None if self.listing is None else self.listing.remote(self._place)


def problem_rows(lock_lists: LockLists, operations: Operations) -> Iterator[OnLock]:
    """Yield a row for each lock that could not be read completely."""
    for one in lock_lists.asked.values():
        if one is not None and one.problem:
            words = f"not read{separator()}{one.problem}" if one.listing is None else one.problem
            known = lock_lists.locks[one.lock.lock_id].listing
            if one.listing is None and known is not None:
                words += f". The remotes shown were {lock_lists.age_of(known)}"
            yield OnLock(one.lock, operations.zone(one.lock), problem=words)


class OnLocksTable(RowTable):
    """The table of remotes of several locks.

    Args:
        columns: The keys of the columns in ``COLUMNS`` to show, from left to right.
        marks: The marked remotes.
    """

    sortable = (*_BY, "Lock", "Read")

    def __init__(self, columns: Sequence[str], marks: RemoteMarks) -> None:
        super().__init__(*[COLUMNS[key] for key in columns], id="found")
        self.busy: defaultdict[int, dict[int, str]] = defaultdict(dict)
        """Maps each lock ID to a mapping from remote IDs to the running action on the remote, such
        as ``deleting``."""
        self.elsewhere: Mapping[tuple[int, int], ChangeElsewhere] = {}
        """Maps pairs of lock ID and remote ID to changes by others that the user has not seen."""
        self._marks = marks
        self._columns = columns
        self._rows: Sequence[OnLock] = ()
        self._now_ms = 0

    @property
    def current(self) -> OnLock | None:
        """The selected row; None in an empty table."""
        return self._rows[self.cursor_row] if 0 <= self.cursor_row < len(self._rows) else None

    @property
    def rows(self) -> Sequence[OnLock]:
        """The rows, from top to bottom."""
        return self._rows

    def show_rows(self, rows: Sequence[OnLock], now_ms: int, *, top: bool = False) -> None:
        """Replace the rows and sort them by the clicked column title.

        The same remote stays selected.

        Args:
            rows: The rows in their default order.
            now_ms: The current time in milliseconds.
            top: Whether to select the first row instead, for example after a new search.
        """
        self._now_ms = now_ms
        known = {row.key: row for row in self.in_order(rows)}
        self._rows = [*known.values()]
        first = next(iter(known), None) if top else None
        self.show(dict.fromkeys(known, ()), first)

    def refresh_relative_times(self, now_ms: int) -> None:
        """Update states, ages and dates to the time ``now_ms`` without moving rows."""
        self._now_ms = now_ms
        if fit(self._marked_plan(), self.widest(), self._fitted_to, self.hidden) != self._widths:
            self._fill(self.cursor_row)
        else:
            self.refresh()

    def sort_key(self, row: OnLock, title: str) -> Any:
        if row.listing is None or row.remote is None:
            return None
        if title == "Lock":
            return natural(row.lock.title)
        if title == "Read":
            return -row.listing.at_ms  # the most recent list first, because the column shows ages
        return compared(row.remote, _BY[title], self._now_ms, row.zone)

    def widest(self) -> Sequence[int]:
        """Return the width of each column's longest content, in cells.

        Only lock titles and ages are measured. The other columns get their maximum width, because
        their cells are created only for visible rows.
        """
        locks = {row.lock.lock_id: row.lock for row in self._rows}.values()
        lock = max((cell_len(clean(one.title, LOCK_CELLS)) for one in locks), default=0)
        read = max((len(row.read) for row in self._rows), default=0)
        known = {"lock": lock, "read": read}
        return [known.get(key, COLUMNS[key].most) for key in self._columns]

    def is_marked(self, row: int) -> bool:
        shown = self._rows[row]
        remote = shown.remote if self._marks else None  # without marks, no remote is unpacked
        return remote is not None and self._marks.has((shown.lock.lock_id, remote))

    def margin_sign(self, row: int) -> str:
        change = self.elsewhere_of(self._rows[row])
        return change.sign if change else ""

    def elsewhere_of(self, row: OnLock) -> ChangeElsewhere | None:
        """Return the unseen change by others to a row's remote; None if there is none."""
        return self.elsewhere.get((row.lock.lock_id, row.remote_id or 0))

    def line(self, row: int) -> Iterator[Piece]:
        """Yield the cells of a remote, or one wide cell with a lock's title and problem."""
        shown = self._rows[row]
        widths = {self._columns[index]: width for index, width in self._widths.items()}
        texts = {"lock": (clean(shown.lock.title, LONGEST), ""), "read": (shown.read, "")}
        if shown.remote is None:
            lock = cut(texts["lock"][0], widths["lock"])
            yield f"{' ' * BEFORE}{lock}: {shown.problem}", ""
            return
        busy = self.busy[shown.lock.lock_id].get(shown.remote.id or 0, "")
        remote = RemoteRow.of(shown.remote, shown.zone, self._now_ms, busy)
        layout = Layout({key: widths[key] for key in widths if key in _OF_REMOTE}, GAP, 0)
        if "who" in widths:
            layout = replace(layout, widths={"name": widths["who"], **layout.widths})
        texts |= dict(zip(layout.widths, cells(remote, layout), strict=True))
        texts["who"] = texts.get("name", ("", ""))
        if end_ms := shown.remote.end_ms:
            look = state_look(remote.valid.state)
            texts["end"] = (dates.last_day(end_ms, shown.zone), look)
            if "when" in widths:
                texts["when"] = (_time_left(end_ms, self._now_ms, widths["when"]), look)
            elif "end" in widths:  # "3 days ago" shows the state in words, unlike a date
                texts["end"] = (_time_left(end_ms, self._now_ms, widths["end"]), look)
        texts["days"] = (_days(shown.remote, widths.get("days", 0)), "")
        for key, width in widths.items():
            if key == "sign":
                yield from signs(remote)
                yield " " * (BEFORE - SIGNS), ""
                continue
            text, look = texts.get(key, ("", ""))
            text = shorten_middle(text, width) if key == "lock" else cut(text, width)
            room = " " * (width - cell_len(text))
            right = COLUMNS[key].right
            yield (room + text if right else text + room) + " " * GAP, look

    @property
    def hides_dates(self) -> bool:
        """Whether the column with the end dates shows times such as ``3 days ago`` instead."""
        shown = {self._columns[index] for index in self._widths}
        return "end" in shown and "when" not in shown

    def row_look(self, row: int) -> str:
        remote = self._rows[row].remote
        return "" if remote is None else row_look(state_of(remote, self._now_ms))


def describe_row(row: OnLock, age: str, *, with_end: bool) -> str:
    """Return the age of the list, and the values that no column shows; empty without a remote.

    Args:
        row: The row.
        age: The age of the row's list, as text.
        with_end: Whether the text contains the end date.
    """
    if (remote := row.remote) is None:
        return ""
    name, days, end = clean(remote.remote_name or "", 40), "", ""
    if with_end and remote.end_ms:
        end = f"ends {dates.last_day(remote.end_ms, row.zone)}"
    if needs_weekdays(remote.remote_type):
        days = format_days(remote)
    parts = [
        *filter(None, (name, end, days)),
        f"{clean(row.lock.title, 24)} {age}",
        f"ID {remote.id}",
    ]
    if remote.extra_data:
        extra = json.dumps(remote.extra_data, ensure_ascii=False)
        parts.append(f"extra data {clean(extra, 200)}")
    return separator().join(parts)


def _days(remote: Remote, width: int) -> str:
    """Return the weekdays of a recurring remote in the longest form that fits.

    The form ``3 days`` is not used, because users would take it for the remaining time.
    """
    if not needs_weekdays(remote.remote_type):
        return ""
    if without_weekdays(remote):
        forms = [format_days(remote), "none" if remote.week_day is not None else "unknown"]
    else:
        forms = [format_weekdays(remote.week_day or (), short=True)]
    return next((form for form in forms if len(form) <= width), forms[-1])


def _time_left(end_ms: int, now_ms: int, width: int) -> str:
    """Return the time until an end date, such as ``in 41 days``.

    If this text is wider than the column, return ``in 41 d`` or ``3 d ago``, and in a narrow column
    ``41 d`` or ``-3 d``.
    """
    words = dates.distance(end_ms, now_ms)
    if len(words) <= width or not any(map(str.isdigit, words)):
        return words
    count, unit = words.removeprefix("in ").split()[:2]
    left, is_past = f"{count} {'min' if unit.startswith('minute') else unit[0]}", end_ms < now_ms
    if width < _SHORT_WORDS:
        return f"{'-' * is_past}{left}"
    return f"{left} ago" if is_past else f"in {left}"
