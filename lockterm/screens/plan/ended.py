"""The end of a run: told where nobody looks at it, and what it changed is read again."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from textual.app import App

from lockterm.domain.plan import PROBLEMS, StepState
from lockterm.domain.text.run import describe_end_elsewhere
from lockterm.errors import StoreError
from lockterm.operations.run_here import RunHere
from lockterm.screens.base import LocktermScreen, notify_error
from lockterm.screens.host import HasOperations
from lockterm.screens.plan.screen import PlanScreen

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel


async def _tell(app: App[Any], run: RunHere) -> None:
    locks = cast(HasOperations, app).operations.locks
    titles: dict[int, str] = {}
    with suppress(StoreError):  # then their numbers stand for them
        titles = {lock.lock_id: lock.title for lock in await locks.all()}
    states = {step.state for step in run.steps.values()}
    severity: SeverityLevel = "warning" if states & PROBLEMS else "information"
    if StepState.UNKNOWN in states:
        severity = "error"
    app.notify(describe_end_elsewhere(run, titles), title="Run ended", severity=severity)


def tell_end(app: App[Any], run: RunHere) -> None:
    """Tell how a run has ended, and have the screens of its locks read again.

    Args:
        app: Where it was carried out.
        run: One that is over.
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
