"""Texts for panels, which consist of parts with different looks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.color import Color
from textual.content import Content
from textual.style import Style

from lockterm.terminal.themes import state_color

Part = tuple[str, str]
"""A text, and its look: a style such as ``bold`` or ``dim``, the name of a state's look, or empty.

The name of a state's look may be followed by ``reverse``, for a badge.
"""

_STYLES = frozenset({"", "bold", "dim", "reverse", "bold reverse"})


def join_parts(parts: Iterable[Part], variables: Mapping[str, str]) -> Content:
    """Return the parts as one styled text.

    Args:
        parts: The parts, without control characters.
        variables: The variables of the theme, which contain the colors of the states.
    """
    return Content.assemble(*((text, _style(look, variables)) for text, look in parts))


def _style(look: str, variables: Mapping[str, str]) -> Style | str:
    if look in _STYLES:
        return look
    state, _, reverse = look.partition(" ")
    color = state_color(variables, state)
    if color is None:
        return reverse
    return Style(foreground=Color.from_rich_color(color), reverse=bool(reverse))
