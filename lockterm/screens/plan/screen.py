"""A plan: what it would do, step by step."""

from __future__ import annotations

from typing import cast

from textual import on, work
from textual.app import ComposeResult
from textual.widgets import Static

from lockterm.domain.plan import Action, Step
from lockterm.domain.plan_words import has_work, plan_words
from lockterm.domain.text import clean
from lockterm.operations.plan_files import Drawn
from lockterm.screens.base import HasOperations, LocktermScreen
from lockterm.screens.plan.table import OnLock, PlanTable, what_of
from lockterm.terminal.key_queue import opens
from lockterm.widgets.bindings import bindings
from lockterm.widgets.line_table import LineTable


class PlanScreen(LocktermScreen[None]):
    """A plan, shown before anything of it is kept or sent.

    Args:
        drawn: The plan, and what could not be planned.
    """

    BINDINGS = bindings("plan")

    def __init__(self, drawn: Drawn) -> None:
        super().__init__(cast(HasOperations, self.app).operations)
        self.drawn = drawn
        """What is shown."""
        self._steps: dict[int, Step] = {one.number: one for one in (*drawn.plan.steps, *drawn.left)}
        self._locks: dict[int, OnLock] = {}

    def crumbs(self) -> tuple[str, ...]:
        """Where it comes from."""
        return ("Plan", self.drawn.plan.title)

    def compose_body(self) -> ComposeResult:
        """How much it is; the steps; the one under the cursor."""
        yield Static(id="what", markup=False)
        yield PlanTable(self._steps, self.operations.now_ms(), id="steps")
        yield Static(id="row", markup=False)

    def on_mount(self) -> None:
        """Show the steps."""
        self.load_steps()

    @work
    @opens("the plan")
    async def load_steps(self) -> None:
        """Read what the locks are called, and show the steps: the problems first."""
        for lock_id in dict.fromkeys(step.lock_id for step in self._steps.values()):
            lock = await self.operations.locks.find(lock_id)
            self._locks[lock_id] = OnLock(lock.title, self.operations.zone(lock))
        plan, left = self.drawn.plan, self.drawn.left
        kept = [step for step in plan.steps if step.action is Action.KEEP]
        rest = [step for step in plan.steps if step.action is not Action.KEEP]
        order = [step.number for step in (*left, *rest, *kept)]
        words = plan_words(plan)
        if has_work(plan):
            words = f"{words}: {self.operations.runs.cost(plan)}"
        self.query_one("#what", Static).update(words)
        table = self.query_one(PlanTable)
        table.show_steps(order, self._locks)
        table.focus()
        self._tell_row()

    @on(LineTable.Moved)
    def _tell_row(self) -> None:
        step = self.query_one(PlanTable).current
        words = "" if step is None else what_of(step, self._locks[step.lock_id], 0)
        self.query_one("#row", Static).update(clean(words), layout=False)

    def action_back(self) -> None:
        """Go back; nothing of it was kept or sent."""
        self.dismiss(None)
