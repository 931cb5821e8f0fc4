"""The screen of the lock book, from which the user opens the remotes of a lock."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.reactive import var

from lockterm import screens
from lockterm.config import values
from lockterm.domain.glyphs import quoted
from lockterm.domain.locks import Lock
from lockterm.domain.marks import LockMarks
from lockterm.domain.names import fold_text
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import describe_none, format_count
from lockterm.errors import LocktermError, StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.screens.list_screen import MARKING, ListScreen
from lockterm.screens.locks.marked import READING, MarkedLocks
from lockterm.screens.locks.table import LockBadges, LockRows, LocksTable, more_about
from lockterm.terminal.key_queue import opens
from lockterm.widgets.actions import bindings
from lockterm.widgets.data_status import KeyOffers, Pager, describe_error
from lockterm.widgets.text_input import FindLine

if TYPE_CHECKING:
    from lockterm.domain.operation import Operation
    from lockterm.domain.plan import Step

_SAMPLE_LOCKS = "A service started with --sample-data has the locks 1001 to 1006."
"""The sentence with the lock IDs of the sample data, for a service on this machine."""

_BY_ID = {"{locks.open_by_id}": "open a lock by its ID"}

_ON_A_LOCK = {"open", "edit", "remove", "voice", "copies", "mark"}
"""Actions that need a selected lock."""


class LocksScreen(ListScreen[None]):
    """The screen that lists the locks in the lock book.

    Args:
        operations: The operations on the service and the local store.
    """

    BINDINGS = bindings("locks")

    table: LocksTable
    marks: LockMarks
    on_marked: ClassVar[Mapping[str, str]] = {
        "voice": "set voice",
        "refresh": "read",
        "copies": "copy to",
    }

    global_keys: ClassVar[Mapping[str, str]] = {
        "app.everywhere": "all locks",
        "app.what_ends": "expiring",
        "app.history": "history",
        "app.quit": "quit",
    }
    """Maps the IDs of the global keys that the footer also shows to their labels."""

    wanted: var[str] = var("", init=False)
    """The text to search for."""

    def __init__(self, operations: Operations) -> None:
        marks = LockMarks()
        super().__init__(operations, LocksTable(marks), marks)
        self.book: tuple[Lock, ...] | LocktermError | None = None
        """The lock book, or the error of reading it; None until it is read."""
        self._shelf = LockRows(())
        """The rows of all locks in the lock book, with their column widths."""
        self._texts: Sequence[str] = ()
        """The searchable text of each lock; empty until the first search."""
        self.marked = MarkedLocks(self)
        """The commands on the marked locks."""
        self._go_to: int | None = None
        self._places: dict[int, int] = {}
        """Maps lock IDs to positions in the table. Opening a lock does not sort the rows again.
        Otherwise, a user who opens locks from top to bottom would open the same two locks
        repeatedly."""

    def breadcrumbs(self) -> tuple[str, ...]:
        return ("Locks",)

    def compose_body(self) -> ComposeResult:
        """Compose the table, the empty state, the panel of the selected lock, and other lines."""
        with Horizontal(id="book"):
            yield from self.compose_list()
            if self.has_class("-framed"):
                yield screens.LockPane(self.operations)
        yield LockBadges()
        yield FindLine(id="find")
        yield Pager(self.operations.machine_ms, id="about")

    # --- loading -------------------------------------------------------------------------------

    def refresh_relative_times(self) -> None:
        """Update the texts that show how long ago locks were opened and read."""
        self.paint()

    def on_screen_resume(self) -> None:
        """Read the lock book again, because other screens or sessions may have changed it."""
        self.load_book()
        self.unmark_done()

    def read_changed(self, lock_ids: Iterable[int]) -> None:
        """Read the lock book again after a run, because the run may have set voices."""
        self.load_book()
        self.unmark_done()

    @work(exclusive=True, group="book")
    @opens("the locks")
    async def load_book(self, *, sort: bool = False) -> None:
        """Read the lock book and show its locks.

        Args:
            sort: Whether to sort the locks by the time when they were last opened. If not, new
                locks come first, and the other locks keep their order.
        """
        try:
            locks = await self.operations.locks.all()
            if not sort:
                locks.sort(key=lambda lock: self._places.get(lock.lock_id, -1))
            self._places = {lock.lock_id: place for place, lock in enumerate(locks)}
            self._sort(locks)
            self.marks.see(locks)
            self.marks.drop(one for one in self.marks.rows if one.lock_id not in self._places)
        except StoreError as error:
            self.book = error
        self.workers.cancel_group(self, "ends")  # the worker may have read outdated lists
        self.table.read_ends_again()
        self.paint()  # even if the book is unchanged, the ages may differ

    @work(exclusive=True, group="ends", description="expiring remotes")
    async def read_ends(self) -> None:
        """Count expired and expiring remotes of the visible locks, from the local store.

        No key waits for this work.
        """
        table, operations = self.table, self.operations
        try:
            for key in table.lacking:
                table.note_ends(
                    key, await operations.kept_lists.ends(int(key)), operations.machine_ms()
                )
        finally:  # if scrolling cancels this read, show the results so far
            table.show_ends()
        self.describe_rows()

    def _sort(self, locks: Sequence[Lock]) -> None:
        """Store the locks, sorted by the clicked column title. A search keeps this order."""
        book = tuple(self.table.in_order(locks))
        self.book, self._texts, self._shelf = book, (), LockRows(book)

    @property
    def current(self) -> Lock | None:
        """The selected lock; None if the table is empty."""
        return self.table.selected if self.table.display else None

    # --- marks ---------------------------------------------------------------------------------

    @property
    def rows_to_mark(self) -> Sequence[Lock]:
        return [*self.table.locks]

    @property
    def row_to_mark(self) -> Lock | None:
        return self.current

    @property
    def cursor_place(self) -> int:
        return self.table.cursor_row if self.table.display else -1

    def key_of_step(self, step: Step) -> Hashable | None:
        return step.lock_id

    @on(MarkedLocks.CountsRead)
    def _counts_read(self) -> None:
        self.load_book()

    # --- watchers ------------------------------------------------------------------------------

    def watch_wanted(self) -> None:
        self.paint()

    @property
    def known_locks(self) -> Sequence[Lock]:
        """The locks of the lock book; empty if the book could not be read yet."""
        return self.book if isinstance(self.book, tuple) else ()

    def paint(self) -> None:
        if not isinstance(self.book, tuple):
            if self.book is not None:
                self.show_list()
            self.describe_rows()
            return
        self.table.show_locks(self._found(self.book), self.operations.machine_ms(), self._go_to)
        self._go_to = None
        self.show_list()
        self.show_marks()

    @property
    def has_rows(self) -> bool:
        return super().has_rows and isinstance(self.book, tuple)

    def describe_empty(self) -> tuple[str, KeyOffers]:
        if self.book is None:
            return "Reading the lock book ...", {}
        if not isinstance(self.book, tuple):
            return describe_error(self.book), {"{locks.refresh}": "try again", **_BY_ID}
        if self.book:
            none = describe_none(len(self.book), "lock", "matches", "does not match")
            return f"{none} {quoted(clean(self.wanted, 60))}.", {"Esc": "show all"}
        return (
            "The lock book is empty.\n\nThe service cannot list locks, so lockterm keeps"
            f" a lock book. Add each lock once by its ID.\n\n{self._ids_to_try()}",
            {"{locks.add}": "add a lock", **_BY_ID, "{app.help}": "help"},
        )

    def _ids_to_try(self) -> str:
        """Return a sentence that explains where to find lock IDs."""
        if values.is_loopback(urlsplit(self.operations.profile.base_url).hostname or ""):
            return _SAMPLE_LOCKS
        return "Ask the operator of the service for the IDs."

    def _found(self, book: tuple[Lock, ...]) -> LockRows:
        """Return the locks whose text contains every typed word, ignoring case."""
        words = fold_text(self.wanted).split()
        if not words:
            return self._shelf
        self._texts = self._texts or [*map(_text, book)]
        found: Iterable[tuple[Lock, str]] = zip(book, self._texts, strict=True)
        for word in words:  # checking all words for each lock takes five times as long
            found = [one for one in found if word in one[1]]
        locks = [lock for lock, _ in found]
        return self._shelf if len(locks) == len(book) else LockRows(locks)

    def describe_rows(self) -> None:
        self.query_one("#about", Pager).show([(text, None) for text in self._about()])
        self.refresh_bindings()
        self._show_badges()
        self._show_pane()

    def _unconfirmed(self, lock: Lock | None) -> int:
        return sum(one.lock_id == lock.lock_id for one in self.unconfirmed) if lock else 0

    def _show_badges(self) -> None:
        """Show the line of badges if no column or panel shows the selected lock's counts.

        The line stays visible when it is empty, because the table would otherwise move at a key
        press.
        """
        others = ("-framed", "-wide", "-narrow", "-low")
        has_room = not any(map(self.has_class, others)) and not self.app.has_class("-quiet")
        self.table.reads_selected, lock = has_room, self.current
        for badges in self.query(LockBadges):  # none at exit
            badges.display = has_room and self.table.display
            ends = None if lock is None else self.table.ends_of(lock)
            badges.show_lock(ends, self._unconfirmed(lock), self.operations.machine_ms())
        if has_room:
            self.table.look_for_lacking()

    def show_notices(self, connection_text: str, unconfirmed: tuple[Operation, ...]) -> None:
        """Show the connection state and unconfirmed changes.

        Also update the number of unconfirmed changes in the panel.
        """
        is_other = unconfirmed != self.unconfirmed
        super().show_notices(connection_text, unconfirmed)
        if is_other:  # during a pause, the notices are shown every second
            self._show_badges()
            self._show_pane()

    def _show_pane(self) -> None:
        """Show the selected lock in the panel, if the terminal has room for the panel."""
        book = self.query("#book")  # at exit, Textual removes it before the screen
        if not self.has_class("-framed") or not book:
            return
        if not self.query("#lock-pane"):
            book.first().mount(screens.LockPane(self.operations))
        lock = self.current
        self.query_one("#lock-pane", screens.LockPane).show_lock(lock, self._unconfirmed(lock))

    def _about(self) -> list[str]:
        if not isinstance(self.book, tuple) or not self.book:
            return [""]
        count = format_count(len(self.book), "lock")
        marked = self.marks.describe(self.table.locks) if self.marks else ""
        found = f"{self.table.row_count} of {count}" if self.wanted else count
        parts = [*filter(None, (marked, self.marked.reading)), found]
        more, lock = [""], self.current
        if lock is not None and not self.has_class("-framed"):  # else the panel has this
            more = more_about(lock, self.operations.zone(lock), self.operations.machine_ms())
            if ends := self.table.describe_ends(lock):
                more = [*("   ".join(filter(None, (ends, one))) for one in more), ""]
        return ["   ".join(filter(None, (*parts, one))) for one in more]

    # --- handlers ------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self.call_after_refresh(self.describe_rows)

    @on(LocksTable.Lacking)
    def _others_in_sight(self) -> None:
        self.read_ends()

    def sort_rows(self) -> None:
        if isinstance(self.book, tuple):
            self._sort(sorted(self.book, key=lambda lock: self._places[lock.lock_id]))
            self.paint()

    def search_for(self, text: str) -> None:
        self.wanted = text

    # --- actions -------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled now, for example because no lock is selected."""
        if isinstance(self.book, StoreError) and action in _ON_A_LOCK | {"add"}:
            return with_keys(
                "The lock book cannot be read. Press {locks.open_by_id} to open a lock by its ID."
            )
        is_for_marked = bool(self.marks) and action in ("voice", "refresh")
        if action in _ON_A_LOCK and self.current is None and not is_for_marked:
            return with_keys(
                "No lock is listed. Clear the search, or press {locks.add} to add a lock."
            )
        if action == "mark_all" and not self.table.row_count:
            return "There is nothing to mark."
        if action in MARKING:
            return self.why_no_mark(action)
        return self.marked.disabled_reason(action) if is_for_marked else ""

    def action_open(self) -> None:
        """Show the remotes of the selected lock."""
        if lock := self.current:
            self._show_remotes(lock)

    def _show_remotes(self, lock: Lock) -> None:
        self.app.push_screen(screens.RemotesScreen(self.operations, lock, book=self.known_locks))

    def action_voice(self) -> None:
        """Show the voices of the selected lock, or choose one voice for all marked locks."""
        if self.marks:
            self.marked.set_voice()
        elif lock := self.current:
            self.app.push_screen(screens.VoiceScreen(self.operations, lock))

    def action_copies(self) -> None:
        """Open the screen that copies the remotes of the selected lock to other locks."""
        if self.marks:
            self.marked.copy_to()
        elif lock := self.current:
            self.app.push_screen(screens.CopyScreen(self.operations, lock))

    @work
    @opens("the lock", must_appear=True)
    async def action_open_by_id(self) -> None:
        """Ask for a lock ID, then show the lock's remotes or the form that adds the lock."""
        if (answer := await self.app.push_screen_wait(screens.OpenLockModal())) is None:
            return
        lock_id, adds = answer
        if adds and lock_id not in self._places:
            self._fill_in(None, {"id": str(lock_id)})
            return
        try:
            lock = await self.operations.locks.find(lock_id)
        except StoreError:  # without the book, only the lock's name is missing
            lock = Lock(lock_id)
        self._show_remotes(lock)

    def action_add(self) -> None:
        """Open the form that adds a lock to the lock book."""
        self._fill_in(None)

    def action_edit(self) -> None:
        """Open the form that changes the entry of the selected lock."""
        if lock := self.current:
            self._fill_in(lock)

    def _fill_in(self, lock: Lock | None, typed: Mapping[str, str] | None = None) -> None:
        book = self.book if isinstance(self.book, tuple) else ()
        self.app.push_screen(screens.LockForm(self.operations, lock, book, typed), self._filled_in)

    def _filled_in(self, saved: Lock | None) -> None:
        if saved is not None:
            self._go_to = saved.lock_id
            self.query_one(FindLine).action_close()
            self.load_book()

    @work
    @opens("the lock book")
    async def action_remove(self) -> None:
        """Remove the selected lock from the lock book, after a confirmation."""
        lock = self.current
        if lock is None:
            return
        if await self.app.push_screen_wait(screens.removal(lock)):
            with self.showing_errors():
                await self.operations.locks.remove(lock.lock_id)
                self.notify(
                    "The lock is no longer in the lock book. Nothing changed at the service.",
                    title=f"Removed {clean(lock.title, 60)} (lock {lock.lock_id})",
                )
            self.load_book()

    def action_find(self) -> None:
        if isinstance(self.book, tuple):  # prepare the search of the first letter
            self._texts = self._texts or [*map(_text, self.book)]
        super().action_find()

    def action_show_all(self) -> None:
        """Clear the search text. If there is no search text, unmark all locks."""
        if self.wanted or not self.marks:
            self.query_one(FindLine).action_close()
        else:
            self.action_unmark_all()

    def action_refresh(self) -> None:
        """Read the remotes of the marked locks.

        If no lock is marked, read and sort the lock book again.
        """
        if self.marks:
            self.marked.read()
        else:
            self.load_book(sort=True)

    # --- actions: marks ------------------------------------------------------------------------

    def action_unmark_all(self) -> None:
        """Stop reading marked locks, and unmark all locks.

        If no lock is marked, restore the last marks instead.
        """
        self.workers.cancel_group(self, READING)
        super().action_unmark_all()

    def action_act_on_marked(self) -> None:
        self.marked.act()


def _text(lock: Lock) -> str:
    texts = f"{lock.alias}\n{lock.vendor}\n{lock.model}\n{lock.zone}"
    return fold_text(f"{lock.title}\n{lock.lock_id}\n{texts}")
