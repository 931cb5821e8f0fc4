"""``lockterm edit``: the remotes of a lock as a table in an editor; what comes back is applied."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from lockterm.cli import manual
from lockterm.cli.asking import agree, let_be
from lockterm.cli.carrying import agreed, carry_out, keep
from lockterm.cli.ending import DONE, MISUSED, Misused, sentence_of, tell
from lockterm.cli.options import asks_service, the_lock
from lockterm.cli.output import put
from lockterm.cli.plans import drawn_from, put_plan
from lockterm.cli.session import Session
from lockterm.cli.which_lock import find_lock, lock_words
from lockterm.config import Options
from lockterm.domain.plan_words import has_work
from lockterm.domain.text import clean
from lockterm.operations import plan_files
from lockterm.operations.export_file import write_file
from lockterm.operations.plan_files import Drawn, ReadLock


@click.command(epilog=manual.EDIT)
@the_lock
@click.option("--prune", is_flag=True, help="Delete the remotes whose lines were taken out.")
@asks_service
def edit(options: Options, typed_lock: str, prune: bool) -> int:
    """Edit the remotes of a lock as a table.

    The editor is that of $VISUAL or $EDITOR.
    """
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        raise Misused("An editor needs a terminal; nothing was sent.", hint="Use export and apply.")
    with Session(options) as session:
        session.require_writable()
        lock_id = find_lock(session, typed_lock).lock_id
        (seen,) = session.run(plan_files.read_locks(session.operations, [lock_id]))
        if seen.error is not None:
            raise seen.error
        with _on_the_disk(seen) as file:
            drawn = _edited(session, file, seen, prune=prune)
            if drawn is None:
                return MISUSED
            if not has_work(drawn.plan):
                file.unlink()
                put(f"{lock_words(seen.lock)} stays as it is.")
                return DONE
            put_plan(session, drawn)
            if not agreed(drawn.plan, session.operations.now_ms(), yes=False):
                return let_be()
            plan = keep(session, drawn.plan)
            file.unlink()
        return carry_out(session, plan, as_json=False)


@contextmanager
def _on_the_disk(seen: ReadLock) -> Iterator[Path]:
    """The table of a lock in a file.

    What was typed into it stays, and where is told, however it ends, unless the file was removed
    because it is not needed any more; else nothing stays.
    """
    file = Path(tempfile.mkdtemp(prefix="lockterm-")) / f"lock-{seen.lock.lock_id}.csv"
    table = plan_files.as_csv([seen])
    write_file(file, table)
    try:
        yield file
    finally:
        if file.is_file() and file.read_bytes() != table:
            tell(f"What was typed is kept in {clean(file)}.")
        else:
            shutil.rmtree(file.parent, ignore_errors=True)


def _edited(session: Session, file: Path, seen: ReadLock, *, prune: bool) -> Drawn | None:
    """The plan of a file that was edited until it can be carried out; None: it was given up."""
    title = f"edit lock {seen.lock.lock_id}"
    while True:
        _open_editor(file)
        try:
            return drawn_from(session, file, prune=prune, title=title, seen=[seen])
        except Misused as error:
            tell(sentence_of(error))
            if not agree("Edit it again?", yes=False):
                return None


def _open_editor(file: Path) -> None:
    """Let a person edit a file.

    Raises:
        Misused: There is no such editor, or it failed.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    # Ctrl+c is a key of the editor; a handler, unlike what is ignored, is not handed down to it.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        result = subprocess.run([*shlex.split(editor), str(file)], check=False)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise Misused(
            f"The editor {clean(editor, 60)} cannot be started: {clean(said)}.",
            hint="Set VISUAL to one, such as nano.",
        ) from None
    finally:
        signal.signal(signal.SIGINT, before)
    if code := result.returncode:
        how = f"ended with {code}" if code > 0 else f"was ended by signal {-code}"
        raise Misused(f"The editor {clean(editor, 60)} {how}: nothing was sent.")
