"""Remotes sorted by a column."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from itertools import islice
from typing import TYPE_CHECKING, Any

from lockterm.domain import dates
from lockterm.domain.constants import word
from lockterm.domain.reading import Kind
from lockterm.domain.sorting import natural, sorted_by
from lockterm.domain.text.validity import describe_validity
from lockterm.domain.validity import Phase, phase_of
from lockterm.operations.list_state import ListState
from lockterm.operations.remote_list import MOST_FOUND
from lockterm.screens.remotes.columns import COLUMNS, SortOrder

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote


MOST_SHOWN = 200
"""Rows of a page that are shown: the service is asked for no more."""


def rows_to_show(
    state: ListState, order: SortOrder | None, zone: tzinfo, now_ms: int
) -> Sequence[Remote]:
    """Return the remotes of a list to show: those of the page or those found, if they match.

    No more than the first :data:`MOST_SHOWN` of a page: a service may send any number, and a
    table of thousands keeps the keys waiting. The rows that were loaded are sorted, not the list.

    Args:
        state: What is known of the list.
        order: What they are sorted by; None for the service's order.
        zone: The zone of times, also of those that are compared with the text searched for.
        now_ms: The time that states are as of.
    """
    remotes: Sequence[Remote]
    if state.found is None and state.is_narrowed:
        remotes = [*islice(state.remotes(zone, now_ms), MOST_FOUND)]
    else:
        remotes = [*state.remotes(zone, now_ms)]
    if order is not None:
        remotes = sorted_remotes(remotes, order, now_ms, zone)
    return remotes if state.is_narrowed or state.found is not None else remotes[:MOST_SHOWN]


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
