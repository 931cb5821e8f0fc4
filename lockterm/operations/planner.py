"""The planner, which makes plans from all sources of changes. It sends no changes.

A :class:`PlanSource` provides the steps. This module applies the rules that all plans share:

- lockterm reads locks completely, and in parallel.
- If a lock cannot be read completely, its steps are left out with the reason.
- If any lock cannot be read completely, nothing is deleted on any lock.
- Steps that are left out come after the other steps, and lockterm shows how many there are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TYPE_CHECKING

from lockterm.domain import dates
from lockterm.domain.bulk import Target, delete_expired, voice_each
from lockterm.domain.callbacks import ignore
from lockterm.domain.listing import Block, Listing
from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.plan import Action, Plan, PlannedSteps, Step, StepState
from lockterm.domain.remotes import Remote
from lockterm.domain.text.amount import format_count
from lockterm.errors import LocktermError, MalformedAnswerError, RefusedError, ServiceError
from lockterm.operations.all_locks import AT_ONCE
from lockterm.operations.list_walk import WALK_PAGE_SIZE

if TYPE_CHECKING:
    from lockterm.domain.voices import Language
    from lockterm.operations.facade import Operations


@dataclass(frozen=True, slots=True)
class ReadLock:
    """A lock that was read completely, or the error that prevented this."""

    lock: Lock
    zone: tzinfo
    """The time zone of the lock."""
    remotes: Sequence[Remote] = ()
    error: LocktermError | None = None


@dataclass(frozen=True, slots=True)
class PlanDraft:
    """A plan that the user has not confirmed yet."""

    plan: Plan
    unread: Sequence[ReadLock] = ()
    """The locks that could not be read completely."""
    about: str = ""
    """A sentence about the plan as a whole, shown beside its title."""

    @property
    def left(self) -> Sequence[Step]:
        """The steps that are left out, each with the reason."""
        return [step for step in self.plan.steps if not step.is_planned]

    @property
    def names_taken(self) -> int:
        """The number of steps that are left out because another remote has the name."""
        return sum(step.is_name_taken for step in self.plan.steps)

    @property
    def unplanned(self) -> int:
        """The number of steps that are left out for a reason other than a taken name."""
        return len(self.left) - self.names_taken


@dataclass
class PlanSource:
    """The source of a plan. Subclasses return the steps.

    Args:
        title: The title of the plan.
    """

    title: str

    async def read(self) -> Sequence[ReadLock]:
        """Read the locks that the steps depend on. The base class reads none.

        Raises:
            LocktermError: The plan is impossible.
        """
        return ()

    async def plan(self, locks: Sequence[ReadLock], now_ms: int) -> PlannedSteps:
        """Return the steps to run and the steps that are left out.

        Args:
            locks: The locks that were read completely.
            now_ms: The present time, in milliseconds since the epoch.

        Raises:
            LocktermError: The plan is impossible.
        """
        raise NotImplementedError

    def steps_on_unread(self, lock: ReadLock) -> Iterable[Step]:
        """Return the steps to leave out because a lock could not be read completely."""
        return ()


async def make_plan(operations: Operations, source: PlanSource) -> PlanDraft:
    """Return a plan with the steps of a source. Nothing is stored or sent.

    Raises:
        LocktermError: The source cannot be read, or its plan is impossible.
        StoreError: The lock book or the journal cannot be read.
    """
    locks = await source.read()
    unread = [lock for lock in locks if lock.error is not None]
    readable = [lock for lock in locks if lock.error is None]
    planned = await source.plan(readable, operations.now_ms())
    left = [*planned.left]
    for lock in unread:
        left += await asyncio.to_thread(_leave_out, source, lock)
    places = {lock.lock.lock_id: place for place, lock in enumerate(locks)}
    left.sort(key=lambda step: places.get(step.lock_id, 0))
    return draft_plan(operations, source.title, replace(planned, left=left), unread)


def draft_plan(
    operations: Operations, title: str, planned: PlannedSteps, unread: Sequence[ReadLock] = ()
) -> PlanDraft:
    """Return a plan with the given steps. Nothing is stored or sent.

    Args:
        operations: The operations of the profile.
        title: The title of the plan.
        planned: The steps of the plan.
        unread: The locks that could not be read completely.
    """
    steps, deletes = _hold_deletes_back(planned.steps, unread)
    plan = operations.runs.make(title, steps, [*planned.left, *deletes], planned.losses)
    return PlanDraft(replace(plan, skipped=planned.skipped), unread)


def _leave_out(source: PlanSource, lock: ReadLock) -> list[Step]:
    """Return the steps on a lock that could not be read completely, with the reason."""
    if lock.error is None:
        return []
    state = StepState.REFUSED if isinstance(lock.error, RefusedError) else StepState.NOT_SENT
    return [
        replace(step, state=state, message=lock.error.meaning)
        for step in source.steps_on_unread(lock)
    ]


def _hold_deletes_back(
    steps: Sequence[Step], unread: Sequence[ReadLock]
) -> tuple[Sequence[Step], list[Step]]:
    """Leave out all deletes if any lock could not be read completely.

    Returns:
        The steps to run, and the deletes that are left out. The second part is empty if all locks
        were read.
    """
    if not unread:
        return steps, []
    reason = (
        f"Nothing will be deleted, because lock {unread[0].lock.lock_id} could not be read"
        " completely."
    )
    deletes = [
        replace(step, state=StepState.NOT_SENT, message=reason)
        for step in steps
        if step.action is Action.DELETE
    ]
    return [step for step in steps if step.action is not Action.DELETE], deletes


OnRead = Callable[[int, int], None]
"""A function to call after each lock, with the numbers of finished locks and of all locks."""


async def read_locks(
    operations: Operations, lock_ids: Iterable[int], on_read: OnRead = ignore
) -> list[ReadLock]:
    """Read locks completely and in parallel. The result for an unreadable lock has an error.

    Args:
        operations: The operations of the profile.
        lock_ids: The IDs of the locks.
        on_read: A function that is called after each lock, also if the lock could not be read.

    Raises:
        StoreError: The lock book cannot be read.
    """
    places = asyncio.Semaphore(AT_ONCE)
    wanted, done = [*dict.fromkeys(lock_ids)], 0

    async def read(lock_id: int) -> ReadLock:
        lock = await operations.locks.find(lock_id)
        zone = operations.zone(lock)
        async with places:
            begun_ms, changes = operations.machine_ms(), operations.remotes.changes(lock_id)
            try:
                remotes = await operations.remotes.whole(lock_id)
            except ServiceError as error:
                return ReadLock(lock, zone, error=error)
        if unreadable := sum(remote.id is None for remote in remotes):
            problem = f"{unreadable:,} of the remotes of lock {lock_id} cannot be read."
            return ReadLock(lock, zone, error=MalformedAnswerError(problem))
        # With this stored list, lockterm can recognize a later remote as new, even after a kill.
        blocks = await asyncio.to_thread(_blocks, remotes)
        is_behind = operations.remotes.changes(lock_id) != changes
        await operations.kept_lists.keep(lock_id, Listing(blocks, begun_ms, is_behind))
        return ReadLock(lock, zone, remotes)

    async def note(lock_id: int) -> ReadLock:
        nonlocal done
        found = await read(lock_id)
        done += 1
        on_read(done, len(wanted))
        return found

    return [*await asyncio.gather(*map(note, wanted))]


def _blocks(remotes: Sequence[Remote]) -> list[Block]:
    pages = range(0, len(remotes), WALK_PAGE_SIZE)
    return [Block.of(remotes[start : start + WALK_PAGE_SIZE]) for start in pages]


async def plan_cleaning(
    operations: Operations, lock_ids: Iterable[int], days: int, on_read: OnRead = ignore
) -> PlanDraft:
    """Return a plan that deletes the remotes that expired at least ``days`` days ago.

    A remote whose end has passed but whose status contradicts this is not deleted. The plan shows
    the number of such remotes.

    Args:
        operations: The operations of the profile.
        lock_ids: The IDs of the locks on which remotes are deleted.
        days: The minimum number of days since a remote expired; 0 for all expired remotes.
        on_read: A function that is called each time lockterm has read a lock.

    Raises:
        StoreError: The lock book or the journal cannot be read.
    """
    title = f"delete remotes expired for {format_count(days, 'day')}"
    return await make_plan(operations, _ExpiredSource(title, operations, lock_ids, days, on_read))


@dataclass
class _ExpiredSource(PlanSource):
    """The source of a plan that deletes expired remotes; see :func:`plan_cleaning`."""

    operations: Operations
    lock_ids: Iterable[int]
    days: int
    on_read: OnRead

    async def read(self) -> Sequence[ReadLock]:
        return await read_locks(self.operations, self.lock_ids, self.on_read)

    async def plan(self, locks: Sequence[ReadLock], now_ms: int) -> PlannedSteps:
        remotes = [
            Target(one.lock.lock_id, remote, one.zone) for one in locks for remote in one.remotes
        ]
        return delete_expired(remotes, now_ms - self.days * dates.DAY_MS, now_ms)


# --- plans that set the voice on many locks -------------------------------------------------------


async def read_voices(
    operations: Operations, locks: Sequence[Lock]
) -> dict[tuple[str, str], Sequence[Language] | ServiceError]:
    """Read the languages and voices of the models that some locks have, in parallel.

    Args:
        operations: The operations of the profile.
        locks: The locks; locks without a vendor or a model are left out.

    Returns:
        A mapping of (vendor, model) to the languages of the model, or to the error that prevented
        reading them.
    """
    places = asyncio.Semaphore(AT_ONCE)

    async def read(vendor: str, model: str) -> Sequence[Language] | ServiceError:
        async with places:
            try:
                return await operations.voices.languages(vendor, model)
            except ServiceError as error:
                return error

    models = [*dict.fromkeys((one.vendor, one.model) for one in locks if one.vendor and one.model)]
    results = await asyncio.gather(*(read(*model) for model in models))
    return dict(zip(models, results, strict=True))


async def plan_voices(
    operations: Operations, locks: Sequence[Lock], voice: VoiceChoice
) -> PlanDraft:
    """Return a plan that sets the voice on each lock whose model has this voice.

    Args:
        operations: The operations of the profile.
        locks: The entries of the locks in the lock book.
        voice: The voice to set.
    """
    planned = voice_each(locks, voice, await read_voices(operations, locks))
    title = f"voice {voice.lang} {voice.timbre}: {format_count(len(locks), 'lock')}"
    return draft_plan(operations, title, planned)
