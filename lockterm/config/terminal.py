"""The table ``[terminal]`` of the configuration, and what is detected where it says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from lockterm.config import values
from lockterm.config.file import ConfigFile
from lockterm.config.look import Look, Through, colours, multiplexer, needs_ascii

AUTO = "auto"
_WORDS = {
    "glyphs": (AUTO, "ascii", "unicode"),
    "copy": (AUTO, "plain", "tmux", "screen"),
}
"""What can be written for a setting that is no switch."""


def settle_look(
    file: ConfigFile,
    environ: Mapping[str, str],
    origins: dict[str, str],
    *,
    quiet: bool | None,
    mouse: bool | None,
) -> Look:
    """What was asked for, else what was detected.

    Args:
        file: The configuration.
        environ: The environment.
        origins: Where each value came from is noted here.
        quiet: As the command line or the environment says; None: they do not.
        mouse: As the command line says; None: it does not.

    Raises:
        ConfigError: A value of the table is wrong.
    """
    if quiet is None:
        quiet = _filed(file, "quiet", False, origins)
    if mouse is not None:
        origins["mouse"] = "option --no-mouse"
    elif "mouse" not in file.terminal and (environ.get("STY") or multiplexer(environ) == "screen"):
        # Asked for the mouse, GNU screen keeps an escape to itself until the next key is typed.
        mouse, origins["mouse"] = False, "in GNU screen"
    else:
        mouse = _filed(file, "mouse", True, origins)
    depth, origins["colours"] = colours(environ)
    glyphs, through = _filed(file, "glyphs", AUTO, origins), _filed(file, "copy", AUTO, origins)
    in_ascii = glyphs == "ascii"
    if glyphs == AUTO:
        in_ascii, origins["glyphs"] = needs_ascii(environ)
        if quiet and not in_ascii:
            origins["glyphs"] = "quiet"
    if through == AUTO:
        through, origins["copy"] = multiplexer(environ), "detected"
    return Look(
        quiet,
        mouse,
        depth,
        in_ascii,
        cast(Through, through),
        unicode=glyphs == "unicode",
        over_ssh=bool(environ.get("SSH_CONNECTION")),
    )


def _filed(file: ConfigFile, key: str, default: Any, origins: dict[str, str]) -> Any:
    """A setting of the table, else the default."""
    if key not in file.terminal:
        origins[key] = origins.get(key, "default")
        return default
    origins[key] = file.place("terminal", key)
    check = values.boolean if isinstance(default, bool) else values.one_of(*_WORDS[key])
    try:
        return check(file.terminal[key])
    except ValueError as error:
        raise file.error(("terminal", key), str(error)) from None
