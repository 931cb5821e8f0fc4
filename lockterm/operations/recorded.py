"""What the journal knows the service has recorded, against what the service shows.

Records and rows of the journal in, differences out; nothing here reads or writes.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lockterm.domain.operation import RECORDED, WITHOUT_EFFECT, Operation
from lockterm.domain.remotes import Remote, RemotePage, is_still
from lockterm.operations.proof import is_later
from lockterm.operations.readback import differing, record_before, set_by

ADDED, CHANGED, DELETED = "just added", "just changed", "just deleted"
"""What stands at a remote that the list does not show yet, shows as it was, or still shows."""


@dataclass(frozen=True, slots=True)
class Unlisted:
    """What was recorded lately, and the list does not show yet."""

    added: tuple[Remote, ...] = ()
    """Remotes as they were sent; the list is without them."""
    changed: Mapping[int, Remote] = field(default_factory=dict)
    """Id -> the remote as it was changed; the list has it as it was before."""
    words: Mapping[int, str] = field(default_factory=dict)
    """Id -> :data:`ADDED`, :data:`CHANGED`, or :data:`DELETED` where the list still has it."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What of one lock the journal knows to be so."""

    added: Mapping[int | None, Operation] = field(default_factory=dict)
    """Id -> the add that was recorded, where nothing sent since can have taken it away."""
    deleted: Mapping[int | None, tuple[Operation, Mapping[str, Any]]] = field(default_factory=dict)
    """Id -> the delete or clear that was recorded, and the remote as it was."""
    changed: Mapping[int | None, Sequence[Operation]] = field(default_factory=dict)
    """Id -> its last changes, the oldest first, as far back as each of them was recorded."""
    young: frozenset[int] = frozenset()
    """The ids of what was added, whatever was sent since."""
    now_ms: int = 0
    """The time by this machine's clock."""
    offset_ms: float | None = None
    """How far the service's clock is ahead of it; None: that is not known."""

    @classmethod
    def of(
        cls, operations: Iterable[Operation], now_ms: int, offset_ms: float | None = None
    ) -> Recorded:
        """Read it from a lock's operations, the oldest first.

        Those without an outcome belong to them: they may have taken effect.
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
        """The adds whose remotes a whole list, of these ids, is without."""
        return [add for remote_id, add in self.added.items() if remote_id not in ids]

    def lingering(self, remotes: Iterable[Remote]) -> dict[int, Operation]:
        """The remotes of a list that were deleted from here, and by what."""
        found = {}
        for remote in remotes:
            if remote.id is not None and remote.id in self.deleted:
                operation, before = self.deleted[remote.id]
                if before and is_still(before, remote):
                    found[remote.id] = operation
        return found

    def named(self, name: str) -> Operation | None:
        """The add of a remote that has this name by now, if there is one."""
        for add in self.added.values():
            if self._by_now(add).get("remoteName") == name:
                return add
        return None

    def unlisted(self, page: RemotePage, listed: Container[int]) -> Unlisted:
        """What a page of the list does not show yet.

        Args:
            page: One page.
            listed: The ids of all pages seen so far.
        """
        changed = {
            remote.id: newest
            for remote in page.remotes
            if remote.id is not None and (newest := self.newest(remote)) is not remote
        }
        words = dict.fromkeys(changed, CHANGED)
        words |= dict.fromkeys(self.lingering(page.remotes), DELETED)
        added = []
        if page.page_no >= page.pages:  # what is new is at an end: the first page came before
            missing = self.missing({remote.id for remote in page.remotes})
            added = [
                Remote.read(self._by_now(add)) for add in missing if add.remote_id not in listed
            ]
        words |= {remote.id: ADDED for remote in added if remote.id is not None}
        return Unlisted(tuple(added), changed, words)

    def _by_now(self, add: Operation) -> Mapping[str, Any]:
        """A remote that was added from here: as it was sent, and as it was changed since."""
        return {**add.body, **_set_by(self.changed.get(add.remote_id, ())), "id": add.remote_id}

    def brought_up(self, remotes: Sequence[Remote]) -> dict[int | None, Remote]:
        """A whole list by id, as the journal knows it where the list is behind."""
        gone = self.lingering(remotes)
        found = {one.id: self.newest(one) for one in remotes if one.id not in gone}
        missing = self.missing({remote.id for remote in remotes})
        return found | {add.remote_id: Remote.read(self._by_now(add)) for add in missing}

    def contradiction(self, remotes: Sequence[Remote]) -> str:
        """What a whole list contradicts, as a sentence; empty: nothing."""
        ids = {remote.id for remote in remotes}
        if missing := self.missing(ids):
            names = f"remote {missing[0].remote_id}"
            return f"The list is old or not whole: it is without {names}, which was added here."
        if lingering := self.lingering(remotes):
            name = f"remote {next(iter(lingering))}"
            return f"The list is old: it still has {name}, which was deleted here."
        return ""

    def newest(self, remote: Remote) -> Remote:
        """A remote as the journal knows it, where what is shown is from before a recorded change.

        That is so where all that this change and those after it have set is as it was before it.
        What is neither that nor what was sent is somebody else's, or is how the service spells it.

        Returns:
            The same object where nothing is known that it does not show.
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
        """Whether what is shown is certainly later than a change: somebody has taken it back."""
        if self.offset_ms is None or change.settled_ms is None:
            return False
        now_ms, settled_ms = self.now_ms + self.offset_ms, change.settled_ms + self.offset_ms
        return is_later(remote.update_time, settled_ms, now_ms)


def is_known(
    remote: Remote, add: Operation, operations: Iterable[Operation], *, is_since: bool
) -> bool:
    """Whether a remote is one that the journal knows from something else than an add.

    An id alone says nothing: a service may give the id of a deleted remote to a new one.

    Args:
        remote: It looks like what was added.
        add: The add.
        operations: What the journal has of that id and of clears of the lock, the oldest first.
        is_since: Whether it is certainly shown as it was after the add was sent: its name was
            free just before, so that it is none that was there then.
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
        elif is_before or known:  # else somebody used what they took for the new one
            known, record = True, operation.before[0] if operation.before else record
    return known and is_still(record, remote)


def _set_by(changes: Iterable[Operation]) -> Mapping[str, Any]:
    """What several changes in turn have set."""
    return {name: value for change in changes for name, value in set_by(change).items()}
