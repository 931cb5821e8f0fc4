"""Asking a person in the terminal, or being told with ``--yes`` that there is nobody to ask."""

from __future__ import annotations

import select
import signal
import socket
import sys
import termios

import click

from lockterm.cli.exit_codes import FAILED, UsageError, tell
from lockterm.cli.output import put_aside


def require_someone(yes: bool, what: str) -> None:
    """See that somebody decides about something that cannot be undone.

    Args:
        yes: Whether ``--yes`` was given.
        what: What it is: ``Deleting``.

    Raises:
        UsageError: Nobody did, and nobody can be asked.
    """
    if not yes and not can_ask():
        raise UsageError(
            f"{what} needs --yes where nobody can be asked; nothing was sent.",
            hint="Give --yes, or run it in a terminal.",
        )


def can_ask() -> bool:
    """Return whether somebody at a terminal can answer a question."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def agree(question: str, *, yes: bool) -> bool:
    """Ask a yes-or-no question; ``yes`` answers it."""
    if yes:
        return True
    _forget_keys()
    while (answer := _ask(f"{question} [y/N]: ").lower()) not in ("y", "yes", "n", "no", ""):
        put_aside("Answer y or n.")
    return answer.startswith("y")


def agree_by_typing(question: str, accepted: tuple[str, ...], *, yes: bool) -> bool:
    """Ask for one of some words to be typed; ``yes`` answers it."""
    if yes:
        return True
    _forget_keys()
    return _ask(f"{question}: ") in filter(None, accepted)


def let_be() -> int:
    """Say that nothing was sent, since it was not agreed to.

    Returns:
        The exit code.
    """
    tell("Nothing was sent.")
    return FAILED


def _ask(question: str) -> str:
    """Ask for a line.

    Not ``input``: a ctrl+c that comes between its last look for signals and its read is noticed
    only after the next key. What is waited for here is woken by the signal itself.

    Raises:
        click.Abort: There will be no line.
    """
    put_aside(question, nl=False)
    waking, woken = socket.socketpair()
    with waking, woken:
        waking.setblocking(False)
        before = signal.set_wakeup_fd(waking.fileno())
        try:
            select.select([sys.stdin, woken], [], [])
        finally:
            signal.set_wakeup_fd(before)
    line = sys.stdin.readline()
    if not line:
        raise click.Abort
    return line.strip()


def _forget_keys() -> None:
    """Keys typed before a question was there were not meant for it."""
    termios.tcflush(sys.stdin, termios.TCIFLUSH)
