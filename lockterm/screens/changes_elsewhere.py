"""The screen with changes to remotes that lockterm did not send from this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from datetime import tzinfo

from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.widgets import Static

from lockterm.domain import dates
from lockterm.domain.changes_elsewhere import (
    NOT_KEPT,
    ChangeElsewhere,
    ChangeKind,
    describe_change,
    describe_kind,
    describe_values,
)
from lockterm.domain.locks import Lock
from lockterm.domain.names import fold_text
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.text.amount import describe_none, format_count
from lockterm.domain.validity import RemoteState
from lockterm.errors import StoreError
from lockterm.operations import Operations
from lockterm.screens.list_screen import ListScreen
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.detail import RemoteDetailScreen
from lockterm.terminal.key_queue import opening
from lockterm.widgets.actions import bindings
from lockterm.widgets.cells import shorten_middle
from lockterm.widgets.data_status import KeyOffers
from lockterm.widgets.row_table import Column, LazyRows, RowTable
from lockterm.widgets.text_input import FindLine

_FIRST = 100
"""The number of changes that the screen loads and shows before it loads the others."""

_WHEN = 12
"""The width of the column with the times, in cells."""

_REMOTE = 3
"""The index of the column with the names of remotes."""

_WIDEST = 120
"""The maximum width of the column with the changed values, in cells."""


class ElsewhereTable(RowTable):
    """The table of changes by others: icon if not seen, time, kind, remote, lock, and values."""

    def __init__(self) -> None:
        super().__init__(
            Column("", most=1, least=1),
            Column("Found", most=_WHEN, least=_WHEN),
            Column("What", most=24, least=12),
            Column("Remote", most=60, least=12, good=18),
            Column("Lock", most=40, least=10, rank=1),
            Column("Changed", most=_WIDEST, least=30, rank=2),
            id="elsewhere",
        )
        self._changes: Mapping[str, ChangeElsewhere] = {}
        self._locks: Mapping[int, Lock] = {}
        self._zones: Mapping[str, tzinfo] = {}
        self._zone: tzinfo | None = None
        self._now_ms = 0
        self._widest: Sequence[int] = ()

    def note_changes(
        self,
        changes: Sequence[ChangeElsewhere],
        locks: Mapping[int, Lock],
        zones: Mapping[str, tzinfo],
        zone: tzinfo,
    ) -> None:
        """Compute the column widths from all changes, so that they stay the same during a search.

        Args:
            changes: All changes that were loaded.
            locks: The locks by ID.
            zones: The time zones by their names in the lock book, for the changed values.
            zone: The time zone for the times at which lists were read.
        """
        self._locks, self._zones, self._zone = locks, zones, zone
        kinds = {describe_kind(one) for one in changes}
        names = {clean(one.name, LONGEST_CELL) for one in changes}
        titles = {clean(locks[one].title, LONGEST_CELL) for one in {one.lock_id for one in changes}}
        widths = (max(map(cell_len, one), default=0) for one in (kinds, names, titles))
        self._widest = 1, _WHEN, *widths, _WIDEST

    def show_changes(self, changes: Sequence[ChangeElsewhere], now_ms: int) -> None:
        """Replace the rows. The same change stays selected.

        Args:
            changes: The changes in display order.
            now_ms: The current time in milliseconds.
        """
        self._now_ms = now_ms
        self._changes = {one.key: one for one in changes}
        self.show(LazyRows(self._changes, self._cells))

    @property
    def current(self) -> ChangeElsewhere | None:
        """The selected change; None in an empty table."""
        return self._changes.get(self.highlighted or "")

    def widest(self) -> Sequence[int]:
        """Return the width of each column's content in cells.

        The column with the changed values always gets its maximum width.
        """
        return self._widest

    def row_look(self, row: int) -> str:
        return RemoteState.ENDED.look if self._changes[self._keys[row]].is_seen else ""

    def _cells(self, change: ChangeElsewhere) -> tuple[str, ...]:
        assert self._zone is not None
        lock = self._locks[change.lock_id]
        return (
            "" if change.is_seen else change.sign,
            dates.recent(change.until_ms, self._zone, self._now_ms),
            describe_kind(change),
            shorten_middle(clean(change.name, LONGEST_CELL), self._widths[_REMOTE]),
            clean(lock.title, LONGEST_CELL),
            describe_values(change, self._zones[lock.zone]),
        )


def _fold_texts(changes: Sequence[ChangeElsewhere], book: Mapping[int, Lock]) -> list[str]:
    """Return the searchable text of each change: remote, lock and kind of change."""
    return [
        fold_text(f"{one.name} {book[one.lock_id].title} {describe_kind(one)}") for one in changes
    ]


class ElsewhereScreen(ListScreen[None]):
    """The screen that lists changes by others on all locks, the newest first.

    When the user leaves the screen, its changes count as seen, and other screens no longer show an
    icon for them.

    Args:
        operations: The operations on the service and the local store.
    """

    BINDINGS = bindings("elsewhere")

    table: ElsewhereTable

    def __init__(self, operations: Operations) -> None:
        super().__init__(operations, ElsewhereTable())
        self._changes: Sequence[ChangeElsewhere] | None = None
        self._texts: Sequence[str] = ()
        """The searchable text of each change."""
        self._book: dict[int, Lock] = {}
        self._wanted = ""
        self._progress = ""

    def breadcrumbs(self) -> tuple[str, ...]:
        return ("Changed elsewhere",)

    def compose_body(self) -> ComposeResult:
        yield from self.compose_list()
        yield FindLine(id="find")
        yield Static(id="row", markup=False)
        yield Static(id="about", markup=False)

    def on_mount(self) -> None:
        self.load()

    # --- loading -------------------------------------------------------------------------------

    @work(exclusive=True, group="load")
    async def load(self) -> None:
        """Load the changes from the local store: first the latest ones, then all."""
        with opening(self, "the changes"):
            await self._load(_FIRST)
        if len(self._changes or ()) == _FIRST:
            await self._load()

    async def _load(self, most: int = -1) -> None:
        changes = await self.operations.kept_lists.changes(most=most)
        if not self._book:
            with self.showing_errors():
                self._book = {lock.lock_id: lock for lock in await self.operations.locks.all()}
        self._book |= {
            one.lock_id: Lock(one.lock_id) for one in changes if one.lock_id not in self._book
        }
        self._texts = await asyncio.to_thread(_fold_texts, changes, self._book)
        self._changes = changes
        locks = {lock.zone: lock for lock in self._book.values()}  # one lock for each zone
        zones = {zone: self.operations.zone(lock) for zone, lock in locks.items()}
        self.table.note_changes(changes, self._book, zones, self.operations.profile.zone)
        self.paint()

    @work(exclusive=True, group="read")
    async def read_all(self) -> None:
        """Read all locks of the lock book, because their lists may show more changes by others."""
        done = problems = 0
        try:
            async with aclosing(self.operations.all_locks.read()) as reading:
                async for one in reading:
                    done, problems = done + 1, problems + bool(one.problem)
                    self._progress = f"read {done:,} of {len(self._book):,}"
                    self.describe_rows()
            self._progress = f"{format_count(problems, 'lock')} not read" if problems else ""
        except StoreError as error:
            self.tell(error)
        await self._load()

    # --- painting ------------------------------------------------------------------------------

    def paint(self) -> None:
        words = fold_text(self._wanted).split()
        shown = [
            one
            for one, text in zip(self._changes or (), self._texts, strict=True)
            if all(word in text for word in words)
        ]
        self.table.show_changes(shown, self.operations.machine_ms())
        self.show_list()
        self.describe_rows()

    def refresh_relative_times(self) -> None:
        """Do nothing, because the rows show no ages or states that change with time."""

    def describe_empty(self) -> tuple[str, KeyOffers]:
        if self._changes is None:
            return "Reading the changes ...", {}
        if self._changes:
            none = describe_none(len(self._changes), "change", "matches", "does not match")
            return f"{none}.", {"Esc": "show all"}
        if not self.operations.kept_lists.is_kept:
            return NOT_KEPT, {"Esc": "back"}
        return (
            "No changes by others. Each time lockterm reads a lock, it compares the new list with"
            " the previous one. This screen lists what others changed.",
            {"{elsewhere.read}": "read all locks", "Esc": "back"},
        )

    def describe_rows(self) -> None:
        changes = self._changes or ()
        unseen = sum(not one.is_seen for one in changes)
        counts = f"{format_count(len(changes), 'change')} by others, {unseen:,} not seen yet"
        zone = f"times in {clean(self.operations.profile.zone, 100)}"
        parts = [self._progress, *([counts, zone] if changes else [])]
        self.query_one("#about", Static).update("   ".join(filter(None, parts)), layout=False)
        change, row_text = self.table.current, ""
        if change is not None and self.table.row_count:
            lock = self._book[change.lock_id]
            now_ms = self.operations.machine_ms()
            change_text = describe_change(
                change, self.operations.zone(lock), now_ms, with_head=False
            )
            row_text = f"{clean(change.name, 100)} on {clean(lock.title, 40)}: {change_text}"
        self.query_one("#row", Static).update(row_text, layout=False)
        self.refresh_bindings()

    def search_for(self, text: str) -> None:
        if text != self._wanted:
            self._wanted = text
            self.paint()

    # --- actions -------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        has_row = self.table.row_count > 0
        return "No change is selected." if action == "open" and not has_row else ""

    def action_open(self) -> None:
        """Open the remote of the selected change.

        If that remote is gone, open the lock's remotes.
        """
        if (change := self.table.current) is None:
            return
        lock = self._book[change.lock_id]
        if change.what is ChangeKind.GONE:
            self.app.push_screen(RemotesScreen(self.operations, lock))
        else:
            remote_id, title = change.remote_id, change.name
            self.app.push_screen(RemoteDetailScreen(self.operations, lock, remote_id, title))

    def action_read(self) -> None:
        self.read_all()

    async def action_back(self) -> None:
        """Clear the search. If there is no search, mark the changes as seen and go back."""
        if self._wanted:
            self.query_one(FindLine).action_close()
            return
        if self._changes:
            await self.operations.kept_lists.note_seen(self._changes[0].until_ms)
        self.dismiss(None)
