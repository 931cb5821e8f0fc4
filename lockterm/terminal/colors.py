"""Themes and color filters, also for terminals with few colors or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import ColorSystem, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import BUILTIN_THEMES, Theme

OWN = Theme(
    name="terminal",
    ansi=True,
    # These of the eight colors are readable on black and on white; dark blue, cyan and yellow are
    # not. Everything that a color means is also shown in words.
    primary="ansi_default",
    secondary="ansi_default",
    warning="ansi_magenta",
    error="ansi_red",
    success="ansi_green",
    accent="ansi_default",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={
        "ansi-background": "ansi_default",
        "ansi-foreground": "ansi_default",
        "border": "ansi_default",
        "border-blurred": "ansi_default",
        "block-cursor-foreground": "ansi_default",
        "block-cursor-background": "ansi_default",
        "block-cursor-text-style": "reverse",
        "block-cursor-blurred-text-style": "underline",
        "text-muted": "ansi_default",
        "text-disabled": "ansi_default",
        "foreground-muted": "ansi_default",
        "warning-muted": "ansi_default",
        "input-cursor-text-style": "reverse",
        "input-selection-background": "ansi_default",
        "input-selection-foreground": "ansi_default",
        "screen-selection-background": "ansi_default",
        "screen-selection-foreground": "ansi_default",
        "scrollbar": "ansi_default",
        "scrollbar-hover": "ansi_default",
        "scrollbar-active": "ansi_default",
        "scrollbar-background": "ansi_default",
        "scrollbar-background-hover": "ansi_default",
        "scrollbar-background-active": "ansi_default",
    },
)
"""The theme with the terminal's own foreground and background, on a light or a dark terminal."""


def _other(name: str, variables: Mapping[str, str], **roles: str) -> Theme:
    theme = BUILTIN_THEMES[name]
    return replace(theme, **roles, variables={**theme.variables, **variables})  # type: ignore[arg-type]


ON_ONE_GROUND = (
    _other(
        "ansi-dark",
        {"warning-muted": "ansi_default"},  # a color of the terminal cannot be mixed
        primary="ansi_cyan",
        warning="ansi_bright_yellow",
        error="ansi_bright_red",
    ),
    _other(
        "ansi-light",
        # Many terminals draw bold text in the bright colors, which are pale on white.
        dict.fromkeys(("warning-muted", "text-warning", "text-error"), "ansi_default"),
        secondary="ansi_blue",
        warning="ansi_magenta",
        success="ansi_blue",
    ),
)
"""Textual's two themes of terminal colors, limited to colors that are readable on their ground.

Readable means a contrast of 4.5 to 1 on black or on white in the palettes of xterm, VGA and Tango.
"""

_ROLES = {
    "ended": "error",
    "week": "warning",
    "month": "secondary",
    "ahead": "success",
    "disagree": "error",
    "unclear": "foreground",
    "coerced": "primary",
}
"""The theme color of each remote state, for themes without a color for that state."""

_ON_DARK = {
    "ended": "#f96b4e",
    "week": "#ff9a00",
    "month": "#ffff80",
    "ahead": "#83efa1",
    "disagree": "#db63fe",
    "unclear": "#a49d9e",
    "coerced": "#bac8fc",
}
_ON_LIGHT = {
    "ended": "#9c0d29",
    "week": "#943e00",
    "month": "#373203",
    "ahead": "#07653b",
    "disagree": "#69066d",
    "unclear": "#5b515f",
    "coerced": "#002f99",
}
"""Colors of the states, with a contrast of 7 to 1 on black or on white.

They are as far as possible from each other and from the text, also for color-blind people.
"""


def _for_eyes(base: str, name: str, states: Mapping[str, str], muted: str, **colors: str) -> Theme:
    theme = BUILTIN_THEMES[base]
    text, ground, step = (colors[role] for role in ("foreground", "background", "panel"))
    variables = {
        **theme.variables,
        **{f"state-{state}": color for state, color in states.items()},
        **dict.fromkeys(("text-muted", "text-disabled", "foreground-muted"), muted),
        **dict.fromkeys(("warning-muted", "block-hover-background"), step),
        "text-error": states["ended"],
        "text-warning": states["week"],
        **dict.fromkeys(("block-cursor-foreground", "input-selection-foreground"), ground),
        "button-color-foreground": ground,
        **dict.fromkeys(("block-cursor-background", "input-selection-background"), text),
        "block-cursor-blurred-background": step,
        "border": text,
        "scrollbar": muted,
    }
    roles = {role: states[state] for state, role in _ROLES.items() if state != "disagree"}
    roles |= {"accent": states["coerced"], "surface": ground, **colors}
    return replace(theme, name=name, variables=variables, **roles)  # type: ignore[arg-type]


