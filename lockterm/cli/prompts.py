"""Prompts in the terminal, and ``--yes``, which answers them."""

from __future__ import annotations

import select
import signal
import socket
import sys
import termios

import click

from lockterm.cli.exit_codes import FAILED, UsageError, notify
from lockterm.cli.output import put_stderr


def require_answer(yes: bool, what: str) -> None:
    """Require ``--yes``, or a terminal for a prompt.

    Args:
        yes: Whether ``--yes`` was given.
        what: The action, such as ``Deleting``.

    Raises:
        UsageError: There is neither.
    """
    if not yes and not can_prompt():
        raise UsageError(
            f"{what} needs --yes if there is no terminal. Nothing was sent.",
            hint="Give --yes, or run the command in a terminal.",
        )


def can_prompt() -> bool:
    """Return whether stdin and stderr are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def confirm(question: str, *, yes: bool) -> bool:
    """Ask a yes-or-no question, unless ``yes`` answers it."""
    if yes:
        return True
    _drop_typed_keys()
    while (answer := _ask(f"{question} [y/N]: ").lower()) not in ("y", "yes", "n", "no", ""):
        put_stderr("Answer y or n.")
    return answer.startswith("y")


def confirm_by_typing(question: str, accepted: tuple[str, ...], *, yes: bool) -> bool:
    """Ask a person to type one of some words, unless ``yes`` answers it."""
    if yes:
        return True
    _drop_typed_keys()
    return _ask(f"{question}: ") in filter(None, accepted)


def cancel() -> int:
    """Report that nothing was sent; return the exit code."""
    notify("Nothing was sent.")
    return FAILED


def _ask(question: str) -> str:
    """Ask for a line.

    ``input`` can miss a Ctrl+C until the next key, so this waits for signals as well as for input.

    Raises:
        click.Abort: Stdin is at its end.
    """
    put_stderr(question, nl=False)
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


def _drop_typed_keys() -> None:
    """Drop keys that were typed before the question appeared."""
    termios.tcflush(sys.stdin, termios.TCIFLUSH)
