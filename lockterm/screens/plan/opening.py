"""Functions that open the screen of an undo plan or of a run, and that report the end of a run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from textual.app import App

from lockterm.domain.plan import PROBLEMS, Run, StepState
from lockterm.domain.text.run import ask_to_leave, describe_end_elsewhere
from lockterm.errors import StoreError
from lockterm.operations.planner import PlanDraft
from lockterm.operations.undoing import undo_last
from lockterm.screens.base import HasOperations, LocktermScreen, notify_error
from lockterm.screens.plan.question import ask_about_names
from lockterm.screens.plan.screen import PlanScreen

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from lockterm.operations import Operations


async def open_undo(
    screen: LocktermScreen[Any], undo: Callable[..., Awaitable[PlanDraft]], undone: int | str
) -> None:
    """Show the plan that undoes changes, or why there is no such plan.

    If the names of remotes to add are in use, first ask the user whether to skip or rename them.

    Args:
        screen: The screen that requests the plan.
        undo: The function that makes the plan, such as ``undo_one``.
        undone: The argument for ``undo``, such as the ID of an operation.
    """
    with screen.refusing_errors():
        draft = await undo(screen.operations, undone)
        if draft.names_taken:
            renames = await screen.app.push_screen_wait(ask_about_names(draft.names_taken))
            if renames is None:
                return
            if renames:
                draft = await undo(screen.operations, undone, renames=True)
        screen.app.push_screen(PlanScreen(draft))


async def open_undo_last(screen: LocktermScreen[Any], lock_id: int) -> None:
    """Show the plan that undoes the last change of a lock, or why there is no such plan."""
    await open_undo(screen, undo_last, lock_id)


async def screen_of_run(operations: Operations, run_id: str) -> PlanScreen:
    """Return the screen that shows a run with the results of its steps.

    Raises:
        NoSuchRunError: If the run does not exist, for example because it was deleted.
        StoreError: If the store cannot be read.
    """
    run = operations.run_here
    if run is not None and run.plan.id == run_id:
        return PlanScreen(PlanDraft(run.plan))
    return PlanScreen(PlanDraft(await operations.runs.find(run_id)))


def report_end(app: App[Any], run: Run) -> None:
    """Report how a run ended, and update the open screens of the locks that it changed.

    If the screen of the run is on top and the run ended without an error, nothing is reported,
    because the screen shows the result.

    Args:
        app: The app that shows the report.
        run: A finished run.
    """
    screen = app.screen
    if run.error is not None:
        notify_error(app, run.error)
    elif not (isinstance(screen, PlanScreen) and screen.drawn.plan.id == run.plan.id):
        app.run_worker(_notify_end(app, run))
    ended = (step for step in run.steps.values() if step.state is not StepState.TO_DO)
    changed = {step.lock_id for step in ended}
    open_screens = (one for one in app.screen_stack if isinstance(one, LocktermScreen))
    for one in open_screens:
        if not one.is_attached:
            continue
        one.read_changed(changed)
        if one.lock_entry is not None and one.lock_entry.lock_id in changed:
            one.after_write(None)


async def _notify_end(app: App[Any], run: Run) -> None:
    locks = cast("HasOperations", app).operations.locks
    titles: dict[int, str] = {}
    with suppress(StoreError):  # without titles, the report shows the lock IDs
        titles = {lock.lock_id: lock.title for lock in await locks.all()}
    states = {step.state for step in run.steps.values()}
    severity: SeverityLevel = "warning" if states & PROBLEMS else "information"
    if StepState.UNKNOWN in states:
        severity = "error"
    app.notify(describe_end_elsewhere(run, titles), title="Run ended", severity=severity)


def ask_to_leave_run(run: Run) -> tuple[str, str]:
    """Return the question to ask before the user leaves a run, and the label of its button.

    Both texts are empty if no question is needed, because the run is already stopping or no step is
    left.
    """
    if run.is_stopped and not run.is_finished:
        return "", ""
    return ask_to_leave(run)
