"""The screen that searches all locks, and the base class that it shares with "Expiring"."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult

from lockterm import screens
from lockterm.domain.listing import Lacking, split_needle
from lockterm.domain.marks import Key, Marks, Row, key_of_remote, remote_marks
from lockterm.domain.plan import NOT_REACHED, Action, Step, StepState
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.service import describe_read_only
from lockterm.errors import ServiceError
from lockterm.keymap.hints import key, with_keys
from lockterm.operations import Operations
from lockterm.operations.everywhere import LockRead
from lockterm.screens.dialogs.choice import ask_only
from lockterm.screens.everywhere.results import Results
from lockterm.screens.everywhere.site import Site
from lockterm.screens.everywhere.table import OnLock, OnLocksTable
from lockterm.screens.list_screen import MARKING, ON_MARKED, ListScreen
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.commands import RemoteCommands
from lockterm.screens.remotes.detail import RemoteDetailScreen
from lockterm.widgets.bindings import bindings
from lockterm.widgets.find_line import FindLine
from lockterm.widgets.state_panel import describe_error

if TYPE_CHECKING:
    from lockterm.domain.locks import Lock
    from lockterm.domain.remotes import Remote


ON_ONE = frozenset({"renew", "replace", "delete"})
"""Actions that apply to the selected remote if no remotes are marked."""

SEARCH_COLUMNS = ("sign", "lock", "name", "number", "valid", "state", "read")
"""The keys of the columns that a search shows, from left to right."""

EMPTY_BOOK = "The lock book is empty."


class AllLocksScreen(ListScreen[None]):
    """The base class of the screens that show remotes of all locks.

    A subclass implements the search, and provides the text for an empty result.

    Args:
        operations: The operations on the service and the local store.
    """

    on_marked = {**ON_MARKED, "replace": "replace marked"}

    columns: ClassVar[Sequence[str]]
    """The keys of the shown columns, from left to right."""
    table: OnLocksTable
    marks: Marks[Key, Row]

    def __init__(self, operations: Operations) -> None:
        marks = remote_marks()
        super().__init__(operations, OnLocksTable(self.columns, marks, id="found"), marks)

    @cached_property
    def marked(self) -> screens.MarkedCommands:
        """The commands on the marked remotes."""
        return screens.MarkedCommands(self)

    @abstractmethod
    def search(self, site: Site, needle: str) -> Iterator[OnLock | None]:
        """Yield the rows to show; see ``results.Search``."""

    @abstractmethod
    def describe_no_match(self) -> tuple[str, str]:
        """Return the text for a search without results, and the keys to press next."""

    def describe_empty(self) -> tuple[str, str]:
        if (error := self.results.error) is not None:
            keys = with_keys("{everywhere.read}  try again      escape  back")
            return describe_error(error), keys
        if not self.results.is_loaded:
            return "Reading the stored lists ...", ""
        return self.describe_no_match()

    @property
    def results(self) -> Results:
        """The widget with the search field, the table, and the texts about the results."""
        return self.query_one(Results)

    def on_screen_resume(self) -> None:
        """Read the lock that another screen may have changed, and unmark rows that are done."""
        self.results.look_again()
        self.unmark_done()

    def read_changed(self, lock_ids: Iterable[int]) -> None:
        """Read the locks that a run changed again."""
        self.results.read_changed(lock_ids)

    def paint(self) -> None:
        self.results.find()

    def follow_cursor(self) -> None:
        self.results.follow_cursor()

    def sort_rows(self) -> None:
        self.results.sort_rows()

    def search_for(self, text: str) -> None:
        self.results.search_for(text)

    def pass_time(self) -> None:
        if self.results.is_loaded:
            self.results.pass_time()

    def problems(self, site: Site) -> Iterator[OnLock]:
        """Yield a row for each lock that could not be read completely."""
        for one in site.asked.values():
            if one is not None and one.problem:
                words = f"not read: {one.problem}" if one.listing is None else one.problem
                known = site.locks[one.lock.lock_id].listing
                if one.listing is None and known is not None:
                    words += f". The remotes shown were {site.age_of(known)}"
                yield OnLock(one.lock, self.operations.zone(one.lock), problem=words)

    # --- actions -------------------------------------------------------------------------------

    def why_not(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        results = self.results
        if action == "open" and results.current is None:
            return "No row is selected."
        if action in ON_ONE and not self.marks:
            return self._why_not_one(action)
        if action == "replace" and self.operations.profile.read_only:
            return describe_read_only(self.operations.profile.name)
        is_remote = results.current is not None and results.current.remote_id is not None
        if not is_remote and (action == "mark" or (action == "mark_range" and self.marks)):
            return "The selected row has no remote with an ID."
        if action == "mark_all" and not results.rows:
            return "There is nothing to mark."
        if action in MARKING:
            return self.why_no_mark(action)
        is_empty = results.is_loaded and results.error is None and not results.site.locks
        return EMPTY_BOOK if action == "read" and is_empty else ""

    def action_open(self) -> None:
        """Open the selected remote; open the lock's remotes if the row has no remote with an ID."""
        row = self.results.current
        if row is None:
            return
        self.results.note_opened(row.lock)
        if row.remote is not None and row.remote.id is not None:
            title = row.remote.remote_name or f"remote {row.remote.id}"
            screen = RemoteDetailScreen(self.operations, row.lock, row.remote.id, title)
            self.app.push_screen(screen)
        else:
            self.app.push_screen(RemotesScreen(self.operations, row.lock))

    def action_filter(self) -> None:
        question, found = "Show remotes in which state?", self.results
        ask_only(self.app, question, found.counts, found.only, found.show_only)

    def action_read(self) -> None:
        self.results.read_all()

    def action_back(self) -> None:
        """Clear the filter; without a filter, unmark all rows; without marks, go back."""
        if self.results.only is not None:
            self.results.show_only(None)
        elif self.marks:
            self.action_unmark_all()
        else:
            self.dismiss(None)

    # --- actions: one remote -------------------------------------------------------------------

    def _on_one(self) -> RowCommands | None:
        """Return commands for the selected remote, which keep this remote if the cursor moves."""
        row = self.results.current
        return RowCommands(self, row.lock, row.remote) if row and row.remote else None

    def _why_not_one(self, action: str) -> str:
        one = self._on_one()
        return "No remote is selected." if one is None else one.why_not(action)

    # --- marks ---------------------------------------------------------------------------------

    @property
    def rows_to_mark(self) -> Sequence[Row]:
        return self.results.all_rows()

    @property
    def row_to_mark(self) -> Row | None:
        row = self.results.current
        return None if row is None or row.remote is None else (row.lock.lock_id, row.remote)

    @property
    def rows_shown(self) -> Sequence[Row]:
        return self.results.marked_rows()

    @property
    def cursor_place(self) -> int:
        return self.results.cursor

    @property
    def locks(self) -> Mapping[int, Lock]:
        return {lock_id: one.lock for lock_id, one in self.results.site.locks.items()}

    def describe_rows(self) -> None:
        self.results.tell()

    def key_of_step(self, step: Step) -> Hashable | None:
        return key_of_remote(step)

    def _unread(self) -> list[Step]:
        """Return an unsent step for each unread lock, to show that matches there are unknown."""
        site = self.results.site
        return [
            Step(
                0,
                Action.DELETE,
                lock_id,
                None,
                "not read",
                state=StepState.NOT_SENT,
                message=f"{why}. The plan deletes nothing on this lock.",
            )
            for lock_id, known in site.locks.items()
            if (why := _why_unread(known, site.asked.get(lock_id, known)))
        ]

    def action_mark_all(self) -> None:
        super().action_mark_all()
        if self.results.is_cut:
            words = (
                f"Only the {len(self.results.rows):,} shown rows are marked. The search found more."
            )
            self.notify(words, title="Mark all", severity="warning")

    def action_renew(self) -> None:
        if self.marks:
            self.marked.renew()
        elif (one := self._on_one()) is not None:
            one.renew()

    def action_replace(self) -> None:
        if self.marks:
            self.marked.replace_fobs()
        elif (one := self._on_one()) is not None:
            one.replace_fob()

    def action_delete(self) -> None:
        if self.marks:
            self.marked.delete(self._unread())
        elif (one := self._on_one()) is not None:
            one.delete()

    def action_act_on_marked(self) -> None:
        self.marked.act()


