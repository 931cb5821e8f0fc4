"""The ``lockterm locks`` commands, which list and edit the entries of the lock book."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import click

from lockterm.cli.exit_codes import DONE, MISUSED, UsageError, notify
from lockterm.cli.manual import LOCAL, list_examples
from lockterm.cli.options import (
    Format,
    asks_service,
    file_argument,
    json_option,
    lock_argument,
    reads,
)
from lockterm.cli.output import ignore_missing_reader, put, put_csv, put_json, put_table
from lockterm.cli.session import Session, find_lock, format_lock
from lockterm.config import Options, values
from lockterm.domain import dates
from lockterm.domain.lock_file import MOST_BYTES, SET, LockFileError, LockLine, checked, read_locks
from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.paths import read_named

_COLUMNS = ("lockId", *SET, "alias", "remotes", "opened")
_MOST_PROBLEMS = 100
"""The maximum number of problems in a file that a command prints."""


class _Outcome(StrEnum):
    """The effect of a command on an entry of the lock book."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


_LOCKS_HELP = f"""\
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


@click.group(no_args_is_help=False, epilog=_LOCKS_HELP)
def locks() -> None:
    """List, add, import and remove the locks of the lock book."""


@locks.command(
    "list",
    epilog=list_examples(LOCAL, "lockterm locks list", "lockterm locks list --csv > locks.csv"),
)
@reads
def list_locks(options: Options, form: Format) -> int:
    """List the lock book."""
    with Session(options) as session:
        book = session.run(session.operations.locks.all())
        zone = session.profile.zone
    if form is Format.JSON:
        put_json({"locks": [_to_json(lock) for lock in book]})
    elif form is Format.CSV:
        rows = ({**_to_json(lock), "opened": dates.to_iso(lock.opened_ms, zone)} for lock in book)
        put_csv(_COLUMNS, rows)
    else:
        cells = [
            (
                lock.lock_id,
                *(getattr(lock, name) or "-" for name in SET),
                "-" if lock.remotes is None else lock.remotes,
                dates.stamp(lock.opened_ms, zone) if lock.opened_ms else "-",
            )
            for lock in book
        ]
        if cells:
            put_table(("ID", "Name", "Vendor", "Model", "Zone", "Remotes", "Last viewed"), cells)
        put(format_count(len(book), "lock"))
    return DONE


@locks.command(
    epilog=list_examples(
        LOCAL,
        'lockterm locks add 1001 --name "Main gate"',
        "lockterm locks add 1001 --vendor nordriegel --model NR-450",
    )
)
@click.argument("typed_id", metavar="ID")
@click.option("--name", default="", help="Name of the lock. [default: unchanged]")
@click.option("--vendor", default="", help="Vendor; determines the voices. [default: unchanged]")
@click.option("--model", default="", help="Model; determines the voices. [default: unchanged]")
@click.option(
    "--zone",
    default="",
    metavar="ZONE",
    help="Time zone, such as Europe/Berlin or +02:00. [default: unchanged]",
)
@json_option
@asks_service
def add(options: Options, typed_id: str, as_json: bool, **fields: str) -> int:
    """Add a lock to the book, or change its entry."""
    ignore_missing_reader()
    try:
        lock_id = values.lock_id(typed_id)
    except ValueError as error:
        raise UsageError(f"ID {error}.") from None
    try:
        line = LockLine(lock_id, checked({name: text.strip() for name, text in fields.items()}))
    except ValueError as error:
        raise UsageError(f"Nothing was added: {values.as_sentence(str(error))}") from None
    with Session(options) as session:
        ((lock, outcome),) = _save(session, [line])
    if as_json:
        put_json({"outcome": outcome, "lock": _to_json(lock)})
    else:
        so = "is already up to date" if outcome is _Outcome.UNCHANGED else f"was {outcome}"
        put(f"{format_lock(lock)} {so}.")
    return DONE


@locks.command(epilog=list_examples(LOCAL, 'lockterm locks remove "Main gate"'))
@lock_argument
@json_option
@asks_service
def remove(options: Options, typed_lock: str, as_json: bool) -> int:
    """Remove a lock from the book."""
    ignore_missing_reader()
    with Session(options) as session:
        lock = find_lock(session, typed_lock)
        book = session.run(session.operations.locks.all())
        is_there = lock.lock_id in {one.lock_id for one in book}
        if is_there:
            session.run(session.operations.locks.remove(lock.lock_id))
    if as_json:
        put_json({"outcome": "removed" if is_there else "unchanged", "lock": _to_json(lock)})
    elif is_there:
        put(f"{format_lock(lock)} was removed from the lock book. The service keeps its remotes.")
    else:
        put(f"{format_lock(lock)} is not in the lock book.")
    return DONE


_IMPORT_HELP = f"""\
FILE has a lock on each line: id, or id,name. With a header, it has the columns lockId, name,
vendor, model and zone in any order, separated by commas, semicolons or tabs. A zone is a name such
as Europe/Berlin or W. Europe Standard Time, or an offset such as +02:00. Fields that are not
in the file stay unchanged. If a line is wrong, the command names the line and imports nothing.

