"""The screen for copying the remotes of a lock, an export or a backup to other locks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import var
from textual.widgets import Label, Static
from textual.worker import Worker

from lockterm.domain.locks import Lock
from lockterm.domain.names import natural
from lockterm.domain.plan import PROBLEMS
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.plan import describe_skipped
from lockterm.errors import LocktermError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.operations.copying import CopySource, backup_source, export_source, plan_copies
from lockterm.paths import find_typed
from lockterm.screens.base import HasOperations
from lockterm.screens.field_modal import FieldModal
from lockterm.screens.list_screen import ListScreen
from lockterm.screens.plan.screen import PlanScreen
from lockterm.terminal.key_queue import opening, opens
from lockterm.widgets.actions import bindings
from lockterm.widgets.completion import PathInput
from lockterm.widgets.data_status import KeyOffers, describe_error
from lockterm.widgets.row_table import Column, LazyRows, RowTable


class ExportModal(FieldModal[CopySource | None]):
    """A dialog that asks for an export file. The result is the file's content, or None if canceled.

    Args:
        operations: The operations on the service and the local store.
    """

    heading = "Export"
    verb = "Use this export"

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._operations = operations

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label("Copy from which export?", classes="question")
            yield Label("Path of a JSON export of one lock:")
            yield PathInput()
            yield Label("", id="names", markup=False)
            yield from self.compose_end()

    @on(PathInput.Told)
    def _tell_matches(self, event: PathInput.Told) -> None:
        self.query_one("#names", Label).update(event.words)

    @on(PathInput.Entered)
    def _entered(self) -> None:
        self.answer()

    def answer(self) -> None:
        self.take()

    @work(exclusive=True)
    @opens("the export")
    async def take(self) -> None:
        """Read the file and close the dialog with its content. If this fails, show an error."""
        try:
            path = find_typed(self.query_one(PathInput).value)
            self.dismiss(await export_source(self._operations, path))
        except (LocktermError, RuntimeError) as error:
            reason = "No such home directory."
            if isinstance(error, LocktermError):
                reason = error.meaning
            self.refuse(clean(reason, 400))


class TargetsTable(RowTable):
    """The table of locks to which the user can copy, each with a mark box."""

    sortable = ("Lock", "ID", "Remotes")

    def __init__(self) -> None:
        super().__init__(
            Column("", most=3, least=3),
            Column("Lock", most=60, least=18),
            Column("ID", most=19, least=4),
            Column("Remotes", right=True, rank=1),
            id="targets",
        )

    def sort_key(self, lock: Lock, title: str) -> Any:
        return {"Lock": natural(lock.title), "ID": lock.lock_id, "Remotes": lock.remotes}[title]


class CopyScreen(ListScreen[None]):
    """The screen where the user chooses the source, targets and options of a copy.

    Args:
        operations: The operations on the service and the local store.
        source: The initial source: some remotes, or a lock to copy all of its remotes.
        marked: The IDs of the locks that are initially marked as targets. The source lock is
            ignored.
    """

    BINDINGS = bindings("copies")

    row_action = "mark"
    table: TargetsTable

    doing: var[str] = var("", init=False)
    """A sentence about the current work; empty if no work is running."""

    renames: var[bool] = var(False, init=False)
    """Whether the copy renames a remote whose name is in use on a target. If not, the copy skips
    that remote."""

    skips_expired: var[bool] = var(True, init=False)
    """Whether the copy skips expired remotes."""

    keeps_wall_time: var[bool] = var(False, init=False)
    """Whether the copies keep the local time (18:00 stays 18:00) on locks in other time zones. If
    not, they keep the same moment."""

    def __init__(
        self,
        operations: Operations,
        source: Lock | CopySource,
        marked: Iterable[int] = (),
    ) -> None:
        super().__init__(operations, TargetsTable())
        self._source = CopySource(source) if isinstance(source, Lock) else source
        self._locks: Sequence[Lock] | LocktermError | None = None
        """The lock book, or the error of reading it; None until it is read."""
        self._book: Mapping[str, Lock] = {}
        """Maps the keys of table rows to the locks that can be marked."""
        self._marked = {*marked}
        self._reading: Worker[None] | None = None
        self._plan_id = ""
        """The ID of the plan that was last shown."""

    def breadcrumbs(self) -> tuple[str, ...]:
        """Return the breadcrumbs for the header, with the source lock."""
        if not self._source.is_lock:
            return ("Locks", "Copy to locks")
        return ("Locks", self._source.title, "Copy to other locks")

    def compose_body(self) -> ComposeResult:
        """Compose the source, the locks, and the options of the copy."""
        yield Static(self._what(), id="what", markup=False)
        yield from self.compose_list()
        yield Static(id="chosen", markup=False)

    def _what(self) -> str:
        count = self._source.count
        which = {None: "all remotes", 1: "1 remote"}.get(count, f"{count} remotes")
        return f"Copy {which} of {clean(self._source.title, LONGEST_CELL)} to which locks?"

    # --- the book ------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Read and show the lock book."""
        self.load_book()

    @work
    @opens("the locks")
    async def load_book(self) -> None:
        """Read the lock book, and show all locks except the source."""
        try:
            self._locks = locks = await self.operations.locks.all()
        except LocktermError as error:
            self._locks = error
            self.show_list()
            return
        own = self._source.lock.lock_id if self._source.is_lock else None
        self._book = {str(lock.lock_id): lock for lock in locks if lock.lock_id != own}
        self._marked &= {lock.lock_id for lock in self._book.values()}
        self.paint()

    def paint(self) -> None:
        """Show the locks, sorted by the clicked column title.

        The sorting does not affect the plan, which has the order of the lock book.
        """
        locks = self.table.in_order([*self._book.values()])
        self.table.show(LazyRows({str(lock.lock_id): lock for lock in locks}, self._cells))
        self.show_list()
        self._tell()

    @property
    def has_rows(self) -> bool:
        return super().has_rows and not isinstance(self._locks, LocktermError)

    def describe_empty(self) -> tuple[str, KeyOffers]:
        if isinstance(self._locks, LocktermError):
            return describe_error(self._locks), {"{copies.back}": "back"}
        if self._locks is None:
            return "Reading the lock book ...", {}
        fact = "The lock book contains no other lock." if self._locks else "The lock book is empty."
        return fact, {
            "{copies.file}": "use an export",
            "{copies.backup}": "use a backup",
            "{copies.back}": "back",
        }

    def _cells(self, lock: Lock) -> tuple[str, ...]:
        return (
            "[x]" if lock.lock_id in self._marked else "[ ]",
            clean(lock.title, LONGEST_CELL),
            str(lock.lock_id),
            "-" if lock.remotes is None else str(lock.remotes),
        )

    # --- choosing ------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        if action != "back" and self.doing:
            return self.doing
        if action in ("mark", "mark_all", "plan") and not self._book:
            return "The lock book contains no other lock to copy to."
        if action == "plan" and not self._marked:
            return with_keys("No lock is marked. Press {copies.mark} to mark the selected lock.")
        return ""

    def action_mark(self) -> None:
        """Mark or unmark the selected lock, and move to the next lock."""
        if (key := self.table.highlighted) is not None:
            self._marked ^= {self._book[key].lock_id}
            self.table.action_cursor_down()
        self._tell()

    def action_mark_all(self) -> None:
        """Mark all locks, or unmark all locks if all are marked.

        If the source is a backup, leave the backup's own lock unmarked unless there is no other
        lock.
        """
        all_of_them = {lock.lock_id for lock in self._book.values()}
        if self._source.backup is not None:
            all_of_them = all_of_them - {self._source.lock.lock_id} or all_of_them
        self._marked = set() if self._marked == all_of_them else all_of_them
        self._tell()

    def action_taken(self) -> None:
        """Switch between skipping and renaming remotes whose names exist on a target lock."""
        self.renames = not self.renames

    def action_expired(self) -> None:
        """Switch between skipping and copying expired remotes."""
        self.skips_expired = not self.skips_expired

    def action_times(self) -> None:
        """Switch between the same moment and the same local time for locks in other time zones."""
        self.keeps_wall_time = not self.keeps_wall_time

    def _tell(self) -> None:
        """Show the number of marked locks and the options below the table, or the current work."""
        if not self._book:
            return
        taken = "renamed, as in Anna (2)" if self.renames else "skipped"
        times = "local time" if self.keeps_wall_time else "moment"
        expired = "skipped" if self.skips_expired else "copied"
        text = (
            f"{format_count(len(self._marked), 'lock')} marked. "
            f" Remotes with a taken name: {taken}. "
            f" Expired remotes: {expired}.  Dates in other time zones: same {times}."
        )
        text += with_keys("\n{copies.file} copies from an export, {copies.backup} from a backup.")
        text = f"{self.doing} Press Esc to stop." if self.doing else text
        self.query_one("#chosen", Static).update(text)
        self.table.refresh()
        self.refresh_bindings()

    watch_renames = watch_skips_expired = watch_keeps_wall_time = watch_doing = _tell

    # --- another source ------------------------------------------------------------------------

    @work
    async def action_file(self) -> None:
        """Let the user choose an export as the source."""
        if (found := await self.app.push_screen_wait(ExportModal(self.operations))) is not None:
            self._take(found)

    @work
    async def action_backup(self) -> None:
        """Let the user choose a backup in the history as the source."""
        if (operation_id := await cast("HasOperations", self.app).choose_backup()) is None:
            return
        with opening(self, "the backup"), self.refusing_errors():
            self._take(await backup_source(self.operations, operation_id))

    def _take(self, source: CopySource) -> None:
        self._source = source
        self.query_one("#what", Static).update(self._what())
        self.show_crumbs()
        self.load_book()

    # --- the plan ------------------------------------------------------------------------------

    def action_plan(self) -> None:
        """Read the source and target locks, and show the plan."""
        self._reading = self.plan()

    @work
    async def plan(self) -> None:
        """Read the source and target locks, and show the plan without sending changes."""
        with opening(self, "the plan", passes=self.refuses, must_appear=True):
            await self._plan()

    async def _plan(self) -> None:
        ids = [lock.lock_id for lock in self._book.values() if lock.lock_id in self._marked]
        self.doing = f"Reading {format_count(len(ids) + self._source.is_lock, 'lock')} ..."
        try:
            draft = await plan_copies(
                self.operations,
                self._source,
                ids,
                renames=self.renames,
                skips_expired=self.skips_expired,
                keeps_wall_time=self.keeps_wall_time,
            )
        except LocktermError as error:
            self.refuse_to_open(error.title, error.sentences)
            return
        finally:
            if self.is_attached:
                self.doing = ""
        if not draft.plan.steps and (skipped := describe_skipped(draft.plan)):
            self.refuse_to_open("Copy", f"Nothing to add, {', '.join(skipped)}.")
            return
        if not draft.plan.steps:
            reason = f"{clean(self._source.title, 60)} has no remotes to copy."
            self.refuse_to_open("Copy", reason)
            return
        self._plan_id = draft.plan.id
        self.app.push_screen(PlanScreen(draft))

    def on_screen_resume(self) -> None:
        """Unmark the locks to which a run has copied every remote, when the plan has closed."""
        self._unmark_done()

    def read_changed(self, lock_ids: Iterable[int]) -> None:
        """Unmark the locks to which a run has copied every remote."""
        self._unmark_done()

    def _unmark_done(self) -> None:
        run = self.operations.run_here
        if run is None or run.plan.id != self._plan_id or not run.is_finished:
            return
        steps = run.steps.values()
        left = {step.lock_id for step in steps if step.state in PROBLEMS or step.is_left}
        self._marked -= {step.lock_id for step in steps} - left
        self._tell()

    # --- leaving -------------------------------------------------------------------------------

    def action_back(self) -> None:
        """Stop reading locks. If no lock is being read, go back."""
        if self.doing and self._reading is not None:
            self._reading.cancel()
        else:
            self.dismiss(None)
