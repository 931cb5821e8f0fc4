"""The colors of all themes.

A theme has three levels of surface (background, surface, panel), text in two colors (normal and
muted), an accent, and a color for each state of a remote. The style sheet uses these colors
through Textual's variables. ``docs/explanation/design.md`` shows where each color is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rich.color import Color as RichColor
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

_OWN_CURSOR = {
    "block-cursor-foreground": "ansi_default",
    "block-cursor-background": "ansi_default",
    "block-cursor-text-style": "reverse",
    "block-cursor-blurred-text-style": "underline",
}
"""The variables for the cursor of a list, in themes with the terminal's own colors."""

OWN = Theme(
    name="terminal",
    ansi=True,
    # Of the eight colors, these are readable on black and on white; dark blue, cyan and yellow
    # are not. Everything that a color means is also shown in words.
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
        "state-ended": "ansi_default",
        "state-week": "ansi_magenta",
        "state-month": "ansi_default",
        "state-ahead": "ansi_green",
        "state-disagree": "ansi_red",
        "state-unclear": "ansi_magenta",
        "state-coerced": "ansi_default",
        "ansi-background": "ansi_default",
        "ansi-foreground": "ansi_default",
        "border": "ansi_default",
        "border-blurred": "ansi_default",
        **_OWN_CURSOR,
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
"""The theme with the terminal's own text and background colors, for light and dark terminals."""


def _other(name: str, variables: Mapping[str, str], **roles: str) -> Theme:
    theme = BUILTIN_THEMES[name]
    variables = {**theme.variables, **_OWN_CURSOR, **variables}
    return replace(theme, **roles, variables=variables)  # type: ignore[arg-type]


ON_ONE_GROUND = (
    _other(
        "ansi-dark",
        {"warning-muted": "ansi_default", "state-month": "ansi_bright_yellow"},
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
"""Textual's two themes with the terminal's colors, changed to use only readable colors.

Readable means a contrast of 4.5 to 1 on black or on white in the palettes of xterm, VGA and Tango.
"""

_ROLES = {
    "week": "warning",
    "month": "warning",
    "ahead": "secondary",
    "disagree": "error",
    "unclear": "accent",
    "coerced": "primary",
}
"""Maps each state of a remote to the name of the state's color in themes that are not lockterm's.

An expired remote has the text color, mixed with the background.
"""

_DIM = 0.4
"""The background's share in the color of an expired remote, in themes that are not lockterm's."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The colors of one of lockterm's themes."""

    background: str
    surface: str
    """The background of dialogs."""
    panel: str
    """The background of header and footer."""
    edge: str
    """The frame of a panel without the focus."""
    text: str
    muted: str
    """The color of explanatory text, such as labels, column titles and notes."""
    accent: str
    """The color of the focused panel's frame, of keys, and of marks."""
    states: Mapping[str, str]
    """Maps each state of a remote to its color."""
    table_cursor: str = "tint"
    """How a table shows its cursor: as a ``tint`` of the accent, or in ``reverse`` colors."""

    def theme(self, name: str, base: str) -> Theme:
        """Return the theme of this palette.

        Args:
            name: The name of the theme.
            base: The name of the Textual theme that supplies all other values.
        """
        states = self.states
        variables = {
            **{f"state-{state}": color for state, color in states.items()},
            **dict.fromkeys(("text-muted", "text-disabled", "foreground-muted"), self.muted),
            **dict.fromkeys(("warning-muted", "block-hover-background"), self.panel),
            "text-error": states["disagree"],
            "text-warning": states["week"],
            "text-primary": self.accent,
            "block-cursor-foreground": self.text,
            "block-cursor-background": self.background,
            "block-cursor-text-style": "reverse",
            "block-cursor-blurred-foreground": self.text,
            "block-cursor-blurred-background": self.panel,
            "block-cursor-blurred-text-style": "none",
            "input-selection-foreground": self.background,
            "input-selection-background": self.text,
            "button-color-foreground": self.background,
            "table-cursor": self.table_cursor,
            "border": self.accent,
            "border-blurred": self.edge,
            # The colors of scrollbars are Textual's: on the color of the screen, the end of a
            # scrollbar (a glyph that is half a cell high) leaves pixels behind in xterm and st.
        }
        return replace(
            BUILTIN_THEMES[base],
            name=name,
            variables=variables,
            primary=self.accent,
            secondary=states["ahead"],
            accent=self.accent,
            warning=states["week"],
            error=states["disagree"],
            success=states["ahead"],
            foreground=self.text,
            background=self.background,
            surface=self.surface,
            panel=self.panel,
        )


# The grays have so little color that terminals of 256 colors take their own grays for them.
DARK = Palette(
    background="#121416",
    surface="#1b1e21",
    panel="#26292d",
    edge="#4a4f55",
    text="#d8dbde",
    muted="#a2a7ad",
    accent="#78a9ff",
    states={
        "ended": "#8b9096",
        "week": "#f5b454",
        "month": "#d9c07c",
        "ahead": "#56c5d0",
        "disagree": "#f47174",
        "unclear": "#d68fdc",
        "coerced": "#9db8ff",
    },
)
LIGHT = Palette(
    background="#f7f7f8",
    surface="#ececee",
    panel="#dfe1e4",
    edge="#a9adb3",
    text="#24282d",
    muted="#555a61",
    accent="#1f5fb0",
    states={
        "ended": "#6b7076",
        "week": "#8f4f00",
        "month": "#6b5800",
        "ahead": "#00646d",
        "disagree": "#b3261e",
        "unclear": "#8a2a91",
        "coerced": "#1f4fa8",
    },
)

_ON_DARK = {
    "ended": "#a49d9e",
    "week": "#ff9a00",
    "month": "#ffff80",
    "ahead": "#83efa1",
    "disagree": "#f96b4e",
    "unclear": "#db63fe",
    "coerced": "#bac8fc",
}
_ON_LIGHT = {
    "ended": "#5b515f",
    "week": "#943e00",
    "month": "#373203",
    "ahead": "#07653b",
    "disagree": "#9c0d29",
    "unclear": "#69066d",
    "coerced": "#002f99",
}
"""The colors of states for color-blind people, with a contrast of 7 to 1 on black or on white.

The colors differ as much as possible from each other and from the text color.
"""

_EYES_DARK = replace(
    DARK,
    background="#121212",
    surface="#121212",
    panel="#242424",
    text="#e0e0e0",
    muted="#b4b4b4",
    accent="#bac8fc",
    states=_ON_DARK,
)
_EYES_LIGHT = replace(
    LIGHT,
    background="#f4f4f4",
    surface="#f4f4f4",
    panel="#e0e0e0",
    text="#1f1f1f",
    muted="#4c4c4c",
    accent="#002f99",
    states=_ON_LIGHT,
)
_HIGH_DARK = replace(
    _EYES_DARK,
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    text="#ffffff",
    muted="#c8c8c8",
    edge="#c8c8c8",
    table_cursor="reverse",
)
_HIGH_LIGHT = replace(
    _EYES_LIGHT,
    background="#ffffff",
    surface="#ffffff",
    panel="#f8f8f8",
    text="#000000",
    muted="#404040",
    edge="#404040",
    table_cursor="reverse",
)

DEFAULT = "lockterm-dark"
"""The theme that lockterm uses until the user chooses another theme."""

THEMES = (
    OWN,
    *ON_ONE_GROUND,
    DARK.theme(DEFAULT, "textual-dark"),
    LIGHT.theme("lockterm-light", "textual-light"),
    _EYES_DARK.theme("color-blind-dark", "textual-dark"),
    _EYES_LIGHT.theme("color-blind-light", "textual-light"),
    _HIGH_DARK.theme("high-contrast-dark", "textual-dark"),
    _HIGH_LIGHT.theme("high-contrast-light", "textual-light"),
)
"""lockterm's own themes, and the themes of Textual that lockterm changes."""


def state_color(variables: Mapping[str, str], state: str) -> RichColor | None:
    """Return the color of a remote's state; None for the default text color.

    Args:
        variables: The variables of the theme.
        state: The state, such as ``week`` or ``ended``.
    """
    named = variables.get(f"state-{state}") or variables.get(_ROLES.get(state, ""))
    if state == "ended" and named is None:
        text, ground = (Color.parse(variables[role]) for role in ("foreground", "background"))
        color = text if text.ansi is not None else text.blend(ground, _DIM)
    elif named is None:
        return None
    else:
        color = Color.parse(named)
    found = color.rich_color
    return None if found.is_default else found
