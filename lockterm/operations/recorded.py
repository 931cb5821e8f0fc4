"""The comparison of recorded changes with lists of the service, which may be outdated.

A recorded change is one that the service has recorded, according to the journal. The functions take
records and operations, and return differences. They do no input or output.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any

from lockterm.domain.operation import RECORDED, WITHOUT_EFFECT, Operation
from lockterm.domain.remotes import FIELDS, RECOGNIZED, Remote, RemotePage, is_still
from lockterm.domain.text.remote import find_differences
from lockterm.operations.list_state import ADDED, CHANGED, DELETED, Unlisted
from lockterm.operations.proof import Horizon, differing, is_later, record_before, same, set_by


@dataclass(frozen=True, slots=True)
class Recorded:
    """The changes of one lock that the service has recorded, according to the journal."""

    added: Mapping[int | None, Operation] = field(default_factory=dict)
    """Maps remote IDs to recorded adds, unless a later operation may have deleted the remote."""
    deleted: Mapping[int | None, tuple[Operation, Mapping[str, Any]]] = field(default_factory=dict)
    """Maps remote IDs to the recorded delete or clear, and to the record of the remote before this
    operation."""
    changed: Mapping[int | None, Sequence[Operation]] = field(default_factory=dict)
    """Maps remote IDs to the recorded updates of the remote, the oldest first. Updates before an
    unconfirmed one are left out."""
    young: frozenset[int] = frozenset()
    """The IDs of the added remotes, including those that were deleted later."""
    now_ms: int = 0
    """The present time by this machine's clock, in milliseconds."""
    offset_ms: float | None = None
    """Milliseconds by which the service's clock is ahead; None if unknown."""

    @classmethod
    def of(
        cls, operations: Iterable[Operation], now_ms: int, offset_ms: float | None = None
    ) -> Recorded:
        """Return the recorded changes among the operations on a lock.

        Args:
            operations: The operations on the lock, the oldest first. Unconfirmed ones count too,
                because they may have overwritten a recorded change.
            now_ms: The present time by this machine's clock, in milliseconds.
            offset_ms: Milliseconds by which the service's clock is ahead; None if unknown.
        """
        young: set[int] = set()
        added: dict[int | None, Operation] = {}
        deleted: dict[int | None, tuple[Operation, Mapping[str, Any]]] = {}
        changed: dict[int | None, list[Operation]] = {}
        for operation in operations:
            if operation.state in WITHOUT_EFFECT:
                continue
            is_recorded, remote_id = operation.state in RECORDED, operation.remote_id
            if operation.call == "add" and is_recorded and remote_id is not None:
                added[remote_id] = operation
                young.add(remote_id)
                deleted.pop(remote_id, None)
            elif operation.call == "update" and remote_id is not None:
                if is_recorded:
                    changed.setdefault(remote_id, []).append(operation)
                else:
                    changed.pop(remote_id, None)
            elif operation.call == "clear":
                added.clear()
                changed.clear()
                if is_recorded:
                    ids = ((record.get("id"), record) for record in operation.before)
                    deleted |= {one: (operation, it) for one, it in ids if isinstance(one, int)}
            elif operation.call == "delete" and remote_id is not None:
                added.pop(remote_id, None)
                changed.pop(remote_id, None)
                if is_recorded:
                    deleted[remote_id] = operation, record_before(operation)
        return cls(added, deleted, changed, frozenset(young), now_ms, offset_ms)

    def missing(self, ids: Collection[int | None]) -> list[Operation]:
        """Return the recorded adds whose remotes a complete list lacks.

        Args:
            ids: The IDs of the remotes in the list.
        """
        return [add for remote_id, add in self.added.items() if remote_id not in ids]

    def lingering(self, remotes: Iterable[Remote]) -> dict[int, Operation]:
        """Return the deletes and clears of remotes that a list still shows, by remote ID."""
        lingering = {}
        for remote in remotes:
            if remote.id is not None and remote.id in self.deleted:
                operation, before = self.deleted[remote.id]
                if before and is_still(before, remote):
                    lingering[remote.id] = operation
        return lingering

    def named(self, name: str) -> Operation | None:
        """Return the add of a remote whose present name is ``name``; None if there is none."""
        for add in self.added.values():
            if self._by_now(add).get("remoteName") == name:
                return add
        return None

    def unlisted(self, page: RemotePage, listed: Container[int]) -> Unlisted:
        """Return the recorded changes that a page of a list does not show yet.

        Added remotes are returned only if the page is the last one.

        Args:
            page: The page of the list.
            listed: The IDs of the remotes on all pages read so far.
        """
        changed = {
            remote.id: newest
            for remote in page.remotes
            if remote.id is not None and (newest := self.newest(remote)) is not remote
        }
        words = dict.fromkeys(changed, CHANGED)
        words |= dict.fromkeys(self.lingering(page.remotes), DELETED)
        added = []
        if page.page_no >= page.pages:  # new remotes are on the first or the last page
            missing = self.missing({remote.id for remote in page.remotes})
            added = [
                Remote.read(self._by_now(add)) for add in missing if add.remote_id not in listed
            ]
        words |= {remote.id: ADDED for remote in added if remote.id is not None}
        return Unlisted(tuple(added), changed, words)

    def _by_now(self, add: Operation) -> Mapping[str, Any]:
        """Return the record of an added remote, after applying its later recorded changes."""
        return {**add.body, **_set_by(self.changed.get(add.remote_id, ())), "id": add.remote_id}

    def brought_up(self, remotes: Sequence[Remote]) -> dict[int | None, Remote]:
        """Return the remotes of a complete list by ID, after applying all recorded changes.

        Args:
            remotes: The remotes in the complete list.
        """
        gone = self.lingering(remotes)
        listed = {one.id: self.newest(one) for one in remotes if one.id not in gone}
        missing = self.missing({remote.id for remote in remotes})
        return listed | {add.remote_id: Remote.read(self._by_now(add)) for add in missing}

    def contradiction(self, remotes: Sequence[Remote]) -> str:
        """Return sentences about a contradiction between a complete list and recorded changes.

        The result is empty if the list contradicts none of them.
        """
        ids = {remote.id for remote in remotes}
        if missing := self.missing(ids):
            name = f"remote {missing[0].remote_id}"
            return f"The list is old or incomplete. It lacks {name}, which you added."
        if lingering := self.lingering(remotes):
            name = f"remote {next(iter(lingering))}"
            return f"The list is old. It still contains {name}, which you deleted."
        return ""

    def newest(self, remote: Remote) -> Remote:
        """Return a remote from a list, with the recorded changes that the list does not show yet.

        The list does not show a change if all fields that the change and later changes set still
        have their old values. Any other value was set by others, or is the form in which the
        service stores a sent value.

        Returns:
            The remote; the same object if the list shows all changes.
        """
        changes = self.changed.get(remote.id, ())
        for index, change in enumerate(changes):
            sent, before = _set_by(changes[index:]), record_before(change)
            if (
                before
                and is_still(before, remote)
                and not differing(remote.raw, before, sent)
                and differing(remote.raw, sent, sent)
                and not self._was_changed_after(change, remote)
            ):
                return Remote.read({**remote.raw, **sent})
        return remote

    def _was_changed_after(self, change: Operation, remote: Remote) -> bool:
        """Return whether a record is certainly later than a change.

        If such a record shows the old values, others have reverted the change.
        """
        if self.offset_ms is None or change.settled_ms is None:
            return False
        now_ms, settled_ms = self.now_ms + self.offset_ms, change.settled_ms + self.offset_ms
        return is_later(remote.update_time, settled_ms, now_ms)


