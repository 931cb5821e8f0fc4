"""A check of a service: whether it can be reached and trusted, and answers by the contract.

The doctor and the form of a profile use it. It changes nothing.
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
"""The lock to ask about if none is given: a refusal shows as much as a page."""
DENIED = (401, 403, 407)
"""HTTP statuses for callers that may ask nothing at all."""


@dataclass(frozen=True, slots=True)
class ServiceAnswers:
    """The answers of a service to some test calls."""

    refusal: Refused | None
    """The last refusal; it has an envelope too."""
    first_ms: float
    """Milliseconds of the first call, including the connection."""
    calls_ms: list[float]
    """Milliseconds of each further call."""
    offset_s: float | None
    """Seconds by which its clock is ahead; None if unknown."""

    @property
    def denial(self) -> Refused | None:
        """A refusal that concerns the caller, or comes from a server that is not the service."""
        refusal = self.refusal
        if refusal is None or (refusal.code is not None and refusal.status not in DENIED):
            return None
        return refusal


@dataclass(frozen=True, slots=True)
class Certificate:
    """The certificate of a service."""

    tls: str
    """The version of TLS, as ``TLSv1.3``."""
    until: str
    """The last day, as ``2027-01-31``."""
    days: int
    """Days until then."""
    issuer: str
    """The organization or name of the issuer; empty if there is none."""


async def ask(profile: Profile, lock_id: int = SOME_LOCK, *, more_calls: int = 0) -> ServiceAnswers:
    """Request a page of one remote, and repeat that ``more_calls`` times.

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
    """Return the certificate of a service with an https URL; this blocks.

    Raises:
        OSError: The service cannot be reached, or is not trusted.
        ValueError: The certificate has no end date.
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
    """Return the issuer from Python's tuples of tuples of pairs."""
    found = dict(pair for name in names for pair in name)
    return str(found.get("organizationName") or found.get("commonName") or "")
