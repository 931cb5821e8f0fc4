"""``lockterm export``, ``diff`` and ``apply``: the remotes of locks as files."""

from __future__ import annotations

from pathlib import Path

import click

from lockterm.cli import manual
from lockterm.cli.completion import complete_locks
from lockterm.cli.exit_codes import DONE, FAILED, UsageError, exit_code_of, format_error, notify
from lockterm.cli.options import LAST_ID, WholeNumber, WriteOptions, asks_service, changes
from lockterm.cli.output import is_terminal, put, put_bytes
from lockterm.cli.plans import plan_from_file, put_end, put_plan, put_planned
from lockterm.cli.prompts import can_prompt, confirm
from lockterm.cli.run_plan import offer
from lockterm.cli.session import Session, find_lock
from lockterm.config import Options
from lockterm.domain.plan import Action
from lockterm.domain.safe_text import clean, clean_lines
from lockterm.domain.text.amount import format_count
from lockterm.operations import export as files
from lockterm.operations.planner import read_locks


@click.command(epilog=manual.EXPORT)
@click.argument("locks", metavar="LOCK...", nargs=-1, required=True, shell_complete=complete_locks)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV without formulas.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON with whole records. (the default)"
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="Write to this file. [default: stdout]"
)
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
        raise click.UsageError("--json and --csv exclude each other")
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
    elif is_terminal():  # raw values are for files; a terminal might obey them
        put(clean_lines(content.decode().replace("\r\n", "\n")).rstrip("\n"))
    else:
        put_bytes(content)
    return DONE


def _confirm_replacing(file: Path) -> bool:
    """Ask whether a file that is not an export may be replaced.

    Raises:
        UsageError: There is no terminal for a prompt.
    """
    if not can_prompt():
        raise UsageError(
            f"{clean(file)} is not an export of lockterm; nothing was written.",
            hint="Give --force to replace it, or another --output.",
        )
    return confirm(f"Replace {clean(file)}? It is not an export of lockterm.", yes=False)


@click.command(epilog=manual.DIFF)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--prune", is_flag=True, help="Include the deletes of apply --prune.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each step.")
@asks_service
def diff(options: Options, file: Path, prune: bool, as_json: bool) -> int:
    """Show what apply would change."""
    with Session(options) as session:
        draft = plan_from_file(session, file, prune=prune)
        steps = draft.plan.steps
        if as_json:
            put_planned(session, steps)
            put_end(None, steps, is_dry=True)
        else:
            put_plan(session, draft)
        for one in draft.unread:
            if one.error is not None:
                return exit_code_of(one.error)
    return DONE if draft.plan.actions().keys() <= {Action.KEEP} else FAILED


@click.command(epilog=manual.APPLY)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--prune", is_flag=True, help="Delete remotes that are not in the file.")
@click.option(
    "--max-deletes",
    metavar="N",
    type=WholeNumber(0, LAST_ID),
    help="Refuse to delete more. [default: no limit]",
)
@click.option("--no-shorten", is_flag=True, help="Refuse a plan that shortens access.")
@changes
def apply(
    options: Options,
    file: Path,
    prune: bool,
    max_deletes: int | None,
    no_shorten: bool,
    how: WriteOptions,
) -> int:
    """Add, change and delete remotes to match a file.

    The command shows the plan and asks once.
    """
    with Session(options, dry_run=how.dry_run) as session:
        session.require_writable()
        draft = plan_from_file(session, file, prune=prune)
        return offer(session, draft, how, max_deletes=max_deletes, no_shorten=no_shorten)
