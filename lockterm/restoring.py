"""Restoring what a delete or a clear took away: one add after the other, from the journal's backup.

What was restored already is told by the journal alone, where each add names the remote that it
restores. So a restore that was interrupted goes on where it stopped, and nothing is sent twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from lockterm.backup import BackedUp, losses, read_backup
from lockterm.errors import LocktermError, NameTaken, Refused, Unreachable
from lockterm.keymap.spoken import settling
from lockterm.models.operation import IN_FLIGHT, STATE_WORDS, UNSETTLED, State
from lockterm.operations import HeldBack

if TYPE_CHECKING:
    from lockterm.models.history import HistoryLine
    from lockterm.models.operation import Operation
    from lockterm.operations import Operations

DONE = frozenset({State.CONFIRMED, State.CONFIRMED_BY_READING})
"""States of an operation that took effect."""

_STOPS = (401, 403, 429)
"""HTTP statuses of a refusal that the next remote would get as well."""


def settle_first() -> str:
    """What to do about what is not settled."""
    return f"Settle it first: {settling()}"


class Fate(StrEnum):
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
    """A fate and its reason."""

    fate: Fate
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

    def having(self, *fates: Fate) -> list[int]:
        """The indices of the remotes with one of these fates."""
        return [index for index, outcome in enumerate(self.outcomes) if outcome.fate in fates]

    @property
    def due(self) -> list[int]:
        """What is to be sent: what was not sent yet, or else what was refused."""
        return self.having(Fate.WAITING, Fate.NOT_SENT) or self.having(Fate.REFUSED)

    @property
    def held(self) -> bool:
        """Whether an add of this restore is not settled, so that nothing more may be sent."""
        return bool(self.having(Fate.UNSETTLED))

    def losses(self) -> list[str]:
        """What restoring those that are left cannot bring back; see ``backup.losses``."""
        left = self.having(Fate.WAITING, Fate.NOT_SENT, Fate.REFUSED)
        said = losses([self.remotes[index] for index in left])
        if never := len(self.having(Fate.IMPOSSIBLE)):
            said.append(f"{never:,} cannot be restored; the table says why.")
        return said


def why_not_restorable(operation: Operation | HistoryLine, count: int) -> str:
    """Why an operation cannot be restored, as a sentence; empty: it can.

    Args:
        operation: The operation.
        count: How many remotes its backup holds.
    """
    if operation.call not in ("delete", "clear"):
        return "Only what a delete or a clear took away can be restored."
    if operation.state in UNSETTLED | IN_FLIGHT:
        return f"It is not settled whether this {operation.call} took effect. {settle_first()}"
    if operation.state not in DONE:
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
    operations.require_sent_here(operation)
    known = await operations.known_on(operation.lock_id)
    remotes = await asyncio.to_thread(read_backup, operation, known, operations.now_ms())
    adds: dict[int, list[Operation]] = {}
    for add in await operations.restored(operation.lock_id):
        if add.restores_remote is not None:
            adds.setdefault(add.restores_remote, []).append(add)
    return Plan(operation, remotes, [_told(remote, adds) for remote in remotes])


def _told(remote: BackedUp, adds: dict[int, list[Operation]]) -> Outcome:
    """By the whole journal of the lock: a remote may be in the backup of two operations."""
    tries = adds.get(remote.old_id, []) if remote.old_id is not None else []
    outcomes = [outcome_of(add) for add in tries]
    for fate in (Fate.RESTORED, Fate.UNSETTLED):
        if found := [outcome for outcome in outcomes if outcome.fate is fate]:
            return found[-1]
    if remote.request is None:
        return Outcome(Fate.IMPOSSIBLE, remote.why_not)
    return outcomes[-1] if outcomes else Outcome(Fate.WAITING)


def outcome_of(add: Operation) -> Outcome:
    """What an add that restores a remote came to."""
    if add.state in DONE:
        words = "" if add.remote_id is None else f"as {add.remote_id}"
        return Outcome(Fate.RESTORED, words, add.remote_id)
    if add.state in UNSETTLED | IN_FLIGHT:
        return Outcome(Fate.UNSETTLED, STATE_WORDS[add.state])
    if add.state is State.REFUSED:
        return Outcome(Fate.REFUSED, add.message)
    if add.state is State.NOT_SENT:
        return Outcome(Fate.NOT_SENT, add.message)
    return Outcome(Fate.WAITING, "an earlier try was given up")


async def restore(
    operations: Operations,
    plan: Plan,
    indices: Iterable[int],
    on_outcome: Callable[[int], None],
    stop: Callable[[], bool],
) -> str:
    """Add remotes of a backup again, one by one.

    Args:
        operations: The one door to service and store.
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
        note(index, Outcome(Fate.SENDING))
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
        new_id = await operations.add_remote(
            remote.request, restores=(plan.operation.id, remote.old_id)
        )
    except NameTaken:
        return Outcome(Fate.REFUSED, "The lock has a remote of that name."), ""
    except Refused as error:
        reason = _sentences(error) if error.status in _STOPS else ""
        return Outcome(Fate.REFUSED, error.message), reason
    except (HeldBack, Unreachable) as error:
        return Outcome(Fate.NOT_SENT, error.message), _sentences(error)
    except LocktermError as error:
        # It may have been the check of the name that failed, or the add: the journal knows.
        adds = await operations.restored(plan.operation.lock_id)
        tries = [add for add in adds if add.restores_remote == remote.old_id]
        if tries and (told := outcome_of(tries[-1])).fate is Fate.UNSETTLED:
            return told, f"Whether this one was restored is not known yet. {settle_first()}"
        return Outcome(Fate.NOT_SENT, error.message), _sentences(error)
    words = "" if new_id is None else f"as {new_id}"
    return Outcome(Fate.RESTORED, words, new_id), ""


def _sentences(error: LocktermError) -> str:
    return " ".join(filter(None, (error.message, error.hint)))
