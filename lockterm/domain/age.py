"""How old something is, in words. A start waits for this module: it imports none."""

from __future__ import annotations


def age_words(age_ms: int) -> str:
    """``just now``, ``12 s ago``, ``5 min ago``, ``3 h ago``."""
    seconds = max(age_ms, 0) // 1000
    if seconds < 1:
        return "just now"
    if seconds < 60:
        return f"{seconds} s ago"
    return f"{seconds // 60} min ago" if seconds < 7200 else f"{seconds // 3600} h ago"


def short_age(at_ms: int, now_ms: int, *, changed: bool) -> str:
    """How old something is that was read at a moment, in a few cells.

    Returns:
        ``now``, ``5m``, ``3h``, ``12d``; ``3h!`` where it was changed since; ``?`` where the clock
        was set back since.
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


def read_when(at_ms: int, now_ms: int, *, changed: bool) -> str:
    """The same in words: ``read 3 h ago, changed from here since``."""
    age = "at an unknown time" if now_ms < at_ms else age_words(now_ms - at_ms)
    return f"read {age}{', changed from here since' if changed else ''}"
