"""The screen with the remotes of a lock, page by page."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from textual import on, work
from textual.app import ComposeResult

from lockterm import screens
from lockterm.config.profile import FIT, page_rows
from lockterm.domain.callbacks import ignore
from lockterm.domain.locks import Lock
from lockterm.domain.marks import Key, Marks, Row, key_of_remote, remote_marks
from lockterm.errors import StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.operations.remote_list import HeldKey, RemoteList
from lockterm.screens.list_screen import MARKING, ListScreen
from lockterm.screens.remotes.body import BookPane, by_name
from lockterm.screens.remotes.commands import RemoteCommands
from lockterm.screens.remotes.list_text import why_no_page
from lockterm.screens.remotes.pages import FLIPPING, RemotePages
from lockterm.screens.remotes.table import RemotesTable
from lockterm.terminal.key_queue import opens
from lockterm.widgets.bindings import bindings

if TYPE_CHECKING:
    from lockterm.domain.operation import Operation
    from lockterm.domain.plan import Step
    from lockterm.domain.remotes import Remote

PAGE_SIZES = (10, 20, 50, 100, 200)
"""The page sizes that the user can choose, besides the current one."""

PAGING = FLIPPING | {"go_to_page"}
"""The actions that open another page."""


class RemotesScreen(ListScreen[None]):
    """The screen with the remotes of a lock, in the pages that the service returns.

    Args:
        operations: The operations on the service and the local store.
        lock_entry: The lock, which need not be in the lock book.
        open_book: A function that opens the lock book when the user goes back. It is used if no
            screen is below this one, as after lockterm was started with this lock.
        book: The lock book as last read; None if it was never read.
    """

    BINDINGS = bindings("remotes")

    lock_entry: Lock
    """The lock, with its entry in the lock book."""

    row_action = "detail"
    table: RemotesTable
    marks: Marks[Key, Row]

    def __init__(
        self,
        operations: Operations,
        lock_entry: Lock,
        open_book: Callable[[], None] = ignore,
        book: Sequence[Lock] | None = None,
    ) -> None:
        marks = remote_marks()
        super().__init__(operations, RemotesTable(lock_entry.lock_id, marks, id="table"), marks)
        self._open_book = open_book
        self._flip = HeldKey()
        self.lock_entry = lock_entry
        self.commands = ListCommands(self)
        """The commands on the selected remote."""
        self.pages = RemotePages(
            operations, lock_entry, self.table, marks, self.commands.busy, book
        )
        """The widget that loads and shows the pages of the list."""

    @cached_property
    def marked(self) -> screens.MarkedCommands:
        """The commands on the marked remotes."""
        return screens.MarkedCommands(self)

    def crumbs(self) -> tuple[str, ...]:
        return ("Locks", self.lock_entry.title, "Remotes")

    def compose_body(self) -> ComposeResult:
        yield self.pages

    @property
    def remotes(self) -> RemoteList:
        """The list of remotes, with the state of its loading."""
        return self.pages.list

    @property
    def current(self) -> Remote | None:
        """The selected remote; None if there is none."""
        return self.pages.current

    @property
    def known_locks(self) -> Sequence[Lock]:
        return self.pages.body.book or ()

    # --- changes from other screens ------------------------------------------------------------

    def on_screen_resume(self) -> None:
        self.read_entry()  # another screen may have changed the lock, such as its time zone
        self.call_after_refresh(self.pages.body.read_book_if_shown)
        self.pages.fit()  # the terminal's size may have changed, too
        if self.remotes.state.elsewhere:
            self.pages.compare_with_journal()  # the user may have looked at the changes
        self.unmark_done()

    @work(exclusive=True, group="entry")
    @opens("the lock")
    async def read_entry(self) -> None:
        """Read the lock's entry, such as its name and time zone, from the lock book again."""
        with suppress(StoreError):  # the locks screen shows the error; no book is needed here
            entry = await self.operations.locks.find(self.lock_entry.lock_id)
            if entry not in (Lock(entry.lock_id), self.lock_entry):
                self.lock_entry = self.pages.body.lock_entry = entry
                self.remotes.rename(entry)
                self.show_crumbs()
                self.pages.paint_rows()  # with dates in the lock's time zone

    def after_write(self, remote_id: int | None) -> None:
        """Read the page again, because its remotes may have changed."""
        self.pages.load(fresh=True)
        if self.remotes.state.found is not None:
            self.pages.search(again=True)
        self.unmark_done()

    def show_notices(self, link: str, unsettled: tuple[Operation, ...]) -> None:
        """Read the page again after an error, when the service can be reached again."""
        super().show_notices(link, unsettled)
        if self.may_read_again(self.remotes.state.load.error):
            self.pages.load()
        self.pages.show_changes()
        self.refresh_bindings()

    # --- painting ------------------------------------------------------------------------------

    def paint(self) -> None:
        self.pages.write_again()

    def follow_cursor(self) -> None:
        """Do nothing, because the pages follow the cursor themselves."""

    def pass_time(self) -> None:
        self.pages.pass_time()

    def on_resize(self) -> None:
        self.pages.follow_terminal()

    # --- marks ---------------------------------------------------------------------------------

    @property
    def rows_to_mark(self) -> Sequence[Row]:
        return self.pages.rows_to_mark()

    @property
    def row_to_mark(self) -> Row | None:
        return None if self.current is None else (self.lock_entry.lock_id, self.current)

    def paint_mark(self, row: Row) -> None:
        self.table.paint_remote(row[1])

    def describe_rows(self) -> None:
        self.pages.show_pager()

    def key_of_step(self, step: Step) -> Hashable | None:
        return key_of_remote(step)

    # --- what keys can do ----------------------------------------------------------------------

    def why_not(self, action: str) -> str:
        """Return why an action is disabled; see also :meth:`RemoteCommands.why_not`."""
        state = self.remotes.state
        if action in PAGING:
            return why_no_page(state, action, self.remotes.at)
        if action != "mark" and (action in MARKING or (self.marks and action in self.on_marked)):
            if action == "mark_all" and state.found is not None and state.found.running:
                return "The search is still running. Press escape to stop it."
            if action == "mark_all" and not self.table.rows:
                return "There is nothing to mark."
            return self.why_no_mark(action)
        if reason := self.commands.why_not("detail" if action == "mark" else action):
            return reason
        if action in ("next_lock", "previous_lock") and self.marks:
            return with_keys("Some remotes are marked. Press {marks.none} to unmark them.")
        if action == "clear" and state.page and not state.page.least:
            return "The lock has no remotes to clear."
        return ""

    # --- actions: pages ------------------------------------------------------------------------

    def _flip_to(self, page_no: int) -> None:
        self.pages.flip_to(page_no, held=self._flip.is_repeated())

    def action_next_page(self) -> None:
        self._flip_to(self.remotes.at + 1)

    def action_previous_page(self) -> None:
        self._flip_to(self.remotes.at - 1)

    def action_first_page(self) -> None:
        self._flip_to(1)

    def action_last_page(self) -> None:
        self._flip_to(self.remotes.state.last_page)

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

    def action_page_size(self) -> None:
        """Ask for a page size and apply it; the service may still return fewer or more remotes."""

        def resize(size: int | Literal["auto"] | None) -> None:
            if size is not None:
                self.remotes.wanted_size = size
                self.pages.fit(asked=True)

        now = self.remotes.wanted_size
        fitting = page_rows(FIT, *self.app.size)
        sizes = sorted({*PAGE_SIZES} | ({now} if now != FIT else set()))
        choices: list[tuple[int | Literal["auto"], str]]
        choices = [(FIT, f"as many as fit (now {fitting})")]
        choices += [(size, f"{size} remotes per page") for size in sizes]
        at = [size for size, _ in choices].index(now)
        self.app.push_screen(screens.ChoiceModal("How many remotes per page?", choices, at), resize)

    def action_refresh(self) -> None:
        self.pages.load(fresh=True, moving=True)
        if self.remotes.state.found is not None:
            self.pages.search()

    def action_find(self) -> None:
        self.pages.find_line().open()

    def action_filter(self) -> None:
        """Ask the user for a state, and show only the remotes of that state."""
        question, only = "Show remotes in which state?", self.remotes.state.only
        screens.ask_only(self.app, question, self.remotes.counts.counts, only, self.pages.show_only)

    def action_table(self) -> None:
        """Ask the user for the columns and the sort order of the table."""
        dialog = screens.ColumnsModal(self.pages.columns.arrangement, self.table.left_out)
        self.app.push_screen(dialog, self.pages.arrange_table)

    # --- actions: remotes ----------------------------------------------------------------------

    def action_detail(self) -> None:
        remote = self.current
        if remote is not None and remote.id is not None:
            title = remote.remote_name or f"remote {remote.id}"
            screen = screens.RemoteDetailScreen(self.operations, self.lock_entry, remote.id, title)
            self.app.push_screen(screen)

    def action_add(self) -> None:
        self.commands.add()

    def action_another(self) -> None:
        self.commands.add_another()

    def action_edit(self) -> None:
        self.commands.edit()

    def action_renew(self) -> None:
        (self.marked if self.marks else self.commands).renew()

    def action_delete(self) -> None:
        (self.marked if self.marks else self.commands).delete()

    def action_replace(self) -> None:
        self.commands.replace_fob()

    def action_user_number(self) -> None:
        self.commands.set_user_number()

    def action_copy(self) -> None:
        self.commands.copy()

    def action_clear(self) -> None:
        self.commands.clear()

    def action_act_on_marked(self) -> None:
        self.marked.act()

    @work
    @opens("the plan to undo the last change", must_appear=True)
    async def action_undo(self) -> None:
        """Show the plan that undoes the last change of this lock, or the run of that change."""
        await screens.open_undo(self, self.operations, self.lock_entry.lock_id)

    def action_voice(self) -> None:
        self.app.push_screen(screens.VoiceScreen(self.operations, self.lock_entry))

    def action_copies(self) -> None:
        """Open the screen that copies the marked remotes, or all remotes, to other locks."""
        if self.marks:
            self.marked.copy_to_locks()
        else:
            self.app.push_screen(screens.CopyScreen(self.operations, self.lock_entry))

    # --- actions: other locks ------------------------------------------------------------------

    def action_next_lock(self) -> None:
        self._show_lock_beside(1)

    def action_previous_lock(self) -> None:
        self._show_lock_beside(-1)

    @work
    @opens("the other lock", must_appear=True)
    async def _show_lock_beside(self, step: int) -> None:
        """Show the lock ``step`` positions further in the sorted lock book, which wraps around."""
        with self.refusing_errors():
            book = self.pages.body.book = await self.operations.locks.all()
            locks = by_name(book, self.lock_entry)
            ids = [lock.lock_id for lock in locks]
            other = locks[(ids.index(self.lock_entry.lock_id) + step) % len(locks)]
            if other.lock_id == self.lock_entry.lock_id:
                self.refuse_to_open("Another lock", "The lock book contains no other lock.")
            else:
                self._show_lock(other)

    @on(BookPane.LockClicked)
    def _lock_clicked(self, event: BookPane.LockClicked) -> None:
        self._show_lock(event.lock)

    def _show_lock(self, lock: Lock) -> None:
        """Replace this screen with the remotes of another lock."""
        if not self.is_current:
            return
        if reason := self.why_not("next_lock"):
            self.notify(reason, title="Another lock")
            return
        other = RemotesScreen(self.operations, lock, self._open_book, self.pages.body.book)
        other.leads_back = self.leads_back
        self.app.switch_screen(other)

    def action_back(self) -> None:
        """Do the first that applies: stop or clear the search, show all, unmark, or go back."""
        state = self.remotes.state
        if state.found is not None and state.found.running:
            self.pages.stop_search()
        elif state.needle:
            self.pages.find_line().action_close()
        elif state.only is not None:
            self.pages.show_only(None)
        elif self.marks:
            self.action_unmark_all()
        elif len(self.app.screen_stack) > 1:
            self.dismiss(None)
        else:
            self._open_book()


class ListCommands(RemoteCommands):
    """The commands on the selected remote of the list, and on all remotes of the lock.

    Args:
        screen: The screen that shows the list.
    """

    def __init__(self, screen: RemotesScreen) -> None:
        super().__init__(screen, refresh="remotes.refresh")
        self._list_screen = screen

    @property
    def current(self) -> Remote | None:
        return self._list_screen.current

    @property
    def known(self) -> Iterable[Remote]:
        return self._list_screen.remotes.state.known

    @property
    def total(self) -> int | None:
        page = self._list_screen.remotes.state.page
        return page.total if page is not None else None

    def is_deleted(self, remote: Remote) -> bool:
        return self._list_screen.remotes.state.is_deleted(remote)

    def go_to(self, remote_id: int | None) -> None:
        self._list_screen.remotes.go_to = remote_id

    def show_busy(self) -> None:
        self._list_screen.pages.paint_rows()
