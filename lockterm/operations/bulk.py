"""Plans made of one change of many remotes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lockterm.operations.plan_files import Drawn

if TYPE_CHECKING:
    from lockterm.domain.bulk import Bulk
    from lockterm.operations.facade import Operations


def draw_bulk(operations: Operations, title: str, bulk: Bulk) -> Drawn:
    """Make a plan of a change; nothing is kept or sent.

    Args:
        operations: What makes plans.
        title: What the plan is called.
        bulk: What the change comes to for each remote.
    """
    plan = operations.runs.make(title, [change.step for change in bulk.changes])
    first = len(bulk.changes) + 1
    return Drawn(
        plan,
        [replace(step, number=number) for number, step in enumerate(bulk.left, first)],
        {number: one.warnings for number, one in enumerate(bulk.changes, 1) if one.warnings},
    )
