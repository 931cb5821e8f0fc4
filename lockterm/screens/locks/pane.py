"""The panel to the right of the lock book, with data of the selected lock from the local store.

Only a terminal with room for the panel loads this module, because it imports the history screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import tzinfo

from textual import work
from textual.content import Content
from textual.widget import Widget

from lockterm.domain import dates, glyphs
from lockterm.domain.listing import Ends
from lockterm.domain.locks import Lock
from lockterm.domain.operation import HistoryLine, Selection
from lockterm.domain.remotes import Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import describe_age, format_count
from lockterm.domain.text.remote import format_remote
from lockterm.domain.validity import RemoteState
from lockterm.errors import StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.screens.history.table import format_line
from lockterm.screens.locks.table import describe_voice, opened
from lockterm.widgets.cells import Part, cut, join_parts

MOST_ENDS = 5
"""The maximum number of remotes to list under "Next to expire"."""

MOST_CHANGES = 5
"""The maximum number of changes to list, starting with the latest."""


_STATES = (
    RemoteState.OPEN,
    RemoteState.AHEAD,
    RemoteState.WEEK,
    RemoteState.MONTH,
    RemoteState.ENDED,
    RemoteState.UNCLEAR,
)
"""The states that the panel counts, in the order of the bar and of the lines below it."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """The data about a lock in the local store."""

    ends: Ends | None
    """The numbers of remotes by state; None if no complete list is stored."""
    next_ends: Sequence[Remote]
    """The remotes that expire next, the earliest end first."""
    changes: Sequence[HistoryLine]
    """The last changes that lockterm sent to the lock, the newest first."""


class LockPane(Widget):
    """A panel about a lock: remotes by state, next end dates, latest changes, and voice.

    Args:
        operations: The operations on the service and the local store.
    """

    def __init__(self, operations: Operations) -> None:
        super().__init__(id="lock-pane")
        self._operations = operations
        self._lock: Lock | None = None
        self._unconfirmed = 0
        self._kept: _Kept | None = None

    def show_lock(self, lock: Lock | None, unconfirmed: int) -> None:
        """Show a lock of the lock book, or nothing.

        Args:
            lock: The lock to show; None for an empty panel.
            unconfirmed: The number of unconfirmed changes of the lock.
        """
        if lock is None or self._lock is None or lock.lock_id != self._lock.lock_id:
            self._kept = None
        self._lock, self._unconfirmed = lock, unconfirmed
        self.border_title = Content("" if lock is None else clean(lock.title, 60))
        if lock is not None:
            self.read_store(lock)

    @work(exclusive=True, group="lock pane")
    async def read_store(self, lock: Lock) -> None:
        """Read the data of a lock from the local store in a worker, and show the data."""
        with suppress(StoreError):  # the lock book and the history report the error
            now_ms = self._operations.now_ms()
            listing = await self._operations.kept_lists.find(lock.lock_id)
            ends, coming = None, list[Remote]()
            if listing is not None:
                ends = await asyncio.to_thread(listing.count_states, now_ms)
                places = await asyncio.to_thread(listing.next_ends, now_ms, MOST_ENDS)
                coming = [listing.remote(place) for place in places]
            changes = await self._operations.journal.lines(
                Selection(lock.lock_id), most=MOST_CHANGES
            )
            self._kept = _Kept(ends, coming, changes)
            self.refresh()

    def render(self) -> Content:
        lock, stored = self._lock, self._kept
        if lock is None:
            return Content("")
        width, now_ms = self.content_size.width, self._operations.machine_ms()
        zone = self._operations.zone(lock)
        parts = [(f"{cut(_identity(lock), width)}\n", "dim")]
        parts.append((f"Last viewed: {opened(lock.opened_ms, now_ms)}\n", "dim"))
        if stored is not None:
            if stored.ends is None:
                parts.append(("\nThe remotes have not been read completely yet.\n", "dim"))
                parts.append((with_keys("Press {app.what_ends} to read all locks.\n"), ""))
            else:
                parts += _states(stored.ends, now_ms, width)
                parts += _ends(stored.next_ends, zone, now_ms, width)
            parts += _changes(stored.changes, zone, now_ms, width)
        if lock.voice:
            voice = f"{describe_voice(lock.voice)}, {lock.voice_since(zone, now_ms)}"
            parts += _section("Voice", [voice], width)
        if self._unconfirmed:
            text = f"Unconfirmed changes: {self._unconfirmed:,}"
            parts.append((f"\n{text}\n", RemoteState.UNCLEAR.look))
        return join_parts(parts, self.app.theme_variables)


def _identity(lock: Lock) -> str:
    """Return the values that identify a lock as text: ID, alias, vendor and model, time zone."""
    model = " ".join(filter(None, (clean(lock.vendor, 20), clean(lock.model, 20))))
    known = str(lock.lock_id), clean(lock.alias, 40), model, clean(lock.zone, 40)
    return glyphs.separator().join(filter(None, known))


def _states(ends: Ends, now_ms: int, width: int) -> list[Part]:
    """Return the number of remotes in each state as bar and text, and the age of the list."""
    total = ends.counts.total()
    counts = {state: ends.counts[state] for state in _STATES if ends.counts[state]}
    parts = [("\n", ""), *_bar(counts, total, width)]
    digits = len(f"{total:,}")
    for state, count in counts.items():
        parts.append((f"{state.sign} {count:>{digits},} {state.counted}\n", state.look))
    age = describe_age(ends.at_ms, now_ms, changed=ends.changed)
    # This text is not cut, because it must show whether the list is up to date.
    return [*parts, (f"{format_count(total, 'remote')}, {age}\n", "dim")]


def _bar(counts: Mapping[RemoteState, int], total: int, width: int) -> list[Part]:
    """Return a bar of states, in which each state gets at least one cell.

    The state with the most remotes also gets the cells that are left over.

    Args:
        counts: The number of remotes of each state that occurs.
        total: The number of all remotes.
        width: The width of the bar, in cells.
    """
    if not total:
        return []
    full, light = glyphs.bar_cells()
    cells = {state: max(count * width // total, 1) for state, count in counts.items()}
    cells[max(counts, key=counts.__getitem__)] += width - sum(cells.values())
    looks = {state: state.look for state in counts} | {RemoteState.OPEN: "dim"}
    parts = [(light if one is RemoteState.ENDED else full, one) for one in counts]
    return [*((cell * cells[one], looks[one]) for cell, one in parts), ("\n", "")]


def _section(title: str, lines: Iterable[str], width: int) -> list[Part]:
    """Return a title and the lines below it, each cut to the width; empty if there are no lines."""
    rows = [(f" {cut(text, width - 1)}\n", "") for text in lines]
    return [(f"\n{title}\n", "bold"), *rows] if rows else []


def _ends(remotes: Sequence[Remote], zone: tzinfo, now_ms: int, width: int) -> list[Part]:
    lines = (
        f"{dates.recent(one.end_ms or 0, zone, now_ms)}  {format_remote(one)}" for one in remotes
    )
    return _section("Next to expire", lines, width)


def _changes(lines: Sequence[HistoryLine], zone: tzinfo, now_ms: int, width: int) -> list[Part]:
    texts = (format_line(line, zone, now_ms, with_target=True) for line in lines)
    return _section("Your changes", texts, width)
