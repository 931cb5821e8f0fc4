"""Plans shown: one that was just made, and runs that were begun, here or in another session."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from lockterm.domain.plan import RunState
from lockterm.operations.planner import PlanDraft
from lockterm.operations.refusals import NoSuchRun
from lockterm.operations.undoing import undo_last
from lockterm.screens.base import LocktermScreen
from lockterm.screens.plan.names import Draw, asking_for_names
from lockterm.screens.plan.screen import PlanScreen

if TYPE_CHECKING:
    from lockterm.operations import Operations


async def open_plan(screen: LocktermScreen[Any], draw: Draw) -> None:
    """Show a plan once it is made, or why it cannot be.

    Args:
        screen: Where it was asked for.
        draw: What makes it.
    """
    with screen.refusing_errors():
        if (drawn := await asking_for_names(screen.app, draw)) is not None:
            screen.app.push_screen(PlanScreen(drawn))


async def open_undo(screen: LocktermScreen[Any], operations: Operations, lock_id: int) -> None:
    """Show the plan that undoes the last change of a lock, or why there is none."""
    await open_plan(screen, partial(undo_last, operations, lock_id))


async def screen_of_run(operations: Operations, run_id: str) -> PlanScreen:
    """The screen of a run, with what became of its steps.

    Raises:
        NoSuchRun: It is not kept any more.
        StoreError: The store cannot be read.
    """
    run = operations.run_here
    if run is not None and run.plan.id == run_id:
        return PlanScreen(PlanDraft(run.plan))
    return PlanScreen(PlanDraft(await operations.runs.find(run_id)))


async def last_run(operations: Operations) -> str:
    """The id of the run that is under way here or was last; else of one that was interrupted.

    Raises:
        NoSuchRun: No plan was carried out yet.
        StoreError: The store cannot be read.
    """
    if operations.run_here is not None:
        return operations.run_here.plan.id
    begun = [one for one in await operations.journal.runs() if one.state is not RunState.PLANNED]
    interrupted = [one for one in begun if one.state is RunState.INTERRUPTED]
    if not begun:
        raise NoSuchRun("No plan was run on this machine yet.")
    return (interrupted or begun)[0].id
