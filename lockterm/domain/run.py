"""The progress of plans that this session runs."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace

from lockterm.domain.callbacks import ignore
from lockterm.domain.clock import Clock
from lockterm.domain.plan import DUE, PROBLEMS, Plan, Step, StepState
from lockterm.errors import LocktermError

RATED_S = 1.0
"""Minimum duration of a run, in seconds, before its rate is shown."""


class Run:
    """A run that this session has started. The run continues even if no screen shows it.

    ``operations.runs.Runs.execute`` changes the run. Commands and screens read the run, and can
    stop it.

    Args:
        plan: The confirmed plan. If the plan is already in the store, ``plan`` may have no steps,
            because :meth:`load` adds them.
        clock: The clock, whose monotonic time measures the duration.
    """

    def __init__(self, plan: Plan, clock: Clock) -> None:
        self.on_change: Callable[[Run], None] = ignore
        """The function to call when a step or ``reading`` has changed, or the run has ended."""
        self.plan = plan
        """The plan as it was when the run began. After the run, the plan with the results."""
        self.steps: dict[int, Step] = {}
        """Maps the number of each step to the step with its present state."""
        self.news: list[int] = []
        """The numbers of the steps whose state has changed, in the order of the changes."""
        self.due = self.left = 0
        """``due`` is the number of steps that this run tries. ``left`` is the number of these steps
        that have no result yet."""
        self.problems = Counter[StepState]()
        """Maps states that the user must check to the number of tried steps in that state."""
        self.reading = 0
        """Number of unconfirmed steps that are being verified."""
        self.stop_request = asyncio.Event()
        """An event that is set when the user stops the run."""
        self.stop_reason = ""
        """The error that stopped the run, in sentences; empty if no error stopped it."""
        self.finished = asyncio.Event()
        """An event that is set when no step is in progress any more."""
        self.error: LocktermError | None = None
        """The error that prevented the run; None if there was none."""
        # The order of the steps:
        self.waiting: dict[int, deque[int]] = {}
        """Maps lock IDs to the numbers of the steps that remain for the lock, in order."""
        self.ready: deque[int] = deque()
        """IDs of locks with remaining steps and no step in progress, the next lock first."""
        self.unreached: dict[int, str] = {}
        """Maps lock IDs to the reason why the service could not be reached for the lock."""
        self.pauses = Counter[int]()
        """Maps the number of a step to how often the step was postponed."""
        self.holders: set[str] = set()
        """IDs of unconfirmed changes that block steps, and that this run has tried to verify."""
        self._tried: set[int] = set()
        self._sent: set[int] = set()
        """The numbers of the steps that were sent and have no result yet."""
        self._clock = clock
        self._began_s = clock.steady()
        self.load(plan)

    # --- changes ------------------------------------------------------------------------------

    def load(self, plan: Plan) -> None:
        """Replace the plan with its version in the store, before the first step is sent."""
        self.plan = replace(plan, skipped=self.plan.skipped)
        self.steps = {step.number: step for step in plan.steps}
        self._tried = {step.number for step in plan.steps if step.is_left}
        self.due = self.left = len(self._tried)

    def note(self, step: Step) -> None:
        """Store a step that has a new state, update the counts, and call :attr:`on_change`."""
        was, now = self.steps[step.number].state, step.state
        self.steps[step.number] = step
        self.news.append(step.number)
        if now is StepState.SENT:
            self._sent.add(step.number)
        else:
            self._sent.discard(step.number)
        if step.number in self._tried:
            self.left += (now in DUE) - (was in DUE)
            self.problems[was] -= was in PROBLEMS
            self.problems[now] += now in PROBLEMS
        self.on_change(self)

    def note_reading(self, more: int) -> None:
        """Change the number of steps that are being verified by ``more``, which may be negative."""
        self.reading += more
        self.on_change(self)

    def end(self) -> None:
        """Set the run to finished, because no step is in progress any more."""
        self.plan = replace(self.plan, steps=tuple(self.steps.values()))
        self.finished.set()
        self.on_change(self)

    def stop(self) -> None:
        """Request that the run starts no more steps. Steps in progress are completed."""
        self.stop_request.set()

    # --- progress -----------------------------------------------------------------------------

    @property
    def done(self) -> int:
        """The number of steps of this run that have a result, without unconfirmed steps."""
        return self.due - self.left - self.problems[StepState.UNKNOWN]

    @property
    def only_reads(self) -> bool:
        """Whether no step remains to be sent, and the run is only verifying unconfirmed steps."""
        return bool(self.reading) and not self.left

    @property
    def under_way(self) -> int:
        """The number of steps that were sent and have no result yet."""
        return len(self._sent)

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended."""
        return self.finished.is_set()

    @property
    def is_stopped(self) -> bool:
        """Whether :meth:`stop` was called. Some steps may still be in progress."""
        return self.stop_request.is_set()

    @property
    def starts_no_more(self) -> bool:
        """Whether the user or an error has stopped the run, so that no more steps are started."""
        return self.is_stopped or bool(self.stop_reason)

    @property
    def took_s(self) -> float:
        """The time since the run began, in seconds."""
        return self._clock.steady() - self._began_s

    @property
    def per_s(self) -> float:
        """Number of completed steps per second; 0 if it is not known yet."""
        took_s = self.took_s
        return (self.due - self.left) / took_s if took_s >= RATED_S else 0.0

    def counts(self) -> Counter[StepState]:
        """Return the number of steps in each state."""
        return Counter(step.state for step in self.steps.values())
