"""The exit codes of commands, and the sentence on stderr for an error."""

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
    MalformedAnswer,
    NoAnswer,
    OutcomeUnknown,
    RuleViolation,
    ServiceError,
    StoreDamaged,
    Unreachable,
    Untrusted,
)
from lockterm.terminal.signals import NoTerminal

DONE = 0
"""Done, or already up to date."""
FAILED = 1
"""Refused by the service or here, or failed for another reason than a wrong argument."""
MISUSED = 2
"""An argument, a setting or the terminal is wrong; nothing was sent."""
UNREACHABLE = 3
"""The service gave no usable answer; nothing was changed."""
UNKNOWN = 4
"""A change is unconfirmed: reading it back did not show whether it was recorded."""
DAMAGED = 5
"""The local store is damaged; nothing was sent, and lockterm kept what it could read."""
NOT_PRINTED = 6
"""Done, but the output could not be written."""

NO_SERVICE = "No service is configured."


class UsageError(LocktermError):
    """An argument is wrong; nothing was sent."""

    title = "Not sent"


_CODES: tuple[tuple[type[LocktermError], int], ...] = (
    (UsageError, MISUSED),
    (OutcomeUnknown, UNKNOWN),
    (Unreachable, UNREACHABLE),
    (NoAnswer, UNREACHABLE),
    (MalformedAnswer, UNREACHABLE),
    (ConfigError, MISUSED),
    (NoTerminal, MISUSED),
    (StoreDamaged, DAMAGED),
)


class CommandInterruptedError(Exception):
    """A signal ended a command.

    Args:
        number: The signal.
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
    """Print an error and its advice; return the exit code."""
    notify(format_error(error))
    return exit_code_of(error)


def exit_code_of(error: LocktermError) -> int:
    """Return the exit code for an error."""
    if isinstance(error, RuleViolation):
        from lockterm.domain.remotes import ADDED

        # Either an argument is wrong, or the profile, the lock or the remote forbids the change.
        return MISUSED if error.reasons.keys() <= {field.name for field in ADDED} else FAILED
    return next((code for kind, code in _CODES if isinstance(error, kind)), FAILED)


def format_error(error: LocktermError) -> str:
    """Return an error, its meaning and its advice as one clean line."""
    said = error.sentences_with(advice_of(error))
    return clean(f"{error.title}: {said}" if isinstance(error, ServiceError) else said)


def advice_of(error: LocktermError) -> str:
    """Return the advice of an error, without what makes sense only in a form."""
    if error.hint == CORRECT_FIELDS:
        return ""
    if isinstance(error, Unreachable) and not isinstance(error, Untrusted):
        return "Check the network and the base URL, then try again."
    return error.hint


def leave(code: int) -> NoReturn:
    """End the process without waiting for threads, such as one that looks up a host name."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):  # otherwise Python tries again and exits with 120
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    if any(not thread.daemon for thread in others):
        os._exit(code)
    sys.exit(code)
