"""The part of the remotes screen that loads, searches and shows the pages of a remote list."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer

from lockterm.config.profile import page_rows
from lockterm.domain.locks import Lock
from lockterm.domain.marks import Key, Marks, Row
from lockterm.domain.remote_states import StateFilter
from lockterm.domain.safe_text import clean
from lockterm.errors import LocktermError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Fetched, Operations
from lockterm.operations.list_state import ListState
from lockterm.operations.remote_list import HELD_S, RemoteList
from lockterm.operations.remotes import AHEAD_S, JUST_READ_S
from lockterm.screens.base import LocktermScreen
from lockterm.screens.remotes.body import RemotesBody
from lockterm.screens.remotes.columns import Arrangement, ColumnsChoice, SortOrder, rows_to_show
from lockterm.screens.remotes.list_text import describe_empty, format_pager, format_title
from lockterm.screens.remotes.table import RemotesTable
from lockterm.terminal.idle import when_idle
from lockterm.terminal.key_queue import PendingNavigation, opening
from lockterm.terminal.patches import own_bindings
from lockterm.widgets.find_line import FindLine
from lockterm.widgets.key_line import KeyLine
from lockterm.widgets.pager import Pager

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote, RemotePage

FLIPPING = frozenset({"next_page", "previous_page", "first_page", "last_page"})
"""The actions that open another page without asking for its number."""

RESIZED_S = 0.3
"""Seconds without a change of the terminal's size before lockterm requests a page of the new size.

