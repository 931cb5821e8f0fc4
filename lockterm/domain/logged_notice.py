"""A notice of this session, as the message log keeps it."""

from __future__ import annotations

from lockterm.record import record


@record
class LoggedNotice:
    """What was shown to a person; its strings are clean."""

    number: int
    """Counted from 0 in a session."""
    at_ms: int
    """When it was shown."""
    severity: str
    """``information``, ``warning`` or ``error``."""
    title: str
    """What happened, in a few words."""
    text: str
    """What it means and what to do."""