def is_known(
    remote: Remote, add: Operation, operations: Iterable[Operation], *, is_since: bool
) -> bool:
    """Return whether a remote is known from operations other than the given add.

    The ID alone proves nothing, because a service may reuse the ID of a deleted remote.

    Args:
        remote: A remote that may be the one that ``add`` created.
        add: The add operation.
        operations: The operations on the remote's ID and all clears of the lock, the oldest first.
        is_since: Whether the record of the remote is certainly from after the sending of ``add``.
            If so, earlier adds with this ID do not count. Their remote did not exist any more,
            because lockterm checked right before ``add`` that the name was free.
    """
    known, is_before = False, True
    record: Mapping[str, Any] = {}
    for operation in operations:
        if operation.id == add.id:
            is_before = False
        elif operation.call == "clear":
            for cleared in operation.before:
                if cleared.get("id") == remote.id and (is_before or known):
                    known, record = True, cleared
        elif operation.remote_id != remote.id:
            continue
        elif operation.call == "add":
            record = {"remoteNumber": operation.body.get("remoteNumber")}
            known = not (is_before and is_since)
        elif is_before or known:  # a later change does not show that the remote is older
            known, record = True, operation.before[0] if operation.before else record
    return known and is_still(record, remote)


def _set_by(changes: Iterable[Operation]) -> Mapping[str, Any]:
    """Return the fields that several updates set, with their last values."""
    return {name: value for change in changes for name, value in set_by(change).items()}


# --- other values than lockterm sent --------------------------------------------------------------

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
        The last operation on each such remote, and a sentence about the different values, or about
        a second remote from the same add.
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
