"""Plans for tests, and what is left of a lock after them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lockterm.domain.plan import Action, Plan, Run, Step, StepState
from lockterm.domain.remotes import Remote
from lockterm.operations import Operations
from tests.faults.proxy import Exchange, Play, decoded
from tests.faults.site import Site


def add(lock_id: int, number: int, **wanted: Any) -> Step:
    """A step that adds a remote, named by its number."""
    fields = {"remoteName": f"New {number}", "remoteNumber": f"A-{number}", "remoteType": 1}
    fields |= {"addType": 1} | wanted
    return Step(0, Action.ADD, lock_id, None, str(fields["remoteName"]), wanted=fields)


def update(lock_id: int, remote: Remote, **wanted: Any) -> Step:
    """A step that changes a remote."""
    name = remote.remote_name or ""
    return Step(0, Action.UPDATE, lock_id, remote.id, name, wanted=wanted, before=remote.raw)


def delete(lock_id: int, remote: Remote) -> Step:
    """A step that deletes a remote."""
    return Step(0, Action.DELETE, lock_id, remote.id, remote.remote_name or "", before=remote.raw)


def keep(lock_id: int, remote: Remote) -> Step:
    """A step that leaves a remote as it is."""
    return Step(0, Action.KEEP, lock_id, remote.id, remote.remote_name or "", before=remote.raw)


def one_of_each(site: Site, lock_id: int) -> list[Step]:
    """An add, a change, a delete and a keep on a new lock with three remotes."""
    first, second, third = site.remotes(lock_id)
    return [
        add(lock_id, 1),
        update(lock_id, first, remoteName="Renamed"),
        delete(lock_id, second),
        keep(lock_id, third),
    ]


def run_of(operations: Operations, plan: Plan | Iterable[Step]) -> Run:
    """A run of a plan, or of one with these steps, that has not begun."""
    plan = plan if isinstance(plan, Plan) else operations.runs.make("a test", plan)
    return Run(plan, operations.clock)


async def execute(
    operations: Operations,
    plan: Plan | Iterable[Step] | Run,
    on_step: Callable[[Step], None] | None = None,
) -> Plan:
    """Carry out a run, a plan, or one with these steps; ``on_step`` gets each changed step."""
    run = plan if isinstance(plan, Run) else run_of(operations, plan)
    seen = 0

    def note(run: Run) -> None:
        nonlocal seen
        news, seen = run.news[seen:], len(run.news)
        for number in news:
            on_step(run.steps[number])

    run.on_change = note if on_step else run.on_change
    await operations.runs.execute(run)
    return run.plan


def states(plan: Plan) -> list[StepState]:
    """What became of each step."""
    return [step.state for step in plan.steps]


def applied(play: Play) -> Play:
    """The service has the request, and then something goes wrong."""

    async def apply(exchange: Exchange) -> None:
        await exchange.apply()
        await play(exchange)

    return apply


def altered(site: Site, play: Play) -> Play:
    """The service records something else than what was sent, and then something goes wrong."""

    async def apply(exchange: Exchange) -> None:
        await exchange.apply()
        site.alter_newest(decoded(exchange)["lockId"])
        await play(exchange)

    return apply


def names(site: Site, lock_id: int) -> set[str]:
    """The names of a lock's remotes, as the service has them."""
    return {row["name"] for row in site.state(lock_id)[:-1]}
