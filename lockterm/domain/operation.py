"""Operations: changes that lockterm sends, as the journal stores them.

Stored operations also contain values of hidden fields, which the service never returns. For the
history, the journal returns a summary of each operation, and how many changes each day has.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta, tzinfo
from enum import StrEnum
from typing import Any

from lockterm.domain import dates, rules
from lockterm.domain.names import near_key
from lockterm.domain.remotes import UNLISTED, VALIDITY, Remote
from lockterm.domain.validity import RemoteState, state_by_dates


class OperationState(StrEnum):
    """The progress of an operation in the journal.

    The states from ``CONFIRMED`` to ``CONFIRMED_BY_READING`` are final and need no decision by the
    user.
    """

    PREPARED = "prepared"
    """The operation is in the journal, and nothing has been sent yet."""
    SENDING = "sending"
    """The first byte may have been sent."""

    CONFIRMED = "confirmed"
    """The service answered that it recorded the change."""
    REFUSED = "refused"
    """The service refused the change."""
    NOT_SENT = "not_sent"
    """It is certain that nothing was sent."""
    CONFIRMED_BY_READING = "confirmed_by_reading"
    """No trustworthy answer arrived, but reading from the service confirmed the change."""

    UNKNOWN = "unknown"
    """The request was sent, but no trustworthy answer arrived."""
    NOT_SEEN = "not_seen"
    """Reading from the service did not show the change, but the change may still take effect."""
    AMBIGUOUS = "ambiguous"
    """Reading from the service showed remotes that may be the added one. The user must decide."""
    CONFLICT = "conflict"
    """Reading from the service showed neither the old nor the new values of the remote."""

    DAMAGED = "damaged"
    """The row in the journal cannot be read. This state is never stored."""

    GIVEN_UP = "given_up"
    """The user dismissed the operation."""
    SENT_AGAIN = "sent_again"
    """The user sent the change again, as another operation."""


IN_FLIGHT = frozenset({OperationState.PREPARED, OperationState.SENDING})
RECORDED = frozenset({OperationState.CONFIRMED, OperationState.CONFIRMED_BY_READING})
"""The states in which the service has recorded the change."""
WITHOUT_EFFECT = frozenset({OperationState.REFUSED, OperationState.NOT_SENT})
"""The states in which the change had no effect."""
UNCONFIRMED = frozenset(
    {
        OperationState.UNKNOWN,
        OperationState.NOT_SEEN,
        OperationState.AMBIGUOUS,
        OperationState.CONFLICT,
        OperationState.DAMAGED,
    }
)
"""The states of an unconfirmed change, which the user or a later verification must resolve."""

HELD_CALLS = frozenset({"add", "clear"})
"""The calls that block each other: an unconfirmed add or clear blocks adds and clears on its
lock."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A change that lockterm sends: a row of the journal."""

    id: str
    """A UUID, which lockterm never sends to the service."""
    profile: str
    call: str
    """The contract's name of the call."""
    path: str
    body: Mapping[str, Any]
    """The parameters of the call, as they are sent."""
    lock_id: int
    lock_name: str
    remote_id: int | None
    remote_name: str
    before: tuple[Mapping[str, Any], ...]
    """The remotes before the change, by the contract's names, as a backup. A clear has all remotes
    of the lock, a change of one remote has this remote, and an add or a voice has none."""
    state: OperationState
    session: str
    """The ID of the session that sends the operation; see ``store.sessions``."""
    prepared_ms: int
    """The time when the operation began, before any checks, in milliseconds."""
    sent_ms: int | None = None
    settled_ms: int | None = None
    """The time when the state last changed, in milliseconds; None if it has not changed yet."""
    code: int | None = None
    """The code in the service's answer if it refused the change."""
    message: str = ""
    """The reason for the state, in words; empty if the change was confirmed."""
    answer: Any = None
    """The result of a confirmed call: the ID of an added remote, or the number of deleted
    remotes."""
    read_ms: int | None = None
    """The time when lockterm last read from the service to verify the change, in milliseconds."""
    candidates: tuple[int, ...] = ()
    """IDs of remotes: candidates for the remote that an ambiguous add created, or the remotes that
    an unconfirmed clear left on the lock."""
    again_of: str | None = None
    """The ID of the operation that this operation repeats."""
    restores: str | None = None
    """The ID of the delete or clear from whose backup this add restores a remote."""
    restores_remote: int | None = None
    """The ID that the restored remote had before its deletion."""
    service: str = ""
    """The base URL of the service, because the profile may get another URL later; empty if not
    recorded."""
    account: str | None = None
    """The account at the service; None if an earlier version of lockterm sent the operation."""
    credentials: str | None = None
    """A digest of the credentials; None if an earlier version of lockterm sent the operation."""
    others: tuple[Mapping[str, Any], ...] | None = None
    """Shortened records of the lock's other remotes before the change. Empty if there were none;
    None if lockterm did not read the list."""

    @property
    def is_unconfirmed(self) -> bool:
        """Whether the change is unconfirmed, so that the user or a verification must resolve it."""
        return self.state in UNCONFIRMED

    @property
    def holds_back(self) -> bool:
        """Whether this operation blocks adds and clears on its lock while it is unconfirmed."""
        return self.call in HELD_CALLS

    def may_precede(self, later: Operation) -> bool:
        """Return whether lockterm may send a later add although this add is unconfirmed.

        An unconfirmed add may still take effect. A later add with the same or a similar name or
        number could create the remote twice, so it must wait. Every later add of the same session
        must wait too, because its answer may be lost for the same reason.
        """
        return (
            self.call == later.call == "add"
            and self.state is OperationState.NOT_SEEN
            and self.session != later.session
            and not any(
                near_key(str(self.body.get(name))) == near_key(str(later.body.get(name)))
                for name in ("remoteName", "remoteNumber")
            )
        )


