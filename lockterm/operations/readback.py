"""Verdicts on writes that got no answer. A verdict is the result that one reading shows.

The functions take records and return verdicts. ``lockterm.operations.proof`` has the rules that
decide whether a reading can be trusted.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockterm.domain.json_text import canonical
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.reading import Kind
from lockterm.domain.remotes import ADDED, FIELDS, Remote, is_still
from lockterm.domain.text.amount import describe_none

_WHEN: Mapping[Kind, Any] = {Kind.DATE: 0, Kind.WEEKDAYS: []}
_NOTHING = {field.name: _WHEN[field.kind] for field in FIELDS.values() if field.kind in _WHEN}
"""The values that the service returns for dates and weekdays that were not sent (contract 2.3)."""

_SENT = {field.name: field for field in ADDED}
"""Maps the contract's names to the fields that an add can send."""

_IDENTIFYING = ("remoteName", "remoteNumber")
"""The fields that identify an added remote."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of an operation according to one reading."""

    state: OperationState
    words: str
    """A sentence about the remotes that the reading showed."""
    candidates: tuple[int, ...] = ()
    """The IDs of remotes that may be the added remote, or that an unconfirmed clear did not
    delete."""
    remote_id: int | None = None
    """The ID of the remote that a recorded add created."""
    by_absence: bool = False
    """Whether the verdict depends on the absence of a remote from the reading."""


def same(left: Any, right: Any) -> bool:
    """Return whether two field values have the same meaning; weekdays may be in any order."""
    if isinstance(left, list) and isinstance(right, list):
        return sorted(map(canonical, left)) == sorted(map(canonical, right))
    return canonical(left) == canonical(right)  # because 1, 1.0 and True are equal in Python


