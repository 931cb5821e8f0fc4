"""One case: one fault at one call, and what must then be true of journal, ledger and error."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from random import Random
from typing import Any

from lockterm.domain.operation import Operation, OperationState
from lockterm.errors import (
    LocktermError,
    MalformedAnswerError,
    NoAnswerError,
    RateLimitedError,
    RefusedError,
    ResultUnknownError,
    ServiceError,
    UnreachableError,
    UntrustedServerError,
)
from lockterm.operations import Operations
from tests.certs import CERTS
from tests.faults.calls import CALLS, FIRST_READ, Scene
from tests.faults.catalogue import (
    WRONG_CLOCK,
    Fault,
    Kind,
    catalogue,
    plain_text,
    reset,
    silence,
)
from tests.faults.proxy import WRITES, Entry, Exchange, FaultProxy, Play
from tests.faults.site import (
    DOMAIN,
    STRANGER,
    Site,
    broken_names,
    short_deadlines,
    tls_context,
    verify_step,
)
from tests.operations.virtual import let_pause_pass

SENT = (OperationState.CONFIRMED, OperationState.CONFIRMED_BY_READING)
NOT_APPLIED = (OperationState.REFUSED, OperationState.NOT_SENT)
READ_BACK = {
    # call -> (the state after reading back where it was applied, where it was not)
    "add": (OperationState.CONFIRMED_BY_READING, OperationState.NOT_SEEN),
    "update": (OperationState.CONFIRMED_BY_READING, OperationState.NOT_SEEN),
    "delete": (OperationState.CONFIRMED_BY_READING, OperationState.NOT_SEEN),
    "clear": (OperationState.CONFIRMED_BY_READING, OperationState.NOT_SEEN),
    "updateRemoteUserNo": (OperationState.UNKNOWN, OperationState.UNKNOWN),
    "updateLockSetting": (OperationState.UNKNOWN, OperationState.UNKNOWN),
}


def disagreements(journal: Iterable[Operation], ledger: Iterable[Entry]) -> list[str]:
    """Where the journal says what the ledger does not bear out."""
    rows, applied, wrong = list(journal), list(ledger), []
    for row in rows:
        same = [entry for entry in applied if (entry.call, entry.body) == (row.call, row.body)]
        rivals = [other for other in rows if (other.call, other.body) == (row.call, row.body)]
        # An answer is certain; a reading also sees what others did, and comes second.
        certain = (
            SENT
            if row.state is OperationState.CONFIRMED_BY_READING
            else (OperationState.CONFIRMED,)
        )
        sure = [other for other in rivals if other.state in certain]
        if row.state in SENT and len(same) < len(sure):
            wrong.append(f"false {row.state}: {row.call} {row.body}")
        if row.state in NOT_APPLIED and len(same) > len(
            [other for other in rivals if other.state not in NOT_APPLIED]
        ):
            wrong.append(f"false {row.state}: {row.call} {row.body}")
    for entry in applied:
        knowing = [row for row in rows if (row.call, row.body) == (entry.call, entry.body)]
        entries = [
            other for other in applied if (other.call, other.body) == (entry.call, entry.body)
        ]
        if len(knowing) < len(entries):
            wrong.append(f"{'doubled' if knowing else 'lost'}: {entry}")
    return wrong


@contextlib.asynccontextmanager
async def stage(site: Site, fault: Fault) -> AsyncIterator[tuple[FaultProxy, Operations]]:
    """A proxy and a session, fit for a fault."""
    host, tls, ca_file = "127.0.0.1", None, ""
    if fault.tls:
        host, tls, ca_file = "localhost", tls_context(CERTS / "server"), str(CERTS / "ca.pem")
    elif fault.name == "no such name":
        host = f"host{site.new_lock(0)}{DOMAIN}"
    async with (
        site.proxy(host, tls=tls) as proxy,
        site.operations(proxy, ca_file=ca_file) as operations,
    ):
        try:
            yield proxy, operations
        finally:
            broken_names.discard(host)
            short_deadlines.discard(operations.profile.name)


def struck(fault: Fault, operations: Operations, *, lasts: bool) -> Play:
    """How a fault is played; after one that passes, the next attempt has all the time it needs."""
    play = fault.play

    async def once(exchange: Exchange) -> None:
        short_deadlines.discard(operations.profile.name)
        await play(exchange)

    return play if lasts else once


async def strike(proxy: FaultProxy, operations: Operations, fault: Fault, times: int = -1) -> None:
    """Let a fault of the connection begin."""
    if fault.endless:
        short_deadlines.add(operations.profile.name)
    if fault.at_accept:
        proxy.arm_accept(struck(fault, operations, lasts=times < 0), times)
    elif fault.on_proxy is not None:
        await fault.on_proxy(proxy)
    elif fault.tls == "stranger":
        await proxy.speak(tls_context(STRANGER / "stranger"))
    elif fault.tls:
        await proxy.speak(
            None, {"plain": plain_text, "reset": reset, "silence": silence}[fault.tls]
        )
    else:
        broken_names.add(proxy.host)


async def heal(proxy: FaultProxy, operations: Operations) -> None:
    """Let all be well again, and the pause be over that a 429 asked for."""
    let_pause_pass(operations)
    short_deadlines.discard(operations.profile.name)
    broken_names.discard(proxy.host)
    await proxy.heal()


async def arm(proxy: FaultProxy, operations: Operations, call: str, fault: Fault) -> None:
    """Have a fault strike at a call."""

    async def begin() -> None:
        # Reading back begins at once; it must not meet this fault, which has its own cases.
        await strike(proxy, operations, fault, times=1)

    if fault.play is not None and not fault.at_accept:
        if fault.endless:
            short_deadlines.add(operations.profile.name)
        proxy.arm(call, fault.play)
    elif call in FIRST_READ:
        proxy.after(FIRST_READ[call], begin)
    else:
        await begin()


def told(kind: Kind, call: str) -> type[LocktermError] | None:
    """The error that a fault has to end in."""
    is_write = call in WRITES
    match kind:
        case Kind.NOT_SENT:
            return UnreachableError
        case Kind.UNTRUSTED:
            return UntrustedServerError
        case Kind.UNKNOWN:
            return ResultUnknownError if is_write else ServiceError
        case Kind.REFUSED:
            return RefusedError
        case Kind.LIMITED:
            return RateLimitedError
        case Kind.ODD_DATA if not is_write and call != "checkRemoteName":
            return MalformedAnswerError
    return None


async def attempt(operations: Operations, call: str, scene: Scene) -> tuple[Any, Any]:
    """The call's result and its error."""
    try:
        return await CALLS[call](operations, scene), None
    except LocktermError as error:
        return None, error