_DARK = {"foreground": "#e0e0e0", "background": "#121212", "panel": "#242424"}
_LIGHT = {"foreground": "#1f1f1f", "background": "#f4f4f4", "panel": "#e0e0e0"}
_WHITE_ON_BLACK = {"foreground": "#ffffff", "background": "#000000", "panel": "#1c1c1c"}
_BLACK_ON_WHITE = {"foreground": "#000000", "background": "#ffffff", "panel": "#f8f8f8"}
FOR_EYES = (
    _for_eyes("textual-dark", "color-blind-dark", _ON_DARK, "#b4b4b4", **_DARK),
    _for_eyes("textual-light", "color-blind-light", _ON_LIGHT, "#4c4c4c", **_LIGHT),
    _for_eyes("textual-dark", "high-contrast-dark", _ON_DARK, "#c8c8c8", **_WHITE_ON_BLACK),
    _for_eyes("textual-light", "high-contrast-light", _ON_LIGHT, "#404040", **_BLACK_ON_WHITE),
)
"""Themes with a different color for every state."""


def state_color(variables: Mapping[str, str], state: str) -> RichColor | None:
    """Return the color of a remote's state, or None for the default text color.

    Args:
        variables: The variables of the theme.
        state: The state.
    """
    if state not in _ROLES:
        return None
    named = variables.get(f"state-{state}", variables[_ROLES[state]])
    color = Color.parse(named).rich_color
    return None if color.is_default else color


LEAST_CONTRAST = 1.8
"""Minimum contrast between a word, even a dimmed one, and its background."""

LEAST_OF_LINES = 1.01
"""Minimum contrast between a line and its background; a line may be faint, but not invisible."""

MIDDLE = 0.18
"""Luminance above which black has more contrast than white."""

STEPS = 8
"""Number of steps from a color to black or white."""

_BLACK, _WHITE = ColorTriplet(0, 0, 0), ColorTriplet(255, 255, 255)


class NoColors(LineFilter):
    """A filter that removes all colors, even the code for the terminal's own colors."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with attributes such as bold and reverse, but without colors."""
        return [
            segment
            if segment.style is None or segment.control
            else Segment(segment.text, _colorless(segment.style))
            for segment in segments
        ]


class Readable(LineFilter):
    """A filter that keeps text readable after its colors are reduced to those of the terminal.

    Args:
        colors: The color system of the terminal; each theme color becomes the nearest one in it.
    """

    def __init__(self, colors: ColorSystem) -> None:
        super().__init__()
        self._colors = colors

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments, with unreadable text moved toward black or white."""
        return [self._readable(segment) for segment in segments]

    def _readable(self, segment: Segment) -> Segment:
        text, style, control = segment
        if style is None or control or text.isspace():
            return segment
        seen = readable(style, self._colors, LEAST_CONTRAST)
        if seen is style:
            return segment
        if all("\u2500" <= glyph <= "\u259f" or glyph == " " for glyph in text):
            seen = readable(style, self._colors, LEAST_OF_LINES)
        return Segment(text, seen)


@lru_cache(2048)
def _colorless(style: Style) -> Style:
    return style.without_color + Style.from_meta(style.meta) if style.meta else style.without_color


def colors_of(console: Console) -> ColorSystem:
    """Return the color system of a console, true color by default."""
    return console._color_system or ColorSystem.TRUECOLOR


@lru_cache(4096)
def readable(style: Style, colors: ColorSystem, least: float) -> Style:
    """Return the nearest style with enough contrast between text and background.

    Args:
        style: The wanted style; it stays unchanged if it uses the terminal's default colors, whose
            values are unknown.
        colors: The color system of the terminal.
        least: The minimum contrast; see :func:`contrast`.
    """
    front, back = style.color, style.bgcolor
    if front is None or back is None or front.is_default or back.is_default:
        return style
    if contrast(front, back, colors) >= least:
        return style
    seen_back = back.downgrade(colors).get_truecolor()
    end = _BLACK if _luminance(seen_back) > MIDDLE else _WHITE
    for step in range(1, STEPS):
        mixed = RichColor.from_triplet(blend_rgb(front.get_truecolor(), end, step / STEPS))
        if contrast(mixed, back, colors) >= least:
            return style + Style(color=mixed)
    return style + Style(color=RichColor.from_triplet(end))


def contrast(one: RichColor, other: RichColor, colors: ColorSystem) -> float:
    """Return the contrast ratio of WCAG: 1 for equal colors, 21 for black and white."""
    first, second = (_luminance(color.downgrade(colors).get_truecolor()) for color in (one, other))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


def _luminance(color: ColorTriplet) -> float:
    linear = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in color.normalized
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
