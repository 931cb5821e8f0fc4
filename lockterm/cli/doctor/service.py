"""The doctor's look at the service: its certificate, its answers, their time, and its clock."""

from __future__ import annotations

import asyncio
import socket
import ssl
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lockterm.cli.doctor.finding import Finding, trouble
from lockterm.connection import CLOCK_TOLERANCE_S
from lockterm.errors import LocktermError, Refused

if TYPE_CHECKING:
    from lockterm.config import Profile

SOME_LOCK = 1
"""A lock to ask about where none was given: a refusal tells as much as a page."""
CALLS = 5
"""How many calls are timed, after one that pays for the connection."""
SLOW_MS = 1000.0
"""A median from which on a link is called slow, in milliseconds."""
SOON_DAYS = 30
"""A certificate that ends so soon is worth knowing, in days."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What asking the service showed."""

    refusal: Refused | None
    """Its last refusal; an envelope all the same."""
    first_ms: float
    """The first call, with the connection it needed, in milliseconds."""
    calls_ms: list[float]
    """The others, in milliseconds."""
    offset_s: float | None
    """How far its clock is ahead, in seconds; None where it does not tell."""


def service_findings(profile: Profile, lock_id: int | None) -> Iterator[Finding]:
    """Whether the service answers as the contract says. Nothing is changed by asking."""
    try:
        answers = asyncio.run(_ask(profile, lock_id or SOME_LOCK))
    except LocktermError as error:
        yield trouble("service", error)
        return
    if profile.base_url.startswith("https:"):
        yield _certificate(profile)
    refusal = answers.refusal
    if refusal is not None and refusal.code is None:
        yield trouble("service", refusal)
        return
    yield _latency(profile, answers)
    if refusal is not None and lock_id is not None:
        yield Finding(
            "WARN",
            "service",
            f"It refuses the lock {lock_id}: {refusal.message}",
            "See that the id is right.",
        )
    yield _clock(answers.offset_s)


async def _ask(profile: Profile, lock_id: int) -> Answers:
    from lockterm.api import LockService

    refusal: Refused | None = None
    took_ms = []
    async with LockService(profile) as service:
        for _ in range(1 + CALLS):
            began = time.monotonic()
            try:
                await service.list_remotes(lock_id=lock_id, page_no=1, page_size=1)
            except Refused as error:
                refusal = error
            took_ms.append((time.monotonic() - began) * 1000)
        return Answers(refusal, took_ms[0], took_ms[1:], service.clock_offset_s)


def _latency(profile: Profile, answers: Answers) -> Finding:
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
        return Finding("WARN", "service", sentence, advice, facts)
    return Finding("OK", "service", sentence, facts=facts)


def _clock(offset_s: float | None) -> Finding:
    if offset_s is None:
        return Finding("WARN", "service", "It does not tell its time: clocks were not compared.")
    facts = {"clockOffsetS": round(offset_s, 1)}
    if abs(offset_s) <= CLOCK_TOLERANCE_S:
        sentence = f"The clocks agree within {abs(offset_s) + 1:.0f} s."
        return Finding("OK", "service", sentence, facts=facts)
    side = "behind" if offset_s > 0 else "ahead of"
    sentence = (
        f"This machine's clock is {abs(offset_s):.0f} s {side} the service's: dates would be wrong"
        " by that."
    )
    return Finding("FAIL", "service", sentence, "Set the clock.", facts)


def _certificate(profile: Profile) -> Finding:
    """How long the certificate lasts that the calls before were made with."""
    from lockterm.api.trust import tls_context

    parts = urlsplit(profile.base_url)
    host, port = parts.hostname or "", parts.port or 443
    try:
        context = tls_context(profile.base_url, profile.ca_file)
        with (
            socket.create_connection((host, port), timeout=profile.timeout_s) as plain,
            context.wrap_socket(plain, server_hostname=host) as secure,
        ):
            certificate, version = secure.getpeercert() or {}, secure.version()
        ends_s = ssl.cert_time_to_seconds(str(certificate["notAfter"]))
    except (OSError, KeyError, ValueError) as error:
        return Finding("WARN", "service", f"Its certificate could not be looked at: {error}.")
    days = int((ends_s - time.time()) // 86_400)
    until = time.strftime("%Y-%m-%d", time.gmtime(ends_s))
    facts = {"tls": version, "certificateUntil": until, "certificateDays": days}
    sentence = f"Its certificate is trusted, {version}, and lasts until {until}, {days} days."
    if days < SOON_DAYS:
        advice = "Tell those who run the service: when it ends, nothing can be sent."
        return Finding("WARN", "service", sentence, advice, facts)
    return Finding("OK", "service", sentence, facts=facts)
