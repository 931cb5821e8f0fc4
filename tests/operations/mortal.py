"""A process that carries out operations and is killed amid them: run as a module by the tests.

It imports everything once and forks for each life. Commands come as JSON lines on stdin:
``store``, ``base_url``, ``lock_id``, ``calls``, and ``die_at``, the step at which it kills itself;
or ``plan``, the id of a plan that it carries out, or goes on with.
On stdout it tells ``pid`` of the life, ``ack`` for what it was told had worked, ``step`` and its
``state`` for each that has ended, ``done`` for the plan, and ``ended``.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from lockterm.api.client import LockService
from lockterm.config import Profile
from lockterm.domain.plan import DUE, Step
from lockterm.domain.requests import NewRemote, RemoteChanges
from lockterm.errors import LocktermError
from lockterm.operations import Operations, watching
from lockterm.operations.runs import Runs
from lockterm.service.packs import PACKS
from lockterm.store.journal import Journal
from lockterm.store.sessions import StoreSession
from tests.conftest import NEAR
from tests.faults.calls import CALLS, Scene
from tests.faults.site import quick
from tests.operations.runs.planning import execute

OWN_STEPS = (
    "before it is prepared",
    "prepared",
    "sending, before it leaves",
    "sending, before the first byte",
    "answered, before it is noted",
    "noted, before it is shown",
)
"""The steps of a write at which it can kill itself."""


def tell(**what: Any) -> None:
    os.write(1, json.dumps(what).encode() + b"\n")  # in one go, or not at all


def tell_result(step: Step) -> None:
    if step.state not in DUE:
        tell(step=step.number, state=step.state)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arrange(step: str) -> None:
    """Have this process die at a step of its next write."""
    prepare, settle_sent, send = Journal.prepare, Journal.settle_sent, LockService.send
    note_leaving = StoreSession.note_leaving

    def dying_prepare(self, operation):
        if step == "before it is prepared":
            die()
        held = prepare(self, operation)
        if step == "prepared":
            die()
        return held

    async def dying_send(self, write, on_leaving):
        async def leaving():
            await on_leaving()
            if step == "sending, before the first byte":
                die()

        return await send(self, write, leaving)

    def dying_note(self, operation_id):
        if step == "sending, before it leaves":
            die()
        note_leaving(self, operation_id)

    def dying_settle(self, operation, now_ms, **changes):
        if step == "answered, before it is noted":
            die()
        settle_sent(self, operation, now_ms, **changes)
        if step == "noted, before it is shown":
            die()

    Journal.prepare, Journal.settle_sent, LockService.send = dying_prepare, dying_settle, dying_send
    StoreSession.note_leaving = dying_note


async def live(life: dict[str, Any]) -> None:
    """Carry out the calls of one life, over and over where it says so."""
    profile = Profile(name="mortal", base_url=life["base_url"])
    operations = Operations(profile, Path(life["store"]))
    lock_id = life["lock_id"]
    if life["plan"]:
        plan = await operations.runs.find(life["plan"])
        await execute(operations, plan, tell_result)
        tell(done=plan.id)
    while not life["plan"]:
        for call in life["calls"]:
            remotes = await operations.remotes.all(lock_id)
            try:
                if life["endless"] and call == "add":
                    number = os.urandom(6).hex()
                    request = NewRemote(
                        lock_id=lock_id,
                        remote_name=f"Fob {number}",
                        remote_number=number,
                        remote_type=1,
                        add_type=1,
                    )
                    result = await operations.writes.add_remote(request)
                elif life["endless"] and call == "update":
                    changes = RemoteChanges(remote_name=f"Fob {os.urandom(6).hex()}")
                    target = remotes[-1]
                    result = await operations.writes.update_remote(
                        lock_id, target.id, changes, target
                    )
                elif call == "clear":
                    result = await operations.writes.clear_remotes(lock_id)
                else:
                    remote = remotes[-1] if call == "delete" else remotes[0]
                    result = await CALLS[call](operations, Scene(lock_id, remote))
            except LocktermError as error:
                tell(failed=call, error=str(error))
                continue
            tell(ack=call, result=result, id=(await operations.journal.history())[-1].id)
        if not life["endless"]:
            break
    await operations.close()


def main() -> None:
    assert PACKS and Runs  # each life would import them anew
    watching.Horizon = lambda: NEAR
    for line in sys.stdin:
        life = json.loads(line)
        if child := os.fork():
            _, status = os.waitpid(child, 0)
            tell(ended=os.waitstatus_to_exitcode(status))
            continue
        tell(pid=os.getpid())
        if life["die_at"]:
            arrange(life["die_at"])
        with quick():
            asyncio.run(live(life))
        os._exit(0)


if __name__ == "__main__":
    main()
