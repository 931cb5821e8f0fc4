"""Verdicts: the results that single readings show of a write whose answer never arrived.

The functions take records and return verdicts. The rules for trusting a reading are in
``lockterm.operations.proof``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockterm.domain.json_text import canonical
from lockterm.domain.operation import Operation, State
from lockterm.domain.reading import Kind
from lockterm.domain.remotes import ADDED, FIELDS, Remote, is_still
from lockterm.domain.text.amount import describe_none

_WHEN: Mapping[Kind, Any] = {Kind.DATE: 0, Kind.WEEKDAYS: []}
_NOTHING = {field.name: _WHEN[field.kind] for field in FIELDS.values() if field.kind in _WHEN}
"""Values that the service returns for dates and weekdays that were not sent (2.3)."""

_SENT = {field.name: field for field in ADDED}
"""The contract's name of each field that an add can send -> the field."""

_IDENTIFYING = ("remoteName", "remoteNumber")
"""The fields by which an added remote is recognized."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one reading of an operation."""

    state: State
    words: str
    """A sentence about the remotes that were read."""
    candidates: tuple[int, ...] = ()
    """See ``Operation.candidates``."""
    remote_id: int | None = None
    """The ID of the remote that a recorded add created."""
    by_absence: bool = False
    """Whether the verdict is based on a remote that the reading did not show."""


def same(left: Any, right: Any) -> bool:
    """Return whether two field values mean the same; the order of weekdays does not matter."""
    if isinstance(left, list) and isinstance(right, list):
        return sorted(map(canonical, left)) == sorted(map(canonical, right))
    return canonical(left) == canonical(right)  # because 1, 1.0 and True are equal in Python


