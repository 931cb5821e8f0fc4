"""The history: its lines, which are operations in short, and which of them are wanted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, tzinfo

from lockterm.domain.operation import State


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """What a table shows of an operation; the fields are those of ``Operation``."""

    seq: int
    """Its place in the journal: whatever was written down later has a higher one."""
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
    seen: str
    """Of the remote that a change was made to ``VALIDITY``, as a JSON list; else empty."""
    sent: str
    """The same of what an add or a change has sent: what is null there was not sent."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which operations of a profile are wanted; as it is, all of them."""

    lock_id: int | None = None
    """Only this lock's; None: those of all locks."""
    states: frozenset[State] | None = None
    """Only those in one of these states; None: in any."""
    words: tuple[str, ...] = ()
    """Only those with each of these words, whatever its case, in what is shown of them."""
    zone: tzinfo = UTC
    """In which their times are shown."""
    since_ms: int | None = None
    """Only those that were begun then or later, in milliseconds; None: whenever."""
    until_ms: int | None = None
    """Only those that were begun before, in milliseconds; None: whenever."""
    outside_runs: bool = False
    """Only those that are no steps of runs."""


EVERYTHING = Selection()
