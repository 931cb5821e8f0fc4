"""``lockterm copy``: the remotes of a lock, on other locks too."""

from __future__ import annotations

import click

from lockterm.cli import manual
from lockterm.cli.carrying import offer
from lockterm.cli.completion import complete_locks
from lockterm.cli.ending import Misused, sentence_of, tell
from lockterm.cli.options import WriteOptions, changes
from lockterm.cli.session import Session
from lockterm.cli.which_lock import find_lock, lock_words
from lockterm.config import Options
from lockterm.operations.plan_files import Drawn, draw_copies, read_locks


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
    """Copy the remotes of a lock to other locks.

    What is there already by its number stays as it is.
    """
    with Session(options, dry_run=how.dry_run) as session:
        session.require_writable()
        return offer(session, _drawn(session, source, targets, renames=taken == "rename"), how)


def _drawn(session: Session, source: str, targets: tuple[str, ...], *, renames: bool) -> Drawn:
    ids = [find_lock(session, typed).lock_id for typed in (source, *targets)]
    if len(set(ids)) < len(ids):
        raise Misused("A lock is named twice; nothing was sent.")
    first, *others = session.run(read_locks(session.operations, ids))
    if first.error is not None:
        raise first.error
    drawn, losses = draw_copies(session.operations, first, others, renames=renames)
    for one in drawn.unread:
        if one.error is not None:
            tell(f"{lock_words(one.lock)}: {sentence_of(one.error)}")
    for sentence in losses:
        tell(f"note: {sentence}")
    return drawn
