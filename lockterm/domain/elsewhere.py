"""Changes of remotes that others made, found by comparing two lists of a lock."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from lockterm.domain.remotes import FIELDS, RECOGNIZED, Remote
from lockterm.domain.rules import is_same

MOST_DIFFERING = 10_000
"""Maximum number of differing records for which two lists of a lock are compared. If more differ,
the service writes its records in another way."""

LONGEST = 1000
"""Maximum number of characters of a value that a change keeps, as JSON."""

_COMPARED = tuple(field for field in RECOGNIZED if field.listed)
_NAMING = (
    *("remoteName", "remoteNumber", "remoteType", "startDate", "endDate", "weekDay"),
    *("createTime", "updateTime"),
)
"""The fields that a change keeps to say which remote it is about."""


class What(StrEnum):
    """The kind of a change."""

    NEW = "new"
    """The later list has a remote that the earlier one lacks."""
    CHANGED = "changed"
    """Both lists have the remote, with different values."""
    GONE = "gone"
    """The later list lacks a remote that the earlier one has."""


@dataclass(frozen=True, slots=True)
class ChangeElsewhere:
    """A difference between two readings of a lock that this machine did not cause."""

    lock_id: int
    remote_id: int
    what: What
    before: Mapping[str, Any]
    """The naming fields and the changed fields in the earlier list; empty for a new remote."""
    after: Mapping[str, Any]
    """The same fields in the later list; empty for a remote that is gone."""
    since_ms: int
    """The start of the earlier reading by this machine's clock, in milliseconds."""
    until_ms: int
    """The end of the later reading, in milliseconds."""
    names: Sequence[str] = ()
    """The contract's names of the changed fields. A very long value is in neither record."""
    is_seen: bool = False
    """Whether the user has looked at the change."""

    @property
    def key(self) -> str:
        """The key of the change, which stays the same when the change grows."""
        return f"{self.lock_id} {self.remote_id} {self.since_ms}"

    @property
    def sign(self) -> str:
        """The sign before a row: a letter, because the icons of states follow it."""
        return self.what.value[0].upper()

    @property
    def name(self) -> str:
        """The latest name of the remote as received, or its ID if the list has no name."""
        name = (self.after or self.before).get("remoteName")
        return name if isinstance(name, str) and name else f"remote {self.remote_id}"


Unseen = Mapping[tuple[int, int], ChangeElsewhere]
"""Lock ID and remote ID -> the latest change by others that the user has not looked at."""


def read_differing(
    old: Sequence[bytes], new: Sequence[bytes]
) -> tuple[dict[int, Remote], dict[int, Remote]]:
    """Return the remotes of each list whose records are not in the other list, by ID.

    Only these records are parsed, so that equal lists cost almost nothing.

    Args:
        old: The packed records of the earlier list; see ``Block.records``.
        new: The packed records of the later list.

    Returns:
        Two empty dicts if more than :data:`MOST_DIFFERING` records differ.
    """
    same = {*old} & {*new}
    one, other = ([block for block in blocks if block not in same] for blocks in (old, new))
    found = [list(_lines_beyond(*pair)) for pair in ((one, other), (other, one))]
    if max(map(len, found)) > MOST_DIFFERING:
        return {}, {}
    before, after = ([Remote.read(json.loads(line)) for line in lines] for lines in found)
    return by_id(before), by_id(after)


def by_id(remotes: Iterable[Remote]) -> dict[int, Remote]:
    """Return the remotes that have a usable ID, by ID."""
    return {remote.id: remote for remote in remotes if remote.id is not None}


def _lines_beyond(blocks: Sequence[bytes], others: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the records that no block of the other list has."""
    # Hashes take a fraction of the memory of the records.
    known = {hash(line) for block in others for line in zlib.decompress(block).split(b"\n")}
    for block in blocks:
        for line in zlib.decompress(block).split(b"\n"):
            if line and hash(line) not in known:
                yield line


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two readings of one lock."""

    lock_id: int
    since_ms: int
    """See :attr:`ChangeElsewhere.since_ms`."""
    until_ms: int
    """See :attr:`ChangeElsewhere.until_ms`."""
    is_old_whole: bool
    """Whether a remote that the earlier reading lacks did not exist then."""
    is_new_whole: bool
    """Whether a remote that the later reading lacks does not exist."""

    def find_changes(
        self, old: Mapping[int, Remote], new: Mapping[int, Remote]
    ) -> Iterator[ChangeElsewhere]:
        """Yield the differences between two readings, by remote ID.

        Args:
            old: The remotes of the earlier reading.
            new: The remotes of the later reading.
        """
        for remote_id, after in new.items():
            before = old.get(remote_id)
            if before is None:
                if self.is_old_whole:
                    yield self._change(remote_id, What.NEW, None, after)
            elif not _is_older(after, before) and (names := differing_fields(before, after)):
                yield self._change(remote_id, What.CHANGED, before, after, names)
        for remote_id, before in old.items():
            if self.is_new_whole and remote_id not in new:
                yield self._change(remote_id, What.GONE, before, None)

    def _change(
        self,
        remote_id: int,
        what: What,
        before: Remote | None,
        after: Remote | None,
        names: Sequence[str] = (),
    ) -> ChangeElsewhere:
        one, other = (_to_keep(remote, (*_NAMING, *names)) for remote in (before, after))
        return ChangeElsewhere(
            self.lock_id, remote_id, what, one, other, self.since_ms, self.until_ms, names
        )


def differing_fields(before: Remote, after: Remote) -> list[str]:
    """Return the fields that others can have changed; unclear fields do not count.

    A field is unclear if a record lacks it, or if its value is not of the contract's type.
    """
    return [
        field.name
        for field in _COMPARED
        if field.name in before.raw
        and field.name in after.raw
        and field.name not in before.odd
        and field.name not in after.odd
        and not is_same(field, field.of(before), field.of(after))
    ]


def fields_of(change: ChangeElsewhere) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, old value and new value of the changed fields whose values are kept."""
    for name in change.names:
        if name in change.before and name in change.after:
            before, after = (Remote.read(one) for one in (change.before, change.after))
            yield name, FIELDS[name].of(before), FIELDS[name].of(after)


def _is_older(record: Remote, other: Remote) -> bool:
    """Return whether a record is certainly older: the service may answer from an old copy."""
    times = record.update_time, other.update_time
    return times[0] is not None and times[1] is not None and times[0] < times[1]


def _to_keep(remote: Remote | None, names: Iterable[str]) -> dict[str, Any]:
    """Return some fields of a record without very long values; empty without a record."""
    raw = {} if remote is None else remote.raw
    kept = {name: raw[name] for name in names if name in raw}
    return {name: value for name, value in kept.items() if len(json.dumps(value)) <= LONGEST}
