"""Remotes of one lock, to be added to another one as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo

from lockterm.domain import dates
from lockterm.domain.backup import BackedUp
from lockterm.domain.names import near_key, normalize_name
from lockterm.domain.plan import NAME_TAKEN, Action, Step, StepState
from lockterm.domain.remotes import FIELDS, Remote
from lockterm.domain.rules import effective, is_same
from lockterm.domain.safe_text import clean


def copied(
    source: Sequence[BackedUp], lock_id: int, there: Sequence[Remote], *, renames: bool
) -> list[Step]:
    """What has to be added to a lock; what is there already stays as it is.

    Args:
        source: The remotes, each with the request that would add it to its own lock.
        lock_id: The lock that they are to be on, too.
        there: All that it has.
        renames: Whether what has a name that is taken gets another one; else it is refused, since
            the fob will not open.

    Returns:
        Steps without numbers. One that cannot be copied is refused and says why.
    """
    numbers = {normalize_name(one.remote_number): one for one in there if one.remote_number}
    near = {near_key(number): one for number, one in numbers.items()}
    names: dict[str, Remote | None] = {normalize_name(one.remote_name or ""): one for one in there}
    steps = []
    for one in source:
        remote, name = one.remote, one.remote.remote_name or ""
        shown = name.encode("utf-8", "backslashreplace").decode()  # the disk is UTF-8
        if one.request is None:
            state = StepState.REFUSED
            steps.append(
                Step(0, Action.ADD, lock_id, None, shown, state=state, message=one.why_not)
            )
            continue
        number = remote.remote_number or ""
        if (same := numbers.get(normalize_name(number))) is not None:
            words = _there(remote, same)
            steps.append(Step(0, Action.KEEP, lock_id, same.id, shown, message=words))
            continue
        wanted = one.request.body()
        del wanted["lockId"]
        if normalize_name(name) in names and not renames:
            words = _taken(names[normalize_name(name)])
            state = StepState.REFUSED
            steps.append(
                Step(0, Action.ADD, lock_id, None, shown, wanted, state=state, message=words)
            )
            continue
        wanted["remoteName"] = free = _free(name, names)
        names[normalize_name(free)] = None
        shown = free.encode("utf-8", "backslashreplace").decode()
        note = _near_number(near.get(near_key(number)) if number else None)
        steps.append(Step(0, Action.ADD, lock_id, None, shown, wanted, note=note))
    return steps


def at_wall_time(remote: Remote, zone: tzinfo, other: tzinfo) -> Remote:
    """Return a remote that opens by the clocks of another zone as it does by those of its own."""
    start, end = remote.start_ms, remote.end_ms
    return replace(
        remote,
        start_ms=dates.same_wall_time(start, zone, other) if start else start,
        end_ms=dates.same_wall_time(end, zone, other, last=True) if end else end,
    )


def without_unknown_zones(steps: Sequence[Step], zone: tzinfo, other: tzinfo) -> list[Step]:
    """Refuse the steps whose time of day is not known.

    Args:
        steps: Those that add remotes.
        zone: The zone of the lock that is copied.
        other: The zone of the lock that they are for.
    """
    unknown = next((one for one in (zone, other) if isinstance(one, dates.UnknownZone)), None)
    if unknown is None or zone == other:
        return [*steps]
    message = f"{clean(unknown.reason, 200)} Its time of day cannot be kept."
    return [
        replace(step, state=StepState.REFUSED, message=message)
        if step.state is StepState.TO_DO and step.wanted.get("endDate")
        else step
        for step in steps
    ]


def describe_zones(remote: Remote, zone: tzinfo, other: tzinfo, *, keeps_wall_time: bool) -> str:
    """Return what becomes of the times of a copy for a lock in another zone, with an example.

    Empty where no time of day is kept, since a zone is not known: the copies are refused with that.
    """
    if keeps_wall_time and any(isinstance(one, dates.UnknownZone) for one in (zone, other)):
        return ""
    end = remote.end_ms or 0
    there = dates.same_wall_time(end, zone, other, last=True) if keeps_wall_time else end
    kept = "time of day" if keeps_wall_time else "moment"
    return clean(
        f"The time zones differ, and times keep their {kept}: {dates.day_time(end, zone)} in"
        f" {dates.zone_name(zone)} becomes {dates.day_time(there, other)} in"
        f" {dates.zone_name(other)}.",
        400,
    )


def _taken(other: Remote | None) -> str:
    """Return what is said of a fob whose name another remote has; None is an added one."""
    if other is None:
        return f"{NAME_TAKEN} by another remote of this copy: this fob will not open."
    number = f", number {clean(other.remote_number, 40)}," if other.remote_number else ""
    return f"{NAME_TAKEN} by remote {other.id}{number} and this fob will not open."


def _near_number(other: Remote | None) -> str:
    if other is None:
        return ""
    shown = clean(other.remote_number, 40)
    return f"The lock has a similar number: {shown}. Check that this is not the same fob."


def _there(remote: Remote, same: Remote) -> str:
    """What is said of a remote whose number is on the lock."""
    after = effective(None, remote)
    fields = ("remoteName", "remoteType", "startDate", "endDate", "weekDay", "isCoerced")
    differing = [
        FIELDS[name].called
        for name in (*fields, "extraData")
        if not is_same(FIELDS[name], FIELDS[name].of(after), FIELDS[name].of(same))
    ]
    if not differing:
        return ""
    return f"It is there already, with another {', '.join(differing)}."


def _free(name: str, names: dict[str, Remote | None]) -> str:
    """The name itself, or the first like it that is not taken: ``Anna (2)``."""
    found, number = name, 1
    while normalize_name(found) in names:
        number += 1
        found = f"{name} ({number})"
    return found
