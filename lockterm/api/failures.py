"""The errors for failed exchanges: the request was not sent, was not read, or got no answer."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import httpcore

from lockterm.api.trust import NO_CERTIFICATE, tls_failure, unread_failure, wants_certificate
from lockterm.errors import NoAnswerError, UnreachableError, UntrustedServerError

_TIMEOUTS = (TimeoutError, httpcore.TimeoutException)


def not_sent(error: Exception, server: str) -> UnreachableError:
    """Return the error for a request that never left this machine.

    Args:
        error: The cause.
        server: The host and port, for the message.
    """
    reason = f"no connection to {server}"
    if isinstance(error, _TIMEOUTS):
        reason += " was made in time"
    hint = "Check the network, then try again."
    for cause in _causes(error):
        if untrusted := tls_failure(cause, server):
            return untrusted
        if isinstance(cause, socket.gaierror):
            reason = f"the name of {server} cannot be resolved"
            hint = "Check the network, and check base_url in the profile. Then try again."
            break
        if isinstance(cause, ConnectionRefusedError):
            reason = f"{server} refused the connection"
            break
        if isinstance(cause, OSError) and cause.errno and cause.strerror and not cause.filename:
            reason = f"no connection to {server} ({cause.strerror})"
            break
    return UnreachableError(f"Nothing was sent: {reason}.", hint=hint)


def not_read(error: Exception, server: str) -> UntrustedServerError | None:
    """Return the error for a sent request that the server provably did not read, or None.

    Call this only if no byte of an answer came.
    """
    return next(filter(None, (unread_failure(cause, server) for cause in _causes(error))), None)


def no_answer(
    error: Exception, within_s: float, status: int, seen: str, quote: Callable[[str], str]
) -> NoAnswerError:
    """Return the error for a request that may have been sent but got no complete answer.

    Args:
        error: The cause.
        within_s: The time limit in seconds.
        status: The received HTTP status; 0 if none was received.
        seen: The beginning of the received body, already safe to show.
        quote: A function that makes text from the server safe to show.
    """
    if isinstance(error, _TIMEOUTS):
        reason = f"No complete answer came within {within_s:.0f} s"
    elif isinstance(error, httpcore.RemoteProtocolError):
        reason = f"The answer broke off, or was not HTTP ({quote(str(error)).rstrip('.')})"
    elif isinstance(error, (httpcore.NetworkError, OSError)):
        reason = "The connection broke before the complete answer came"
    else:
        reason = (
            f"The exchange with the service failed ({type(error).__name__}: {quote(str(error))})"
        )
    hint = "The connection may be slow or unstable. Try again."
    if any(map(wants_certificate, _causes(error))):
        reason, hint = "The service requires a client certificate", NO_CERTIFICATE
    so_far = (
        f" Before that, the service answered HTTP {status}: {seen or 'nothing more'}."
        if status
        else ""
    )
    return NoAnswerError(f"{reason}.{so_far}", hint=hint)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, the latest first.

    If several addresses failed, only the error of the first one is followed.
    """
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        else:
            error = error.__cause__ or error.__context__
