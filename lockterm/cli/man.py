"""The command ``lockterm man``, which writes the manual pages. The build adds them to the wheel."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

from lockterm import __version__
from lockterm.cli.install import INSTALL_CODES, MARK, install_files, put_undo, user_data_path
from lockterm.cli.keys import key_rows
from lockterm.cli.output import put
from lockterm.keymap import DEFAULT_KEYMAP

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


_MAN_HELP = f"""\
Each command has a page, such as lockterm-remotes(1). The page lockterm(1) also lists the keys. pip
and pipx install the pages. The command replaces only pages that lockterm wrote.

\b
Examples:
  lockterm man && man lockterm
  lockterm man --dir /usr/local/share/man

{INSTALL_CODES}"""


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
