"""A check that a service is reachable, is trusted, and answers according to the contract.

``lockterm doctor`` and the profile form use this check. It changes nothing on the service.
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
from lockterm.errors import RefusedError
from lockterm.operations.connection import load_client

if TYPE_CHECKING:
    from lockterm.config import Profile

SOME_LOCK = 1
"""The ID of the lock to request if none is given. A refusal of this lock also shows that the
service answers."""
DENIED = (401, 403, 407)
"""The HTTP statuses by which a server denies all requests of a caller."""


@dataclass(frozen=True, slots=True)
class ServiceAnswers:
    """The results of some test calls to a service."""

    refusal: RefusedError | None
    """The last refusal, which shows that the service answers; None if no call was refused."""
    first_ms: float
    """Duration of the first call, including the opening of the connection, in milliseconds."""
    calls_ms: list[float]
    """Durations of the other calls, in milliseconds."""
    offset_s: float | None
    """Number of seconds by which the service's clock is ahead; None if unknown."""

    @property
    def denial(self) -> RefusedError | None:
        """The refusal, if it denies all access or did not come from the service; otherwise None."""
        refusal = self.refusal
        if refusal is None or (refusal.code is not None and refusal.status not in DENIED):
            return None
        return refusal


@dataclass(frozen=True, slots=True)
class Certificate:
    """Facts about the TLS certificate of a service."""

    tls: str
    """The TLS version, such as ``TLSv1.3``."""
    until: str
    """The last day on which the certificate is valid, such as ``2027-01-31``."""
    days: int
    """Number of days until the certificate expires."""
    issuer: str
    """The organization or name of the certificate's issuer; empty if unknown."""


async def ask(profile: Profile, lock_id: int = SOME_LOCK, *, more_calls: int = 0) -> ServiceAnswers:
    """Request a page with one remote, repeat this ``more_calls`` times, and return the results.

    Raises:
        LocktermError: The service did not answer, or its answer does not follow the contract.
    """
    refusal: RefusedError | None = None
    took_ms = []
    client = await asyncio.to_thread(load_client)
    async with client(profile) as service:
        for _ in range(1 + more_calls):
            began = time.monotonic()
            try:
                await service.list_remotes(lock_id=lock_id, page_no=1, page_size=1)
            except RefusedError as error:
                refusal = error
            took_ms.append((time.monotonic() - began) * 1000)
        return ServiceAnswers(refusal, took_ms[0], took_ms[1:], service.clock_offset_s)


def look_at_certificate(profile: Profile) -> Certificate:
    """Return facts about the certificate of a service with an https URL.

    The function waits for the network, so call it in a thread.

    Raises:
        OSError: The service cannot be reached, or its certificate is not trusted.
        ValueError: The certificate has no end date.
        UntrustedServerError: The ``ca_file`` of the profile cannot be used.
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
    """Return the name of an issuer from the nested tuples of ``ssl.getpeercert``."""
    fields = dict(pair for name in names for pair in name)
    return str(fields.get("organizationName") or fields.get("commonName") or "")
