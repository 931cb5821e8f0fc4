"""The rules that decide the result of a write without an answer, from later readings.

A cloud service answers from replicas and caches. This module assumes only the following:

* An answer shows the lock as it was at one moment, at most ``stale_s`` before the reading began.
  Each answer, and each page of a list, may come from another copy.
* For a time shorter than ``apart_s``, a list may be empty or incomplete, and the service may refuse
  a detail. Such a failure does not happen twice within ``stale_s``.
* The service may apply a request at any time after it was sent, even long after its connection
  broke.
* Other people change the lock too, and the service may reuse the ID of a deleted remote.

The table shows what proves the result of each call that lockterm can verify (contract 4):

====== ================================================== ==========================================
call   recorded, verified by reading                      not seen (it may still take effect)
====== ================================================== ==========================================
add    at once, if exactly one remote is new and equal    two readings of the horizon, ``apart_s``
       in every field that was sent; the user decides     apart, without a remote like the added one
       if two remotes are equal, or if one differs
update the detail has every field as sent, and its        the detail of the horizon shows the remote
       ``updateTime`` is later than the sending by the    as it was before
       service's own clock, or the reading is of the
       horizon
delete two readings ``apart_s`` apart: the list lacks     the list or the detail of the horizon
       the remote, and the service refuses its detail;    still has the remote
       both readings are of the horizon, or the remote
       was older than ``OLD_S``
clear  two readings ``apart_s`` apart without any of the  the list of the horizon still has all of
       remotes; as for delete                             the remotes (some of them: a conflict)
====== ================================================== ==========================================

A reading is *of the horizon* if it began at least ``stale_s`` after the sending ended without an
answer. Such a reading cannot be from before the sending. The time is measured on the monotonic
clock of the session that sent the request. It counts from the end of the sending, because earlier
attempts may not have left this machine. Another session counts from the moment when it first read
the operation, because wall clocks can be set.

A single reading that lacks a remote proves nothing. A result is proven by the values that a reading
shows, or by two readings ``apart_s`` apart that agree, with no differing reading between them. A
reading that contradicts later changes that the service has recorded proves nothing either. Until
there is a proof, the result stays unconfirmed.

A list that lacks a remote proves nothing if the credentials differ from those of the sending, or if
the list shows none of the lock's other known remotes. The lists of another account, or of a token
with fewer permissions, may be empty too. A remote that is shown is still a proof.

A remote is *new* if no earlier operation knows it and its ``createTime`` is after the start of the
sending, by the service's own clock. If the ``createTime`` proves nothing, or the reading is of the
horizon, a remote is also new if the last complete list from before the sending lacks its ID.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lockterm.domain.json_text import canonical
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.reading import Kind
from lockterm.domain.remotes import ADDED, FIELDS, Remote, is_still
from lockterm.domain.text.amount import describe_none

_WHEN: Mapping[Kind, Any] = {Kind.DATE: 0, Kind.WEEKDAYS: []}
_NOTHING = {field.name: _WHEN[field.kind] for field in FIELDS.values() if field.kind in _WHEN}
"""Maps the names of date and weekday fields to their empty values.

The service returns these values for fields that were not sent (contract 2.3).
"""

_SENT = {field.name: field for field in ADDED}
"""Maps the contract's names to the fields that an add can send."""

_IDENTIFYING = ("remoteName", "remoteNumber")
"""The fields that identify an added remote."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one reading of a lock's remotes shows about the result of an operation."""

    state: OperationState
    words: str
    """A sentence about the remotes that the reading showed."""
    candidates: tuple[int, ...] = ()
    """The IDs of remotes that may be the added remote, or that an unconfirmed clear did not
    delete."""
    remote_id: int | None = None
    """The ID of the remote that a recorded add created."""
    by_absence: bool = False
    """Whether the verdict depends on the absence of a remote from the reading."""


