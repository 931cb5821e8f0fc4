"""A filter that removes changes by this machine from the differences between two lists.

The functions take differences and operations. They do no input or output.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lockterm.domain.elsewhere import ChangeElsewhere, ChangeKind
from lockterm.domain.operation import WITHOUT_EFFECT, Operation
from lockterm.operations.proof import is_later
from lockterm.operations.readback import same, set_by


def without_own(
    found: Iterable[ChangeElsewhere],
    operations: Iterable[Operation],
    now_ms: int,
    offset_ms: float | None,
) -> Iterator[ChangeElsewhere]:
    """Yield the differences that the journal of this machine does not explain.

    A difference in a field that lockterm set counts only if the service reports a later update.
    Otherwise the service may have stored the value in another form, or the list may be older than
    the change. Unconfirmed operations are treated like recorded ones.

    Args:
        found: The differences between two lists of a lock.
        operations: The operations that lockterm sent to the lock since the earlier list.
        now_ms: The present time by this machine's clock, in milliseconds.
        offset_ms: Milliseconds by which the service's clock is ahead; None if unknown.
    """
    sent = [one for one in operations if one.state not in WITHOUT_EFFECT]
    for change in found:
        own = [one for one in sent if _is_about(one, change)]
        if not own:
            yield change
        elif change.what is not ChangeKind.GONE:
            if not any(one.call in ("delete", "clear") for one in own):
                yield from _beyond(change, own, now_ms, offset_ms)
        elif not any(one.call in ("add", "delete", "clear") for one in own):
            yield change  # lockterm has only changed the remote that is gone


def _is_about(operation: Operation, change: ChangeElsewhere) -> bool:
    if operation.call == "clear":
        return change.what is not ChangeKind.CHANGED
    if operation.remote_id is not None or operation.call != "add":
        return operation.remote_id == change.remote_id and operation.call in _CALLS
    return change.what is ChangeKind.NEW and all(
        change.after.get(name) == operation.body.get(name) for name in _ALIKE
    )


_CALLS = frozenset({"add", "update", "delete"})
_ALIKE = ("remoteName", "remoteNumber")
"""The fields that identify the remote of an add that got no answer."""


def _beyond(
    change: ChangeElsewhere, own: Sequence[Operation], now_ms: int, offset_ms: float | None
) -> Iterator[ChangeElsewhere]:
    """Yield the part of a difference that lockterm's own operations do not explain."""
    values = {name: value for one in own for name, value in set_by(one).items()}
    names = [*change.names] if change.what is ChangeKind.CHANGED else [*values]
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
        yield replace(change, what=ChangeKind.CHANGED, names=left, before=before)
