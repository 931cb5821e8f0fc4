"""The history: every change that was sent from here, what became of it, and the way back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.reactive import reactive
from textual.widgets import DataTable, Static

from lockterm import moments
from lockterm.errors import StoreError
from lockterm.keymap.spoken import said
from lockterm.models.operation import STATE_WORDS
from lockterm.operations import Operations
from lockterm.restoring import why_not_restorable
from lockterm.screens.base import LocktermScreen
from lockterm.screens.history_keys import KEYS
from lockterm.text import clean
from lockterm.widgets.find_line import FindLine
from lockterm.widgets.history_choice import (
    ALL,
    HistoryChoice,
    counted,
    pages_of,
    rows_of_page,
)
from lockterm.widgets.history_table import HistoryRow, HistoryTable, make_rows
from lockterm.widgets.state_panel import StatePanel

if TYPE_CHECKING:
    from lockterm.models.history import HistoryLine
    from lockterm.models.operation import Operation


class HistoryScreen(LocktermScreen[None]):
    """The journal of this profile, the newest first.

    Args:
        operations: The one door to service and store.
        exports: The directory for exported files.
        lock_id: Begin with the operations on this lock; None: all locks.
    """

    BINDINGS = KEYS

    rows: reactive[tuple[HistoryRow, ...] | StoreError | None] = reactive(None, init=False)
    """The whole history; why it cannot be read; None before it was."""

    choice: reactive[HistoryChoice] = reactive(HistoryChoice(), init=False)
    """Which of it is shown."""

    def __init__(self, operations: Operations, exports: Path, lock_id: int | None = None) -> None:
        super().__init__(operations)
        self._exports = exports
        self._zone = operations.profile.zone
        name = "" if lock_id is None else f"lock {lock_id}"
        self.set_reactive(HistoryScreen.choice, HistoryChoice(lock_id, name))
        self._found: list[HistoryRow] = []
        self._shown: dict[str, HistoryLine] = {}

    def crumbs(self) -> tuple[str, ...]:
        """Of which lock."""
        choice = self.choice
        return ("History",) if choice.lock_id is None else ("History", choice.lock_name)

    def compose_body(self) -> ComposeResult:
        """The table, or words in its place; what is shown; the operation under the cursor."""
        yield HistoryTable(id="history")
        yield StatePanel("Reading the history ...", id="state")
        yield FindLine(id="find")
        yield Static(id="row", markup=False)
        yield Static(id="about", markup=False)

    # --- loading -------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """The history is read when this screen is seen."""
        self.query_one(HistoryTable).display = False

    def on_screen_resume(self) -> None:
        """Read it: another screen or another session may have sent something."""
        self.load_history()

    def show_notices(self, offline: str, unsettled: tuple[Operation, ...]) -> None:
        """An outcome has changed, perhaps of what is shown."""
        super().show_notices(offline, unsettled)
        if self.app.screen is self:
            self.load_history()

    @work(exclusive=True, group="history")
    async def load_history(self) -> None:
        """Read the journal, and prepare its lines in the zone of what is shown."""
        zone, lock_id = self.operations.profile.zone, self.choice.lock_id
        try:
            if lock_id is not None:
                lock = await self.operations.find_lock(lock_id)
                zone = self.operations.zone(lock)
                self.choice = replace(self.choice, lock_name=lock.title)
            lines = await self.operations.history_lines()
        except StoreError as error:
            self.rows = error
            return
        now_ms = self.operations.now_ms()
        rows = await asyncio.to_thread(make_rows, lines, zone, now_ms)
        self._zone = zone
        self.rows = tuple(rows)

    @property
    def current(self) -> HistoryLine | None:
        """The operation under the cursor."""
        table = self.query_one(HistoryTable)
        if not table.display:
            return None
        return self._shown.get(table.highlighted or "")

    # --- painting ------------------------------------------------------------------------------

    def watch_rows(self) -> None:
        """Show what matches."""
        self._paint()

    def watch_choice(self) -> None:
        """Show what matches now."""
        self.show_crumbs()
        self._paint()

    def _paint(self) -> None:
        table, state = self.query_one(HistoryTable), self.query_one(StatePanel)
        rows = self.rows if isinstance(self.rows, tuple) else ()
        self._found = self.choice.found(rows)
        page = rows_of_page(self._found, self.choice.page)
        self._shown = {row.line.id: row.line for row in page}
        table.show_rows(page)
        table.display = bool(self._found)
        state.display = not self._found
        if isinstance(self.rows, StoreError):
            state.say_error(self.rows, said("{history.refresh}  try again      esc  back"))
        elif self.rows is not None and not rows:
            state.say(
                "Nothing was changed from here yet. Every change that is sent to the service"
                " gets a line here, with what became of it.",
                said("esc  back      {app.help}  help"),
            )
        elif self.rows is not None and not self._found:
            left = ", ".join(self.choice.in_words())
            way = "esc  show all"
            if not self._narrowed:
                way = said("{history.one_lock}  all locks      esc  back")
            state.say(f"None of the {counted(len(rows))} is shown: {left}.", way)
        elif self.focused is None:
            table.focus()
        self._tell()

    @property
    def _narrowed(self) -> bool:
        return bool(self.choice.wanted) or self.choice.group != ALL

    def _tell(self) -> None:
        rows = self.rows if isinstance(self.rows, tuple) else ()
        parts = [counted(len(rows))] if rows else []
        if left := self.choice.in_words():
            parts = [f"{len(self._found)} of {counted(len(rows))}", *left]
        if (pages := pages_of(self._found)) > 1:
            parts.append(f"page {self.choice.page + 1} of {pages} (n, p)")
        if rows:
            parts.append(f"times in {moments.zone_name(self._zone)}")
        self.query_one("#about", Static).update("   ".join(parts))
        self.query_one("#row", Static).update(self._sentence())
        self.refresh_bindings()

    def _sentence(self) -> str:
        line = self.current
        if line is None:
            return ""
        at = moments.stamp(line.prepared_ms, self._zone, exact=True)
        words = (at, STATE_WORDS[line.state], clean(line.message, 200), clean(line.lock_name, 40))
        return "  ".join(filter(None, words))

    # --- handlers ------------------------------------------------------------------------------

    @on(DataTable.RowHighlighted)
    def _moved(self) -> None:
        self._tell()

    @on(DataTable.RowSelected)
    def _clicked(self) -> None:
        self.action_open()

    @on(FindLine.Changed)
    def _search(self, event: FindLine.Changed) -> None:
        self.choice = replace(self.choice, wanted=event.value, page=0)

    @on(FindLine.Left)
    def _to_the_rows(self) -> None:
        self.query_one(HistoryTable).focus()

    # --- actions -------------------------------------------------------------------------------

    def why_not(self, action: str) -> str:
        """Most keys need an operation under the cursor."""
        line = self.current
        if action == "restore":
            if self.operations.profile.read_only:
                name = clean(self.operations.profile.name, 40)
                return f"The profile {name} is read-only: nothing can be restored."
            if line is not None:
                return why_not_restorable(line, line.count)
        if action in ("open", "restore") and line is None:
            return "There is no operation under the cursor."
        if action == "one_lock" and line is None and self.choice.lock_id is None:
            return "There is no operation under the cursor whose lock could be shown."
        if action == "export" and not self._found:
            return "Nothing is shown that could be exported."
        if action == "next" and self.choice.page + 1 >= pages_of(self._found):
            return "There is nothing older." if self._found else "Nothing is shown."
        if action == "previous" and not self.choice.page:
            return "There is nothing newer." if self._found else "Nothing is shown."
        return ""

    @work
    async def action_open(self) -> None:
        """Show everything about the operation."""
        from lockterm.screens.operation_detail import OperationDetailScreen

        if (line := self.current) is not None:
            self.app.push_screen(OperationDetailScreen(self.operations, line.id, self._zone))

    @work
    async def action_restore(self) -> None:
        """Say what restoring would lose, and offer it."""
        from lockterm.screens.restore import open_restore

        if (line := self.current) is not None:
            with self.showing_errors():
                await open_restore(self, line.id)

    def action_find(self) -> None:
        """Type to find."""
        self.query_one(FindLine).open()

    def action_outcomes(self) -> None:
        """Show the next group of outcomes."""
        self.choice = replace(self.choice, group=self.choice.next_group, page=0)

    def action_one_lock(self) -> None:
        """Show one lock's operations, or all again."""
        if self.choice.lock_id is not None:
            self.choice = replace(self.choice, lock_id=None, page=0)
        elif (line := self.current) is not None:
            chosen = replace(self.choice, lock_id=line.lock_id, lock_name=line.lock_name, page=0)
            self.choice = chosen
        self.load_history()  # a lock has a zone of its own

    def action_next(self) -> None:
        """Show what is older."""
        self._turn(1)

    def action_previous(self) -> None:
        """Show what is newer."""
        self._turn(-1)

    def _turn(self, pages: int) -> None:
        self.choice = replace(self.choice, page=self.choice.page + pages)
        self.query_one(HistoryTable).move_cursor(row=0, animate=False)

    @work
    async def action_export(self) -> None:
        """Write what is shown to a CSV and a JSON file."""
        from lockterm.exporting import export_history

        shown = {row.line.id for row in self._found}
        now_ms, zone = self.operations.now_ms(), self._zone
        with self.showing_errors():
            everything = await self.operations.history()
            wanted = [operation for operation in reversed(everything) if operation.id in shown]
            files = await asyncio.to_thread(export_history, wanted, self._exports, zone, now_ms)
            self.notify(
                f"{counted(len(wanted))} in {files[0]} and {files[1].name}",
                title="Exported",
                timeout=15,
            )

    def action_refresh(self) -> None:
        """Read it again."""
        self.load_history()

    def action_back(self) -> None:
        """Show all again; with nothing left out, go back."""
        if self._narrowed:
            self.choice = replace(self.choice, wanted="", group=ALL, page=0)
            self.query_one(FindLine).action_close()
        else:
            self.dismiss(None)
