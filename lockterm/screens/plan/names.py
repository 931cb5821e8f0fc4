"""Names that are taken, where a plan adds again what was deleted: left out, or changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from lockterm.screens.dialogs.choice import ChoiceModal

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from textual.app import App

    from lockterm.operations.planner import PlanDraft


class Draw(Protocol):
    """Makes a plan; ``renames``: what has a name that is taken gets another one, or is left out."""

    def __call__(self, *, renames: bool) -> Awaitable[PlanDraft]: ...


async def asking_for_names(app: App[Any], draw: Draw) -> PlanDraft | None:
    """Make a plan, and where names are taken in it, as is chosen then; None: nobody chose.

    Args:
        app: Where it is asked.
        draw: What makes it.

    Raises:
        LocktermError: It cannot be made.
    """
    drawn = await draw(renames=False)
    if not (taken := drawn.names_taken):
        return drawn
    who = "One has a name" if taken == 1 else f"{taken:,} have names"
    choices = ((False, "Leave out"), (True, "Add under another name, such as Anna (2)"))
    question = f"{who} that another remote of the lock has by now."
    renames = await app.push_screen_wait(ChoiceModal(question, choices))
    if renames is None:
        return None
    return await draw(renames=True) if renames else drawn
