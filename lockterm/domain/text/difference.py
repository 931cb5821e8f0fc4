"""Texts about the differences between two states of a remote, for confirmations and conflicts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from itertools import zip_longest
from typing import Any, NamedTuple

from lockterm.domain import dates
from lockterm.domain.constants import word
from lockterm.domain.glyphs import ellipsis
from lockterm.domain.json_text import EDITED, canonical
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import UPDATED, Remote
from lockterm.domain.rules import comparable
from lockterm.domain.safe_text import clean
from lockterm.domain.weekdays import format_weekdays

NOTHING = "none"

LONGEST = 60
"""Maximum number of characters of a value in a sentence."""

BEFORE = 12
"""Number of characters before the first difference that remain when a long text is cut."""

MOST_PARTS = 6
"""Maximum number of differing parts of one JSON value that a list of differences shows."""

_MISSING = "\udfff missing"
"""The placeholder for a missing value. It begins with a lone surrogate, which JSON text cannot
contain, so that no received value equals it."""


class Difference(NamedTuple):
    """A field whose value differs.

    The label and the two values are texts that are safe to show.
    """

    label: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.label}: {self.before} -> {self.after}"


class SameValue(NamedTuple):
    """A field whose value does not differ.

    The label and the value are texts that are safe to show.
    """

    label: str
    value: str


def find_differences(
    before: Remote, after: Remote, zone: tzinfo, fields: Sequence[Field] = UPDATED
) -> list[Difference]:
    """Return the fields of a remote that differ before and after a change, with both values.

    The values ``1``, ``1.0`` and ``true`` are different.
    """
    found = []
    for field in fields:
        one, other = (comparable(field, field.of(remote)) for remote in (before, after))
        found += compare_field(field, one, other, zone)
    return found


def compare_field(field: Field, one: Any, other: Any, zone: tzinfo) -> list[Difference]:
    """Return the differences between two values of a field; empty if the values are equal.

    Two JSON objects may have several differences, one for each differing part.

    Args:
        field: The field that both values belong to.
        one: The value before.
        other: The value after.
        zone: The time zone in which times are shown.
    """
    if one is other or canonical(one) == canonical(other):
        return []
    label = field.label
    if isinstance(one, Mapping) and isinstance(other, Mapping) and one and other:
        old, new = format_json_line(one), format_json_line(other)
        # Comparing a large object level by level would block key presses.
        if max(len(old), len(new)) <= LONGEST or max(len(old), len(new)) > EDITED:
            return [Difference(label, *clip_both(old, new))]
        parts = [*_parts(one, other, "")]
        found = [Difference(f"{label} {clean(path, 40)}", *clip_both(*two)) for path, *two in parts]
        left = len(found) - MOST_PARTS
        more = [Difference(label, f"{left} more values", "also changed")] if left > 0 else []
        return [*found[:MOST_PARTS], *more]
    if isinstance(one, str) and isinstance(other, str) and one and other:
        return [Difference(label, *clip_both(one, other))]
    return [Difference(label, format_value(field, one, zone), format_value(field, other, zone))]


def _parts(one: Any, other: Any, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield each path at which two JSON values differ, such as ``doors[2]``, and both values."""
    if canonical(one) == canonical(other):
        return
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in (*one, *(name for name in other if name not in one)):
            yield from _parts(one.get(name, _MISSING), other.get(name, _MISSING), f"{path}.{name}")
    elif isinstance(one, list) and isinstance(other, list):
        for place, two in enumerate(zip_longest(one, other, fillvalue=_MISSING)):
            yield from _parts(*two, f"{path}[{place}]")
    else:
        texts = (NOTHING if side == _MISSING else format_json_line(side) for side in (one, other))
        yield (path.removeprefix("."), *texts)  # type: ignore[misc]


def format_json_line(value: Any) -> str:
    """Return a JSON value on one line, with sorted keys and without escapes for letters."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def clip_both(one: str, other: str) -> tuple[str, str]:
    """Return two different texts, cut so that the first difference is visible; safe to show."""
    begin = 0
    if max(len(one), len(other)) > LONGEST:
        same = next(
            (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
            min(len(one), len(other)),
        )
        begin = max(same - BEFORE, 0)
    shown = [
        (ellipsis() if begin else "") + clean(text[begin:], LONGEST - 1 if begin else LONGEST)
        for text in (one, other)
    ]
    if shown[0] == shown[1]:  # the difference is invisible, so escapes show it
        shown = [clean(json.dumps(text[begin:]), LONGEST) for text in (one, other)]
    return shown[0], shown[1]


def format_value(field: Field, value: Any, zone: tzinfo) -> str:
    """Return the value of a field as one line that is safe to show."""
    if field.constants is not None:
        return word(field.constants, value)
    if value in (None, "") or (not value and field.kind is not Kind.NUMBER):
        return NOTHING
    match field.kind:
        case Kind.DATE:
            return dates.day_time(value, zone)
        case Kind.WEEKDAYS:
            return format_weekdays(value)
        case Kind.OBJECT:
            return clean(format_json_line(value), LONGEST)
    return clean(value, LONGEST)
