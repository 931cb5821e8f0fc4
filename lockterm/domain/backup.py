"""What the backup of a delete or clear still knows: a request to add each remote again, its losses.

Times, names and numbers go back exactly as they were; what cannot be is said, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lockterm.domain import rules
from lockterm.domain.constants import RemoteStatus, needs_dates
from lockterm.domain.reading import Field
from lockterm.domain.remotes import ADDED, FIELDS, UNLISTED, Remote

if TYPE_CHECKING:
    from lockterm.domain.operation import Operation
    from lockterm.domain.requests import NewRemote

_NAMES = (FIELDS["remoteName"], FIELDS["remoteNumber"])


@dataclass(frozen=True, slots=True)
class BackedUp:
    """A remote of a backup."""

    remote: Remote
    """As it was."""
    request: NewRemote | None
    """What adds it again; None where it cannot be."""
    why_not: str = ""
    """Why it cannot be restored, as a sentence."""
    unknown: tuple[Field, ...] = ()
    """Of the fields that no list returns, those that nobody here knows."""
    unnamed: tuple[str, ...] = ()
    """Fields of the service that the contract does not name: they are not sent back."""
    was_invalid: bool = False
    """The service said that it was invalid, although its end has not passed."""

    @property
    def old_id(self) -> int | None:
        return self.remote.id


def read_backup(
    operation: Operation, known: Mapping[int, Mapping[str, Any]], now_ms: int
) -> list[BackedUp]:
    """The remotes of a delete's or clear's backup. Takes a moment for thousands: use a thread.

    Args:
        operation: The delete or clear.
        known: What is known of hidden fields, see :func:`lockterm.domain.hidden.known_fields`.
        now_ms: What has ended is told by it.
    """
    found = []
    for record in operation.before:
        remote = Remote.read(record)
        fields = known.get(remote.id, {}) if remote.id is not None else {}
        found.append(backed_up(remote, operation.lock_id, fields, now_ms))
    return found


def backed_up(remote: Remote, lock_id: int, known: Mapping[str, Any], now_ms: int) -> BackedUp:
    """A remote as it can be added again.

    Args:
        remote: As the service told it.
        lock_id: Its lock.
        known: What is known of its hidden fields.
        now_ms: What has ended is told by it.
    """
    # What the service itself returned is newer than what was sent from here once.
    hidden = [
        field for field in UNLISTED if field.name not in remote.raw or field.name in remote.odd
    ]
    told = {field.attribute: known[field.name] for field in hidden if field.name in known}
    wanted = replace(remote, raw={}, odd={}, **told)
    ended = (
        needs_dates(wanted.remote_type) and wanted.end_ms is not None and wanted.end_ms <= now_ms
    )
    listed = {field.name for field in ADDED if field.listed}
    unusable = {*(remote.odd.keys() & listed), *rules.violations(wanted)}
    # A name that a person would have to retype was the remote's name all the same.
    unusable -= {field.name for field in _NAMES if (field.of(wanted) or "").strip()}
    if remote.id is None:
        why_not = "The backup has no usable id of it, to tell later whether it was restored."
        return BackedUp(remote, None, why_not)
    if (other := remote.other_lock(lock_id)) is not None:
        return BackedUp(remote, None, f"It belonged to another lock: {other}.")
    if unusable:
        named = ", ".join(field.called for field in ADDED if field.name in unusable)
        return BackedUp(remote, None, f"The backup has no usable {named}.")
    request = rules.added_again(lock_id, wanted)
    # An add makes a normal remote (3): what somebody had switched off would open the lock again.
    was_invalid = remote.status not in (None, RemoteStatus.NORMAL) and not ended
    unknown = tuple(field for field in hidden if field.name not in known)
    return BackedUp(remote, request, "", unknown, tuple(remote.extras), was_invalid)