def voice_set(operation: Operation) -> dict[str, str]:
    """Return the ``lang`` and ``timbre`` that an operation sets; empty if they cannot be read."""
    voice = operation.body.get("currentVoiceTimbre")
    if not isinstance(voice, Mapping):
        return {}
    lang, timbre = voice.get("lang"), voice.get("timbre")
    is_whole = isinstance(lang, str) and isinstance(timbre, str)
    return {"lang": str(lang), "timbre": str(timbre)} if is_whole else {}


_DOUBTFUL = UNCONFIRMED | IN_FLIGHT | {OperationState.GIVEN_UP, OperationState.SENT_AGAIN}


def known_fields(
    operations: Iterable[Operation], backup: Iterable[Mapping[str, Any]] = ()
) -> dict[int, dict[str, Any]]:
    """Return the values of hidden fields that operations have set, by remote ID and field name.

    A field with the value None was not set when lockterm added the remote. A missing field is
    unknown. A user number is also unknown if the result of the call that set it is uncertain.

    The service may give the ID of a deleted remote to another remote. Therefore a delete removes
    the fields of its ID. For an ID in ``backup``, only operations on exactly that remote count.

    Args:
        operations: The operations on a lock before the backup, the oldest first.
        backup: The remotes whose fields are wanted, as received. If empty, each ID counts as one
            remote.
    """
    records = {record.get("id"): record for record in backup}
    known: dict[int, dict[str, Any]] = {}
    for operation in operations:
        remote_id, is_done = operation.remote_id, operation.state in RECORDED
        if operation.call == "clear" and is_done:
            for record in operation.before:
                known.pop(record.get("id", 0), None)
        elif remote_id is None or not _is_about(operation, records.get(remote_id)):
            continue
        elif operation.call == "delete" and is_done:
            known.pop(remote_id, None)
        elif operation.call == "add" and is_done:
            known[remote_id] = {field.name: operation.body.get(field.name) for field in UNLISTED}
        elif operation.call == "updateRemoteUserNo":
            fields = known.setdefault(remote_id, {})
            if is_done:
                fields["remoteUserNo"] = operation.body.get("remoteUserNo")
            elif operation.state in _DOUBTFUL:
                fields.pop("remoteUserNo", None)
    return known


def _is_about(operation: Operation, record: Mapping[str, Any] | None) -> bool:
    """Return whether an operation changed this remote, and not another remote with the same ID."""
    if record is None:
        return True
    number, created = record.get("remoteNumber"), record.get("createTime")
    if operation.call == "add":
        at_ms = operation.settled_ms
        # One day is tolerated, because the clocks may differ and the service's zone may be wrong.
        is_its_time = (
            type(created) is not int or at_ms is None or abs(created - at_ms) < dates.DAY_MS
        )
        return number == operation.body.get("remoteNumber", number) and is_its_time
    before = operation.before[0] if operation.before else {}
    return all(
        record[name] == before[name]
        for name in ("remoteNumber", "createTime")
        if name in record and name in before
    )


