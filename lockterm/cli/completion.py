"""The command ``lockterm completion``, and the shell completion of profiles and locks."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    get_completion_class,
)

from lockterm.cli import manual
from lockterm.cli.install_files import (
    MARK,
    install_files,
    put_undo,
    user_config_path,
    user_data_path,
)
from lockterm.cli.output import put
from lockterm.config import Options, load_settings
from lockterm.config.file import read_config
from lockterm.domain.safe_text import clean
from lockterm.errors import LocktermError
from lockterm.paths import Paths


class QuotingBash(BashComplete):
    """Shell completion for bash that quotes the completed words, because bash does not.

    Quoting is necessary because a profile's name may be any text, even ``a$(touch x)``.
    """

    def format_completion(self, item: CompletionItem) -> str:
        """Return the completed word, quoted for bash and for ``read`` in click's script."""
        value = shlex.quote(item.value) if item.type == "plain" else item.value
        return f"{item.type},{value}".replace("\\", "\\\\")


add_completion_class(QuotingBash)


@click.command(epilog=manual.COMPLETION)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.option("--install", is_flag=True, help="Write the script where the shell looks for it.")
@click.pass_context
def completion(context: click.Context, shell: str, install: bool) -> int:
    """Print the completion script of a shell, or install it."""
    kind = get_completion_class(shell)
    assert kind is not None, "the shells that can be typed are those that click knows"
    root = context.find_root().command
    script = kind(root, {}, "lockterm", "_LOCKTERM_COMPLETE").source().rstrip("\n")
    if not install:
        put(script)
        return 0
    file, when = _find_script(shell)
    install_files({file: f"{script}\n# {MARK}.\n".encode()}, mode=0o644)
    put(f"Written: {file}\n{when}")
    put_undo(file)
    return 0


def _find_script(shell: str) -> tuple[Path, str]:
    """Return the path for a shell's completion script, and when the shell reads this file."""
    if shell == "bash":
        file = user_data_path() / "bash-completion/completions/lockterm"
        return file, "bash loads the script at its next start if bash-completion is installed."
    if shell == "fish":
        file = user_config_path() / "fish/completions/lockterm.fish"
        return file, "fish loads the script at once."
    file = user_data_path() / "zsh/site-functions/_lockterm"
    line = f"fpath=({shlex.quote(str(file.parent))} $fpath)"
    return file, f"For zsh, add this line to ~/.zshrc before the line with compinit: {line}"


def complete_profiles(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the profiles of the configuration whose names start with the typed text."""
    with suppress(LocktermError):
        config = read_config(Paths.standard().config_file)
        names = config.profiles if config else ()
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return []


def complete_locks(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the IDs of locks whose ID or name starts with the typed text, without a request."""
    from lockterm.store import database, lock_book  # only to complete a lock

    paths = Paths.standard()
    if not paths.database.exists():
        return []
    options = Options(profile=context.obj.profile, base_url=context.obj.base_url)
    with suppress(LocktermError):
        profile = load_settings(paths.config_file, options, os.environ).profile
        if profile is None:
            return []
        store = database.Database(paths.database)
        try:
            book = lock_book.LockBook(store, profile.name).locks()
        finally:
            store.close()
        wanted = incomplete.casefold()
        return [
            CompletionItem(str(lock.lock_id), help=clean(lock.name, 60))
            for lock in book
            if str(lock.lock_id).startswith(wanted) or lock.name.casefold().startswith(wanted)
        ]
    return []
