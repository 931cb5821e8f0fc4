"""The app of the first run: no service is known yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import on
from textual.screen import Screen

from lockterm import screens
from lockterm.app.terminal_app import TerminalApp
from lockterm.config.look import Look
from lockterm.config.preferences import Preferences
from lockterm.keymap import DEFAULT_KEYMAP, Keymap
from lockterm.keymap.keys import FIRST_RUN
from lockterm.screens.welcome import WelcomeScreen
from lockterm.widgets.bindings import bind

if TYPE_CHECKING:
    from lockterm.config.profiles import Profiles


class FirstRunApp(TerminalApp[WelcomeScreen.Chosen]):
    """Offers the demo or a first profile; ends with what was chosen, or with None.

    Args:
        profiles: Reads and writes the configuration.
        choices: What was chosen in earlier sessions.
        look: What this terminal can do, and what was asked for.
        keymap: The keys that were chosen.
    """

    BINDINGS = bind(FIRST_RUN)

    def __init__(
        self, profiles: Profiles, choices: Preferences, look: Look, keymap: Keymap = DEFAULT_KEYMAP
    ) -> None:
        super().__init__(look, choices)
        self.use_keys(keymap)
        self._profiles = profiles

    def get_default_screen(self) -> Screen[Any]:
        """The two ways to go on."""
        return WelcomeScreen(self._profiles, self.choices)

    def action_help(self) -> None:
        """Show the keys of the screen that is shown."""
        if isinstance(self.screen, screens.HelpScreen):
            self.screen.action_close()
        else:
            self.push_screen(screens.HelpScreen(None, self.screen))

    @on(WelcomeScreen.Chosen)
    def _chosen(self, event: WelcomeScreen.Chosen) -> None:
        self.exit(event)
