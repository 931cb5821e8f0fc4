"""The rules of a remote's validity: its type, dates and weekdays together (section 4.1).

Where the contract is silent: the end is after the start; a permanent remote has neither dates nor
weekdays and a time-limited one no weekdays, so that sending some is refused and changing the type
drops the old ones; a recurring remote without weekdays is accepted.
"""

from __future__ import annotations

from dataclasses import dataclass

from .codes import BAD_PERIOD, Refusal
from .parameters import Parameters

PERMANENT, TIME_LIMITED, RECURRING = 1, 2, 4
TYPES = (PERMANENT, TIME_LIMITED, RECURRING)


@dataclass(frozen=True, slots=True)
class Validity:
    """When a remote opens its lock."""

    type: int
    """One of ``TYPES``."""
    start_ms: int
    """First moment; 0 for a permanent remote."""
    end_ms: int
    """Last moment; 0 for a permanent remote."""
    weekdays: list[int]
    """1 (Monday) to 7; empty unless recurring."""


def read_validity(given: Parameters, before: Validity | None = None) -> Validity:
    """What a remote's validity becomes by a request.

    Args:
        given: the request; for an update it may name only some of the four parameters.
        before: the stored validity that an update starts from; None on an add.

    Raises:
        Refusal: a parameter is wrong, or the result breaks the rules.
    """
    if before is None:
        kind = given.choice("remoteType", TYPES)
    else:
        kind = given.optional_choice("remoteType", TYPES) or before.type
    start = given.optional_integer("startDate")
    end = given.optional_integer("endDate")
    weekdays = given.weekdays("weekDay")
    if weekdays and kind != RECURRING:
        raise Refusal(BAD_PERIOD, "Only a recurring remote (type 4) has weekdays.")
    if kind == PERMANENT:
        if start or end:
            raise Refusal(BAD_PERIOD, "A permanent remote (type 1) has no dates.")
        return Validity(kind, 0, 0, [])
    if before is not None:
        start = before.start_ms if start is None else start
        end = before.end_ms if end is None else end
    if not start or not end:
        raise Refusal(BAD_PERIOD, f"Type {kind} requires startDate and endDate.")
    if end <= start:
        raise Refusal(BAD_PERIOD, "endDate has to be after startDate.")
    if kind == TIME_LIMITED:
        return Validity(kind, start, end, [])
    kept = before.weekdays if before is not None else []
    return Validity(kind, start, end, kept if weekdays is None else weekdays)
