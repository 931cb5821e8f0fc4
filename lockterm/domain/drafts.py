"""A draft: the input of an unfinished form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draft:
    """The typed values of an unfinished form."""

    form: str
    """The name of the form, such as ``remote``."""
    lock_id: int
    remote_id: int | None
    """The ID of the remote being edited; None for a new remote."""
    typed: Mapping[str, str]
    """Field -> the typed text."""
    saved_ms: int
    session: str
    """The ID of the session in which the draft was typed."""
    is_live: bool = False
    """Whether another session is editing the draft now; never stored."""
