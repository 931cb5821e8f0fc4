"""The commands ``lockterm export``, ``diff``, ``apply`` and ``edit``, which use table files."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from lockterm.cli.exit_codes import (
    DONE,
    FAILED,
    MISUSED,
    UsageError,
    exit_code_of,
    format_error,
    notify,
)
from lockterm.cli.manual import EXPORT_CODES, LINES, LOCK, RUN_CODES, list_exit_codes
from lockterm.cli.options import (
    FILE_PATH,
    WriteOptions,
    asks_service,
    can_prompt,
    cancel,
    changes,
    complete_locks,
    confirm,
    file_argument,
    lock_argument,
    max_deletes_option,
)
from lockterm.cli.output import are_terminals, put, put_raw
from lockterm.cli.run_plan import (
    confirm_plan,
    offer_plan,
    put_plan,
    put_planned,
    report_problems,
    report_unread,
    run_plan,
    store_plan,
)
from lockterm.cli.session import Session, find_lock, format_lock
from lockterm.config import Options
from lockterm.domain.plan import Action
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.plan import has_work
from lockterm.operations import export as files
from lockterm.operations.export import remotes_as_csv, write_file
from lockterm.operations.plan_files import plan_file, read_map_file
from lockterm.operations.planner import PlanDraft, ReadLock, read_locks

_with_map = click.option(
    "--map",
    "map_path",
    metavar="MAPFILE",
    type=FILE_PATH,
    help="Mapping file for the table of another system. [default: none]",
)

_AT_ONCE_S = 2.0
"""The maximum duration, in seconds, of an editor call that counts as returning at once."""

_EXPORT_HELP = f"""\
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


@click.command(epilog=_EXPORT_HELP)
@click.argument("locks", metavar="LOCK...", nargs=-1, required=True, shell_complete=complete_locks)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV in which no cell is a formula.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON with complete records (the default)."
)
@click.option("--output", "-o", type=FILE_PATH, help="Write to this file. [default: stdout]")
@click.option("--force", is_flag=True, help="Replace a file that is not an export.")
@asks_service
def export(
    options: Options,
    locks: tuple[str, ...],
    as_csv: bool,
    as_json: bool,
    output: Path | None,
    force: bool,
) -> int:
    """Export the remotes of locks to a file.

    If the command cannot read a lock whole, it writes nothing.
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv cannot be used together")
    is_agreed = force
    if output is not None and not force and not files.may_replace(output):
        is_agreed = _confirm_replacing(output)
        if not is_agreed:
            notify("Nothing was written.")
            return FAILED
    is_table = as_csv or (output is not None and output.suffix.lower() == ".csv" and not as_json)
    with Session(options) as session:
        wanted = dict.fromkeys(find_lock(session, typed).lock_id for typed in locks)
        read = session.run(read_locks(session.operations, wanted))
        failed = [one.error for one in read if one.error is not None]
        for error in failed:
            notify(format_error(error))
        if failed:
            notify("Nothing was written.")
            return exit_code_of(failed[0])
        if is_table:
            content = files.remotes_as_csv(read)
        else:
            now_ms = session.operations.machine_ms()
            content = files.remotes_as_json(read, session.profile.base_url, now_ms)
    count = sum(len(one.remotes) for one in read)
    if output is not None:
        may_replace = None if is_agreed else files.is_export
        files.write_file(output, content, may_replace=may_replace)
        notify(f"{format_count(count, 'remote')} written to {clean(output)}.")
    else:
        put_raw(content.decode())
    return DONE


def _confirm_replacing(file: Path) -> bool:
    """Ask whether to replace a file that is not an export, and return the answer.

    Raises:
        UsageError: If there is no terminal for a prompt.
    """
    if not can_prompt():
        raise UsageError(
            f"{clean(file)} is not an export of lockterm. Nothing was written.",
            hint="Add --force to replace the file, or choose another --output.",
        )
    return confirm(f"Replace {clean(file)}? It is not an export of lockterm.", yes=False)


_DIFF_CODES = list_exit_codes(
    5,
    _0="the locks match the file",
    _1="the locks differ from the file",
    _2="the file or an argument is wrong",
    _3="lockterm cannot reach the service, or could not read a lock",
)

_TABLES = """\
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