async def write_case(site: Site, call: str, fault: Fault) -> list[str]:
    """Send a write into a fault, and read it back once the fault has ended."""
    lock_id = site.new_lock()
    scene = Scene(lock_id, site.remotes(lock_id)[1])
    wrong: list[str] = []
    async with stage(site, fault) as (proxy, operations):
        before = site.state(lock_id)
        await arm(proxy, operations, call, fault)
        result, error = await attempt(operations, call, scene)
        await heal(proxy, operations)
        await verify_step(operations)

        expected = told(fault.kind, call)
        if expected is None and error is not None:
            wrong.append(f"failed with {error!r}")
        if expected is not None and not isinstance(error, expected):
            wrong.append(f"told {error!r}, not {expected}")
        rows = await operations.journal.history()
        wrong += disagreements(rows, proxy.ledger)
        if len(rows) != 1:
            return [*wrong, f"{len(rows)} rows"]
        row = rows[0]
        if row.state is not (state := final(call, fault)):
            wrong.append(f"{row.state} ({row.message}), not {state}")
        if site.state(lock_id) != before and not proxy.ledger:
            wrong.append("changed, and not in the ledger")
        if len(proxy.ledger) != fault.applied:
            wrong.append(f"applied {len(proxy.ledger)} times")
        if proxy.asked.count(call) > 1:
            wrong.append(f"sent {proxy.asked.count(call)} times")
        if call == "add" and fault.applied:
            new_id = proxy.ledger[0].data["remoteId"]
            if row.state in SENT and row.remote_id != new_id:
                wrong.append(f"recorded as {row.remote_id}, not {new_id}")
            if row.state is OperationState.CONFIRMED and result != new_id:
                wrong.append(f"confirmed as {row.remote_id}, returned {result}, not {new_id}")
        if fault.name.startswith("clock off") and not operations.connection.doubts_clock:
            wrong.append("the clock is not doubted")
        if row.before and {record["id"] for record in row.before} != {
            record["id"]
            for record in before[:-1]
            if call == "clear" or record["id"] == row.remote_id
        }:
            wrong.append("the backup is not what was there")
    return wrong


