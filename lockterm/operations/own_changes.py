"""Leaves out the changes of this machine's journal when two lists of a lock are compared.

The functions take changes and journal rows, and return changes. They read and write nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lockterm.domain.elsewhere import ChangeElsewhere, What
from lockterm.domain.operation import WITHOUT_EFFECT, Operation
from lockterm.operations.proof import is_later
from lockterm.operations.readback import same, set_by


def without_own(
    found: Iterable[ChangeElsewhere],
    operations: Iterable[Operation],
    now_ms: int,
    offset_ms: float | None,
) -> Iterator[ChangeElsewhere]:
    """Yield the changes that the journal does not explain.

    A field that lockterm set counts only if the service noted a later update: the service may keep
    another form of the sent value, or show a list that is older than the change. Operations whose
    result is unconfirmed count like recorded ones.

    Args:
        found: The differences between two readings of a lock.
        operations: The operations that were sent to the lock since the earlier reading.
        now_ms: The time by this machine's clock, in milliseconds.
        offset_ms: Milliseconds by which the service's clock is ahead; None if unknown.
    """
    sent = [one for one in operations if one.state not in WITHOUT_EFFECT]
    for change in found:
        own = [one for one in sent if _is_about(one, change)]
        if not own:
            yield change
        elif change.what is not What.GONE:
            if not any(one.call in ("delete", "clear") for one in own):
                yield from _beyond(change, own, now_ms, offset_ms)
        elif not any(one.call in ("add", "delete", "clear") for one in own):
            yield change  # lockterm has only changed the remote that is gone


def _is_about(operation: Operation, change: ChangeElsewhere) -> bool:
    if operation.call == "clear":
        return change.what is not What.CHANGED
    if operation.remote_id is not None or operation.call != "add":
        return operation.remote_id == change.remote_id and operation.call in _CALLS
    return change.what is What.NEW and all(
        change.after.get(name) == operation.body.get(name) for name in _ALIKE
    )


_CALLS = frozenset({"add", "update", "delete"})
_ALIKE = ("remoteName", "remoteNumber")
"""The fields by which a remote is recognized whose add had no answer."""


def _beyond(
    change: ChangeElsewhere, own: Sequence[Operation], now_ms: int, offset_ms: float | None
) -> Iterator[ChangeElsewhere]:
    """Yield the part of a change that lockterm's own operations on the remote do not explain."""
    values = {name: value for one in own for name, value in set_by(one).items()}
    names = [*change.names] if change.what is What.CHANGED else [*values]
    settled_ms = max((one.settled_ms or now_ms for one in own), default=now_ms)
    updated = change.after.get("updateTime")
    is_after = offset_ms is not None and is_later(
        updated if isinstance(updated, int) else None, settled_ms + offset_ms, now_ms + offset_ms
    )
    left = [
        name
        for name in names
        if name not in values
        or (
            is_after
            and name in change.after
            and not any(same(change.after[name], set_by(one).get(name)) for one in own)
        )
    ]
    if left:
        set_here = {name: values[name] for name in left if name in values}
        before = {**(change.before or change.after), **set_here}
        yield replace(change, what=What.CHANGED, names=left, before=before)
