"""All text for people, a module for each subject. Commands and screens only lay it out.

Functions are named ``format_*`` for a value, and ``describe_*`` for a sentence or more. A string of
the service becomes safe to show in :mod:`lockterm.domain.safe_text` alone.
"""

from __future__ import annotations

from lockterm.domain.safe_text import (
    LONGEST_CELL,
    MASKED,
    REPLACEMENT,
    clean,
    clean_lines,
    in_cell,
    is_seen,
    masked,
    seen_or,
    spellings,
    without_idle_joiners,
    without_secrets,
)

__all__ = [
    "LONGEST_CELL",
    "MASKED",
    "REPLACEMENT",
    "clean",
    "clean_lines",
    "in_cell",
    "is_seen",
    "masked",
    "seen_or",
    "spellings",
    "without_idle_joiners",
    "without_secrets",
]
