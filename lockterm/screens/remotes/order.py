"""Remotes sorted by a column: naturally, stably, what is missing last whichever way."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, TypeVar

from lockterm.domain import dates
from lockterm.domain.constants import word
from lockterm.domain.reading import Kind
from lockterm.domain.validity import Phase, phase_of, validity
from lockterm.screens.remotes.columns import COLUMNS, SortOrder

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote

T = TypeVar("T")

_COMPARED = 500
"""The characters of a string that are compared: the service may send any number."""

_DIGITS = re.compile("([0-9]+)")


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


def sorted_by(rows: Sequence[T], key: Callable[[T], Any], *, descending: bool) -> list[T]:
    """The same rows in another order; equal ones stay as they are.

    Args:
        rows: In the order they have by themselves.
        key: By what a row is compared; None: it has nothing there, and stands last.
        descending: Whether the highest stands first.
    """
    keys = [*map(key, rows)]
    present = [place for place, key in enumerate(keys) if key is not None]
    missing = [place for place, key in enumerate(keys) if key is None]
    present.sort(key=lambda place: keys[place], reverse=descending)
    return [rows[place] for place in present + missing]


def natural(text: str) -> tuple[Any, ...]:
    """By what a string is compared: A-2 before A-10, é beside e, capitals like small letters."""
    folded = unicodedata.normalize("NFKD", text[:_COMPARED]).casefold()
    parts: list[Any] = _DIGITS.split(folded)
    for place in range(1, len(parts), 2):  # by their length and not as int: any number of digits
        digits = parts[place].lstrip("0")
        parts[place] = (len(digits), digits)
    return tuple(parts)


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
        return natural(validity(remote, now_ms, zone).word)
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
