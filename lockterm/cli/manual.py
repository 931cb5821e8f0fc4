"""The ends of the help texts: examples, exit codes, environment and files, as in a manual."""

from __future__ import annotations

from lockterm.cli.manual_parts import (
    CERTAINTY,
    ENVIRONMENT,
    EXIT_CODES,
    EXIT_CODES_OF_ALL,
    FILES,
    LINES,
    LOCK,
    NOT_PRINTED,
    TIMES,
    UNREAD,
)

LOCKTERM = f"""\
\b
Examples:
  lockterm demo
  lockterm --profile north-campus --lock 1001
  lockterm remotes list "Main gate" --all --csv > remotes.csv
  lockterm find weber
  lockterm report --within 30d
  eval "$(lockterm completion bash)"

{EXIT_CODES_OF_ALL}
{ENVIRONMENT}
{FILES}"""

REMOTES = f"""\
{LOCK}
\b
Examples:
  lockterm remotes list "Main gate"
  lockterm remotes add 1001 --name "Anna Weber" --number A-2041 \\
      --type recurring --start now --end +30d --days mon-fri
  lockterm remotes update 1001 48213 --end +1y --dry-run
  lockterm remotes delete 1001 48213 --yes --json

{CERTAINTY}
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
{TIMES}
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

{TIMES}
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

EXPORT = f"""\
{LOCK}
JSON has the records as the service sent them, one on a line, and is what --output writes unless the
file is called .csv. CSV is for people: times with their offset, words for types.
--output replaces an earlier export. It asks before it replaces any other file, or wants --force.

\b
Examples:
  lockterm export "Main gate" --output gate.csv
  lockterm export 1001 1002 --output both.json
  lockterm diff gate.csv

{EXIT_CODES}"""

TABLES = """\
FILE is a table of remotes: CSV with , ; or tab in UTF-8 or UTF-16, or the JSON of export.

\b
Columns, in any order, by these names or those of the form:
  lockId         needed
  remoteId, remoteNumber, remoteName
                 which remote: by the first that is filled in
  action         add, update, delete or keep; without it, what is
                 there is updated and the rest added
  remoteType     permanent, time-limited, recurring; or 1, 2, 4
  startDate, endDate
                 as in the form, as 31.12.2026, or in milliseconds
  weekDay        as in the form, or 1,3,5
  isCoerced, extraData, addType; and for what is added, the
                 other options of remotes add, by the contract's
                 names

An empty cell is an empty field; a column that is missing changes nothing. The file is checked as a
whole first, and each thing that is wrong is told with its line, column and value.
"""

DIFF = f"""\
{TABLES}
\b
Examples:
  lockterm export 1001 --output gate.csv
  lockterm diff gate.csv && echo as it was

\b
--json: a line for each step, as apply --dry-run --json has them.

\b
Exit codes:
  0    the locks are as the file
  1    they differ
  2    something is wrong with the file, or with what was typed
  3    the service cannot be reached, or a lock could not be read
{NOT_PRINTED}  130  interrupted (128 + n: ended by signal n)
"""

RUN_CODES = f"""\
\b
Exit codes:
  0    all is done, or so already
  1    something was refused, or skipped since it is not as it was when
       the plan was made; or you did not agree
  2    the file or what was typed cannot work; nothing was sent
  3    the service was not reached, and nothing was changed
  4    of something it is not known whether it was recorded
  5    the local store is damaged, and nothing was sent
{NOT_PRINTED}  130  interrupted (128 + n: ended by signal n), after the steps that
       were under way; runs resume goes on
"""

APPLY = f"""\
{TABLES}
Every lock of the file is read whole before; where one cannot be, nothing is deleted. More than 10
deletes are confirmed by typing how many they are. Each change is sent once and kept with what
became of it: what was interrupted goes on with runs resume.

A change shortens access if a remote closes earlier, opens later, loses weekdays or is no longer
permanent. The plan says so and by how much. With --no-shorten such a plan is refused with exit
code 1 and nothing is sent. Deletes do not count: --max-deletes limits them.

\b
Examples:
  lockterm apply gate.csv --dry-run
  lockterm apply gate.csv --no-shorten --yes
  lockterm apply gate.csv --prune --max-deletes 5
  lockterm apply gate.csv --yes --json

