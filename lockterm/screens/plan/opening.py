"""Functions that open the screen of a plan or run, and that report how a run ended."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.app import App

from lockterm.domain.plan import PROBLEMS, RunState, StepState
from lockterm.domain.run import Run
from lockterm.domain.text.run import ask_to_leave, describe_end_elsewhere
from lockterm.errors import NoSuchRunError, StoreError
from lockterm.operations.planner import PlanDraft
from lockterm.operations.undoing import undo_last
from lockterm.screens.base import LocktermScreen, notify_error
from lockterm.screens.host import HasOperations
from lockterm.screens.plan.question import Draw, asking_for_names
from lockterm.screens.plan.screen import PlanScreen

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from lockterm.operations import Operations


async def open_plan(screen: LocktermScreen[Any], draw: Draw) -> None:
    """Make a plan and show its screen, or show the error.

    Args:
        screen: The screen that requests the plan.
        draw: A function that makes the plan.
    """
    with screen.refusing_errors():
        if (draft := await asking_for_names(screen.app, draw)) is not None:
            screen.app.push_screen(PlanScreen(draft))


async def open_undo(screen: LocktermScreen[Any], operations: Operations, lock_id: int) -> None:
    """Show the plan that undoes the last change of a lock, or why there is no such plan."""
    await open_plan(screen, partial(undo_last, operations, lock_id))


def ask_to_leave_run(run: Run) -> tuple[str, str]:
    """Return the question to ask before the user leaves a run, and the label of its button.

    Both texts are empty if no question is needed.
    """
    return ask_to_leave(run)


async def screen_of_run(operations: Operations, run_id: str) -> PlanScreen:
    """Return the screen that shows a run with the results of its steps.

    Raises:
        NoSuchRunError: If the run was deleted.
        StoreError: If the store cannot be read.
    """
    run = operations.run_here
    if run is not None and run.plan.id == run_id:
        return PlanScreen(PlanDraft(run.plan))
    return PlanScreen(PlanDraft(await operations.runs.find(run_id)))


async def last_run(operations: Operations) -> str:
    """Return the ID of the run that the run key shows.

    The key shows this session's run, or else the last interrupted run, or else the last run.

    Raises:
        NoSuchRunError: If no plan has been run yet.
        StoreError: If the store cannot be read.
    """
    if operations.run_here is not None:
        return operations.run_here.plan.id
    begun = [one for one in await operations.journal.runs() if one.state is not RunState.PLANNED]
    interrupted = [one for one in begun if one.is_interrupted]
    if not begun:
        raise NoSuchRunError("No plan has been run on this machine yet.")
    return (interrupted or begun)[0].id


async def _tell(app: App[Any], run: Run) -> None:
    locks = cast(HasOperations, app).operations.locks
    titles: dict[int, str] = {}
    with suppress(StoreError):  # without titles, the report shows the lock IDs
        titles = {lock.lock_id: lock.title for lock in await locks.all()}
    states = {step.state for step in run.steps.values()}
    severity: SeverityLevel = "warning" if states & PROBLEMS else "information"
    if StepState.UNKNOWN in states:
        severity = "error"
    app.notify(describe_end_elsewhere(run, titles), title="Run ended", severity=severity)


def tell_end(app: App[Any], run: Run) -> None:
    """Report how a run ended, and update the open screens of the locks that it changed.

    Args:
        app: The app that shows the report.
        run: A finished run.
    """
    screen = app.screen
    if run.error is not None:
        notify_error(app, run.error)
    elif not (isinstance(screen, PlanScreen) and screen.drawn.plan.id == run.plan.id):
        app.run_worker(_tell(app, run))
    ended = (step for step in run.steps.values() if step.state is not StepState.TO_DO)
    changed = {step.lock_id for step in ended}
    open_screens = (one for one in app.screen_stack if isinstance(one, LocktermScreen))
    for one in open_screens:
        if not one.is_attached:
            continue
        one.read_changed(changed)
        if one.lock_entry is not None and one.lock_entry.lock_id in changed:
            one.after_write(None)
