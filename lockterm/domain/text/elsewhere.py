"""Texts about changes that others made. The texts are safe to show."""

from __future__ import annotations

from datetime import tzinfo

from lockterm.domain import dates
from lockterm.domain.elsewhere import ChangeElsewhere, ChangeKind, fields_of
from lockterm.domain.remotes import FIELDS, Remote
from lockterm.domain.rules import comparable
from lockterm.domain.text.difference import compare_field, format_value

ELSEWHERE = "Changed elsewhere"
"""The label of changes that others made."""

NOT_KEPT = (
    "This profile keeps no lists on this machine, so lockterm cannot compare readings."
    " Set cache = true, or leave out --no-cache."
)
"""The message if lockterm cannot find changes by others, because the profile stores no lists."""


def describe_kind(change: ChangeElsewhere) -> str:
    """Return the kind of a change and its fields, such as ``new``, ``changed: end`` or ``gone``."""
    called = ", ".join(FIELDS[name].called for name in change.names if name in FIELDS)
    return f"{change.what.value}: {called}" if called else change.what.value


def describe_values(change: ChangeElsewhere, zone: tzinfo) -> str:
    """Return old and new values, such as ``End: 6 Dec 2026 18:00 -> 21 Dec 2026 18:00``.

    If the remote is new or gone, return its number and its end.
    """
    if change.what is not ChangeKind.CHANGED:
        remote = Remote.read(change.after or change.before)
        fields = [FIELDS[name] for name in ("remoteNumber", "endDate")]
        values_set = [(one, one.of(remote)) for one in fields if one.of(remote)]
        return ", ".join(
            f"{one.label} {format_value(one, value, zone)}" for one, value in values_set
        )
    parts, described = list[str](), set[str]()
    for name, *values in fields_of(change):
        field = FIELDS[name]
        one, other = (comparable(field, value) for value in values)
        parts += map(str, compare_field(field, one, other, zone))
        described.add(name)
    # The values of the other fields are too long to be stored.
    return ", ".join([*parts, *(FIELDS[one].label for one in change.names if one not in described)])


def describe_between(change: ChangeElsewhere, zone: tzinfo, now_ms: int) -> str:
    """Return the times of the two compared lists: ``between 20 Nov 09:12 and 21 Nov 08:03``."""
    times = (ms - ms % dates.MINUTE_MS for ms in (change.since_ms, change.until_ms))
    since, until = (dates.near_time(ms, zone, now_ms) for ms in times)
    return f"between {since} and {until}"


_HEADS = {
    ChangeKind.NEW: "Added elsewhere",
    ChangeKind.CHANGED: ELSEWHERE,
    ChangeKind.GONE: "Removed elsewhere",
}


def describe_change(
    change: ChangeElsewhere, zone: tzinfo, now_ms: int, *, with_head: bool = True
) -> str:
    """Return a text like ``Changed elsewhere: End: 6 Dec 2026 -> 21 Dec 2026 (between ...)``.

    Args:
        change: The change.
        zone: The time zone of the lock.
        now_ms: Now, in milliseconds.
        with_head: Whether to begin with ``Changed elsewhere``, which is not needed beside a label
            with these words.
    """
    between = f"({describe_between(change, zone, now_ms)})"
    text = f"{describe_values(change, zone)} {between}".strip()
    if with_head:
        return f"{_HEADS[change.what]}: {text}"
    return text if change.what is ChangeKind.CHANGED else f"{change.what.value}, {text}"
