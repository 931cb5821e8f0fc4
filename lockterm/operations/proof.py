"""What proves the outcome of a write whose answer never came.

A cloud service answers from replicas and caches. What is assumed of it, and no more:

* An answer shows the lock as it was at one moment, at most ``stale_s`` before the reading began;
  each answer, and each page of a list, may come from another copy.
* For a moment, shorter than ``apart_s``, a list may be empty or without some, and a detail refuse;
  that does not come again within ``stale_s``.
* A request may be applied at any time after it was sent, also long after its connection broke.
* Others change the lock too, and the id of a deleted remote may be given to a new one.

What follows from it, for each call that the contract lets us read back (section 4):

====== ================================================== ==========================================
call   recorded, verified by reading                     not seen (it may still land)
====== ================================================== ==========================================
add    at once: exactly one remote is equal in every      two readings of the horizon, ``apart_s``
       field that was sent, and is new; of two equal      apart, without one like it
       ones, or of one that differs, a person says which
update the detail has every field as sent, and its        the detail of the horizon is as before
       ``updateTime`` is later than the sending by the
       service's own clock; or the reading is of the
       horizon
delete two readings ``apart_s`` apart: not in the list,   the list or the detail of the horizon
       and the detail refuses; both of the horizon, or    still has it
       the remote was older than the horizon anyway
clear  two readings ``apart_s`` apart without any of      the list of the horizon still has all of
       them; as for delete                                them (some of them: a conflict)
====== ================================================== ==========================================

A reading *of the horizon* began at least ``stale_s`` after the sending ended without an answer, on
the monotonic clock of the session that sent it: attempts that did not leave may have come before.
Another session counts from when it first knew of it, since wall clocks are set. Such a reading
cannot be from before the sending. A single reading without something proves nothing: only what is
shown is proof, or what two readings apart agree on, with no other reading between them that
differs. A reading that contradicts what the service has itself recorded since proves nothing
either. Until there is a proof the outcome stays unknown.

A list without something proves nothing if the credentials are others than those of the sending, or
if the list shows none of the remotes that were known before on the lock: a narrowed token and
another account have empty lists, too. What is shown is proof all the same.

A remote is *new* if no earlier operation knows it and its ``createTime`` is after the beginning of
the sending, by the service's own clock. Where that time says nothing, and in a reading of the
horizon, it is also new if the last whole list from before the sending is without its id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lockterm.domain.operation import State
from lockterm.operations.readback import Verdict

CLOCK_MARGIN_S = 5.0
"""How far the clocks of a service's machines may differ, and its ``Date`` is rounded."""

OLD_S = 86_400.0
"""A remote of this age existed before any copy that may answer, in whatever zone its creation time
was written down by mistake."""

_EARLIEST_MS = 1_262_304_000_000
"""2010: an earlier time is none in milliseconds, and says nothing of an age."""


@dataclass(frozen=True, slots=True)
class Horizon:
    """How far a service's answers may be behind, and when an outcome is looked at again."""

    stale_s: float = 60.0
    """An answer shows what was there at most so many seconds before it was asked for."""
    apart_s: float = 15.0
    """Lists are empty, or without a remote by mistake, for less than so many seconds."""
    later_s: Sequence[float] = (60.0, 120.0, 240.0, 480.0)
    """Pauses before the last looks that nobody asks for; a late request may still land."""

    @property
    def proof_s(self) -> float:
        """So many seconds after the sending, readings have proven all that they can prove."""
        return self.stale_s + self.apart_s * 2  # the second of two that agree may come late

    @property
    def ages_s(self) -> Sequence[float]:
        """Seconds after the sending at which an outcome is looked at by itself."""
        ages = [0.0, self.apart_s / 3, self.apart_s * 4 / 3, self.stale_s]
        ages.append(self.stale_s + self.apart_s)
        for pause_s in self.later_s:
            ages.append(ages[-1] + pause_s)
        return ages


@dataclass(frozen=True, slots=True)
class Sighting:
    """One reading of an operation's outcome."""

    begun_s: float
    """When it began, on the monotonic clock."""
    claim: Verdict
    """What it says if it is as true as it looks."""
    is_fresh: bool = False
    """Whether the reading itself shows that it cannot be from before what it is about."""
    doubt: str = ""
    """What it contradicts, as a sentence; empty: nothing known."""


