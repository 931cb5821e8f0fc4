"""A plan while it is carried out."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from lockterm.domain.plan import Plan, Step


@dataclass(slots=True)
class OngoingRun:
    """A plan while it is carried out."""

    plan: Plan
    on_step: Callable[[Step], None]
    on_read_back: Callable[[int], None]
    stop: asyncio.Event
    steps: dict[int, Step]
    """Number -> the step as it is now."""
    waiting: dict[int, deque[int]] = field(default_factory=dict)
    """Lock -> the numbers of its steps that are due, the next one first."""
    ready: deque[int] = field(default_factory=deque)
    """The locks with steps that are due and none under way, the next one first."""
    unreached: dict[int, str] = field(default_factory=dict)
    """Lock -> why it could not be reached."""
    pauses: Counter[int] = field(default_factory=Counter)
    """Step -> how often it was put off."""
    holders: set[str] = field(default_factory=set)
    """The ids of unconfirmed changes that block steps and were read back in this run."""
    stopped: str = ""
    """Why no more steps begin."""
    reading: int = 0
    """How many unknown steps are read back just now."""

    def note_reading(self, more: int) -> None:
        """Count one that is read back from now on, or no longer."""
        self.reading += more
        self.on_read_back(self.reading)
