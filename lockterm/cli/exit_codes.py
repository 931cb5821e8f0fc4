"""How a command ends: a sentence on stderr where it has to, and an exit code."""

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
"""It was done, or what was asked for is so already."""
FAILED = 1
"""It was refused, by the service or here, or something went wrong that was not typed."""
MISUSED = 2
"""What was typed, configured or attached cannot work; nothing was sent."""
UNREACHABLE = 3
"""The service gave no answer that could be used, and nothing was changed."""
UNKNOWN = 4
"""A change may have been recorded or not, and reading it back did not settle that."""
DAMAGED = 5
"""Nothing was sent, since the local store is damaged; what can be read of it is kept."""

NOT_PRINTED = 6
"""It was done, but the output could not be written."""

NO_SERVICE = "lockterm knows no service yet."


class UsageError(LocktermError):
    """What was typed cannot be done, and nothing was sent."""

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


class Interrupted(Exception):
    """A signal ended a command in good order.

    Args:
        number: The signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number
        """What a shell expects."""
        self.sentence = "Interrupted; nothing was changed."
        """What is known of it."""


def tell(sentence: str) -> None:
    """Say something on stderr, or on stdout where there is none."""
    stream = sys.stderr or sys.stdout
    if stream is None:
        return
    with suppress(OSError, UnicodeEncodeError):
        stream.write(f"lockterm: {sentence}\n")
        stream.flush()


def tell_error(error: LocktermError) -> int:
    """Say what happened and what to do.

    Returns:
        The exit code.
    """
    tell(sentence_of(error))
    return code_of(error)


def code_of(error: LocktermError) -> int:
    """The exit code of a command that ended so."""
    if isinstance(error, RuleViolation):
        from lockterm.domain.remotes import ADDED

        # What was typed is wrong; or the profile, the lock or the remote does not allow it.
        return MISUSED if error.reasons.keys() <= {field.name for field in ADDED} else FAILED
    return next((code for kind, code in _CODES if isinstance(error, kind)), FAILED)


def sentence_of(error: LocktermError) -> str:
    """What happened, what it means and what to do, on one line that is safe to show."""
    said = error.sentences_with(hint_of(error))
    return clean(f"{error.title}: {said}" if isinstance(error, ServiceError) else said)


def hint_of(error: LocktermError) -> str:
    """What to do, where no form is open that keeps what was typed."""
    if error.hint == CORRECT_FIELDS:
        return ""
    if isinstance(error, Unreachable) and not isinstance(error, Untrusted):
        return "Check the network and the base URL, then try again."
    return error.hint


def leave(code: int) -> NoReturn:
    """End the process.

    Python would wait for threads that cannot be stopped, such as one that looks up a host's name;
    by now nothing that they could still do matters.
    """
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):  # else Python tries again at its end, and makes 120 of a code
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    if any(not thread.daemon for thread in others):
        os._exit(code)
    sys.exit(code)