def differing(left: Mapping[str, Any], right: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Return the names of the given fields whose values differ in two records of a remote.

    Missing dates and weekdays equal their empty values, because a service may omit them.
    """

    def value(record: Mapping[str, Any], name: str) -> Any:
        received = record.get(name)
        return _NOTHING.get(name) if received is None else received

    return [name for name in names if not same(value(left, name), value(right, name))]


def like_added(
    operation: Operation, remotes: Iterable[Remote], not_new: Container[int | None] = ()
) -> list[Remote]:
    """Return the remotes that have the name and the number that an add sent.

    Args:
        operation: The add.
        remotes: The remotes in the complete list of the lock.
        not_new: IDs of remotes that are known from earlier operations. They are not returned.
    """
    return [
        remote
        for remote in remotes
        if remote.id is not None
        and remote.id not in not_new
        and not differing(remote.raw, operation.body, _IDENTIFYING)
    ]


def differing_from_added(operation: Operation, remote: Remote) -> list[str]:
    """Return the names of fields in which a remote differs from the values that an add sent.

    A hidden field is compared only if the remote has it. A flag or an object whose sent value was
    empty may be missing in the remote.
    """
    record, body = remote.raw, operation.body
    compared = [
        name
        for name, value in body.items()
        if name in _SENT
        and (record.get(name) is not None or (_SENT[name].listed and value not in (0, {})))
    ]
    return differing(record, body, compared)


def judge_add(
    operation: Operation,
    remotes: Iterable[Remote],
    not_new: Container[int | None],
    are_new: Mapping[int | None, bool | None] | None = None,
) -> Verdict:
    """Return the verdict on an add, from the complete list of the lock.

    Args:
        operation: The add.
        remotes: The remotes in the list.
        not_new: IDs of remotes that are known from earlier operations.
        are_new: Maps remote IDs to whether the remote appeared after the add was sent; None if
            unknown.
    """
    are_new = are_new or {}
    alike = like_added(operation, remotes, not_new)
    equal = [remote for remote in alike if not differing_from_added(operation, remote)]
    found = equal or [remote for remote in alike if are_new.get(remote.id) is not False]
    if not found:
        words = "The lock has no such remote. The add may still take effect."
        return Verdict(OperationState.NOT_SEEN, words, by_absence=True)
    ids = tuple(remote.id for remote in found if remote.id is not None)
    if len(ids) > 1:
        return Verdict(
            OperationState.AMBIGUOUS, f"{len(ids)} remotes look like the added remote.", ids
        )
    if not equal:
        names = ", ".join(differing_from_added(operation, found[0]))
        words = (
            f"Remote {ids[0]} is probably the added remote, but differs from the request: {names}."
        )
        return Verdict(OperationState.AMBIGUOUS, words, ids)
    if not are_new.get(ids[0]):
        return Verdict(
            OperationState.AMBIGUOUS, f"Remote {ids[0]} is probably the added remote.", ids
        )
    words = f"The service shows the added remote as remote {ids[0]}."
    return Verdict(OperationState.CONFIRMED_BY_READING, words, remote_id=ids[0])


def judge_update(operation: Operation, now: Remote) -> Verdict:
    """Return the verdict on an update, from the details of its remote."""
    sent, before = set_by(operation), record_before(operation)
    if not is_still(before, now):
        return Verdict(OperationState.CONFLICT, given_away(operation))
    others = differing(now.raw, sent, sent)
    if not others:
        return Verdict(OperationState.CONFIRMED_BY_READING, "The service shows the change.")
    if not differing(now.raw, before, sent):
        return Verdict(
            OperationState.NOT_SEEN, "The remote is unchanged. The change may still take effect."
        )
    names = ", ".join(others)
    return Verdict(
        OperationState.CONFLICT, f"The remote has neither its old nor its intended values: {names}."
    )


def judge_gone() -> Verdict:
    """Return the verdict on an update if neither details nor list show its remote."""
    words = "The remote no longer exists, so nothing shows whether the change took effect."
    return Verdict(OperationState.CONFLICT, words, by_absence=True)


def judge_delete(
    operation: Operation, remotes: Sequence[Remote], detail: Remote | None = None
) -> Verdict:
    """Return the verdict on a delete, from the complete list and the details of the remote.

    Args:
        operation: The delete.
        remotes: The remotes in the list.
        detail: The details of the remote, which are used only if the list lacks the remote; None if
            the service refused them.
    """
    before = record_before(operation)
    found = [remote for remote in remotes if remote.id == operation.remote_id]
    if any(is_still(before, remote) for remote in found):
        return Verdict(
            OperationState.NOT_SEEN, "The remote is still there. The delete may still take effect."
        )
    if found:
        return Verdict(OperationState.CONFLICT, given_away(operation))
    if detail is not None and is_still(before, detail):
        words = "The list no longer shows the remote, but its details can still be read."
        return Verdict(OperationState.NOT_SEEN, f"{words} The delete may still take effect.")
    return _unless_nameless(remotes, "The remote is no longer on the lock.")


def judge_clear(operation: Operation, remotes: Sequence[Remote]) -> Verdict:
    """Return the verdict on a clear, from the complete list of the lock.

    The candidates of the verdict are the remotes that existed before the clear and still exist.
    """
    ids = ((record.get("id"), record) for record in operation.before)
    cleared = {identifier: record for identifier, record in ids if isinstance(identifier, int)}
    present = {remote.id: remote for remote in remotes if remote.id is not None}
    remaining = tuple(
        sorted(key for key in present if key in cleared and is_still(cleared[key], present[key]))
    )
    new = len(present) - len(remaining)
    newcomers = f" Remotes added since then: {new}." if new else ""
    if not remaining:
        gone = describe_none(len(cleared), "remote", "is left", "no longer exists")
        return _unless_nameless(remotes, f"{gone}.{newcomers}")
    if len(remaining) == len(cleared):
        words = (
            f"All {len(cleared)} remotes still exist.{newcomers} The clear may still take effect."
        )
        return Verdict(OperationState.NOT_SEEN, words, remaining)
    words = f"{len(remaining)} of {len(cleared)} remotes still exist.{newcomers}"
    return Verdict(OperationState.CONFLICT, words, remaining)


def set_by(update: Operation) -> Mapping[str, Any]:
    """Return the fields that an update sets, by the contract's names, with their values."""
    return {name: update.body[name] for name in update.body if name not in ("lockId", "remoteId")}


def record_before(operation: Operation) -> Mapping[str, Any]:
    """Return the record of an operation's remote before the operation; empty if unknown."""
    return operation.before[0] if operation.before else {}


def given_away(operation: Operation) -> str:
    """Return the sentence for an operation whose remote ID now belongs to another remote."""
    return f"The service gave the remote's ID {operation.remote_id} to another remote."


def shows_others(
    others: Iterable[Mapping[str, Any]] | None,
    remotes: Iterable[Remote],
    deleted: Container[int | None],
) -> bool:
    """Return whether a complete list can be trusted, because it shows another known remote.

    The list can also be trusted if the lock is known to have no other remotes.

    Args:
        others: Records of other remotes before the change; see ``Operation.others``.
        remotes: The remotes in the complete list.
        deleted: IDs of remotes that lockterm has deleted after the change was sent.
    """
    shown = {remote.id: remote for remote in remotes if remote.id is not None}
    if others is None:
        return bool(shown)
    expected = [record for record in others if record.get("id") not in deleted]
    return not expected or any(is_shown(record, shown) for record in expected)


def is_shown(record: Mapping[str, Any], shown: Mapping[int, Remote]) -> bool:
    """Return whether a list contains a remote, rather than another remote with its ID.

    Args:
        record: The record of the remote.
        shown: The remotes in the list, by ID.
    """
    remote = shown.get(record.get("id", 0))
    return remote is not None and is_still(record, remote)


def _unless_nameless(remotes: Sequence[Remote], words: str) -> Verdict:
    """Return the verdict that a remote is gone, with ``words`` as its sentence.

    The state is ``UNKNOWN`` if the list has an entry without an ID, which may be this remote.
    """
    if nameless := sum(remote.id is None for remote in remotes):
        some = "one entry that has" if nameless == 1 else f"{nameless} entries that have"
        doubt = (
            f"The list has {some} no usable ID, so it is unclear whether the remote was deleted."
        )
        return Verdict(OperationState.UNKNOWN, doubt)
    return Verdict(OperationState.CONFIRMED_BY_READING, words, by_absence=True)
