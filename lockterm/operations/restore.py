"""Restoring what a delete or a clear took away: one add after the other, from the journal's backup.

What was restored already is told by the journal alone, where each add names the remote that it
restores. So a restore that was interrupted goes on where it stopped, and nothing is sent twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from lockterm.domain.backup import BackedUp, losses, read_backup
from lockterm.domain.operation import IN_FLIGHT, RECORDED, STATE_WORDS, UNSETTLED, State
from lockterm.errors import LocktermError, NameTaken, Refused, Unreachable
from lockterm.keymap.hints import settling
from lockterm.operations import HeldBack

if TYPE_CHECKING:
    from lockterm.domain.history import HistoryLine
    from lockterm.domain.operation import Operation
    from lockterm.operations import Operations

_STOPS = (401, 403, 429)
"""HTTP statuses of a refusal that the next remote would get as well."""


def settle_first() -> str:
    """What to do about what is not settled."""
    return f"Settle it first: {settling()}"


class RestoreStatus(StrEnum):
    """What became of one remote of a backup."""

    WAITING = "to restore"
    SENDING = "being sent"
    RESTORED = "restored"
    REFUSED = "refused"
    NOT_SENT = "not sent"
    UNSETTLED = "not settled"
    IMPOSSIBLE = "cannot be restored"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it, and why."""

    status: RestoreStatus
    words: str = ""
    """Why, or as which id; it may hold the service's text."""
    new_id: int | None = None


@dataclass(slots=True)
class Plan:
    """The remotes of a backup, and what became of each so far."""

    operation: Operation
    """The delete or clear."""
    remotes: list[BackedUp]
    outcomes: list[Outcome]
    """One for each of the remotes, in their order; they change while the restore runs."""

    def having(self, *statuses: RestoreStatus) -> list[int]:
        """The indices of the remotes with one of these."""
        return [index for index, outcome in enumerate(self.outcomes) if outcome.status in statuses]

    @property
    def due(self) -> list[int]:
        """What is to be sent: what was not sent yet, or else what was refused."""
        return self.having(RestoreStatus.WAITING, RestoreStatus.NOT_SENT) or self.having(
            RestoreStatus.REFUSED
        )

    @property
    def held(self) -> bool:
        """Whether an add of this restore is not settled, so that nothing more may be sent."""
        return bool(self.having(RestoreStatus.UNSETTLED))

    def losses(self) -> list[str]:
        """What restoring those that are left cannot bring back; see ``backup.losses``."""
        left = self.having(RestoreStatus.WAITING, RestoreStatus.NOT_SENT, RestoreStatus.REFUSED)
        said = losses([self.remotes[index] for index in left])
        if self.operation.state not in RECORDED:  # it may have landed late, or not at all
            called = f"This {self.operation.call} was {STATE_WORDS[self.operation.state]}"
            said.append(f"{called}: what is still on the lock by its name is not added.")
        if never := len(self.having(RestoreStatus.IMPOSSIBLE)):
            said.append(f"{never:,} cannot be restored; the table says why.")
        return said


def why_not_restorable(operation: Operation | HistoryLine, count: int) -> str:
    """Why an operation with so many remotes in its backup cannot be restored; empty: it can."""
    if operation.call not in ("delete", "clear"):
        return "Only what a delete or a clear took away can be restored."
    if operation.state is State.DAMAGED:
        return "This entry of the journal is damaged: its backup cannot be trusted any more."
    if operation.state in UNSETTLED | IN_FLIGHT:
        return f"It is not settled whether this {operation.call} took effect. {settle_first()}"
    is_replaced = operation.call == "clear" and operation.state is State.SENT_AGAIN
    if operation.state not in RECORDED | {State.GIVEN_UP} and not is_replaced:
        return f"This {operation.call} was {STATE_WORDS[operation.state]}: nothing is to restore."
    if not count:
        return f"There was nothing to {operation.call}."
    return ""


async def make_plan(operations: Operations, operation: Operation) -> Plan:
    """Read the backup, and what the journal says of earlier restores from it.

    Raises:
        StoreError: The journal cannot be read.
        OtherService: It was sent to another service than the profile names now.
    """
    operations.journal.require_sent_here(operation)
    known = await operations.journal.known_of_backup(operation)
    remotes = await asyncio.to_thread(read_backup, operation, known, operations.now_ms())
    adds = await _restored(operations, operation)
    return Plan(operation, remotes, [_told(remote, adds) for remote in remotes])


