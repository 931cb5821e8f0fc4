"""The commands ``lockterm completion`` and ``lockterm man``, which write files for other programs.

The build adds the manual pages to the wheel.
"""

from __future__ import annotations

import gzip
import shlex
import zlib
from collections.abc import Iterable, Iterator, Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class
from platformdirs.unix import Unix

from lockterm import __version__
from lockterm.cli.info import key_rows
from lockterm.cli.manual import list_exit_codes
from lockterm.cli.output import put
from lockterm.errors import LocktermError, describe_os_error
from lockterm.keymap import DEFAULT_KEYMAP
from lockterm.paths import needing_home, write_whole
from lockterm.safe_files import read_regular

MARK = "Written by lockterm, which replaces this file"
"""The text that identifies an installed file of lockterm. Files without it are never replaced."""

_XDG = Unix()
"""The user's directories by the XDG rules, which man and shells follow on every system."""

_MOST_BYTES = 1 << 20
"""The maximum size of an installed file of lockterm, in bytes. A larger file cannot be from
lockterm."""

_SECTIONS = {
    "Exit codes": "EXIT STATUS",
    "Environment": "ENVIRONMENT",
    "Files": "FILES",
    "Examples": "EXAMPLES",
}
"""Maps the first words of a help paragraph to the section of the manual page in which the paragraph
appears. The sections are in the order of the page."""

# groff replaces these characters by typographic ones, which a shell does not understand.
_ROFF = str.maketrans(
    {
        "\\": r"\(rs",
        "-": r"\-",
        "'": r"\(aq",
        '"': r"\(dq",
        "`": r"\(ga",
        "^": r"\(ha",
        "~": r"\(ti",
    }
)

_INSTALL_CODES = list_exit_codes(_1="another file is in the way, or the file cannot be written")


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

{_INSTALL_CODES}"""


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


_MAN_HELP = f"""\
Each command has a page, such as lockterm-remotes(1). The page lockterm(1) also lists the keys. pip
and pipx install the pages. The command replaces only pages that lockterm wrote.

\b
Examples:
  lockterm man && man lockterm
  lockterm man --dir /usr/local/share/man

{_INSTALL_CODES}"""


@click.command(epilog=_MAN_HELP)
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=lambda: user_data_path() / "man",
    help="Directory that contains man1. [default: ~/.local/share/man]",
)
@click.pass_context
def man(context: click.Context, directory: Path) -> int:
    """Write the manual pages."""
    folder = directory.absolute() / "man1"
    written = pages(context.find_root().command)
    # pipx installs links with the uncompressed names, so these pages need other names.
    files = {
        folder / f"{name}.gz": gzip.compress(text.encode(), mtime=0)
        for name, text in written.items()
    }
    install_files(files, former=[folder / name for name in written])
    put(f"Written: {len(written)} manual pages to {folder}. Begin with: man lockterm")
    put(f"If man does not find the pages: man -M {directory.absolute()} lockterm")
    put_undo(folder / "lockterm.1.gz", "lockterm-*.1.gz")
    return 0


def pages(root: click.Command) -> dict[str, str]:
    """Return a manual page for each command, made from its help.

    Args:
        root: The command ``lockterm`` itself, whose page also lists the keys.

    Returns:
        The content of each page in ASCII, by file name.
    """
    return {
        f"{_title(path)}.1": "\n".join(_page(path, command, root.context_settings)) + "\n"
        for path, command in _commands("lockterm", root)
    }


def _commands(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Yield pairs of a full name and a command, for a command and all of its subcommands."""
    yield path, command
    for name, below in _below(command):
        yield from _commands(f"{path} {name}", below)


def _below(command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield name, below


def _page(path: str, command: click.Command, settings: Mapping[str, Any]) -> Iterator[str]:
    context = click.Context(command, info_name=path, **settings)
    title = _title(path)
    yield f'.\\" {MARK}.'
    yield f'.TH {title.upper()} 1 "" "lockterm {__version__}" "lockterm"'
    yield from (".SH NAME", _text(f"{title} - {_summarize(command)}"))
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (".SH SYNOPSIS", _bold(path), _text(usage))
    prose, sections = _parts(f"{cleandoc(command.help or '')}\n\n{command.epilog or ''}")
    yield from (".SH DESCRIPTION", *prose)
    yield ".SH OPTIONS"
    for parameter in command.get_params(context):
        if record := parameter.get_help_record(context):
            yield from _listed(*record)
    if isinstance(command, click.Group):
        yield ".SH COMMANDS"
        for name, below in _below(command):
            yield from _listed(f"{title}-{name}(1)", _summarize(below))
    if " " not in path:
        yield from _keys()
    for section in _SECTIONS.values():
        if section in sections:
            yield from (f".SH {section}", *sections[section])
    above = path.split()[:-1]
    if above:
        names = ("-".join(above[: end + 1]) for end in range(len(above)))
        yield from (".SH SEE ALSO", ", ".join(f"{_bold(name)}(1)" for name in names))


def _keys() -> Iterator[str]:
    """Yield the lines of the section with the keys.

    The lines show the default keys, because the build must not read a configuration.
    """
    yield from (
        ".SH KEYS",
        _text("You can set every key in the configuration. See lockterm-keys(1)."),
    )
    where = ""
    for row in key_rows(DEFAULT_KEYMAP):
        if row.where != where:
            where = row.where
            yield f".SS {_text(where[0].upper() + where[1:])}"
        yield from _listed(" ".join(row.keys), row.does)


def _parts(help_text: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the roff lines of a help text: those of its description, and those of its sections.

    The second value maps the title of each section in the manual page to the lines of the section.
    """
    prose: list[str] = []
    sections: dict[str, list[str]] = {}
    for paragraph in filter(None, map(str.strip, help_text.split("\n\n"))):
        _, verbatim, text = paragraph.rpartition("\b\n")
        head, _, rest = text.partition("\n")
        section = next((name for name in _SECTIONS if head.startswith(name)), "")
        if section:
            more = head.removeprefix(section).rstrip(":").strip("(), ")
            about = [_text(f"{more}.")] if more else []
            sections[_SECTIONS[section]] = [*about, ".nf", _text(rest), ".fi"]
        elif verbatim:
            prose += [".PP", ".nf", _text(text), ".fi"]
        else:
            prose += [".PP", _text(text)]
    return prose, sections


def _listed(head: str, text: str) -> tuple[str, ...]:
    return ".TP", _bold(head), _text(text)


def _summarize(command: click.Command) -> str:
    return command.get_short_help_str(200).rstrip(".")


def _title(path: str) -> str:
    return path.replace(" ", "-")


def _bold(text: str) -> str:
    return rf"\fB{_text(text)}\fR"


def _text(text: str) -> str:
    """Escape a text for roff, so that every character appears unchanged in the page."""
    text = "".join(
        sign if sign.isascii() else rf"\[u{ord(sign):04X}]" for sign in text.translate(_ROFF)
    )
    return "\n".join(rf"\&{line}" if line.startswith(".") else line for line in text.split("\n"))


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