Dragging the border of a window resizes the terminal dozens of times.
"""


class RemotePages(Vertical):
    """The pages of a lock's remotes: the table with its panels, the search field, and the pager.

    Args:
        operations: The operations on the service and the local store.
        lock: The lock.
        table: The table of the remotes.
        marks: The marked remotes.
        busy: The current action on each remote, by remote ID.
        book: The lock book as last read; None if it was never read.
    """

    def __init__(
        self,
        operations: Operations,
        lock: Lock,
        table: RemotesTable,
        marks: Marks[Key, Row],
        busy: Mapping[int, str],
        book: Sequence[Lock] | None,
    ) -> None:
        super().__init__(id="pages")
        self._operations = operations
        self.table = table
        """The table of the remotes."""
        self._marks = marks
        self._busy = busy
        self._book = book
        self.list = RemoteList(operations, lock, self._show_list)
        """The list of remotes, with the state of its loading."""
        self._painted = ListState()
        """The state of the list as last painted."""
        self._kind: tuple[str, ...] = ()
        """Why copy, detail and edit are disabled for the selected remote; empty if not determined
        yet."""
        self._cut_name = ""
        """The name that the pager shows because its row has no room for it; otherwise empty."""
        self._has_restorable = False
        """Whether the history has deleted remotes of this lock, which can be restored."""
        self._find_line: FindLine | None = None
        self._resized: Timer | None = None
        self._loading: PendingNavigation | None = None
        self._finding: PendingNavigation | None = None

    def compose(self) -> ComposeResult:
        self.table.choose(self.columns.arrangement)
        self.body = RemotesBody(self._operations, self.list.lock, self.table, self._book)
        yield self.body
        with Horizontal(id="foot"):
            yield Pager(self._operations.clock.steady_ms, id="pager")

    @cached_property
    def columns(self) -> ColumnsChoice:
        """The columns of the table and the sort order of its rows."""
        return ColumnsChoice(self._screen.host.choices)

    @property
    def _screen(self) -> LocktermScreen[Any]:
        return cast("LocktermScreen[Any]", self.screen)

    @property
    def current(self) -> Remote | None:
        """The selected remote; None if there is none."""
        return self.table.selected

    async def on_mount(self) -> None:
        self.watch(self.table, "cursor_row", self._moved, init=False)
        self.list.size = self._wanted_rows
        self._show_pane()
        self.body.show_book()
        if (painted := self.list.show_first()) is not None:
            self.call_after_refresh(painted)
            # This also starts the work that follows each loaded page.
            self.call_after_refresh(self.load, at_most_s=JUST_READ_S)
        else:
            self.load()
        self._show_body()  # the empty state is shown until a page is there
        when_idle(self.query_one("#foot"), self.find_line)

    # --- loading -------------------------------------------------------------------------------

    def flip_to(self, page_no: int, *, held: bool) -> None:
        """Show another page; ``held`` is explained at :meth:`RemoteList.load`."""
        self.list.page_no = page_no
        self.load(held=held)

    @work(exclusive=True, group="page")
    async def load(
        self,
        *,
        fresh: bool = False,
        held: bool = False,
        moving: bool = False,
        at_most_s: float = AHEAD_S,
    ) -> None:
        """Load and show the wanted page.

        Args:
            fresh: Whether to request the page even if it is in memory.
            held: Whether the user holds the paging key down.
            moving: Whether keys move the cursor while the page loads. If so, the selected remote
                stays selected.
            at_most_s: The maximum age, in seconds, of a page in memory that needs no request.
        """
        listed, shown = self.list, self.list.state.page
        if fresh:
            self.body.forget_batteries()
        was_cached = listed.is_cached
        passes = self._flips_or_moves if moving and shown else self._flips
        with opening(self, f"page {listed.page_no}", passes=passes) as self._loading:
            is_there = shown is not None and shown.page_no == listed.page_no
            if is_there and not fresh and listed.go_to is None:
                self._loading.end()  # the wanted page is shown already
            is_read = await listed.load(fresh=fresh, held=held, at_most_s=at_most_s)
            self._loading.has_failed = not is_read
        if not is_read:
            assert listed.state.load.error is not None
            self._screen.keep_refusal(listed.state.load.error)
            return
        if listed.missed is not None:
            find = with_keys("Press {remotes.find} to search the whole lock.")
            self.notify(f"Remote {listed.missed} was not on the pages that lockterm read. {find}")
        self.call_after_refresh(self.fit)  # the terminal's size may have changed
        self.compare_with_journal()
        if not (held and was_cached):
            self.call_after_refresh(listed.read_ahead)
        with self._screen.showing_errors():
            if await listed.note_opened():
                self.body.read_book_if_shown()
        if held and was_cached:
            await asyncio.sleep(HELD_S)
            listed.read_ahead()

    @work(exclusive=True, group="journal")
    async def compare_with_journal(self) -> None:
        """Compare the page with lockterm's changes in the journal, and with the earlier list."""
        await self.list.compare_with_journal()

    def _flips(self, event: events.Key) -> bool:
        """Return whether a key opens another page, so that it need not wait for this one."""
        if not isinstance(self.screen.focused, RemotesTable):
            return False
        return any(binding.action in FLIPPING for binding in own_bindings(self.screen, event.key))

    def _flips_or_moves(self, event: events.Key) -> bool:
        table = self.screen.focused
        moves = isinstance(table, RemotesTable) and bool(own_bindings(table, event.key))
        return moves or self._flips(event)

    # --- page size -----------------------------------------------------------------------------

    @property
    def _wanted_rows(self) -> int:
        """The number of remotes to request per page at the current terminal size."""
        return page_rows(self.list.wanted_size, *self.app.size)

    def follow_terminal(self) -> None:
        """Adapt the panels to the width now, and the rows once the terminal's size is stable."""
        self.call_after_refresh(self._show_pane)
        self.call_after_refresh(self.body.show_book)
        if self._resized is not None:
            self._resized.stop()
        self._resized = self.set_timer(RESIZED_S, self.fit)

    @work(exclusive=True, group="fit")
    async def fit(self, *, asked: bool = False) -> None:
        """Replace the shown page by a page of the wanted size; the same remote stays selected.

        No key waits for this method; keys act on the rows that are shown. The method stops if
        another page is being read, because :meth:`load` calls the method again at its end. A size
        that the service has refused is requested again only if the user asks for it.

        Args:
            asked: Whether the user has chosen the size; if so, an error is shown.
        """
        listed, size = self.list, self._wanted_rows
        before, tried = listed.state.load.seen, 0
        if not (asked or listed.may_have(size)):
            return
        while before is not None and size != listed.size:
            page_no = listed.page_with(self.current, size)
            if page_no == tried or not self._may_replace(before, size):
                return
            tried, seen = page_no, None
            with self._screen.showing_errors() if asked else suppress(LocktermError):
                seen = await listed.read_sized(page_no, size)
            if seen is None or not self._may_replace(before, size):
                return
            was, comes = ({one.id for one in page.value.remotes} for page in (before, seen))
            if self.current is not None and self.current.id in was - comes:
                continue  # the cursor has moved to a row of another page
            listed.show_sized(seen, size)
            self.compare_with_journal()
            self.call_after_refresh(listed.read_ahead)

    def _may_replace(self, before: Fetched[RemotePage], size: int) -> bool:
        """Return whether ``before`` is still shown, ``size`` still wanted, and no page loading."""
        now = self.list.state.load
        is_shown = self.screen.is_active and now.seen is before and not now.busy
        return is_shown and size == self._wanted_rows

    # --- search --------------------------------------------------------------------------------

    def find_line(self) -> FindLine:
        """Return the search field; the first call creates it."""
        if self._find_line is None:
            self._find_line = FindLine(id="find")
            self.query_one("#foot").mount(self._find_line, before=0)
        return self._find_line

    def stop_search(self) -> None:
        """Stop the search and show the results so far."""
        self.workers.cancel_group(self, "search")
        self.list.stop_search()

    @work(exclusive=True, group="search")
    async def search(self, *, again: bool = False) -> None:
        """Search the whole list; see :meth:`RemoteList.search`."""
        with opening(self, "the first matches") as self._finding:
            if again and self.list.state.found is not None:
                self._finding.end()
            if (error := await self.list.search(again=again)) is not None:
                self._screen.keep_refusal(error)

    def _narrow(self, **wanted: str | StateFilter | None) -> None:
        """Apply a search text or a filter to the loaded page; ``search`` covers other pages."""
        self.workers.cancel_group(self, "search")
        self.list.change(**wanted, found=None)

    def show_only(self, only: StateFilter | None) -> None:
        """Show only the remotes of one state, from the whole list; None shows all again."""
        self._narrow(only=only)
        self._search_rest()

    def _search_rest(self) -> None:
        if self.list.state.has_rest:
            self.search()

    @on(FindLine.Changed)
    def _find(self, event: FindLine.Changed) -> None:
        self._narrow(needle=event.value)
        if self.list.state.only is not None and not event.value:
            self._search_rest()  # the state filter applies to the whole list

    @on(FindLine.Submitted)
    def _find_in_rest(self) -> None:
        self._search_rest()

    @on(FindLine.Left)
    def _to_the_rows(self) -> None:
        self.table.focus()

    # --- painting ------------------------------------------------------------------------------

    def rows_to_mark(self) -> list[Row]:
        """Return the shown rows in the form that marks use: pairs of lock ID and remote."""
        return [(self.list.lock.lock_id, row.remote) for row in self.table.rows]

    def _show_list(self) -> None:
        """Show the current state of the list; paint the rows only if they have changed."""
        before, now = self._painted, self.list.state
        self._painted = now
        if not self.is_running:
            return
        if not now.has_rows_of(before):
            if now.page is not None and not now.page.total:
                self._look_for_restorable()
            self.paint_rows(top=now.page_no != before.page_no)
            self.body.read_batteries()
        elif not now.load.shows(before.load):
            self._show_body()
        self.show_pager()
        self._kind = ()
        self._screen.query_one(KeyLine).show_keys()
        is_kept = now.load.kept and now.load.busy and now.load.seen is not before.load.seen
        if is_kept and self._loading is not None:
            self._loading.end()
        is_found = now.found is not None and now.found is not before.found and now.found.remotes
        if is_found and self._finding is not None:
            self._finding.end()

    def show_changes(self) -> None:
        """Read lockterm's changes from the journal again, and show those of the selected remote."""
        self.body.show_changes()
        self._kind = ()

    def paint_rows(self, *, top: bool = False) -> None:
        """Replace the rows of the table; the same remote stays selected.

        Args:
            top: Whether to select the first row if that remote is gone.
        """
        if not self.is_running:  # a write may outlive the screen that began it
            return
        listed, now_ms = self.list, self._operations.now_ms()
        order, batteries = self.columns.arrangement.order, self._operations.batteries
        unlisted = listed.state.unlisted
        self.table.elsewhere = listed.state.elsewhere
        self.table.show_remotes(
            rows_to_show(listed.state, order, listed.zone, now_ms, batteries.levels),
            listed.zone,
            now_ms,
            busy={**(unlisted.words if unlisted else {}), **self._busy},
            batteries=batteries,
            cursor=listed.go_to,
            top=top,
        )
        if self._marks:
            self._marks.see(self.rows_to_mark())
        self._show_body()
        self._show_pane()

    @on(RemotesBody.LevelsRead)
    def write_again(self) -> None:
        """Paint the rows and the pager again, with the current icons and battery levels."""
        self.paint_rows()
        self.show_pager()

    def pass_time(self) -> None:
        """Update dates and states to the current time; the order and the results stay."""
        now_ms, page = self._operations.now_ms(), self.list.state.page
        self.table.pass_time(now_ms)
        if page is not None:
            self.list.counts.note(page, now_ms)
        self.show_pager()
        self._show_pane()

    def _moved(self) -> None:
        """Update everything that depends on the selected remote after the cursor moved."""
        if self._cut_name != self._find_cut_name():
            self.show_pager()
        else:
            self.query_one(Pager).tick()
        self._show_pane()
        kind = tuple(map(self._screen.why_not, ("copy", "detail", "edit")))
        if kind != self._kind:  # only then may keys be enabled or disabled
            self._kind = kind
            self._screen.query_one(KeyLine).show_keys()

    def _find_cut_name(self) -> str:
        """Return the full name to show in the pager; empty if it is shown elsewhere."""
        # In a wide terminal, the side panel shows the name.
        return "" if self.screen.has_class("-wide") else self.table.cut_name

    def _show_pane(self) -> None:
        self.body.show_pane(self.list.zone)

    def _show_body(self) -> None:
        """Show the table, or the empty state if there are no rows."""
        state = self.list.state
        if self.table.row_count:
            self.body.show_table()
        else:
            may = {"may_add": not self._screen.why_not("add"), "may_restore": self._has_restorable}
            self.body.show_empty_state(
                *describe_empty(state, clean(self.list.lock.title, 60), **may)
            )
        self.table.set_class(state.load.stale, "-stale")

    @work(exclusive=True, group="restorable")
    async def _look_for_restorable(self) -> None:
        self._has_restorable = await self.list.has_restorable()
        self._show_body()

    def show_pager(self) -> None:
        """Update the pager below the rows, and the title in the frame of the table."""
        is_framed, counts = self.screen.has_class("-framed"), self.list.counts.describe()
        self.table.show_title(format_title(self.list.state, counts))
        self._cut_name = self._find_cut_name()
        words = format_pager(
            self.list.state,
            self.table.row_count,
            self.columns.arrangement.order,
            self._marks.describe(self.rows_to_mark()) if self._marks else "",
            self._cut_name,
            () if is_framed else counts,
        )
        self.query_one(Pager).show(*words)

    # --- columns -------------------------------------------------------------------------------

    @on(RemotesTable.TitleClicked)
    def _sort_by(self, event: RemotesTable.TitleClicked) -> None:
        """Sort by a column: ascending, then descending, then unsorted."""
        before = self.columns.arrangement
        self.arrange_table(replace(before, order=SortOrder.after(before.order, event.column)))

    def arrange_table(self, chosen: Arrangement | None) -> None:
        """Apply and save an arrangement; if saving fails, it applies to this session only."""
        if chosen is None or chosen == self.columns.arrangement:
            return
        not_kept = self.columns.use(chosen)
        self.table.choose(chosen)
        self.paint_rows()
        self.body.read_batteries()
        self.show_pager()
        if not_kept:
            self.notify(not_kept, title="Columns not saved", severity="warning")
