"""A change sent to the service, as the journal knows it: what, when, and whether it took effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lockterm.domain.names import near_key


class State(StrEnum):
    """How far an operation got. Only the first group is final without a person."""

    PREPARED = "prepared"
    """Written down; nothing was sent yet."""
    SENDING = "sending"
    """The first byte may have left."""

    CONFIRMED = "confirmed"
    """The service said that it recorded it."""
    REFUSED = "refused"
    """The service said no."""
    NOT_SENT = "not_sent"
    """Provably nothing left this machine."""
    CONFIRMED_BY_READING = "confirmed_by_reading"
    """No answer came, but the service was read back and shows the change."""

    UNKNOWN = "unknown"
    """It left, and no trustworthy answer came."""
    NOT_SEEN = "not_seen"
    """Read back, and not there. It may still land: never "did not happen"."""
    AMBIGUOUS = "ambiguous"
    """Read back, and one or more remotes could be it: a person decides."""
    CONFLICT = "conflict"
    """Read back, and it is neither what was nor what was wanted."""

    DAMAGED = "damaged"
    """Its row of the journal cannot be read any more. It is never stored."""

    GIVEN_UP = "given_up"
    """A person let it be."""
    SENT_AGAIN = "sent_again"
    """A person had it sent again, as another operation."""


IN_FLIGHT = frozenset({State.PREPARED, State.SENDING})
RECORDED = frozenset({State.CONFIRMED, State.CONFIRMED_BY_READING})
"""The service has it: it took effect."""
WITHOUT_EFFECT = frozenset({State.REFUSED, State.NOT_SENT})
"""Nothing was changed by it."""
UNSETTLED = frozenset(
    {State.UNKNOWN, State.NOT_SEEN, State.AMBIGUOUS, State.CONFLICT, State.DAMAGED}
)
"""A person, or a later reading, has to settle these."""

HELD_CALLS = frozenset({"add", "clear"})
"""An unsettled one of these holds back further ones on its lock."""

READABLE_CALLS = frozenset({"add", "update", "delete", "clear"})
"""Calls whose outcome the contract lets us read back."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the journal."""

    id: str
    """A uuid of our own; the service never sees it."""
    profile: str
    call: str
    """The contract's name of the call."""
    path: str
    body: Mapping[str, Any]
    """The parameters as they are sent."""
    lock_id: int
    lock_name: str
    remote_id: int | None
    remote_name: str
    before: tuple[Mapping[str, Any], ...]
    """The remotes as they were, under the contract's names: one for update and delete, all for
    clear. They are the backup."""
    state: State
    session: str
    """The session that sends it; see ``store.sessions``."""
    prepared_ms: int
    """When it was begun, before what guards it was read."""
    sent_ms: int | None = None
    settled_ms: int | None = None
    """When the state was last changed."""
    code: int | None = None
    """The envelope's code of a refusal."""
    message: str = ""
    """Why, in words, for whatever is not confirmed."""
    answer: Any = None
    """What a confirmed call returned: a remote id or a count."""
    read_ms: int | None = None
    """When the outcome was last read back."""
    candidates: tuple[int, ...] = field(default=())
    """Remote ids: that could be an ambiguous add; that remain of an unsettled clear."""
    again_of: str | None = None
    """The operation that this one sends again."""
    restores: str | None = None
    """The delete or clear whose backup this add restores."""
    restores_remote: int | None = None
    """The id that the restored remote had."""
    service: str = ""
    """The base URL it is sent to: a profile may name another service by now. Empty: not noted."""
    account: str | None = None
    """The account at that service; None if an earlier version sent it."""
    credentials: str | None = None
    """A digest of the credentials it is sent with; None if an earlier version sent it."""
    others: tuple[Mapping[str, Any], ...] | None = None
    """Some other remotes of the lock that the service showed before, in brief; none if it had no
    others, None if its list was not read."""

    @property
    def unsettled(self) -> bool:
        """Whether a person still has to know about it."""
        return self.state in UNSETTLED

    @property
    def holds_back(self) -> bool:
        """Whether, unsettled, it holds back further ones on its lock."""
        return self.call in HELD_CALLS

    def may_precede(self, later: Operation) -> bool:
        """Return whether a later add may be sent although this one is not settled.

        An add of an ended session that was read back and not seen may still land. An add of the
        same or a near name or number would double it; others can be told from it. Within one
        session adds wait: what lost one answer may lose the next.
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
    """The voice that an operation sets, whole; empty where that cannot be read."""
    voice = operation.body.get("currentVoiceTimbre")
    if not isinstance(voice, Mapping):
        return {}
    lang, timbre = voice.get("lang"), voice.get("timbre")
    is_whole = isinstance(lang, str) and isinstance(timbre, str)
    return {"lang": str(lang), "timbre": str(timbre)} if is_whole else {}