{LINES}
{RUN_CODES}"""

COPY = f"""\
FROM and TO are a lock's id, or its name in the lock book. FROM may also be a JSON file that export
has written of one lock, or the id that history --json has for a delete or a clear: its backup. They
may go to their own lock again. Each lock is read whole before. What the service does not tell
cannot be copied; it is named before anything is sent. If a lock is in another time zone, the plan
says so: times keep their moment, or with --times wall-clock their time of day.

\b
Examples:
  lockterm copy "Main gate" "Loading dock" 1005 --dry-run
  lockterm copy 1001 1002 --taken rename --yes --json
  lockterm copy 1001 1002 --expired copy
  lockterm copy main-gate.json 1001 --dry-run

{LINES}
{RUN_CODES}"""

EDIT = f"""\
{LOCK}
The table is that of export --csv. What somebody else changes meanwhile is not changed back: it is
skipped. Lines that are taken out delete nothing, unless --prune is given.

\b
Examples:
  lockterm edit "Main gate"
  VISUAL=nano lockterm edit 1001 --prune

{RUN_CODES}"""

RUNS = f"""\
RUN is its id as list shows it, or the beginning of it. What is not known to be recorded is never
sent again by itself; what was skipped has to be planned anew.

\b
Examples:
  lockterm runs list
  lockterm runs resume 3f2a --yes --json

{LINES}
--json of list has run, state (planned, running, interrupted, done) and counts of each run.

{RUN_CODES}"""

VOICE = f"""\
{LOCK}
\b
Examples:
  lockterm voice list "Main gate"
  lockterm voice set "Main gate" de-DE anna
  lockterm voice packs 1001 --csv > packs.csv

{EXIT_CODES}"""

FIND = f"""\
Every word of TEXT has to be a part of the remote's name, number or id, or of any name, text or
number in its extra data, whatever its case or accents. {UNREAD}
\b
Examples:
  lockterm find weber
  lockterm find A-2041 --json | jq '.found[].lock.lockId'

--json: text, locks, read, notRead (lockId, name, why), and found, a list of lock (lockId, name) and
remote as the service sent it.

\b
Exit codes:
  0    found
  1    not found on any lock
  2    usage: what was typed or configured cannot work, or there is no lock
  3    not found, and some lock was not read
  5    the local store is damaged
{NOT_PRINTED}  130  interrupted (128 + n: ended by signal n)
"""

REPORT = f"""\
By day and lock: what has ended by its dates, and what ends within the time. {UNREAD}
\b
Examples:
  lockterm report --within 30d
  lockterm report --within 2w --csv > ends.csv

--json: until (ms), locks, read, notRead (lockId, name, why), unreadablePeriods (a number), and
ends, a list of day, ended, end, lock (lockId, name) and remote as the service sent it.

\b
Exit codes, for cron:
  0    nothing has ended, and nothing ends within the time
  1    something has or does, or a period cannot be read
  2    usage: what was typed or configured cannot work, or there is no lock
  3    some lock was not read; what the others have is listed
  5    the local store is damaged
{NOT_PRINTED}  130  interrupted (128 + n: ended by signal n)
"""

LOCKS = f"""\
The service lists no locks, so lockterm keeps the lock book, by profile. The service is not asked.

--json: list prints locks, a list of lockId, name, vendor, model, zone, alias, remotes and opened
(ms); add and remove print outcome (added, changed, unchanged, removed) and lock; import prints
added, changed and unchanged, how many, and locks, a list of outcome and lock.

\b
Examples:
  lockterm locks add 1001 --name "Main gate" --zone Europe/Berlin
  lockterm locks import locks.csv
  lockterm locks list --csv > locks.csv
  lockterm locks remove "Main gate"

{EXIT_CODES}"""

IMPORT = f"""\
FILE has a lock on each line, id or id,name, or columns with a header: lockId, name, vendor, model,
zone, in any order. Between them stand commas, semicolons or tabs. What is in the book keeps what
the file does not tell. The whole file is checked first: what is wrong is told with its line, and
nothing is imported then.

\b
Examples:
  lockterm locks import locks.csv
  lockterm locks import site.txt --json | jq .added

