"""The app for the first run, before any service is configured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from textual import on
from textual.screen import Screen

from lockterm.app.terminal_app import TerminalApp
from lockterm.config.look import Look
from lockterm.config.preferences import Preferences
from lockterm.keymap import DEFAULT_KEYMAP, Keymap
from lockterm.keymap.keys import FIRST_RUN
from lockterm.screens.welcome import WelcomeScreen
from lockterm.widgets.actions import bind

if TYPE_CHECKING:
    from lockterm.config.profiles import Profiles


class FirstRunApp(TerminalApp[WelcomeScreen.Chosen]):
    """The app for the first run.

    The app's result is the message :class:`WelcomeScreen.Chosen` with the user's choice, or None if
    the user quits.

    Args:
        profiles: The profiles of the configuration file.
        choices: The preferences saved in earlier sessions.
        look: The terminal's capabilities and the options the user chose.
        keymap: The keys the user chose.
    """

    BINDINGS = bind(FIRST_RUN)

    def __init__(
        self, profiles: Profiles, choices: Preferences, look: Look, keymap: Keymap = DEFAULT_KEYMAP
    ) -> None:
        super().__init__(look, choices)
        self.use_keys(keymap)
        self._profiles = profiles

    def get_default_screen(self) -> Screen[Any]:
        """Return the welcome screen as the first screen."""
        return WelcomeScreen(self._profiles, self.choices)

    def action_mouse(self) -> None:
        """Switch mouse handling between the terminal and lockterm, and show the current state."""
        super().action_mouse()
        for screen in self._welcome_screens():
            screen.write_again()

    def on_terminal_supports_synchronized_output(self) -> None:
        """Show on the welcome screen that the terminal supports synchronized output."""
        for screen in self._welcome_screens():
            screen.draws_at_once = True

    def _welcome_screens(self) -> Iterator[WelcomeScreen]:
        return (screen for screen in self.screen_stack if isinstance(screen, WelcomeScreen))

    @on(WelcomeScreen.Chosen)
    def _chosen(self, event: WelcomeScreen.Chosen) -> None:
        self.exit(event)