def same(left: Any, right: Any) -> bool:
    """Return whether two field values have the same meaning; weekdays may be in any order."""
    if isinstance(left, list) and isinstance(right, list):
        return sorted(map(canonical, left)) == sorted(map(canonical, right))
    return canonical(left) == canonical(right)  # because 1, 1.0 and True are equal in Python


def differing(left: Mapping[str, Any], right: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Return the names of the given fields whose values differ in two records of a remote.

    Missing dates and weekdays equal their empty values, because a service may omit them.
    """

    def value(record: Mapping[str, Any], name: str) -> Any:
        received = record.get(name)
        return _NOTHING.get(name) if received is None else received

    return [name for name in names if not same(value(left, name), value(right, name))]


def like_added(
    operation: Operation, remotes: Iterable[Remote], not_new: Container[int | None] = ()
) -> list[Remote]:
    """Return the remotes that have the name and the number that an add sent.

    Args:
        operation: The add.
        remotes: The remotes in the complete list of the lock.
        not_new: IDs of remotes that are known from earlier operations. They are not returned.
    """
    return [
        remote
        for remote in remotes
        if remote.id is not None
        and remote.id not in not_new
        and not differing(remote.raw, operation.body, _IDENTIFYING)
    ]


def differing_from_added(operation: Operation, remote: Remote) -> list[str]:
    """Return the names of fields in which a remote differs from the values that an add sent.

    A hidden field is compared only if the remote has it. A flag or an object whose sent value was
    empty may be missing in the remote.
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
    """Return the verdict on an add, from the complete list of the lock.

    Args:
        operation: The add.
        remotes: The remotes in the list.
        not_new: IDs of remotes that are known from earlier operations.
        are_new: Maps remote IDs to whether the remote appeared after the add was sent, or to None
            if this is unknown. Without this mapping, it is unknown for all remotes.
    """
    are_new = are_new or {}
    alike = like_added(operation, remotes, not_new)
    equal = [remote for remote in alike if not differing_from_added(operation, remote)]
    found = equal or [remote for remote in alike if are_new.get(remote.id) is not False]
    if not found:
        words = "The lock has no such remote. The add may still take effect."
        return Verdict(OperationState.NOT_SEEN, words, by_absence=True)
    ids = tuple(remote.id for remote in found if remote.id is not None)
    if len(ids) > 1:
        return Verdict(
            OperationState.AMBIGUOUS, f"{len(ids)} remotes look like the added remote.", ids
        )
    if not equal:
        names = ", ".join(differing_from_added(operation, found[0]))
        words = (
            f"Remote {ids[0]} is probably the added remote, but differs from the request: {names}."
        )
        return Verdict(OperationState.AMBIGUOUS, words, ids)
    if not are_new.get(ids[0]):
        return Verdict(
            OperationState.AMBIGUOUS, f"Remote {ids[0]} is probably the added remote.", ids
        )
    words = f"The service shows the added remote as remote {ids[0]}."
    return Verdict(OperationState.CONFIRMED_BY_READING, words, remote_id=ids[0])


def judge_update(operation: Operation, now: Remote) -> Verdict:
    """Return the verdict on an update, from the details of its remote."""
    sent, before = set_by(operation), record_before(operation)
    if not is_still(before, now):
        return Verdict(OperationState.CONFLICT, given_away(operation))
    others = differing(now.raw, sent, sent)
    if not others:
        return Verdict(OperationState.CONFIRMED_BY_READING, "The service shows the change.")
    if not differing(now.raw, before, sent):
        return Verdict(
            OperationState.NOT_SEEN, "The remote is unchanged. The change may still take effect."
        )
    names = ", ".join(others)
    return Verdict(
        OperationState.CONFLICT, f"The remote has neither its old nor its intended values: {names}."
    )


def judge_gone() -> Verdict:
    """Return the verdict on an update if neither details nor list show its remote."""
    words = "The remote no longer exists, so nothing shows whether the change took effect."
    return Verdict(OperationState.CONFLICT, words, by_absence=True)


def judge_delete(
    operation: Operation, remotes: Sequence[Remote], detail: Remote | None = None
) -> Verdict:
    """Return the verdict on a delete, from the complete list and the details of the remote.

    Args:
        operation: The delete.
        remotes: The remotes in the list.
        detail: The details of the remote, which are used only if the list lacks the remote; None if
            the service refused them.
    """
    before = record_before(operation)
    found = [remote for remote in remotes if remote.id == operation.remote_id]
    if any(is_still(before, remote) for remote in found):
        return Verdict(
            OperationState.NOT_SEEN, "The remote is still there. The delete may still take effect."
        )
    if found:
        return Verdict(OperationState.CONFLICT, given_away(operation))
    if detail is not None and is_still(before, detail):
        words = "The list no longer shows the remote, but its details can still be read."
        return Verdict(OperationState.NOT_SEEN, f"{words} The delete may still take effect.")
    return _unless_nameless(remotes, "The remote is no longer on the lock.")


def judge_clear(operation: Operation, remotes: Sequence[Remote]) -> Verdict:
    """Return the verdict on a clear, from the complete list of the lock.

    The candidates of the verdict are the remotes that existed before the clear and still exist.
    """
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
        return Verdict(OperationState.NOT_SEEN, words, remaining)
    words = f"{len(remaining)} of {len(cleared)} remotes still exist.{newcomers}"
    return Verdict(OperationState.CONFLICT, words, remaining)


def set_by(update: Operation) -> Mapping[str, Any]:
    """Return the fields that an update sets, by the contract's names, with their values."""
    return {name: update.body[name] for name in update.body if name not in ("lockId", "remoteId")}


def record_before(operation: Operation) -> Mapping[str, Any]:
    """Return the record of an operation's remote before the operation; empty if unknown."""
    return operation.before[0] if operation.before else {}


def given_away(operation: Operation) -> str:
    """Return the sentence for an operation whose remote ID now belongs to another remote."""
    return f"The service gave the remote's ID {operation.remote_id} to another remote."


def shows_others(
    others: Iterable[Mapping[str, Any]] | None,
    remotes: Iterable[Remote],
    deleted: Container[int | None],
) -> bool:
    """Return whether a complete list can be trusted, because it shows another known remote.

    The list can also be trusted if the lock is known to have no other remotes.

    Args:
        others: Records of other remotes before the change; see ``Operation.others``. None if
            unknown; then any remote in the list counts.
        remotes: The remotes in the complete list.
        deleted: IDs of remotes that lockterm has deleted after the change was sent.
    """
    shown = {remote.id: remote for remote in remotes if remote.id is not None}
    if others is None:
        return bool(shown)
    expected = [record for record in others if record.get("id") not in deleted]
    return not expected or any(_is_shown(record, shown) for record in expected)


def _is_shown(record: Mapping[str, Any], shown: Mapping[int, Remote]) -> bool:
    """Return whether a list contains a remote. Another remote with the same ID does not count.

    Args:
        record: The record of the remote.
        shown: The remotes in the list, by ID.
    """
    remote = shown.get(record.get("id", 0))
    return remote is not None and is_still(record, remote)


def _unless_nameless(remotes: Sequence[Remote], words: str) -> Verdict:
    """Return the verdict that a remote is gone, with ``words`` as its sentence.

    The state is ``UNKNOWN`` if the list has an entry without an ID, which may be this remote.
    """
    if nameless := sum(remote.id is None for remote in remotes):
        some = "one entry that has" if nameless == 1 else f"{nameless} entries that have"
        doubt = (
            f"The list has {some} no usable ID, so it is unclear whether the remote was deleted."
        )
        return Verdict(OperationState.UNKNOWN, doubt)
    return Verdict(OperationState.CONFIRMED_BY_READING, words, by_absence=True)


# --- proof by several readings --------------------------------------------------------------------

CLOCK_MARGIN_S = 5.0
"""Number of seconds by which the clocks of a service's machines may differ. It includes the
rounding of the ``Date`` header."""

OLD_S = 86_400.0
"""Age of a remote, in seconds, from which every copy of the data contains it. This is true even if
the creation time of the remote was written in a wrong time zone."""

_EARLIEST_MS = 1_262_304_000_000
"""The start of 2010, in milliseconds since the epoch. A smaller value cannot be a time in
milliseconds, so it is not used to compute an age."""


@dataclass(frozen=True, slots=True)
class Horizon:
    """Assumptions about the age of a service's answers, and the times of verification readings."""

    stale_s: float = 60.0
    """Maximum age of the state that an answer shows, in seconds before the request."""
    apart_s: float = 15.0
    """Maximum duration, in seconds, for which a list may wrongly be empty or lack a remote."""
    later_s: Sequence[float] = (60.0, 120.0, 240.0, 480.0)
    """Pauses before the last readings, in seconds. They are long because a request may take effect
    very late."""

    @property
    def proof_s(self) -> float:
        """Time after the sending, in seconds, within which readings usually prove the result."""
        return self.stale_s + self.apart_s * 2  # the second of two agreeing readings may be late

    @property
    def ages_s(self) -> Sequence[float]:
        """The times of automatic readings of an operation, in seconds after the sending."""
        ages = [0.0, self.apart_s / 3, self.apart_s * 4 / 3, self.stale_s]
        ages.append(self.stale_s + self.apart_s)
        for pause_s in self.later_s:
            ages.append(ages[-1] + pause_s)
        return ages


@dataclass(frozen=True, slots=True)
class Sighting:
    """One reading of the lock or the remote that an operation changes."""

    begun_s: float
    """When the reading began, in seconds on the monotonic clock."""
    claim: Verdict
    """The verdict from this reading alone, as if the reading could be trusted."""
    is_fresh: bool = False
    """Whether the data itself shows that the answer is from after the sending of the operation."""
    doubt: str = ""
    """A sentence about why the reading proves nothing; empty if there is no doubt."""


class Case:
    """The readings of one unconfirmed operation in this session, and the result they prove.

    Args:
        sent_s: When the sending ended, or when this session first knew of the operation, in seconds
            on the monotonic clock.
        horizon: The assumptions about the service.
        begun_s: When the sending began, on the same clock; None if another session sent the
            operation.
    """

    def __init__(self, sent_s: float, horizon: Horizon, begun_s: float | None = None) -> None:
        self.sent_s = sent_s
        self.begun_s = begun_s
        self._horizon = horizon
        self._last: Sighting | None = None
        self._first: Sighting | None = None
        """The first of the consecutive valid readings that agree with the last reading."""
        self._found: Sighting | None = None
        """The last reading with candidates, among which the user must recognize the added
        remote."""
        self._verdict: Verdict | None = None

    def add(self, sighting: Sighting) -> Verdict:
        """Add a reading, and return what the readings prove so far.

        Returns:
            The proven verdict; ``OperationState.UNKNOWN`` with the reason if nothing is proven yet.
        """
        claim, before = sighting.claim, self._last
        if before is not None and self._verdict is not None and sighting.begun_s < before.begun_s:
            return self._verdict  # the answer to a later reading arrived first
        if before is not None and not _agree(before, sighting):
            self._first = None
        self._last = sighting
        if claim.state is OperationState.AMBIGUOUS:
            self._found = sighting
        self._verdict = self._judge(sighting)
        if self._first is None and self._counts(sighting):
            self._first = sighting
        return self._verdict

    def is_of_horizon(self, begun_s: float) -> bool:
        """Return whether the answer to a reading certainly shows the state after the sending.

        An answer can be up to ``Horizon.stale_s`` old, so an earlier reading may show an old state.

        Args:
            begun_s: When the reading began, in seconds on the monotonic clock.
        """
        return begun_s >= self.sent_s + self._horizon.stale_s

    def next_look_s(self) -> float | None:
        """Return the monotonic time of the next automatic reading, in seconds; None if none."""
        if self._last is None or self._verdict is None:
            return self.sent_s
        if self._verdict.state in (OperationState.AMBIGUOUS, OperationState.CONFIRMED_BY_READING):
            return None  # the result is proven, or the user must decide
        begun_s = self._last.begun_s
        due = [self.sent_s + age_s for age_s in self._horizon.ages_s]
        at_s = next((at_s for at_s in due if at_s > begun_s), None)
        if self._verdict.state is OperationState.UNKNOWN and self._counts(self._last):
            again_s = begun_s + self._horizon.apart_s
            return again_s if at_s is None else min(at_s, again_s)
        return at_s

    def _judge(self, last: Sighting) -> Verdict:
        claim, horizon = last.claim, self._horizon
        if claim.state in (OperationState.UNKNOWN, OperationState.AMBIGUOUS):
            return claim
        is_proven = self._counts(last) and (not claim.by_absence or self._is_confirmed(last))
        found = self._found
        if found is not None and (not is_proven or last.begun_s < found.begun_s + horizon.stale_s):
            return found.claim  # an old copy does not disprove the candidates of another copy
        self._found = None
        if is_proven:
            return claim
        reason = last.doubt or (
            f"This is not certain yet, because an answer can be up to {horizon.stale_s:g} s old."
        )
        words = f"So far: {claim.words} {reason} lockterm reads the lock again."
        return replace(claim, state=OperationState.UNKNOWN, words=words)

    def _counts(self, sighting: Sighting) -> bool:
        if sighting.doubt or sighting.claim.state is OperationState.UNKNOWN:
            return False
        return sighting.is_fresh or self.is_of_horizon(sighting.begun_s)

    def _is_confirmed(self, last: Sighting) -> bool:
        first = self._first
        return first is not None and first.begun_s <= last.begun_s - self._horizon.apart_s


def _agree(left: Sighting, right: Sighting) -> bool:
    return (left.claim.state, left.claim.candidates) == (right.claim.state, right.claim.candidates)


def is_later(time_ms: int | None, sent_ms: float, now_ms: float) -> bool:
    """Return whether a time in a record is certainly later than the sending of a request.

    A time in the future was written in another time zone and proves nothing.

    Args:
        time_ms: The time in the record, in milliseconds; None if it is missing.
        sent_ms: When the request was sent, by the service's clock, in milliseconds.
        now_ms: The present time by the service's clock, in milliseconds.
    """
    if time_ms is None or time_ms < _EARLIEST_MS:
        return False
    margin_ms = CLOCK_MARGIN_S * 1000
    return sent_ms + margin_ms < time_ms <= now_ms + margin_ms


def was_created_since(created_ms: int | None, sent_ms: float, now_ms: float) -> bool | None:
    """Return whether a service created a remote after a request was sent.

    Args:
        created_ms: The creation time in the record, in milliseconds; None if it is missing.
        sent_ms: When the sending began, by the service's clock, in milliseconds.
        now_ms: The present time by the service's clock, in milliseconds.

    Returns:
        None if the creation time proves nothing: it is missing, not in milliseconds, or in the
        future because it was written in another zone.
    """
    margin_ms = CLOCK_MARGIN_S * 1000
    if created_ms is None or not _EARLIEST_MS <= created_ms <= now_ms + margin_ms:
        return None
    return created_ms >= sent_ms - margin_ms


def are_old(records: Sequence[Mapping[str, Any]], now_ms: float | None) -> bool:
    """Return whether remotes are so old that every copy of a list must contain them.

    Args:
        records: The records of the remotes, by the contract's names.
        now_ms: The present time by the service's clock, in milliseconds; None if unknown.
    """
    if now_ms is None:
        return False
    times = [record.get("createTime") for record in records]
    return all(type(time) is int and _EARLIEST_MS <= time < now_ms - OLD_S * 1000 for time in times)