def differing(left: Mapping[str, Any], right: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Return the names of the given fields in which two records of a remote differ.

    A service may return null for a date or for weekdays that were not sent, or leave them out.
    """

    def value(record: Mapping[str, Any], name: str) -> Any:
        told = record.get(name)
        return _NOTHING.get(name) if told is None else told

    return [name for name in names if not same(value(left, name), value(right, name))]


def like_added(
    operation: Operation, remotes: Iterable[Remote], not_new: Container[int | None] = ()
) -> list[Remote]:
    """Return the remotes with the name and number of the remote that an operation added.

    Args:
        operation: The add.
        remotes: The lock's whole list.
        not_new: The IDs known from earlier operations.
    """
    return [
        remote
        for remote in remotes
        if remote.id is not None
        and remote.id not in not_new
        and not differing(remote.raw, operation.body, _IDENTIFYING)
    ]


def differing_from_added(operation: Operation, remote: Remote) -> list[str]:
    """Return the fields in which a remote differs from the values that an add sent.

    A field that a service never lists counts only if the remote has it. A flag or object that
    was sent empty may be missing.
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
    """Judge an add by the lock's whole list.

    Args:
        operation: The add.
        remotes: The lock's whole list.
        not_new: The IDs known from earlier operations.
        are_new: ID -> whether the remote appeared after the add was sent; None if nothing shows it.
    """
    are_new = are_new or {}
    alike = like_added(operation, remotes, not_new)
    equal = [remote for remote in alike if not differing_from_added(operation, remote)]
    found = equal or [remote for remote in alike if are_new.get(remote.id) is not False]
    if not found:
        words = "The lock has no such remote. The add may still take effect."
        return Verdict(State.NOT_SEEN, words, by_absence=True)
    ids = tuple(remote.id for remote in found if remote.id is not None)
    if len(ids) > 1:
        return Verdict(State.AMBIGUOUS, f"{len(ids)} remotes look like the added remote.", ids)
    if not equal:
        names = ", ".join(differing_from_added(operation, found[0]))
        words = (
            f"Remote {ids[0]} is probably the added remote, but differs from the request: {names}."
        )
        return Verdict(State.AMBIGUOUS, words, ids)
    if not are_new.get(ids[0]):
        return Verdict(State.AMBIGUOUS, f"Remote {ids[0]} is probably the added remote.", ids)
    words = f"The service shows the added remote as remote {ids[0]}."
    return Verdict(State.CONFIRMED_BY_READING, words, remote_id=ids[0])


def judge_update(operation: Operation, now: Remote) -> Verdict:
    """Judge an update by the remote's detail: as intended, as before, or a conflict."""
    sent, before = set_by(operation), record_before(operation)
    if not is_still(before, now):
        return Verdict(State.CONFLICT, given_away(operation))
    others = differing(now.raw, sent, sent)
    if not others:
        return Verdict(State.CONFIRMED_BY_READING, "The service shows the change.")
    if not differing(now.raw, before, sent):
        return Verdict(State.NOT_SEEN, "The remote is unchanged. The change may still take effect.")
    names = ", ".join(others)
    return Verdict(
        State.CONFLICT, f"The remote has neither its old nor its intended values: {names}."
    )


def judge_gone() -> Verdict:
    """Judge an update of a remote that neither the detail nor the list shows."""
    words = "The remote no longer exists, so nothing shows whether the change took effect."
    return Verdict(State.CONFLICT, words, by_absence=True)


def judge_delete(
    operation: Operation, remotes: Sequence[Remote], detail: Remote | None = None
) -> Verdict:
    """Judge a delete by the lock's whole list, and by the detail if the list lacks the remote.

    The detail is None if the service refused to show it.
    """
    before = record_before(operation)
    found = [remote for remote in remotes if remote.id == operation.remote_id]
    if any(is_still(before, remote) for remote in found):
        return Verdict(
            State.NOT_SEEN, "The remote is still there. The delete may still take effect."
        )
    if found:
        return Verdict(State.CONFLICT, given_away(operation))
    if detail is not None and is_still(before, detail):
        words = "The list no longer shows the remote, but its details can still be read."
        return Verdict(State.NOT_SEEN, f"{words} The delete may still take effect.")
    return _unless_nameless(remotes, "The remote is no longer on the lock.")


def judge_clear(operation: Operation, remotes: Sequence[Remote]) -> Verdict:
    """Judge a clear by the remotes that were there when it was sent and still remain."""
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
        return Verdict(State.NOT_SEEN, words, remaining)
    words = f"{len(remaining)} of {len(cleared)} remotes still exist.{newcomers}"
    return Verdict(State.CONFLICT, words, remaining)


def set_by(update: Operation) -> Mapping[str, Any]:
    """Return the fields that an update sets."""
    return {name: update.body[name] for name in update.body if name not in ("lockId", "remoteId")}


def record_before(operation: Operation) -> Mapping[str, Any]:
    """Return the record of the remote before the operation; empty if unknown."""
    return operation.before[0] if operation.before else {}


def given_away(operation: Operation) -> str:
    """Return a sentence saying that another remote now has the operation's remote ID."""
    return f"The service gave the remote's ID {operation.remote_id} to another remote."


def shows_others(
    others: Iterable[Mapping[str, Any]] | None,
    remotes: Iterable[Remote],
    deleted: Container[int | None],
) -> bool:
    """Return whether a list still shows the lock's other remotes.

    Args:
        others: See ``Operation.others``.
        remotes: The whole list.
        deleted: The IDs of remotes that lockterm has deleted since the change was sent.
    """
    shown = {remote.id: remote for remote in remotes if remote.id is not None}
    if others is None:
        return bool(shown)
    expected = [record for record in others if record.get("id") not in deleted]
    return not expected or any(is_shown(record, shown) for record in expected)


def is_shown(record: Mapping[str, Any], shown: Mapping[int, Remote]) -> bool:
    """Return whether a list shows a remote.

    Args:
        record: The remote.
        shown: The remotes of the list by ID.
    """
    remote = shown.get(record.get("id", 0))
    return remote is not None and is_still(record, remote)


def _unless_nameless(remotes: Sequence[Remote], words: str) -> Verdict:
    """Return a verdict that a remote is gone; ``UNKNOWN`` if an entry without an ID may be it."""
    if nameless := sum(remote.id is None for remote in remotes):
        some = "one entry that has" if nameless == 1 else f"{nameless} entries that have"
        doubt = (
            f"The list has {some} no usable ID, so it is unclear whether the remote was deleted."
        )
        return Verdict(State.UNKNOWN, doubt)
    return Verdict(State.CONFIRMED_BY_READING, words, by_absence=True)
