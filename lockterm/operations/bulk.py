"""Plans made of one change of many remotes."""

from __future__ import annotations

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
    return Drawn(operations.runs.make(title, bulk.steps, bulk.left))
