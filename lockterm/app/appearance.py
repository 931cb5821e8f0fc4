"""The app's appearance: colors, glyphs, theme, mouse mode, low-bandwidth mode, and style sheet."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.color import ColorSystem
from textual import events
from textual.app import App
from textual.filter import LineFilter
from textual.widget import Widget

from lockterm import screens
from lockterm.config.look import TRUE_COLORS, Look
from lockterm.config.preferences import Preferences
from lockterm.domain import glyphs
from lockterm.domain.callbacks import ignore
from lockterm.errors import LocktermError
from lockterm.keymap.hints import key
from lockterm.screens.base import LocktermScreen
from lockterm.terminal.colors import NoColors, NothingElseFilter, Readable
from lockterm.terminal.frame_diff import FrameDiff
from lockterm.terminal.patches import (
    begin_with_theme,
    driver_of,
    patch_drawing,
    use_colors,
    without_greys,
)
from lockterm.terminal.render_barrier import SLOW_S, Link
from lockterm.terminal.terminal_input import LettersDrawn
from lockterm.terminal.themes import DEFAULT, OWN, THEMES
from lockterm.terminal.widths import count_ambiguous_as_wide
from lockterm.widgets.line_table import LineTable

if TYPE_CHECKING:
    from textual.css.stylesheet import Stylesheet

_SYSTEMS = {TRUE_COLORS: ColorSystem.TRUECOLOR, 256: ColorSystem.EIGHT_BIT}

_log = logging.getLogger("lockterm")


class Appearance:
    """The app's appearance, which the user can change while the app runs.

    Args:
        app: The running app.
        frame_diff: The writer that sends changed cells to the terminal.
        look: The terminal's capabilities and the options the user chose.
        choices: The preferences saved in earlier sessions.
    """

    def __init__(
        self, app: App[Any], frame_diff: FrameDiff, look: Look, choices: Preferences
    ) -> None:
        self._app = app
        self._frame_diff = frame_diff
        self.look = look
        self._choices = choices
        self.filters: list[LineFilter] = []
        """The filters that adapt each painted line to this terminal."""
        self.on_change: Callable[[Look], None] = ignore
        """A callback that receives each new look after the look was applied."""
        for theme in THEMES:
            app.register_theme(theme)
        app.no_color = look.colors == 0
        without_greys(app)
        self._animations = app.animation_level
        self._link = Link(frame_diff)
        patch_drawing()
        if (wanted := self._wanted_theme()) != app.theme:
            begin_with_theme(app, wanted)
        self._dress()

    # --- drawing ---------------------------------------------------------------------------------

    def apply_look(self, look: Look) -> None:
        """Apply a new look to every screen.

        Args:
            look: The capabilities and options to apply from now on.
        """
        other_signs = look.in_ascii != self.look.in_ascii
        self.look = look
        self._dress()
        self._app.theme = self._wanted_theme()
        self.on_change(look)
        for screen in self._app.screen_stack:
            if screen.is_mounted and isinstance(screen, LocktermScreen):
                screen.draw_frames()
                if other_signs:
                    screen.write_again()
            for widget in screen.walk_children(with_self=True):
                if other_signs and isinstance(widget, LineTable):
                    widget.measure_again()
                widget.refresh()

    def _dress(self) -> None:
        look = self.look
        glyphs.use(glyphs.ASCII if look.in_ascii else glyphs.UNICODE)
        self._app.set_class(look.quiet, "-quiet")
        self._app.animation_level = "none" if look.quiet else self._animations
        colors = ColorSystem.STANDARD if look.native else _SYSTEMS[look.colors]
        use_colors(self._app, colors)
        # Create new filters because each filter caches the cells that it has painted.
        self.filters = [NoColors() if look.colors == 0 else Readable(colors)]
        if not look.utf8:
            self.filters.append(NothingElseFilter())

    def _wanted_theme(self) -> str:
        if self.look.native:
            return OWN.name
        saved = self._choices.get("theme")
        if isinstance(saved, str):
            # Development versions saved two theme names in British spelling.
            saved = saved.replace("colour", "color")
        if isinstance(saved, str) and saved in self._app.available_themes:
            return saved
        if saved is not None:
            _log.warning("the saved theme is unknown: %.80r", saved)
        return DEFAULT

    def choose_theme(self) -> None:
        """Let the user choose a theme, and save the choice."""
        if self.look.native:
            reason = "This terminal has few colors, so lockterm uses the terminal's own colors."
            if self.look.quiet:
                reason = "Low-bandwidth mode uses the terminal's own colors."
            elif self.look.colors == 0:
                reason = (
                    "lockterm uses no colors, because NO_COLOR is set or the terminal has none."
                )
            self._app.notify(
                f"{reason} Your saved theme still applies in other terminals.", title="Theme"
            )
            return

        names = sorted(self._app.available_themes)
        themes = [(name, name) for name in names]
        self._app.push_screen(
            screens.ChoiceModal("Which theme?", themes, names.index(self._app.theme)),
            self._take_theme,
        )

    def _take_theme(self, name: str | None) -> None:
        if name is None:
            return
        self._app.theme = name
        try:
            self._choices.keep("theme", name)
        except (LocktermError, OSError) as error:
            self._app.notify(
                f"lockterm could not save the theme. It applies until you quit. {error}.",
                title="Theme",
            )

    # --- bytes and mouse -------------------------------------------------------------------------

    def toggle_quiet(self) -> None:
        """Turn low-bandwidth mode on or off."""
        quiet = not self.look.quiet
        self.apply_look(replace(self.look, quiet=quiet))
        self._use_mouse()
        self._app.notify(
            "To send less, lockterm uses 16 colors and ASCII, ignores mouse movements and"
            " preloads no pages. To turn the mode off, press the same key again. To start in"
            " this mode, use --quiet."
            if quiet
            else "lockterm shows all colors and symbols again, and preloads neighboring pages.",
            title="Low-bandwidth mode on" if quiet else "Low-bandwidth mode off",
        )

    def toggle_mouse(self) -> None:
        """Switch mouse handling between the terminal and lockterm."""
        mouse = not self.look.mouse
        self.look = replace(self.look, mouse=mouse)
        self._use_mouse()
        self._app.notify(
            "Clicks and the mouse wheel work in lockterm again. In most terminals, hold"
            " Shift to select text."
            + " GNU screen now delays the Escape key until you press another key."
            * (self.look.copy == "screen")
            if mouse
            else (
                "The terminal now handles the mouse, so you can select and copy text. All"
                " keys work as before."
            ),
            title="Mouse" if mouse else "Mouse released",
        )

    def _use_mouse(self) -> None:
        if (use_mouse := getattr(driver_of(self._app), "use_mouse", None)) is not None:
            use_mouse(self.look.mouse)

    def take_letters(self, event: LettersDrawn) -> None:
        """Adapt the look to the terminal's report about characters beyond ASCII.

        The report takes precedence over environment variables. If the user forced Unicode, lockterm
        ignores the reported encoding and uses only the reported widths of letters.
        """
        if event.utf8 != self.look.utf8 and not self.look.unicode:
            # The terminal may have taken bytes of a name for the start of a control string.
            self._frame_diff.send("\x1b\\")
            self._frame_diff.frame.forget()
            self.apply_look(replace(self.look, utf8=event.utf8))
        self._take_width(event.ambiguous)

    # --- the link to the terminal ----------------------------------------------------------------

    def measure_link(self) -> None:
        """Start to measure the latency of an SSH link, unless low-bandwidth mode is on.

        If the link is slow, :meth:`take_answer` suggests low-bandwidth mode.
        """
        if self.look.over_ssh and not self.look.quiet:
            self._link.measure()

    def take_answer(self, event: events.CursorPosition) -> None:
        """Use an answer of the terminal to measure the latency of the link.

        If the link is slow, suggest low-bandwidth mode.
        """
        trip_s = self._link.answered(event.time)
        if trip_s is not None and trip_s >= SLOW_S and not self.look.quiet:
            self._offer_quiet(trip_s)

    def _take_width(self, cells: int) -> None:
        self._frame_diff.frame.ambiguous = cells
        if cells == 1:
            return

        count_ambiguous_as_wide()
        self._frame_diff.measure_again()
        self.apply_look(replace(self.look, ascii=True))
        for screen in self._app.screen_stack:
            for widget in screen.walk_children(with_self=True):
                if isinstance(widget, LineTable):
                    widget.measure_again()
                if isinstance(widget, Widget):
                    widget.clear_cached_dimensions()
                widget.refresh(layout=True)

    def _offer_quiet(self, trip_s: float) -> None:
        self._app.notify(
            f"A round trip to this terminal takes {trip_s * 1000:.0f} ms. Press"
            f" {key('app.quiet')} for low-bandwidth mode: 16 colors, ASCII, no"
            " preloading. To start in this mode, use --quiet, or set quiet = true under"
            " [terminal] in the configuration.",
            title="Slow connection",
        )


_HERE = Path(__file__).parent.parent
PATH = next(path for path in (_HERE / "styles.tcss", _HERE.parent / "styles.tcss") if path.exists())
"""The path of the style sheet, which is inside the package in a wheel and beside the package in a
checkout."""

_HEADING = "\n/* --- "
"""The text that starts a section. The names of widget classes follow, separated by commas."""


def sections() -> dict[str, str]:
    """Return the style rules of each section of the style sheet.

    The key of a section is its heading: names of widget classes, separated by commas.
    """
    _, *parts = PATH.read_text("utf-8").split(_HEADING)
    titled = (part.partition(" -") for part in parts)
    return {names: rules.partition("*/")[2] for names, _, rules in titled}


class Styles:
    """The sections of ``styles.tcss`` that were not added to the app's style sheet yet.

    Each section is parsed when a widget first needs it. Parsing all sections takes longer than
    importing the first screen, which needs only a few.
    """

    def __init__(self) -> None:
        self._waiting = {
            name: (place, names, rules)
            for place, (names, rules) in enumerate(sections().items())
            for name in names.split(", ")
        }
        self._seen: set[type[Widget]] = set()

    def put_into(self, stylesheet: Stylesheet, widgets: Iterable[Widget]) -> None:
        """Add the rules for new widgets to the style sheet, before the widgets are styled.

        Args:
            stylesheet: The app's style sheet.
            widgets: The new widgets.
        """
        for kind in {type(widget) for widget in widgets} - self._seen:
            self._seen.add(kind)
            for base in kind.__mro__:
                if base.__name__ in self._waiting:
                    place, names, rules = self._waiting.pop(base.__name__)
                    # The tie breaker keeps the file's order for rules of equal weight, whenever
                    # they are read. Adding a section again under the same name, for another class,
                    # has no effect.
                    stylesheet.add_source(rules, (str(PATH), names), tie_breaker=place)
