"""The search for recorded changes after which the service shows other values than lockterm sent.

The functions take operations and remotes, and return sentences. They do no input or output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any

from lockterm.domain.operation import RECORDED, Operation
from lockterm.domain.remotes import FIELDS, RECOGNIZED, Remote, is_still
from lockterm.domain.text.remote import find_differences
from lockterm.operations.proof import Horizon, is_later
from lockterm.operations.readback import differing, record_before, same, set_by
from lockterm.operations.recorded import Recorded

KEPT = "The service kept"
"""The beginning of an operation's message if the service shows other values than lockterm sent."""

_COMPARED = [field.name for field in RECOGNIZED if field.listed]


def find_discrepancies(
    rows: Sequence[Operation], recorded: Recorded, remotes: Sequence[Remote], zone: tzinfo
) -> Iterator[tuple[Operation, str]]:
    """Yield the changes after which the service lists other values than lockterm sent.

    Args:
        rows: The latest operations on the lock, the oldest first.
        recorded: The recorded changes of the lock, with the time of the comparison.
        remotes: The remotes on a page, or in the complete list.
        zone: The time zone for times in the sentences.

    Yields:
        The last operation on each such remote, and a sentence about the different values.
    """
    last = find_last_changes(rows)
    for remote in remotes:
        if remote.id not in last:
            continue
        operation = last[remote.id]
        twins = [one for one in remotes if _is_twin(one, remote, last)]
        if operation.call == "add" and twins:
            yield operation, f"{KEPT} the remote twice: remotes {remote.id} and {twins[0].id}."
            continue
        names = find_differing_names(operation, remote, recorded)
        is_young = recorded.now_ms - (operation.settled_ms or 0) < Horizon().stale_s * 1000
        may_be_old = recorded.newest(remote) is not remote or (
            operation.call == "update"
            and not differing(remote.raw, record_before(operation), set_by(operation))
        )
        if names and not (may_be_old and is_young):
            yield operation, describe_discrepancy(operation, remote, names, zone)


def find_last_changes(rows: Sequence[Operation]) -> dict[int, Operation]:
    """Return a mapping of remote IDs to the last operation on each remote.

    If the last operation on a remote is not a recorded add or update, the remote is left out.

    Args:
        rows: The operations on a lock, the oldest first.
    """
    last: dict[int, Operation] = {}
    for row in rows:
        if row.remote_id is not None and row.state in RECORDED and row.call in ("add", "update"):
            last[row.remote_id] = row
        elif row.remote_id is not None:
            last.pop(row.remote_id, None)
    return last


def find_differing_names(operation: Operation, remote: Remote, recorded: Recorded) -> list[str]:
    """Return the names of fields in which a remote differs from the values that a change sent.

    The result is empty if someone else has changed the remote since then, or if its ID now belongs
    to another remote.
    """
    sent = _sent(operation)
    if operation.settled_ms is not None and recorded.offset_ms is not None:
        settled_ms = operation.settled_ms + recorded.offset_ms
        now_ms = recorded.now_ms + recorded.offset_ms
        if is_later(remote.update_time, settled_ms, now_ms):
            return []
    if operation.call == "update" and not is_still(record_before(operation), remote):
        return []
    return [
        name
        for name in _COMPARED
        if name in sent
        and name in remote.raw
        and (sent[name] or remote.raw[name])
        and not same(sent[name], remote.raw[name])
    ]


def describe_discrepancy(
    operation: Operation, remote: Remote, names: Sequence[str], zone: tzinfo
) -> str:
    """Return a sentence such as ``The service kept End 18:00 instead of 18:30.``.

    Args:
        operation: The recorded change.
        remote: The remote as the service shows it.
        names: The names of the differing fields.
        zone: The time zone in which times are shown.
    """
    sent = _sent(operation)
    wanted = Remote.read({**remote.raw, **{name: sent[name] for name in names}})
    differences = find_differences(remote, wanted, zone, [FIELDS[name] for name in names])
    texts = ", ".join(f"{one.label} {one.before} instead of {one.after}" for one in differences)
    return f"{KEPT} {texts}."


def _sent(operation: Operation) -> Mapping[str, Any]:
    return operation.body if operation.call == "add" else set_by(operation)


def _is_twin(one: Remote, other: Remote, last: Mapping[int, Operation]) -> bool:
    """Return whether one add may have created two remotes, because the service applied it twice.

    Args:
        one: The remote that may be the second one.
        other: The remote that the add is known to have created.
        last: Maps remote IDs to the last operation on each remote.
    """
    return (
        one.id != other.id
        and one.id not in last
        and bool(one.remote_number)
        and (one.remote_name, one.remote_number) == (other.remote_name, other.remote_number)
    )
