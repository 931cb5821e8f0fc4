"""Plans that replace the key fob of a remote: a new number for the same person and access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lockterm.domain import rules
from lockterm.domain.bulk import Target, delete_each
from lockterm.domain.copies import BackedUp, backed_up
from lockterm.domain.names import is_same_name, normalize_name
from lockterm.domain.operation import known_fields
from lockterm.domain.plan import Action, PlannedSteps, Step
from lockterm.domain.remotes import UNLISTED, Remote
from lockterm.domain.series import NamesInUse
from lockterm.domain.text.plan import (
    describe_not_copied,
    describe_order,
    format_replacement_title,
)
from lockterm.domain.text.remote import describe_losses
from lockterm.errors import LocktermError
from lockterm.operations.planner import PlanDraft, PlanSource, ReadLock, make_plan, read_locks

if TYPE_CHECKING:
    from lockterm.operations.facade import Operations

_OF_DEVICE = frozenset(field.name for field in UNLISTED if field.of_device)
"""The fields that belong to the old device, not to the person."""


class CannotReplaceError(LocktermError):
    """A fob that cannot be replaced as typed."""

    title = "Replace"


async def plan_replacement(
    operations: Operations, lock_id: int, remote: Remote, number: str, mac: str = ""
) -> PlanDraft:
    """Make a plan that replaces the fob of a remote.

    The plan adds a remote with the new number and deletes the old remote. The second step is sent
    only if the first one is done. The old remote is deleted first if the service refuses two
    remotes of one name on a lock.

    Args:
        operations: The operations of the profile.
        lock_id: The lock.
        remote: The remote as the person saw it; it is read again.
        number: The typed number of the new fob.
        mac: The typed MAC address of the new fob; empty for none.

    Raises:
        CannotReplaceError: The number is missing, invalid or in use, or the remote cannot be added
            again.
        RuleViolation: The ID now belongs to another remote.
        ServiceError: The remote or the lock cannot be read.
        StoreError: The lock book or the journal cannot be read.
    """
    number = normalize_name(number.strip())
    if not number:
        raise CannotReplaceError("A number is required. Nothing was sent.")
    return await make_plan(
        operations, _Replacement(operations, lock_id, remote, number, normalize_name(mac.strip()))
    )


class _Replacement(PlanSource):
    """The two steps that replace a fob; see :func:`plan_replacement`."""

    def __init__(
        self, operations: Operations, lock_id: int, remote: Remote, number: str, mac: str
    ) -> None:
        super().__init__(format_replacement_title(remote, number))
        self._operations = operations
        self._lock_id = lock_id
        self._remote = remote
        self._number = number
        self._mac = mac

    async def read(self) -> Sequence[ReadLock]:
        operations, lock_id = self._operations, self._lock_id
        self._remote = await operations.remotes.still(self._remote, lock_id)
        self.title = format_replacement_title(self._remote, self._number)
        (lock,) = await read_locks(operations, [lock_id])
        if lock.error is not None:
            raise lock.error
        return [lock]

    async def plan(self, locks: Sequence[ReadLock], now_ms: int) -> PlannedSteps:
        old, (lock,) = self._remote, locks
        note = self._check_number([one for one in lock.remotes if one.id != old.id])
        copy = await self._copy(now_ms)
        assert copy.request is not None
        wanted = copy.request.body()
        del wanted["lockId"]
        (delete,) = delete_each([Target(self._lock_id, old, lock.zone)]).steps
        name = delete.remote_name
        add = Step(0, Action.ADD, self._lock_id, None, name, wanted, before=old.raw, note=note)
        # The service decides whether the name of the old remote may be used a second time.
        adds_first = await self._operations.remotes.is_name_free(
            self._lock_id, old.remote_name or ""
        )
        losses = [
            describe_order(old, adds_first=adds_first),
            *describe_losses([replace(copy, unknown=())]),
            *describe_not_copied(copy.unknown, has_mac=bool(self._mac)),
        ]
        return PlannedSteps([add, delete] if adds_first else [delete, add], [], losses)

    def _check_number(self, others: Sequence[Remote]) -> str:
        """Return a note if another remote has a similar number.

        Raises:
            CannotReplaceError: The old remote or another one has the number.
        """
        if is_same_name(self._remote.remote_number, self._number):
            raise CannotReplaceError("This is the number of the old fob. Nothing was sent.")
        taken = NamesInUse(others)
        words = taken.describe_number(self._number)
        if self._number in taken.numbers:
            raise CannotReplaceError(f"{words} Nothing was sent.")
        return words

    async def _copy(self, now_ms: int) -> BackedUp:
        """Return the remote with the new number, and the request that adds it.

        Raises:
            CannotReplaceError: The remote cannot be added with the new number.
        """
        fob = Remote.read({**_of_person(self._remote.raw), "remoteNumber": self._number})
        known = _of_person(await self._known())
        if self._mac:
            known["mac"] = self._mac
        copy = backed_up(fob, self._lock_id, known, now_ms)
        reason = copy.why_not
        if copy.request is not None:
            # An invalid name must stop the plan before the old remote is deleted.
            reason = " ".join(rules.violations(Remote.read(copy.request.body())).values())
        if reason:
            raise CannotReplaceError(f"{reason} Nothing was sent.")
        return copy

    async def _known(self) -> Mapping[str, Any]:
        """Return the hidden fields of the old remote that lockterm has set itself."""
        journal = self._operations.journal
        change = await journal.last_change(self._lock_id)
        if change is None:
            return {}
        told = await journal.told_hidden(change)
        found = known_fields(told, [self._remote.raw])
        return found.get(self._remote.id or 0, {})


def _of_person(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a remote without those of the old device."""
    return {name: value for name, value in fields.items() if name not in _OF_DEVICE}
