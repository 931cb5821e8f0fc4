"""The app of the first run: no service is known yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.screen import Screen

from lockterm.choices import Choices
from lockterm.config.look import Look
from lockterm.keymap import USUAL, Keymap
from lockterm.screens.welcome import WelcomeScreen
from lockterm.terminal_app import TerminalApp

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

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit", id="app.quit"),
        Binding("ctrl+q", "quit", "quit", show=False, id="app.quit_always", priority=True),
    ]

    def __init__(
        self, profiles: Profiles, choices: Choices, look: Look, keymap: Keymap = USUAL
    ) -> None:
        super().__init__(look, choices)
        self.use_keys(keymap)
        self._profiles = profiles

    def get_default_screen(self) -> Screen[Any]:
        """The two ways to go on."""
        return WelcomeScreen(self._profiles, self.choices)

    @on(WelcomeScreen.Chosen)
    def _chosen(self, event: WelcomeScreen.Chosen) -> None:
        self.exit(event)
