"""Changes that others made to remotes, which lockterm finds by comparing two lists of a lock.

The texts about these changes are safe to show.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum
from typing import Any

from lockterm.domain import dates
from lockterm.domain.remotes import FIELDS, RECOGNIZED, Remote
from lockterm.domain.rules import is_same
from lockterm.domain.text.remote import find_differences, format_value

MOST_DIFFERING = 10_000
"""Maximum number of differing records in two lists of a lock. If more records differ, lockterm
assumes that the service now formats its records differently, and reports no changes."""

LONGEST = 1000
"""Maximum length of a value that a change stores, in characters of JSON."""

_COMPARED = tuple(field for field in RECOGNIZED if field.listed)
_NAMING = (
    *("remoteName", "remoteNumber", "remoteType", "startDate", "endDate", "weekDay"),
    *("createTime", "updateTime"),
)
"""The fields that each change stores to identify its remote."""


class ChangeKind(StrEnum):
    """The kind of a change that others made to a remote."""

    NEW = "new"
    """The later list has a remote that the earlier one lacks."""
    CHANGED = "changed"
    """Both lists have the remote, with different values."""
    GONE = "gone"
    """The later list lacks a remote that the earlier one has."""


@dataclass(frozen=True, slots=True)
class ChangeElsewhere:
    """A difference between two lists of a lock, which others have caused."""

    lock_id: int
    remote_id: int
    what: ChangeKind
    before: Mapping[str, Any]
    """The values of the identifying and the changed fields in the earlier list; empty for a new
    remote."""
    after: Mapping[str, Any]
    """The values of the identifying and the changed fields in the later list; empty if the remote
    is gone."""
    since_ms: int
    """When lockterm began to read the earlier list, by this machine's clock, in milliseconds."""
    until_ms: int
    """When lockterm finished reading the later list, in milliseconds."""
    names: Sequence[str] = ()
    """The contract's names of the changed fields. Very long values are left out of ``before`` and
    ``after``."""
    is_seen: bool = False
    """Whether the user has looked at the change."""

    @property
    def key(self) -> str:
        """The ID of the change, which stays the same if a later list shows further differences."""
        return f"{self.lock_id} {self.remote_id} {self.since_ms}"

    @property
    def sign(self) -> str:
        """The letter for the kind of the change in tables: N for new, C for changed, G for gone."""
        return self.what.value[0].upper()

    @property
    def name(self) -> str:
        """The latest name of the remote as received, or "remote" with its ID if it has no name."""
        name = (self.after or self.before).get("remoteName")
        return name if isinstance(name, str) and name else f"remote {self.remote_id}"


Unseen = Mapping[tuple[int, int], ChangeElsewhere]
"""Maps pairs of lock ID and remote ID to the latest change that the user has not looked at."""


def read_differing(
    old: Sequence[bytes], new: Sequence[bytes]
) -> tuple[dict[int, Remote], dict[int, Remote]]:
    """Return the remotes whose records are in only one of two lists.

    The function parses only these records, so comparing equal lists takes almost no time.

    Args:
        old: The packed records of each block of the earlier list; see ``Block.records``.
        new: The packed records of each block of the later list.

    Returns:
        The remotes of the earlier list and those of the later list, by ID; two empty dicts if
        more than :data:`MOST_DIFFERING` records differ.
    """
    same = {*old} & {*new}
    one, other = ([block for block in blocks if block not in same] for blocks in (old, new))
    found = [list(_lines_beyond(*pair)) for pair in ((one, other), (other, one))]
    if max(map(len, found)) > MOST_DIFFERING:
        return {}, {}
    before, after = ([Remote.read(json.loads(line)) for line in lines] for lines in found)
    return by_id(before), by_id(after)


def by_id(remotes: Iterable[Remote]) -> dict[int, Remote]:
    """Return a mapping of IDs to remotes, without remotes that have no usable ID."""
    return {remote.id: remote for remote in remotes if remote.id is not None}


