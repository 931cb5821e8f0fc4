"""A draft: the input of an unfinished form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draft:
    """The typed values of a form that was not finished."""

    form: str
    """Which form: ``remote``."""
    lock_id: int
    remote_id: int | None
    """The remote being edited; None for a new one."""
    typed: Mapping[str, str]
    """Field -> its input."""
    saved_ms: int
    session: str
    """The session that typed it."""
    is_live: bool = False
    """Whether another session is typing it now; never stored."""