def final(call: str, fault: Fault) -> OperationState:
    """The state that a write has to be in at the end."""
    match fault.kind:
        case Kind.NOT_SENT | Kind.UNTRUSTED:
            return OperationState.NOT_SENT
        case Kind.REFUSED | Kind.LIMITED:
            return OperationState.REFUSED
        case Kind.UNKNOWN:
            return READ_BACK[call][0 if fault.applied else 1]
    return OperationState.CONFIRMED


async def read_case(site: Site, call: str, fault: Fault, *, lasting: bool) -> list[str]:
    """Read into a fault that lasts, or that passes after the first attempt."""
    lock_id = site.new_lock()
    scene = Scene(lock_id, site.remotes(lock_id)[1])
    wrong: list[str] = []
    async with stage(site, fault) as (proxy, operations):
        before = site.state(lock_id)
        if fault.play is not None and not fault.at_accept:
            if fault.endless:
                short_deadlines.add(operations.profile.name)
            proxy.arm(call, struck(fault, operations, lasts=lasting), -1 if lasting else 1)
        else:
            await strike(proxy, operations, fault, times=-1 if lasting else 1)
        _, error = await attempt(operations, call, scene)

        retried = fault.kind in (Kind.UNKNOWN, Kind.LIMITED, Kind.NOT_SENT) or (
            fault.kind is Kind.ODD_DATA and told(fault.kind, call) is not None
        )
        lasts = lasting or (fault.play is None)  # what strikes the proxy itself lasts
        # An hour or some seconds to wait are left to the person.
        hopeless = fault.kind is Kind.LIMITED and "without" in fault.name
        expected = None if retried and not lasts and not hopeless else told(fault.kind, call)
        if expected is None and error is not None:
            wrong.append(f"failed with {error!r}")
        if expected is not None and not isinstance(error, expected):
            wrong.append(f"told {error!r}, not {expected}")
        if isinstance(error, ResultUnknownError) or (
            expected is ServiceError and not isinstance(error, NoAnswerError | MalformedAnswerError)
        ):
            wrong.append(f"told {error!r}")
        attempts = proxy.accepted if fault.at_accept else count(proxy, call, fault)
        wanted = 1 if not retried or hopeless else (3 if lasts else 2)
        if fault.play is not None and attempts != wanted:
            wrong.append(f"{attempts} attempts, not {wanted}")

        await heal(proxy, operations)
        if error is not None:
            value, again = await attempt(operations, call, scene)
            if again is not None or value is None:
                wrong.append(f"not well again: {value!r}, {again!r}")
        if site.state(lock_id) != before or proxy.ledger or await operations.journal.history():
            wrong.append("a read changed something")
    return wrong


def count(proxy: FaultProxy, call: str, fault: Fault) -> int:
    """How many attempts arrived."""
    return proxy.accepted if "before the body" in fault.name else proxy.asked.count(call)


async def combined_case(site: Site, call: str, chance: Random) -> list[str]:
    """A write into a fault, with other faults at the reads before and after it."""
    brief = [fault for fault in catalogue() if fault.play and not fault.endless]
    fault = chance.choice([one for one in brief if not one.at_accept])
    lock_id = site.new_lock()
    scene = Scene(lock_id, site.remotes(lock_id)[1])
    async with stage(site, fault) as (proxy, operations):
        chosen = {name: chance.choice(brief) for name in ("checkRemoteName", "list", "detail")}
        for name, other in chosen.items():
            if other.play is not None and not other.at_accept:
                proxy.arm(name, other.play, chance.randint(1, 3))
        if fault.play is not None:
            proxy.arm(call, fault.play)
        _, error = await attempt(operations, call, scene)
        await asyncio.sleep(chance.uniform(0, 0.05))
        await heal(proxy, operations)
        operations.watch.start()
        await verify_step(operations)
        rows = await operations.journal.history()
        wrong = disagreements(rows, proxy.ledger)
        if proxy.asked.count(call) > 1 or len(rows) > 1:
            wrong.append(f"sent {proxy.asked.count(call)} times, {len(rows)} rows")
        allowed = {final(call, fault)}
        is_clock_off = WRONG_CLOCK in [one.name for one in chosen.values()]
        if OperationState.CONFIRMED_BY_READING in allowed and is_clock_off:
            allowed.add(
                OperationState.AMBIGUOUS
            )  # by a clock that jumps, the remote may be an earlier one
        if rows and rows[0].state not in allowed:
            wrong.append(f"{rows[0].state} ({rows[0].message}), not {allowed}")
        if not rows and (proxy.ledger or error is None):
            wrong.append(f"no row: {error!r}")
    return [f"{call}, {fault.name}, {[one.name for one in chosen.values()]}: {w}" for w in wrong]
