"""Header fields, and the two that matter: when it is over there, and how long to wait."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

MOST_S = 60.0
"""The longest wait that is believed, in seconds."""


def header_fields(came: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The fields by lower-case name; one that came more than once has all its values."""
    fields: dict[bytes, bytes] = {}
    for name, value in ((name.lower(), value) for name, value in came):
        fields[name] = fields[name] + b", " + value if name in fields else value
    try:
        return {name.decode(): value.decode() for name, value in fields.items()}
    except UnicodeDecodeError:
        return {name.decode("latin-1"): value.decode("latin-1") for name, value in fields.items()}


def http_date(text: str | None) -> float | None:
    """An HTTP date in seconds since the epoch, or None if it is none."""
    try:
        moment = parsedate_to_datetime(text or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return None


def clock_offset_s(headers: Mapping[str, str], local_s: float) -> float | None:
    """The service's clock minus this machine's, in seconds.

    Args:
        headers: Of the answer, by lower-case name.
        local_s: This machine's time at the middle of the call, in seconds since the epoch.

    Returns:
        None where the answer has no date, or comes from a cache whose date is an old one.
    """
    if headers.get("age", "0").strip() != "0":
        return None
    there = http_date(headers.get("date"))
    # A date has whole seconds: half a second later is the best guess.
    return None if there is None else there + 0.5 - local_s


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The seconds that an answer asks to wait, at most 60; None: it does not say how long.

    A date is taken against the date of the answer itself, so that a wrong clock here does not
    matter.
    """
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+", text):
        return min(float(text[:9]), MOST_S)
    until = http_date(text)
    if until is None:
        return None
    there = http_date(headers.get("date"))
    return min(max(until - (time.time() if there is None else there), 0.0), MOST_S)
