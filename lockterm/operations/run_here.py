"""The run of a plan in this session, with its progress."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from lockterm.domain.plan import DUE, PROBLEMS, Plan, Step, StepState
from lockterm.errors import LocktermError

if TYPE_CHECKING:
    from lockterm.domain.clock import Clock
    from lockterm.operations.runs import Runs

RATED_S = 1.0
"""Minimum duration of a run, in seconds, before its rate is shown."""


class RunHere:
    """A run in this session, during the run and after it. No screen needs to be open.

    Args:
        runs: The object that runs plans.
        clock: The clock, of which the monotonic part is used.
        plan: The plan, which the user has confirmed.
        on_end: A function that is called when the run has ended.
    """

    def __init__(
        self, runs: Runs, clock: Clock, plan: Plan, on_end: Callable[[RunHere], None]
    ) -> None:
        self.plan = plan
        """The plan as it was at the start; after the run, the plan with the results."""
        self.steps: dict[int, Step] = {step.number: step for step in plan.steps}
        """Maps the number of each step to the step with its present state."""
        self.news: list[int] = []
        """The numbers of the steps whose state has changed, in the order of the changes."""
        self._tried = {step.number for step in plan.steps if step.is_left}
        self._sent: set[int] = set()
        """The numbers of the steps that were sent and have no result yet."""
        self.due = len(self._tried)
        """Number of steps that this run tries."""
        self.done = 0
        """Number of the tried steps that have a result."""
        self.problems = Counter[StepState]()
        """Maps states that the user must check to the number of tried steps in that state."""
        self.reading = 0
        """Number of unconfirmed steps that are being verified."""
        self.over = asyncio.Event()
        """An event that is set when no step is in progress any more."""
        self.error: LocktermError | None = None
        """The error that prevented the run; None if there was none."""
        self._runs = runs
        self._clock = clock
        self._stop = asyncio.Event()
        self._on_end = on_end
        self._began_s = clock.steady()

    async def carry_out(self) -> None:
        """Run the plan, and wait until no step is in progress any more."""
        try:
            self.plan = await self._runs.carry_out(
                self.plan, on_step=self._note, stop=self._stop, on_read_back=self._note_reading
            )
            self.steps.update((step.number, step) for step in self.plan.steps)
        except LocktermError as error:
            self.error = error
        finally:
            self.over.set()
            self._on_end(self)

    def _note(self, step: Step) -> None:
        was, now = self.steps[step.number].state, step.state
        self.steps[step.number] = step
        self.news.append(step.number)
        if now is StepState.SENT:
            self._sent.add(step.number)
        else:
            self._sent.discard(step.number)
        if step.number in self._tried:
            self.done += (was in DUE) - (now in DUE)
            self.problems[was] -= was in PROBLEMS
            self.problems[now] += now in PROBLEMS

    def _note_reading(self, count: int) -> None:
        self.reading = count

    @property
    def only_reads(self) -> bool:
        """Whether all steps have a result, and only unconfirmed ones are being verified."""
        return bool(self.reading) and self.done == self.due

    @property
    def under_way(self) -> int:
        """The number of steps that were sent and have no result yet."""
        return len(self._sent)

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.over.is_set()

    def stop(self) -> None:
        """Start no more steps; steps in progress are completed."""
        self._stop.set()

    @property
    def is_stopping(self) -> bool:
        """Whether :meth:`stop` was called, and the run has not ended yet."""
        return self._stop.is_set() and not self.is_over

    @property
    def was_stopped(self) -> bool:
        """Whether :meth:`stop` was called, and the run has ended."""
        return self._stop.is_set() and self.is_over

    @property
    def per_s(self) -> float:
        """Number of completed steps per second; 0 if it is not known yet."""
        took_s = self._clock.steady() - self._began_s
        return self.done / took_s if took_s >= RATED_S else 0.0

    def counts(self) -> Counter[StepState]:
        """Return the number of steps in each state."""
        return Counter(step.state for step in self.steps.values())
