"""The screen of a plan: its steps, the confirmation, the progress of its run, and the results."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual import work
from textual.app import ComposeResult
from textual.reactive import var
from textual.timer import Timer
from textual.widgets import Static

from lockterm import screens
from lockterm.domain.plan import (
    DUE,
    PROBLEMS,
    Action,
    Plan,
    Run,
    Step,
    StepState,
    count_left,
    select_retryable,
)
from lockterm.domain.safe_text import clean
from lockterm.domain.shortening import summarize_shortenings
from lockterm.domain.text.plan import describe_gaps, describe_work, find_shortenings
from lockterm.domain.text.run import (
    describe_counts,
    describe_end,
    describe_other_run,
    describe_outcome,
    describe_progress,
)
from lockterm.domain.text.service import describe_read_only
from lockterm.errors import LocktermError, StoreDamagedError, StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations.planner import PlanDraft
from lockterm.operations.refusals import OtherPlanError, RunUnderWayError
from lockterm.operations.undoing import undo_one
from lockterm.screens.base import HasOperations
from lockterm.screens.list_screen import ListScreen
from lockterm.screens.plan.question import ask_for_account, question_about
from lockterm.screens.plan.table import OnLock, PlanProgress, PlanTable, ProblemsPane, describe_row
from lockterm.terminal.key_queue import opens
from lockterm.widgets.actions import bindings
from lockterm.widgets.cells import count_lines, cut_lines
from lockterm.widgets.data_status import KeyOffers
from lockterm.widgets.line_table import TITLES

if TYPE_CHECKING:
    pass


LOOK_S = 1.0
"""Seconds between two readings of the progress of a run in another session."""

LEAST_LINES = 3
"""The minimum number of lines for the text about the selected step."""

WAYS_ON = "Press {plan.back} to go back, {app.history} for the history, {plan.undo} to undo."
"""The sentence with the keys that the user can press after a run has ended."""

PAINT_S = 0.1
"""Seconds between two updates of the rows during a run. More updates would overload a slow
connection."""


class PlanScreen(ListScreen[None]):
    """The screen of a plan and of its run. The run continues if the screen is closed.

    Args:
        drawn: The plan, new or already run, with the steps that could not be planned.
    """

    BINDINGS = bindings("plan")

    table: PlanTable

    only_problems: var[bool] = var(False, init=False)
    """Whether the screen shows only the steps with problems."""

    def __init__(self, drawn: PlanDraft) -> None:
        operations = cast("HasOperations", self.app).operations
        self._steps: dict[int, Step] = {step.number: step for step in drawn.plan.steps}
        """Maps step numbers to steps as they are now, including those that could not be planned."""
        super().__init__(operations, PlanTable(self._steps, operations.now_ms(), id="steps"))
        self.drawn = drawn
        """The plan as it was made, or as the local store contained it."""
        zone = self.operations.profile.zone
        self._locks: dict[int, OnLock] = {
            step.lock_id: OnLock(f"lock {step.lock_id}", zone) for step in self._steps.values()
        }
        """Maps lock IDs to locks. The title of a lock is its ID until the lock's name is read."""
        self._shortens = ""
        """A summary of how the plan shortens access; empty if it shortens no access."""
        self._is_read = False
        """Whether the names of the locks were read."""
        self._seen = 0
        """The number of entries of the run's ``news`` that were painted so far."""
        self._timer: Timer | None = None

    def breadcrumbs(self) -> tuple[str, ...]:
        one = self._titles.values() if len(self._locks) == 1 else ()
        return ("Plan", *one, self.drawn.plan.title)

    def compose_body(self) -> ComposeResult:
        yield Static(id="what", markup=False)
        yield PlanProgress(id="progress")
        yield Static(id="shortens", classes="warning", markup=False)
        yield from self.compose_list()
        yield ProblemsPane(id="problems")
        yield Static(id="row", markup=False)

    @property
    def run_here(self) -> Run | None:
        """This session's run of the plan; None if there is none."""
        run = self.operations.run_here
        return run if run is not None and run.plan.id == self.drawn.plan.id else None

    @property
    def is_elsewhere(self) -> bool:
        """Whether another session was running the plan when the store was last read."""
        run = self.run_here
        return self.drawn.plan.is_running and (run is None or run.is_finished)

    @property
    def plan(self) -> Plan:
        """The plan with the current states of its steps."""
        return replace(self.drawn.plan, steps=tuple(self._steps.values()))

    @property
    def _titles(self) -> Mapping[int, str]:
        return {lock_id: lock.title for lock_id, lock in self._locks.items()}

    @property
    def _is_begun(self) -> bool:
        """Whether a step of the plan that changes something was already run."""
        return any(
            step.state is not StepState.TO_DO and step.action is not Action.KEEP
            for step in self._steps.values()
            if step.is_planned
        )

    # --- loading -------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Load the steps, and prepare the timer that updates the progress of a run."""
        self._timer = self.set_interval(PAINT_S, self._follow, pause=True)
        self.load_steps()

    @work
    @opens("the plan")
    async def load_steps(self) -> None:
        """Read the names of the locks, and show the steps of the plan."""
        for lock_id in dict.fromkeys(step.lock_id for step in self._steps.values()):
            try:
                lock = await self.operations.locks.find(lock_id)
            except StoreError as error:
                self.tell(error)
            else:
                self._locks[lock_id] = OnLock(lock.title, self.operations.zone(lock))
        self._is_read = True
        self.show_crumbs()
        zones = {lock_id: lock.zone for lock_id, lock in self._locks.items()}
        due = [step for step in self._steps.values() if step.is_left]
        now_ms = self.operations.now_ms()
        shortened = await asyncio.to_thread(find_shortenings, due, zones, now_ms)
        self._shortens = summarize_shortenings(shortened)
        self.paint()
        self._begin_to_follow()
        self.follow_elsewhere()

    # --- painting ------------------------------------------------------------------------------

    def paint(self) -> None:
        """Show the steps.

        Steps that could not be planned come first, steps that change nothing last.
        """
        run = self.run_here
        self.table.is_at_rest = not self.is_elsewhere and (run is None or run.is_finished)
        ordered = sorted(
            self.drawn.plan.steps, key=lambda step: (step.is_planned, step.action is Action.KEEP)
        )
        numbers = [
            step.number
            for step in ordered
            if not self.only_problems or self.table.step(step.number).state in PROBLEMS
        ]
        self.table.show_steps(numbers, self._locks, shortens=bool(self._shortens))
        self.show_list()
        self._show_problems()
        self._show_state()
        self.call_after_refresh(self.describe_rows)  # the sizes may be new

    def watch_only_problems(self) -> None:
        self.paint()

    def describe_title(self) -> str:
        return f"{'Problems' if self.only_problems else 'Steps'} {self.table.row_count:,}"

    def describe_empty(self) -> tuple[str, KeyOffers]:
        if not self._is_read:
            return "Reading the locks ...", {}
        is_empty = not self.drawn.plan.steps
        return "Nothing to change." if is_empty else "No problems.", {}

    def _show_state(self) -> None:
        """Update the summary or the progress, and the full text of the selected step."""
        self._show_summary()
        shortens = self.query_one("#shortens", Static)
        shortens.update("" if self._is_begun else self._shortens)
        shortens.display = bool(self._shortens) and not self._is_begun
        self.describe_rows()
        self.refresh_bindings()

    def _show_summary(self, *, layout: bool = True) -> None:
        """Show the summary of the plan, or the progress of its run as a bar if there is room."""
        run, is_framed = self.run_here, self.has_class("-framed")
        is_running = run is not None and not run.is_finished
        self.query_one(PlanProgress).show_run(run if is_running and is_framed else None)
        text = "\n".join(filter(None, self._describe_state()))
        what = self.query_one("#what", Static)
        what.display = bool(text)  # empty while the bar shows the progress
        what.update(text, layout=layout)

    def _show_problems(self) -> None:
        """Show the steps with problems below the steps, if there is room."""
        is_shown = self.has_class("-framed") and not self.only_problems
        steps = map(self.table.step, self._steps) if is_shown else ()
        self.query_one(ProblemsPane).show_steps(steps, self._titles)

    def on_resize(self) -> None:
        if self._is_read:
            self.call_after_refresh(self.paint)

    def _describe_state(self) -> Iterable[str]:
        run = self.run_here
        if run is not None and not run.is_finished:
            if run.only_reads or not self.query_one(PlanProgress).display:
                yield describe_progress(run)
            if run.is_stopped:
                yield "Stopping after the steps that are under way ..."
            return
        steps = self._steps.values()
        if self.is_elsewhere:
            counts = describe_counts(self.plan.counts(), self.plan.left_out, is_running=True)
            yield f"This plan is running in another session: {counts}."
            return
        if self.drawn.about and not self._is_begun:
            yield self.drawn.about
        if run is not None and run.error is None:
            yield describe_end(run, self._titles)
        elif self._is_begun:
            yield describe_outcome(steps, self._titles)
        else:
            yield describe_work(self.drawn.plan, self.operations.runs.cost(self.drawn.plan))
        error = run.error if run is not None else None
        if error is not None and (self.is_elsewhere or not isinstance(error, RunUnderWayError)):
            yield clean(error.sentences, 300)
        elif count_left(steps) and (reason := self._why_never()):
            yield reason
        if self._is_begun and not self.is_elsewhere and not count_left(steps):
            yield with_keys(WAYS_ON)
        unread = [one.lock.title for one in self.drawn.unread]
        yield from describe_gaps(unread, 0 if self._is_begun else self.drawn.unplanned)

    def describe_rows(self) -> None:
        """Show the full text of the selected step, unless the panel of problems shows it."""
        step = self.table.current if self.table.display else None
        text = ""
        if step is not None and not self.query_one(ProblemsPane).is_whole(step):
            is_due = step.state in DUE and self.table.is_at_rest
            now_ms = self.operations.now_ms()
            text = describe_row(step, self._locks[step.lock_id], now_ms, is_due=is_due)
        row = self.query_one("#row", Static)
        lines = self._lines_for(text, row)
        if lines != row.size.height:
            row.styles.height = lines
        row.update(cut_lines(text, row.content_size.width, lines), layout=False)

    def _lines_for(self, words: str, row: Static) -> int:
        """Return the number of lines for a text below the steps.

        A long text also gets the lines that the steps leave empty.
        """
        room, width = self.table.size.height, row.content_size.width
        if not room or not width or not self.table.display:
            return LEAST_LINES
        empty = room - TITLES - self.table.row_count
        return min(
            max(count_lines(words, width), LEAST_LINES), max(row.size.height + empty, LEAST_LINES)
        )

    # --- the run -------------------------------------------------------------------------------

    def on_screen_resume(self) -> None:
        """Update the steps, because the run may have continued while the screen was covered."""
        self._begin_to_follow()

    def _begin_to_follow(self) -> None:
        if self._timer is not None and self._is_read and self.run_here is not None:
            self.table.begin_run()
            self._timer.resume()
            self._show_state()
            self._follow()

    def _follow(self) -> None:
        """Paint the steps that changed since the last call, without a new layout during a run."""
        run = self.run_here
        if run is None or not self.is_attached or self._timer is None:
            return
        table, news = self.table, run.news[self._seen :]
        self._seen += len(news)
        self._steps.update((number, run.steps[number]) for number in news)
        if run.is_finished:
            self._timer.pause()
            self._steps.update(run.steps)
            self.paint()
            if isinstance(run.error, RunUnderWayError):
                self.drawn = replace(self.drawn, plan=replace(self.drawn.plan, is_running=True))
                self.follow_elsewhere()
            return
        if any(run.steps[one].state in PROBLEMS for one in news):
            if self.only_problems:
                self.paint()
                return
            self._show_problems()
        for number in news:
            table.repaint(number)
        self.show_run()
        self._show_summary(layout=False)
        if table.current is not None and table.current.number in news:
            self.describe_rows()

    @work(exclusive=True, group="elsewhere")
    async def follow_elsewhere(self) -> None:
        """Show the progress of a run in another session until the run ends.

        After the end of the run, the user can resume the plan here. If reading fails, the rows
        stay, and lockterm tries again later. This method sends nothing to the service.
        """
        runs = self.operations.runs
        while self.is_elsewhere:
            await asyncio.sleep(LOOK_S)
            with suppress(LocktermError):
                # Read this before the steps: if the run has ended, all steps have their results.
                is_running, changed = await runs.is_running(self.drawn.plan.id), list[Step]()
                try:
                    changed = await runs.changed(self.plan)
                except StoreDamagedError as error:  # later reads fail, too: report this at the end
                    if not is_running:
                        self.tell(error)
                if changed or not is_running:
                    plan = replace(self.drawn.plan, is_running=is_running)
                    self.drawn = replace(self.drawn, plan=plan)
                    self._steps.update((step.number, step) for step in changed)
                    self.paint()

    # --- actions -------------------------------------------------------------------------------

    @property
    def keys_must_work(self) -> bool:
        """Whether the plan is running here, so that its stop key must never be blocked."""
        run = self.operations.run_under_way
        return run is not None and run is self.run_here

    def disabled_reason(self, action: str) -> str:
        """Return why an action is not possible now; empty if the action is possible."""
        run = self.operations.run_under_way
        is_here = self.keys_must_work
        match action:
            case "carry_out" | "retry" | "undo" if self.is_elsewhere:
                return "Another session is running this plan. Wait until it ends."
            case "carry_out":
                if is_here:
                    return "The plan is running."
                if not count_left(self._steps.values()):
                    ways = f" {WAYS_ON}" if self._is_begun else ""
                    return f"Every step has a result.{with_keys(ways)}"
                return self._why_never() or (describe_other_run(run) if run is not None else "")
            case "stop":
                if not is_here or run is None:
                    return "The plan is not running."
                return "The run is already stopping." if run.is_stopped else ""
            case "retry":
                if is_here:
                    return "The plan is running. Wait until it ends, or stop it."
                if not select_retryable(self._steps.values()):
                    return "No step can be retried."
                return self._why_elsewhere()
            case "undo":
                return self._why_not_undo(is_here=is_here)
        return ""

    def _why_not_undo(self, *, is_here: bool) -> str:
        step = self.table.current
        if is_here:
            return "The plan is running. Wait until it ends, or stop it."
        if step is None or step.state is not StepState.RECORDED:
            return "No change was recorded for the selected step, so there is nothing to undo."
        return ""

    def _why_never(self) -> str:
        """Return why this session can never run the plan; empty if it can."""
        profile = self.operations.profile
        if profile.read_only:
            return describe_read_only(profile.name, "The plan cannot be run")
        return self._why_elsewhere()

    def _why_elsewhere(self) -> str:
        """Return why a plan of another profile or service cannot be run; empty for other plans."""
        profile, plan = self.operations.profile, self.drawn.plan
        if (plan.profile, plan.service) != (profile.name, profile.base_url):
            return clean(OtherPlanError(plan, profile.name, profile.base_url).sentences, 300)
        return ""

    def verb_now(self, action: str) -> str:
        """Return "resume" for the run key if some steps were already run; otherwise empty."""
        return "resume" if action == "carry_out" and self._is_begun else ""

    @work
    @opens("the confirmation", must_appear=True)
    async def action_carry_out(self) -> None:
        """Ask for confirmation, and then run the plan."""
        plan = self.plan
        drawn = replace(self.drawn, plan=plan)
        question = await question_about(drawn, self._locks, self.operations)
        if not await self.app.push_screen_wait(question):
            return
        if self.operations.runs.needs_account(plan):
            if not await self.app.push_screen_wait(ask_for_account(plan)):
                return
            plan = await self.operations.runs.note_same_account(plan)
            self.drawn = replace(self.drawn, plan=plan)
        if reason := self.disabled_reason("carry_out"):  # another run may have started
            self.refuse_to_open("Run", reason)
            return
        self._seen = 0
        self.operations.begin_run(plan)
        self._begin_to_follow()

    def action_stop(self) -> None:
        """Stop the run after the steps that are in progress."""
        if (run := self.run_here) is not None:
            run.stop()
            self._show_state()

    @work
    @opens("the plan to retry", must_appear=True)
    async def action_retry(self) -> None:
        """Show a new plan with the steps that the service refused or that were not sent."""
        smaller = self.operations.runs.retry(self.plan)
        self.app.push_screen(PlanScreen(replace(self.drawn, plan=smaller, unread=())))

    @work
    @opens("the plan to undo a step", must_appear=True)
    async def action_undo(self) -> None:
        """Show a new plan that undoes the selected step."""
        if (step := self.table.current) is not None:
            await screens.open_undo(self, undo_one, step.operation_id or "")

    def action_problems(self) -> None:
        """Switch between showing all steps and only the steps with problems."""
        self.only_problems = not self.only_problems

    def action_back(self) -> None:
        self.dismiss(None)
