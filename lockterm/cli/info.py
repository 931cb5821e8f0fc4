"""``lockterm info``: what it is, where it keeps things, and which settings apply, and why."""

from __future__ import annotations

import json
import os
import platform
from typing import Any

from lockterm import __version__
from lockterm.cli.ending import tell_error
from lockterm.cli.output import put, put_json
from lockterm.config import Options, Settings, load_settings
from lockterm.errors import ConfigError
from lockterm.paths import Paths
from lockterm.text import clean

MASKED = "***"


def run_info(options: Options, *, as_json: bool) -> int:
    """Print it. Where a setting is wrong, print what is known and then say what is wrong.

    Returns:
        The exit code: 0, or 2 where a setting is wrong.
    """
    paths = Paths.standard()
    report: dict[str, Any] = {
        "version": __version__,
        "python": platform.python_version(),
        "textual": _version_of("textual"),
        "paths": {name: str(path) for name, path in paths.named().items()},
    }
    error: ConfigError | None = None
    try:
        settings = load_settings(paths.config_file, options, os.environ)
        report["settings"] = _described(settings)
        report["warnings"] = list(settings.profile.warnings) if settings.profile else []
    except ConfigError as wrong:
        error = wrong
        report["error"] = f"{wrong.message} {wrong.hint}".strip()
    if as_json:
        put_json(report)
    else:
        _print(report, paths)
    return tell_error(error) if error else 0


def _described(settings: Settings) -> dict[str, dict[str, Any]]:
    """Name of a setting -> its value and where that came from. No header's value is in it.

    ``keys`` is how many actions have other keys than usual; each follows with the keys it has.
    """
    profile = settings.profile
    effective: dict[str, Any] = {"profile": None, "base_url": None}
    if profile is not None:
        effective = {
            "profile": profile.name,
            "base_url": profile.base_url,
            "timezone": profile.timezone,
            "page_size": profile.page_size,
            "body": profile.body,
            "ca_file": profile.ca_file,
            "timeout_s": profile.timeout_s,
            "read_only": profile.read_only,
            "colour": profile.colour,
            **{f"headers.{name}": MASKED for name in profile.headers},
        }
    look = settings.look
    effective |= {
        "lock": settings.open_lock,
        "quiet": look.quiet,
        "mouse": look.mouse,
        "colours": look.colours,
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
        shown = "none" if value in (None, "") else json.dumps(value) if value in _FLAGS else value
        put(f"  {name:<{wide}}{clean(shown)}  ({clean(setting['from'])})")
    for warning in report["warnings"]:
        put(f"\nWarning: {clean(warning)}")
    if report["settings"]["base_url"]["value"] is None:
        put("\nNo service is known yet. Try `lockterm demo`, or give --base-url URL.")


_FLAGS = (True, False)


def _version_of(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
