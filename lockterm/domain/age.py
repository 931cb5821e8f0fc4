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
