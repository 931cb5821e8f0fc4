"""The plan that this session runs, with its progress."""

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
"""Minimum duration of a run in seconds before its rate is shown."""


class RunHere:
    """A plan during its run and after it; the run does not depend on any screen.

    Args:
        runs: The runs of plans, to start the plan.
        clock: The steady clock.
        plan: The confirmed plan.
        on_end: A function that is called when the run has ended.
    """

    def __init__(
        self, runs: Runs, clock: Clock, plan: Plan, on_end: Callable[[RunHere], None]
    ) -> None:
        self.plan = plan
        """The plan as it was at the start; after the run, with the results."""
        self.steps: dict[int, Step] = {step.number: step for step in plan.steps}
        """Step number -> current state of the step."""
        self.news: list[int] = []
        """The numbers of steps whose state has changed, in the order of the changes."""
        self._tried = {step.number for step in plan.steps if step.is_left}
        self._sent: set[int] = set()
        """The numbers of the steps that this run has sent and that have no result yet."""
        self.due = len(self._tried)
        """Number of steps to try."""
        self.done = 0
        """Number of these due steps that have a result."""
        self.problems = Counter[StepState]()
        """State -> number of these due steps in this state that a person must check."""
        self.reading = 0
        """Number of unconfirmed steps being read back."""
        self.over = asyncio.Event()
        """Set when no step is running any more."""
        self.error: LocktermError | None = None
        """The error that prevented the run; None if there was none."""
        self._runs = runs
        self._clock = clock
        self._stop = asyncio.Event()
        self._on_end = on_end
        self._began_s = clock.steady()

    async def carry_out(self) -> None:
        """Run the plan until no step is running any more."""
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
        """Whether only unconfirmed steps are left, which are being read back."""
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
        """Start no more steps; running ones finish."""
        self._stop.set()

    @property
    def is_stopping(self) -> bool:
        """Whether the run is stopping but has not ended."""
        return self._stop.is_set() and not self.is_over

    @property
    def was_stopped(self) -> bool:
        """Whether the run has ended after :meth:`stop`."""
        return self._stop.is_set() and self.is_over

    @property
    def per_s(self) -> float:
        """Steps per second; 0 if not known yet."""
        took_s = self._clock.steady() - self._began_s
        return self.done / took_s if took_s >= RATED_S else 0.0

    def counts(self) -> Counter[StepState]:
        """Return the number of steps in each state."""
        return Counter(step.state for step in self.steps.values())