_DIFF_HELP = f"""\
{_TABLES}
\b
Examples:
  lockterm export 1001 --output gate.csv
  lockterm diff gate.csv && echo unchanged

\b
--json prints a line for each step, like apply --dry-run --json.

{_DIFF_CODES}"""


@click.command(epilog=_DIFF_HELP)
@file_argument
@click.option("--prune", is_flag=True, help="Include the deletes of apply --prune.")
@_with_map
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each step.")
@asks_service
def diff(options: Options, file: Path, prune: bool, map_path: Path | None, as_json: bool) -> int:
    """Show what apply would change."""
    with Session(options) as session:
        draft = _plan_from_file(session, file, prune=prune, map_path=map_path)
        if as_json:
            put_planned(session, draft.plan)
        else:
            put_plan(session, draft)
        for one in draft.unread:
            if one.error is not None:
                return exit_code_of(one.error)
    return DONE if draft.plan.actions().keys() <= {Action.KEEP} else FAILED


_APPLY_HELP = f"""\
{_TABLES}
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


@click.command(epilog=_APPLY_HELP)
@file_argument
@click.option("--prune", is_flag=True, help="Delete remotes that are not in the file.")
@max_deletes_option
@click.option("--no-shorten", is_flag=True, help="Refuse a plan that shortens access.")
@_with_map
@changes
def apply(
    options: Options,
    file: Path,
    prune: bool,
    max_deletes: int | None,
    no_shorten: bool,
    map_path: Path | None,
    how: WriteOptions,
) -> int:
    """Add, change and delete remotes to match a file.

    The command shows the plan and asks once.
    """
    with Session(options, writes=True, dry_run=how.dry_run) as session:
        draft = _plan_from_file(session, file, prune=prune, map_path=map_path)
        return offer_plan(session, draft, how, max_deletes=max_deletes, no_shorten=no_shorten)


def _plan_from_file(
    session: Session,
    path: Path,
    *,
    prune: bool,
    title: str = "",
    seen: Sequence[ReadLock] | None = None,
    map_path: Path | None = None,
) -> PlanDraft:
    """Return the plan that applies a file, and report on stderr which locks could not be read.

    Args:
        session: The session that reads the locks.
        path: The file.
        prune: Whether to delete remotes that are not in the file; see :func:`plan_file`.
        title: The title of the plan; by default "apply" and the file's name.
        seen: The locks as they were when the file was written; see :func:`plan_file`.
        map_path: The file that assigns the columns of another system's table to fields.

    Raises:
        UsageError: If the file or its mapping has problems; nothing was sent.
    """
    title, table_map = title or f"apply {path.name}", None
    if map_path is not None:
        with report_problems(map_path):
            table_map = read_map_file(map_path)
    with report_problems(path):
        planning = plan_file(
            session.operations, path, title, prune=prune, seen=seen, table_map=table_map
        )
        draft = session.run(planning)
    report_unread(draft)
    return draft


_EDIT_HELP = f"""\
{LOCK}
The table has the format of export --csv. Remotes that someone else changes while you edit are
skipped. If you remove a line, its remote is deleted only with --prune.

\b
Examples:
  lockterm edit "Main gate"
  VISUAL=nano lockterm edit 1001 --prune