async def _restored(operations: Operations, operation: Operation) -> dict[int, list[Operation]]:
    """The adds that restore the remotes of a backup, by the id that each had.

    A remote may be in the backup of two operations. The id alone does not tell that it is the same:
    a service may have given it to another remote in between.
    """
    records = {record.get("id"): record for record in operation.before}
    backups: dict[str, Operation | None] = {operation.id: operation}
    adds: dict[int, list[Operation]] = {}
    for add in await operations.journal.restored(operation.lock_id):
        old_id, source = add.restores_remote, add.restores or ""
        if old_id is None or old_id not in records:
            continue
        if source not in backups:
            backups[source] = await operations.journal.find(source)
        other = backups[source]
        its = [one for one in other.before if one.get("id") == old_id] if other else []
        if source == operation.id or any(_is_same(one, records[old_id]) for one in its):
            adds.setdefault(old_id, []).append(add)
    return adds


def _is_same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Whether two records are of one remote: no update changes its number and creation time."""
    names = ("id", "remoteNumber", "createTime")
    return all(left.get(name) == right.get(name) for name in names)


def _told(remote: BackedUp, adds: dict[int, list[Operation]]) -> Outcome:
    """By the adds that restore it."""
    tries = adds.get(remote.old_id, []) if remote.old_id is not None else []
    outcomes = [outcome_of(add) for add in tries]
    for status in (RestoreStatus.RESTORED, RestoreStatus.UNSETTLED):
        if found := [outcome for outcome in outcomes if outcome.status is status]:
            return found[-1]
    if remote.request is None:
        return Outcome(RestoreStatus.IMPOSSIBLE, remote.why_not)
    return outcomes[-1] if outcomes else Outcome(RestoreStatus.WAITING)


def outcome_of(add: Operation) -> Outcome:
    """What an add that restores a remote came to."""
    if add.state in RECORDED:
        words = "" if add.remote_id is None else f"as {add.remote_id}"
        return Outcome(RestoreStatus.RESTORED, words, add.remote_id)
    if add.state in UNSETTLED | IN_FLIGHT:
        return Outcome(RestoreStatus.UNSETTLED, STATE_WORDS[add.state])
    if add.state is State.REFUSED:
        return Outcome(RestoreStatus.REFUSED, add.message)
    if add.state is State.NOT_SENT:
        return Outcome(RestoreStatus.NOT_SENT, add.message)
    return Outcome(RestoreStatus.WAITING, "an earlier try was given up")


async def restore(
    operations: Operations,
    plan: Plan,
    indices: Iterable[int],
    on_outcome: Callable[[int], None],
    stop: Callable[[], bool],
) -> str:
    """Add remotes of a backup again, one by one.

    Args:
        operations: What sends and remembers them.
        plan: Its outcomes are changed on the way.
        indices: Which of its remotes.
        on_outcome: Called with the index of each remote whose outcome has changed.
        stop: Asked before each remote.

    Returns:
        Why it ended before all were tried, in sentences; empty: all were.
    """

    def note(index: int, outcome: Outcome) -> None:
        plan.outcomes[index] = outcome
        on_outcome(index)

    for index in indices:
        if stop():
            return "Stopped. What is left can be restored later."
        before = plan.outcomes[index]
        note(index, Outcome(RestoreStatus.SENDING))
        try:
            outcome, reason = await _restore_one(operations, plan, index)
        except BaseException:  # a bug, or the end of the app: the journal knows what was sent
            note(index, before)
            raise
        note(index, outcome)
        if reason:
            return reason
    return ""


async def _restore_one(operations: Operations, plan: Plan, index: int) -> tuple[Outcome, str]:
    """The outcome of one remote, and why no more should be sent, if so."""
    remote = plan.remotes[index]
    assert remote.request is not None and remote.old_id is not None
    try:
        new_id = await operations.writes.add_remote(
            remote.request, restores=(plan.operation.id, remote.old_id)
        )
    except NameTaken:
        return Outcome(RestoreStatus.REFUSED, "The lock has a remote of that name."), ""
    except Refused as error:
        reason = error.sentences if error.status in _STOPS else ""
        return Outcome(RestoreStatus.REFUSED, error.meaning), reason
    except (HeldBack, Unreachable) as error:
        return Outcome(RestoreStatus.NOT_SENT, error.meaning), error.sentences
    except LocktermError as error:
        # It may have been the check of the name that failed, or the add: the journal knows.
        adds = await _restored(operations, plan.operation)
        tries = adds.get(remote.old_id, [])
        if tries and (told := outcome_of(tries[-1])).status is RestoreStatus.UNSETTLED:
            return told, f"Whether this one was restored is not known yet. {settle_first()}"
        return Outcome(RestoreStatus.NOT_SENT, error.meaning), error.sentences
    words = "" if new_id is None else f"as {new_id}"
    return Outcome(RestoreStatus.RESTORED, words, new_id), ""
