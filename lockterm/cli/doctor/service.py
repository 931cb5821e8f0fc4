"""The doctor's look at the service: its certificate, its answers, their time, and its clock."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lockterm.cli.doctor.finding import Finding, trouble
from lockterm.errors import LocktermError
from lockterm.operations.connection import CLOCK_TOLERANCE_S
from lockterm.operations.probe import SOME_LOCK, ServiceAnswers, ask, look_at_certificate

if TYPE_CHECKING:
    from lockterm.config import Profile

CALLS = 5
"""How many calls are timed, after one that pays for the connection."""
SLOW_MS = 1000.0
"""A median from which on a link is called slow, in milliseconds."""
SOON_DAYS = 30
"""A certificate that ends so soon is worth knowing, in days."""


def service_findings(profile: Profile, lock_id: int | None) -> Iterator[Finding]:
    """Whether the service answers as the contract says. Nothing is changed by asking."""
    try:
        answers = asyncio.run(ask(profile, lock_id or SOME_LOCK, more_calls=CALLS))
    except LocktermError as error:
        yield trouble(error)
        return
    if profile.base_url.startswith("https:"):
        yield _certificate(profile)
    if answers.denial is not None:
        yield trouble(answers.denial)
        return
    yield _latency(profile, answers)
    refusal = answers.refusal
    if refusal is not None and lock_id is not None:
        sentence = f"It refuses the lock {lock_id}: {refusal.meaning}"
        yield Finding("WARN", sentence, "See that the id is right.")
    yield _clock(answers.offset_s)


def _latency(profile: Profile, answers: ServiceAnswers) -> Finding:
    calls = answers.calls_ms
    middle = statistics.median(calls)
    facts = {
        "host": profile.host,
        "firstMs": round(answers.first_ms, 1),
        "minMs": round(min(calls), 1),
        "medianMs": round(middle, 1),
        "maxMs": round(max(calls), 1),
        "calls": len(calls),
    }
    sentence = (
        f"{profile.host} answers as it should: {len(calls)} calls took {min(calls):.0f} /"
        f" {middle:.0f} / {max(calls):.0f} ms (min / median / max), the first one"
        f" {answers.first_ms:.0f} ms with its connection."
    )
    if middle > SLOW_MS:
        advice = "The link is slow: give timeout_s in the profile more time if calls run out of it."
        return Finding("WARN", sentence, advice, facts)
    return Finding("OK", sentence, facts=facts)


def _clock(offset_s: float | None) -> Finding:
    if offset_s is None:
        return Finding("WARN", "It does not tell its time: clocks were not compared.")
    facts = {"clockOffsetS": round(offset_s, 1)}
    if abs(offset_s) <= CLOCK_TOLERANCE_S:
        sentence = f"The clocks agree within {abs(offset_s) + 1:.0f} s."
        return Finding("OK", sentence, facts=facts)
    side = "behind" if offset_s > 0 else "ahead of"
    sentence = (
        f"This machine's clock is {abs(offset_s):.0f} s {side} the service's: dates would be wrong"
        " by that."
    )
    return Finding("FAIL", sentence, "Set the clock.", facts)


def _certificate(profile: Profile) -> Finding:
    """How long the certificate lasts that the calls before were made with."""
    try:
        seen = look_at_certificate(profile)
    except (LocktermError, OSError, ValueError) as error:
        return Finding("WARN", f"Its certificate could not be looked at: {error}.")
    facts = {
        "tls": seen.tls,
        "certificateUntil": seen.until,
        "certificateDays": seen.days,
        "certificateIssuer": seen.issuer,
    }
    by = f" by {seen.issuer}" if seen.issuer else ""
    sentence = (
        f"Its certificate, issued{by}, is trusted, {seen.tls}, and lasts until {seen.until},"
        f" {seen.days} days."
    )
    if seen.days < SOON_DAYS:
        advice = "Tell those who run the service: when it ends, nothing can be sent."
        return Finding("WARN", sentence, advice, facts)
    return Finding("OK", sentence, facts=facts)
