"""The plan that this session carries out, for whoever wants to know how far it is."""

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
"""A run is under way for so many seconds before its rate is told."""


class RunHere:
    """A plan while it is carried out, and after that; it goes on whoever looks at it.

    Args:
        runs: What carries it out.
        clock: How time passes.
        plan: One that was agreed to.
        on_end: Called when it has ended.
    """

    def __init__(
        self, runs: Runs, clock: Clock, plan: Plan, on_end: Callable[[RunHere], None]
    ) -> None:
        self.plan = plan
        """As it was when it began; once it has ended, with what became of it."""
        self.steps: dict[int, Step] = {step.number: step for step in plan.steps}
        """Number -> the step as it is now."""
        self.news: list[int] = []
        """The numbers of the steps whose state has changed, in the order of that."""
        self._tried = {step.number for step in plan.steps if step.is_left}
        self._sent: set[int] = set()
        """The steps that were sent here and have no outcome: one may be ``SENT`` from before."""
        self.due = len(self._tried)
        """How many steps are to be tried."""
        self.done = 0
        """How many of them have an outcome."""
        self.problems = Counter[StepState]()
        """How many of these have to be looked at, by what became of them."""
        self.reading = 0
        """How many unknown ones are read back just now."""
        self.over = asyncio.Event()
        """Set once no step is under way any more."""
        self.error: LocktermError | None = None
        """Why it could not be carried out; None: it could."""
        self._runs = runs
        self._clock = clock
        self._stop = asyncio.Event()
        self._on_end = on_end
        self._began_s = clock.steady()

    async def carry_out(self) -> None:
        """Carry it out; returns once no step is under way any more."""
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
        """Whether all that is left is to read back what is unknown."""
        return bool(self.reading) and self.done == self.due

    @property
    def under_way(self) -> int:
        """How many steps are sent and have no outcome yet."""
        return len(self._sent)

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.over.is_set()

    def stop(self) -> None:
        """Begin no more steps; those under way end."""
        self._stop.set()

    @property
    def is_stopping(self) -> bool:
        """Whether it was told to stop, and has not yet."""
        return self._stop.is_set() and not self.is_over

    @property
    def was_stopped(self) -> bool:
        """Whether it has ended since it was told to stop."""
        return self._stop.is_set() and self.is_over

    @property
    def per_s(self) -> float:
        """How many steps are done in a second; 0: that is not known yet."""
        took_s = self._clock.steady() - self._began_s
        return self.done / took_s if took_s >= RATED_S else 0.0

    def counts(self) -> Counter[StepState]:
        """How many steps there are of each state."""
        return Counter(step.state for step in self.steps.values())
