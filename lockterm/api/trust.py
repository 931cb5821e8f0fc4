"""TLS: the trusted authorities, and the errors for failed handshakes.

lockterm always checks certificates.
"""

from __future__ import annotations

import contextlib
import errno
import ssl
from pathlib import Path

from lockterm.domain.safe_text import clean
from lockterm.errors import UntrustedServerError
from lockterm.safe_files import read_guarded

_LARGEST = 16 << 20
"""Maximum size of a ca_file in bytes. A file with all well-known authorities has about 300,000."""
_OF_THE_LINE = (
    ssl.SSLEOFError,
    ssl.SSLZeroReturnError,
    ssl.SSLSyscallError,
    ssl.SSLWantReadError,
    ssl.SSLWantWriteError,
)
"""Errors of a connection that stalled or broke during the handshake. A new attempt may succeed."""


_CERTIFICATE_REQUIRED = "TLSV13_ALERT_CERTIFICATE_REQUIRED"
_WANTS_CERTIFICATE = (
    _CERTIFICATE_REQUIRED,
    "SSLV3_ALERT_BAD_CERTIFICATE",
    "SSLV3_ALERT_NO_CERTIFICATE",
)
_REFUSED = "SSLV3_ALERT_HANDSHAKE_FAILURE"
"""The only reason that most servers with TLS 1.2 give for a missing client certificate."""
NO_CERTIFICATE = (
    "lockterm has no client certificates. Ask the operator of the gateway for a header or a token."
)


def tls_context(base_url: str, ca_file: str, *, ca_only: bool = False) -> ssl.SSLContext:
    """Return the TLS context for a base URL.

    For https, the context trusts the well-known authorities, the authorities of this machine, and
    those in ``ca_file``. For http, it trusts none, because loading authorities takes 40 ms.

    The function ignores the environment: ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` would add
    authorities, and ``SSLKEYLOGFILE`` would record the keys that decrypt the connection.

    Args:
        base_url: The URL to connect to.
        ca_file: The path of a PEM file with additional authorities; may be empty.
        ca_only: Whether to trust only the authorities in ``ca_file``.

    Raises:
        UntrustedServerError: ``ca_file`` cannot be read as PEM certificates.
    """
    context = _context()
    if not base_url.startswith("https:"):
        return context
    if not ca_only:
        # A late import, because the manual page of "lockterm doctor" is built without certifi.
        import certifi

        context.load_verify_locations(cafile=certifi.where())
        machine = ssl.get_default_verify_paths()
        with contextlib.suppress(OSError):
            context.load_verify_locations(cafile=machine.openssl_cafile)
        if Path(machine.openssl_capath).is_dir():
            context.load_verify_locations(capath=machine.openssl_capath)
    _load_own(context, ca_file)
    return context


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # verifies, and ignores the environment
    context.post_handshake_auth = False  # see unread_failure
    return context


def _load_own(context: ssl.SSLContext, ca_file: str) -> None:
    """Add the authorities of ``ca_file`` to a context, unless ``ca_file`` is empty."""
    if not ca_file:
        return
    # The certificate of an issuing CA is enough, even if the CA that signed it is unknown.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        content, _, why = read_guarded(Path(ca_file).expanduser(), _LARGEST, "ca_file")
        if why:
            raise PermissionError(errno.EPERM, why)
        # OpenSSL ignores text between certificates, such as names in other alphabets.
        context.load_verify_locations(cadata=content.decode("ascii", "ignore"))
    except (OSError, ValueError, RuntimeError) as error:  # ssl.SSLError is an OSError
        is_content = isinstance(error, (ssl.SSLError, ValueError))
        problem = "it holds no certificates" if is_content else getattr(error, "strerror", "")
        raise UntrustedServerError(
            f"The ca_file {clean(ca_file)} cannot be used: {problem or 'no such place'}. "
            "Nothing was sent.",
            hint="The file must contain certificates that start with -----BEGIN CERTIFICATE-----.",
        ) from None


def wants_certificate(cause: BaseException) -> bool:
    """Return whether an error shows that the server requires a client certificate.

    With TLS 1.3, the client may get this error only after it has sent the request.
    """
    return isinstance(cause, ssl.SSLError) and cause.reason in _WANTS_CERTIFICATE


def unread_failure(cause: BaseException, server: str) -> UntrustedServerError | None:
    """Return the error to raise if ``cause`` proves that the server did not read the request.

    With TLS 1.3, a client ends its part of the handshake and sends the request at once. A server
    that requires a certificate closes the connection before it reads the request. A server can
    request a certificate later only from a client that offers post-handshake authentication, and
    lockterm does not offer this.

    Returns:
        The error; None if ``cause`` does not prove this.
    """
    if not isinstance(cause, ssl.SSLError) or cause.reason != _CERTIFICATE_REQUIRED:
        return None
    return UntrustedServerError(
        f"No secure connection to {server}: it requires a client certificate. It did not"
        " read the request, so nothing was changed.",
        hint=NO_CERTIFICATE,
    )


def tls_failure(cause: BaseException, server: str) -> UntrustedServerError | None:
    """Return the error to raise for a failed TLS handshake; None if ``cause`` is another error."""
    if not isinstance(cause, ssl.SSLError) or isinstance(cause, _OF_THE_LINE):
        return None
    if isinstance(cause, ssl.SSLCertVerificationError):
        return UntrustedServerError(
            f"The certificate of {server} was not accepted: {clean(cause.verify_message, 200)}. "
            "Nothing was sent.",
            hint="If your own authority issued the certificate, set ca_file in the profile to "
            "that authority's PEM file. Otherwise another machine may be intercepting the "
            "connection.",
        )
    if wants_certificate(cause):
        return UntrustedServerError(
            (
                f"No secure connection to {server}: it requires a client certificate. Nothing"
                " was sent."
            ),
            hint=NO_CERTIFICATE,
        )
    if cause.reason == _REFUSED:
        return UntrustedServerError(
            f"{server} refused to make a secure connection. Nothing was sent.",
            hint=f"It may require a client certificate, or another TLS version. {NO_CERTIFICATE}",
        )
    reason = clean(cause.reason or cause.strerror or "the handshake failed", 200)
    return UntrustedServerError(
        f"No secure connection to {server}: {reason}. Nothing was sent.",
        hint="Check base_url. The port may use no TLS, or a version that is too old.",
    )
