"""The remotes of a lock, page by page: the heart of lockterm."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.widgets import DataTable, Input

from lockterm.models.locks import Lock
from lockterm.operations import Operations
from lockterm.screens.remotes_adding import RemotesAdding
from lockterm.screens.remotes_keys import KEYS
from lockterm.widgets.find_line import FindLine
from lockterm.widgets.key_line import KeyLine
from lockterm.widgets.page_view import PageView, state_words
from lockterm.widgets.pager import Pager
from lockterm.widgets.pager_words import pager_words
from lockterm.widgets.remote_pane import RemotePane
from lockterm.widgets.remotes_table import RemotesTable
from lockterm.widgets.search_line import SearchLine
from lockterm.widgets.state_panel import StatePanel

if TYPE_CHECKING:
    from lockterm.models.operation import Operation
    from lockterm.models.remotes import Remote


class RemotesScreen(RemotesAdding):
    """The pages of a lock's list as the service cuts them.

    Args:
        operations: The one door to service and store.
        lock_entry: The lock, in the book or not.
    """

    BINDINGS = KEYS

    def __init__(self, operations: Operations, lock_entry: Lock) -> None:
        super().__init__(operations, lock_entry)
        self._busy: dict[int, str] = {}
        self._kind: tuple[object, ...] = ()
        """What the keys depend on in the remote under the cursor."""

    def crumbs(self) -> tuple[str, ...]:
        """The lock's remotes."""
        return ("Locks", self.lock_entry.title, "Remotes")

    def compose_body(self) -> ComposeResult:
        """The table and its pane; words below the titles where there are no rows; the pager."""
        self.read_arrangement()
        with Container(id="remotes"):
            with Horizontal():
                yield RemotesTable(self._moved, self.arrangement, id="table")
                yield RemotePane(id="pane")
            # In a layer of its own: when it goes, nothing else is laid out or painted again.
            words = state_words(self.view, self._lock_name, may_add=False)
            yield StatePanel("\n\n".join(words), id="state")
        with Horizontal(id="foot"):
            yield SearchLine(id="find")
            yield Pager(self.operations.now_ms, id="pager")

    # --- loading -------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Ask for the first page at once; the frame is painted meanwhile."""
        self.query_one(FindLine).query_one(Input).cursor_blink = False
        self.load_page()

    def on_screen_resume(self) -> None:
        """Another screen may have changed the lock's entry, its zone for one."""
        self.read_entry()

    # --- watchers ------------------------------------------------------------------------------

    def watch_view(self, old: PageView, new: PageView) -> None:
        """Paint what has changed: the rows only where they have."""
        if new.seen is not old.seen or new.needle != old.needle or new.found is not old.found:
            pages = [view.page.page_no if view.page else 0 for view in (old, new)]
            self.paint_rows(top=pages[0] != pages[1])
            if new.page is not None and not new.page.total:
                self.look_for_restorable()
        elif new.trouble is not old.trouble:
            self.show_state()
        self._show_pager()
        self.query_one(KeyLine).show_keys()

    def paint_rows(self, *, top: bool = False) -> None:
        """Fill the table anew; the cursor stays on its remote, or goes to the top."""
        self.query_one(RemotesTable).show_remotes(
            self.rows(),
            self._zone,
            self.operations.now_ms(),
            busy=self._busy,
            cursor=self._go_to,
            top=top,
        )
        self.show_state()
        self._show_pane()

    def show_arrangement(self) -> None:
        """The table and its pager, after other columns or another order were chosen."""
        self.query_one(RemotesTable).choose(self.arrangement)
        self.paint_rows()
        self._show_pager()

    def show_state(self) -> None:
        """The rows, or the words in their place."""
        table, panel = self.query_one(RemotesTable), self.query_one(StatePanel)
        panel.display = table.row_count == 0
        if panel.display:
            may = {"may_add": not self.why_not("add"), "may_restore": self.may_restore}
            panel.say(*state_words(self.view, self._lock_name, **may))
        table.set_class(self.view.trouble is not None or self.view.kept, "-stale")

    def _show_pager(self) -> None:
        rows, order = self.query_one(RemotesTable).row_count, self.arrangement.order
        self.query_one(Pager).show(*pager_words(self.view, rows, order))

    def _show_pane(self) -> None:
        pane = self.query_one(RemotePane)
        if self.has_class("-wide"):
            pane.show_row(self.query_one(RemotesTable).selected_row, self._zone)

    # --- handlers ------------------------------------------------------------------------------

    def _moved(self) -> None:
        """The cursor stands on another remote."""
        self.query_one(Pager).tick()
        self._show_pane()
        remote = self.current
        kind = (remote is None, remote is not None and remote.id is None)
        if kind != self._kind:  # only then can a key have come or gone
            self._kind = kind
            self.query_one(KeyLine).show_keys()

    @on(DataTable.RowSelected)
    def _clicked(self) -> None:
        self.action_detail()

    @on(FindLine.Changed)
    def _search_page(self, event: FindLine.Changed) -> None:
        self.workers.cancel_group(self, "search")
        self.view = replace(self.view, needle=event.value, found=None)

    @on(SearchLine.Submitted)
    def _search_rest(self) -> None:
        self.query_one(FindLine).action_leave()
        page = self.view.page
        if self.view.needle and page is not None and page.total > len(page.remotes):
            self.search_all()

    @on(FindLine.Left)
    def _to_the_rows(self) -> None:
        self.query_one(RemotesTable).focus()

    def show_notices(self, offline: str, unsettled: tuple[Operation, ...]) -> None:
        """The service was lost or is back: what failed is tried again by itself."""
        super().show_notices(offline, unsettled)
        if self.may_read_again and self.view.trouble is not None:
            self.load_page()
        self.refresh_bindings()

    def on_resize(self) -> None:
        """The pane comes and goes with the width."""
        self.call_after_refresh(self._show_pane)

    # --- what the keys act on ------------------------------------------------------------------

    @property
    def current(self) -> Remote | None:
        """The remote under the cursor."""
        return self.query_one(RemotesTable).selected

    def mark_busy(self, remote_id: int | None, word: str) -> None:
        """Show in the remote's row what is being done with it."""
        if remote_id is None:
            return
        self._busy.pop(remote_id, None)
        if word:
            self._busy[remote_id] = word
        if self.is_attached:
            self.paint_rows()

    # --- actions -------------------------------------------------------------------------------

    def action_detail(self) -> None:
        """Show every field of the remote."""
        from lockterm.screens.remote_detail import RemoteDetailScreen

        remote = self.current
        if remote is not None and remote.id is not None:
            title = remote.remote_name or f"remote {remote.id}"
            screen = RemoteDetailScreen(self.operations, self.lock_entry, remote.id, title)
            self.app.push_screen(screen)

    def action_refresh(self) -> None:
        """Ask the service again."""
        self.load_page(fresh=True)
        if self.view.found is not None:
            self.search_all()

    def action_voice(self) -> None:
        """Show the voices of the lock."""
        from lockterm.screens.voice import VoiceScreen

        self.app.push_screen(VoiceScreen(self.operations, self.lock_entry))

    def action_find(self) -> None:
        """Type to find."""
        self.query_one(FindLine).open()

    def action_back(self) -> None:
        """Stop a search; show all again; go back to the locks."""
        found = self.view.found
        if found is not None and found.running:
            self.workers.cancel_group(self, "search")
            self.view = replace(self.view, found=replace(found, running=False, ended="stopped"))
        elif self.view.needle:
            self.query_one(FindLine).action_close()
        elif len(self.app.screen_stack) > 1:
            self.dismiss(None)
        else:  # the command line opened lockterm on this lock
            from lockterm.screens.locks import LocksScreen

            self.app.switch_screen(LocksScreen(self.operations))