class Case:
    """The readings of one unsettled operation in this session.

    Args:
        sent_s: When its sending ended, or it was first known of here, on the monotonic clock.
        horizon: What is assumed of the service.
        begun_s: When its sending began, on the same clock; None: in another session.
    """

    def __init__(self, sent_s: float, horizon: Horizon, begun_s: float | None = None) -> None:
        self.sent_s = sent_s
        self.begun_s = begun_s
        self._horizon = horizon
        self._last: Sighting | None = None
        self._first: Sighting | None = None
        """The first that counts of those that agree with the last."""
        self._found: Sighting | None = None
        """The last that showed what a person has to recognize."""
        self._verdict: Verdict | None = None

    def add(self, sighting: Sighting) -> Verdict:
        """Take a reading into account.

        Returns:
            What is proven now; ``UNKNOWN`` with the reason where nothing is.
        """
        claim, before = sighting.claim, self._last
        if before is not None and self._verdict is not None and sighting.begun_s < before.begun_s:
            return self._verdict  # its answer took longer than that of a later reading
        if before is not None and not _agree(before, sighting):
            self._first = None
        self._last = sighting
        if claim.state is State.AMBIGUOUS:
            self._found = sighting
        self._verdict = self._judge(sighting)
        if self._first is None and self._counts(sighting):
            self._first = sighting
        return self._verdict

    def is_of_horizon(self, begun_s: float) -> bool:
        """Whether a reading that began then, on the monotonic clock, is from after the sending."""
        return begun_s >= self.sent_s + self._horizon.stale_s

    def next_look_s(self) -> float | None:
        """When to look again without being asked, on the monotonic clock; None: no more."""
        if self._last is None or self._verdict is None:
            return self.sent_s
        if self._verdict.state in (State.AMBIGUOUS, State.CONFIRMED_BY_READING):
            return None  # a person has to say, or nobody
        begun_s = self._last.begun_s
        due = [self.sent_s + age_s for age_s in self._horizon.ages_s]
        at_s = next((at_s for at_s in due if at_s > begun_s), None)
        if self._verdict.state is State.UNKNOWN and self._counts(self._last):
            again_s = begun_s + self._horizon.apart_s
            return again_s if at_s is None else min(at_s, again_s)
        return at_s

    def _judge(self, last: Sighting) -> Verdict:
        claim, horizon = last.claim, self._horizon
        if claim.state in (State.UNKNOWN, State.AMBIGUOUS):
            return claim
        is_proven = self._counts(last) and (not claim.by_absence or self._is_confirmed(last))
        found = self._found
        if found is not None and (not is_proven or last.begun_s < found.begun_s + horizon.stale_s):
            return found.claim  # a copy that is behind does not hide what another has shown
        self._found = None
        if is_proven:
            return claim
        reason = last.doubt or (
            f"Not certain yet: an answer may be up to {horizon.stale_s:g} s old."
        )
        words = f"So far: {claim.words} {reason} lockterm reads it again."
        return replace(claim, state=State.UNKNOWN, words=words)

    def _counts(self, sighting: Sighting) -> bool:
        if sighting.doubt or sighting.claim.state is State.UNKNOWN:
            return False
        return sighting.is_fresh or self.is_of_horizon(sighting.begun_s)

    def _is_confirmed(self, last: Sighting) -> bool:
        first = self._first
        return first is not None and first.begun_s <= last.begun_s - self._horizon.apart_s


def _agree(left: Sighting, right: Sighting) -> bool:
    return (left.claim.state, left.claim.candidates) == (right.claim.state, right.claim.candidates)


def is_later(time_ms: int | None, sent_ms: float, now_ms: float) -> bool:
    """Whether a time that the service noted is certainly after a sending.

    One that is yet to come was written down in another zone, and says nothing.

    Args:
        time_ms: What the service noted, by its clock.
        sent_ms: When it was sent, by the service's clock.
        now_ms: The time by the service's clock.
    """
    if time_ms is None or time_ms < _EARLIEST_MS:
        return False
    margin_ms = CLOCK_MARGIN_S * 1000
    return sent_ms + margin_ms < time_ms <= now_ms + margin_ms


def was_created_since(created_ms: int | None, sent_ms: float, now_ms: float) -> bool | None:
    """Return whether a service made a remote after a request was sent.

    Args:
        created_ms: What the service noted, by its clock.
        sent_ms: When the sending began, by the service's clock.
        now_ms: The time by the service's clock.

    Returns:
        None if the time says nothing: it is missing, not in milliseconds, or in the future, as
        written down in another zone.
    """
    margin_ms = CLOCK_MARGIN_S * 1000
    if created_ms is None or not _EARLIEST_MS <= created_ms <= now_ms + margin_ms:
        return None
    return created_ms >= sent_ms - margin_ms


def are_old(records: Sequence[Mapping[str, Any]], now_ms: float | None) -> bool:
    """Whether remotes are so old that no copy of a list can be from before them.

    Args:
        records: The remotes under the contract's names.
        now_ms: The time by the service's clock; None where it is not known.
    """
    if now_ms is None:
        return False
    times = [record.get("createTime") for record in records]
    return all(type(time) is int and _EARLIEST_MS <= time < now_ms - OLD_S * 1000 for time in times)
