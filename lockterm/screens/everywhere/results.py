"""Results from all locks: at once from the last lists, and then from new reads."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.message import Message
from textual.widgets import Static

from lockterm.domain.glyphs import quoted, separator
from lockterm.domain.remote_states import StateFilter, count_states, describe_counts, describe_state
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.errors import StoreError
from lockterm.screens.everywhere.site import Site, Slices
from lockterm.screens.everywhere.table import OnLock, OnLocksTable, row_words
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
"""The maximum number of remotes shown."""

MOST_LOOKED_AT = 20_000
"""The maximum number of records unpacked for their state, because keys wait for it."""

SHOWN_S = 0.25
"""Seconds between updates while locks are read."""

TYPED_S = 0.3
"""Seconds without typing before results are unpacked and counted."""

Search = Callable[[Site, str], Iterator[OnLock | None]]
"""Yields the rows of a site for a text, in order, and sometimes None so that keys are handled."""


class Results(Vertical):
    """The find line, the rows, and the texts about them.

    Args:
        operations: The one door to service and store.
        table: The table of the rows.
        search: Yields the rows to show.
        marks: The marked remotes.
        finds_first: Whether it begins in the find line, which then always stays.
        reads_first: Whether it begins with a read of all locks, unless they were read recently.
    """

    class Shown(Message):
        """Posted when other rows are shown, or another row is selected."""

    def __init__(
        self,
        operations: Operations,
        table: OnLocksTable,
        search: Search,
        marks: Marks[Key, Row],
        *,
        finds_first: bool = False,
        reads_first: bool = False,
    ) -> None:
        super().__init__(id="results")
        self._operations = operations
        self._table = table
        self._search = search
        self._marks = marks
        self._finds_first = finds_first
        self._reads_first = reads_first
        self.site = Site(operations)
        """The known lists of the locks."""
        self.error: StoreError | None = None
        """Why the lock book cannot be read."""
        self.needle = ""
        """The text that is searched for."""
        self.only: StateFilter | None = None
        """The filter on the results; None for all."""
        self._found: Sequence[OnLock] = ()
        """The results, in the order of the search."""
        self.counts: Counter[StateFilter] | None = None
        """State -> number of results; None if not counted yet."""
        self.is_cut = False
        """Whether there is more than is shown."""
        self.is_loaded = False
        """Whether the lists of the last reading are loaded."""
        self._opening: PendingNavigation | None = None
        """Holds keys back until the first row is shown."""
        self._has_news = False
        """Whether lists were read after the last search."""
        self._has_moved = False
        """Whether the cursor was moved since something else was searched for."""
        self._opened: int | None = None
        """The lock that was opened from here."""
        self._changed: set[int] = set()
        """The locks that were changed from here and are to be read again."""

    def compose(self) -> ComposeResult:
        if self._finds_first:
            yield FindLine(stays=True, id="find")
        with Container(id="remotes"):
            yield self._table
            yield StatePanel(self._screen.describe_empty()[0], id="state")
        if not self._finds_first:
            yield FindLine(id="find")
        yield Static(id="row", markup=False)
        yield Pager(self._operations.clock.steady_ms, id="pager")

    @property
    def _screen(self) -> ListScreen[Any]:
        return cast("ListScreen[Any]", self.screen)

    def on_mount(self) -> None:
        """Load the lists that were read before."""
        if self._finds_first:
            self.query_one(FindLine).open()
        else:
            self._table.focus()
        self.load()

    # --- loading -------------------------------------------------------------------------------

    @work(exclusive=True, group="load")
    async def load(self) -> None:
        """Load the lists that were read before, and search them."""
        with opening(self, "what was read last", passes=self._types):
            try:
                await self.site.load()
                gone = [row for row in self._marks.rows if row[0] not in self.site.locks]
                self._marks.drop(gone)
            except StoreError as error:
                self.error = error
            self.is_loaded = True
            await self._find(top=True)
        # Never without a key in low-bandwidth mode.
        is_due = self._operations.remotes.reads_ahead and self.site.is_old
        if is_due and self._reads_first:
            self.read_all()
            return
        if self._changed:
            self.read(self._take_changed())

    @work(exclusive=True, group="find")
    async def find(self, *, top: bool = False) -> None:
        """Show the results from the known lists.

        Args:
            top: Whether the search is new, so that the first row is selected.
        """
        if top:
            with opening(self, "what is found", passes=self._types):
                await self._find(top=True)
        else:
            await self._find(top=False)
        while self._has_news:
            await self._find(top=False)

    def _find_news(self) -> None:
        """Search the new lists; if a search is under way, do it afterwards."""
        finds = (one for one in self.workers if one.group == "find" and one.node is self)
        self._has_news = any(not one.is_finished for one in finds)
        if not self._has_news:
            self.find()

    async def _find(self, *, top: bool) -> None:
        self._has_news = False
        if not self.is_loaded:
            return
        if top:  # what was counted is of something else
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
        """Read locks now, and show results as they arrive.

        Args:
            locks: The locks; None for all of the book.
        """
        clock = asyncio.get_running_loop().time
        due_s = clock() + SHOWN_S

        def news() -> None:
            nonlocal due_s
            if clock() >= due_s:
                self._find_news()
                due_s = clock() + SHOWN_S

        opened = opening(self, "what is read", passes=self._types)
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

    def read_changed(self, lock_ids: Iterable[int]) -> None:
        """Read locks again that were changed from here; until then their lists are behind."""
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
        """Read all locks again, after the lists that were read before are loaded."""
        if self.is_loaded and self.error is None and self.site.locks:
            self.read()
            self.tell()
        elif self.error is not None:
            self.error = None
            self.load()

    @work(exclusive=True, group="again")
    async def look_again(self) -> None:
        """After another screen: read again the lock that was opened, if it was changed."""
        lock_id, self._opened = self._opened, None
        if lock_id is None or lock_id not in self.site.locks or self.site.is_reading:
            return
        if await self._operations.remotes.is_behind(lock_id):
            self.read([self.site.locks[lock_id].lock])

    # --- what is shown -------------------------------------------------------------------------

    @property
    def current(self) -> OnLock | None:
        """The row under the cursor."""
        return self._table.current

    @property
    def rows(self) -> Sequence[OnLock]:
        """The remotes that are shown, from top to bottom."""
        shown = self._table.rows
        return [row for row in shown if row.listing is not None]

    def marked_rows(self) -> Sequence[Row]:
        """Return the rows that may be marked, without unpacking the others."""
        keys = {(lock_id, remote.id) for lock_id, remote in self._marks.rows}
        return [
            (row.lock.lock_id, row.remote)
            for row in self.rows
            if (row.lock.lock_id, row.remote_id) in keys and row.remote is not None
        ]

    @property
    def cursor(self) -> int:
        """The index of the selected remote; -1 if a lock or nothing is selected."""
        row, rows = self.current, self.rows
        return rows.index(row) if row in rows else -1

    def all_rows(self) -> Sequence[Row]:
        """Return all shown rows, in the form that marks use."""
        return [(row.lock.lock_id, row.remote) for row in self.rows if row.remote is not None]

    def note_opened(self, lock: Lock) -> None:
        """Note that a lock's remote is looked at on another screen, which may change it."""
        self._opened = lock.lock_id

    def _show(self, rows: Sequence[OnLock], *, top: bool) -> None:
        if not self.is_running:
            return
        count_after_s = TYPED_S if top else 0.0
        # A lock that was not read was first while there was nothing else.
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
        """Count the states of the rows after some seconds, with pauses for keys."""
        await asyncio.sleep(after_s)
        slices, rows = Slices(), self.rows
        for row in rows:
            _ = row.remote
            await slices.pause()
        remotes = (row.remote for row in rows if row.remote is not None)
        # Where nothing was typed nothing is found: no state has 0 remotes for that.
        self.counts = count_states(remotes, self._operations.now_ms()) if rows else None
        if self.is_running:
            self.tell()

    @work(exclusive=True, group="time")
    async def pass_time(self) -> None:
        """Update rows and counts to the present time; expired rows keep their places."""
        slices, problems = Slices(), dict[str, str]()
        for row in self._search(self.site, self.needle):  # which counts what it goes through
            if row is not None and row.listing is None:
                problems[row.key] = row.problem
            elif row is not None and self.is_cut:
                break  # all is counted before, and of locks that come behind nothing is shown
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
        """Show remotes of one state alone, of all that is found; or all again."""
        self.only = only
        self.find(top=True)

    @property
    def asked_for(self) -> list[str]:
        """Return the search text and the filter as part of a sentence."""
        needle = [quoted(clean(self.needle, 60))] if self.needle else []
        return needle + ([f"the state {quoted(describe_state(self.only))}"] if self.only else [])

    def tell(self) -> None:
        """Describe the rows, and the empty state if there are none."""
        table, panel = self._table, self.query_one(StatePanel)
        table.show_title(self._screen.describe_title())
        panel.display = not table.rows
        if panel.display or self.error is not None:
            panel.say(*self._screen.describe_empty())
        pager, forms = self.query_one(Pager), [*map(self._words, (None, 30, 10, 0))]
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

    def _words(self, longest: int | None) -> str:
        parts, rows = [], self.rows
        if self._marks:
            parts.append(self._marks.words(self.marked_rows()))
        if rows:
            locks = len({row.lock.lock_id for row in rows})
            count = f"the first {len(rows):,}" if self.is_cut else f"{len(rows):,}"
            if self.only is not None:
                count = f"{describe_state(self.only)}: {count}"
            parts.append(f"{count} on {format_count(locks, 'lock')}")
        if self.site.locks:
            parts.append(self.site.words(longest))
        return separator().join(parts)

    def _tell_row(self) -> None:
        """Show the age of the selected row's list, and the values that no column has room for."""
        row, words = self.current, ""
        if row is not None and row.listing is not None:
            words = row_words(row, self.site.age_of(row.listing))
        self.query_one("#row", Static).update(words, layout=False)
        self.post_message(self.Shown())

    # --- called by the screen ------------------------------------------------------------------

    def _types(self, event: events.Key) -> bool:
        return self.query_one(FindLine).types(event)

    def follow_cursor(self) -> None:
        """Describe the row to which the cursor has moved."""
        self._has_moved = True
        self.query_one(Pager).tick()
        self._tell_row()

    def sort_rows(self) -> None:
        """Sort the rows by the title that was clicked."""
        self._table.show_rows(self._found, self._operations.now_ms())
        self._tell_row()

    def search_for(self, needle: str) -> None:
        """Show the remotes that match the typed text."""
        if needle != self.needle:
            self.needle = needle
            self.find(top=True)
