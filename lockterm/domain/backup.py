"""What the backup of a delete or clear still knows: a request to add each remote again, its losses.

Times, names and numbers go back exactly as they were; what cannot be is said, never guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lockterm.domain import rules
from lockterm.domain.constants import RemoteStatus, needs_dates
from lockterm.domain.reading import Field
from lockterm.domain.remotes import ADDED, FIELDS, UNLISTED, Remote
from lockterm.domain.safe_text import clean

if TYPE_CHECKING:
    from lockterm.domain.operation import Operation
    from lockterm.domain.requests import NewRemote

_NAMES = (FIELDS["remoteName"], FIELDS["remoteNumber"])
_NAMED = 5
"""So many fields that the contract does not know are named."""


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


def backup_words(record: Mapping[str, Any], *, many: bool = False) -> str:
    """What a backup lacks, to be said before something is deleted; only what it really lacks.

    Args:
        record: A remote as the service told it.
        many: Whether it stands for others of the same list.
    """
    new = "Restored remotes have new ids." if many else "A restored remote has a new id."
    hidden = [field.called for field in UNLISTED if field.name not in record]
    if not hidden:
        return f"A backup is kept here. {new}"
    lacking = f"without what the service does not tell: {', '.join(hidden)}"
    return f"A backup is kept here, {lacking}. {new}"


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


def losses(remotes: Sequence[BackedUp]) -> list[str]:
    """What restoring these cannot bring back, in sentences; to be said before it is decided."""
    some = [remote for remote in remotes if remote.request is not None]
    if not some:
        return []
    many = len(some) > 1
    said = [
        "Each gets a new id and a new creation time."
        if many
        else "It gets a new id and a new creation time."
    ]
    if sentence := _unknown_words(some):
        said.append(sentence)
    if unnamed := sorted({name for remote in some for name in remote.unnamed}):
        more = [f"{len(unnamed) - _NAMED} more"] if len(unnamed) > _NAMED else []
        listed = _listed([clean(name, 24) for name in unnamed[:_NAMED]] + more)
        said.append(f"Not sent, because the contract does not name it: {listed}.")
    if switched_off := sum(remote.was_invalid for remote in some):
        whose = (
            f"{switched_off} of them were"
            if switched_off > 1
            else "One of them was"
            if many
            else "It was"
        )
        said.append(f"{whose} invalid at the service, and may open the lock again.")
    return said


def _unknown_words(remotes: Sequence[BackedUp]) -> str:
    """Which fields of how many: ``battery level of all 137; user number of 136``."""
    counts = Counter(field.name for remote in remotes for field in remote.unknown)
    if not counts:
        return ""
    fields: dict[int, list[str]] = {}
    for field in (field for field in UNLISTED if field.name in counts):
        fields.setdefault(counts[field.name], []).append(field.called)
    total = len(remotes)
    parts = []
    for count, names in sorted(fields.items(), reverse=True):
        whose = "" if total == 1 else f" of all {total:,}" if count == total else f" of {count:,}"
        parts.append(_listed(names) + whose)
    them = "them" if len(counts) > 1 else "it"
    return (
        f"Not known and left out: {'; '.join(parts)}."
        f" The service did not tell {them}, and this lockterm did not set {them}."
    )


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
