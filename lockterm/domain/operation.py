"""A change sent to the service, as the journal knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lockterm.domain.names import near_key


class State(StrEnum):
    """The progress of an operation. The group of ``CONFIRMED`` is final without a person."""

    PREPARED = "prepared"
    """Journaled, and nothing was sent yet."""
    SENDING = "sending"
    """The first byte may have left."""

    CONFIRMED = "confirmed"
    """The service answered that it recorded the change."""
    REFUSED = "refused"
    """The service refused the change."""
    NOT_SENT = "not_sent"
    """Provably nothing left this machine."""
    CONFIRMED_BY_READING = "confirmed_by_reading"
    """No answer came, but the service was read back and shows the change."""

    UNKNOWN = "unknown"
    """The request left, and no trustworthy answer came."""
    NOT_SEEN = "not_seen"
    """Read back, and the change is not there. It may still land: never "did not happen"."""
    AMBIGUOUS = "ambiguous"
    """Read back, and one or more remotes could be the added one: a person decides."""
    CONFLICT = "conflict"
    """Read back, and the remote is neither as before nor as wanted."""

    DAMAGED = "damaged"
    """Its row of the journal cannot be read. This state is never stored."""

    GIVEN_UP = "given_up"
    """A person dismissed it."""
    SENT_AGAIN = "sent_again"
    """A person repeated it as another operation."""


IN_FLIGHT = frozenset({State.PREPARED, State.SENDING})
RECORDED = frozenset({State.CONFIRMED, State.CONFIRMED_BY_READING})
"""States in which the change took effect."""
WITHOUT_EFFECT = frozenset({State.REFUSED, State.NOT_SENT})
"""States in which the change had no effect."""
UNSETTLED = frozenset(
    {State.UNKNOWN, State.NOT_SEEN, State.AMBIGUOUS, State.CONFLICT, State.DAMAGED}
)
"""States that a person or a later reading must resolve."""

HELD_CALLS = frozenset({"add", "clear"})
"""Calls that block further ones of these calls on the same lock while they are unsettled."""

READABLE_CALLS = frozenset({"add", "update", "delete", "clear"})
"""Calls whose result can be read back by the contract."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the journal."""

    id: str
    """A UUID that the service never sees."""
    profile: str
    call: str
    """The contract's name of the call."""
    path: str
    body: Mapping[str, Any]
    """The parameters as sent."""
    lock_id: int
    lock_name: str
    remote_id: int | None
    remote_name: str
    before: tuple[Mapping[str, Any], ...]
    """The remotes before the change, with the contract's names: one for update and delete, all for
    clear. This is the backup."""
    state: State
    session: str
    """The session that sends it; see ``store.sessions``."""
    prepared_ms: int
    """Start of the operation, before the checks of its guard."""
    sent_ms: int | None = None
    settled_ms: int | None = None
    """Time of the last change of state."""
    code: int | None = None
    """The code in the envelope of a refusal."""
    message: str = ""
    """The reason, in words, for any state but confirmed."""
    answer: Any = None
    """The result of a confirmed call: a remote ID or a count."""
    read_ms: int | None = None
    """Time of the last reading back."""
    candidates: tuple[int, ...] = field(default=())
    """Remote IDs: candidates of an ambiguous add, or the rest of an unsettled clear."""
    again_of: str | None = None
    """The operation that this one repeats."""
    restores: str | None = None
    """The delete or clear whose backup this add restores."""
    restores_remote: int | None = None
    """The ID that the restored remote had."""
    service: str = ""
    """The base URL that it is sent to, because the profile may name another one later; empty if not
    noted."""
    account: str | None = None
    """The account at that service; None if an earlier version sent it."""
    credentials: str | None = None
    """A digest of the credentials; None if an earlier version sent it."""
    others: tuple[Mapping[str, Any], ...] | None = None
    """Some other remotes of the lock that the service showed before, in brief. Empty if there were
    none, None if the list was not read."""

    @property
    def unsettled(self) -> bool:
        """Whether a person must still know about it."""
        return self.state in UNSETTLED

    @property
    def holds_back(self) -> bool:
        """Whether, while unsettled, it blocks further operations on its lock."""
        return self.call in HELD_CALLS

    def may_precede(self, later: Operation) -> bool:
        """Return whether a later add may be sent although this one is unsettled.

        An unseen add of an ended session may still land. A later add with the same or a similar
        name or number could double it; others cannot be confused with it. Adds of one session
        wait, because the cause that lost one answer may lose the next.
        """
        return (
            self.call == later.call == "add"
            and self.state is State.NOT_SEEN
            and self.session != later.session
            and not any(
                near_key(str(self.body.get(name))) == near_key(str(later.body.get(name)))
                for name in ("remoteName", "remoteNumber")
            )
        )


def voice_set(operation: Operation) -> dict[str, str]:
    """Return the voice that an operation sets; empty if it cannot be read."""
    voice = operation.body.get("currentVoiceTimbre")
    if not isinstance(voice, Mapping):
        return {}
    lang, timbre = voice.get("lang"), voice.get("timbre")
    is_whole = isinstance(lang, str) and isinstance(timbre, str)
    return {"lang": str(lang), "timbre": str(timbre)} if is_whole else {}
