"""``lockterm edit``: edit the remotes of a lock as a table, and apply the changes."""

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

from lockterm.cli import manual
from lockterm.cli.exit_codes import DONE, MISUSED, UsageError, format_error, notify
from lockterm.cli.options import asks_service, lock_argument
from lockterm.cli.output import put
from lockterm.cli.plans import plan_from_file, put_plan
from lockterm.cli.prompts import cancel, confirm
from lockterm.cli.run_plan import confirm_plan, run_plan, store_plan
from lockterm.cli.session import Session, find_lock, format_lock
from lockterm.config import Options
from lockterm.domain.safe_text import clean
from lockterm.domain.text.plan import has_work
from lockterm.operations.export import remotes_as_csv, write_file
from lockterm.operations.planner import PlanDraft, ReadLock, read_locks

_AT_ONCE_S = 2.0
"""Time in which no person reads and closes a table, in seconds."""


@click.command(epilog=manual.EDIT)
@lock_argument
@click.option("--prune", is_flag=True, help="Delete the remotes whose lines you removed.")
@asks_service
def edit(options: Options, typed_lock: str, prune: bool) -> int:
    """Edit the remotes of a lock as a table.

    The command opens the editor of $VISUAL or $EDITOR.
    """
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        raise UsageError(
            "An editor needs a terminal; nothing was sent.", hint="Use export and apply."
        )
    with Session(options) as session:
        session.require_writable()
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
            if not confirm_plan(draft.plan, session.operations.now_ms(), yes=False):
                return cancel()
            plan = store_plan(session, draft.plan)
            table.is_done = True
        return run_plan(session, plan, as_json=False)


@dataclass
class _Table:
    """A file with the table of a lock."""

    file: Path
    is_done: bool = False
    """Whether a plan has the typed text, so that the file is no longer needed."""
    may_be_open: bool = False
    """Whether an editor that returned at once may still show the file in a window."""


@contextmanager
def _open_table(seen: ReadLock) -> Iterator[_Table]:
    """Write the table of a lock to a file, and remove it afterwards.

    A changed file, or one that an editor may still show, stays, and its path is printed.
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
    """Let a person edit a file until it has a valid plan; return None if they stop."""
    file, title = table.file, f"edit lock {seen.lock.lock_id}"
    while True:
        if _open_editor(file):
            table.may_be_open = True
            if not confirm("Is the table saved, and the editor closed?", yes=False):
                return None
        try:
            return plan_from_file(session, file, prune=prune, title=title, seen=[seen])
        except UsageError as error:
            notify(format_error(error))
            if not confirm("Edit it again?", yes=False):
                return None


def _open_editor(file: Path) -> bool:
    """Let a person edit a file.

    Returns:
        Whether the editor returned at once without a change, and may still show the file.

    Raises:
        UsageError: The editor does not exist, or it failed.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    begun_s, found = time.monotonic(), file.stat()
    # Ctrl+C belongs to the editor. A handler, unlike SIG_IGN, is not inherited by the editor.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        command = shlex.split(editor)
        result = subprocess.run([*command, *_list_safety_options(command), str(file)], check=False)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise UsageError(
            f"The editor {clean(editor, 60)} cannot be started: {clean(said)}.",
            hint="Set VISUAL to one, such as nano.",
        ) from None
    finally:
        signal.signal(signal.SIGINT, before)
    if code := result.returncode:
        how = f"ended with {code}" if code > 0 else f"was ended by signal {-code}"
        raise UsageError(f"The editor {clean(editor, 60)} {how}: nothing was sent.")
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
    """Return options that turn off Vim's modelines: a remote's name may look like one."""
    program = os.path.realpath(shutil.which(command[0]) or command[0]) if command else ""
    if not os.path.basename(program).startswith(("vim", "nvim", "gvim")):
        return ()
    return ("--cmd", "autocmd BufReadPre * set nomodeline")
