"""The options of the plain command, read without click, which takes longer to import than most."""

from __future__ import annotations

from collections.abc import Sequence

from lockterm.config import Options

_VALUES = {"--profile": "profile", "--base-url": "base_url", "--lock": "lock"}
_FLAGS = {
    "--read-only": "read_only",
    "--no-mouse": "no_mouse",
    "--quiet": "quiet",
    "--no-cache": "no_cache",
}


def plain_options(arguments: Sequence[str]) -> Options | None:
    """What was typed, where it is nothing but options of the terminal UI, each plainly written.

    Returns:
        The options; None: there is a command, a call for help or a mistake, so click reads it.
    """
    given: dict[str, str | bool] = {}
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name in _FLAGS and not equals:
            given[_FLAGS[name]] = True
            continue
        if not equals:
            value = next(rest, "-")
        if name not in _VALUES or value.startswith("-"):
            return None
        given[_VALUES[name]] = value
    return Options(**given)  # type: ignore[arg-type]
