"""``lockterm copy``: the remotes of a lock, an export or a backup, on other locks too."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from lockterm.cli import manual
from lockterm.cli.carrying import offer
from lockterm.cli.completion import complete_locks
from lockterm.cli.ending import Misused, sentence_of, tell
from lockterm.cli.options import WriteOptions, changes
from lockterm.cli.plans import telling_problems
from lockterm.cli.session import Session
from lockterm.cli.which_lock import find_lock, lock_words
from lockterm.config import Options
from lockterm.domain.remotes import Remote
from lockterm.domain.text import clean
from lockterm.operations.plan_files import Drawn, ReadLock, draw_copies, read_export, read_locks
from lockterm.operations.undoing import backup_of, undo_one

_OPERATION = re.compile("[0-9a-f]{32}")
"""The id of an operation in the journal."""


@click.command(epilog=manual.COPY)
@click.argument("source", metavar="FROM", shell_complete=complete_locks)
@click.argument("targets", metavar="TO...", nargs=-1, required=True, shell_complete=complete_locks)
@click.option(
    "--taken",
    type=click.Choice(("skip", "rename")),
    default="skip",
    help="What becomes of one whose name is taken. [skip]",
)
@changes
def copy(
    options: Options, source: str, targets: tuple[str, ...], taken: str, how: WriteOptions
) -> int:
    """Copy remotes of a lock, export or backup to locks.

    What is there already by its number stays as it is.
    """
    with Session(options, dry_run=how.dry_run) as session:
        session.require_writable()
        return offer(session, _drawn(session, source, targets, renames=taken == "rename"), how)


def _drawn(session: Session, source: str, targets: tuple[str, ...], *, renames: bool) -> Drawn:
    operations = session.operations
    ids = [find_lock(session, typed).lock_id for typed in targets]
    known: Mapping[int, Mapping[str, Any]] = {}
    if source.lower().endswith(".json") or os.sep in source:
        path = Path(source)
        with telling_problems(path):
            first = session.run(read_export(operations, path))
    elif _OPERATION.fullmatch(source):
        change = session.run(backup_of(operations, source))
        if ids == [change.lock_id]:
            drawn = session.run(undo_one(operations, source, renames=renames))
            return _told(drawn, drawn.losses)
        if change.lock_id in ids:
            raise Misused("A backup goes to its own lock, or to others; nothing was sent.")
        known = session.run(operations.journal.known_hidden(change))
        lock = session.run(operations.locks.find(change.lock_id))
        first = ReadLock(lock, operations.zone(lock), [*map(Remote.read, change.before)])
    else:
        ids.insert(0, find_lock(session, source).lock_id)
    if len(set(ids)) < len(ids):
        raise Misused("A lock is named twice; nothing was sent.")
    others = session.run(read_locks(operations, ids))
    if len(ids) > len(targets):
        first = others.pop(0)
    if first.error is not None:
        raise first.error
    return _told(*draw_copies(operations, first, others, renames=renames, known=known))


def _told(drawn: Drawn, losses: Iterable[str]) -> Drawn:
    """The plan; on stderr, which locks could not be read, and what does not come with it."""
    for one in drawn.unread:
        if one.error is not None:
            tell(f"{lock_words(one.lock)}: {sentence_of(one.error)}")
    for sentence in losses:
        tell(f"note: {clean(sentence, 400)}")
    return drawn
