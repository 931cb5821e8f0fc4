"""What a reading says about a write whose answer never came: records in, a verdict out."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lockterm.errors import Refused
from lockterm.json_text import canonical
from lockterm.models.operation import READABLE_CALLS, Operation, State

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote
    from lockterm.reads import Reads

_ADD_FIELDS = ("remoteName", "remoteNumber", "remoteType", "startDate", "endDate", "weekDay")
"""What an added remote is recognised by; the list returns all of them."""

_ABSENT: Mapping[str, Any] = {"startDate": 0, "endDate": 0, "weekDay": []}
"""What the service returns for a field that was not sent (2.3)."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the service shows of an operation now."""

    state: State
    words: str
    """What was read, as a sentence."""
    candidates: tuple[int, ...] = ()
    """See ``Operation.candidates``."""


async def read_back(reads: Reads, operation: Operation, not_new: Container[int | None]) -> Verdict:
    """Ask the service what became of an operation.

    Args:
        reads: Where to read.
        operation: The operation.
        not_new: Remote ids known from other operations: they are not a new add.

    Raises:
        ServiceError: It could not be read.
    """
    if operation.call == "update" and operation.remote_id is not None:
        try:
            return judge_update(operation, await reads.remote(operation.remote_id))
        except Refused:
            remotes = await reads.all_remotes(operation.lock_id)
            if any(remote.id == operation.remote_id for remote in remotes):
                raise
        words = "The remote is gone, so that nothing tells whether the change took effect."
        return Verdict(State.CONFLICT, words)
    if operation.call not in READABLE_CALLS:
        words = "The service has no way to read this back. The same value may be sent again."
        return Verdict(State.UNKNOWN, words)
    remotes = await reads.all_remotes(operation.lock_id)
    if operation.call == "delete":
        return judge_delete(operation, remotes)
    if operation.call == "clear":
        return judge_clear(operation, remotes)
    return judge_add(operation, remotes, not_new)


def same(left: Any, right: Any) -> bool:
    """Whether two field values mean the same; the order of weekdays does not matter."""
    if isinstance(left, list) and isinstance(right, list):
        return sorted(map(canonical, left)) == sorted(map(canonical, right))
    return canonical(left) == canonical(right)  # for Python 1, 1.0 and True are one


def judge_add(
    operation: Operation, remotes: Iterable[Remote], not_new: Container[int | None]
) -> Verdict:
    """Judge an add by the lock's whole list.

    The name was free just before the add was sent, so that a remote which has it now is new.

    Args:
        operation: The add.
        remotes: The lock's list as read now.
        not_new: Ids known from earlier operations: they are not this add.
    """
    wanted = {key: operation.body.get(key, _ABSENT.get(key)) for key in _ADD_FIELDS}
    ids = tuple(
        remote.id
        for remote in remotes
        if remote.id is not None
        and remote.id not in not_new
        and all(same(remote.raw.get(key, _ABSENT.get(key)), value) for key, value in wanted.items())
    )
    if not ids:
        return Verdict(State.NOT_SEEN, "No remote like it is on the lock. It may still land.")
    if len(ids) == 1:
        return Verdict(State.AMBIGUOUS, f"Remote {ids[0]} is probably the one.", ids)
    return Verdict(State.AMBIGUOUS, f"{len(ids)} remotes look like it.", ids)


def judge_update(operation: Operation, now: Remote) -> Verdict:
    """Judge an update by the remote's detail: as intended, as before, or a third thing."""
    sent = {
        key: value for key, value in operation.body.items() if key not in ("lockId", "remoteId")
    }
    before = operation.before[0] if operation.before else {}
    differing = [key for key, value in sent.items() if not same(now.raw.get(key), value)]
    if not differing:
        return Verdict(State.CONFIRMED_BY_READING, "The service shows the change.")
    if all(same(now.raw.get(key), before.get(key)) for key in sent):
        return Verdict(State.NOT_SEEN, "The remote is as it was before. The change may still land.")
    names = ", ".join(differing)
    return Verdict(State.CONFLICT, f"Neither as before nor as intended: {names}.")


def judge_delete(operation: Operation, remotes: Sequence[Remote]) -> Verdict:
    """Judge a delete by the lock's whole list."""
    before = operation.before[0] if operation.before else {}
    found = [remote for remote in remotes if remote.id == operation.remote_id]
    if any(_is_still(before, remote) for remote in found):
        return Verdict(State.NOT_SEEN, "The remote is still there. The delete may still land.")
    if found:
        words = f"The service gave its id {operation.remote_id} to another remote."
        return Verdict(State.CONFLICT, words)
    return _unless_nameless(remotes, "The remote is no longer on the lock.")


def judge_clear(operation: Operation, remotes: Sequence[Remote]) -> Verdict:
    """Judge a clear by what remains of the remotes that were there when it was sent."""
    ids = ((record.get("id"), record) for record in operation.before)
    cleared = {identifier: record for identifier, record in ids if isinstance(identifier, int)}
    present = {remote.id: remote for remote in remotes if remote.id is not None}
    remaining = tuple(
        sorted(key for key in present if key in cleared and _is_still(cleared[key], present[key]))
    )
    new = len(present) - len(remaining)
    newcomers = f" {new} came since." if new else ""
    if not remaining:
        return _unless_nameless(remotes, f"None of the {len(cleared)} is left.{newcomers}")
    if len(remaining) == len(cleared):
        words = f"All {len(cleared)} are still there.{newcomers} The clear may still land."
        return Verdict(State.NOT_SEEN, words, remaining)
    words = f"{len(remaining)} of {len(cleared)} are still there.{newcomers}"
    return Verdict(State.CONFLICT, words, remaining)


def _is_still(before: Mapping[str, Any], now: Remote) -> bool:
    """Whether an id still means the same remote: a service may give the id of a deleted one away.

    Number and creation time are what no update changes (4.4).
    """
    return all(
        same(before[name], now.raw[name])
        for name in ("remoteNumber", "createTime")
        if name in before and name in now.raw
    )


def _unless_nameless(remotes: Sequence[Remote], words: str) -> Verdict:
    """What is not in the list is gone, unless the list has something that could be it."""
    if nameless := sum(remote.id is None for remote in remotes):
        some = "one entry that has" if nameless == 1 else f"{nameless} entries that have"
        doubt = f"The list has {some} no usable id, so that nothing tells whether it is gone."
        return Verdict(State.UNKNOWN, doubt)
    return Verdict(State.CONFIRMED_BY_READING, words)
