"""Search results from all locks: first from stored lists, then from the service."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from lockterm.domain.glyphs import quoted, separator
from lockterm.domain.remote_states import StateFilter, count_states, describe_counts, describe_state
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import describe_elsewhere, format_count
from lockterm.domain.text.elsewhere import describe_change
from lockterm.errors import StoreError
from lockterm.keymap.hints import key
from lockterm.screens.everywhere.site import Site, Slices
from lockterm.screens.everywhere.table import OnLock, OnLocksTable, describe_row
from lockterm.terminal.key_queue import PendingNavigation, opening
from lockterm.widgets.find_line import FindLine
from lockterm.widgets.pager import Pager, with_age
from lockterm.widgets.state_panel import StatePanel

if TYPE_CHECKING:
    from lockterm.domain.locks import Lock
    from lockterm.domain.marks import Key, Marks, Row
    from lockterm.operations import Operations
    from lockterm.screens.list_screen import ListScreen

MOST_FOUND = 500
"""The maximum number of remotes in the results."""

MOST_LOOKED_AT = 20_000
"""The maximum number of remotes to unpack when a filter is applied, because keys wait meanwhile."""

SHOWN_S = 0.25
"""Seconds between two updates of the results while locks are being read."""

TYPED_S = 0.3
"""Seconds without typing before lockterm unpacks and counts the results."""

Search = Callable[[Site, str], Iterator[OnLock | None]]
"""A function that yields the rows of a site that match a text, in order. At times, the function
yields None, so that keys can be handled."""


class Results(Vertical):
    """The search field, the table of results, and the texts about the results.

    Args:
        operations: The operations on the service and the local store.
        table: The table that shows the results.
        search: The function that yields the results for a search text.
        marks: The marked remotes.
        finds_first: Whether the search field has the initial focus and always stays open.
        reads_first: Whether to read all locks when the screen opens, unless all lists are recent.
        beside: A widget to the right of the table; None if there is none.
    """

    class Shown(Message):
        """Posted when the table shows other rows, or when another row is selected."""

    def __init__(
        self,
        operations: Operations,
        table: OnLocksTable,
        search: Search,
        marks: Marks[Key, Row],
        *,
        finds_first: bool = False,
        reads_first: bool = False,
        beside: Widget | None = None,
    ) -> None:
        super().__init__(id="results")
        self._operations = operations
        self._table = table
        self._search = search
        self._marks = marks
        self._finds_first = finds_first
        self._reads_first = reads_first
        self._beside = () if beside is None else (beside,)
        self.site = Site(operations)
        """The locks of the lock book, each with its last list of remotes."""
        self.error: StoreError | None = None
        """The error of reading the lock book, or None."""
        self.needle = ""
        """The text to search for."""
        self.only: StateFilter | None = None
        """The state by which the results are filtered; None to show all results."""
        self._found: Sequence[OnLock] = ()
        """All results, in the order in which the search found them."""
        self.counts: Counter[StateFilter] | None = None
        """The number of results by state; None if they are not counted yet."""
        self.is_cut = False
        """Whether the search found more results than the table shows."""
        self.is_loaded = False
        """Whether the stored lists are loaded."""
        self._opening: PendingNavigation | None = None
        """Delays keys until the first row is shown; None if no locks are being read."""
        self._has_news = False
        """Whether new lists arrived while a search was running, so that it must run again."""
        self._has_moved = False
        """Whether the user moved the cursor since the current search began."""
        self._opened: int | None = None
        """The ID of the lock that the user opened on another screen; None if there is none."""
        self._changed: set[int] = set()
        """The IDs of the locks that lockterm changed, and whose lists must be read again."""

    def compose(self) -> ComposeResult:
        if self._finds_first:
            yield FindLine(stays=True, id="find")
        with Horizontal():
            with Container(id="remotes"):
                yield self._table
                yield StatePanel(self._screen.describe_empty()[0], id="state")
            yield from self._beside
        if not self._finds_first:
            yield FindLine(id="find")
        yield Static(id="row", markup=False)
        yield Pager(self._operations.clock.steady_ms, id="pager")

    @property
    def _screen(self) -> ListScreen[Any]:
        return cast("ListScreen[Any]", self.screen)

    def on_mount(self) -> None:
        """Set the initial focus to the search field or the table, and load the stored lists."""
        if self._finds_first:
            self.query_one(FindLine).open()
        else:
            self._table.focus()
        self.load()

    # --- loading -------------------------------------------------------------------------------

    @work(exclusive=True, group="load")
    async def load(self) -> None:
        """Load and search the stored lists; then read all locks if a list is not recent."""
        with opening(self, "the stored lists", passes=self._types):
            try:
                if not self.site.locks:
                    await self.site.load()
                gone = [row for row in self._marks.rows if row[0] not in self.site.locks]
                self._marks.drop(gone)
            except StoreError as error:
                self.error = error
            self.is_loaded = True
            await self._find(top=True)
        await self._show_unseen()
        # In low-bandwidth mode, only a key press reads all locks.
        is_due = self._operations.remotes.reads_ahead and self.site.is_old
        if is_due and self._reads_first:
            self.read_all()
        elif self._changed:
            self.read(self._take_changed())

    @work(exclusive=True, group="find")
    async def find(self, *, top: bool = False) -> None:
        """Search the loaded lists, and show the results.

        Args:
            top: Whether the search is new, so that the first row is selected.
        """
        if top:
            with opening(self, "the search results", passes=self._types):
                await self._find(top=True)
        else:
            await self._find(top=False)
        while self._has_news:
            await self._find(top=False)

    def _find_news(self) -> None:
        """Search the newly read lists now, or after the current search has ended."""
        finds = (one for one in self.workers if one.group == "find" and one.node is self)
        self._has_news = any(not one.is_finished for one in finds)
        if not self._has_news:
            self.find()

    async def _find(self, *, top: bool) -> None:
        self._has_news = False
        if not self.is_loaded:
            return
        if top:  # the counts belong to the previous search
            self.workers.cancel_group(self, "count")
            self.counts = None
        slices, rows = Slices(), list[OnLock]()
        count, looked_at, self.is_cut = 0, 0, False
        only, now_ms = self.only, self._operations.now_ms()
        for row in self._search(self.site, self.needle):
            if row is not None and row.may_be(only, now_ms):
                looked_at += only is not None
                is_shown = row.has_state(only, now_ms)
                count += is_shown and row.listing is not None
                if count > MOST_FOUND or looked_at > MOST_LOOKED_AT:
                    self.is_cut = True
                    break
                if is_shown:
                    rows.append(row)
            await slices.pause()
        self._show(rows, top=top)

    @work(exclusive=True, group="read")
    async def read(self, locks: Sequence[Lock] | None = None) -> None:
        """Read locks from the service, and show the results as they arrive.

        Args:
            locks: The locks to read; None for all locks of the lock book.
        """
        clock = asyncio.get_running_loop().time
        due_s = clock() + SHOWN_S

        def news() -> None:
            nonlocal due_s
            if clock() >= due_s:
                self._find_news()
                due_s = clock() + SHOWN_S

        opened = opening(self, "the new results", passes=self._types)
        if self.rows or self.screen is not self.app.screen:
            opened.end()
        self._opening = opened
        if locks is None:
            self._changed.clear()
        try:
            await self.site.read(news, locks)
            while again := self._take_changed():
                await self.site.read(news, again)
        except StoreError as error:
            self.error = error
        finally:
            self._opening = None
        self.workers.cancel_group(self, "find")
        await self._find(top=False)
        opened.end()
        await self._show_unseen()

    async def _show_unseen(self) -> None:
        """Load and show the changes by others that the user has not seen yet."""
        await self.site.load_unseen()
        if self.is_running and self.site.unseen != self._table.elsewhere:
            self._table.elsewhere = self.site.unseen
            self._table.refresh()
            self.tell()

    def read_changed(self, lock_ids: Iterable[int]) -> None:
        """Mark the lists of changed locks as outdated, and read these locks again."""
        self._changed |= {*lock_ids}
        if not self.is_loaded or self.error is not None:
            return
        self.site.note_changed(self._changed)
        self.find()
        if not self.site.is_reading and (locks := self._take_changed()):
            self.read(locks)

    def _take_changed(self) -> Sequence[Lock]:
        changed, self._changed = self._changed, set()
        return [one.lock for lock_id, one in self.site.locks.items() if lock_id in changed]

    def read_all(self) -> None:
        """Read all locks again; if the lock book could not be loaded, try to load it again."""
        if self.is_loaded and self.error is None and self.site.locks:
            self.read()
            self.tell()
        elif self.error is not None:
            self.error = None
            self.load()

    @work(exclusive=True, group="again")
    async def look_again(self) -> None:
        """Read a lock that the user opened on another screen again, if its list is outdated."""
        if self.site.unseen:  # the user may have looked at the changes
            await self._show_unseen()
        lock_id, self._opened = self._opened, None
        if lock_id is None or lock_id not in self.site.locks or self.site.is_reading:
            return
        if await self._operations.remotes.is_behind(lock_id):
            self.read([self.site.locks[lock_id].lock])

    # --- what is shown -------------------------------------------------------------------------

    @property
    def current(self) -> OnLock | None:
        """The selected row; None if there are no rows."""
        return self._table.current

    @property
    def rows(self) -> Sequence[OnLock]:
        """The shown rows that have a remote, from top to bottom."""
        shown = self._table.rows
        return [row for row in shown if row.listing is not None]

    def marked_rows(self) -> Sequence[Row]:
        """Return the shown rows that are marked, without unpacking the other remotes."""
        keys = {(lock_id, remote.id) for lock_id, remote in self._marks.rows}
        return [
            (row.lock.lock_id, row.remote)
            for row in self.rows
            if (row.lock.lock_id, row.remote_id) in keys and row.remote is not None
        ]

    @property
    def cursor(self) -> int:
        """The index of the selected remote in ``rows``; -1 if no remote is selected."""
        row, rows = self.current, self.rows
        return rows.index(row) if row in rows else -1

    def all_rows(self) -> Sequence[Row]:
        """Return all shown rows in the form that marks use: pairs of lock ID and remote."""
        return [(row.lock.lock_id, row.remote) for row in self.rows if row.remote is not None]

    def note_opened(self, lock: Lock) -> None:
        """Remember that the user opened a lock on another screen, which may change its remotes."""
        self._opened = lock.lock_id

    def _show(self, rows: Sequence[OnLock], *, top: bool) -> None:
        if not self.is_running:
            return
        count_after_s = TYPED_S if top else 0.0
        # The first row was about an unread lock only because no remotes were shown yet.
        stood = self.current
        top = top or (not self._has_moved and stood is not None and stood.listing is None)
        self._found = rows
        self._table.show_rows(rows, self._operations.now_ms(), top=top)
        if self._marks:
            self._marks.see(self.marked_rows())
        self._has_moved = self._has_moved and not top
        self.tell()
        if self.only is None:
            self.count(count_after_s)
        if self._opening is not None and self.rows:
            self._opening.end()

    @work(exclusive=True, group="count")
    async def count(self, after_s: float = 0.0) -> None:
        """Count the results by state after a delay in seconds, with pauses to handle keys."""
        await asyncio.sleep(after_s)
        slices, rows = Slices(), self.rows
        for row in rows:
            _ = row.remote
            await slices.pause()
        remotes = (row.remote for row in rows if row.remote is not None)
        # Without rows, show no counts, because they would all be 0.
        self.counts = count_states(remotes, self._operations.now_ms()) if rows else None
        if self.is_running:
            self.tell()

    @work(exclusive=True, group="time")
    async def pass_time(self) -> None:
        """Update rows and counts to the current time without moving rows."""
        slices, problems = Slices(), dict[str, str]()
        for row in self._search(self.site, self.needle):  # Expiring also counts
            if row is not None and row.listing is None:
                problems[row.key] = row.problem
            elif row is not None and self.is_cut:
                break  # the counts are complete, and later rows are not shown
            await slices.pause()
        table = self._table
        for row in table.rows:
            row.problem = problems.get(row.key, row.problem)
            row.read = self.site.short_age(row.listing) if row.listing is not None else ""
        table.pass_time(self._operations.now_ms())
        self.tell()
        if self.only is None:
            self.count()

    def show_only(self, only: StateFilter | None) -> None:
        """Show only the results of one state; None shows all results."""
        self.only = only
        self.find(top=True)

    @property
    def asked_for(self) -> list[str]:
        """The search text and the filter, each as a phrase for a sentence."""
        needle = [quoted(clean(self.needle, 60))] if self.needle else []
        return needle + ([f"the state {quoted(describe_state(self.only))}"] if self.only else [])

    def tell(self) -> None:
        """Update the texts about the results, and the empty state if there are no results."""
        table, panel = self._table, self.query_one(StatePanel)
        table.show_title(self._screen.describe_title())
        panel.display = not table.rows
        if panel.display or self.error is not None:
            panel.say(*self._screen.describe_empty())
        pager, forms = self.query_one(Pager), [*map(self._describe_results, (None, 30, 10, 0))]
        if self.site.unread == len(self.site.locks):
            pager.show(forms[0], shorter=forms[1:])
        else:
            first, *shorter = [f"{form}{separator()}oldest " for form in forms]
            before, at_ms, after = with_age(first, self.site.oldest_ms())
            states = describe_counts(self.counts) if self.counts and self.only is None else ()
            ends = [f"{after}{separator()}{words}" for words in states]
            fuller = [(form, end) for end in ends for form in (before, *shorter)]
            pager.show(before, at_ms, after, shorter, fuller)
        self._tell_row()

    def _describe_results(self, longest: int | None) -> str:
        parts, rows = [], self.rows
        if self._marks:
            parts.append(self._marks.describe(self.marked_rows()))
        if self.site.unseen:
            parts.append(describe_elsewhere(len(self.site.unseen), key("app.elsewhere")))
        if rows:
            locks = len({row.lock.lock_id for row in rows})
            count = f"the first {len(rows):,}" if self.is_cut else f"{len(rows):,}"
            if self.only is not None:
                count = f"{describe_state(self.only)}: {count}"
            parts.append(f"{count} on {format_count(locks, 'lock')}")
        if self.site.locks:
            parts.append(self.site.describe_reads(longest))
        return separator().join(parts)

    def _tell_row(self) -> None:
        """Show the age of the selected row's list, and the values that no column shows."""
        row, words = self.current, ""
        if row is not None and row.listing is not None:
            words = describe_row(row, self.site.age_of(row.listing))
            if (change := self._table.elsewhere_of(row)) is not None:
                told = describe_change(change, row.zone, self._operations.now_ms())
                words = f"{told}{separator()}{words}"
        self.query_one("#row", Static).update(words, layout=False)
        self.post_message(self.Shown())

    # --- called by the screen ------------------------------------------------------------------

    def _types(self, event: events.Key) -> bool:
        return self.query_one(FindLine).types(event)

    def follow_cursor(self) -> None:
        """Update the texts about the selected row after the cursor moved."""
        self._has_moved = True
        self.query_one(Pager).tick()
        self._tell_row()

    def sort_rows(self) -> None:
        """Sort the rows by the clicked column title."""
        self._table.show_rows(self._found, self._operations.now_ms())
        self._tell_row()

    def search_for(self, needle: str) -> None:
        """Show the remotes that match the typed text."""
        if needle != self.needle:
            self.needle = needle
            self.find(top=True)