def _lines_beyond(blocks: Sequence[bytes], others: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the records in ``blocks`` that none of the blocks in ``others`` contains."""
    # Hashes take a fraction of the memory of the records.
    known = {hash(line) for block in others for line in zlib.decompress(block).split(b"\n")}
    for block in blocks:
        for line in zlib.decompress(block).split(b"\n"):
            if line and hash(line) not in known:
                yield line


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two lists that lockterm read from one lock."""

    lock_id: int
    since_ms: int
    """When lockterm began to read the earlier list, by this machine's clock, in milliseconds."""
    until_ms: int
    """When lockterm finished reading the later list, in milliseconds."""
    is_old_whole: bool
    """Whether the earlier list is complete, so that a remote missing from it did not exist then."""
    is_new_whole: bool
    """Whether the later list is complete, so that a remote missing from it does not exist."""

    def find_changes(
        self, old: Mapping[int, Remote], new: Mapping[int, Remote]
    ) -> Iterator[ChangeElsewhere]:
        """Yield the differences between the two lists.

        A record in the later list is skipped if it is certainly older than the record of the same
        remote in the earlier list.

        Args:
            old: The remotes of the earlier list, by ID.
            new: The remotes of the later list, by ID.
        """
        for remote_id, after in new.items():
            before = old.get(remote_id)
            if before is None:
                if self.is_old_whole:
                    yield self._change(remote_id, ChangeKind.NEW, None, after)
            elif not _is_older(after, before) and (names := differing_fields(before, after)):
                yield self._change(remote_id, ChangeKind.CHANGED, before, after, names)
        for remote_id, before in old.items():
            if self.is_new_whole and remote_id not in new:
                yield self._change(remote_id, ChangeKind.GONE, before, None)

    def _change(
        self,
        remote_id: int,
        what: ChangeKind,
        before: Remote | None,
        after: Remote | None,
        names: Sequence[str] = (),
    ) -> ChangeElsewhere:
        one, other = (_to_keep(remote, (*_NAMING, *names)) for remote in (before, after))
        return ChangeElsewhere(
            self.lock_id, remote_id, what, one, other, self.since_ms, self.until_ms, names
        )


def differing_fields(before: Remote, after: Remote) -> list[str]:
    """Return the contract's names of the fields whose values differ in two records of a remote.

    A field is ignored if one of the records lacks it, or if one of the values does not have the
    contract's type.
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


def _is_older(record: Remote, other: Remote) -> bool:
    """Return whether a record is certainly older than another record of the same remote.

    Services may send old data. If one of the records has no update time, the result is false.
    """
    times = record.update_time, other.update_time
    return times[0] is not None and times[1] is not None and times[0] < times[1]


def _to_keep(remote: Remote | None, names: Iterable[str]) -> dict[str, Any]:
    """Return the named fields of a remote, without very long values; empty for no remote."""
    raw = {} if remote is None else remote.raw
    kept = {name: raw[name] for name in names if name in raw}
    return {name: value for name, value in kept.items() if len(json.dumps(value)) <= LONGEST}


# --- texts ---------------------------------------------------------------------------------------


ELSEWHERE = "Changed elsewhere"
"""The label of changes that others made."""

NOT_KEPT = (
    "This profile keeps no lists on this machine, so lockterm cannot compare readings."
    " Set cache = true, or leave out --no-cache."
)
"""The message if lockterm cannot find changes by others, because the profile stores no lists."""


def describe_kind(change: ChangeElsewhere) -> str:
    """Return the kind of a change and its fields, such as ``new``, ``changed: end`` or ``gone``."""
    called = ", ".join(FIELDS[name].called for name in change.names if name in FIELDS)
    return f"{change.what.value}: {called}" if called else change.what.value


def describe_values(change: ChangeElsewhere, zone: tzinfo) -> str:
    """Return both values of each field, such as ``End: 6 Dec 2026 18:00 -> 21 Dec 2026 18:00``.

    If the remote is new or gone, return its number and its end.
    """
    if change.what is not ChangeKind.CHANGED:
        remote = Remote.read(change.after or change.before)
        fields = [FIELDS[name] for name in ("remoteNumber", "endDate")]
        values_set = [(one, one.of(remote)) for one in fields if one.of(remote)]
        return ", ".join(
            f"{one.label} {format_value(one, value, zone)}" for one, value in values_set
        )
    before, after = Remote.read(change.before), Remote.read(change.after)
    described = [name for name in change.names if name in change.before and name in change.after]
    differences = find_differences(before, after, zone, [FIELDS[name] for name in described])
    # The values of the other fields are too long to be stored.
    labels = [FIELDS[name].label for name in change.names if name not in described]
    return ", ".join([*map(str, differences), *labels])


def describe_between(change: ChangeElsewhere, zone: tzinfo, now_ms: int) -> str:
    """Return when others made a change, such as ``between 20 Nov 09:12 and 21 Nov 08:03``.

    Reading the earlier list began at the first time, and reading the later list ended at the second
    time.
    """
    times = (ms - ms % dates.MINUTE_MS for ms in (change.since_ms, change.until_ms))
    since, until = (dates.near_time(ms, zone, now_ms) for ms in times)
    return f"between {since} and {until}"


_HEADS = {
    ChangeKind.NEW: "Added elsewhere",
    ChangeKind.CHANGED: ELSEWHERE,
    ChangeKind.GONE: "Removed elsewhere",
}


def describe_change(
    change: ChangeElsewhere, zone: tzinfo, now_ms: int, *, with_head: bool = True
) -> str:
    """Return a text like ``Changed elsewhere: End: 6 Dec 2026 -> 21 Dec 2026 (between ...)``.

    Args:
        change: The change.
        zone: The time zone of the lock.
        now_ms: Now, in milliseconds.
        with_head: Whether to begin with ``Changed elsewhere``, which is not needed beside a label
            with these words.
    """
    between = f"({describe_between(change, zone, now_ms)})"
    text = f"{describe_values(change, zone)} {between}".strip()
    if with_head:
        return f"{_HEADS[change.what]}: {text}"
    return text if change.what is ChangeKind.CHANGED else f"{change.what.value}, {text}"
