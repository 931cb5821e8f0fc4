"""The command ``lockterm completion``, and how commands install files for other programs."""

from __future__ import annotations

import shlex
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import click
from click.shell_completion import get_completion_class
from platformdirs.unix import Unix

from lockterm.cli.manual import list_exit_codes
from lockterm.cli.output import put
from lockterm.errors import LocktermError, describe_os_error
from lockterm.paths import needing_home, write_whole
from lockterm.safe_files import read_regular

MARK = "Written by lockterm, which replaces this file"
"""The text that identifies an installed file of lockterm. Files without it are never replaced."""

_XDG = Unix()
"""The user's directories by the XDG rules, which man and shells follow on every system."""

_MOST_BYTES = 1 << 20
"""The maximum size of an installed file of lockterm, in bytes. A larger file cannot be from
lockterm."""

INSTALL_CODES = list_exit_codes(_1="another file is in the way, or the file cannot be written")


_COMPLETION_HELP = f"""\
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


@click.command(epilog=_COMPLETION_HELP)
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
    """Return the path for a shell's completion script, and a sentence about when it is loaded."""
    if shell == "bash":
        file = user_data_path() / "bash-completion/completions/lockterm"
        return file, "bash loads the script at its next start if bash-completion is installed."
    if shell == "fish":
        file = user_config_path() / "fish/completions/lockterm.fish"
        return file, "fish loads the script at once."
    file = user_data_path() / "zsh/site-functions/_lockterm"
    line = f"fpath=({shlex.quote(str(file.parent))} $fpath)"
    return file, f"For zsh, add this line to ~/.zshrc before the line with compinit: {line}"


# --- installed files -----------------------------------------------------------------------------


def user_data_path() -> Path:
    """Return the directory ``$XDG_DATA_HOME``, or its default.

    Raises:
        ConfigError: If this user has no home directory.
    """
    with needing_home():
        return _XDG.user_data_path


def user_config_path() -> Path:
    """Return the directory ``$XDG_CONFIG_HOME``, or its default.

    Raises:
        ConfigError: If this user has no home directory.
    """
    with needing_home():
        return _XDG.user_config_path


def install_files(
    files: Mapping[Path, bytes], mode: int = 0o666, *, former: Iterable[Path] = ()
) -> None:
    """Write files and create missing directories, but never replace a file of another program.

    Args:
        files: The content of each file by path, plain or compressed with gzip. Each content must
            include :data:`MARK`.
        mode: The permissions of the files, before the umask is applied.
        former: Paths where an earlier version of lockterm wrote files. These files are removed.

    Raises:
        LocktermError: If a file of another program exists at one of the paths; nothing was written
            in this case. Also if a file could not be written; the files before it in ``files`` were
            written in this case.
    """
    done, former = 0, tuple(former)
    try:
        for file in (*files, *former):
            if not _is_free(file):
                raise LocktermError(
                    f"{file} exists, and lockterm did not write it. Nothing was changed.",
                    hint="If you do not need the file, move it away and try again.",
                )
        for file, content in files.items():
            write_whole(file, content, mode, may_replace=_is_ours, follow=False, make=0o777)
            done += 1
        for file in former:
            file.unlink(missing_ok=True)
    except OSError as error:
        before = f"{done} of {len(files)} files were" if done else "Nothing was"
        raise LocktermError(
            f"{file} cannot be written: {describe_os_error(error)}. {before} written.",
            hint="Check that its directory exists, is yours, is writable and has space.",
        ) from error


def put_undo(file: Path, *patterns: str) -> None:
    """Print the shell command that removes the installed files.

    Args:
        file: A file to remove.
        patterns: Shell patterns for more files to remove from the same directory.
    """
    arguments = (
        shlex.quote(str(file)),
        *(f"{shlex.quote(str(file.parent))}/{like}" for like in patterns),
    )
    put(f"To undo: rm {' '.join(arguments)}")


def _is_free(file: Path) -> bool:
    """Return whether lockterm may write to a path: no file is there, or a file of lockterm is.

    Raises:
        OSError: If the file cannot be read.
    """
    if file.is_symlink():  # pipx installs its pages as links
        return False
    try:
        return _is_ours(read_regular(file, _MOST_BYTES))
    except FileNotFoundError:
        return True
    except ValueError:
        return False


def _is_ours(content: bytes) -> bool:
    if content.startswith(b"\x1f\x8b"):
        try:
            content = zlib.decompressobj(wbits=31).decompress(content, _MOST_BYTES)
        except zlib.error:
            return False
    return MARK.encode() in content
