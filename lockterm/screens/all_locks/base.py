"""The base class of the screens that show remotes of all locks, from stored lists and the service.

The rows come first from the stored lists, then from the service.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.widgets import Static

from lockterm import screens
from lockterm.domain.changes_elsewhere import describe_change
from lockterm.domain.glyphs import quoted, separator
from lockterm.domain.marks import RemoteMarks, Row, key_of_remote
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import describe_elsewhere, format_count
from lockterm.domain.text.service import describe_read_only
from lockterm.domain.validity import StateFilter, count_states, describe_counts, describe_state
from lockterm.errors import StoreError
from lockterm.keymap.hints import key
from lockterm.operations import Operations
from lockterm.screens.all_locks.lock_lists import EMPTY_BOOK, LockLists, TimeSlicer
from lockterm.screens.all_locks.table import OnLock, OnLocksTable, describe_row
from lockterm.screens.dialogs.choice import ask_only
from lockterm.screens.list_screen import MARKING, ON_MARKED, ListScreen
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.actions import RemoteActions
from lockterm.screens.remotes.detail import RemoteDetailScreen
from lockterm.terminal.key_queue import PendingNavigation, opening
from lockterm.widgets.data_status import KeyOffers, Pager, describe_error
from lockterm.widgets.text_input import FindLine

if TYPE_CHECKING:
    from lockterm.domain.locks import Lock
    from lockterm.domain.plan import Step
    from lockterm.domain.remotes import Remote

ON_ONE = frozenset({"renew", "replace", "delete"})
"""Actions that apply to the selected remote if no remotes are marked."""

SEARCH_COLUMNS = ("sign", "lock", "name", "number", "valid", "state", "read")
"""The keys of the columns that a search shows, from left to right."""

MOST_FOUND = 500
"""The maximum number of remotes in the results."""

MOST_LOOKED_AT = 20_000
"""The maximum number of remotes to decode when a filter is applied. More would delay keys, which
wait during this work."""

TYPED_S = 0.3
"""Seconds without typing before lockterm decodes and counts the results."""


class AllLocksScreen(RemoteActions, ListScreen[None]):
    """The base class of the screens that show remotes of all locks.

    A subclass implements the search, and provides the text for an empty result.

    Args:
        operations: The operations on the service and the local store.
    """

    on_marked = {**ON_MARKED, "replace": "replace marked"}
    keeps_titles = True
    refresh_key = "everywhere.read"
    change_type = (
        "Press {everywhere.open} to open the remote, and {remote.edit} to change its type."
    )

    columns: ClassVar[Sequence[str]] = SEARCH_COLUMNS
    """The keys of the shown columns, from left to right."""
    finds_first: ClassVar[bool] = False
    """Whether the search field has the initial focus and always stays open."""
    reads_first: ClassVar[bool] = False
    """Whether to read all locks when the screen opens, unless all lists are recent."""

    table: OnLocksTable
    marks: RemoteMarks

    def __init__(self, operations: Operations) -> None:
        marks = RemoteMarks()
        super().__init__(operations, OnLocksTable(self.columns, marks), marks)
        self.lock_lists = LockLists(operations)
        """The locks of the lock book, each with its last list of remotes."""
        self.error: StoreError | None = None
        """The error of reading the lock book, or None."""
        self.needle = ""
        """The text to search for."""
        self.only: StateFilter | None = None
        """The state by which the results are filtered; None to show all results."""
        self.counts: Counter[StateFilter] | None = None
        """The number of results by state; None if there are no results, or if they are not counted
        yet."""
        self.is_cut = False
        """Whether the search found more results than the table shows."""
        self.is_loaded = False
        """Whether the stored lists are loaded."""
        self._found: Sequence[OnLock] = ()
        """All results, in the order in which the search found them."""
        self._opening: PendingNavigation | None = None
        """The pending navigation, which ends when a row is shown. Until then, keys wait. None if no
        locks are being read."""
        self._has_news = False
        """Whether new lists arrived while a search was running, so that a new search is needed."""
        self._has_moved = False
        """Whether the user moved the cursor since the current search began."""
        self._opened: int | None = None
        """The ID of the lock that the user opened on another screen; None if there is none."""
        self._changed: set[int] = set()
        """The IDs of the locks that lockterm changed, and whose lists must be read again."""

    @cached_property
    def marked(self) -> screens.MarkedCommands:
        """The commands on the marked remotes."""
        return screens.MarkedCommands(self)

    def compose_body(self) -> ComposeResult:
        with Vertical(id="results"):
            if self.finds_first:
                yield FindLine(stays=True, id="find")
            with Horizontal():
                with Container(id="remotes"):
                    yield from self.compose_list()
                yield from self.compose_beside()
            if not self.finds_first:
                yield FindLine(id="find")
            yield Static(id="row", markup=False)
            yield Pager(self.operations.clock.steady_ms, id="pager")

    def on_mount(self) -> None:
        """Set the initial focus to the search field or the table, and load the stored lists."""
        if self.finds_first:
            self.query_one(FindLine).open()
        else:
            self.table.focus()
        self.load()

    # --- for subclasses to override ------------------------------------------------------------

    @abstractmethod
    def find_matches(self) -> Iterator[OnLock | None]:
        """Yield the rows of ``lock_lists`` that match ``needle``, in order.

        The method sometimes yields None, so that the app can handle keys.
        """

    @abstractmethod
    def describe_no_match(self) -> tuple[str, KeyOffers]:
        """Return the text for a search without results, and the keys to press next."""

    def compose_beside(self) -> ComposeResult:
        """Compose a panel to the right of the table. By default there is no panel."""
        return ()

    @property
    def asked_for(self) -> list[str]:
        """The search text and the filter, each as a phrase for a sentence."""
        needle = [quoted(clean(self.needle, 60))] if self.needle else []
        return needle + ([f"the state {quoted(describe_state(self.only))}"] if self.only else [])

    # --- loading -------------------------------------------------------------------------------

    @work(exclusive=True, group="load")
    async def load(self, *, again: bool = False) -> None:
        """Load and search the stored lists. Then read all locks if a list is not recent.

        Args:
            again: Whether to load the lists even if another screen has already supplied them.
        """
        with opening(self, "the stored lists", passes=self.edits_search):
            try:
                if again or not self.lock_lists.locks:
                    await self.lock_lists.load()
                gone = [row for row in self.marks.rows if row[0] not in self.lock_lists.locks]
                self.marks.drop(gone)
            except StoreError as error:
                self.error = error
            self.is_loaded = True
            await self._search_and_show(top=True)
        await self._show_unseen()
        # In low-bandwidth mode, only a key press reads all locks.
        is_due = self.operations.remotes.reads_ahead and self.lock_lists.is_old
        if is_due and self.reads_first:
            self.action_read()
        elif self._changed:
            self.read(self._take_changed())

    @work(exclusive=True, group="read")
    async def read(self, locks: Sequence[Lock] | None = None) -> None:
        """Read locks from the service, and show the results as they arrive.

        Args:
            locks: The locks to read; None for all locks of the lock book.
        """
        opened = opening(self, "the new results", passes=self.edits_search)
        if self.rows or self is not self.app.screen:
            opened.end()
        self._opening = opened
        if locks is None:
            self._changed.clear()
        try:
            await self.lock_lists.read(self._request_search, locks)
            while again := self._take_changed():
                await self.lock_lists.read(self._request_search, again)
        except StoreError as error:
            self.error = error
        finally:
            self._opening = None
        self.workers.cancel_group(self, "find")
        await self._search_and_show(top=False)
        opened.end()
        await self._show_unseen()

    def _request_search(self) -> None:
        """Search the newly read lists now, or when the current search has ended."""
        finds = (one for one in self.workers if one.group == "find" and one.node is self)
        self._has_news = any(not one.is_finished for one in finds)
        if not self._has_news:
            self.start_search()

    async def _show_unseen(self) -> None:
        """Load and show the changes by others that the user has not seen yet."""
        await self.lock_lists.load_unseen()
        if self.is_running and self.lock_lists.unseen != self.table.elsewhere:
            self.table.elsewhere = self.lock_lists.unseen
            self.table.refresh()
            self.describe_rows()

    def read_changed(self, lock_ids: Iterable[int]) -> None:
        """Mark the lists of changed locks as outdated, and read these locks again."""
        self._changed |= {*lock_ids}
        if not self.is_loaded or self.error is not None:
            return
        self.lock_lists.note_changed(self._changed)
        self.start_search()
        if not self.lock_lists.is_reading and (locks := self._take_changed()):
            self.read(locks)

    def _take_changed(self) -> Sequence[Lock]:
        changed, self._changed = self._changed, set()
        return [one.lock for lock_id, one in self.lock_lists.locks.items() if lock_id in changed]

    def on_screen_resume(self) -> None:
        """Read again a lock that may have changed, and unmark the rows of finished steps."""
        self._read_opened()
        self.unmark_done()

    @work(exclusive=True, group="again")
    async def _read_opened(self) -> None:
        """Read the lock that the user opened on another screen, if its list is outdated."""
        if self.lock_lists.unseen:  # the user may have looked at the changes
            await self._show_unseen()
        lock_id, self._opened = self._opened, None
        if lock_id is None or lock_id not in self.lock_lists.locks or self.lock_lists.is_reading:
            return
        if await self.operations.kept_lists.is_behind(lock_id):
            self.read([self.lock_lists.locks[lock_id].lock])

    # --- the search ----------------------------------------------------------------------------

    def search_for(self, text: str) -> None:
        if text != self.needle:
            self.needle = text
            self.start_search(top=True)

    def show_only(self, only: StateFilter | None) -> None:
        """Show only the results of one state; None shows all results."""
        self.only = only
        self.start_search(top=True)

    @work(exclusive=True, group="find")
    async def start_search(self, *, top: bool = False) -> None:
        """Search the loaded lists, and show the results.

        Args:
            top: Whether the search is new, so that the first row is selected.
        """
        if top:
            with opening(self, "the search results", passes=self.edits_search):
                await self._search_and_show(top=True)
        else:
            await self._search_and_show(top=False)
        while self._has_news:
            await self._search_and_show(top=False)

    async def _search_and_show(self, *, top: bool) -> None:
        self._has_news = False
        if not self.is_loaded:
            return
        if top:  # the counts belong to the previous search
            self.workers.cancel_group(self, "count")
            self.counts = None
        slices, rows = TimeSlicer(), list[OnLock]()
        count, looked_at, self.is_cut = 0, 0, False
        only, now_ms = self.only, self.operations.now_ms()
        for row in self.find_matches():
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

    def _show(self, rows: Sequence[OnLock], *, top: bool) -> None:
        if not self.is_running:
            return
        count_after_s = TYPED_S if top else 0.0
        # The first row was about an unread lock only because no remotes were shown yet.
        stood = self.table.current
        top = top or (not self._has_moved and stood is not None and stood.listing is None)
        self._found = rows
        self.table.show_rows(rows, self.operations.now_ms(), top=top)
        if self.marks:
            self.marks.see(self.rows_shown)
        self._has_moved = self._has_moved and not top
        self.describe_rows()
        if self.only is None:
            self.count_results(count_after_s)
        if self._opening is not None and self.rows:
            self._opening.end()

    # --- counts and times ----------------------------------------------------------------------

    @work(exclusive=True, group="count")
    async def count_results(self, after_s: float = 0.0) -> None:
        """Count the results by state after a delay in seconds, with pauses to handle keys."""
        await asyncio.sleep(after_s)
        slices, rows = TimeSlicer(), self.rows
        for row in rows:
            _ = row.remote
            await slices.pause()
        remotes = (row.remote for row in rows if row.remote is not None)
        # Without rows, show no counts, because they would all be 0.
        self.counts = count_states(remotes, self.operations.now_ms()) if rows else None
        if self.is_running:
            self.describe_rows()

    def refresh_relative_times(self) -> None:
        if self.is_loaded:
            self._update_times()

    @work(exclusive=True, group="time")
    async def _update_times(self) -> None:
        """Update rows and counts to the current time without moving rows."""
        slices, problems = TimeSlicer(), dict[str, str]()
        for row in self.find_matches():  # Expiring also counts
            if row is not None and row.listing is None:
                problems[row.key] = row.problem
            elif row is not None and self.is_cut:
                break  # the counts are complete, and later rows are not shown
            await slices.pause()
        for row in self.table.rows:
            row.problem = problems.get(row.key, row.problem)
            row.read = self.lock_lists.short_age(row.listing) if row.listing is not None else ""
        self.table.refresh_relative_times(self.operations.now_ms())
        self.describe_rows()
        if self.only is None:
            self.count_results()

    # --- painting ------------------------------------------------------------------------------

    def paint(self) -> None:
        self.start_search()

    @property
    def has_rows(self) -> bool:
        """Whether to show the rows instead of an error."""
        return super().has_rows and self.error is None

    def describe_empty(self) -> tuple[str, KeyOffers]:
        if self.error is not None:
            return describe_error(self.error), {"{everywhere.read}": "try again", "Esc": "back"}
        if not self.is_loaded:
            return "Reading the stored lists ...", {}
        return self.describe_no_match()

    def describe_rows(self) -> None:
        """Update the texts about the results, and the empty state if there are no results."""
        self.show_list()
        pager, forms = self.query_one(Pager), [*map(self._describe_results, (None, 30, 10, 0))]
        if self.lock_lists.unread == len(self.lock_lists.locks):
            pager.show([(form, None) for form in forms])
        else:
            states = describe_counts(self.counts) if self.counts and self.only is None else ()
            ends = [*(f"{separator()}{words}" for words in states), ""]
            aged = [(f"{form}{separator()}oldest ", end) for end in ends for form in forms]
            pager.show(aged, self.lock_lists.oldest_ms())
        self.describe_row()

    def _describe_results(self, longest: int | None) -> str:
        parts, rows = [], self.rows
        if self.marks:
            parts.append(self.marks.describe(self.rows_shown))
        if self.lock_lists.unseen:
            parts.append(describe_elsewhere(len(self.lock_lists.unseen), key("app.elsewhere")))
        if rows:
            locks = len({row.lock.lock_id for row in rows})
            count = f"the first {len(rows):,}" if self.is_cut else f"{len(rows):,}"
            if self.only is not None:
                count = f"{describe_state(self.only)}: {count}"
            parts.append(f"{count} on {format_count(locks, 'lock')}")
        if self.lock_lists.locks:
            parts.append(self.lock_lists.describe_reads(longest))
        return separator().join(parts)

    def describe_row(self) -> None:
        """Show the age of the selected row's list, and the values that no column shows."""
        row, row_text = self.table.current, ""
        if row is not None and row.listing is not None:
            row_text = describe_row(
                row, self.lock_lists.age_of(row.listing), with_end=self.table.hides_dates
            )
            if (change := self.table.elsewhere_of(row)) is not None:
                change_text = describe_change(change, row.zone, self.operations.now_ms())
                row_text = f"{change_text}{separator()}{row_text}"
        self.query_one("#row", Static).update(row_text, layout=False)
        self.refresh_bindings()

    def follow_cursor(self) -> None:
        self._has_moved = True
        self.query_one(Pager).tick()
        self.describe_row()

    def sort_rows(self) -> None:
        self.table.show_rows(self._found, self.operations.now_ms())
        self.describe_row()

    def mark_busy(self, lock_id: int, remote_id: int, word: str) -> None:
        busy = self.table.busy[lock_id]
        busy.pop(remote_id, None)
        if word:
            busy[remote_id] = word
        if self.is_attached:
            self.table.refresh()

    # --- what the actions act on ---------------------------------------------------------------

    @property
    def current(self) -> Remote | None:
        """The remote of the selected row; None if the row has no remote."""
        row = self.table.current
        return None if row is None else row.remote

    @property
    def current_lock(self) -> Lock:
        row = self.table.current
        assert row is not None
        return row.lock

    @property
    def locks(self) -> Mapping[int, Lock]:
        return {lock_id: one.lock for lock_id, one in self.lock_lists.locks.items()}

    @property
    def rows(self) -> Sequence[OnLock]:
        """The shown rows that have a remote, from top to bottom."""
        return [row for row in self.table.rows if row.listing is not None]

    @property
    def rows_to_mark(self) -> Sequence[Row]:
        return [(row.lock.lock_id, row.remote) for row in self.rows if row.remote is not None]

    @property
    def rows_shown(self) -> Sequence[Row]:
        """The shown rows that are marked, found without decoding the other remotes."""
        keys = {(lock_id, remote.id) for lock_id, remote in self.marks.rows}
        return [
            (row.lock.lock_id, row.remote)
            for row in self.rows
            if (row.lock.lock_id, row.remote_id) in keys and row.remote is not None
        ]

    @property
    def row_to_mark(self) -> Row | None:
        remote = self.current
        return None if remote is None else (self.current_lock.lock_id, remote)

    @property
    def cursor_place(self) -> int:
        row, rows = self.table.current, self.rows
        return rows.index(row) if row in rows else -1

    def key_of_step(self, step: Step) -> Hashable | None:
        return key_of_remote(step)

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        row = self.table.current
        if action == "open" and row is None:
            return "No row is selected."
        if action in ON_ONE and not self.marks:
            if self.current is None:
                return "No remote is selected."
            return super().disabled_reason(action)
        if action == "replace" and self.operations.profile.read_only:
            return describe_read_only(self.operations.profile.name)
        is_remote = row is not None and row.remote_id is not None
        if not is_remote and (action == "mark" or (action == "mark_range" and self.marks)):
            return "The selected row has no remote with an ID."
        if action == "mark_all" and not self.rows:
            return "There is nothing to mark."
        if action in MARKING:
            return self.why_no_mark(action)
        is_empty = self.is_loaded and self.error is None and not self.lock_lists.locks
        return EMPTY_BOOK if action == "read" and is_empty else ""

    # --- actions -------------------------------------------------------------------------------

    def action_open(self) -> None:
        """Open the selected remote, or the lock's remotes if the row has no remote with an ID."""
        row = self.table.current
        if row is None:
            return
        self._opened = row.lock.lock_id
        if row.remote is not None and row.remote.id is not None:
            title = row.remote.remote_name or f"remote {row.remote.id}"
            screen = RemoteDetailScreen(self.operations, row.lock, row.remote.id, title)
            self.app.push_screen(screen)
        else:
            self.app.push_screen(RemotesScreen(self.operations, row.lock))

    def action_filter(self) -> None:
        question = "Show remotes in which state?"
        ask_only(self.app, question, self.counts, self.only, self.show_only)

    def action_read(self) -> None:
        """Read all locks again. If the lock book could not be loaded, try to load it again."""
        if self.is_loaded and self.error is None and self.lock_lists.locks:
            self.read()
            self.describe_rows()
        elif self.error is not None:
            self.error = None
            self.load(again=True)

    def action_mark_all(self) -> None:
        super().action_mark_all()
        if self.is_cut:
            warning = f"lockterm marked only the {len(self.rows):,} rows that are shown."
            self.notify(warning, title="Mark all", severity="warning")

    def action_renew(self) -> None:
        if self.marks:
            self.marked.renew()
        else:
            super().action_renew()

    def action_replace(self) -> None:
        if self.marks:
            self.marked.replace_fobs()
        else:
            super().action_replace()

    def action_delete(self) -> None:
        if self.marks:
            self.marked.delete(self.lock_lists.unread_steps())
        else:
            super().action_delete()

    def action_act_on_marked(self) -> None:
        self.marked.act()

    def action_back(self) -> None:
        """Clear the search, or else the filter, or else the marks, or else go back.

        A search field that always stays open clears the search itself.
        """
        if self.needle and not self.finds_first:
            self.query_one(FindLine).action_close()
        elif self.only is not None:
            self.show_only(None)
        elif self.marks:
            self.action_unmark_all()
        else:
            self.dismiss(None)
