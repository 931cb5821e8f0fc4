"""What the remote form asks before it sends anything, in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING

from rich.cells import cell_len

from lockterm.comparison import LABELS as _WORDS
from lockterm.comparison import Difference, differences, in_words
from lockterm.models.constants import Flag
from lockterm.models.locks import Lock
from lockterm.models.remote_values import RemoteValues, values_of
from lockterm.rules import effective, touches_validity
from lockterm.screens.confirm import ConfirmModal
from lockterm.text import ELLIPSIS, clean
from lockterm.typed_remote import LABELS, Reading
from lockterm.validity import period_words

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote

_BUTTON = 24
"""Columns for a name on a button, so that two fit side by side into 60 columns."""

_ON_CREATION = (
    "remote_user_no",
    "remote_right",
    "mac",
    "electric_quantity",
    "business_id",
    "firmware_info",
    "extra_data",
)


def ask_to_add(lock_entry: Lock, reading: Reading, now_ms: int, zone: tzinfo) -> ConfirmModal:
    """Ask whether to add a remote, with everything that will be sent."""
    values = effective(None, reading.values)
    name = clean(values.remote_name, 60)
    lines = [
        f"Number: {clean(values.remote_number, 60)}",
        _validity(values, now_ms, zone),
        f"Added via {in_words('add_type', values.add_type, zone)}",
    ]
    if values.is_coerced != Flag.DEFAULT_NO:
        lines.append(f"Coerced: {in_words('is_coerced', values.is_coerced, zone)}")
    lines += [
        f"{_WORDS[field]}: {in_words(field, value, zone)}"
        for field in _ON_CREATION
        if (value := getattr(values, field)) is not None
    ]
    return ConfirmModal(
        f"Add {name} to {_title(lock_entry)}?",
        "\n".join([*lines, *_notes(reading.warnings)]),
        verb=f"Add {_short(name)}",
        keep="Keep editing",
    )


def ask_to_change(
    before: Remote, lock_entry: Lock, reading: Reading, now_ms: int, zone: tzinfo
) -> ConfirmModal:
    """Ask whether to change a remote: each field before and after, and when it opens then."""
    name = clean(before.remote_name or f"remote {before.id}", 60)
    after = effective(before, reading.values)
    lines = [str(item) for item in differences(values_of(before), after, zone)]
    if touches_validity(before, after):
        lines.append(f"After it: {_validity(after, now_ms, zone)}")
    return ConfirmModal(
        f"Change {name}, number {clean(before.remote_number or 'none', 60)}, "
        f"on {_title(lock_entry)}?",
        "\n".join([*lines, *_notes(reading.warnings)]),
        verb=f"Change {_short(name)}",
        keep="Keep editing",
    )


def clock_doubt(offset_s: float) -> str:
    """What two clocks that disagree mean for dates.

    Args:
        offset_s: How far the service's clock is ahead of this machine's, in seconds.
    """
    minutes = round(abs(offset_s) / 60)
    return (
        f"this machine's clock is {minutes} min {'behind' if offset_s > 0 else 'ahead of'} the "
        "service's. Dates such as now or +30d were counted from it: see that they are right."
    )


def ask_to_merge(before: Remote, others: list[Difference]) -> ConfirmModal:
    """Ask whether to go on from a remote that someone else has changed meanwhile."""
    name = clean(before.remote_name or f"remote {before.id}", 60)
    return ConfirmModal(
        f"{name} was changed by someone else since this form was opened.",
        "\n".join(map(str, others))
        + "\n\nTake over: the fields you did not touch get the new values; what you typed stays. "
        "Nothing is sent before you have seen the result.",
        verb="Take over",
        keep="Keep editing",
    )


def ask_whether_it_is(name: str, remote_id: int) -> ConfirmModal:
    """Ask whether the only remote like one that was added without an answer is that one."""
    return ConfirmModal(
        f"Is remote {remote_id} the {clean(name, 60)} that was added here?",
        "Name, number, type and dates are the same, and the name was free before.",
        verb="It is the one",
        keep="Not sure",
    )


def ask_to_leave(what: str) -> ConfirmModal:
    """Ask whether to leave a form in which something was typed."""
    return ConfirmModal(
        f"Leave without saving {clean(what, 60)}?",
        "What you typed is lost.",
        verb="Leave",
        keep="Keep editing",
    )


def _short(name: str) -> str:
    """A name that fits on a button: the question above has it whole."""
    if cell_len(name) <= _BUTTON:
        return name
    while cell_len(name) > _BUTTON - 1:
        name = name[:-1]
    return f"{name}{ELLIPSIS}"


def _title(lock_entry: Lock) -> str:
    title = clean(lock_entry.title, 60)
    return f"{title} (lock {lock_entry.lock_id})" if lock_entry.name else title


def _validity(values: RemoteValues, now_ms: int, zone: tzinfo) -> str:
    kind = in_words("remote_type", values.remote_type, zone).capitalize()
    words = period_words(values, now_ms, zone)
    return f"{kind}: {words}"


def _notes(warnings: Mapping[str, str]) -> list[str]:
    return [f"Note, {LABELS[field]}: {text}" for field, text in warnings.items()]
