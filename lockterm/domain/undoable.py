"""The reasons why a change cannot be undone. :mod:`lockterm.domain.undo` plans the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockterm.domain.operation import (
    IN_FLIGHT,
    RECORDED,
    UNCONFIRMED,
    WITHOUT_EFFECT,
    OperationState,
)
from lockterm.domain.text.operation import STATE_NAMES
from lockterm.keymap.hints import settle_first

if TYPE_CHECKING:
    from lockterm.domain.history import HistoryLine
    from lockterm.domain.operation import Operation

TAKEN_AWAY = frozenset({"delete", "clear"})
"""The calls that are undone by adding the deleted remotes again."""


def why_not_undone(operation: Operation | HistoryLine, count: int) -> str:
    """Return why an operation cannot be undone, as sentences; empty if it can be.

    Args:
        operation: The operation.
        count: Number of remotes in the backup of the operation.
    """
    call, state = operation.call, operation.state
    if call in TAKEN_AWAY:
        return why_not_restorable(operation, count)
    if state in WITHOUT_EFFECT:
        return f"Result of this change: {STATE_NAMES[state]}. Therefore there is nothing to undo."
    if state not in RECORDED:
        words = f"Result of this change: {STATE_NAMES[state]}"
        return f"{words}. You can undo only changes that were certainly recorded."
    if call == "add" and operation.remote_id is None:
        return (
            "The service did not report the ID of the added remote. Find the remote and delete it."
        )
    return ""


def why_not_restorable(operation: Operation | HistoryLine, count: int) -> str:
    """Return why the remotes that an operation deleted cannot be restored; empty if they can be.

    Args:
        operation: The operation.
        count: Number of remotes in the backup of the operation.
    """
    if operation.call not in TAKEN_AWAY:
        return "Only remotes that a delete or a clear removed can be restored."
    if operation.state is OperationState.DAMAGED:
        return "This entry of the history is damaged, so its backup cannot be trusted."
    if operation.state in UNCONFIRMED | IN_FLIGHT:
        return f"It is unconfirmed whether this {operation.call} took effect. {settle_first()}"
    is_replaced = operation.call == "clear" and operation.state is OperationState.SENT_AGAIN
    if operation.state not in RECORDED | {OperationState.GIVEN_UP} and not is_replaced:
        return (
            f"Result of this change: {STATE_NAMES[operation.state]}. Therefore there is nothing to"
            " restore."
        )
    if not count:
        return f"There was nothing to {operation.call}."
    return ""
