"""The parts that several help texts share: exit codes, environment variables, files, dates."""

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
    """Return the text after a command's options if it consists only of examples and exit codes.

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

ALL_CODES = list_exit_codes(
    _1="refused, or something is wrong",
    _2="an argument, a setting or the terminal is wrong",
    _3="lockterm cannot reach the service, or could not read a lock",
    _4="a change is unconfirmed",
    _5="the local store is damaged, and nothing was sent",
)
"""The exit codes of all commands together."""

CHECK_NAME_CODES = list_exit_codes(
    3,
    5,
    _0="the name is free",
    _1="the name is taken, or the service refused to answer",
)
"""The exit codes of the command ``remotes check-name``."""

DIFF_CODES = list_exit_codes(
    5,
    _0="the locks match the file",
    _1="the locks differ from the file",
    _2="the file or an argument is wrong",
    _3="lockterm cannot reach the service, or could not read a lock",
)
"""The exit codes of the command ``diff``."""

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

FIND_CODES = list_exit_codes(
    5,
    _0="found",
    _1="not found on any lock",
    _2="an argument or a setting is wrong, or the lock book is empty",
    _3="not found, and a lock could not be read",
)
"""The exit codes of the command ``find``."""

PEOPLE_CODES = list_exit_codes(
    5,
    _1="no person matches, or a file cannot be written",
    _2="an argument or a setting is wrong, or the lock book is empty",
    _3="a lock could not be read; the others are listed",
)
"""The exit codes of the command ``people``."""

REPORT_CODES = list_exit_codes(
    5,
    _0="nothing expired, and nothing expires within the time;\n"
    "or the page was written; or no battery is low",
    _1="a remote expired or will, or a period cannot be read;\n"
    "or the page cannot be written; or a battery is low",
    _2="an argument or a setting is wrong, or the lock book is empty",
    _3="a lock or a battery level could not be read; the others\nare listed",
)
"""The exit codes of the command ``report``, which cron jobs can use."""

UNCONFIRMED_CODES = list_exit_codes(
    5,
    _0="no change is unconfirmed",
    _1="the store cannot be used",
    _4="a change is unconfirmed",
)
"""The exit codes of the commands ``unconfirmed list`` and ``unconfirmed check``."""

DECIDING_CODES = list_exit_codes(5, _1="you did not agree, or the store cannot be used")
"""The exit codes of the commands ``unconfirmed dismiss`` and ``unconfirmed adopt``."""

INSTALL_CODES = list_exit_codes(_1="another file is in the way, or the file cannot be written")
"""The exit codes of the commands ``man`` and ``completion``."""

DOCTOR_CODES = list_exit_codes(
    _0="nothing is wrong, but there may be warnings", _1="something is wrong"
)
"""The exit codes of the command ``doctor``."""

DEMO_CODES = list_exit_codes(
    _1="lockterm failed; lockterm info shows where its log is",
    _2="an argument, a setting or the terminal is wrong",
)
"""The exit codes of the command ``demo``."""

SERVE_CODES = list_exit_codes(
    _0="ended by SIGINT or SIGTERM",
    _1="the address or the database cannot be used",
)
"""The exit codes of the command ``serve``."""

NO_CODES = list_exit_codes()
"""The exit codes that every command can return."""

ENVIRONMENT = """\
\b
Environment:
  LOCKTERM_PROFILE    name of a profile, like --profile
  LOCKTERM_BASE_URL   address of a service, like --base-url
  LOCKTERM_LOCK       ID of a lock, like --lock
  LOCKTERM_READ_ONLY  1: like --read-only
  LOCKTERM_QUIET      1: like --quiet
  NO_COLOR            any value: no color
  XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_CACHE_HOME
                      directories of the files
"""

FILES = """\
\b
Files (lockterm info shows the paths in use):
  ~/.config/lockterm/config.toml        profiles
  ~/.local/state/lockterm/lockterm.db   lock book and journal
  ~/.local/state/lockterm/lockterm.log  log, at most 1 MiB
  ~/.local/share/lockterm/              exports and voice packs
  ~/.cache/lockterm/                    can be deleted at any time
"""

LOCK = """\
LOCK is the ID of a lock, or its name in the lock book.
"""

LOCK_AND_REMOTE = """\
LOCK is the ID of a lock, or its name in the lock book. REMOTE is the ID of a remote, as list shows
it.
"""

TIMES = """\
\b
Dates are in the time zone of the lock's entry in the lock book, or of
the profile. lockterm shows dates with their offset. You can type:
  2026-12-01 09:00   1 Dec 2026 9:00   2026-12-01 09:00 +01:00
  now   today 18:00   tomorrow noon   next fri 6pm   eom   eoy
  +6h   +30d   2 weeks   +6mo 18:00   +1mo eom
A day without a time starts at 00:00 and ends at the end of the day.
An end such as +30d counts from the remote's current end. If the remote
has no end or has expired, +30d counts from now, or from a later start.
Weekdays: mon-fri   mo,we   1-5   weekend   daily
"""

CERTAINTY = """\
lockterm writes every change to the journal, then sends it, and never repeats it without your
consent. If no answer comes, lockterm verifies the change for up to 90 s. "Recorded by the service"
does not mean that the change has reached the lock. The service does not report that.
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

TABLES = """\
FILE is a table of remotes: CSV with commas, semicolons or tabs in UTF-8 or UTF-16, or the JSON of
export.

\b
Columns, in any order, with these names or the labels of the form:
  lockId         required
  remoteId, remoteNumber, remoteName
                 the first that is filled in selects the remote
  action         add, update, delete or keep; empty: update
                 what exists, add the rest
  remoteType     permanent, time-limited, recurring; or 1, 2, 4
  startDate, endDate
                 as in the form, 31.12.2026, or milliseconds
  weekDay        as in the form, or 1,3,5
  isCoerced, extraData, addType
                 and the other fields of a new remote

An empty cell is an empty field. A missing column changes nothing. The command checks the whole file
first, and reports each problem with line, column and value.

\b
For the table of another system, MAPFILE is a TOML file like this:
  [columns]
  "First name" = "first name"
  "Last name" = "last name"
  "Card no" = "number"
  "Notes" = "ignore"
  [doors]
  "Main entrance" = "1001"
  [format]
  dates = "day/month/year"
  numbers = "hex"
  [values]
  type = "permanent"
"""