{EXIT_CODES}"""

UNCONFIRMED = f"""\
\b
Examples:
  lockterm unconfirmed list
  lockterm unconfirmed check
  lockterm unconfirmed accept 3f2a91c0 1176

ID is the beginning of an id, as list shows it. The UI has the same keys for what is unconfirmed.

--json of list and check: outcomes, a list of id, state, call, lockId, lockName, remoteId,
remoteName, sent and readBack (ms), candidates and message; the others print one of them.

{EXIT_CODES}"""

HISTORY = f"""\
What was sent from this machine on the profile, the oldest first, and what became of it. Times are
those of the profile's zone, within the details those of the lock's. The service is not asked.

\b
Examples:
  lockterm history --today
  lockterm history --day 2026-11-20
  lockterm history --lock "Main gate" --since 2026-11-01 --csv > november.csv
  lockterm history --json | jq '.[] | select(.state == "refused")'

--csv has words, for people. --json is a list of all that the journal knows, with the remotes as
they were before, for programs.

{EXIT_CODES}"""

FETCH = f"""\
The file is checked against size and MD5, as far as the service tells them, and not unpacked. What
was interrupted is resumed. A pack that lies on another server than the service is asked about
first, and no header is sent there.

\b
Examples:
  lockterm voice fetch "Main gate" de-DE-anna
  lockterm voice fetch 1001 de-DE-anna --output anna.pack --yes

--json: file, bytes, md5 (null: none was told), and pack as the service sent it.

{EXIT_CODES}"""


def _examples(*commands: str) -> str:
    """The end of a help that says no more than this."""
    lines = "\n".join(f"  {command}" for command in commands)
    return f"\b\nExamples:\n{lines}\n\n{EXIT_CODES}"


LOCKS_LIST = _examples("lockterm locks list", "lockterm locks list --csv > locks.csv")
LOCKS_ADD = _examples(
    'lockterm locks add 1001 --name "Main gate"',
    "lockterm locks add 1001 --vendor nordriegel --model NR-450",
)
LOCKS_REMOVE = _examples('lockterm locks remove "Main gate"')
UNCONFIRMED_LIST = _examples("lockterm unconfirmed list", "lockterm unconfirmed list --json")
UNCONFIRMED_CHECK = _examples(
    "lockterm unconfirmed check", "lockterm unconfirmed check 3f2a91c0 --json"
)
UNCONFIRMED_DISMISS = _examples("lockterm unconfirmed dismiss 3f2a91c0")
UNCONFIRMED_ADOPT = _examples("lockterm unconfirmed adopt", "lockterm unconfirmed adopt --yes")
UNCONFIRMED_ACCEPT = _examples("lockterm unconfirmed accept 3f2a91c0 1176 --yes")
UNCONFIRMED_SEND_AGAIN = _examples("lockterm unconfirmed send-again 3f2a91c0 --yes")

KEYS = f"""\
Each key with its id, by which the configuration chooses others:

\b
  [keys]
  "remotes.delete" = "x"
  "remotes.next_page" = "n,pgdn"

\b
--json: keys, a list of
  where, id, keys, usual (those unless chosen), chosen, verb, does

\b
Examples:
  lockterm keys | less
  lockterm keys --json | jq '.keys[] | select(.chosen)'

\b
Exit codes:
  0    printed
  2    the configuration, or a key in it, cannot be used
{NOT_PRINTED}"""

COMPLETION = """\
\b
With --install, it is written where your shell looks for it, and what
undoes that is told. Or put one of these lines where your shell reads it:
  bash  ~/.bashrc                   eval "$(lockterm completion bash)"
  zsh   ~/.zshrc                    eval "$(lockterm completion zsh)"
  fish  ~/.config/fish/config.fish  lockterm completion fish | source

\b
Examples:
  lockterm completion --install bash
  lockterm completion zsh
"""

MAN = f"""\
There is a page for each command: lockterm(1), which has the keys as well, lockterm-remotes(1),
lockterm-remotes-add(1). pip and pipx install them by themselves. What lockterm has not written is
not written over.

\b
Examples:
  lockterm man && man lockterm
  lockterm man --dir /usr/local/share/man

\b
Exit codes:
  0    written
  1    something else is there, or it cannot be written
{NOT_PRINTED}"""

DOCTOR = f"""\
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
{NOT_PRINTED}"""
