"""The exit codes of commands, and the sentences that report errors on stderr."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import NoReturn

from lockterm.domain.safe_text import clean
from lockterm.errors import (
    CORRECT_FIELDS,
    ConfigError,
    LocktermError,
    MalformedAnswerError,
    NoAnswerError,
    ResultUnknownError,
    RuleViolationError,
    ServiceError,
    StoreDamagedError,
    UnreachableError,
    UntrustedServerError,
)
from lockterm.terminal.signals import NoTerminalError

DONE = 0
"""The exit code of a command that did its work, or that had nothing to do."""
FAILED = 1
"""The exit code if the service or lockterm refused the work, or if the work failed.

Some kinds of failure have their own exit code.
"""
MISUSED = 2
"""The exit code if an argument, a setting or the terminal is not usable, so nothing was sent."""
UNREACHABLE = 3
"""The exit code if the service gave no usable answer, and nothing was changed."""
UNKNOWN = 4
"""The exit code if the result of a change is unconfirmed.

The command tried to verify the change, but could not determine whether the service recorded the
change.
"""
DAMAGED = 5
"""The exit code if the local store is damaged, so nothing was sent.

lockterm kept the entries of the store that it could read.
"""
NOT_PRINTED = 6
"""The exit code if the command did its work, but could not write its output."""

NO_SERVICE = "No service is configured."


class UsageError(LocktermError):
    """An error about a wrong argument of a command. The command sent nothing."""

    title = "Not sent"


_CODES: tuple[tuple[type[LocktermError], int], ...] = (
    (UsageError, MISUSED),
    (ResultUnknownError, UNKNOWN),
    (UnreachableError, UNREACHABLE),
    (NoAnswerError, UNREACHABLE),
    (MalformedAnswerError, UNREACHABLE),
    (ConfigError, MISUSED),
    (NoTerminalError, MISUSED),
    (StoreDamagedError, DAMAGED),
)


class CommandInterruptedError(Exception):
    """An error that ends a command after a signal.

    Args:
        number: The number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number
        self.sentence = "Interrupted. Nothing was changed."


def notify(sentence: str) -> None:
    """Print a sentence on stderr, or on stdout if stderr is closed."""
    stream = sys.stderr or sys.stdout
    if stream is None:
        return
    with suppress(OSError, UnicodeEncodeError):
        stream.write(f"lockterm: {sentence}\n")
        stream.flush()


def report_error(error: LocktermError) -> int:
    """Print an error and its advice on stderr, and return the exit code."""
    notify(format_error(error))
    return exit_code_of(error)


def exit_code_of(error: LocktermError) -> int:
    """Return the exit code for an error."""
    if isinstance(error, RuleViolationError):
        from lockterm.domain.remotes import ADDED

        # Either an argument is wrong, or the profile, the lock or the remote forbids the change.
        return MISUSED if error.reasons.keys() <= {field.name for field in ADDED} else FAILED
    return next((code for kind, code in _CODES if isinstance(error, kind)), FAILED)


def format_error(error: LocktermError) -> str:
    """Return one line with an error, its meaning and advice, without control characters."""
    text = error.sentences_with(advice_of(error))
    return clean(f"{error.title}: {text}" if isinstance(error, ServiceError) else text)


def advice_of(error: LocktermError) -> str:
    """Return the advice of an error to users of the command line; empty if there is none.

    Advice that applies only to a form of the UI is left out or replaced.
    """
    if error.hint == CORRECT_FIELDS:
        return ""
    if isinstance(error, UnreachableError) and not isinstance(error, UntrustedServerError):
        return "Check the network and the base URL, then try again."
    return error.hint


def leave(code: int) -> NoReturn:
    """End the process with an exit code.

    The function does not wait for other threads, because a thread may look up a host name for a
    long time.
    """
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):  # Python would flush once more, and exit with 120
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    if any(not thread.daemon for thread in others):
        os._exit(code)
    sys.exit(code)
