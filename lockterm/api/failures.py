"""Putting a failed exchange into words, in two kinds: nothing was sent, or it may have been."""

from __future__ import annotations

import socket
from collections.abc import Callable

from lockterm.api.http import httpx
from lockterm.api.trust import tls_failure
from lockterm.errors import NoAnswer, Unreachable

_TIMEOUTS = (TimeoutError, httpx.TimeoutException)


def not_sent(error: Exception, server: str) -> Unreachable:
    """The error for an exchange of which nothing left this machine."""
    untrusted = tls_failure(error, server)
    if untrusted is not None:
        return untrusted
    hint = "Check the network. What was typed is kept; it can be sent once the service answers."
    cause = _root(error)
    if isinstance(cause, socket.gaierror):
        reason = f"the name of {server} cannot be resolved"
        hint = "Check the network and, in the profile, base_url. What was typed is kept."
    elif isinstance(cause, ConnectionRefusedError):
        reason = f"{server} refused the connection"
    elif isinstance(error, _TIMEOUTS):
        reason = f"no connection to {server} came about in time"
    elif isinstance(cause, OSError) and cause.strerror:
        reason = f"no connection to {server} ({cause.strerror})"
    else:
        reason = f"no connection to {server}"
    return Unreachable(f"Nothing was sent: {reason}.", hint=hint)


def no_answer(
    error: Exception, within_s: float, status: int, seen: str, quote: Callable[[str], str]
) -> NoAnswer:
    """The error for an exchange that may have left and got no whole answer.

    Args:
        error: What stopped it.
        within_s: The seconds it had.
        status: The HTTP status that had come; 0 for none.
        seen: The beginning of the body that had come, fit to be shown.
        quote: Makes text that the other side had a hand in fit to be shown.
    """
    if isinstance(error, _TIMEOUTS):
        reason = f"no whole answer came within {within_s:.0f} s"
    elif isinstance(error, httpx.RemoteProtocolError):
        reason = f"the answer broke off or was no HTTP ({quote(str(error))})"
    elif isinstance(error, (httpx.NetworkError, OSError)):
        reason = "the connection broke before the whole answer came"
    else:
        reason = f"the exchange failed ({type(error).__name__}: {quote(str(error))})"
    so_far = f" So far it had said HTTP {status}: {seen or 'nothing more'}." if status else ""
    return NoAnswer(
        f"The request was sent, and {reason}.{so_far}",
        hint="The connection may be slow or unsteady; try again.",
    )


def _root(error: BaseException) -> BaseException:
    """The first cause of an error; of a group of failed addresses, that of the first."""
    while True:
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        elif error.__cause__ is not None:
            error = error.__cause__
        elif error.__context__ is not None and not error.__suppress_context__:
            error = error.__context__
        else:
            return error