# --- summaries for the history -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A summary of an operation, for a row of a table.

    Fields without a description have the same meaning as in ``Operation``.
    """

    seq: int
    """The position in the journal. Later operations have higher positions."""
    id: str
    call: str
    lock_id: int
    lock_name: str
    remote_id: int | None
    remote_name: str
    state: OperationState
    prepared_ms: int
    code: int | None
    message: str
    restores: str | None
    count: int
    """Number of remotes in the backup of the operation."""
    voice: str
    """The language and the timbre that a voice operation sent; empty for other calls."""
    seen: str
    """The values of the ``VALIDITY`` fields of the remote before an update, as a JSON list; empty
    for other calls, and if the operation has no backup of the remote."""
    sent: str
    """The values of the ``VALIDITY`` fields that an add or an update sent, as a JSON list, with
    null for a field that was not sent; empty for other calls."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter for the operations of a profile. The default filter selects all operations."""

    lock_id: int | None = None
    """Only operations on this lock; None for all locks."""
    states: frozenset[OperationState] | None = None
    """Only operations in these states; None for all states."""
    words: tuple[str, ...] = ()
    """Only operations whose text in the history contains each of these words, ignoring case."""
    zone: tzinfo = UTC
    """The time zone in which the history shows times."""
    since_ms: int | None = None
    """Only operations that began at or after this time, in milliseconds; None for no limit."""
    until_ms: int | None = None
    """Only operations that began before this time, in milliseconds; None for no limit."""
    outside_runs: bool = False
    """Whether to leave out operations that are steps of runs."""


EVERYTHING = Selection()


# --- the state that an operation gave a remote ----------------------------------------------------


def left_state(line: HistoryLine, now_ms: int) -> RemoteState | None:
    """Return the present state of a remote, if this operation was the last change of the remote.

    The state follows from the type, dates and weekdays that the remote had after the operation. The
    result is None if the operation is not a recorded add or update, or if its journal entry is
    damaged.
    """
    if line.state not in RECORDED or not line.sent:
        return None
    try:
        seen, sent = _validity(line.seen), _validity(line.sent)
        before = Remote.read(seen) if line.seen else None
        after = rules.effective(before, Remote.read({**seen, **sent}))
    except (TypeError, ValueError, AttributeError, RecursionError):
        return None  # the entry is damaged
    return state_by_dates(after, now_ms)


def _validity(values: str) -> dict[str, Any]:
    pairs = zip(VALIDITY, json.loads(values or "[]"), strict=False)
    return {name: value for name, value in pairs if value is not None}


# --- changes by day ------------------------------------------------------------------------------


QUARTER_MS = 15 * dates.MINUTE_MS
"""A quarter of an hour, in milliseconds. In every time zone, days begin at such a quarter."""


@dataclass(frozen=True, slots=True)
class DayCounts:
    """How many changes lockterm sent on each of some consecutive days."""

    first: date
    """The first counted day."""
    counts: Sequence[int]
    """The number of changes on each day. The last day is today."""

    @property
    def today(self) -> date:
        """Today, which is the last counted day."""
        return self.first + timedelta(len(self.counts) - 1)

    def last(self, days: int) -> DayCounts:
        """Return the counts of the last ``days`` days only."""
        left_out = max(len(self.counts) - days, 0)
        return DayCounts(self.first + timedelta(left_out), self.counts[left_out:])


def first_day(today: date, days: int) -> date:
    """Return the first day of a period that has ``days`` days and ends today."""
    return today - timedelta(days - 1)


def sum_up_quarters(quarters: Mapping[int, int], today: date, days: int, zone: tzinfo) -> DayCounts:
    """Return the number of changes on each of the last days, from counts by quarter of an hour.

    Args:
        quarters: Maps quarters of an hour since 1970 to numbers of changes. Quarters after today,
            which exist if the clock was set back, are ignored.
        today: The last day to count.
        days: The number of days to count.
        zone: The time zone that decides when a day begins.
    """
    first = first_day(today, days)
    begins = [dates.begin_of(first + timedelta(day), zone) for day in range(days + 1)]
    counts = [0] * days
    for quarter, count in quarters.items():
        day = bisect_right(begins, quarter * QUARTER_MS) - 1
        if 0 <= day < days:
            counts[day] += count
    return DayCounts(first, counts)
