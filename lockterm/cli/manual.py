"""The text after the options in each command's help: details, examples and exit codes."""

from __future__ import annotations

from lockterm.cli.manual_parts import (
    ALL_CODES,
    CERTAINTY,
    CHANGING,
    DIFF_CODES,
    DOCTOR_CODES,
    ENVIRONMENT,
    EXPORT_CODES,
    FILES,
    FIND_CODES,
    INSTALL_CODES,
    LINES,
    LOCAL,
    LOCK,
    LOCK_AND_REMOTE,
    NO_CODES,
    READING,
    REPORT_CODES,
    RUN_CODES,
    TABLES,
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

{ALL_CODES}
{ENVIRONMENT}
{FILES}"""

REMOTES = f"""\
{LOCK_AND_REMOTE}
\b
Examples:
  lockterm remotes list "Main gate"
  lockterm remotes add 1001 --name "Anna Weber" --number A-2041 \\
      --type recurring --start now --end +30d --days mon-fri
  lockterm remotes update 1001 48213 --end +1y --dry-run
  lockterm remotes delete 1001 48213 --yes --json

{CERTAINTY}
{CHANGING}"""

LIST = f"""\
\b
Examples:
  lockterm remotes list "Main gate" --page 2
  lockterm remotes list 1001 --all --json | jq '.remotes[].remoteName'

--json prints lock (lockId, name), pageNo, pageSize, pages (null with --all), total, unreadable, and
remotes as the service sent them. --csv prints the same fields, and start and end with their offset.

{READING}"""

ADD = f"""\
{TIMES}
\b
Examples:
  lockterm remotes add 1001 --name Anna --number A-1 --type permanent
  lockterm remotes add "Main gate" --name Crew --number A-2 \\
      --type recurring --start now --end "2026-12-31 18:00" --days mon-fri

The command asks before it sends unusual values: an end in the past, no weekdays, more than 1 KB of
extra data, or dates while the clocks disagree. --yes sends them.

{CHANGING}"""

UPDATE = f"""\
The command reads the remote first, also with --dry-run, and sends only the fields that differ.
Type, start, end and weekdays are sent together.

{TIMES}
\b
Examples:
  lockterm remotes update 1001 48213 --end +30d
  lockterm remotes update 1001 48213 --type permanent --name "Anna W."

{CHANGING}"""

DELETE = f"""\
The command reads the remote first and shows its name, number and lock in the prompt. Without
a terminal, the command needs --yes. It keeps a backup. To restore the remote, press H in the UI.

\b
Examples:
  lockterm remotes delete "Main gate" 48213
  lockterm remotes delete 1001 48213 --yes --json

{CHANGING}"""

CLEAR = f"""\
The command counts the remotes first and asks you to type the ID or the name of the lock. Without a
terminal, it needs --yes. It keeps a backup. To restore the remotes, press H in the UI.

\b
Examples:
  lockterm remotes clear "Main gate" --dry-run
  lockterm remotes clear 1001 --yes

{CHANGING}"""

EXPORT = f"""\
{LOCK}
JSON has the records as the service sent them, one per line. --output writes JSON unless the name of
the file ends with .csv. CSV is for people: dates with their offset, and words for types.
--output replaces an earlier export. Before it replaces any other file, it asks, or needs --force.

\b
Examples:
  lockterm export "Main gate" --output gate.csv
  lockterm export 1001 1002 --output both.json
  lockterm diff gate.csv

{EXPORT_CODES}"""

DIFF = f"""\
{TABLES}
\b
Examples:
  lockterm export 1001 --output gate.csv
  lockterm diff gate.csv && echo unchanged

\b
--json prints a line for each step, like apply --dry-run --json.

{DIFF_CODES}"""

APPLY = f"""\
{TABLES}
The command reads all remotes of each lock in the file. If it cannot read a lock, it deletes
nothing. To delete more than 10 remotes, type their number. lockterm sends each change once, and the
history shows its result. To continue an interrupted run, use "lockterm runs resume".

A change shortens access if a remote closes earlier, opens later, loses weekdays or stops being
permanent. The plan shows by how much. --no-shorten refuses such a plan with exit code 1 and sends
nothing. --max-deletes limits deletes.

\b
Examples:
  lockterm apply gate.csv --dry-run
  lockterm apply gate.csv --no-shorten --yes
  lockterm apply gate.csv --prune --max-deletes 5
  lockterm apply gate.csv --yes --json
  lockterm apply people.csv --map people.toml --dry-run

{LINES}
{RUN_CODES}"""

COPY = f"""\
FROM and TO are the ID of a lock, or its name in the lock book. FROM may also be a JSON export of
one lock. To copy the backup of a delete or a clear, give its ID from history --json as FROM. You
can copy an export or a backup back to its own lock. The command reads all remotes of each lock. The
plan names the fields that cannot be copied, because the service does not return them. If a lock is
in another time zone, dates keep their moment, or with --times wall-clock their local time.

\b
Examples:
  lockterm copy "Main gate" "Loading dock" 1005 --dry-run
  lockterm copy 1001 1002 --taken rename --yes --json
  lockterm copy 1001 1002 --expired copy
  lockterm copy main-gate.json 1001 --dry-run

{LINES}
{RUN_CODES}"""

CLEAN = f"""\
The command reads all remotes of each lock. It deletes a remote only if its status and its end date
both show that it has expired. It keeps the others and counts them as unclear. If it cannot read a
lock, it deletes nothing. To delete more than 10 remotes, type their number. The history keeps the
deleted remotes. To restore them, give the ID of the delete to lockterm copy.

\b
Examples:
  lockterm clean --expired 30d --dry-run
  lockterm clean --expired 30d --lock "Main gate"
  lockterm clean --expired 12w --max-deletes 50 --yes

{LINES}
{RUN_CODES}"""

REPLACE = f"""\
{LOCK_AND_REMOTE}
The new fob gets the name, type, dates, weekdays, flags and extra data of REMOTE. The plan has two
steps. lockterm sends the second one only if the first one is done. If the service refuses two
remotes with the same name on a lock, lockterm first deletes the old remote. If adding the new
remote then fails, "lockterm runs retry" repeats it. The plan names the fields that the new fob does
not get.

\b
Examples:
  lockterm replace "Main gate" 48213 --number B-2050 --dry-run
  lockterm replace 1001 48213 --number B-2050 --mac C4:4E:AC:01:02:03
  lockterm replace 1001 48213 --number B-2050 --yes --json

{LINES}
{RUN_CODES}"""

EDIT = f"""\
{LOCK}
The table has the format of export --csv. Remotes that someone else changes while you edit are
skipped. If you remove a line, its remote is deleted only with --prune.

\b
Examples:
  lockterm edit "Main gate"
  VISUAL=nano lockterm edit 1001 --prune

{RUN_CODES}"""

RUNS = f"""\
RUN is the ID of a run, or the beginning of the ID. The commands never repeat an unconfirmed change.
To repeat a skipped step, make a new plan.

\b
Examples:
  lockterm runs list
  lockterm runs resume 3f2a --yes --json

{LINES}
list --json prints run, state (planned, running, interrupted, done) and counts of each run.

{RUN_CODES}"""

VOICE = f"""\
{LOCK}
\b
Examples:
  lockterm voice list "Main gate"
  lockterm voice set "Main gate" de-DE anna
  lockterm voice packs 1001 --csv > packs.csv

{CHANGING}"""

FIND = f"""\
The command lists the remotes that contain every word of TEXT in their name, number, ID or extra
data. Case and accents do not matter.
{UNREAD}
\b
Examples:
  lockterm find weber
  lockterm find A-2041 --json | jq '.found[].lock.lockId'

--json prints text, locks, read, notRead (lockId, name, why), and found: a list of lock (lockId,
name) and remote as the service sent it.

{FIND_CODES}"""

REPORT = f"""\
The list is sorted by day and lock. The dates decide what it contains, not the status. {UNREAD}
\b
Examples:
  lockterm report --within 30d
  lockterm report --within 2w --csv > ends.csv
  lockterm report --html report.html
  lockterm report --battery 20

--html writes one page for a browser or a printer: remotes by state and by lock, the end dates in
the next 90 days, and the changes that this machine sent. With --html, --within sets how far back
these changes go. For a lock that cannot be read, the page counts the remotes of the last reading.
--html replaces an earlier page, and no other file.

--battery reads the details of the remotes, one request for each. If 20 details have no battery
level, the service does not report levels, and the command stops. Ctrl+C stops it too. stderr shows
how many remotes were not read. --json prints battery, locks, read, notRead, remotes, withoutLevel,
remotesNotRead (numbers), and low: a list of level, lock and remote.

Otherwise, --json prints until (ms), locks, read, notRead (lockId, name, why), unreadablePeriods (a
number), and ends: a list of day, ended, end, lock (lockId, name) and remote as the service sent it.

{REPORT_CODES}"""

LOCKS = f"""\
The service cannot list locks, so lockterm keeps a lock book for each profile. These commands do
not ask the service.

list --json prints locks: a list of lockId, name, vendor, model, zone, alias, remotes and opened
(ms). add and remove print outcome (added, changed, unchanged, removed) and lock. import prints the
numbers of added, changed and unchanged, and locks: a list of outcome and lock.

\b
Examples:
  lockterm locks add 1001 --name "Main gate" --zone Europe/Berlin
  lockterm locks import locks.csv
  lockterm locks list --csv > locks.csv
  lockterm locks remove "Main gate"

{LOCAL}"""

IMPORT = f"""\
FILE has a lock on each line: id, or id,name. With a header, it has the columns lockId, name,
vendor, model and zone in any order, separated by commas, semicolons or tabs. A zone is a name such
as Europe/Berlin or W. Europe Standard Time, or an offset such as +02:00. Fields that are not
in the file stay unchanged. If a line is wrong, the command names the line and imports nothing.

\b
Examples:
  lockterm locks import locks.csv
  lockterm locks import site.txt --json | jq .added

{LOCAL}"""

UNCONFIRMED = f"""\
\b
Examples:
  lockterm unconfirmed list
  lockterm unconfirmed check
  lockterm unconfirmed accept 3f2a91c0 1176

ID is the beginning of an ID, as list shows it.

list --json and check --json print outcomes: a list of id, state, call, lockId, lockName, remoteId,
remoteName, sent and readBack (ms), candidates and message. The other commands print one object of
this kind.

{CHANGING}"""

HISTORY = f"""\
The list has every change that this machine sent with the profile, the oldest first. Times are in
the profile's time zone, and dates of remotes in the lock's time zone. The command does not ask the
service.

\b
Examples:
  lockterm history --today
  lockterm history --day 2026-11-20
  lockterm history --lock "Main gate" --since 2026-11-01 --csv > november.csv
  lockterm history --json | jq '.[] | select(.state == "refused")'

--csv is for people. --json has everything that the journal contains, with the remotes as they were
before the change.

{LOCAL}"""

CHANGES = f"""\
Each time lockterm reads the whole list of a lock, it compares the list with the previous one. It
leaves out what this machine sent. A change happened at some time between the two readings.

The command does not ask the service. --read reads all locks first, so that the list is current.

\b
Examples:
  lockterm changes --since 7d
  lockterm changes --read --lock "Main gate" --csv > changes.csv

\b
--json prints changes: a list of
  lock           lockId, name
  remoteId, name
  what           new, changed or gone
  fields         the names of the changed fields
  before, after  their values; for new and gone also the main fields
  since, until   the times of the two readings, in ms
  seen           whether you looked at the change in the UI

{READING}"""

FETCH = f"""\
If the service returns size and MD5, the command checks the file against them. It does not unpack
the file. It resumes an interrupted download. If the file is on another server than the service, the
command asks first, and sends no header to that server.

\b
Examples:
  lockterm voice fetch "Main gate" de-DE-anna
  lockterm voice fetch 1001 de-DE-anna --output anna.pack --yes

--json prints file, bytes, md5 (null if the service returned none), and pack as the service sent it.

{EXPORT_CODES}"""


KEYS = f"""\
The configuration chooses other keys by their ID:

\b
  [keys]
  "remotes.delete" = "x"
  "remotes.next_page" = "n,pgdn"

\b
--json prints keys: a list of
  where, id, keys, usual (the default keys), chosen, verb, does

\b
Examples:
  lockterm keys | less
  lockterm keys --json | jq '.keys[] | select(.chosen)'

{NO_CODES}"""

COMPLETION = f"""\
\b
--install writes the script where your shell looks for it, and prints how
to undo that. Or add one of these lines to the file of your shell:
  bash  ~/.bashrc                   eval "$(lockterm completion bash)"
  zsh   ~/.zshrc                    eval "$(lockterm completion zsh)"
  fish  ~/.config/fish/config.fish  lockterm completion fish | source

\b
Examples:
  lockterm completion --install bash
  lockterm completion zsh

{INSTALL_CODES}"""

MAN = f"""\
Each command has a page, such as lockterm-remotes(1). The page lockterm(1) also lists the keys. pip
and pipx install the pages. The command replaces only pages that lockterm wrote.

\b
Examples:
  lockterm man && man lockterm
  lockterm man --dir /usr/local/share/man

{INSTALL_CODES}"""

DOCTOR = f"""\
Every line starts with OK, WARN or FAIL, and shows what to do. The command asks the terminal for its
name, character widths, colors and clipboard, and does not wait long for an answer. Without a
terminal, it checks the rest. It changes nothing. With --keys, it shows each key that arrives from
the terminal until you press q.

\b
--json prints one object:
  version, ok (false: something is wrong), findings: a list of
    state    OK, WARN or FAIL
    subject  terminal, configuration, store or service
    found    the finding, as a sentence
    advice   what to do, or empty
    facts    measured values by name (null: unknown)
If stdout is a terminal, --json does not ask it. Redirect to a file.

\b
Examples:
  lockterm doctor --lock 1001
  ssh laptop lockterm doctor --json | jq '.findings[].found'
  lockterm doctor --json > report.json

{DOCTOR_CODES}"""
