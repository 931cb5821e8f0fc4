"""Completion: the scripts for shells, and what of this machine's own can be completed."""

from __future__ import annotations

import os
from contextlib import suppress

import click
from click.shell_completion import CompletionItem

from lockterm.errors import LocktermError
from lockterm.text import clean


def run_completion(shell: str, root: click.Command) -> int:
    """Print the script that teaches a shell to complete."""
    from click.shell_completion import get_completion_class

    from lockterm.cli.output import put

    kind = get_completion_class(shell)
    assert kind is not None, "the shells that can be typed are those that click knows"
    put(kind(root, {}, "lockterm", "_LOCKTERM_COMPLETE").source().rstrip("\n"))
    return 0


def profiles(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The profiles of the configuration."""
    from lockterm.config.file import read_config
    from lockterm.paths import Paths

    with suppress(LocktermError):
        config = read_config(Paths.standard().config_file)
        names = config.profiles if config else ()
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return []


def locks(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The ids of the lock book, by the beginning of an id or of a name; nothing is asked."""
    from lockterm.config import Options, load_settings
    from lockterm.paths import Paths
    from lockterm.store.database import Database
    from lockterm.store.lock_book import LockBook

    paths = Paths.standard()
    if not paths.database.exists():
        return []
    typed = context.find_root().params | context.params
    options = Options(profile=typed.get("profile"), base_url=typed.get("base_url"))
    with suppress(LocktermError):
        profile = load_settings(paths.config_file, options, os.environ).profile
        if profile is None:
            return []
        database = Database(paths.database)
        try:
            book = LockBook(database, profile.name).locks()
        finally:
            database.close()
        wanted = incomplete.casefold()
        return [
            CompletionItem(str(lock.lock_id), help=clean(lock.name, 60))
            for lock in book
            if str(lock.lock_id).startswith(wanted) or lock.name.casefold().startswith(wanted)
        ]
    return []
