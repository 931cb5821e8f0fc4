"""The command ``lockterm info``, which shows version, paths, and settings with their sources."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import click

from lockterm import __version__
from lockterm.cli.exit_codes import report_error
from lockterm.cli.manual import NO_CODES, list_examples
from lockterm.cli.options import UI_OPTIONS, json_option, take_options
from lockterm.cli.output import put, put_json
from lockterm.config import Options, Settings, load_settings
from lockterm.config.file import PROFILE_KEYS
from lockterm.config.zones import describe_zone_data, zone_data
from lockterm.domain.safe_text import MASKED, clean
from lockterm.errors import ConfigError
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
