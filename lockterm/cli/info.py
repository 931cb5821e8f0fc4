"""The commands ``lockterm info`` and ``lockterm keys``, which print what is configured.

``info`` shows version, paths, and settings with their sources. ``keys`` shows the keys of the UI.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import click

from lockterm import __version__
from lockterm.cli.exit_codes import report_error
from lockterm.cli.manual import NO_CODES, list_examples
from lockterm.cli.options import UI_OPTIONS, json_option, take_options
from lockterm.cli.output import put, put_json, put_wrapped
from lockterm.config import Options, Settings, load_settings
from lockterm.config.file import PROFILE_KEYS
from lockterm.config.settings import keys_in
from lockterm.config.zones import describe_zone_data, zone_data
from lockterm.domain.safe_text import MASKED, clean
from lockterm.errors import ConfigError
from lockterm.keymap import Keymap
from lockterm.keymap.hints import written
from lockterm.keymap.keys import PLACES
from lockterm.paths import Paths


@click.command(
    epilog=list_examples(NO_CODES, "lockterm info", "lockterm info --json | jq -r .paths.log_file")
)
@take_options(*UI_OPTIONS)
@json_option
def info(options: Options, as_json: bool) -> int:
    """Show version, paths and settings.

    The command shows where each setting comes from. It does not show the values of headers.
    """
    paths = Paths.standard()
    report: dict[str, Any] = {
        "version": __version__,
        "python": platform.python_version(),
        "textual": version("textual"),
        "timeZones": asdict(zone_data()),
        "paths": {name: str(path) for name, path in paths.named().items()},
    }
    error: ConfigError | None = None
    try:
        settings = load_settings(paths.config_file, options, os.environ)
        report["settings"] = _describe_settings(settings)
        report["warnings"] = list(settings.profile.warnings) if settings.profile else []
    except ConfigError as wrong:
        error = wrong
        report["error"] = f"{wrong.message} {wrong.hint}".strip()
    if as_json:
        put_json(report)
    else:
        _print(report, paths)
    return report_error(error) if error else 0


def _describe_settings(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return the value and the source of each setting by name, with masked values of headers.

    The value of ``keys`` is the number of actions with configured keys. The value of a setting such
    as ``keys.remotes.delete`` is the keys of one action.
    """
    profile = settings.profile
    effective: dict[str, Any] = {"profile": None, "base_url": None}
    if profile is not None:
        effective = {
            "profile": profile.name,
            **{name: getattr(profile, name) for name in PROFILE_KEYS if name != "headers"},
            **{f"headers.{name}": MASKED for name in profile.headers},
            "presets": ", ".join(profile.presets),
        }
    look = settings.look
    effective |= {
        "lock": settings.open_lock,
        "quiet": look.quiet,
        "mouse": look.mouse,
        "colors": look.colors,
        "glyphs": "ascii" if look.in_ascii else "unicode",
        "copy": look.copy,
        "keys": len(settings.keymap),
        **{f"keys.{name}": " ".join(keys) for name, keys in sorted(settings.keymap.items())},
    }
    origins = dict(settings.origins)
    if settings.keymap:
        origins["keys"] = "[keys] of the configuration"
    return {
        name: {"value": value, "from": origins.get(name, "default")}
        for name, value in effective.items()
    }


def _print(report: dict[str, Any], paths: Paths) -> None:
    put(f"lockterm {report['version']}   Python {report['python']}   Textual {report['textual']}")
    put(f"Time zones {describe_zone_data(zone_data())}")
    put("\nPaths")
    for name, path in paths.named().items():
        there = "" if path.exists() else "  (not there yet)"
        put(f"  {name:<14}{clean(path)}{there}")
    if "settings" not in report:
        return
    put("\nSettings")
    wide = max(map(len, report["settings"])) + 2
    for name, setting in report["settings"].items():
        value = setting["value"]
        if isinstance(value, bool):
            value = str(value).lower()
        shown = "none" if value in (None, "") else clean(value)
        put(f"  {name:<{wide}}{shown}  ({clean(setting['from'])})")
    for warning in report["warnings"]:
        put(f"\nWarning: {clean(warning)}")
    if report["settings"]["base_url"]["value"] is None:
        put("\nNo service is configured yet. Run `lockterm demo`, or add --base-url URL.")


KEYS_CELLS, ID_CELLS = 17, 22
"""The widths of the first two columns, in cells."""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A row of the output: an action on one screen or widget, with its keys."""

    where: str
    id: str
    keys: tuple[str, ...]
    usual: tuple[str, ...]
    """The default keys."""
    chosen: bool
    """Whether the configuration replaces the default keys."""
    verb: str
    does: str


_KEYS_HELP = f"""\
The configuration chooses other keys by their ID:

\b
  [keys]
  "remotes.delete" = "x"
  "remotes.next_page" = "n,pgdn"

\b
--json prints keys: a list of
  where, id, keys, usual (the default keys), chosen, verb, does

\b
Examples:
  lockterm keys | less
  lockterm keys --json | jq '.keys[] | select(.chosen)'

{NO_CODES}"""


@click.command(epilog=_KEYS_HELP)
@json_option
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a Markdown table.")
def keys(as_json: bool, as_markdown: bool) -> int:
    """Print every key of the UI, with the keys that you changed."""
    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown cannot be used together.")
    listed = list(key_rows(keys_in(Paths.standard().config_file)))
    if as_json:
        put_json({"keys": [asdict(row) for row in listed]})
    elif as_markdown:
        put(format_markdown(listed))
    else:
        _print_table(listed)
    return 0


def key_rows(keymap: Keymap) -> Iterator[KeyRow]:
    """Yield a row for every action; actions that work on all screens come first.

    Args:
        keymap: The configured keys.
    """
    for place in sorted(PLACES.values(), key=lambda place: place is not PLACES["app"]):
        for found in place.tasks.values():
            for key in found:
                usual = tuple(map(written, place.keys[key.id]))
                chosen = tuple(map(written, keymap.get(key.id, place.keys[key.id])))
                is_chosen = chosen != usual
                yield KeyRow(place.words, key.id, chosen, usual, is_chosen, key.verb, key.does)


def format_markdown(listed: Iterable[KeyRow]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| where | key | ID | what it does |", "|---|---|---|---|"]
    for row in listed:
        keys = " ".join(f"`{key}`" for key in row.keys).replace("|", "\\|")
        lines.append(f"| {row.where} | {keys} | `{row.id}` | {row.does} |")
    return "\n".join(lines)


def _print_table(listed: list[KeyRow]) -> None:
    where = ""
    for row in listed:
        if row.where != where:
            put(f"\n{row.where}" if where else row.where)
            where = row.where
        mark = "*" if row.chosen else " "
        put_wrapped(f"{mark} {' '.join(row.keys):<{KEYS_CELLS}} {row.id:<{ID_CELLS}} ", row.does)
    if any(row.chosen for row in listed):
        put("\n* differs from the default keys")
