"""One operation: every step with its time, what was before and after, what was sent."""

from __future__ import annotations

from datetime import tzinfo
from functools import partial

from textual import work
from textual.app import ComposeResult
from textual.reactive import var

from lockterm.domain.operation import Operation, title_of
from lockterm.domain.undo import why_not_restorable
from lockterm.errors import LocktermError, StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.operations.undoing import undo_one
from lockterm.screens.base import LocktermScreen
from lockterm.screens.history.operation_fields import operation_fields
from lockterm.screens.plan.opening import open_plan
from lockterm.terminal.key_queue import opens
from lockterm.widgets.bindings import bindings
from lockterm.widgets.details_table import DetailsTable
from lockterm.widgets.state_panel import StatePanel


class OperationDetailScreen(LocktermScreen[None]):
    """Everything that the journal knows of one operation.

    Args:
        operations: The one door to service and store.
        operation_id: Which operation.
        zone: In which times are shown.
    """

    BINDINGS = bindings("operation")

    operation: var[Operation | LocktermError | None] = var(None, init=False)
    """The operation; why it cannot be read; None before it was."""

    def __init__(self, operations: Operations, operation_id: str, zone: tzinfo) -> None:
        super().__init__(operations)
        self._operation_id = operation_id
        self._zone = zone

    def crumbs(self) -> tuple[str, ...]:
        """Below the history."""
        operation = self.operation
        return ("History", *([title_of(operation)] if isinstance(operation, Operation) else []))

    def compose_body(self) -> ComposeResult:
        """The fields, or words in their place."""
        yield DetailsTable(id="fields")
        yield StatePanel("Reading the operation ...", id="state")

    # --- loading -------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """It is read when this screen is seen."""
        self.query_one(DetailsTable).display = False

    def on_screen_resume(self) -> None:
        """Read it: it may have been restored meanwhile."""
        self.load_operation()

    def show_notices(self, offline: str, unsettled: tuple[Operation, ...]) -> None:
        """An outcome has changed, perhaps this one's."""
        super().show_notices(offline, unsettled)
        if self.app.screen is self:
            self.load_operation()

    @work(exclusive=True, group="operation")
    @opens("the operation")
    async def load_operation(self) -> None:
        """Read the operation and what it is tied to."""
        try:
            operation = await self.operations.journal.find(self._operation_id)
            if operation is None:
                raise StoreError("The journal does not have this operation any more.")
            linked = await self.operations.journal.linked(operation)
        except StoreError as error:
            self.operation = error
            self._paint_error(error)
            return
        self.operation = operation
        table = self.query_one(DetailsTable)
        here = self.operations.journal.session.id
        table.show_fields(operation_fields(operation, linked, self._zone, here))
        table.display, self.query_one(StatePanel).display = True, False
        table.focus()
        self.show_crumbs()
        self.refresh_bindings()

    def _paint_error(self, error: LocktermError) -> None:
        self.query_one(DetailsTable).display = False
        self.query_one(StatePanel).say_error(
            error, with_keys("{operation.refresh}  try again      esc  back")
        )
        self.refresh_bindings()

    # --- actions -------------------------------------------------------------------------------

    def why_not(self, action: str) -> str:
        """Only a delete or a clear that took effect can be restored."""
        if action != "restore":
            return ""
        if not isinstance(self.operation, Operation):
            return "The operation was not read yet."
        return why_not_restorable(self.operation, len(self.operation.before))

    @work
    @opens("the plan to restore", must_appear=True)
    async def action_restore(self) -> None:
        """Show what adds again what was taken away, as a plan."""
        await open_plan(self, partial(undo_one, self.operations, self._operation_id))

    def action_copy(self) -> None:
        self.query_one(DetailsTable).copy()

    def action_refresh(self) -> None:
        """Read it again."""
        self.load_operation()

    def action_back(self) -> None:
        """Go back."""
        self.dismiss(None)
