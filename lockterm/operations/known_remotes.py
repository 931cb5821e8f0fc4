"""Some remotes of each lock, as the service last listed them, to detect incomplete lists."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockterm.domain.operation import Operation
    from lockterm.domain.remotes import Remote, RemotePage

MOST = 20
"""Maximum number of remotes that are remembered for one lock."""

MOST_LOCKS = 500
"""Maximum number of locks for which remotes are remembered. The oldest are dropped first."""

_NAMES = ("id", "remoteNumber", "createTime")


class KnownRemotes:
    """Shortened records of some remotes that the service listed for each lock in this session."""

    def __init__(self) -> None:
        self._locks: dict[int, dict[int, Mapping[str, Any]]] = {}
        self._whole: set[int] = set()
        """The IDs of the locks for which all remotes are remembered."""

    def note_page(self, lock_id: int, page: RemotePage) -> None:
        """Remember the remotes on a page, instead of the remotes remembered before."""
        is_whole = page.page_no == 1 and page.least == len(page.remotes)
        self.note(lock_id, page.remotes, is_whole=is_whole)

    def note(self, lock_id: int, remotes: Sequence[Remote], *, is_whole: bool) -> None:
        """Remember remotes of a lock, instead of the remotes remembered before.

        Args:
            lock_id: The lock.
            remotes: The remotes, as the service listed them.
            is_whole: Whether the lock has no other remotes.
        """
        self.restore(lock_id, [remote.raw for remote in remotes[:MOST]])
        if is_whole and len(self._locks[lock_id]) == len(remotes):
            self._whole.add(lock_id)

    def add(self, lock_id: int, record: Mapping[str, Any]) -> None:
        """Remember one more remote of a lock, if there are fewer than :data:`MOST`."""
        known = self._locks.setdefault(lock_id, {})
        if isinstance(record.get("id"), int) and len(known) < MOST:
            known[record["id"]] = _brief(record)
        while len(self._locks) > MOST_LOCKS:
            oldest = next(iter(self._locks))
            del self._locks[oldest]
            self._whole.discard(oldest)

    def restore(self, lock_id: int, records: Iterable[Mapping[str, Any]]) -> None:
        """Remember the remotes of some records, instead of the remotes remembered before.

        The records need not include all remotes of the lock.

        Args:
            lock_id: The lock.
            records: The records of remotes, for example those before an untrusted list.
        """
        self._locks.pop(lock_id, None)
        self._locks[lock_id] = {}  # the newest lock is last
        self._whole.discard(lock_id)
        for record in records:
            self.add(lock_id, record)

    def note_recorded(self, operation: Operation, remote_id: int | None) -> None:
        """Update the remembered remotes after a recorded change.

        Args:
            operation: The change.
            remote_id: The ID of the remote if the change added one.
        """
        known = self._locks.get(operation.lock_id)
        if known is None:
            return
        if operation.call == "clear":
            known.clear()
        elif operation.call == "delete":
            known.pop(operation.remote_id or 0, None)
        elif operation.call == "add":
            self._whole.discard(operation.lock_id)
            self.add(operation.lock_id, {**operation.body, "id": remote_id})

    def others(
        self, lock_id: int, ids: Collection[int | None]
    ) -> tuple[Mapping[str, Any], ...] | None:
        """Return the remembered remotes of a lock, except those with the given IDs.

        The result is empty if the lock has no other remotes. It is None if the lock may have other
        remotes, but none of them are remembered.
        """
        known = self._locks.get(lock_id, {})
        others = tuple(record for remote_id, record in known.items() if remote_id not in ids)
        return others if others or lock_id in self._whole else None


def _brief(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: record[name] for name in _NAMES if name in record}
