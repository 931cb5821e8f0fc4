"""Restore: what would be lost, which remotes come back, and what became of each."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Button, Static

from lockterm.domain.locks import Lock
from lockterm.domain.operation import Operation
from lockterm.domain.text import clean
from lockterm.domain.validity import validity
from lockterm.domain.wording import read_only
from lockterm.errors import LocktermError, StoreError
from lockterm.operations import Operations
from lockterm.operations.restore import Plan, RestoreStatus, make_plan, restore
from lockterm.screens.base import LocktermScreen
from lockterm.screens.history.restore_words import RestoreWords
from lockterm.terminal.key_queue import opens
from lockterm.widgets.bindings import bindings
from lockterm.widgets.line_table import LineTable
from lockterm.widgets.row_table import Column, RowTable

STATE_CELLS = 18
"""Room for ``restored as 481234`` and the like."""

PAINT_S = 0.1
"""While remotes are sent, so often what became of them is painted: the line may be thin."""

_STATE = 1
"""The index of the column that changes while remotes are restored."""


async def open_restore(screen: LocktermScreen[None], operation_id: str) -> None:
    """Read a delete's or clear's backup and show the restore.

    Raises:
        StoreError: The journal cannot be read.
    """
    operation = await screen.operations.journal.find(operation_id)
    if operation is None:
        raise StoreError("The journal does not have this operation any more.")
    lock = await screen.operations.locks.find(operation.lock_id)
    plan = await make_plan(screen.operations, operation)
    screen.app.push_screen(RestoreScreen(screen.operations, plan, lock))


class RestoreScreen(LocktermScreen[None]):
    """Add the remotes of a backup again, after saying what is lost; one by one, and resumable.

    Args:
        operations: The one door to service and store.
        plan: What the backup holds, and what was restored of it already.
        lock_entry: The lock, as the book has it now.
    """

    BINDINGS = bindings("restore")

    AUTO_FOCUS = "#leave"

    sending: reactive[bool] = reactive(False, init=False)
    """Whether remotes are being sent."""

    def __init__(self, operations: Operations, plan: Plan, lock_entry: Lock) -> None:
        super().__init__(operations)
        self.plan = plan
        self._lock_title = lock_entry.title
        self._zone = operations.zone(lock_entry)
        self._stopping = False
        self._ended = ""
        self._changed: set[int] = set()

    def crumbs(self) -> tuple[str, ...]:
        """Below the history."""
        return ("History", "Restore", self._lock_title)

    @property
    def would_lose(self) -> str:
        """Between two remotes nothing is on its way, and the others would silently not come."""
        return "Stop restoring? What is left can be restored later." if self.sending else ""

    def compose_body(self) -> ComposeResult:
        """What is lost, the remotes, what became of them, two buttons."""
        yield Static(id="what", markup=False)
        with VerticalScroll(id="losses", can_focus=False):
            yield Static(markup=False)
        table = RowTable(
            Column("Name", most=24, least=14),
            Column("State", most=60, least=STATE_CELLS),
            Column("Number", most=20, least=6, rank=1),
            Column("Valid", most=27, least=17, rank=2),
            id="backup",
        )
        table.can_focus = False
        yield table
        yield Static(id="row", markup=False)
        yield Static(id="summary", markup=False)
        with Horizontal(classes="buttons"):
            yield Button("Leave", id="leave", compact=True)
            yield Button("Restore", id="act", variant="primary", compact=True)

    # --- painting ------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Show the backup."""
        self._paint_rows()
        self._paint()

    def _paint_rows(self) -> None:
        now_ms = self.operations.now_ms()
        rows = {}
        for index, backed_up in enumerate(self.plan.remotes):
            remote = backed_up.remote
            rows[str(index)] = (
                clean(remote.remote_name or "(no name)", 60),
                self._words.state(index).ljust(STATE_CELLS),
                clean(remote.remote_number or "", 30),
                validity(remote, now_ms, self._zone).short,
            )
        self.query_one(RowTable).show(rows)

    def _paint(self) -> None:
        if not self.query("#backup"):  # the app is ending
            return
        plan = self.plan
        self.query_one("#what", Static).update(self._words.question(self._zone))
        losses = [clean(sentence, 400) for sentence in plan.losses()]
        self.query_one("#losses Static", Static).update(_bullets(losses))
        self.query_one("#losses").display = bool(losses)
        self.query_one("#summary", Static).update(self._summary())
        act, leave = self.query_one("#act", Button), self.query_one("#leave", Button)
        act.label = Content(self._words.verb())
        act.disabled = self.sending or bool(self._why_not_act())
        act.display = bool(plan.due) or self.sending
        stop = "Stopping ..." if self._stopping else "Stop after this one"
        leave.label = stop if self.sending else "Leave"
        self._tell_row()

    def _why_not_act(self) -> str:
        if self.operations.profile.read_only:
            return read_only(self.operations.profile.name, "nothing can be restored")
        return self._words.why_not()

    def _summary(self) -> str:
        lines = [self._words.counts()] if len(self.plan.remotes) > 1 else []
        if self._stopping:
            lines.append("Stopping after the one that is being sent ...")
        elif reason := self._ended or (not self.sending and self._why_not_act()):
            lines.append(clean(reason, 300))
        return "\n".join(lines)

    @property
    def _words(self) -> RestoreWords:
        return RestoreWords(self.plan, self._lock_title)

    def _tell_row(self) -> None:
        key = self.query_one(RowTable).highlighted
        words = ""
        if key is not None and not self.sending:
            outcome = self.plan.outcomes[int(key)]
            if outcome.words and outcome.status is not RestoreStatus.RESTORED:
                words = f"{self._words.name(int(key))}: {self._words.state(int(key))}"
        self.query_one("#row", Static).update(words, layout=False)

    @on(LineTable.Moved)
    def _moved(self) -> None:
        self._tell_row()

    # --- the journal ---------------------------------------------------------------------------

    def on_screen_resume(self) -> None:
        """An unsettled one may have been settled meanwhile."""
        self.load_plan()

    def show_notices(self, offline: str, unsettled: tuple[Operation, ...]) -> None:
        """An outcome has changed, perhaps of one of these."""
        super().show_notices(offline, unsettled)
        self.load_plan()

    @work(exclusive=True, group="plan")
    @opens("the plan")
    async def load_plan(self) -> None:
        """Read again what the journal says; while remotes are sent, their outcomes are here."""
        if self.sending:
            return
        with self.showing_errors():
            plan = await make_plan(self.operations, self.plan.operation)
            if self.sending:
                return
            for index, outcome in enumerate(self.plan.outcomes):
                # That a name is taken was told by a check, which the journal does not have.
                if (
                    outcome.status is RestoreStatus.REFUSED
                    and plan.outcomes[index].status is RestoreStatus.WAITING
                ):
                    plan.outcomes[index] = outcome
            if self.plan.held and not plan.held:
                self._ended = ""
            self.plan = plan
            self._paint_rows()
            self._paint()

    # --- actions -------------------------------------------------------------------------------

    @on(Button.Pressed, "#act")
    def _act(self) -> None:
        if not self.sending and not self._why_not_act():
            self.sending, self._ended = True, ""
            self._paint()
            self.query_one("#leave", Button).focus()
            self._restore(list(self.plan.due))

    @work(group="restore")
    async def _restore(self, indices: list[int]) -> None:
        try:
            self._ended = await restore(
                self.operations, self.plan, indices, self._note_outcome, lambda: self._stopping
            )
        except LocktermError as error:
            self.tell(error)
        finally:
            self.sending = self._stopping = False
        for screen in self.screens_of(self.plan.operation.lock_id):
            screen.after_write(None)
        self.load_plan()
        if not self._ended and not self.plan.having(RestoreStatus.REFUSED, RestoreStatus.UNSETTLED):
            self._ended = self._words.done()
        self._paint()

    def _note_outcome(self, index: int) -> None:
        if not self._changed:
            self.set_timer(PAINT_S, self._show_outcomes)
        self._changed.add(index)

    def _show_outcomes(self) -> None:
        """Without a layout of the screen, which would take longer than to send a remote."""
        changed, self._changed = self._changed, set()
        if not self.sending or not self.query("#backup"):
            return  # all of it was painted, or the app is ending
        table = self.query_one(RowTable)
        for index in changed:
            table.show_cell(str(index), _STATE, self._words.state(index))
        table.move_cursor(row=max(changed))
        self.query_one("#summary", Static).update(self._summary(), layout=False)

    @on(Button.Pressed, "#leave")
    def action_leave(self) -> None:
        """Stop after the remote that is being sent; with nothing being sent, leave."""
        if not self.sending:
            self.dismiss(None)
        elif not self._stopping:
            self._stopping = True
            self._paint()

    def action_scroll_rows(self, how: str) -> None:
        """Move through the remotes while a button has the focus."""
        table = self.query_one(RowTable)
        getattr(table, f"action_{how}")()


def _bullets(sentences: Sequence[str]) -> Table:
    grid = Table.grid(padding=(0, 1))
    for sentence in sentences:
        grid.add_row("-", Text(sentence))
    return grid
