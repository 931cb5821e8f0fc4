"""An app that looks as its terminal needs it: colours, glyphs, theme, mouse, quiet."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from rich.color import ColorSystem
from textual import constants, events
from textual.app import ReturnType
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.filter import LineFilter, Monochrome, NoColor

from lockterm.choices import Choices
from lockterm.config.look import TRUE_COLOURS, Look
from lockterm.errors import LocktermError
from lockterm.keymap.spoken import key
from lockterm.link import SLOW_S, Link
from lockterm.needs_room import NeedsRoom
from lockterm.widgets.colours import OWN, NoColours, Readable
from lockterm.widgets.cures import cure_drawing
from lockterm.widgets.glyphs import AsciiFilter

_SYSTEMS = {TRUE_COLOURS: ColorSystem.TRUECOLOR, 256: ColorSystem.EIGHT_BIT}

_log = logging.getLogger("lockterm")


class Appearance(NeedsRoom[ReturnType]):
    """An app whose look can change while it runs.

    Args:
        look: What this terminal can do, and what was asked for.
        choices: What was chosen in earlier sessions.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "f3,Q",
            "quiet",
            "quiet",
            show=False,
            id="app.quiet",
            tooltip="Send less, for a thin link: 16 colours, ASCII, nothing read ahead; or not",
        ),
        Binding(
            "f4,O",
            "mouse",
            "mouse",
            show=False,
            id="app.mouse",
            tooltip="Leave the mouse to the terminal, which selects text with it; or take it back",
        ),
        Binding(
            "T",
            "theme",
            "theme",
            show=False,
            id="app.theme",
            tooltip="Choose the colours; the choice is kept",
        ),
    ]

    def __init__(self, look: Look, choices: Choices) -> None:
        super().__init__()
        self.look = look
        self.choices = choices
        self.register_theme(OWN)
        self.no_color = look.colours == 0
        # Textual's own turn colours into greys, and take an empty NO_COLOR for a set one.
        self._filters = [one for one in self._filters if not isinstance(one, (Monochrome, NoColor))]
        self._first_theme = self.theme
        self._animations = self.animation_level
        self._own_filters: list[LineFilter] = []
        self._link = Link(self._send, lambda: events.Event().time, self._offer_quiet)
        cure_drawing()
        if (theme := self._wanted_theme()) != self.theme:
            # Before the first frame, and without the painting that follows a change of theme.
            self.set_reactive(Appearance.theme, theme)
            self._refresh_truecolor_filter(self.ansi_theme)
            self.stylesheet.set_variables(self.get_css_variables())
        self._dress()

    # --- what is drawn -------------------------------------------------------------------------

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's, then what this terminal needs."""
        return [*super().get_line_filters(), *self._own_filters]

    def wear(self, look: Look) -> None:
        """Take on another look, on every screen at once.

        Args:
            look: What holds from now on.
        """
        self.look = look
        self._dress()
        self.theme = self._wanted_theme()
        for screen in self.screen_stack:
            for widget in screen.walk_children(with_self=True):
                widget.refresh()

    def _dress(self) -> None:
        look = self.look
        self.set_class(look.quiet, "-quiet")
        self.animation_level = "none" if look.quiet else self._animations
        colours = ColorSystem.STANDARD if look.native else _SYSTEMS[look.colours]
        self.console._color_system = colours
        # New objects: what was painted is remembered by the filters it went through.
        self._own_filters = [NoColours() if look.colours == 0 else Readable(colours)]
        if look.in_ascii:
            self._own_filters.append(AsciiFilter())

    def _wanted_theme(self) -> str:
        if self.look.native:
            return OWN.name
        kept = self.choices.get("theme")
        if isinstance(kept, str) and kept in self.available_themes:
            return kept
        if kept is not None:
            _log.warning("the kept theme is none that is known: %.80r", kept)
        return self._first_theme

    async def action_theme(self) -> None:
        """Choose the theme, and keep the choice."""
        if self.look.native:
            reason = "This terminal has few colours: its own are used."
            if self.look.quiet:
                reason = "Quiet uses the terminal's own colours."
            elif self.look.colours == 0:
                reason = "No colours are used here: NO_COLOR is set, or the terminal has none."
            self.notify(f"{reason} A theme chosen elsewhere is kept.", title="Theme")
            return
        from lockterm.screens.choice_modal import ChoiceModal

        names = sorted(self.available_themes)
        themes = [(name, name) for name in names]
        self.push_screen(ChoiceModal("Theme", themes, names.index(self.theme)), self._take_theme)

    def _take_theme(self, name: str | None) -> None:
        if name is None:
            return
        self.theme = name
        try:
            self.choices.keep("theme", name)
        except (LocktermError, OSError) as error:
            self.notify(f"It holds for this session alone: {error}.", title="Theme")

    # --- what is sent --------------------------------------------------------------------------

    def action_quiet(self) -> None:
        """Send less, or all again."""
        quiet = not self.look.quiet
        self.wear(replace(self.look, quiet=quiet))
        driver = self._driver
        if (use_mouse := getattr(driver, "use_mouse", None)) is not None:
            use_mouse(self.look.mouse)
        self.notify(
            "16 colours, ASCII, no movements of the mouse, nothing read ahead, so that less is"
            " sent. The same key ends it; --quiet begins with it."
            if quiet
            else "Colours and glyphs are back, and neighbouring pages are read ahead again.",
            title="Quiet" if quiet else "No longer quiet",
        )

    def action_mouse(self) -> None:
        """Leave the mouse to the terminal, or take it back. Dialogs keep their own keys."""
        mouse = not self.look.mouse
        self.look = replace(self.look, mouse=mouse)
        if (use_mouse := getattr(self._driver, "use_mouse", None)) is not None:
            use_mouse(mouse)
        self.notify(
            "Clicks and the wheel work in lockterm again. Most terminals select text while shift"
            " is held."
            + " GNU screen now holds an escape back until the next key."
            * (self.look.copy == "screen")
            if mouse
            else "The terminal has it: select and copy text as anywhere. No key has changed.",
            title="Mouse" if mouse else "Mouse let go",
        )

    def get_driver_class(self) -> type[Driver]:
        """Textual's for this platform; on a terminal of its own, one whose mouse can be let go."""
        textuals = super().get_driver_class()
        if constants.DRIVER is not None or textuals.__name__ != "LinuxDriver":
            return textuals
        from lockterm.driver import TerminalDriver

        return TerminalDriver

    # --- the link to the terminal --------------------------------------------------------------

    def measure_link(self) -> None:
        """See how far away the terminal is, where it is behind SSH; offer quiet if it is far."""
        if self.look.over_ssh and not self.look.quiet:
            self._link.measure()

    def on_cursor_position(self, event: events.CursorPosition) -> None:
        """The terminal has answered."""
        self._link.answered(event.time)

    def _send(self, text: str) -> None:
        if self._driver is not None and not self._driver.is_headless:
            self._driver.write(text)
            self._driver.flush()

    def _offer_quiet(self, trip_s: float) -> None:
        if trip_s < SLOW_S or self.look.quiet:
            return
        self.notify(
            f"Each key takes {trip_s * 1000:.0f} ms to this terminal and back."
            f" {key('app.quiet')} sends less: 16 colours, ASCII, nothing read ahead."
            " To begin so: --quiet, or quiet = true under"
            " [terminal] in the configuration.",
            title="A thin link",
            timeout=20,
        )
