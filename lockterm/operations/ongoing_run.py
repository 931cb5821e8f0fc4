"""The state of a running plan."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from lockterm.domain.plan import Plan, Step
from lockterm.domain.text.run import describe_blocked


@dataclass(slots=True)
class OngoingRun:
    """The state of a running plan."""

    plan: Plan
    on_step: Callable[[Step], None]
    on_read_back: Callable[[int], None]
    stop: asyncio.Event
    steps: dict[int, Step]
    """Step number -> current state of the step."""
    waiting: dict[int, deque[int]] = field(default_factory=dict)
    """Lock ID -> the numbers of its due steps, in order."""
    ready: deque[int] = field(default_factory=deque)
    """The IDs of locks with due steps and no running step, in the order of their turns."""
    unreached: dict[int, str] = field(default_factory=dict)
    """Lock ID -> the reason why the service could not be reached for the lock."""
    pauses: Counter[int] = field(default_factory=Counter)
    """Step number -> how often the step was postponed."""
    holders: set[str] = field(default_factory=set)
    """The IDs of unconfirmed changes that block steps and were read back in this run."""
    stopped: str = ""
    """The reason why no more steps start; empty while steps may start."""
    reading: int = 0
    """Number of unconfirmed steps being read back."""

    def why_blocked(self, step: Step) -> str:
        """Return why a step must not be sent: it requires a step that is not done; else empty."""
        earlier = self.steps.get(step.number - 1)
        if earlier is None or earlier.is_done or not step.requires(earlier):
            return ""
        return describe_blocked(earlier)

    def note_reading(self, more: int) -> None:
        """Update the number of steps that are being read back, and report the new number.

        Args:
            more: The increase of the number; negative for steps that were read.
        """
        self.reading += more
        self.on_read_back(self.reading)
