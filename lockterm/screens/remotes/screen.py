"""The remotes of a lock, page by page: the heart of lockterm."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.css.query import NoMatches
from textual.reactive import var

from lockterm.config.profile import FIT, page_rows
from lockterm.domain.history import Selection
from lockterm.domain.locks import Lock
from lockterm.domain.marks import remote_marks
from lockterm.domain.text import clean
from lockterm.errors import LocktermError, StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations, Seen
from lockterm.operations.remotes import AHEAD_S, JUST_READ_S
from lockterm.screens.base import LocktermScreen
from lockterm.screens.load_state import LoadState, load
from lockterm.screens.marked.commands import ON_MARKED, MarkedCommands
from lockterm.screens.marked.marking import MARKING, Marking
from lockterm.screens.remotes.columns import Arrangement, ColumnsChoice, SortOrder
from lockterm.screens.remotes.commands import RemoteCommands
from lockterm.screens.remotes.page_loader import PageLoader
from lockterm.screens.remotes.page_view import Found, PageView, search, state_words
from lockterm.screens.remotes.pager_words import pager_words
from lockterm.screens.remotes.paging import (
    FLIPPING,
    HELD_S,
    PAGE_SIZES,
    PAGING,
    HeldKey,
    why_no_page,
)
from lockterm.screens.remotes.row import say_the_same
from lockterm.screens.remotes.states import Only, StateCounts, ask_only
from lockterm.screens.remotes.table import RemotesTable
from lockterm.terminal.key_queue import opening, opens
from lockterm.terminal.last_frame import Shown
from lockterm.terminal.patches import own_bindings
from lockterm.widgets.bindings import bindings
from lockterm.widgets.find_line import FindLine
from lockterm.widgets.key_line import KeyLine
from lockterm.widgets.line_table import LineTable
from lockterm.widgets.pager import Pager
from lockterm.widgets.state_panel import StatePanel, in_a_line

if TYPE_CHECKING:
    from textual.timer import Timer

    from lockterm.domain.marks import Row
    from lockterm.domain.operation import Operation
    from lockterm.domain.remotes import Remote, RemotePage
    from lockterm.screens.remotes.book_pane import BookPane
    from lockterm.screens.remotes.pane import RemotePane

BOOK_FROM = 160
"""Columns of the terminal from which the lock book stands at the left."""

RESIZED_S = 0.3
"""Seconds for which the terminal keeps its size before the service is asked for other rows: a
window that is drawn larger has dozens of sizes on the way."""

SEARCH_SHOWN_MS = 250
LONG_SEARCH_SHOWN_MS, LONG_SEARCH_MS = 1000, 2000
"""How often a search tells how far it is, and how often from so many milliseconds on: each time
costs 80 bytes, and a list may have 1,000 pages."""


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
        self._book = book
        self._book_pane: BookPane | None = None
        self.lock_entry = lock_entry
        self.pages = PageLoader(operations, lock_entry.lock_id, self.notify)
        """Reads the pages."""
        self.commands = RemoteCommands(
            self,
            lambda: self.current,
            refresh="remotes.refresh",
            stand_on=self._stand_on,
            busy_changed=self.paint_rows,
            known=lambda: self.view.known,
            total=lambda: self.view.page.total if self.view.page else None,
            is_deleted=lambda remote: self.view.is_deleted(remote),
        )
        """What the keys do with the remote under the cursor."""
        self.marks = remote_marks()
        """Which remotes are marked."""
        self._marking = Marking(
            self,
            self.marks,
            self._marked_rows,
            lambda: self.query_one(RemotesTable).cursor_row,
            self._show_marks,
            ON_MARKED,
        )
        self.marked = MarkedCommands(
            self,
            self.marks,
            lambda lock_id: self._zone,
            lambda: self._lock_name,
            shown=self._marked_rows,
            changed=self._show_marks,
        )
        """What the keys do with the marked ones."""
        self._had_marks = False
        self._zone = operations.zone(lock_entry)
        self._go_to: int | None = None
        """The remote to stand on once the page is there."""
        self._noted: int | None = None
        """How many remotes the lock book was told of; None: the lock is not noted as opened yet."""
        self._flip = HeldKey()
        self._counts = StateCounts()
        self._cut_name = ""
        """The name that the pager tells, for its row has not room for it."""
        self._kind: tuple[str, ...] = ()
        """Why keys can do nothing with the remote that the cursor was moved to; empty: not known
        any more."""
        self._pane: RemotePane | None = None
        self._replayed: Seen[RemotePage] | None = None
        """The page whose rows stood on the terminal at the start; None: there was none."""
        self._may_restore = False
        """Whether the history has remotes of this lock that were deleted from here."""
        self._resized: Timer | None = None
        """Goes off when the terminal has kept its size for a while."""

    def crumbs(self) -> tuple[str, ...]:
        return ("Locks", self.lock_entry.title, "Remotes")

    @property
    def known_locks(self) -> Sequence[Lock]:
        return self._book or ()

    def compose_body(self) -> ComposeResult:
        """The table and its pane; words below the titles where there are no rows; the pager."""
        self.columns = ColumnsChoice(self.host.choices)
        with Container(id="remotes"):
            with Horizontal(id="beside"):
                yield RemotesTable(
                    self._moved, self.columns.arrangement, self._is_marked, id="table"
                )
            # In a layer of its own: when it goes, nothing else is laid out or painted again.
            words = state_words(self.view, self._lock_name, may_add=False)
            yield StatePanel("\n\n".join(words), id="state")
        with Horizontal(id="foot"):
            yield FindLine(id="find")
            yield Pager(self.operations.clock.steady_ms, id="pager")

    # --- loading -------------------------------------------------------------------------------

    async def on_mount(self) -> None:
        """Show the first page where it is there already; and ask, unless it has just come.

        Where the rows of an earlier session stand on the terminal, they stay until it is there.
        """
        self.pages.size = self._rows_wanted
        self._show_pane()
        self._show_book_pane()
        if self.host.is_replayed and self._book_pane is not None:
            await self._read_book()  # as it stands on the terminal
        first = self.pages.first()
        if first is None:
            if self.host.is_replayed and (kept := await self.pages.kept(1)) is not None:
                self._replayed = kept
                state = LoadState(kept, kept=True, slow=True)
                self.view = replace(self.view, state=state, wanted=1)
            self.load_page()
            return
        seen, shown = first
        self.view = replace(self.view, state=LoadState(seen), wanted=1)
        self.call_after_refresh(shown)
        # And all that follows from a page.
        self.call_after_refresh(self.load_page, at_most_s=JUST_READ_S)

    def on_screen_resume(self) -> None:
        """Another screen may have changed the lock's entry, its zone for one."""
        self.call_after_refresh(self.read_entry)  # the rows do not wait for it
        self.call_after_refresh(self.read_book)
        self.fit_page()  # nor has the terminal been looked at meanwhile
        self.marked.plans.note_outcomes()

    @work(exclusive=True, group="entry")
    async def read_entry(self) -> None:
        """Take over what the lock book says of the lock now: its name, its zone."""
        with suppress(StoreError):  # the locks screen says so; the remotes do not need the book
            entry = await self.operations.locks.find(self.lock_entry.lock_id)
            if entry not in (Lock(entry.lock_id), self.lock_entry):
                self.lock_entry = entry
                self._zone = self.operations.zone(entry)
                self.show_crumbs()
                self.paint_rows()  # with the times of its zone

    @work(exclusive=True, group="book")
    async def read_book(self) -> None:
        """Have the book beside the rows tell what it says now: other screens change it."""
        if self.query("#remotes.-book"):
            await self._read_book()

    async def _read_book(self) -> None:
        with suppress(StoreError):  # the locks screen says so
            self._book = await self.operations.locks.all()
        self._paint_book()

    @work(exclusive=True, group="page")
    async def load_page(
        self,
        *,
        fresh: bool = False,
        held: bool = False,
        moving: bool = False,
        at_most_s: float = AHEAD_S,
    ) -> None:
        """Load the wanted page; the old one stays until it is there.

        Args:
            fresh: Ask the service even where the page was fetched ahead.
            held: Whether the key that flips is held down. Then the service is asked for the page
                on which it is let go, and for none of those before.
            moving: Whether keys that move the cursor take effect before the page is there: it
                stays on its remote.
            at_most_s: How old, in seconds, a page may be that serves without asking.
        """
        wanted, shown = self.page_no, self.view.page
        if fresh:
            self.pages.forget()
            self._counts.forget()
        at_hand = self.pages.is_at_hand(wanted)
        if held and not at_hand:
            self.view = replace(self.view, wanted=wanted, state=replace(self.view.state, slow=True))

        async def read() -> Seen[RemotePage]:
            if held and not at_hand:
                await asyncio.sleep(HELD_S)  # the next press ends it here
            go_to = None if self.view.found else self._go_to
            return await self.pages.read(wanted, go_to, at_most_s=at_most_s)

        def show(state: LoadState[RemotePage]) -> None:
            if state.busy and not state.slow:  # nothing of it is to be seen yet
                self.set_reactive(RemotesScreen.view, replace(self.view, state=state))
                return
            if state.seen is not None and not state.busy and not state.stale:
                self.set_reactive(RemotesScreen.page_no, state.seen.value.page_no)
            self.view = replace(self.view, state=state, wanted=wanted)

        passes = self._flips_or_moves if moving and shown else self._flips
        with opening(self, f"page {wanted}", passes=passes) as opened:
            if not fresh and shown and shown.page_no == wanted and self._go_to is None:
                opened.end()  # nobody has asked for anything else than what is there
            seen = await load(
                self,
                lambda: self.view.state,
                show,
                read,
                partial(self.pages.kept, wanted),
                kept_shown=opened.end,
                is_other=lambda page: page.page_no != wanted,
            )
            opened.has_failed = seen is None
        if seen is None:
            return
        self._go_to = None
        self.call_after_refresh(self.fit_page)  # where the terminal got another size meanwhile
        self.compare_with_journal(seen.value)
        if not (held and at_hand):
            self.call_after_refresh(self.pages.look_ahead, seen.value)
        if seen.value.total != self._noted:
            self._noted = seen.value.total
            with self.showing_errors():
                await self.operations.locks.note_opened(self.lock_entry, seen.value.total)
            self.read_book()
        if held and at_hand:
            await asyncio.sleep(HELD_S)
            self.pages.look_ahead(seen.value)

    # Described here: else Textual writes out the page that is given, with all its remotes.
    @work(exclusive=True, group="journal", description="compare with the journal")
    async def compare_with_journal(self, page: RemotePage) -> None:
        """Show what was added or deleted just now and the list does not show yet."""
        with suppress(StoreError):  # the page is shown all the same
            unlisted = await self.pages.unlisted(page)
            if unlisted != self.view.unlisted and self.view.page is page:
                self.view = replace(self.view, unlisted=unlisted)

    @work(exclusive=True, group="search")
    async def search_all(self, *, again: bool = False) -> None:
        """Look through the whole list for what was typed.

        Args:
            again: What was found before stays in sight, and under the cursor, until it is done.
        """
        found = Found(at_ms=self.operations.now_ms())
        opened = opening(self, "the first that are found")
        if again and self.view.found is not None:
            self.view = replace(self.view, found=replace(self.view.found, running=True))
            opened.end()
        lock_id, view = self.lock_entry.lock_id, self.view
        steady_ms, due_ms, has_found = self.operations.clock.steady_ms, 0, False
        long_ms = steady_ms() + LONG_SEARCH_MS
        try:
            async with aclosing(search(self.operations, lock_id, view, self._zone)) as steps:
                async for found in steps:
                    is_due = steady_ms() >= due_ms or (bool(found.remotes) and not has_found)
                    if is_due and not again:
                        self.view = replace(self.view, found=found)
                        every_ms = SEARCH_SHOWN_MS
                        if steady_ms() >= long_ms:
                            every_ms = LONG_SEARCH_SHOWN_MS
                        due_ms = steady_ms() + every_ms
                        has_found = bool(found.remotes)
                    if found.remotes:
                        opened.end()
        except LocktermError as error:
            self.keep_refusal(error)
            found = replace(found, ended=f"then: {in_a_line(error)[-1]}")
        finally:
            opened.end()
        self.view = replace(self.view, found=replace(found, running=False))

    @work(exclusive=True, group="restorable")
    async def look_for_restorable(self) -> None:
        """See whether the history can bring back what an empty lock had."""
        with suppress(StoreError):  # whoever opens the history is told
            self._may_restore = await self.pages.may_restore()
            self._show_state()

    def after_write(self, remote_id: int | None) -> None:
        """Read the page again: what is shown may have changed."""
        self.load_page(fresh=True)
        if self.view.found is not None:
            self.search_all(again=True)
        self.marked.plans.note_outcomes()

    # --- watchers ------------------------------------------------------------------------------

    def watch_page_no(self) -> None:
        self.load_page(held=self._flip.is_repeated())

    def watch_view(self, old: PageView, new: PageView) -> None:
        """Paint what has changed: the rows only where they have."""
        rows = [
            (one.state.seen, one.needle, one.only, one.found, one.unlisted) for one in (old, new)
        ]
        if any(one is not other for one, other in zip(*rows, strict=True)):
            pages = [view.page.page_no if view.page else 0 for view in (old, new)]
            if new.page is not None:
                self._counts.note(new.page, self.operations.now_ms())
            self.paint_rows(top=pages[0] != pages[1])
            if new.page is not None and not new.page.total:
                self.look_for_restorable()
        elif not new.state.shows(old.state):
            self._show_state()
        self._show_pager()
        self._kind = ()
        self.query_one(KeyLine).show_keys()

    def paint_rows(self, *, top: bool = False) -> None:
        """Fill the table anew; the cursor stays on its remote.

        Args:
            top: Whether to stand on the first row where that remote is gone.
        """
        if not self.is_running:  # a write may outlive the screen that began it
            return
        now_ms, unlisted = self.operations.now_ms(), self.view.unlisted
        self.query_one(RemotesTable).show_remotes(
            self.view.rows(self.columns.arrangement.order, self._zone, now_ms),
            self._zone,
            now_ms,
            busy={**(unlisted.words if unlisted else {}), **self.commands.busy},
            cursor=self._go_to,
            top=top,
        )
        if self.marks:
            self.marks.see(self._marked_rows())
        if self._tell_cut_name():
            self._show_pager()
        self._show_state()
        self._show_pane()

    def write_again(self) -> None:
        self.paint_rows()
        self._show_pager()

    def _show_state(self) -> None:
        """The rows, or the words in their place."""
        table, panel = self.query_one(RemotesTable), self.query_one(StatePanel)
        panel.display = table.row_count == 0
        if panel.display:
            may = {"may_add": not self.why_not("add"), "may_restore": self._may_restore}
            panel.say(*state_words(self.view, self._lock_name, **may))
        # Rows that were replayed are said to be old: in another colour they would be sent twice.
        state = self.view.state
        is_replayed = state.seen is self._replayed and state.error is None
        table.set_class(state.stale and not is_replayed, "-stale")

    def _show_pager(self) -> None:
        rows, order = self.query_one(RemotesTable).row_count, self.columns.arrangement.order
        marked = self.marks.words(self._marked_rows()) if self.marks else ""
        counts = self._counts.words()
        words = pager_words(self.view, rows, order, marked, self._cut_name, counts)
        self.query_one(Pager).show(*words)

    def _tell_cut_name(self) -> bool:
        """Have the pager tell the name under the cursor where that is cut; or no more."""
        # A wide terminal has it in the pane.
        table = self.query_one(RemotesTable)
        name = "" if self.has_class("-wide") else table.cut_name
        is_other, self._cut_name = name != self._cut_name, name
        return is_other

    def _show_pane(self) -> None:
        """In a wide terminal; it is made for the first."""
        if not self.has_class("-wide"):
            return
        if self._pane is None:
            from lockterm.screens.remotes.pane import RemotePane

            self._pane = RemotePane(id="pane")
            self.query_one("#beside").mount(self._pane)
            self.look_at_journal()
        row = self.query_one(RemotesTable).selected_row
        self._pane.show_row(row, self._zone, self.operations.now_ms())

    def _show_book_pane(self) -> None:
        """In a terminal of 160 columns; it is made for the first."""
        is_wide = self.app.size.width >= BOOK_FROM
        if not self.is_running or (self._book_pane is None and not is_wide):
            return
        if self._book_pane is None:
            from lockterm.screens.remotes.book_pane import BookPane

            self._book_pane = BookPane(self._go_to_lock, id="book")
            self.query_one("#beside").mount(self._book_pane, before=0)
            self._paint_book()
        remotes = self.query_one("#remotes")
        if is_wide != remotes.has_class("-book"):
            remotes.set_class(is_wide, "-book")
            self.read_book()

    def _paint_book(self) -> None:
        if self._book_pane is not None:
            from lockterm.screens.remotes.book_pane import by_name

            locks = by_name(self._book, self.lock_entry) if self._book is not None else ()
            self._book_pane.show_book(locks, self.lock_entry.lock_id)

    @work(exclusive=True, group="done", description="look at the journal")
    async def look_at_journal(self) -> None:
        """Have the pane tell what was done from here to the remotes of this lock."""
        if self._pane is None:
            return
        from lockterm.screens.remotes.pane import MOST_LINES

        with suppress(StoreError):  # whoever opens the history is told
            wanted = Selection(self.lock_entry.lock_id)
            lines = await self.operations.journal.lines(wanted, most=MOST_LINES)
            self._pane.show_done(lines)

    # --- handlers ------------------------------------------------------------------------------

    def _moved(self) -> None:
        """The cursor stands on another remote."""
        if self._tell_cut_name():
            self._show_pager()
        else:
            self.query_one(Pager).tick()
        self._show_pane()
        kind = tuple(map(self.commands.why_not, ("copy", "detail", "edit")))
        if kind != self._kind:  # only then can a key have come or gone
            self._kind = kind
            self.query_one(KeyLine).show_keys()

    @on(LineTable.Chosen)
    def _clicked(self) -> None:
        self.action_detail()

    @on(RemotesTable.TitleClicked)
    def _sort_by_title(self, event: RemotesTable.TitleClicked) -> None:
        """Sort up, then down, then not at all."""
        before = self.columns.arrangement
        self.use_arrangement(replace(before, order=SortOrder.after(before.order, event.column)))

    @on(FindLine.Changed)
    def _search_page(self, event: FindLine.Changed) -> None:
        self.workers.cancel_group(self, "search")
        self.view = replace(self.view, needle=event.value, found=None)
        if self.view.only is not None and not event.value:
            self._search_rest()  # one state was asked for of the whole lock

    @on(FindLine.Submitted)
    def _search_rest(self) -> None:
        page = self.view.page
        if self.view.is_narrowed and page is not None and page.total > len(page.remotes):
            self.search_all()

    @on(FindLine.Left)
    def _to_the_rows(self) -> None:
        self.query_one(RemotesTable).focus()

    def show_notices(self, link: str, unsettled: tuple[Operation, ...]) -> None:
        """The service was lost or is back: what failed is tried again by itself."""
        super().show_notices(link, unsettled)
        if self.may_read_again(self.view.state.error):
            self.load_page()
        if self._pane is not None:
            self.look_at_journal()
        self._kind = ()
        self.refresh_bindings()

    def on_resize(self) -> None:
        """The pane comes and goes with the width, rows with the height: once it stays as it is."""
        self.call_after_refresh(self._show_pane)
        self.call_after_refresh(self._show_book_pane)
        if self._resized is not None:
            self._resized.stop()
        self._resized = self.set_timer(RESIZED_S, self.fit_page)

    @property
    def _rows_wanted(self) -> int:
        """How many remotes a page is to have on the terminal as it is now."""
        return page_rows(self.pages.wanted_size, self.app.size.height)

    @work(exclusive=True, group="fit", description="have pages of another size")
    async def fit_page(self, *, asked: bool = False) -> None:
        """Have pages of the size that is wanted; the remote under the cursor stays there.

        Nothing waits for it, and every key acts on the rows that are shown. It is given up where
        another page is being read, or a question is about a row of this one: it is tried again
        behind that. A size that the service has refused is asked for again by a person alone.

        Args:
            asked: Whether a person has chosen the size, and is told where it cannot be had.
        """
        size, before = self._rows_wanted, self.view.state.seen
        tried = 0
        if not (asked or self.pages.may_have(size)):
            return
        while before is not None and size != self.pages.size:
            page_no = self._page_of_cursor(before.value, size)
            if page_no == tried or not self._may_fit(before, size):
                return
            tried, seen = page_no, None
            with self.showing_errors() if asked else suppress(LocktermError):
                seen = await self.pages.read_sized(page_no, size)
            if seen is None or not self._may_fit(before, size):
                return
            was, comes = ({one.id for one in page.value.remotes} for page in (before, seen))
            if self.current is not None and self.current.id in was - comes:
                continue  # the cursor has gone on meanwhile, to a row of another page
            self.pages.size = size
            self.set_reactive(RemotesScreen.page_no, seen.value.page_no)
            self.view = replace(self.view, state=LoadState(seen), wanted=seen.value.page_no)
            self.compare_with_journal(seen.value)
            self.call_after_refresh(self.pages.look_ahead, seen.value)

    def _may_fit(self, before: Seen[RemotePage], size: int) -> bool:
        """Whether a page may still take the place of one, and its size is still wanted."""
        state = self.view.state
        return (
            self.is_active and state.seen is before and not state.busy and size == self._rows_wanted
        )

    def _page_of_cursor(self, page: RemotePage, size: int) -> int:
        """The number of the page that has the remote under the cursor.

        Args:
            page: The page that is shown.
            size: Remotes on a page; the service may give another number.
        """
        if page.page_size < min(size, self.pages.size):  # it gives no more
            size = page.page_size
        ids = [remote.id for remote in page.remotes]
        row = ids.index(self.current.id) if self.current and self.current.id in ids else 0
        return ((page.page_no - 1) * page.page_size + row) // size + 1

    @property
    def worth_keeping(self) -> Shown | None:
        """The first page, all of it, as a start would show it."""
        view, state = self.view, self.view.state
        if state.seen is None or state.stale or state.slow or view.is_narrowed:
            return None
        if state.seen.value.page_no == 1:
            with suppress(NoMatches):  # lockterm is ending: what is inside a screen goes before it
                foot, find = self.query_one("#foot").region, self.query_one(FindLine)
                if not find.display:
                    place = (foot.y, foot.x, foot.width)
                    shown = Shown(self.lock_entry.lock_id, state.seen.at_ms, place)
                    return self._as_a_start(shown, state.seen.value)
        return None

    def _as_a_start(self, shown: Shown, page: RemotePage) -> Shown:
        """What is worth keeping; with the answer where a start would show it in the same cells."""
        table = self.query_one(RemotesTable)
        is_plain = not (self.marks or self.view.unlisted or self.commands.busy)
        is_plain = is_plain and self._counts.pages == 1 and not self._cut_name
        is_plain = is_plain and (self._book_pane is None or self._book is not None)
        if not (is_plain and self.query_one(Pager).is_new and table.is_as_at_first):
            return shown
        answer = (page.answer_bytes, page.answer_crc)
        bar = self._pane.content_size.width if self._pane is not None else 0
        says_so_at = partial(say_the_same, table.rows, shown.at_ms, bar)
        return replace(shown, answer=answer, says_so_at=says_so_at)

    # --- what the keys act on ------------------------------------------------------------------

    @property
    def current(self) -> Remote | None:
        """The remote under the cursor."""
        return self.query_one(RemotesTable).selected

    @property
    def _lock_name(self) -> str:
        return clean(self.lock_entry.title, 60)

    @property
    def _at(self) -> int:
        """The page from which the keys flip."""
        view = self.view
        return view.page.page_no if view.state.error is not None and view.page else self.page_no

    def why_not(self, action: str) -> str:
        """There is no such page or no remote; or see :meth:`RemoteCommands.why_not`."""
        if action in PAGING:
            return why_no_page(self.view, action, self._at)
        if action in MARKING or (self.marks and action in ON_MARKED):
            return self._why_not_mark(action)
        if reason := self.commands.why_not(action):
            return reason
        if action in ("next_lock", "previous_lock") and self.marks:
            return with_keys("Some remotes are marked: {marks.none} unmarks all.")
        if action == "clear" and self.view.page and not self.view.page.total:
            return "The lock has no remotes to clear."
        return ""

    def _why_not_mark(self, action: str) -> str:
        if action == "mark":
            return self.commands.why_not("detail")
        if action == "mark_all" and self.view.found is not None and self.view.found.running:
            return "The search goes on: what it finds is not known yet. escape stops it."
        if action == "mark_all" and not self.query_one(RemotesTable).rows:
            return "There is nothing to mark."
        return self._marking.why_not(action)

    def is_offered(self, action: str) -> bool:
        return self._marking.is_offered(action)

    @property
    def first_keys(self) -> Sequence[str]:
        return self._marking.first_keys

    def verb_now(self, action: str) -> str:
        return self._marking.verb_now(action)

    def _flips(self, event: events.Key) -> bool:
        """Whether a key asks for another page, and so need not wait for the one before it."""
        if not isinstance(self.focused, RemotesTable):
            return False
        return any(binding.action in FLIPPING for binding in own_bindings(self, event.key))

    def _flips_or_moves(self, event: events.Key) -> bool:
        table = self.focused
        moves = isinstance(table, RemotesTable) and bool(own_bindings(table, event.key))
        return moves or self._flips(event)

    def _stand_on(self, remote_id: int | None) -> None:
        """Go to a remote with the next page that is loaded, on whichever page it is."""
        self._go_to = remote_id

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
        from lockterm.screens.dialogs.number import NumberModal

        def go(page_no: int | None) -> None:
            if page_no is not None:
                self.page_no = page_no

        last = self.view.last_page
        question = f"Go to which page, 1 to {last:,}?"
        dialog = NumberModal(question, verb="Go", numbers=range(1, last + 1))
        self.app.push_screen(dialog, go)

    def action_page_size(self) -> None:
        """Ask how many remotes a page has; the service may give another number."""
        from lockterm.screens.dialogs.choice import ChoiceModal

        def resize(size: int | Literal["auto"] | None) -> None:
            if size is not None:
                self.pages.wanted_size = size
                self.fit_page(asked=True)

        now = self.pages.wanted_size
        fitting = page_rows(FIT, self.app.size.height)
        sizes = sorted({*PAGE_SIZES} | ({now} if now != FIT else set()))
        choices: list[tuple[int | Literal["auto"], str]]
        choices = [(FIT, f"as many as fit: {fitting} now")]
        choices += [(size, f"{size} remotes a page") for size in sizes]
        at = [size for size, _ in choices].index(now)
        self.app.push_screen(ChoiceModal("How many on a page?", choices, at), resize)

    def action_refresh(self) -> None:
        self.load_page(fresh=True, moving=True)
        if self.view.found is not None:
            self.search_all()

    def action_find(self) -> None:
        self.query_one(FindLine).open()

    def action_filter(self) -> None:
        question, counts = "Show which remotes of the lock?", self._counts.counts
        ask_only(self.app, question, counts, self.view.only, self._show_only)

    def _show_only(self, only: Only | None) -> None:
        """Show remotes of one state alone, from the whole list; or all again."""
        self.workers.cancel_group(self, "search")
        self.view = replace(self.view, only=only, found=None)
        self._search_rest()

    def action_table(self) -> None:
        from lockterm.screens.remotes.columns_modal import ColumnsModal

        dialog = ColumnsModal(self.columns.arrangement, self.query_one(RemotesTable).left_out)
        self.app.push_screen(dialog, self.use_arrangement)

    def use_arrangement(self, chosen: Arrangement | None) -> None:
        """Show the table so, and keep it; what cannot be kept holds for this session."""
        if chosen is None or chosen == self.columns.arrangement:
            return
        not_kept = self.columns.use(chosen)
        self.query_one(RemotesTable).choose(chosen)
        self.paint_rows()
        self._show_pager()
        if not_kept:
            self.notify(not_kept, title="Columns not kept", severity="warning")

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
        if self.marks:
            self.marked.renew()
        else:
            self.commands.renew()

    def action_delete(self) -> None:
        if self.marks:
            self.marked.delete()
        else:
            self.commands.delete()

    def action_user_number(self) -> None:
        self.commands.set_user_number()

    def action_copy(self) -> None:
        self.commands.copy()

    def action_clear(self) -> None:
        self.commands.clear()

    # --- actions: marks ------------------------------------------------------------------------

    def _is_marked(self, remote: Remote) -> bool:
        return bool(self.marks) and self.marks.has((self.lock_entry.lock_id, remote))

    def _marked_rows(self) -> Sequence[Row]:
        """What is shown, as marks know it."""
        lock_id = self.lock_entry.lock_id
        return [(lock_id, row.remote) for row in self.query_one(RemotesTable).rows]

    def _show_marks(self, remote: Remote | None = None) -> None:
        """Show which are marked.

        Args:
            remote: The only one whose mark has changed; None: those of others may have, too.
        """
        table = self.query_one(RemotesTable)
        if remote is None:
            table.refresh()
        else:
            table.paint_remote(remote)
        self._show_pager()
        if self._had_marks != bool(self.marks):  # only then other keys work
            self._had_marks = bool(self.marks)
            self.query_one(KeyLine).show_keys()

    def action_mark(self) -> None:
        if (remote := self.current) is not None:
            self.marks.toggle((self.lock_entry.lock_id, remote))
            self._show_marks(remote)
            self.query_one(RemotesTable).action_cursor_down()

    def action_mark_range(self) -> None:
        self._marking.mark_range()

    def action_mark_all(self) -> None:
        self._marking.mark_all()

    def action_unmark_all(self) -> None:
        """Unmark all, or take that back."""
        self._marking.unmark_all()

    def action_act_on_marked(self) -> None:
        self.marked.act()

    @work
    @opens("the plan to undo the last change", must_appear=True)
    async def action_undo(self) -> None:
        """Show the inverse of the last change of this lock, or of the run that it was one of."""
        from lockterm.operations.undoing import undo_last
        from lockterm.screens.plan import PlanScreen
        from lockterm.screens.plan.names import asking_for_names

        with self.refusing_errors():
            draw = partial(undo_last, self.operations, self.lock_entry.lock_id)
            if (drawn := await asking_for_names(self.app, draw)) is not None:
                self.app.push_screen(PlanScreen(drawn))

    # --- actions: the way on -------------------------------------------------------------------

    def action_next_lock(self) -> None:
        self._go_on_by(1)

    def action_previous_lock(self) -> None:
        self._go_on_by(-1)

    @work
    @opens("the other lock", must_appear=True)
    async def _go_on_by(self, step: int) -> None:
        """Show the remotes of the lock so much further in the book, which has no end."""
        from lockterm.screens.remotes.book_pane import by_name

        with self.refusing_errors():
            self._book = await self.operations.locks.all()
            locks = by_name(self._book, self.lock_entry)
            ids = [lock.lock_id for lock in locks]
            other = locks[(ids.index(self.lock_entry.lock_id) + step) % len(locks)]
            if other.lock_id == self.lock_entry.lock_id:
                self.refuse_to_open("Another lock", "The lock book has no other lock.")
            else:
                self._go_to_lock(other)

    def _go_to_lock(self, lock: Lock) -> None:
        """Show the remotes of another lock in place of these, on a screen of its own."""
        if not self.is_current:
            return
        if reason := self.why_not("next_lock"):
            self.notify(reason, title="Another lock", markup=False)
            return
        screen = RemotesScreen(self.operations, lock, self._open_book, self._book)
        screen.leads_back = self.leads_back
        self.app.switch_screen(screen)

    def action_voice(self) -> None:
        from lockterm.screens.voice import VoiceScreen

        self.app.push_screen(VoiceScreen(self.operations, self.lock_entry))

    def action_copies(self) -> None:
        """Choose where the remotes of this lock, or the marked ones, go to as well."""
        from lockterm.operations.copying import Source
        from lockterm.screens.copy import CopyScreen

        if self.marks:
            self.marked.copy_to_locks()
        else:
            self.app.push_screen(CopyScreen(self.operations, Source(self.lock_entry)))

    def action_back(self) -> None:
        """Stop a search; show all again; unmark all; go back to the locks."""
        found = self.view.found
        if found is not None and found.running:
            self.workers.cancel_group(self, "search")
            self.view = replace(self.view, found=replace(found, running=False, ended="stopped"))
        elif self.view.needle:
            self.query_one(FindLine).action_close()
        elif self.view.only is not None:
            self._show_only(None)
        elif self.marks:
            self._marking.unmark_all()
        elif len(self.app.screen_stack) > 1:
            self.dismiss(None)
        else:
            self._open_book()