{RUN_CODES}"""


@click.command(epilog=_EDIT_HELP)
@lock_argument
@click.option("--prune", is_flag=True, help="Delete the remotes whose lines you removed.")
@asks_service
def edit(options: Options, typed_lock: str, prune: bool) -> int:
    """Edit the remotes of a lock as a table.

    The command opens the editor of $VISUAL or $EDITOR.
    """
    if not are_terminals(sys.stdin, sys.stdout):
        raise UsageError(
            "An editor needs a terminal. Nothing was sent.", hint="Use export and apply."
        )
    with Session(options, writes=True) as session:
        lock_id = find_lock(session, typed_lock).lock_id
        (seen,) = session.run(read_locks(session.operations, [lock_id]))
        if seen.error is not None:
            raise seen.error
        with _open_table(seen) as table:
            draft = _edit_until_valid(session, table, seen, prune=prune)
            if draft is None:
                return MISUSED
            if not has_work(draft.plan):
                table.is_done = not table.may_be_open
                put(f"{format_lock(seen.lock)} is unchanged.")
                return DONE
            put_plan(session, draft)
            if not confirm_plan(session, draft.plan, yes=False):
                return cancel()
            plan = store_plan(session, draft.plan)
            table.is_done = True
        return run_plan(session, plan, as_json=False)


@dataclass
class _Table:
    """A temporary file with the remotes of a lock as a table, for an editor."""

    file: Path
    is_done: bool = False
    """Whether the changes in the file are in a plan, so that the file is no longer needed."""
    may_be_open: bool = False
    """Whether an editor that returned at once may still show the file in a window."""


@contextmanager
def _open_table(seen: ReadLock) -> Iterator[_Table]:
    """Write the remotes of a lock to a temporary file, and remove the file afterwards.

    The function keeps the file and prints its path if the file contains changes that are in no
    plan, or if an editor may still show it.
    """
    file = Path(tempfile.mkdtemp(prefix="lockterm-")) / f"lock-{seen.lock.lock_id}.csv"
    text = remotes_as_csv([seen])
    write_file(file, text)
    table = _Table(file)
    try:
        yield table
    finally:
        is_there = file.is_file() and not table.is_done
        if is_there and file.read_bytes() != text:
            notify(f"The edited table is kept in {clean(file)}.")
        elif is_there and table.may_be_open:
            notify(f"The table is kept in {clean(file)}. After saving it, run: lockterm apply FILE")
        else:
            shutil.rmtree(file.parent, ignore_errors=True)


def _edit_until_valid(
    session: Session, table: _Table, seen: ReadLock, *, prune: bool
) -> PlanDraft | None:
    """Let the user edit the table until it is valid, and return the plan that applies the table.

    Returns:
        The plan; None if the user stops editing.
    """
    file, title = table.file, f"edit lock {seen.lock.lock_id}"
    while True:
        if _open_editor(file):
            table.may_be_open = True
            if not confirm("Have you saved the table and closed the editor?", yes=False):
                return None
        try:
            return _plan_from_file(session, file, prune=prune, title=title, seen=[seen])
        except UsageError as error:
            notify(format_error(error))
            if not confirm("Edit the table again?", yes=False):
                return None


def _open_editor(file: Path) -> bool:
    """Open a file in the user's editor, and wait until the editor ends.

    Returns:
        Whether the editor ended at once and the file is unchanged. Such an editor may still show
        the file in a window.

    Raises:
        UsageError: If the editor does not exist, or it failed.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    begun_s, found = time.monotonic(), file.stat()
    # Only the editor may react to Ctrl+C. The editor would inherit SIG_IGN, but not a handler.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        command = shlex.split(editor)
        result = subprocess.run([*command, *_list_safety_options(command), str(file)], check=False)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"The editor {clean(editor, 60)} cannot be started: {clean(reason)}.",
            hint="Set VISUAL to an editor, such as nano.",
        ) from None
    finally:
        signal.signal(signal.SIGINT, before)
    if code := result.returncode:
        how = f"ended with {code}" if code > 0 else f"was ended by signal {-code}"
        raise UsageError(f"The editor {clean(editor, 60)} {how}. Nothing was sent.")
    try:
        about = file.stat()
    except OSError:
        return False
    is_same = (about.st_ino, about.st_mtime_ns) == (found.st_ino, found.st_mtime_ns)
    if not is_same or time.monotonic() - begun_s > _AT_ONCE_S:
        return False
    notify(
        f"The editor {clean(editor, 60)} returned at once, and the table is unchanged. An editor"
        " that opens a window needs an option to wait, as in: VISUAL='code --wait'"
    )
    return True


def _list_safety_options(command: Sequence[str]) -> tuple[str, ...]:
    """Return the options that turn off Vim's modelines, because a name may look like a modeline.

    The result is empty for other editors.
    """
    program = os.path.realpath(shutil.which(command[0]) or command[0]) if command else ""
    if not os.path.basename(program).startswith(("vim", "nvim", "gvim")):
        return ()
    return ("--cmd", "autocmd BufReadPre * set nomodeline")
