"""The parts that the ends of several help texts have in common."""

from __future__ import annotations

NOT_PRINTED = "  6    done, but the output could not be written\n"

EXIT_CODES = f"""\
\b
Exit codes:
  0    done, or so already
  1    refused by the service, by a read-only profile, by an unsettled
       change before it, or by you; nothing was changed
  2    usage: what was typed or configured cannot work; nothing was sent
  3    the service cannot be reached, or gives no answer that can be
       understood; nothing was changed
  4    result unknown: sent, no answer, and reading it back did not
       settle it; see lockterm's history before sending it again
  5    the local store is damaged: nothing was sent, what can be read
       of it is kept; look at lockterm's history
{NOT_PRINTED}  130  interrupted (128 + n: ended by signal n)
"""

EXIT_CODES_OF_ALL = f"""\
\b
Exit codes:
  0    done, or all is well
  1    refused, or something went wrong
  2    what was typed, configured or attached cannot work
  3    the service cannot be reached, or a lock of the book was not read
  4    whether a change was recorded is not known
  5    the local store is damaged, and nothing was sent
{NOT_PRINTED}  130  interrupted (128 + n: ended by signal n)
"""

ENVIRONMENT = """\
\b
Environment:
  LOCKTERM_PROFILE    a profile's name, as --profile
  LOCKTERM_BASE_URL   a service, as --base-url
  LOCKTERM_LOCK       a lock's id, as --lock
  LOCKTERM_READ_ONLY  1: as --read-only
  LOCKTERM_QUIET      1: as --quiet
  NO_COLOR            anything: no colours
  XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_CACHE_HOME
                      where the files are
"""

FILES = """\
\b
Files (lockterm info names those in effect):
  ~/.config/lockterm/config.toml       profiles
  ~/.local/state/lockterm/lockterm.db  lock book and journal
  ~/.local/state/lockterm/lockterm.log the log, put aside at 1 MiB
  ~/.local/share/lockterm/             exports and voice packs
  ~/.cache/lockterm/                   what may be deleted
"""

LOCK = """\
LOCK is a lock's id, or its name in the lock book. REMOTE is a remote's id, as list shows it.
"""

TIMES = """\
\b
Times are typed as in the form, in the zone of the lock book's entry or
of the profile, and are told with their offset:
  2026-12-01 09:00   1 Dec 2026 9:00   2026-12-01 09:00 +01:00
  now   today 18:00   tomorrow 9:00   eom   +6h   +30d   +6mo 18:00
A day without a time is its beginning for a start, its end for an end.
An end such as +30d counts from the remote's current end; if there is none
or it has passed, from a start that lies ahead, else from now.
Weekdays: mon-fri   mo,we   1-5   weekend   daily
"""

CERTAINTY = """\
Every change is written into the journal before it is sent and never sent twice by itself. Where no
answer comes it is read back until there is a proof, for 90 s at the most. "Recorded by the service"
is not "arrived at the lock": that the service does not tell.
"""

LINES = """\
\b
--json: for each step a line with step, line, lockId, remoteId,
  remoteName, action, state and message; state is planned in a dry
  run, else recorded, unchanged, refused, skipped, unknown or
  not_sent. The last line has run (its id) and counts, and for copy
  leftOut, the number of expired remotes that are not copied.
"""

UNREAD = """\
The locks are those of the lock book; those that are not read are told on stderr, with the reason.
"""
