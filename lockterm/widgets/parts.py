"""Text in parts for panels; each part has its own look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.color import Color
from textual.content import Content
from textual.style import Style

from lockterm.terminal.themes import state_color

Part = tuple[str, str]
"""A text, and its look: styles such as ``bold`` and ``dim``, the look of a state, or empty."""

_STYLES = frozenset({"", "bold", "dim", "reverse", "bold reverse"})


def join_parts(parts: Iterable[Part], variables: Mapping[str, str]) -> Content:
    """Return parts as one text.

    Args:
        parts: The parts, clean.
        variables: The variables of the theme, which has the colors of the states.
    """
    return Content.assemble(*((text, _style(look, variables)) for text, look in parts))


def _style(look: str, variables: Mapping[str, str]) -> Style | str:
    if look in _STYLES:
        return look
    color = state_color(variables, look)
    return "" if color is None else Style(foreground=Color.from_rich_color(color))