def _why_unread(known: LockRead, asked: LockRead | None) -> str:
    """Return why the remotes of a lock are unknown; empty if they are known.

    Args:
        known: The lock with its last list.
        asked: The latest result of reading the lock; None while the lock is being read.
    """
    if asked is None:
        return "The lock was still being read"
    if not asked.problem:
        return "The lock has not been read" if known.listing is None else ""
    is_far = isinstance(asked.error, ServiceError) and asked.error.out_of_reach
    return NOT_REACHED if is_far else f"Not read: {asked.problem}"


class RowCommands(RemoteCommands):
    """The commands on the remote of one row, which stay with this remote if the cursor moves.

    Args:
        screen: The screen that shows the row.
        lock: The lock of the remote.
        remote: The remote.
    """

    def __init__(self, screen: AllLocksScreen, lock: Lock, remote: Remote) -> None:
        self._table = screen.table
        super().__init__(
            screen,
            refresh="everywhere.read",
            busy=self._table.busy[lock.lock_id],
            on_lock=lock,
            change_type=with_keys(
                "Press {everywhere.open} to open the remote, and {remote.edit} to change its type."
            ),
        )
        self._all_locks, self._remote = screen, remote

    @property
    def current(self) -> Remote:
        return self._remote

    def show_busy(self) -> None:
        self._table.refresh()

    def note_written(self) -> None:
        if self._all_locks.is_attached:  # a running change continues after this screen is closed
            self._all_locks.results.read_changed([self._lock.lock_id])


