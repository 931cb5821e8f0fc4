"""The remotes of a lock, page by page: the heart of lockterm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.reactive import var

from lockterm.domain.locks import Lock
from lockterm.domain.text import clean
from lockterm.errors import StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.screens.base import LocktermScreen
from lockterm.screens.marked.marking import MARKING, ON_MARKED
from lockterm.screens.remotes.book_beside import BookBeside
from lockterm.screens.remotes.commands import RemoteCommands
from lockterm.screens.remotes.page_fit import PageFit
from lockterm.screens.remotes.page_loader import PageLoader
from lockterm.screens.remotes.page_painter import PagePainter
from lockterm.screens.remotes.page_reader import PageReader
from lockterm.screens.remotes.page_view import PageView
from lockterm.screens.remotes.paging import PAGING, HeldKey, ask_page, why_no_page
from lockterm.screens.remotes.table import RemotesTable
from lockterm.screens.remotes.table_marks import TableMarks
from lockterm.terminal.idle import when_idle
from lockterm.terminal.key_queue import opens
from lockterm.terminal.last_frame import Shown
from lockterm.widgets.bindings import bindings
from lockterm.widgets.key_line import KeyLine
from lockterm.widgets.line_table import LineTable
from lockterm.widgets.pager import Pager

if TYPE_CHECKING:
    from lockterm.domain.operation import Operation
    from lockterm.domain.remotes import Remote
    from lockterm.screens.remotes.list_search import ListSearch
    from lockterm.widgets.find_line import FindLine


class RemotesScreen(LocktermScreen[None]):
    """The pages of a lock's list as the service cuts them.

    Args:
        operations: The one door to service and store.
        lock_entry: The lock, in the book or not.
        open_book: Shows the lock book where no screen is below this one: the command line has
            opened lockterm on this lock.
        book: The lock book as it was last read; None: it was not.
    """

    BINDINGS = bindings("remotes")

    lock_entry: Lock
    """The lock, as the lock book knows it."""

    page_no: var[int] = var(1, init=False, always_update=True)
    """The page that is wanted; setting it loads it."""

    view: var[PageView] = var(PageView(), init=False)
    """What is shown."""

    def __init__(
        self,
        operations: Operations,
        lock_entry: Lock,
        open_book: Callable[[], None] = lambda: None,
        book: Sequence[Lock] | None = None,
    ) -> None:
        super().__init__(operations)
        self._open_book = open_book
        self.lock_entry = lock_entry
        self._zone = operations.zone(lock_entry)
        self._flip = HeldKey()
        self._kind: tuple[str, ...] = ()
        """Why keys can do nothing with the remote that the cursor was moved to; empty: not known
        any more."""
        lock_id, view, zone = lock_entry.lock_id, lambda: self.view, lambda: self._zone
        self.book = BookBeside(self, book, self._on_lock)
        """The lock book, beside the remotes where there is room."""
        self.pages = PageReader(operations, lock_id, self.notify)
        """Reads the pages."""
        self.loader = PageLoader(
            self,
            self.pages,
            lambda: self.page_no,
            view,
            self._show,
            forget=lambda: self.painter.counts.forget(),
            loaded=lambda: self.page_fit.fit(),  # the terminal may have got another size meanwhile
            noted=self.book.read,
        )
        """Loads the one that is wanted."""
        self.page_fit = PageFit(
            self, self.pages, view, lambda: self.current, self.loader.show_sized
        )
        """Has them of the size that is wanted."""
        self.commands = RemoteCommands(
            self,
            lambda: self.current,
            refresh="remotes.refresh",
            stand_on=self.loader.stand_on,
            busy_changed=lambda: self.painter.paint_rows(),
            known=lambda: self.view.known,
            total=lambda: self.view.page.total if self.view.page else None,
            is_deleted=lambda remote: self.view.is_deleted(remote),
        )
        """What the keys do with the remote under the cursor."""
        self.marking = TableMarks(
            self, lock_id, zone, self._lock_name, lambda: self.painter.show_pager()
        )
        """What the keys do with marks, and with the marked ones."""
        self.marks = self.marking.marks
        """Which remotes are marked."""
        self.painter = PagePainter(
            self,
            self.pages,
            view,
            zone,
            self._lock_name,
            self.marking,
            self.commands.busy,
            lambda: self.loader.go_to,
        )
        """Paints what is shown."""

    @cached_property
    def search(self) -> ListSearch:
        """Looks through the whole list."""
        from lockterm.screens.remotes.list_search import ListSearch

        lock_id = self.lock_entry.lock_id
        return ListSearch(self, lock_id, lambda: self._zone, lambda: self.view, self._show)

    def _on_lock(self, lock: Lock) -> RemotesScreen:
        return RemotesScreen(self.operations, lock, self._open_book, self.book.locks)

    def crumbs(self) -> tuple[str, ...]:
        return ("Locks", self.lock_entry.title, "Remotes")

    @property
    def known_locks(self) -> Sequence[Lock]:
        return self.book.locks or ()

    def compose_body(self) -> ComposeResult:
        """The table and its pane, and the pager."""
        arrangement = self.painter.columns.arrangement
        with Horizontal(id="remotes"):
            yield RemotesTable(self._moved, arrangement, self.marking.has, id="table")
        with Horizontal(id="foot"):
            yield Pager(self.operations.clock.steady_ms, id="pager")

    # --- loading -------------------------------------------------------------------------------

    async def on_mount(self) -> None:
        self.pages.size = self.page_fit.rows
        self.painter.show_pane()
        await self.book.begin()
        await self.loader.begin()
        self.painter.show_state()  # until a page is there, words stand in its place
        when_idle(self.query_one("#foot"), lambda: self.search.line)

    def on_screen_resume(self) -> None:
        self.read_entry()  # another screen may have changed it, its zone for one
        self.call_after_refresh(self.book.read)
        self.page_fit.fit()  # nor has the terminal been looked at meanwhile
        self.marking.note_outcomes()

    @work(exclusive=True, group="entry")
    @opens("the lock")
    async def read_entry(self) -> None:
        """Take over what the lock book says of the lock now: its name, and the zone of forms."""
        with suppress(StoreError):  # the locks screen says so; the remotes do not need the book
            entry = await self.operations.locks.find(self.lock_entry.lock_id)
            if entry not in (Lock(entry.lock_id), self.lock_entry):
                self.lock_entry = entry
                self._zone = self.operations.zone(entry)
                self.show_crumbs()
                self.painter.paint_rows()  # with the times of its zone

    def after_write(self, remote_id: int | None) -> None:
        """Read the page again: what is shown may have changed."""
        self.loader.load(fresh=True)
        if self.view.found is not None:
            self.search.search(again=True)
        self.marking.note_outcomes()

    # --- watchers ------------------------------------------------------------------------------

    def watch_page_no(self) -> None:
        self.loader.load(held=self._flip.is_repeated())

    def _show(self, view: PageView, *, page_no: int | None = None, painted: bool = True) -> None:
        """Show something else; see :class:`page_loader.Show`."""
        if page_no is not None:
            self.set_reactive(RemotesScreen.page_no, page_no)
        if painted:
            self.view = view
        else:
            self.set_reactive(RemotesScreen.view, view)

    def watch_view(self, old: PageView, new: PageView) -> None:
        """Paint what has changed: the rows only where they have."""
        if not new.has_rows_of(old):
            if new.page is not None:
                self.painter.note(new.page)
            self.painter.paint_rows(top=new.page_no != old.page_no)
        elif not new.state.shows(old.state):
            self.painter.show_state()
        self.painter.show_pager()
        self._kind = ()
        self.query_one(KeyLine).show_keys()

    def write_again(self) -> None:
        self.painter.write_again()

    def pass_time(self) -> None:
        self.painter.pass_time()

    @property
    def worth_keeping(self) -> Shown | None:
        return self.painter.worth_keeping(is_usual=self.book.is_filled)

    # --- handlers ------------------------------------------------------------------------------

    def _moved(self) -> None:
        """The cursor stands on another remote."""
        self.painter.follow_cursor()
        kind = tuple(map(self.commands.why_not, ("copy", "detail", "edit")))
        if kind != self._kind:  # only then can a key have come or gone
            self._kind = kind
            self.query_one(KeyLine).show_keys()

    @on(LineTable.Chosen)
    def _clicked(self) -> None:
        self.action_detail()

    @on(RemotesTable.TitleClicked)
    def _sort_by_title(self, event: RemotesTable.TitleClicked) -> None:
        self.painter.sort_by(event.column)

    def on_find_line_changed(self, event: FindLine.Changed) -> None:
        self.search.find(event.value)

    def on_find_line_submitted(self) -> None:
        self.search.search_rest()

    def on_find_line_left(self) -> None:
        self.query_one(RemotesTable).focus()

    def show_notices(self, link: str, unsettled: tuple[Operation, ...]) -> None:
        """The service was lost or is back: what failed is tried again by itself."""
        super().show_notices(link, unsettled)
        if self.may_read_again(self.view.state.error):
            self.loader.load()
        self.painter.look_at_journal()
        self._kind = ()
        self.refresh_bindings()

    def on_resize(self) -> None:
        """The panes come and go with the width, rows with the height: once it stays as it is."""
        self.call_after_refresh(self.painter.show_pane)
        self.call_after_refresh(self.book.show)
        self.page_fit.fit_soon()

    # --- what the keys act on ------------------------------------------------------------------

    @property
    def current(self) -> Remote | None:
        """The remote under the cursor."""
        return self.query_one(RemotesTable).selected

    def _lock_name(self) -> str:
        return clean(self.lock_entry.title, 60)

    @property
    def _at(self) -> int:
        """The page from which the keys flip."""
        view = self.view
        return view.page_no if view.state.error is not None and view.page else self.page_no

    def why_not(self, action: str) -> str:
        """There is no such page or no remote; or see :meth:`RemoteCommands.why_not`."""
        if action in PAGING:
            return why_no_page(self.view, action, self._at)
        if action != "mark" and (action in MARKING or (self.marks and action in ON_MARKED)):
            return self.marking.why_not(action, self.view)
        if reason := self.commands.why_not("detail" if action == "mark" else action):
            return reason
        if action in ("next_lock", "previous_lock") and self.marks:
            return with_keys("Some remotes are marked: {marks.none} unmarks all.")
        if action == "clear" and self.view.page and not self.view.page.least:
            return "The lock has no remotes to clear."
        return ""

    def is_offered(self, action: str) -> bool:
        return self.marking.keys.is_offered(action)

    @property
    def first_keys(self) -> Sequence[str]:
        return self.marking.keys.first_keys

    def verb_now(self, action: str) -> str:
        return self.marking.keys.verb_now(action)

    # --- actions: pages ------------------------------------------------------------------------

    def action_next_page(self) -> None:
        self.page_no = self._at + 1

    def action_previous_page(self) -> None:
        self.page_no = self._at - 1

    def action_first_page(self) -> None:
        self.page_no = 1

    def action_last_page(self) -> None:
        self.page_no = self.view.last_page

    def action_go_to_page(self) -> None:
        ask_page(self.app, self.view.last_page, partial(setattr, self, "page_no"))

    def action_page_size(self) -> None:
        self.page_fit.ask()

    def action_refresh(self) -> None:
        self.loader.load(fresh=True, moving=True)
        if self.view.found is not None:
            self.search.search()

    def action_find(self) -> None:
        self.search.line.open()

    def action_filter(self) -> None:
        self.search.ask_only(self.painter.counts.counts)

    def action_table(self) -> None:
        self.painter.ask_columns()

    # --- actions: remotes ----------------------------------------------------------------------

    def action_detail(self) -> None:
        from lockterm.screens.remotes.detail import RemoteDetailScreen

        remote = self.current
        if remote is not None and remote.id is not None:
            title = remote.remote_name or f"remote {remote.id}"
            screen = RemoteDetailScreen(self.operations, self.lock_entry, remote.id, title)
            self.app.push_screen(screen)

    def action_add(self) -> None:
        self.commands.add()

    def action_another(self) -> None:
        self.commands.add_another()

    def action_edit(self) -> None:
        self.commands.edit()

    def action_renew(self) -> None:
        (self.marking.commands if self.marks else self.commands).renew()

    def action_delete(self) -> None:
        (self.marking.commands if self.marks else self.commands).delete()

    def action_user_number(self) -> None:
        self.commands.set_user_number()

    def action_copy(self) -> None:
        self.commands.copy()

    def action_clear(self) -> None:
        self.commands.clear()

    # --- actions: marks ------------------------------------------------------------------------

    def action_mark(self) -> None:
        self.marking.mark()

    def action_mark_range(self) -> None:
        self.marking.keys.mark_range()

    def action_mark_all(self) -> None:
        self.marking.keys.mark_all()

    def action_unmark_all(self) -> None:
        self.marking.keys.unmark_all()

    def action_act_on_marked(self) -> None:
        self.marking.commands.act()

    @work
    @opens("the plan to undo the last change", must_appear=True)
    async def action_undo(self) -> None:
        """Show the inverse of the last change of this lock, or of the run that it was one of."""
        from lockterm.operations.undoing import undo_last
        from lockterm.screens.plan.opening import open_plan

        await open_plan(self, partial(undo_last, self.operations, self.lock_entry.lock_id))

    # --- actions: the way on -------------------------------------------------------------------

    def action_next_lock(self) -> None:
        self.book.go_on_by(1)

    def action_previous_lock(self) -> None:
        self.book.go_on_by(-1)

    def action_voice(self) -> None:
        from lockterm.screens.voice import VoiceScreen

        self.app.push_screen(VoiceScreen(self.operations, self.lock_entry))

    def action_copies(self) -> None:
        """Choose where the remotes of this lock, or the marked ones, go to as well."""
        from lockterm.operations.copying import Source
        from lockterm.screens.copy import CopyScreen

        if self.marks:
            self.marking.commands.copy_to_locks()
        else:
            self.app.push_screen(CopyScreen(self.operations, Source(self.lock_entry)))

    def action_back(self) -> None:
        """Stop a search; show all again; unmark all; go back to the locks."""
        if self.view.found is not None and self.view.found.running:
            self.search.stop()
        elif self.view.needle:
            self.search.line.action_close()
        elif self.view.only is not None:
            self.search.show_only(None)
        elif self.marks:
            self.marking.keys.unmark_all()
        elif len(self.app.screen_stack) > 1:
            self.dismiss(None)
        else:
            self._open_book()
