"""The history screen, which lists every change that lockterm sent, and can undo changes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import tzinfo
from typing import Any, cast

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.reactive import var
from textual.widgets import Static

from lockterm.domain import dates
from lockterm.domain.operation import HistoryLine, Operation
from lockterm.domain.plan import RunLine
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.operation import STATE_NAMES
from lockterm.domain.undo import why_not_restorable, why_not_undone
from lockterm.errors import StoreError
from lockterm.keymap.hints import key, with_keys
from lockterm.operations import Operations
from lockterm.operations.copying import backup_source
from lockterm.operations.export import export_history
from lockterm.operations.undoing import undo_one, undo_run
from lockterm.screens.base import HasOperations, LocktermScreen
from lockterm.screens.copy import CopyScreen
from lockterm.screens.history.detail import OperationDetailScreen
from lockterm.screens.history.page import ALL, COUNTED, PAGE, HistoryChoice, HistoryPage, runs_among
from lockterm.screens.history.table import ChangePane, DayStrip, HistoryTable, format_run
from lockterm.screens.list_screen import ListScreen
from lockterm.screens.plan.opening import open_undo, screen_of_run
from lockterm.terminal.key_queue import opening, opens
from lockterm.widgets.actions import bindings
from lockterm.widgets.data_status import KeyOffers, describe_error
from lockterm.widgets.text_input import FindLine

_READ_FIRST_S = 0.05
"""The maximum time to wait for the data of a change before its screen opens, in seconds."""


class HistoryScreen(ListScreen[str | None]):
    """The screen that lists the changes of the profile, the newest first.

    Args:
        operations: The operations on the service and the local store.
        lock_id: The ID of the lock whose changes are shown initially; None for all locks.
        chooses: Whether the user opened the screen to choose a backup to copy. The result of the
            screen is then the ID of the operation with the backup, or None.
    """

    BINDINGS = bindings("history")

    table: HistoryTable

    page: var[HistoryPage | StoreError | None] = var(None, init=False)
    """The shown page, or the error of reading the history; None until a page is read."""

    def __init__(
        self,
        operations: Operations,
        lock_id: int | None = None,
        *,
        chooses: bool = False,
    ) -> None:
        super().__init__(operations, HistoryTable(id="history"))
        self._chooses = chooses
        self._zone: tzinfo = operations.profile.zone
        name = "" if lock_id is None else f"lock {lock_id}"
        self.choice = HistoryChoice(lock_id, name)
        """The filters, the search text and the page that the user has chosen."""
        self._shown: dict[str, HistoryLine | RunLine] = {}
        self._is_back = False
        """Whether the user has just come back to this screen, and the newest changes are not shown
        yet."""
        self._reading = asyncio.Lock()
        """A mutex that allows only one worker to read at a time. If a user types faster than a long
        journal can be searched, a new worker cancels the worker that waits for this mutex."""

    def breadcrumbs(self) -> tuple[str, ...]:
        """Return the breadcrumbs for the header, with the lock if only one lock is shown."""
        choice = self.choice
        return ("History",) if choice.lock_id is None else ("History", choice.lock_name)

    def compose_body(self) -> ComposeResult:
        days, pane = DayStrip(self.operations, id="days"), ChangePane(self.operations)
        days.display = pane.display = self.has_class("-framed")  # before the first layout
        yield days
        with Horizontal():
            yield from self.compose_list()
            yield pane
        yield FindLine(id="find")
        yield Static(id="row", markup=False)
        yield Static(id="about", markup=False)

    # --- what is chosen and shown --------------------------------------------------------------

    @property
    def _page(self) -> HistoryPage:
        """The shown page; an empty page if no page could be read."""
        if isinstance(self.page, HistoryPage):
            return self.page
        return HistoryPage(self.choice, self._zone)

    @property
    def _is_narrowed(self) -> bool:
        """Whether a search text or a filter by result is set."""
        return bool(self.choice.wanted) or self.choice.group != ALL

    @property
    def current(self) -> HistoryLine | None:
        """The selected operation; None if a run or no row is selected."""
        line = self._current_row
        return line if isinstance(line, HistoryLine) else None

    @property
    def _current_row(self) -> HistoryLine | RunLine | None:
        return self._shown.get(self.table.highlighted or "") if self.table.display else None

    def _choose(self, **changes: Any) -> None:
        """Change the filter, the search or the page, and read the history.

        Args:
            changes: The new values for fields of :class:`HistoryChoice`. Without ``passed``, the
                first page is shown.
        """
        self.choice = replace(self.choice, **{"passed": (), **changes})
        self.show_crumbs()
        self.load_history(self.page if isinstance(self.page, HistoryPage) else None)

    def search_for(self, text: str) -> None:
        if text != self.choice.wanted:  # Escape cleared the search before it emptied the field
            self._choose(wanted=text)

    # --- loading -------------------------------------------------------------------------------

    def on_screen_resume(self) -> None:
        """Read the history, because another screen or session may have sent changes.

        If there are newer changes, select the newest, so that ``z`` undoes what the user just did.
        """
        self._is_back = True
        self.load_history()

    def show_notices(self, connection_text: str, unconfirmed: tuple[Operation, ...]) -> None:
        """Show the notices. If this screen is on top, also read the page again.

        The page is read again because the result of a shown change may be different now.
        """
        super().show_notices(connection_text, unconfirmed)
        if self.app.screen is self:
            self.load_history()

    # The description is given, because by default Textual formats the whole ``known`` page.
    @work(exclusive=True, group="history", description="the history")
    async def load_history(self, known: HistoryPage | None = None) -> None:
        """Read the chosen page from the journal.

        Args:
            known: The page that was shown before, whose numbers of changes are used again as far as
                they still apply; None to count again.
        """
        with opening(self, "the history", passes=self.edits_search):
            page: HistoryPage | StoreError
            try:
                async with self._reading:
                    page = await self._read_page(known)
                self._zone = page.zone
            except StoreError as error:
                page = error
            self.page = page
            self._is_back = False
            self._show_panels()  # the same page may be read on another day

    async def _read_page(self, known: HistoryPage | None) -> HistoryPage:
        zone: tzinfo = self.operations.profile.zone
        journal = self.operations.journal
        if self.choice.lock_id is not None:
            lock = await self.operations.locks.find(self.choice.lock_id)
            zone = self.operations.zone(lock)
            self.choice = replace(self.choice, lock_name=lock.title)
            self.show_crumbs()
        selection = self.choice.selection(zone, self.operations.machine_ms())
        found = None
        if self.choice.list_filters() and not self.choice.passed:
            lines, found = await journal.newest(selection, PAGE + 1, COUNTED + 1)
        else:
            lines = await journal.lines(selection, self.choice.below, PAGE + 1)
        while not lines and self.choice.passed:  # the changes of this page no longer match
            self.choice = replace(self.choice, passed=self.choice.passed[:-1])
            lines = await journal.lines(selection, self.choice.below, PAGE + 1)
        choice, has_older = self.choice, len(lines) > PAGE
        runs = await journal.runs() if choice.has_runs else []
        total = await journal.count() if known is None else known.total
        if found is None:
            if not choice.list_filters() and not runs:
                found = total
            elif known is not None and replace(known.choice, passed=choice.passed) == choice:
                found = known.found
            elif choice.passed or has_older:
                found = await journal.count(selection, COUNTED + 1 if choice.list_filters() else -1)
            else:
                found = len(lines)
        shown = runs_among(runs, choice, lines[:PAGE], has_older) if choice.has_runs else []
        return HistoryPage(choice, zone, lines[:PAGE], shown, has_older, found, total, len(runs))

    @on(HistoryTable.Lacking)
    def _unread_rows_in_sight(self) -> None:
        self.read_changes()

    @work(exclusive=True, group="changes", description="what was changed")
    async def read_changes(self) -> None:
        """Read the changed fields of the visible operations without blocking keys."""
        table, zone = self.table, self._zone
        ids = table.lacking
        with suppress(StoreError):  # opening a change reports it
            changes = await self.operations.journal.changes(ids, zone)
            if zone == self._zone:
                table.show_changes(dict.fromkeys(ids, "") | dict(changes))

    @work(exclusive=True, group="damage")
    async def _look_through(self) -> None:
        with suppress(StoreError):  # a request for a damaged entry reports it
            await self.operations.journal.look_through()

    # --- painting ------------------------------------------------------------------------------

    def watch_page(
        self, old: HistoryPage | StoreError | None, new: HistoryPage | StoreError | None
    ) -> None:
        """Show the new page. After the first page, also check the journal for damaged entries."""
        if old is None:
            self.call_after_refresh(self._look_through)
        before, now = (one.choice.page if isinstance(one, HistoryPage) else 0 for one in (old, new))
        first, newest = (one.rows[:1] if isinstance(one, HistoryPage) else [] for one in (old, new))
        is_newer = [one.id for one in first] != [one.id for one in newest]
        self.paint(top=before != now or (self._is_back and is_newer))

    def paint(self, *, top: bool = False) -> None:
        page = self._page
        rows = page.rows
        self._shown = {line.id: line for line in rows}
        one_lock = page.choice.lock_id is not None
        now_ms = self.operations.machine_ms()
        self.table.show_lines(rows, self._zone, now_ms, top=top, one_lock=one_lock)
        self.show_list()
        self.describe_rows()

    def describe_empty(self) -> tuple[str, KeyOffers]:
        page = self.page
        if page is None:
            return "Reading the history ...", {}
        if isinstance(page, StoreError):
            return describe_error(page), {"{history.refresh}": "try again", "Esc": "back"}
        if not page.total and not page.run_count:
            return (
                "You have not sent any changes yet. This list will show every change that"
                " you send, with its result.",
                {"Esc": "back", "{app.help}": "help"},
            )
        way = {"Esc": "show all"}
        if not self._is_narrowed:
            way = {"{history.one_lock}": "all locks", "Esc": "back"}
        return f"No change matches the filter: {', '.join(page.choice.list_filters())}.", way

    def describe_rows(self) -> None:
        page = self._page
        runs = f"{format_count(page.run_count, 'run')} ({key('app.run')} shows the last)"
        sent = format_count(page.total, "change")
        parts = [sent] * bool(page.total) + [runs] * bool(page.run_count)
        if left := page.choice.list_filters():
            found = f"more than {COUNTED:,}" if page.is_uncounted else f"{page.found:,}"
            parts = [f"{found} of {sent}", *left]
        if page.pages > 1:
            parts.append(page.position)
        if page.total or page.run_count:
            parts.append(f"times in {clean(self._zone, 100)}")
        self.query_one("#about", Static).update("   ".join(parts), layout=False)
        self.query_one("#row", Static).update(self._sentence(), layout=False)
        self.refresh_bindings()
        self._show_panels()

    def _show_panels(self) -> None:
        """Show the chart of changes per day and the selected change, if there is room."""
        pane, days = self.query_one(ChangePane), self.query_one(DayStrip)
        is_empty = not (self._page.total or self._page.run_count)
        pane.display = days.display = self.has_class("-framed") and not is_empty
        if pane.display:
            pane.show_row(self._current_row, self._zone)
            days.show_days(self._page.total, self._page.choice.lock_id, self._zone)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_panels)

    def _sentence(self) -> str:
        line = self._current_row
        if line is None:
            return ""
        if isinstance(line, RunLine):
            at = dates.day_time(line.made_ms, self._zone)
            is_left = line.is_interrupted
            way = with_keys("{history.open} to resume") if is_left else ""
            return "  ".join(filter(None, (format_run(line), way, at)))
        at = dates.day_time(line.prepared_ms, self._zone)
        parts = (at, STATE_NAMES[line.state], clean(line.message, 200), clean(line.lock_name, 40))
        return "  ".join(filter(None, parts))

    # --- actions -------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        line, row = self.current, self._current_row
        if isinstance(row, RunLine) and action in ("restore", "one_lock", "copies"):
            return with_keys(
                "The selected row is a run. Press {history.open} to open the run, or"
                " {history.undo} to undo the whole run."
            )
        if action == "copies" and line is not None:
            return why_not_restorable(line, line.count)
        if action == "restore" and line is not None:
            return why_not_restorable(line, line.count)
        if action == "undo" and line is not None:
            return why_not_undone(line, line.count)
        if action in ("open", "restore", "undo", "copies") and row is None:
            return "No change is selected."
        if action == "one_lock" and line is None and self.choice.lock_id is None:
            return "The selected row belongs to no lock."
        if action == "export" and not self._shown:
            return "The list is empty, so there is nothing to export."
        if action == "next" and not self._page.has_older:
            return "There are no older changes." if self._shown else "The list is empty."
        if action == "previous" and not self.choice.page:
            return "There are no newer changes." if self._shown else "The list is empty."
        return ""

    @property
    def first_keys(self) -> Sequence[str]:
        """The actions that the footer shows first.

        The key for a copy is first if the user is choosing a backup. The key for all locks follows
        if only one lock is shown.
        """
        chooses = ("copies",) if self._chooses else ()
        return (*chooses, "one_lock") if self.choice.lock_id is not None else chooses

    def verb_now(self, action: str) -> str:
        """Return "all locks" for the key of the lock filter if one lock is shown; else empty."""
        return "all locks" if action == "one_lock" and self.choice.lock_id is not None else ""

    @work
    @opens("the change", must_appear=True)
    async def action_open(self) -> None:
        """Open the selected change, or the steps of the selected run."""
        if isinstance(row := self._current_row, RunLine):
            with self.refusing_errors():
                self._open(await screen_of_run(self.operations, row.id))
        elif (line := self.current) is not None:
            screen = OperationDetailScreen(self.operations, line.id, self._zone)
            with suppress(TimeoutError):
                async with asyncio.timeout(_READ_FIRST_S):
                    await screen.read()
            self._open(screen)

    def _open(self, screen: LocktermScreen[None]) -> None:
        if self.app.screen is self:  # a second click, or a dialog, may have come before
            self.app.push_screen(screen)

    def action_restore(self) -> None:
        """Show a plan that restores the deleted remotes."""
        self.action_undo()

    @work
    @opens("the plan to undo the change", must_appear=True)
    async def action_undo(self) -> None:
        """Show a plan that undoes the selected operation, or all operations of the selected run."""
        if (row := self._current_row) is None:
            return
        undo = undo_run if isinstance(row, RunLine) else undo_one
        await open_undo(self, undo, row.id)

    @work
    @opens("the choice of locks", must_appear=True)
    async def action_copies(self) -> None:
        """Open the screen that copies the remotes deleted by the selected change to other locks.

        If the user opened the history to choose a backup, close it with the ID of the operation.
        """
        if (line := self.current) is None:
            return
        if self._chooses:
            self.dismiss(line.id)
            return
        with self.refusing_errors():
            source = await backup_source(self.operations, line.id)
            self.app.push_screen(CopyScreen(self.operations, source))

    def action_outcomes(self) -> None:
        """Switch to the next filter by result."""
        self._choose(group=self.choice.next_group)

    def action_one_lock(self) -> None:
        """Show only the operations on the selected row's lock, or all operations again."""
        if self.choice.lock_id is not None:
            self._choose(lock_id=None)
        elif (line := self.current) is not None:
            self._choose(lock_id=line.lock_id, lock_name=line.lock_name)

    def action_next(self) -> None:
        """Show the next page, with older changes."""
        self._choose(passed=(*self.choice.passed, self._page.lines[-1]))

    def action_previous(self) -> None:
        """Show the previous page, with newer changes."""
        self._choose(passed=self.choice.passed[:-1])

    @work
    async def action_export(self) -> None:
        """Write the changes that match the filters, on all pages, to a CSV and a JSON file."""
        now_ms, zone = self.operations.machine_ms(), self._zone
        with self.showing_errors():
            shown = self._page.choice.selection(zone, now_ms)
            selection = replace(shown, outside_runs=False)
            changes = (await self.operations.journal.history(selection))[::-1]
            book = await self.operations.locks.all()
            zones = {lock.lock_id: self.operations.zone(lock) for lock in book}
            directory = cast("HasOperations", self.app).exports
            files = await asyncio.to_thread(export_history, changes, directory, zone, now_ms, zones)
            self.notify(
                (
                    f"{format_count(len(changes), 'change')} written to {files[0]} and"
                    f" {files[1].name}"
                ),
                title="Exported",
            )

    def action_refresh(self) -> None:
        """Read the history again."""
        self.load_history()

    def action_back(self) -> None:
        """Clear the search and the filter by result. If neither is set, go back."""
        if self._is_narrowed:
            self._choose(wanted="", group=ALL)
            self.query_one(FindLine).action_close()
        else:
            self.dismiss(None)
