"""The complete lists that this machine stores, and changes by others between two lists."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lockterm.domain.changes_elsewhere import (
    ChangeElsewhere,
    ChangeKind,
    Comparison,
    Unseen,
    by_id,
    read_differing,
)
from lockterm.domain.listing import NEVER, Block, Ends, Listing
from lockterm.domain.operation import WITHOUT_EFFECT, Operation
from lockterm.errors import StoreError
from lockterm.operations.journal_store import RECENT_S
from lockterm.operations.proof import is_later, same, set_by

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote
    from lockterm.operations.cached_reads import CachedReads
    from lockterm.operations.journal_store import JournalStore
    from lockterm.store.cache import Cache, KeptRecords

_BLOCKS = 50
"""Number of blocks of a long list to count before each pause, in which key presses are handled."""


class KeptLists:
    """The stored lists of locks, and the changes by others that lockterm finds by comparing them.

    A change by others is a difference between a new list and the stored list that the journal of
    this machine does not explain. The first list of a lock shows no changes. Only a complete list
    shows that a remote is gone. Two lists that were read at overlapping times are not compared.

    Args:
        reads: The reader of the service, with its cache.
        journal: The journal.
    """

    def __init__(self, reads: CachedReads, journal: JournalStore) -> None:
        self._reads = reads
        self._journal = journal

    @property
    def is_kept(self) -> bool:
        """Whether this machine stores lists, so that changes by others can be found."""
        return self._reads.has_cache

    # --- reading ---------------------------------------------------------------------------

    async def all(self) -> Mapping[int, Listing]:
        """Return the last stored list of each lock, by lock ID."""
        return await self._reads.read_cache(lambda cache: cache.lists()) or {}

    async def find(self, lock_id: int) -> Listing | None:
        """Return the last stored list of a lock, which may be outdated; None if there is none."""
        lists = await self._reads.read_cache(lambda cache: cache.lists(lock_id)) or {}
        return lists.get(lock_id)

    async def remotes(self, lock_id: int) -> list[Remote]:
        """Return the remotes in the last stored list, which may be outdated; empty if none."""
        listing = await self.find(lock_id)
        return [] if listing is None else await asyncio.to_thread(list, listing.remotes())

    async def ids_before(self, lock_id: int, at_ms: int) -> set[int | None] | None:
        """Return the IDs of the remotes that a lock had before a time, from the last stored list.

        Args:
            lock_id: The lock.
            at_ms: The time by this machine's clock, in milliseconds.

        Returns:
            The IDs; None if there is no stored list, or if the list was read after that time.
        """
        listing = await self.find(lock_id)
        if listing is None or listing.at_ms >= at_ms:
            return None
        return {remote_id for block in listing.blocks for remote_id in block.ids}

    async def ends(self, lock_id: int) -> Ends | None:
        """Return the numbers of remotes by state in the last stored list of a lock.

        Returns:
            The numbers; None if no list is stored, or if the list cannot be read completely.
        """
        ends: Ends | None = None
        now_ms, blocks = self._reads.connection.now_ms(), 0

        def count(cache: Cache) -> tuple[Ends | None, int]:
            return cache.count_ends(lock_id, ends, blocks, _BLOCKS, now_ms)

        while (counted := await self._reads.read_cache(count)) is not None:
            ends, read = counted
            blocks = 0 if ends is None else blocks + read
            if read < _BLOCKS:
                break
        return ends

    async def is_behind(self, lock_id: int) -> bool:
        """Return whether a lock's stored list is missing, or older than lockterm's last change."""
        return await self._reads.read_cache(lambda cache: cache.is_behind(lock_id)) is not False

    # --- storing and comparing -------------------------------------------------------------

    async def keep(self, lock_id: int, listing: Listing) -> None:
        """Store a complete list, and the changes by others since the previous stored list."""
        ended_ms = self._reads.connection.clock.now_ms()
        is_whole = not listing.unreadable and not any(NEVER in one.ids for one in listing.blocks)

        def compare(cache: Cache) -> tuple[KeptRecords | None, list[ChangeElsewhere]]:
            base = cache.records(lock_id)
            if base is None or listing.at_ms < base.ended_ms:
                return base, []
            old, new = read_differing(base.blocks, [block.records for block in listing.blocks])
            readings = Comparison(lock_id, base.at_ms, ended_ms, base.is_whole, is_whole)
            return base, [*readings.find_changes(old, new)]

        base, found = await self._reads.read_cache(compare) or (None, [])
        found = await self._leave_out_own(lock_id, found)
        await self._reads.write_cache(
            lambda cache: cache.put_list(lock_id, listing, ended_ms, base, found)
        )

    async def compare_page(self, lock_id: int, remotes: Iterable[Remote], read_ms: int) -> None:
        """Store the changes by others that a page shows. A page cannot show that a remote is gone.

        Args:
            lock_id: The ID of the lock.
            remotes: The remotes on the page.
            read_ms: When the answer arrived, by this machine's clock, in milliseconds.
        """
        new = by_id(remotes)

        def compare(cache: Cache) -> list[ChangeElsewhere]:
            base = cache.records(lock_id, new)
            if base is None or read_ms < base.ended_ms:
                return []
            old, shown = read_differing(base.blocks, [Block.of([*new.values()]).records])
            readings = Comparison(lock_id, base.at_ms, read_ms, base.is_whole, is_new_whole=False)
            return [*readings.find_changes(old, shown)]

        found = await self._reads.read_cache(compare) or []
        if left := await self._leave_out_own(lock_id, found):
            await self._reads.write_cache(lambda cache: cache.put_changes(left))

    async def changes(
        self, lock_id: int | None = None, since_ms: int = 0, most: int = -1
    ) -> Sequence[ChangeElsewhere]:
        """Return the stored changes by others, the newest first.

        Args:
            lock_id: The lock; None for all locks.
            since_ms: The earliest time at which a change was found, in milliseconds.
            most: Maximum number of changes; -1 for all.
        """
        found = await self._reads.read_cache(
            lambda cache: cache.changes(lock_id, since_ms, most=most)
        )
        return found or []

    async def unseen(self, lock_id: int | None = None) -> Unseen:
        """Return the newest change of each remote among those that the user has not looked at.

        Args:
            lock_id: The lock; None for all locks.

        Returns:
            A mapping of (lock ID, remote ID) to the change by others.
        """
        found = await self._reads.read_cache(lambda cache: cache.changes(lock_id, unseen=True))
        return {(one.lock_id, one.remote_id): one for one in reversed(found or ())}

    async def note_seen(self, until_ms: int) -> None:
        """Store that the user has looked at the changes found until a time in milliseconds."""
        await self._reads.write_cache(lambda cache: cache.note_seen(until_ms))

    async def _leave_out_own(
        self, lock_id: int, found: Sequence[ChangeElsewhere]
    ) -> list[ChangeElsewhere]:
        """Return the changes that the journal does not explain.

        The result is empty if the journal cannot be read.
        """
        if not found:
            return []
        connection = self._reads.connection
        now_ms, offset_s = connection.clock.now_ms(), connection.clock_offset_s
        within_s = RECENT_S + (now_ms - found[0].since_ms) // 1000 + 1
        try:
            operations = await self._journal.lately(lock_id, within_s)
        except StoreError:
            return []
        offset_ms = None if offset_s is None else offset_s * 1000
        return [*without_own(found, operations, now_ms, offset_ms)]


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
