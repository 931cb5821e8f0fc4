"""Undo on screens: the inverse of a change is shown as a plan, and asked for there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockterm.errors import StoreError
from lockterm.operations.undoing import draw_undo
from lockterm.screens.history.restore import open_restore
from lockterm.screens.plan.screen import PlanScreen

if TYPE_CHECKING:
    from lockterm.screens.base import LocktermScreen


async def open_undo(screen: LocktermScreen[None], operation_id: str) -> None:
    """Show the inverse of an operation; what a delete or a clear took away as its restore.

    Raises:
        LocktermError: There is none, or it cannot be told now.
    """
    operation = await screen.operations.journal.find(operation_id)
    if operation is None:
        raise StoreError("The journal does not have this operation any more.")
    if operation.call in ("delete", "clear"):
        await open_restore(screen, operation.id)
    else:
        screen.app.push_screen(PlanScreen(await draw_undo(screen.operations, operation)))
