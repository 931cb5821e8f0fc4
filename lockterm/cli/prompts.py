"""Prompts in the terminal, and the option ``--yes`` that skips them."""

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
    """Check that ``--yes`` was given, or that a prompt can be shown in a terminal.

    Args:
        yes: Whether ``--yes`` was given.
        what: The action with which the error message begins, such as ``Deleting``.

    Raises:
        UsageError: ``--yes`` was not given, and there is no terminal.
    """
    if not yes and not can_prompt():
        raise UsageError(
            f"{what} needs --yes if there is no terminal. Nothing was sent.",
            hint="Give --yes, or run the command in a terminal.",
        )


def can_prompt() -> bool:
    """Return whether stdin and stderr are terminals, so that a prompt can be shown."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def confirm(question: str, *, yes: bool) -> bool:
    """Ask a yes-or-no question and return the answer; with ``yes``, return True without asking."""
    if yes:
        return True
    _drop_typed_keys()
    while (answer := _ask(f"{question} [y/N]: ").lower()) not in ("y", "yes", "n", "no", ""):
        put_stderr("Answer y or n.")
    return answer.startswith("y")


def confirm_by_typing(question: str, accepted: tuple[str, ...], *, yes: bool) -> bool:
    """Ask the user to type a text, and return whether it is an accepted one.

    Args:
        question: The prompt.
        accepted: The accepted texts; empty ones are ignored.
        yes: Whether to return True without a prompt.
    """
    if yes:
        return True
    _drop_typed_keys()
    return _ask(f"{question}: ") in filter(None, accepted)


def cancel() -> int:
    """Report on stderr that nothing was sent, and return the exit code of a canceled command."""
    notify("Nothing was sent.")
    return FAILED


def _ask(question: str) -> str:
    """Print a question, and return the line that the user types.

    The function waits for signals as well as for input, because with ``input`` a Ctrl+C may have no
    effect until the next key.

    Raises:
        click.Abort: There is no more input.
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
    """Discard keys that were typed before the question appeared."""
    termios.tcflush(sys.stdin, termios.TCIFLUSH)
