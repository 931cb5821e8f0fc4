"""The options of the plain command, read without click, which takes longer to import than most."""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to import than this
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockterm.config import Options

_VALUES = {"--profile": "profile", "--base-url": "base_url", "--lock": "lock"}
_FLAGS = {
    "--read-only": "read_only",
    "--no-mouse": "no_mouse",
    "--quiet": "quiet",
    "--no-cache": "no_cache",
}


def plain_words(arguments: Sequence[str]) -> Mapping[str, str | bool] | None:
    """What was typed, where it is nothing but options of the terminal UI, each plainly written.

    Returns:
        Setting -> its value; None: there is a command, a call for help or a mistake, so click
        reads it.
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
    return given


def plain_options(arguments: Sequence[str]) -> Options | None:
    """As :func:`plain_words`, as options; None likewise."""
    from lockterm.config import Options

    words = plain_words(arguments)
    return None if words is None else Options(**words)  # type: ignore[arg-type]