\b
Examples:
  lockterm locks import locks.csv
  lockterm locks import site.txt --json | jq .added

{LOCAL}"""


@locks.command("import", epilog=_IMPORT_HELP)
@file_argument
@json_option
@asks_service
def import_locks(options: Options, file: Path, as_json: bool) -> int:
    """Import locks from a file with lines of ID,name."""
    ignore_missing_reader()
    try:
        lines = _read_file(file)
    except LockFileError as error:
        for problem in error.problems[:_MOST_PROBLEMS]:
            notify(f"{clean(file, 200)}: {problem}")
        left = len(error.problems) - _MOST_PROBLEMS
        more = f" {left:,} more lines are wrong." if left > 0 else ""
        notify(f"Nothing was imported.{more}")
        return MISUSED
    with Session(options) as session:
        results = _save(session, lines)
    outcomes = [outcome for _, outcome in results]
    counts = {str(outcome): outcomes.count(outcome) for outcome in _Outcome}
    if as_json:
        records = [{"outcome": outcome, "lock": _to_json(lock)} for lock, outcome in results]
        put_json({**counts, "locks": records})
    else:
        parts = [f"{count:,} {outcome}" for outcome, count in counts.items() if count]
        put(f"{format_count(len(results), 'lock')}: {', '.join(parts)}.")
    return DONE


def _save(session: Session, lines: Sequence[LockLine]) -> list[tuple[Lock, _Outcome]]:
    """Save all lines as entries of the lock book, or none of them on an error.

    Returns:
        Each lock, with the effect on its entry in the lock book.
    """
    book = {lock.lock_id: lock for lock in session.run(session.operations.locks.all())}
    results, changed = [], []
    for line in lines:
        known = book.get(line.lock_id)
        lock, outcome = line.onto(known), _Outcome.UNCHANGED
        if lock != known:
            outcome = _Outcome.CHANGED if known else _Outcome.ADDED
            changed.append(lock)
        results.append((lock, outcome))
    if changed:
        session.run(session.operations.locks.save_all(changed))
    return results


def _read_file(file: Path) -> list[LockLine]:
    """Read the locks of a file.

    Raises:
        LockFileError: If the file cannot be read, or its format is wrong.
    """
    try:
        content = read_named(file, MOST_BYTES, "lock book")
    except ValueError as error:
        raise LockFileError(str(error)) from None
    return read_locks(content)


def _to_json(lock: Lock) -> dict[str, Any]:
    """Return an entry of the lock book as values for JSON."""
    return {
        "lockId": lock.lock_id,
        **{name: getattr(lock, name) or None for name in (*SET, "alias")},
        "remotes": lock.remotes,
        "opened": lock.opened_ms,
    }
