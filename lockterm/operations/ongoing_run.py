"""The state of an active run."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from lockterm.domain.plan import Plan, Step
from lockterm.domain.text.run import describe_blocked


@dataclass(slots=True)
class OngoingRun:
    """The state of an active run in this session."""

    plan: Plan
    on_step: Callable[[Step], None]
    on_read_back: Callable[[int], None]
    stop: asyncio.Event
    steps: dict[int, Step]
    """Maps the number of each step to the step with its present state."""
    waiting: dict[int, deque[int]] = field(default_factory=dict)
    """Maps lock IDs to the numbers of the steps that remain for the lock, in order."""
    ready: deque[int] = field(default_factory=deque)
    """IDs of the locks that have remaining steps but no step in progress, in the order of turns."""
    unreached: dict[int, str] = field(default_factory=dict)
    """Maps lock IDs to the reason why the service could not be reached for the lock."""
    pauses: Counter[int] = field(default_factory=Counter)
    """Maps the number of a step to how often the step was postponed."""
    holders: set[str] = field(default_factory=set)
    """The IDs of unconfirmed changes that block steps, and that this run has tried to verify."""
    stopped: str = ""
    """The reason why no more steps are started; empty while steps may be started."""
    reading: int = 0
    """Number of unconfirmed steps that are being verified."""

    def why_blocked(self, step: Step) -> str:
        """Return why a step must not be sent because an earlier step is not done; else empty."""
        earlier = self.steps.get(step.number - 1)
        if earlier is None or earlier.is_done or not step.requires(earlier):
            return ""
        return describe_blocked(earlier)

    def note_reading(self, more: int) -> None:
        """Update the number of steps that are being verified, and report it.

        Args:
            more: The number to add; negative if the verification of steps has ended.
        """
        self.reading += more
        self.on_read_back(self.reading)
