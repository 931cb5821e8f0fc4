"""Drafts, which keep the input of unfinished forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draft:
    """The typed values of an unfinished form, saved so that they are not lost."""

    form: str
    """The name of the form, such as ``remote``."""
    lock_id: int
    remote_id: int | None
    """The ID of the remote being edited; None for a new remote."""
    typed: Mapping[str, str]
    """Maps the names of fields to the typed texts."""
    saved_ms: int
    session: str
    """The ID of the session in which the draft was typed."""
    is_live: bool = False
    """Whether another session is editing the draft now. This value is computed when drafts are
    loaded, and is not stored."""
