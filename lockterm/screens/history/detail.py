"""The screen of one change of the history, which can undo the change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from textual import work
from textual.app import ComposeResult
from textual.reactive import var

from lockterm.domain.operation import Operation
from lockterm.domain.text.operation import describe_fields, format_operation
from lockterm.domain.undo import why_not_restorable
from lockterm.errors import LocktermError, StoreError
from lockterm.operations import Operations
from lockterm.operations.undoing import undo_one
from lockterm.screens.base import LocktermScreen
from lockterm.screens.plan.opening import open_undo
from lockterm.terminal.key_queue import opens
from lockterm.widgets.actions import bindings
from lockterm.widgets.data_status import StatePanel, describe_error
from lockterm.widgets.details_table import DetailsTable


class OperationDetailScreen(LocktermScreen[None]):
    """The screen with everything that the journal contains about one operation.

    Args:
        operations: The operations on the service and the local store.
        operation_id: The ID of the operation.
        zone: The time zone of the shown times.
    """

    BINDINGS = bindings("operation")

    operation: var[Operation | LocktermError | None] = var(None, init=False)
    """The operation, or the error of reading it; None until it is read."""

    def __init__(self, operations: Operations, operation_id: str, zone: tzinfo) -> None:
        super().__init__(operations)
        self._operation_id = operation_id
        self._zone = zone
        self._linked: Sequence[Operation] = ()

    def breadcrumbs(self) -> tuple[str, ...]:
        """Return the breadcrumbs for the header, with the operation below the history."""
        operation = self.operation
        return (
            "History",
            *([format_operation(operation)] if isinstance(operation, Operation) else []),
        )

    def compose_body(self) -> ComposeResult:
        """Compose the fields of the operation, or a message instead of them."""
        table = DetailsTable(id="fields")
        state = StatePanel("Reading the change ...", id="state")
        table.display = isinstance(self.operation, Operation)
        state.display = not table.display
        yield table
        yield state

    # --- loading -------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Show the operation if it was read before the screen opened."""
        if self.operation is not None:
            self._show()

    def on_screen_resume(self) -> None:
        """Read the operation again, because another screen may have restored its remotes."""
        self.load_operation()

    def show_notices(self, connection_text: str, unconfirmed: tuple[Operation, ...]) -> None:
        """Show the notices. If this screen is on top, also read the operation again.

        The operation is read again because its result may have changed.
        """
        super().show_notices(connection_text, unconfirmed)
        if self.app.screen is self:
            self.load_operation()

    async def read(self) -> bool:
        """Read the operation and its linked operations, and return whether anything has changed.

        The history calls this method before it opens this screen, and waits a short time for the
        result. If the result arrives in time, the layout of the screen is computed only once.
        """
        journal, shown = self.operations.journal, (self.operation, self._linked)
        try:
            operation = await journal.find(self._operation_id)
            if operation is None:
                raise StoreError("The history no longer contains this change.")
            self._linked = await journal.linked(operation)
            self.operation = operation
        except StoreError as error:
            self.operation = error
        return (self.operation, self._linked) != shown

    @work(exclusive=True, group="operation")
    @opens("the change")
    async def load_operation(self) -> None:
        """Read the operation in a worker, and show it."""
        if await self.read():
            self._show()

    def _show(self) -> None:
        table, state = self.query_one(DetailsTable), self.query_one(StatePanel)
        if isinstance(self.operation, Operation):
            here = self.operations.journal.session.id
            table.show_fields(describe_fields(self.operation, self._linked, self._zone, here))
            table.focus()
        elif self.operation is not None:
            offers = {"{operation.refresh}": "try again", "Esc": "back"}
            state.say(describe_error(self.operation), offers)
        table.display = isinstance(self.operation, Operation)
        state.display = not table.display
        self.show_crumbs()
        self.refresh_bindings()

    # --- actions -------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why a restore is disabled; empty if it is enabled, or for any other action."""
        if action != "restore":
            return ""
        if not isinstance(self.operation, Operation):
            return "The change has not been read yet."
        return why_not_restorable(self.operation, len(self.operation.before))

    @work
    @opens("the plan to restore the remotes", must_appear=True)
    async def action_restore(self) -> None:
        """Show a plan that restores the deleted remotes."""
        await open_undo(self, undo_one, self._operation_id)

    def action_copy(self) -> None:
        self.query_one(DetailsTable).copy()

    def action_refresh(self) -> None:
        """Read the operation again."""
        self.load_operation()

    def action_back(self) -> None:
        """Go back."""
        self.dismiss(None)
