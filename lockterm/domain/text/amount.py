"""Texts for numbers, sizes, durations and ages."""

from __future__ import annotations


def format_count(count: int, thing: str) -> str:
    """Return a number with its noun, such as ``1 remote`` or ``2,000 remotes``."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def describe_unreadable_periods(count: int) -> str:
    """Return a text such as ``2 remotes have a period that cannot be read``; empty for 0."""
    have = "has" if count == 1 else "have"
    return f"{format_count(count, 'remote')} {have} a period that cannot be read" if count else ""


def describe_none(count: int, thing: str, does: str, do: str) -> str:
    """Return a text such as ``None of the 5 locks matches`` or ``The only lock does not match``.

    Args:
        count: The number of things, at least 1. If it is 1, the text begins with "The only".
        thing: The noun, in the singular.
        does: The verb after "None of the ...": ``matches``, ``is shown``.
        do: The negated verb after "The only ...": ``does not match``, ``is not shown``.
    """
    return (
        f"The only {thing} {do}"
        if count == 1
        else f"None of the {format_count(count, thing)} {does}"
    )


def format_duration(seconds: float) -> str:
    """Return an estimated duration, such as ``40 s``, ``17 min`` or ``2.5 h``."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{seconds / 3600:.1f} h"


def format_size(size: float) -> str:
    """Return a number of bytes with its unit, such as ``830 bytes`` or ``1.4 MiB``."""
    amount, units = float(size), iter(("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
    unit = ""
    while amount >= 1023.95 and (larger := next(units, "")):
        amount, unit = amount / 1024, larger
    return f"{amount:,.1f} {unit}" if unit else f"{size:.0f} byte{'' if size == 1 else 's'}"


def format_age(age_ms: int) -> str:
    """Return an age, such as ``just now``, ``12 s ago``, ``5 min ago`` or ``2 d ago``."""
    seconds = max(age_ms, 0) // 1000
    if seconds < 1:
        return "just now"
    if seconds < 60:
        return f"{seconds} s ago"
    if seconds < 2 * 3600:
        return f"{seconds // 60} min ago"
    hours = seconds // 3600
    return f"{hours} h ago" if hours < 48 else f"{hours // 24} d ago"


def format_short_age(at_ms: int, now_ms: int, *, changed: bool) -> str:
    """Return the age of a list of remotes, as text for a narrow column.

    Returns:
        A text such as ``now``, ``5m``, ``3h`` or ``12d``; ``?`` if the clock was set back after the
        list was read. A ``!`` follows if lockterm has changed the lock since then, as in ``3h!``.
    """
    minutes = (now_ms - at_ms) // 60_000
    if now_ms < at_ms:
        age = "?"
    elif minutes < 1:
        age = "now"
    elif minutes < 120:
        age = f"{minutes}m"
    else:
        age = f"{minutes // 60}h" if minutes < 48 * 60 else f"{minutes // 60 // 24}d"
    return age + "!" * changed


def describe_age(at_ms: int, now_ms: int, *, changed: bool) -> str:
    """Return the age of a list, such as ``read 3 h ago, before your last change``.

    The part after the comma appears if lockterm has changed the lock since the list was read.
    """
    age = "at an unknown time" if now_ms < at_ms else format_age(now_ms - at_ms)
    return f"read {age}{', before your last change' if changed else ''}"


def describe_elsewhere(count: int, key: str) -> str:
    """Return a text such as ``2 changed elsewhere (press !)``; empty if ``count`` is 0.

    Screens show this text below a table.

    Args:
        count: The number of remotes that others changed.
        key: The key that shows these remotes.
    """
    return f"{count:,} changed elsewhere (press {key})" if count else ""
