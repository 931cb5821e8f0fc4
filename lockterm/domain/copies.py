"""Copies of remotes from a backup or from another lock.

lockterm adds the copies with exactly the same numbers. Times and names also stay the same, unless
the user chooses to keep local times in another zone, or to rename copies whose names are taken. If
lockterm cannot keep a value, it reports this and does not guess another value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from lockterm.domain import dates, rules
from lockterm.domain.names import near_key, normalize_name, to_storable
from lockterm.domain.plan import NAME_TAKEN, Action, Step, StepState
from lockterm.domain.reading import Field
from lockterm.domain.remotes import ADDED, FIELDS, UNLISTED, Remote, RemoteStatus, needs_dates
from lockterm.domain.rules import effective, is_same
from lockterm.domain.safe_text import clean

if TYPE_CHECKING:
    from lockterm.domain.operation import Operation
    from lockterm.domain.requests import NewRemote

_NAMES = (FIELDS["remoteName"], FIELDS["remoteNumber"])


@dataclass(frozen=True, slots=True)
class BackedUp:
    """A remote in a backup, and the request that restores it."""

    remote: Remote
    """The remote as the service returned it."""
    request: NewRemote | None
    """The request that adds the remote again; None if the remote cannot be restored."""
    reason: str = ""
    """The reason why the remote cannot be restored, as a sentence; empty if it can be restored."""
    unknown: tuple[Field, ...] = ()
    """The hidden fields (which the service never lists) whose values lockterm does not know."""
    unnamed: tuple[str, ...] = ()
    """Names of fields from the service that the contract does not define. lockterm does not send
    them back."""
    was_invalid: bool = False
    """Whether the service called the remote invalid although the remote had not expired."""

    @property
    def old_id(self) -> int | None:
        return self.remote.id


def read_backup(
    operation: Operation, known: Mapping[int, Mapping[str, Any]], now_ms: int
) -> list[BackedUp]:
    """Return the remotes in the backup of a delete or clear operation.

    Thousands of remotes take noticeable time, so call this function in a thread.

    Args:
        operation: The delete or clear operation.
        known: Maps remote IDs to known hidden fields; see
            :func:`lockterm.domain.operation.known_fields`.
        now_ms: Now, in milliseconds, to recognize expired remotes.
    """
    backups = []
    for record in operation.before:
        remote = Remote.read(record)
        fields = known.get(remote.id, {}) if remote.id is not None else {}
        backups.append(backed_up(remote, operation.lock_id, fields, now_ms))
    return backups


def backed_up(remote: Remote, lock_id: int, known: Mapping[str, Any], now_ms: int) -> BackedUp:
    """Return a remote together with the request that adds it again.

    Args:
        remote: The remote as the service returned it.
        lock_id: The ID of the lock that the remote belonged to.
        known: The known hidden fields of the remote, by the contract's names.
        now_ms: Now, in milliseconds, to check whether the remote is expired.
    """
    # A value that the service returned is newer than one that lockterm sent.
    hidden = [
        field for field in UNLISTED if field.name not in remote.raw or field.name in remote.odd
    ]
    values = {field.attribute: known[field.name] for field in hidden if field.name in known}
    wanted = replace(remote, raw={}, odd={}, **values)
    ended = (
        needs_dates(wanted.remote_type) and wanted.end_ms is not None and wanted.end_ms <= now_ms
    )
    listed = {field.name for field in ADDED if field.listed}
    unusable = {*(remote.odd.keys() & listed), *rules.violations(wanted)}
    # A name that a person may not type was still the name of this remote.
    unusable -= {field.name for field in _NAMES if (field.of(wanted) or "").strip()}
    if remote.id is None:
        reason = (
            "The backup has no usable ID of this remote, so lockterm could not prevent a"
            " second restore."
        )
        return BackedUp(remote, None, reason)
    if (other := remote.other_lock(lock_id)) is not None:
        return BackedUp(remote, None, f"The remote belonged to another lock, {other}.")
    if unusable:
        named = ", ".join(field.called for field in ADDED if field.name in unusable)
        return BackedUp(remote, None, f"The backup has no usable {named}.")
    request = rules.added_again(lock_id, wanted)
    # An add makes a normal remote (3), so one that was switched off would open the lock again.
    was_invalid = remote.status not in (None, RemoteStatus.NORMAL) and not ended
    unknown = tuple(field for field in hidden if field.name not in known)
    return BackedUp(remote, request, "", unknown, tuple(remote.extras), was_invalid)


# --- on another lock ------------------------------------------------------------------------------


def copied(
    source: Sequence[BackedUp], lock_id: int, there: Sequence[Remote], *, renames: bool
) -> list[Step]:
    """Return steps that copy remotes to a lock. Remotes already on the lock stay unchanged.

    Args:
        source: The remotes, each with the request that would add it to its own lock.
        lock_id: The ID of the lock that gets the copies.
        there: All remotes of that lock.
        renames: Whether a remote gets another name if its name is taken on the lock. If false, its
            step is refused, and its fob will not open the lock.

    Returns:
        Steps without numbers. A remote that cannot be copied has a refused step with the reason.
    """
    numbers = {normalize_name(one.remote_number): one for one in there if one.remote_number}
    near = {near_key(number): one for number, one in numbers.items()}
    names: dict[str, Remote | None] = {normalize_name(one.remote_name): one for one in there}
    steps = []
    for one in source:
        name, number = one.remote.remote_name or "", one.remote.remote_number or ""
        step = Step(0, Action.ADD, lock_id, None, to_storable(name))
        if one.request is None:
            steps.append(replace(step, state=StepState.REFUSED, message=one.reason))
            continue
        if (same := numbers.get(normalize_name(number))) is not None:
            message = _there(one.remote, same)
            steps.append(replace(step, action=Action.KEEP, remote_id=same.id, message=message))
            continue
        wanted = one.request.body()
        del wanted["lockId"]
        if normalize_name(name) in names and not renames:
            message = _taken(names[normalize_name(name)])
            steps.append(replace(step, wanted=wanted, state=StepState.REFUSED, message=message))
            continue
        wanted["remoteName"] = free = _free(name, names)
        names[normalize_name(free)] = None
        note = _near_number(near.get(near_key(number)) if number else None)
        steps.append(replace(step, remote_name=to_storable(free), wanted=wanted, note=note))
    return steps


def at_wall_time(remote: Remote, zone: tzinfo, other: tzinfo) -> Remote:
    """Return a remote whose start and end have the same local times in another zone.

    Args:
        remote: The remote.
        zone: The present time zone of the remote.
        other: The time zone in which the local times stay the same.
    """
    start, end = remote.start_ms, remote.end_ms
    return replace(
        remote,
        start_ms=dates.same_wall_time(start, zone, other) if start else start,
        end_ms=dates.same_wall_time(end, zone, other, last=True) if end else end,
    )


def without_unknown_zones(steps: Sequence[Step], zone: tzinfo, other: tzinfo) -> list[Step]:
    """Return the steps, but refuse each step whose copy cannot keep its local times.

    A copy with dates can keep its local times only if both zones are known, or are the same.

    Args:
        steps: The steps that add copies of remotes.
        zone: The time zone of the source lock.
        other: The time zone of the target lock.
    """
    unknown = next((one for one in (zone, other) if isinstance(one, dates.UnknownZone)), None)
    if unknown is None or zone == other:
        return [*steps]
    message = f"{clean(unknown.reason, 200)} The local time cannot be kept."
    return [
        replace(step, state=StepState.REFUSED, message=message)
        if step.state is StepState.TO_DO and step.wanted.get("endDate")
        else step
        for step in steps
    ]


def describe_zones(remote: Remote, zone: tzinfo, other: tzinfo, *, keeps_wall_time: bool) -> str:
    """Return sentences that explain how dates change on a target lock in another time zone.

    The sentences show the end of a remote as an example. The text is empty if copies should keep
    the local time but one of the zones is unknown, because lockterm refuses such copies.

    Args:
        remote: The remote whose end is the example.
        zone: The time zone of the source lock.
        other: The time zone of the target lock.
        keeps_wall_time: Whether copies keep the local time. If false, they keep the moment in UTC.
    """
    if keeps_wall_time and any(isinstance(one, dates.UnknownZone) for one in (zone, other)):
        return ""
    end = remote.end_ms or 0
    there = dates.same_wall_time(end, zone, other, last=True) if keeps_wall_time else end
    kept = "local time" if keeps_wall_time else "moment"
    return clean(
        f"The time zones differ. The copy keeps the {kept}, so {dates.day_time(end, zone)}"
        f" in {zone} becomes {dates.day_time(there, other)} in {other}.",
        400,
    )


def _taken(other: Remote | None) -> str:
    """Return the message for a taken name.

    Args:
        other: The remote on the target lock that has the name; None if another remote in the same
            copy gets the name.
    """
    if other is None:
        return f"{NAME_TAKEN} by another remote of this copy, so this fob will not open the lock."
    number = f", number {clean(other.remote_number, 40)}" if other.remote_number else ""
    return f"{NAME_TAKEN} by remote {other.id}{number}, so this fob will not open the lock."


def _near_number(other: Remote | None) -> str:
    if other is None:
        return ""
    shown = clean(other.remote_number, 40)
    return f"The lock has a similar number: {shown}. Check that this is not the same fob."


def _there(remote: Remote, same: Remote) -> str:
    """Return the message for a copy whose number is taken on the lock.

    Args:
        remote: The remote to copy.
        same: The remote on the target lock that has the number.

    Returns:
        A sentence with the differing fields; empty if the two remotes are equal.
    """
    after = effective(None, remote)
    fields = ("remoteName", "remoteType", "startDate", "endDate", "weekDay", "isCoerced")
    differing = [
        FIELDS[name].called
        for name in (*fields, "extraData")
        if not is_same(FIELDS[name], FIELDS[name].of(after), FIELDS[name].of(same))
    ]
    if not differing:
        return ""
    return f"The lock already has this remote, with a different {', '.join(differing)}."


def _free(name: str, names: dict[str, Remote | None]) -> str:
    """Return a name if no remote has it; otherwise its first free variant, such as ``Anna (2)``.

    Args:
        name: The name.
        names: The names in use, as keys.
    """
    variant, number = name, 1
    while normalize_name(variant) in names:
        number += 1
        variant = f"{name} ({number})"
    return variant
