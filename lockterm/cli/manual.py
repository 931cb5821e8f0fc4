"""The ends of the help texts: examples, exit codes, environment and files, as in a manual."""

from __future__ import annotations

EXIT_CODES = """\
\b
Exit codes:
  0    done, or so already
  1    refused by the service, by a read-only profile, by an unsettled
       change before it, or by you; nothing was changed
  2    usage: what was typed or configured cannot work; nothing was sent
  3    the service cannot be reached, or gives no answer that can be
       understood; nothing was changed
  4    outcome unknown: sent, no answer, and reading it back did not
       settle it; see lockterm's history before sending it again
  130  interrupted (128 + n: ended by signal n)
"""

_EXIT_CODES_OF_ALL = """\
\b
Exit codes:
  0    done, or all is well
  1    refused, or something went wrong
  2    what was typed, configured or attached cannot work
  3    the service cannot be reached (remotes and voice)
  4    whether a change was recorded is not known (remotes and voice)
  130  interrupted (128 + n: ended by signal n)
"""

_ENVIRONMENT = """\
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

_FILES = """\
\b
Files (lockterm info names those in effect):
  ~/.config/lockterm/config.toml       profiles
  ~/.local/state/lockterm/lockterm.db  lock book and journal
  ~/.local/state/lockterm/lockterm.log the log, put aside at 1 MiB
  ~/.local/share/lockterm/             exports and voice packs
  ~/.cache/lockterm/                   what may be deleted
"""

_LOCK = """\
LOCK is a lock's id, or its name in the lock book. REMOTE is a remote's id, as list shows it.
"""

_TIMES = """\
\b
Times are typed as in the form, in the zone of the lock book's entry or
of the profile, and are told with their offset:
  2026-12-01 09:00   1 Dec 2026 9:00   2026-12-01 09:00 +01:00
  now   today 18:00   tomorrow 9:00   eom   +6h   +30d   +6mo 18:00
A day without a time is its beginning for a start, its end for an end.
Weekdays: mon-fri   mo,we   1-5   weekend   daily
"""

_CERTAINTY = """\
Every change is written into the journal before it is sent and never sent twice by itself. Where no
answer comes it is read back once. "Recorded by the service" is not "arrived at the lock": that
the service does not tell.
"""

LOCKTERM = f"""\
\b
Examples:
  lockterm demo
  lockterm --profile north-campus --lock 1001
  lockterm remotes list "Main gate" --all --csv > remotes.csv
  eval "$(lockterm completion bash)"

{_EXIT_CODES_OF_ALL}
{_ENVIRONMENT}
{_FILES}"""

REMOTES = f"""\
{_LOCK}
\b
Examples:
  lockterm remotes list "Main gate"
  lockterm remotes add 1001 --name "Anna Weber" --number A-2041 \\
      --type recurring --start now --end +30d --days mon-fri
  lockterm remotes update 1001 48213 --end +1y --dry-run
  lockterm remotes delete 1001 48213 --yes --json

{_CERTAINTY}
{EXIT_CODES}"""

LIST = f"""\
\b
Examples:
  lockterm remotes list "Main gate" --page 2
  lockterm remotes list 1001 --all --json | jq '.remotes[].remoteName'

--json: lock (lockId, name), pageNo, pageSize, pages (null with --all), total, unreadable, and
remotes as the service sent them. --csv: the same fields, and start and end with their offset.

{EXIT_CODES}"""

ADD = f"""\
{_TIMES}
\b
Examples:
  lockterm remotes add 1001 --name Anna --number A-1 --type permanent
  lockterm remotes add "Main gate" --name Crew --number A-2 \\
      --type recurring --start now --end "2026-12-31 18:00" --days mon-fri

What is allowed but unusual (an end that has passed, no weekdays, more than 1 KB of extra data,
clocks that disagree) has to be agreed to, or sent with --yes.

{EXIT_CODES}"""

UPDATE = f"""\
The remote is read first. Only what differs is sent; type, start, end and weekdays go together.
With --dry-run it is read, too, and nothing is sent that changes.

{_TIMES}
\b
Examples:
  lockterm remotes update 1001 48213 --end +30d
  lockterm remotes update 1001 48213 --type permanent --name "Anna W."

{EXIT_CODES}"""

DELETE = f"""\
The remote is read first, and asked about by name, number and lock. Without a terminal, --yes is
needed. A backup is kept; H in lockterm's UI restores from it.

{EXIT_CODES}"""

CLEAR = f"""\
The remotes are counted first, and the id or the name of the lock has to be typed. Without a
terminal, --yes is needed. A backup is kept; H in lockterm's UI restores from it.

{EXIT_CODES}"""

VOICE = f"""\
{_LOCK}
\b
Examples:
  lockterm voice list "Main gate"
  lockterm voice set "Main gate" de-DE anna
  lockterm voice packs 1001 --csv > packs.csv

{EXIT_CODES}"""

COMPLETION = """\
\b
To use it, put one of these lines where your shell reads it:
  bash  ~/.bashrc                   eval "$(lockterm completion bash)"
  zsh   ~/.zshrc                    eval "$(lockterm completion zsh)"
  fish  ~/.config/fish/config.fish  lockterm completion fish | source
"""

DOCTOR = """\
Every line starts with OK, WARN or FAIL and says what to do. A terminal is asked itself what it is,
how wide it draws, which colours it keeps and whether it takes copies; one that does not answer
holds nothing up. Over SSH without a terminal, that is said and the rest is checked. Nothing is
changed by looking.

--keys lets you press keys and says of each how it arrives; q ends it.

\b
--json prints one object:
  version, ok (false: something is wrong), findings: a list of
    state    OK, WARN or FAIL
    subject  terminal, configuration, store or service
    found    what was seen, as a sentence
    advice   what to do, or empty
    facts    what was measured, by name (null: it does not say)
On a terminal it asks nothing of it: send it to a file for the answers.

\b
Examples:
  lockterm doctor --lock 1001
  ssh laptop lockterm doctor --json | jq '.findings[].found'
  lockterm doctor --json > report.json

\b
Exit codes:
  0    nothing is wrong (WARN is worth knowing)
  1    something is wrong
"""
