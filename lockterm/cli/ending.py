"""How a command ends: a sentence on stderr where it has to, and an exit code."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import NoReturn

from lockterm.errors import ConfigError, LocktermError
from lockterm.terminal import NoTerminal
from lockterm.text import clean

FAILED = 1
"""Something went wrong that was not typed."""
MISUSED = 2
"""What was typed, configured or attached cannot work."""


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
    tell(" ".join(filter(None, (clean(error.message), clean(error.hint)))))
    return MISUSED if isinstance(error, ConfigError | NoTerminal) else FAILED


def leave(code: int) -> NoReturn:
    """End the process.

    Python would wait for threads that cannot be stopped, such as one that looks up a host's name;
    by now nothing that they could still do matters.
    """
    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    if any(not thread.daemon for thread in others):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(code)
    sys.exit(code)
