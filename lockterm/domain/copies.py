"""Remotes of one lock, to be added to another one as they are."""

from __future__ import annotations

from collections.abc import Sequence

from lockterm.domain.backup import BackedUp
from lockterm.domain.plan import Action, Step, StepState
from lockterm.domain.remotes import FIELDS, Remote
from lockterm.domain.rules import effective, is_same


def copied(
    source: Sequence[BackedUp], lock_id: int, there: Sequence[Remote], *, renames: bool
) -> list[Step]:
    """What has to be added to a lock; what is there already stays as it is.

    Args:
        source: The remotes, each with the request that would add it to its own lock.
        lock_id: The lock that they are to be on, too.
        there: All that it has.
        renames: Whether what has a name that is taken gets another one; else it is left out.

    Returns:
        Steps without numbers. One that cannot be copied is refused and says why.
    """
    numbers = {remote.remote_number: remote for remote in there if remote.remote_number}
    names = {remote.remote_name for remote in there}
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
        same = numbers.get(remote.remote_number or "")
        if same is not None or (name in names and not renames):
            words = "The name is taken." if same is None else _there(remote, same)
            remote_id = same.id if same is not None else None
            steps.append(Step(0, Action.KEEP, lock_id, remote_id, shown, message=words))
            continue
        wanted = one.request.body()
        del wanted["lockId"]
        wanted["remoteName"] = free = _free(name, names)
        names.add(free)
        shown = free.encode("utf-8", "backslashreplace").decode()
        steps.append(Step(0, Action.ADD, lock_id, None, shown, wanted))
    return steps


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


def _free(name: str, names: set[str | None]) -> str:
    """The name itself, or the first like it that is not taken: ``Anna (2)``."""
    found, number = name, 1
    while found in names:
        number += 1
        found = f"{name} ({number})"
    return found
