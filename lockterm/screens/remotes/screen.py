"""The screen with the remotes of a lock, page by page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.reactive import var

from lockterm import screens
from lockterm.domain.callbacks import ignore
from lockterm.domain.dates import Clock
from lockterm.domain.locks import Lock
from lockterm.domain.marks import RemoteMarks, Row, key_of_remote
from lockterm.domain.safe_text import clean
from lockterm.domain.validity import StateFilter
from lockterm.errors import StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.operations.batteries import NOT_REPORTED
from lockterm.operations.list_state import ListState
from lockterm.operations.remote_list import HELD_S, HeldKey, RemoteList
from lockterm.operations.remotes import AHEAD_S, JUST_READ_S
from lockterm.screens.list_screen import MARKING, ListScreen
from lockterm.screens.remotes.actions import RemoteActions
from lockterm.screens.remotes.columns import (
    KEPT_AS,
    Arrangement,
    SortOrder,
    rows_to_show,
    save_arrangement,
)
from lockterm.screens.remotes.layout import PageSize, SidePanels
from lockterm.screens.remotes.list_text import (
    describe_empty,
    format_pager,
    format_titles,
    why_no_page,
)
from lockterm.screens.remotes.table import RemotesTable
from lockterm.terminal.key_queue import PendingNavigation, opening, opens, when_idle
from lockterm.terminal.patches import own_bindings
from lockterm.widgets.actions import bindings
from lockterm.widgets.data_status import KeyOffers, Pager
from lockterm.widgets.header_footer import KeyLine
from lockterm.widgets.text_input import FindLine

if TYPE_CHECKING:
    from lockterm.domain.operation import Operation
    from lockterm.domain.plan import Step
    from lockterm.domain.remotes import Remote

FLIPPING = frozenset({"next_page", "previous_page", "first_page", "last_page"})
"""The actions that open another page without asking for its number."""


class RemotesScreen(RemoteActions, SidePanels, PageSize, ListScreen[None]):
    """The screen with the remotes of a lock, in the pages that the service returns.

    Args:
        operations: The operations on the service and the local store.
        lock_entry: The lock, with the values of its lock book entry if it has one.
        open_book: A function that opens the lock book when the user goes back. The function is used
            if no screen is below this one, for example after lockterm was started with this lock.
        book: The lock book as last read; None if it was never read.
    """

    BINDINGS = bindings("remotes")

    row_action = "detail"
    keeps_titles = True
    refresh_key = "remotes.refresh"
    change_type = "Press {remotes.edit} to change the type."

    lock_entry: Lock
    remotes: RemoteList
    table: RemotesTable
    marks: RemoteMarks

    shown: var[ListState] = var(ListState, init=False)
    """The state of the list as last shown. The list itself may already be loading again."""

    def __init__(
        self,
        operations: Operations,
        lock_entry: Lock,
        open_book: Callable[[], None] = ignore,
        book: Sequence[Lock] | None = None,
    ) -> None:
        marks = RemoteMarks()
        super().__init__(operations, RemotesTable(lock_entry.lock_id, marks, id="table"), marks)
        self.lock_entry = lock_entry
        self.book = book
        self.open_book = open_book
        self.remotes = RemoteList(operations, lock_entry, self._list_changed)
        """The list of remotes, with the state of its loading."""
        self._flip = HeldKey(Clock())
        self._busy: dict[int, str] = {}
        """Maps remote IDs to the current action on the remote, such as ``deleting``."""
        self._reasons: tuple[str, ...] = ()
        """Why copy, detail and edit are disabled for the selected remote; empty if not determined
        yet."""
        self._cut_name = ""
        """The name that the pager shows because its row has no room for it; otherwise empty."""
        self._has_restorable = False
        """Whether the history has deleted remotes of this lock, which can be restored."""
        self._find_line: FindLine | None = None
        self._finding: PendingNavigation | None = None

    @cached_property
    def marked(self) -> screens.MarkedCommands:
        """The commands on the marked remotes."""
        return screens.MarkedCommands(self)

    def breadcrumbs(self) -> tuple[str, ...]:
        return ("Locks", self.lock_entry.title, "Remotes")

    def compose_body(self) -> ComposeResult:
        self.table.arrangement = Arrangement.read(self.host.choices.get(KEPT_AS))
        with Horizontal(id="remotes"):
            yield from self.compose_list()
        with Horizontal(id="foot"):
            yield Pager(self.operations.clock.steady_ms, id="pager")

    def on_mount(self) -> None:
        """Show the first page if it is available, and read it otherwise."""
        self.remotes.size = self.wanted_rows
        self.show_pane()
        self.show_book()
        if (painted := self.remotes.show_first()) is not None:
            self.call_after_refresh(painted)
            # This also starts the work that follows each loaded page.
            self.call_after_refresh(self.load, at_most_s=JUST_READ_S)
        else:
            self.load()
        self.show_list()  # the empty state is shown until a page is there
        when_idle(self.query_one("#foot"), self.find_line)

    def on_resize(self) -> None:
        self.call_after_refresh(self.read_batteries)  # their column may fit now

    # --- loading -------------------------------------------------------------------------------

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
            held: Whether the user holds the paging key down; see :meth:`RemoteList.load`.
            moving: Whether keys may move the cursor while the page loads. The remote to which
                they move the cursor stays selected.
            at_most_s: The maximum age, in seconds, at which a page in memory is shown without a
                request.
        """
        listed, shown = self.remotes, self.remotes.state.page
        if fresh:
            self.workers.cancel_group(self, "battery")
            self.operations.batteries.forget()
        was_cached = listed.is_cached
        passes = self._flips_or_moves if moving and shown else self._flips
        with opening(self, f"page {listed.page_no}", passes=passes) as opened:
            is_there = shown is not None and shown.page_no == listed.page_no
            if is_there and not fresh and listed.go_to is None:
                opened.end()  # the wanted page is shown already
            is_read = await listed.load(
                fresh=fresh, held=held, at_most_s=at_most_s, kept_shown=opened.end
            )
            opened.has_failed = not is_read
        if not is_read:
            assert listed.state.load.error is not None
            self.keep_refusal(listed.state.load.error)
            return
        if listed.missed is not None:
            find = with_keys("Press {remotes.find} to search the whole lock.")
            self.notify(f"Remote {listed.missed} was not on the pages that lockterm read. {find}")
        self.call_after_refresh(self.fit)  # the terminal's size may have changed
        self.compare_with_journal()
        if not (held and was_cached):
            self.call_after_refresh(listed.read_ahead)
        with self.showing_errors():
            if await listed.note_opened():
                self.read_book_if_shown()
        if held and was_cached:
            await asyncio.sleep(HELD_S)
            listed.read_ahead()

    def _list_changed(self) -> None:
        self.shown = self.remotes.state

    def _flips(self, event: events.Key) -> bool:
        """Return whether a key opens another page. If so, it does not wait for the loading page."""
        if self.focused is not self.table:
            return False
        return any(binding.action in FLIPPING for binding in own_bindings(self, event.key))

    def _flips_or_moves(self, event: events.Key) -> bool:
        moves = self.focused is self.table and bool(own_bindings(self.table, event.key))
        return moves or self._flips(event)

    @work(exclusive=True, group="journal")
    async def compare_with_journal(self) -> None:
        """Show which changes by lockterm the page lacks, and which remotes others changed."""
        await self.remotes.compare_with_journal()

    @work(exclusive=True, group="restorable")
    async def _look_for_restorable(self) -> None:
        self._has_restorable = await self.remotes.has_restorable()
        self.show_list()

    # --- batteries -----------------------------------------------------------------------------

    def read_batteries(self) -> None:
        """Read the battery levels of the rows, if the table shows them or sorts by them."""
        if self.table.needs_batteries:
            self._read_levels()

    @work(exclusive=True, group="battery")
    async def _read_levels(self) -> None:
        reader = self.operations.batteries
        remotes = [row.remote for row in self.table.rows if reader.is_due(row.remote)]
        if not remotes or reader.stopped == NOT_REPORTED:
            return
        await reader.read(remotes)
        if not reader.is_reported:
            reader.stop(NOT_REPORTED)
        if reader.stopped:
            self.notify(clean(reader.stopped, 300), title="Battery levels", severity="warning")
        self.paint()

    # --- search --------------------------------------------------------------------------------

    def find_line(self) -> FindLine:
        """Return the search field. The first call creates the field."""
        if self._find_line is None:
            self._find_line = FindLine(id="find")
            self.query_one("#foot").mount(self._find_line, before=0)
        return self._find_line

    def search_for(self, text: str) -> None:
        self._narrow(needle=text)
        if self.remotes.state.only is not None and not text:
            self._search_rest()  # the state filter applies to the whole list

    def show_only(self, only: StateFilter | None) -> None:
        """Show only the remotes of one state, from the whole list; None shows all remotes again."""
        self._narrow(only=only)
        self._search_rest()

    def _narrow(self, **wanted: str | StateFilter | None) -> None:
        """Apply a search text or a filter to the loaded page; :meth:`search` reads the rest."""
        self.workers.cancel_group(self, "search")
        self.remotes.change(**wanted, found=None)

    @on(FindLine.Submitted)
    def _search_rest(self) -> None:
        if self.remotes.state.has_rest:
            self.search()

    @work(exclusive=True, group="search")
    async def search(self, *, again: bool = False) -> None:
        """Search the whole list; see :meth:`RemoteList.search`."""
        with opening(self, "the first matches") as self._finding:
            if again and self.remotes.state.found is not None:
                self._finding.end()
            if (error := await self.remotes.search(again=again)) is not None:
                self.keep_refusal(error)

    # --- painting ------------------------------------------------------------------------------

    def watch_shown(self, before: ListState, now: ListState) -> None:
        """Show the new state of the list, but paint the rows only if they have changed."""
        if not now.has_rows_of(before):
            if now.page is not None and not now.page.total:
                self._look_for_restorable()
            self.paint(top=now.page_no != before.page_no)
            self.read_batteries()
        else:
            self.show_list()
            self.describe_rows()
        self.table.set_class(now.load.stale, "-stale")
        self._reasons = ()
        self.query_one(KeyLine).show_keys()
        is_found = now.found is not None and now.found is not before.found and now.found.remotes
        if is_found and self._finding is not None:
            self._finding.end()

    def paint(self, *, top: bool = False) -> None:
        """Replace the rows of the table. The same remote stays selected.

        Args:
            top: Whether to select the first row if the selected remote is gone.
        """
        if not self.is_running:  # a write may outlive the screen that began it
            return
        listed, now_ms = self.remotes, self.operations.now_ms()
        order, batteries = self.table.arrangement.order, self.operations.batteries
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
        if self.marks:
            self.marks.see(self.rows_to_mark)
        self.show_list()
        self.show_pane()
        self.describe_rows()

    def describe_titles(self) -> Sequence[str]:
        return format_titles(self.remotes.state, self.remotes.counts.describe_all())

    def describe_empty(self) -> tuple[str, KeyOffers]:
        may_add, lock = not self.disabled_reason("add"), clean(self.lock_entry.title, 60)
        state, may_restore = self.remotes.state, self._has_restorable
        return describe_empty(state, lock, may_add=may_add, may_restore=may_restore)

    def describe_rows(self) -> None:
        """Update the pager below the rows."""
        self._cut_name = self._find_cut_name()
        texts = format_pager(
            self.remotes.state,
            self.table.row_count,
            self.table.arrangement.order,
            self.marks.describe(self.rows_to_mark) if self.marks else "",
            self._cut_name,
            () if self.has_class("-framed") else self.remotes.counts.describe(),
        )
        self.query_one(Pager).show(*texts)

    def _find_cut_name(self) -> str:
        """Return the full name to show in the pager; empty if the name is shown elsewhere."""
        return "" if self.has_pane else self.table.cut_name

    def follow_cursor(self) -> None:
        if self._cut_name != self._find_cut_name():
            self.describe_rows()
        else:
            self.query_one(Pager).tick()
        self.show_pane()
        reasons = tuple(map(self.disabled_reason, ("copy", "detail", "edit")))
        if reasons != self._reasons:  # only then may keys be enabled or disabled
            self._reasons = reasons
            self.query_one(KeyLine).show_keys()

    def refresh_relative_times(self) -> None:
        """Update dates and states to the current time without sorting or filtering the rows."""
        now_ms, page = self.operations.now_ms(), self.remotes.state.page
        self.table.refresh_relative_times(now_ms)
        if page is not None:
            self.remotes.counts.note(page, now_ms)
        self.show_list()
        self.describe_rows()
        self.show_pane()

    def mark_busy(self, lock_id: int, remote_id: int, word: str) -> None:
        self._busy.pop(remote_id, None)
        if word:
            self._busy[remote_id] = word
        self.paint()

    # --- changes from other screens ------------------------------------------------------------

    def on_screen_resume(self) -> None:
        self.read_entry()  # another screen may have changed the lock, such as its time zone
        self.call_after_refresh(self.read_book_if_shown)
        self.fit()  # the terminal's size may have changed, too
        if self.remotes.state.elsewhere:
            self.compare_with_journal()  # the user may have looked at the changes
        self.unmark_done()

    @work(exclusive=True, group="entry")
    @opens("the lock")
    async def read_entry(self) -> None:
        """Read the lock's entry, such as its name and time zone, from the lock book again."""
        with suppress(StoreError):  # the locks screen shows the error; no book is needed here
            entry = await self.operations.locks.find(self.lock_entry.lock_id)
            if entry not in (Lock(entry.lock_id), self.lock_entry):
                self.lock_entry = entry
                self.remotes.rename(entry)
                self.show_crumbs()
                self.paint()  # with dates in the lock's time zone

    def after_write(self, remote_id: int | None) -> None:
        """Read the page and the results of a search again, because remotes may have changed."""
        self.load(fresh=True)
        if self.remotes.state.found is not None:
            self.search(again=True)
        self.unmark_done()

    def show_notices(self, connection_text: str, unconfirmed: tuple[Operation, ...]) -> None:
        """Show the notices. If the service is reachable again after an error, read the page."""
        super().show_notices(connection_text, unconfirmed)
        if self.may_read_again(self.remotes.state.load.error):
            self.load()
        self.show_changes()
        self._reasons = ()
        self.refresh_bindings()

    # --- what the actions act on ---------------------------------------------------------------

    @property
    def current(self) -> Remote | None:
        """The selected remote; None if there is none."""
        return self.table.selected

    @property
    def rows_to_mark(self) -> Sequence[Row]:
        return [(self.lock_entry.lock_id, row.remote) for row in self.table.rows]

    @property
    def row_to_mark(self) -> Row | None:
        return None if self.current is None else (self.lock_entry.lock_id, self.current)

    def key_of_step(self, step: Step) -> Hashable | None:
        return key_of_remote(step)

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        state = self.remotes.state
        if action in FLIPPING or action == "go_to_page":
            return why_no_page(state, action, self.remotes.base_page_no)
        if action != "mark" and (action in MARKING or (self.marks and action in self.on_marked)):
            if action == "mark_all" and state.found is not None and state.found.running:
                return "The search is still running. Press Esc to stop it."
            if action == "mark_all" and not self.table.rows:
                return "There is nothing to mark."
            return self.why_no_mark(action)
        if reason := super().disabled_reason("detail" if action == "mark" else action):
            return reason
        if action in ("next_lock", "previous_lock") and self.marks:
            return with_keys("Some remotes are marked. Press {marks.none} to unmark them.")
        if action == "clear" and state.page and not state.page.least:
            return "The lock has no remotes to clear."
        return ""

    # --- actions: pages ------------------------------------------------------------------------

    def action_next_page(self) -> None:
        self._flip_to(self.remotes.base_page_no + 1)

    def action_previous_page(self) -> None:
        self._flip_to(self.remotes.base_page_no - 1)

    def action_first_page(self) -> None:
        self._flip_to(1)

    def action_last_page(self) -> None:
        self._flip_to(self.remotes.state.last_page)

    def _flip_to(self, page_no: int) -> None:
        self.remotes.page_no = page_no
        self.load(held=self._flip.is_repeated())

    def action_go_to_page(self) -> None:
        """Ask the user for the number of a page, and show that page."""

        def go(page_no: int | None) -> None:
            if page_no is not None:
                self._flip_to(page_no)

        last = self.remotes.state.last_page
        question = f"Go to which page (1 to {last:,})?"
        self.app.push_screen(
            screens.NumberModal(question, heading="Page", verb="Go", numbers=range(1, last + 1)),
            go,
        )

    def action_refresh(self) -> None:
        self.load(fresh=True, moving=True)
        if self.remotes.state.found is not None:
            self.search()

    # --- actions: search and table -------------------------------------------------------------

    def action_find(self) -> None:
        self.find_line().open()

    def action_filter(self) -> None:
        """Ask the user for a state, and show only the remotes of that state."""
        question, only = "Show remotes in which state?", self.remotes.state.only
        screens.ask_only(self.app, question, self.remotes.counts.counts, only, self.show_only)

    def action_table(self) -> None:
        """Ask the user for the columns and the sort order of the table."""
        self.app.push_screen(screens.ColumnsModal(self.table), self.arrange_table)

    @on(RemotesTable.TitleClicked)
    def _sort_by(self, event: RemotesTable.TitleClicked) -> None:
        """Sort by a column: ascending, then descending, then unsorted."""
        before = self.table.arrangement
        self.arrange_table(replace(before, order=SortOrder.after(before.order, event.column)))

    def arrange_table(self, chosen: Arrangement | None) -> None:
        """Apply and save an arrangement. If saving fails, use it in this session only."""
        if chosen is None or chosen == self.table.arrangement:
            return
        self.table.arrangement = chosen
        reason = save_arrangement(self.host.choices, chosen)
        self.paint()
        self.read_batteries()
        if reason:
            self.notify(reason, title="Columns not saved", severity="warning")

    # --- actions: remotes ----------------------------------------------------------------------

    def action_detail(self) -> None:
        remote = self.current
        if remote is not None and remote.id is not None:
            title = remote.remote_name or f"remote {remote.id}"
            screen = screens.RemoteDetailScreen(self.operations, self.lock_entry, remote.id, title)
            self.app.push_screen(screen)

    def action_renew(self) -> None:
        if self.marks:
            self.marked.renew()
        else:
            super().action_renew()

    def action_delete(self) -> None:
        if self.marks:
            self.marked.delete()
        else:
            super().action_delete()

    def action_act_on_marked(self) -> None:
        self.marked.act()

    @work
    @opens("the plan to undo the last change", must_appear=True)
    async def action_undo(self) -> None:
        """Show the plan that undoes the last change of this lock, or the whole run that sent it."""
        await screens.open_undo_last(self, self.lock_entry.lock_id)

    def action_copies(self) -> None:
        """Open the screen that copies the marked remotes, or all remotes, to other locks."""
        if self.marks:
            self.marked.copy_to_locks()
        else:
            self.app.push_screen(screens.CopyScreen(self.operations, self.lock_entry))

    # --- actions: other screens ----------------------------------------------------------------

    def action_voice(self) -> None:
        self.app.push_screen(screens.VoiceScreen(self.operations, self.lock_entry))

    def action_back(self) -> None:
        """Do the first of these that is possible, and nothing else.

        Stop the running search, clear the search text, clear the filter, remove all marks, or go
        back.
        """
        state = self.remotes.state
        if state.found is not None and state.found.running:
            self.workers.cancel_group(self, "search")
            self.remotes.stop_search()
        elif state.needle:
            self.find_line().action_close()
        elif state.only is not None:
            self.show_only(None)
        elif self.marks:
            self.action_unmark_all()
        elif len(self.app.screen_stack) > 1:
            self.dismiss(None)
        else:
            self.open_book()
