"""Remotes sorted by a column: naturally, stably, what is missing last whichever way."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from lockterm import moments
from lockterm.models.constants import AddType, Flag, RemoteType, word
from lockterm.validity import Phase, phase_of, validity
from lockterm.widgets.remote_columns import Order

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote

_COMPARED = 500
"""The characters of a string that are compared: the service may send any number."""

_DIGITS = re.compile("([0-9]+)")


def sorted_remotes(
    remotes: Sequence[Remote], order: Order, now_ms: int, zone: tzinfo
) -> list[Remote]:
    """The same remotes in another order; equal ones stay in the order of the service.

    Args:
        remotes: In the order of the service.
        order: The column, and which way.
        now_ms: What a state is as of.
        zone: In which states are told.
    """
    keys = [_key(remote, order.key, now_ms, zone) for remote in remotes]
    present = [place for place, key in enumerate(keys) if key is not None]
    missing = [place for place, key in enumerate(keys) if key is None]
    present.sort(key=lambda place: keys[place], reverse=order.descending)
    return [remotes[place] for place in present + missing]


def natural(text: str) -> tuple[Any, ...]:
    """By what a string is compared: A-2 before A-10, é beside e, capitals like small letters."""
    folded = unicodedata.normalize("NFKD", text[:_COMPARED]).casefold()
    parts: list[Any] = _DIGITS.split(folded)
    for place in range(1, len(parts), 2):  # by their length and not as int: any number of digits
        digits = parts[place].lstrip("0")
        parts[place] = (len(digits), digits)
    return tuple(parts)


def _key(remote: Remote, column: str, now_ms: int, zone: tzinfo) -> Any:
    """By what a remote is compared; None: it has nothing there that could be compared."""
    if column == "state":
        status = validity(remote, now_ms, zone)
        return None if remote.status is None else natural(status.state)
    return _KEYS[column](remote)


def _text(value: str | None) -> Any:
    return natural(value) if value else None


def _constant(value: int | None, words: str) -> Any:
    return None if value is None else natural(words)


def _stamp(value: int | None) -> int | None:
    return moments.as_ms(value) if value else None


def _valid(remote: Remote) -> Any:
    """By the end; what is always valid ends after everything else."""
    phase = phase_of(remote.remote_type, remote.start_ms, remote.end_ms, 0)
    if phase is Phase.ALWAYS:
        return 1, 0
    return (0, remote.end_ms) if remote.end_ms else None


_KEYS: Mapping[str, Callable[[Remote], Any]] = {
    "name": lambda remote: _text(remote.remote_name),
    "number": lambda remote: _text(remote.remote_number),
    "type": lambda remote: _constant(remote.remote_type, word(RemoteType, remote.remote_type)),
    "valid": _valid,
    "added": lambda remote: _constant(remote.add_type, word(AddType, remote.add_type)),
    "coerced": lambda remote: _constant(remote.is_coerced, word(Flag, remote.is_coerced)),
    "id": lambda remote: remote.id,
    "start": lambda remote: remote.start_ms or None,
    "end": lambda remote: remote.end_ms or None,
    "created": lambda remote: _stamp(remote.create_time),
    "updated": lambda remote: _stamp(remote.update_time),
    "user": lambda remote: remote.api_user_id,
}
"""Column -> by what a remote is compared there."""
