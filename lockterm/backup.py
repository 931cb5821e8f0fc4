"""What the backup of a delete or clear still knows: a request to add each remote again, its losses.

Times, names and numbers go back exactly as they were; what cannot be is said, never guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lockterm import rules
from lockterm.comparison import LABELS
from lockterm.models.constants import RemoteStatus
from lockterm.models.hidden import HIDDEN
from lockterm.models.remote_values import values_of
from lockterm.text import clean

if TYPE_CHECKING:
    from lockterm.models.operation import Operation
    from lockterm.models.remotes import Remote
    from lockterm.models.requests import NewRemote

_SENT: Mapping[str, str] = {
    "remoteName": "remote_name",
    "remoteNumber": "remote_number",
    "remoteType": "remote_type",
    "addType": "add_type",
    "startDate": "start_ms",
    "endDate": "end_ms",
    "weekDay": "week_day",
    "isCoerced": "is_coerced",
    "extraData": "extra_data",
}
"""Contract field that is in the list and goes back -> the name it has here."""

_CALLED = {
    "add_type": "way of adding",
    "electric_quantity": "battery level",
    "is_coerced": "coerced flag",
}
"""Where the label of a form field says too little in a sentence."""


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
    unknown: tuple[str, ...] = ()
    """Attributes of the hidden fields that nobody here knows."""
    unnamed: tuple[str, ...] = ()
    """Fields of the service that the contract does not name: they are not sent back."""
    ended: bool = False
    """Its end has passed."""
    was_invalid: bool = False
    """The service said that it was invalid, although its end has not passed."""

    @property
    def old_id(self) -> int | None:
        """The id that it had."""
        return self.remote.id


def read_backup(
    operation: Operation, known: Mapping[int, Mapping[str, Any]], now_ms: int
) -> list[BackedUp]:
    """The remotes of a delete's or clear's backup. Takes a moment for thousands: use a thread.

    Args:
        operation: The delete or clear.
        known: What is known of hidden fields, see :func:`lockterm.models.hidden.known_fields`.
        now_ms: What has ended is told by it.
    """
    from lockterm.models.remotes import Remote

    found = []
    for record in operation.before:
        remote = Remote.read(record)
        fields = known.get(remote.id, {}) if remote.id is not None else {}
        found.append(_backed_up(remote, operation.lock_id, fields, now_ms))
    return found


def _backed_up(remote: Remote, lock_id: int, known: Mapping[str, Any], now_ms: int) -> BackedUp:
    # What the service itself returned is newer than what was sent from here once.
    came = {name for name in HIDDEN if name in remote.raw and name not in remote.odd}
    told = {HIDDEN[name]: value for name, value in known.items() if name not in came}
    values = replace(values_of(remote), **told)
    unknown = tuple(HIDDEN[name] for name in HIDDEN if name not in came and name not in known)
    ended = (
        rules.needs_dates(values.remote_type)
        and values.end_ms is not None
        and values.end_ms <= now_ms
    )
    unusable = {_SENT[name] for name in remote.odd if name in _SENT}
    unusable |= {_attribute(name) for name in rules.violations(values)}
    # A name that a person would have to retype was the remote's name all the same.
    unusable -= {name for name in ("remote_name", "remote_number") if getattr(values, name).strip()}
    if remote.id is None:
        why_not = "The backup has no usable id of it, to tell later whether it was restored."
        return BackedUp(remote, None, why_not, ended=ended)
    if (other := remote.other_lock(lock_id)) is not None:
        return BackedUp(remote, None, f"It belonged to another lock: {other}.", ended=ended)
    if unusable:
        named = ", ".join(called(name) for name in LABELS if name in unusable)
        return BackedUp(remote, None, f"The backup has no usable {named}.", ended=ended)
    request = rules.new_remote(lock_id, replace(values, remote_name="-", remote_number="-"))
    names = {"remote_name": values.remote_name, "remote_number": values.remote_number}
    request = request.model_copy(update=names)
    # An add makes a normal remote (3): what somebody had switched off would open the lock again.
    was_invalid = remote.status not in (None, RemoteStatus.NORMAL) and not ended
    return BackedUp(remote, request, "", unknown, tuple(remote.extras), ended, was_invalid)


def _attribute(contract_name: str) -> str:
    return _SENT.get(contract_name) or HIDDEN[contract_name]


def called(attribute: str) -> str:
    """A field of a remote within a sentence: ``user number``, ``MAC address``."""
    label = LABELS[attribute]
    return _CALLED.get(attribute, label if label[:2].isupper() else label[0].lower() + label[1:])


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
    if ended := sum(remote.ended for remote in some):
        said.append(
            (f"{ended} of them have" if ended > 1 else "One of them has" if many else "It has")
            + " ended already and will open nothing."
        )
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
    counts = Counter(name for remote in remotes for name in remote.unknown)
    if not counts:
        return ""
    fields: dict[int, list[str]] = {}
    for name in (name for name in HIDDEN.values() if name in counts):
        fields.setdefault(counts[name], []).append(called(name))
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
