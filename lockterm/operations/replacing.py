"""Plans that replace a person's key fob: a fob with a new number gets the same access."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from lockterm.domain import rules
from lockterm.domain.bulk import Target, delete_each
from lockterm.domain.copies import BackedUp, backed_up
from lockterm.domain.names import is_same_name, normalize_name
from lockterm.domain.operation import known_fields
from lockterm.domain.plan import Action, PlannedSteps, Step, StepState
from lockterm.domain.remotes import UNLISTED, Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.text.remote import describe_losses
from lockterm.domain.text.replacement import (
    describe_different_names,
    describe_not_copied,
    describe_order,
    describe_order_on_locks,
    format_replacement_title,
    format_title_on_locks,
)
from lockterm.domain.typed_remote import NamesInUse
from lockterm.errors import (
    LocktermError,
    RefusedError,
    RuleViolationError,
    ServiceError,
    StoreError,
)
from lockterm.operations.all_locks import AT_ONCE
from lockterm.operations.planner import PlanDraft, PlanSource, ReadLock, make_plan, read_locks

if TYPE_CHECKING:
    from lockterm.domain.marks import Row
    from lockterm.operations.facade import Operations

_OF_DEVICE = frozenset(field.name for field in UNLISTED if field.of_device)
"""The fields whose values belong to the old fob, not to the person."""


class CannotReplaceError(LocktermError):
    """An error because a fob cannot be replaced, for example if the new number is in use."""

    title = "Replace"


async def plan_replacements(
    operations: Operations, rows: Sequence[Row], number: str, mac: str = ""
) -> PlanDraft:
    """Return a plan that replaces a person's fob on one or several locks.

    For each remote, the plan adds a remote with the new number and deletes the old remote. lockterm
    sends the second step only if the first one is done. It usually adds first, and deletes the old
    remote first only if the lock cannot have two remotes with the same name. A fob that cannot be
    replaced on one of several locks is left out with the reason.

    Args:
        operations: The operations of the profile.
        rows: Pairs of lock ID and remote, as the user saw them. The remotes are read again.
        number: The typed number of the new fob.
        mac: The typed MAC address of the new fob; empty if it has none.

    Raises:
        CannotReplaceError: The number is missing, or two remotes are on the same lock. Or no fob
            can be replaced: the number is invalid or in use, or the remote cannot be added again.
        RuleViolationError: No fob can be replaced, because the ID now belongs to another remote.
        ServiceError: None of the locks and remotes can be read.
        StoreError: The lock book or the journal cannot be read.
    """
    number = normalize_name(number.strip())
    if not number:
        raise CannotReplaceError("A number is required. Nothing was sent.")
    (lock_id, count), *_ = Counter(lock_id for lock_id, _ in rows).most_common(1)
    if count > 1:
        name = clean((await operations.locks.find(lock_id)).title, 60)
        raise CannotReplaceError(
            f"{count:,} of the remotes are on {name}, but a lock can have the new fob only once."
            " Mark one remote of each lock. Nothing was sent."
        )
    source = _Replacement("", operations, rows, number, normalize_name(mac.strip()))
    return await make_plan(operations, source)


@dataclass(frozen=True, slots=True)
class _Pair:
    """The two steps that replace one fob, in the order in which they are sent."""

    steps: Sequence[Step]
    copy: BackedUp
    adds_first: bool


@dataclass
class _Replacement(PlanSource):
    """The source of a plan that replaces fobs; see :func:`plan_replacements`.

    If a lock cannot be read, a lost fob must still be deleted on the other locks. So ``read``
    returns no locks, and the planner does not leave out the deletes.
    """

    operations: Operations
    rows: Sequence[Row]
    number: str
    mac: str

    def __post_init__(self) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)

    async def plan(self, locks: Sequence[ReadLock], now_ms: int) -> PlannedSteps:
        read = await read_locks(self.operations, [lock_id for lock_id, _ in self.rows])
        found = await asyncio.gather(
            *(self._pair(*row, lock, now_ms) for row, lock in zip(self.rows, read, strict=True))
        )
        pairs = [one for one in found if isinstance(one, _Pair)]
        errors = [one for one in found if isinstance(one, LocktermError)]
        if not pairs:
            raise errors[0]
        left = [
            _leave_out(*row, lock.zone, one)
            for row, lock, one in zip(self.rows, read, found, strict=True)
            if isinstance(one, LocktermError)
        ]
        copies = [pair.copy for pair in pairs]
        remotes = [Remote.read(step.before) for pair in pairs for step in pair.steps[:1]]
        if len(self.rows) == 1:
            self.title = format_replacement_title(remotes[0], self.number)
            order = describe_order(remotes[0], adds_first=pairs[0].adds_first)
        else:
            self.title = format_title_on_locks(remotes, self.number)
            deletes_first = sum(not pair.adds_first for pair in pairs)
            order = describe_order_on_locks(deletes_first, len(pairs))
        unknown = dict.fromkeys(field for copy in copies for field in copy.unknown)
        losses = [
            *filter(None, [describe_different_names(remotes)]),
            order,
            *describe_losses([replace(copy, unknown=()) for copy in copies]),
            *describe_not_copied(unknown, has_mac=bool(self.mac)),
        ]
        return PlannedSteps([step for pair in pairs for step in pair.steps], left, losses)

    async def _pair(
        self, lock_id: int, remote: Remote, lock: ReadLock, now_ms: int
    ) -> _Pair | LocktermError:
        """Return the two steps for a remote, or the error that makes them impossible.

        Raises:
            StoreError: The journal cannot be read.
        """
        try:
            if lock.error is not None:
                raise lock.error
            async with self._places:
                return await self._steps(lock_id, remote, lock, now_ms)
        except StoreError:
            raise
        except LocktermError as error:
            return error

    async def _steps(self, lock_id: int, remote: Remote, lock: ReadLock, now_ms: int) -> _Pair:
        old = await self.operations.remotes.still(remote, lock_id)
        note = self._check_number(old, [one for one in lock.remotes if one.id != old.id])
        copy = await self._copy(lock_id, old, now_ms)
        assert copy.request is not None
        wanted = copy.request.body()
        del wanted["lockId"]
        (delete,) = delete_each([Target(lock_id, old, lock.zone)]).steps
        name = delete.remote_name
        add = Step(0, Action.ADD, lock_id, None, name, wanted, before=old.raw, note=note)
        # The service decides whether the name of the old remote may be used a second time.
        adds_first = await self.operations.remotes.is_name_free(lock_id, old.remote_name or "")
        return _Pair([add, delete] if adds_first else [delete, add], copy, adds_first)

    def _check_number(self, old: Remote, others: Sequence[Remote]) -> str:
        """Check that the new number is free on a lock.

        Returns:
            A warning if another remote has a similar number; otherwise empty.

        Raises:
            CannotReplaceError: The old remote or another remote has this number.
        """
        if is_same_name(old.remote_number, self.number):
            raise CannotReplaceError("This is the number of the old fob. Nothing was sent.")
        taken = NamesInUse(others)
        warning = taken.describe_number(self.number)
        if self.number in taken.numbers:
            raise CannotReplaceError(f"{warning} Nothing was sent.")
        return warning

    async def _copy(self, lock_id: int, old: Remote, now_ms: int) -> BackedUp:
        """Return the remote with the new number, and the request that adds it.

        Raises:
            CannotReplaceError: The remote cannot be added with the new number.
        """
        fob = Remote.read({**_of_person(old.raw), "remoteNumber": self.number})
        known = _of_person(await self._known(lock_id, old))
        if self.mac:
            known["mac"] = self.mac
        copy = backed_up(fob, lock_id, known, now_ms)
        reason = copy.reason
        if copy.request is not None:
            # An invalid name must stop the plan before the old remote is deleted.
            reason = " ".join(rules.violations(Remote.read(copy.request.body())).values())
        if reason:
            raise CannotReplaceError(f"{reason} Nothing was sent.")
        return copy

    async def _known(self, lock_id: int, old: Remote) -> Mapping[str, Any]:
        """Return the hidden fields of the old remote that are known from the journal."""
        journal = self.operations.journal
        change = await journal.last_change(lock_id)
        if change is None:
            return {}
        operations = await journal.told_hidden(change)
        fields = known_fields(operations, [old.raw])
        return fields.get(old.id or 0, {})


def _leave_out(lock_id: int, remote: Remote, zone: tzinfo, error: LocktermError) -> Step:
    """Return the step that shows a fob which cannot be replaced, with the reason."""
    (step,) = delete_each([Target(lock_id, remote, zone)]).steps
    is_far = isinstance(error, ServiceError) and not isinstance(error, RefusedError)
    state = StepState.NOT_SENT if is_far else StepState.REFUSED
    message = (
        " ".join(error.reasons.values()) if isinstance(error, RuleViolationError) else error.meaning
    )
    return replace(step, state=state, message=message.removesuffix(" Nothing was sent."))


def _of_person(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a remote, except those that belong to the old fob."""
    return {name: value for name, value in fields.items() if name not in _OF_DEVICE}
