"""The plans that were made of marks: what they have done is no longer marked."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from lockterm.errors import LocktermError
from lockterm.screens.base import LocktermScreen

if TYPE_CHECKING:
    from lockterm.domain.marks import Marks
    from lockterm.domain.plan import Step
    from lockterm.operations.planner import PlanDraft

K = TypeVar("K", bound=Hashable)


class PlansOfMarks(Generic[K]):
    """Shows plans, and unmarks what they have done; the rest stays marked.

    Args:
        screen: The screen on which something is marked.
        marks: What is marked.
        key: What a step's row is known by; None: it is about none.
        changed: Called when some are no longer marked.
    """

    def __init__(
        self,
        screen: LocktermScreen[Any],
        marks: Marks[K, Any],
        key: Callable[[Step], K | None],
        changed: Callable[[], None],
    ) -> None:
        self._screen = screen
        self._marks = marks
        self._key = key
        self._changed = changed
        self._shown: dict[str, int] = {}
        """Ids of the plans of which something may still be done, and how many marks were made."""

    def show(self, drawn: PlanDraft) -> None:
        """Show a plan."""
        from lockterm.screens.plan.screen import PlanScreen

        self._shown[drawn.plan.id] = self._marks.count
        self._screen.app.push_screen(PlanScreen(drawn))

    def note_outcomes(self) -> None:
        """Unmark what is done by now; what was marked anew since is meant anew."""
        if self._shown and self._marks:
            self._screen.run_worker(self._note_outcomes(), group="outcomes", exclusive=True)

    async def _note_outcomes(self) -> None:
        from lockterm.domain.plan import DUE, StepState
        from lockterm.operations.refusals import NoSuchRun

        done = (StepState.RECORDED, StepState.UNCHANGED)
        last = [*self._shown][-1]
        for plan_id, made in [*self._shown.items()]:
            try:
                plan = await self._screen.operations.runs.find(plan_id)
            except NoSuchRun:  # it was not agreed to, or not yet
                if plan_id != last:
                    self._shown.pop(plan_id, None)
                continue
            except LocktermError:  # whoever looks at the plan is told
                return
            keys = (self._key(step) for step in plan.steps if step.state in done)
            self._marks.drop_keys([key for key in keys if key is not None], made)
            if not any(step.state in DUE for step in plan.steps):
                self._shown.pop(plan_id, None)
        self._changed()
