"""A line of the history: an operation without what it takes a page to show."""

from __future__ import annotations

from dataclasses import dataclass

from lockterm.models.operation import State


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """What a table shows of an operation; the fields are those of ``Operation``."""

    id: str
    call: str
    lock_id: int
    lock_name: str
    remote_id: int | None
    remote_name: str
    state: State
    prepared_ms: int
    code: int | None
    message: str
    restores: str | None
    count: int
    """How many remotes its backup holds."""
    voice: str
    """Language and timbre of a voice setting, as they were sent; else empty."""
