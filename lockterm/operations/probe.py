"""A look at a service: can it be reached, is it trusted, does it answer as the contract says.

Shared by the doctor and by the form of a profile. Nothing is changed by asking.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lockterm.api.trust import tls_context
from lockterm.errors import Refused
from lockterm.operations.connection import load_client

if TYPE_CHECKING:
    from lockterm.config import Profile

SOME_LOCK = 1
"""A lock to ask about where none was given: a refusal tells as much as a page."""
DENIED = (401, 403, 407)
"""HTTP status of those who may ask nothing at all."""


@dataclass(frozen=True, slots=True)
class ServiceAnswers:
    """What asking the service showed."""

    refusal: Refused | None
    """Its last refusal; an envelope all the same."""
    first_ms: float
    """The first call, with the connection it needed, in milliseconds."""
    calls_ms: list[float]
    """The others, in milliseconds."""
    offset_s: float | None
    """How far its clock is ahead, in seconds; None where it does not tell."""

    @property
    def denial(self) -> Refused | None:
        """A refusal that is not about the lock: of whoever asks, or by what is no such service."""
        refusal = self.refusal
        if refusal is None or (refusal.code is not None and refusal.status not in DENIED):
            return None
        return refusal


@dataclass(frozen=True, slots=True)
class Certificate:
    """How a service proves who it is."""

    tls: str
    """The version of TLS, as ``TLSv1.3``."""
    until: str
    """Its last day, as ``2027-01-31``."""
    days: int
    """How many days that are."""
    issuer: str
    """Who vouches for it, by its organization or its own name; empty where it does not say."""


async def ask(profile: Profile, lock_id: int = SOME_LOCK, *, more_calls: int = 0) -> ServiceAnswers:
    """Ask for a page of one remote, once and then so many times more.

    Raises:
        LocktermError: There was no answer, or none that can be understood.
    """
    refusal: Refused | None = None
    took_ms = []
    client = await asyncio.to_thread(load_client)
    async with client(profile) as service:
        for _ in range(1 + more_calls):
            began = time.monotonic()
            try:
                await service.list_remotes(lock_id=lock_id, page_no=1, page_size=1)
            except Refused as error:
                refusal = error
            took_ms.append((time.monotonic() - began) * 1000)
        return ServiceAnswers(refusal, took_ms[0], took_ms[1:], service.clock_offset_s)


def look_at_certificate(profile: Profile) -> Certificate:
    """Look at the certificate of a service that is spoken to by https; blocks.

    Raises:
        OSError: It cannot be reached, or is not trusted.
        ValueError: The certificate says nothing of its end.
        Untrusted: The profile's ca_file cannot be used.
    """
    parts = urlsplit(profile.base_url)
    host, port = parts.hostname or "", parts.port or 443
    context = tls_context(profile.base_url, profile.ca_file, ca_only=profile.ca_only)
    with (
        socket.create_connection((host, port), timeout=profile.timeout_s) as plain,
        context.wrap_socket(plain, server_hostname=host) as secure,
    ):
        certificate, version = secure.getpeercert() or {}, secure.version() or "TLS"
    ends_s = ssl.cert_time_to_seconds(str(certificate.get("notAfter", "")))
    until = time.strftime("%Y-%m-%d", time.gmtime(ends_s))
    days = int((ends_s - time.time()) // 86_400)
    return Certificate(version, until, days, _issuer(certificate.get("issuer", ())))


def _issuer(names: Any) -> str:
    """The names are tuples of tuples of pairs, as Python gives them."""
    found = dict(pair for name in names for pair in name)
    return str(found.get("organizationName") or found.get("commonName") or "")