class EverywhereScreen(AllLocksScreen):
    """The screen that searches the remotes of all locks in the lock book."""

    BINDINGS = bindings("everywhere")

    columns = SEARCH_COLUMNS

    def __init__(self, operations: Operations) -> None:
        super().__init__(operations)
        self._lacking = Lacking()

    def crumbs(self) -> tuple[str, ...]:
        """Return the breadcrumbs for the header, which name no lock."""
        return ("All locks",)

    def describe_title(self) -> str:
        """Return the title and the number of remotes, without the rows of unread locks."""
        count = len(self.query_one(Results).rows)
        return f"{self.crumbs()[-1]} {count:,}" if count else self.crumbs()[-1]

    def compose_body(self) -> ComposeResult:
        yield Results(self.operations, self.table, self.search, self.marks, finds_first=True)

    def search(self, site: Site, needle: str) -> Iterator[OnLock | None]:
        needed = split_needle(needle)
        if not needed and self.results.only is None:
            return
        lacks = self._lacking.lacks
        for lock_id, one in site.locks.items():
            # Most lists lack a word, so the next line skips them without a search.
            if one.listing is not None and not lacks(lock_id, one.listing, needed):
                zone, read = self.operations.zone(one.lock), site.short_age(one.listing)
                for place in one.listing.find(needed) if needed else one.listing.places():
                    yield OnLock(one.lock, zone, read, one.listing, place)
            yield None
        yield from self.problems(site)

    def describe_no_match(self) -> tuple[str, str]:
        results, site = self.results, self.results.site
        if not site.locks:
            return EMPTY_BOOK, "escape  back"
        read = key("everywhere.read")
        locks = "1 lock" if len(site.locks) == 1 else f"all {len(site.locks):,} locks"
        if not results.needle and results.only is None:
            people = with_keys("      enter {everywhere.open_by_person}  people      escape  back")
            how = "To search all locks, type a name, a number, an ID, or extra data."
            if not site.is_reading and site.asked.keys() >= site.locks.keys():
                known = format_count(site.count, "remote")
                return f"{site.describe_reads(30)}: {known}. {how}", f"{read}  read again{people}"
            return how, f"{read}  read {locks} now{people}"
        needle = " and ".join(results.asked_for)
        if site.is_reading:
            return f"No remote matches {needle} so far.", "escape  back"
        if len(site.asked) == len(site.locks):
            return f"No remote matches {needle}. lockterm searched {locks}.", f"{read}  read again"
        if site.unread == len(site.locks):
            return "No lock has been read yet.", f"{read}  read {locks} now"
        return f"No remote in the stored lists matches {needle}.", f"{read}  read {locks} now"

    @on(Results.Shown)
    def _shown(self) -> None:
        self.refresh_bindings()

    def action_open_by_person(self) -> None:
        """Open the screen with the people who have remotes on any lock."""
        self.app.push_screen(screens.PeopleScreen(self.operations, self.results.site.locks))

    @on(FindLine.GivenUp)
    def _given_up(self) -> None:
        self.action_back()
