"""Remotes sorted by a column."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from lockterm.domain import dates
from lockterm.domain.constants import word
from lockterm.domain.reading import Kind
from lockterm.domain.sorting import natural, sorted_by
from lockterm.domain.text.validity import describe_validity
from lockterm.domain.validity import Phase, phase_of
from lockterm.screens.remotes.columns import COLUMNS, SortOrder

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote


def sorted_remotes(
    remotes: Sequence[Remote], order: SortOrder, now_ms: int, zone: tzinfo
) -> list[Remote]:
    """The same remotes in another order; equal ones stay in the order of the service.

    Args:
        remotes: In the order of the service.
        order: The column, and which way.
        now_ms: What a state is as of.
        zone: In which states are told.
    """
    return sorted_by(
        remotes,
        lambda remote: compared(remote, order.key, now_ms, zone),
        descending=order.descending,
    )


def compared(remote: Remote, column: str, now_ms: int, zone: tzinfo) -> Any:
    """By what a remote is compared; None: it has nothing there that could be compared."""
    if column == "valid":  # by the end; what is always valid ends after everything else
        is_always = phase_of(remote, 0) is Phase.ALWAYS
        return (1, 0) if is_always else (0, remote.end_ms) if remote.end_ms else None
    field = COLUMNS[column].field
    value = field.of(remote)
    if value is None:
        return None
    if column == "state":
        return natural(describe_validity(remote, now_ms, zone).word)
    if field.constants is not None:
        return natural(word(field.constants, value))
    match field.kind:
        case Kind.TEXT:
            return natural(value) if value else None
        case Kind.DATE:
            return value or None
        case Kind.TIMESTAMP:
            return dates.as_ms(value) or None
    return value
