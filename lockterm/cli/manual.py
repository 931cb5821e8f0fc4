"""The parts that the help texts of several commands share, such as the exit codes.

The other parts of a help text are in the module of its command.
"""

from __future__ import annotations

_CODES = {
    0: ("done",),
    1: (
        "refused by the service, a read-only profile, an unconfirmed",
        "change, or you; nothing was changed",
    ),
    2: ("an argument or a setting is wrong",),
    3: ("lockterm cannot reach or understand the service;", "nothing was changed"),
    4: (
        "unconfirmed: the change was sent, but no answer came, and",
        "lockterm could not verify it in 90 s; see lockterm history",
    ),
    5: (
        "the local store is damaged; nothing was sent, and lockterm",
        "kept what it could read of the store",
    ),
    6: ("done, but the output could not be written",),
    130: ("interrupted (128 + n: ended by signal n)",),
}
"""Maps exit codes to the lines that explain them."""
_OF_EVERY_COMMAND = (0, 2, 6, 130)


def list_exit_codes(*numbers: int, **meanings: str) -> str:
    """Return the "Exit codes" section of a command's help.

    Args:
        numbers: The codes with their usual meaning. Codes that every command can return are added.
        meanings: Special meanings of codes for this command, such as ``_1="they differ"``.
    """
    lines = {number: _CODES[number] for number in (*_OF_EVERY_COMMAND, *numbers)}
    lines |= {int(name[1:]): tuple(text.splitlines()) for name, text in meanings.items()}
    listed = [
        f"  {number:<5}{line}" if place == 0 else f"       {line}"
        for number in sorted(lines)
        for place, line in enumerate(lines[number])
    ]
    return "\n".join(["\b", "Exit codes:", *listed, ""])


def list_examples(codes: str, *commands: str) -> str:
    """Return the examples and the exit codes for a help text, which shows them after the options.

    Args:
        codes: The section with the exit codes.
        commands: The command lines of the examples.
    """
    lines = "\n".join(f"  {command}" for command in commands)
    return f"\b\nExamples:\n{lines}\n\n{codes}"


CHANGING = list_exit_codes(
    *(1, 3, 4, 5),
    _0="done, or already up to date",
    _2="an argument or a setting is wrong; nothing was sent",
)
"""The exit codes of a command that sends changes."""

READING = list_exit_codes(3, 5, _1="refused by the service, or the store cannot be used")
"""The exit codes of a command that reads from the service."""

LOCAL = list_exit_codes(5, _1="the store cannot be used")
"""The exit codes of a command that sends nothing to the service."""


EXPORT_CODES = list_exit_codes(
    3,
    5,
    _1="refused by the service or you, or a file cannot be written",
)
"""The exit codes of the commands ``export`` and ``voice fetch``."""

RUN_CODES = list_exit_codes(
    5,
    _0="done, or already up to date",
    _1="a step was refused, or skipped because its remote has\n"
    "changed since the plan was made; or you did not agree",
    _2="the file or an argument is wrong; nothing was sent",
    _3="lockterm cannot reach the service; nothing was changed",
    _4="a step is unconfirmed",
    _130="interrupted (128 + n: ended by signal n) after the steps\n"
    "that were being sent; runs resume continues",
)
"""The exit codes of commands that run a plan."""


NO_CODES = list_exit_codes()
"""The exit codes that every command can return."""

LOCK = """\
LOCK is the ID of a lock, or its name in the lock book.
"""

LOCK_AND_REMOTE = """\
LOCK is the ID of a lock, or its name in the lock book. REMOTE is the ID of a remote, as list shows
it.
"""


LINES = """\
\b
--json prints a line for each step: step, line, lockId, remoteId,
  remoteName, action, state and message. state is planned in a dry
  run, otherwise recorded, unchanged, refused, skipped, unknown or
  not_sent. The last line has run (its ID) and counts. For copy it
  also has leftOut: the number of expired remotes that are skipped.
"""

UNREAD = """\
The command searches the locks of the lock book. Locks that it cannot read are named on stderr.
"""
