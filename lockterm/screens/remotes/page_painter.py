"""Paints a page of remotes: its rows, what stands in their place, beside them and below them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import tzinfo
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from textual.css.query import NoMatches

from lockterm.domain.remote_states import StateCounts
from lockterm.errors import StoreError
from lockterm.screens.base import LocktermScreen
from lockterm.screens.remotes.columns import Arrangement, ColumnsChoice, SortOrder
from lockterm.screens.remotes.page_reader import PageReader
from lockterm.screens.remotes.page_view import PageView, state_words
from lockterm.screens.remotes.pager_words import pager_words
from lockterm.screens.remotes.row import say_the_same
from lockterm.screens.remotes.table import RemotesTable
from lockterm.screens.remotes.table_marks import TableMarks
from lockterm.terminal.last_frame import Shown
from lockterm.widgets.pager import Pager
from lockterm.widgets.state_panel import StatePanel

if TYPE_CHECKING:
    from lockterm.domain.remotes import RemotePage
    from lockterm.operations import Seen
    from lockterm.screens.remotes.pane import RemotePane


class PagePainter:
    """The table, its pane, the panel in its place, the pager; and how the table is arranged.

    Args:
        screen: The screen of a lock that has them.
        pages: Reads the pages.
        view: Tells what is shown.
        zone: Tells the zone of the lock.
        place: Tells the lock's name, clean.
        marks: Which remotes are marked.
        busy: Remote id -> what is being done with it.
        go_to: Tells the remote to stand on; None: that of now.
    """

    def __init__(
        self,
        screen: LocktermScreen[Any],
        pages: PageReader,
        view: Callable[[], PageView],
        zone: Callable[[], tzinfo],
        place: Callable[[], str],
        marks: TableMarks,
        busy: Mapping[int, str],
        go_to: Callable[[], int | None],
    ) -> None:
        self._screen = screen
        self._pages = pages
        self._view = view
        self._zone = zone
        self._place = place
        self._marks = marks
        self._busy = busy
        self._go_to = go_to
        self.counts = StateCounts()
        """The states of the remotes that were read."""
        self._cut_name = ""
        """The name that the pager tells, for its row has not room for it."""
        self._may_restore = False
        """Whether the history has remotes of this lock that were deleted from here."""
        self._pane: RemotePane | None = None
        self._panel: StatePanel | None = None

    @cached_property
    def columns(self) -> ColumnsChoice:
        """Which columns there are, and what the rows are sorted by."""
        return ColumnsChoice(self._screen.host.choices)

    @property
    def _table(self) -> RemotesTable:
        return self._screen.query_one(RemotesTable)

    # --- rows ----------------------------------------------------------------------------------

    def paint_rows(self, *, top: bool = False) -> None:
        """Fill the table anew; the cursor stays on its remote.

        Args:
            top: Whether to stand on the first row where that remote is gone.
        """
        if not self._screen.is_running:  # a write may outlive the screen that began it
            return
        view, zone, now_ms = self._view(), self._zone(), self._screen.operations.now_ms()
        self._table.show_remotes(
            view.rows(self.columns.arrangement.order, zone, now_ms),
            zone,
            now_ms,
            busy={**(view.unlisted.words if view.unlisted else {}), **self._busy},
            cursor=self._go_to(),
            top=top,
        )
        self._marks.see()
        if self._tell_cut_name():
            self.show_pager()
        self.show_state()
        self.show_pane()

    def write_again(self) -> None:
        """Write all words anew, with the signs of now."""
        self.paint_rows()
        self.show_pager()

    def pass_time(self) -> None:
        """Tell by now what dates and states say; what was sorted or found stays as it was."""
        now_ms, page = self._screen.operations.now_ms(), self._view().page
        self._table.pass_time(now_ms)
        if page is not None:
            self.counts.note(page, now_ms)
        self.show_pager()
        self.show_pane()

    def follow_cursor(self) -> None:
        """Tell of the remote to which the cursor has moved."""
        if self._tell_cut_name():
            self.show_pager()
        else:
            self._screen.query_one(Pager).tick()
        self.show_pane()

    def show_pane(self) -> None:
        """Show the remote under the cursor in a wide terminal; the pane is made for the first."""
        if not self._screen.has_class("-wide"):
            return
        if self._pane is None:
            from lockterm.screens.remotes.pane import RemotePane

            assert self._screen.lock_entry is not None
            lock_id = self._screen.lock_entry.lock_id
            self._pane = RemotePane(self._screen.operations, lock_id, id="pane")
            self._screen.query_one("#remotes").mount(self._pane)
            self._pane.look_at_journal()
        now_ms = self._screen.operations.now_ms()
        self._pane.show_row(self._table.selected_row, self._zone(), now_ms)

    def look_at_journal(self) -> None:
        """Have the pane tell what was done meanwhile."""
        if self._pane is not None:
            self._pane.look_at_journal()

    # --- words ---------------------------------------------------------------------------------

    def note(self, page: RemotePage) -> None:
        """Count a page that was read; see what the history has where the lock has nothing."""
        self.counts.note(page, self._screen.operations.now_ms())
        if not page.total:
            self._screen.run_alone(self._look_for_restorable, "restorable")

    async def _look_for_restorable(self) -> None:
        with suppress(StoreError):  # whoever opens the history is told
            self._may_restore = await self._pages.may_restore()
            self.show_state()

    def show_state(self) -> None:
        """Show the rows, or the words in their place; what shows these is made for the first."""
        table, view = self._table, self._view()
        if table.row_count == 0:
            if self._panel is None:
                # In a layer of its own: when it goes, nothing else is laid out or painted again.
                self._panel = StatePanel(id="state")
                self._screen.query_one("#remotes").mount(self._panel)
            may = {"may_add": not self._screen.why_not("add"), "may_restore": self._may_restore}
            self._panel.say(*state_words(view, self._place(), **may))
        elif self._panel is not None:
            self._panel.display = False
        # Rows that were replayed are said to be old: in another colour they would be sent twice.
        table.set_class(view.state.stale and not view.is_replayed, "-stale")

    def show_pager(self) -> None:
        """Write the line below the rows."""
        words = pager_words(
            self._view(),
            self._table.row_count,
            self.columns.arrangement.order,
            self._marks.words(),
            self._cut_name,
            self.counts.describe(),
        )
        self._screen.query_one(Pager).show(*words)

    def _tell_cut_name(self) -> bool:
        """Have the pager tell the name under the cursor where that is cut; or no more."""
        # A wide terminal has it in the pane.
        name = "" if self._screen.has_class("-wide") else self._table.cut_name
        is_other, self._cut_name = name != self._cut_name, name
        return is_other

    # --- columns -------------------------------------------------------------------------------

    def ask_columns(self) -> None:
        """Ask which columns there are to be, and what the rows are sorted by."""
        from lockterm.screens.remotes.columns_modal import ColumnsModal

        dialog = ColumnsModal(self.columns.arrangement, self._table.left_out)
        self._screen.app.push_screen(dialog, self.arrange)

    def sort_by(self, column: str) -> None:
        """Sort by a column: up, then down, then not at all."""
        before = self.columns.arrangement
        self.arrange(replace(before, order=SortOrder.after(before.order, column)))

    def arrange(self, chosen: Arrangement | None) -> None:
        """Show the table so, and keep it; what cannot be kept holds for this session."""
        if chosen is None or chosen == self.columns.arrangement:
            return
        not_kept = self.columns.use(chosen)
        self._table.choose(chosen)
        self.paint_rows()
        self.show_pager()
        if not_kept:
            self._screen.notify(not_kept, title="Columns not kept", severity="warning")

    # --- the next start ------------------------------------------------------------------------

    def worth_keeping(self, *, is_usual: bool) -> Shown | None:
        """The first page, all of it, as a start would show it; None: something else is shown.

        Args:
            is_usual: Whether what stands beside it is what a start would show.
        """
        view, state = self._view(), self._view().state
        if state.seen is None or state.stale or state.slow or view.is_narrowed or view.page_no != 1:
            return None
        with suppress(NoMatches):  # lockterm is ending: what is inside a screen goes before it
            if not any(find_line.display for find_line in self._screen.query("#find")):
                return self._as_shown(state.seen, is_usual=is_usual)
        return None

    def _as_shown(self, seen: Seen[RemotePage], *, is_usual: bool) -> Shown:
        """The page, with the answer where a start would show it in the same cells."""
        assert self._screen.lock_entry is not None
        lock_id, foot = self._screen.lock_entry.lock_id, self._screen.query_one("#foot").region
        shown = Shown(lock_id, seen.at_ms, (foot.y, foot.x, foot.width))
        is_plain = not (self._marks.marks or self._view().unlisted or self._busy)
        is_plain = is_plain and is_usual and self.counts.pages == 1 and not self._cut_name
        if not (is_plain and self._screen.query_one(Pager).is_new and self._table.is_as_at_first):
            return shown
        bar = self._pane.content_size.width if self._pane is not None else 0
        says_so_at = partial(say_the_same, self._table.rows, shown.at_ms, bar)
        answer = (seen.value.answer_bytes, seen.value.answer_crc)
        return replace(shown, answer=answer, says_so_at=says_so_at)
