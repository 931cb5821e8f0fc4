"""Operations: changes that lockterm sends, as the journal stores them.

Stored operations also contain values of hidden fields, which the service never returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lockterm.domain.dates import DAY_MS
from lockterm.domain.names import near_key
from lockterm.domain.remotes import UNLISTED


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
    """The parameters, as they are sent."""
    lock_id: int
    lock_name: str
    remote_id: int | None
    remote_name: str
    before: tuple[Mapping[str, Any], ...]
    """The remotes before the change, by the contract's names, as a backup. Update and delete have
    one remote, and a clear has all remotes of the lock."""
    state: OperationState
    session: str
    """The ID of the session that sends the operation; see ``store.sessions``."""
    prepared_ms: int
    """The time when the operation began, before any checks, in milliseconds."""
    sent_ms: int | None = None
    settled_ms: int | None = None
    """The time of the last change of state, in milliseconds."""
    code: int | None = None
    """The code in the service's answer if it refused the change."""
    message: str = ""
    """The reason for the state, in words; empty if the change was confirmed."""
    answer: Any = None
    """The result of a confirmed call: the ID of an added remote, or the number of deleted
    remotes."""
    read_ms: int | None = None
    """The time when lockterm last read from the service to verify the change, in milliseconds."""
    candidates: tuple[int, ...] = field(default=())
    """IDs of remotes: candidates for the remote that an ambiguous add created, or the remotes that
    an unconfirmed clear left on the lock."""
    again_of: str | None = None
    """The ID of the operation that this operation repeats."""
    restores: str | None = None
    """The ID of the delete or clear whose backup this add restores."""
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
    """Return the hidden fields of remotes that are known from operations, by remote ID.

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
        is_its_time = type(created) is not int or at_ms is None or abs(created - at_ms) < DAY_MS
        return number == operation.body.get("remoteNumber", number) and is_its_time
    before = operation.before[0] if operation.before else {}
    return all(
        record[name] == before[name]
        for name in ("remoteNumber", "createTime")
        if name in record and name in before
    )
