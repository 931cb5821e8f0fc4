"""Asking a person in the terminal, or being told with ``--yes`` that there is nobody to ask."""

from __future__ import annotations

import sys

import click

from lockterm.cli.ending import Misused


def require_someone(yes: bool, what: str) -> None:
    """See that somebody decides about something that cannot be undone.

    Args:
        yes: Whether ``--yes`` was given.
        what: What it is: ``Deleting``.

    Raises:
        Misused: Nobody did, and nobody can be asked.
    """
    if not yes and not _can_ask():
        raise Misused(
            f"{what} needs --yes where nobody can be asked; nothing was sent.",
            hint="Give --yes, or run it in a terminal.",
        )


def agree(question: str, *, yes: bool) -> bool:
    """Ask a yes-or-no question; ``yes`` answers it."""
    if yes:
        return True
    _forget_keys()
    return click.confirm(question, default=False, err=True)


def agree_by_typing(question: str, accepted: tuple[str, ...], *, yes: bool) -> bool:
    """Ask for one of some words to be typed; ``yes`` answers it."""
    if yes:
        return True
    _forget_keys()
    answer: str = click.prompt(question, default="", show_default=False, err=True)
    return answer.strip() in [word for word in accepted if word]


def _can_ask() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _forget_keys() -> None:
    """Keys typed before a question was there were not meant for it."""
    import termios

    termios.tcflush(sys.stdin, termios.TCIFLUSH)
