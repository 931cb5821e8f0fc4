"""The screen of the first run: an introduction, and the two ways to continue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static

from lockterm import screens
from lockterm.config.look import look_of
from lockterm.domain.safe_text import clean
from lockterm.errors import ConfigError
from lockterm.keymap.hints import key
from lockterm.screens.base import LocktermScreen
from lockterm.terminal.key_queue import opens
from lockterm.widgets.actions import bindings

if TYPE_CHECKING:
    from lockterm.config.preferences import Preferences
    from lockterm.config.profiles import Profiles

_WELCOME = """\
lockterm manages the remotes (key fobs) of smart locks.
Find, add, renew and delete them on one lock or on many.
Undo what you changed, and set the voice of each lock."""

_WAYS = {
    "demo": ("Try the demo", "A made-up site on this machine"),
    "connect": ("Connect to a service", "Enter its address and test it"),
}
"""Maps the action of a card to its title and its description."""

_LABEL = 12
"""The width of the labels in the list of terminal features, in cells."""


class Card(Widget, can_focus=True):
    """A choice with a title, a key and a description, which Enter or a click selects.

    Args:
        way: The name of the screen's action that the card runs.
    """

    COMPONENT_CLASSES = {"card--title"}

    def __init__(self, way: str) -> None:
        super().__init__(id=way)
        self.way = way
        """The name of the screen's action that the card runs."""

    def render(self) -> Content:
        title, description = _WAYS[self.way]
        line = Content(f" {key(f'welcome.{self.way}')}  {title}").pad_right(
            self.size.width - len(title) - 4
        )
        line = line.stylize_before(self.get_visual_style("card--title"))
        return Content("\n").join([line, Content(f"    {description}")])

    @property
    def cursor_screen_offset(self) -> Offset:
        """The position of the terminal's cursor, which is on the title."""
        return self.content_region.offset + Offset(4, 0)

    async def on_click(self) -> None:
        await self.run_action(f"screen.{self.way}")


class TerminalFeatures(Widget):
    """The list of terminal features that lockterm has found."""

    draws_at_once: reactive[bool] = reactive(False)
    """Whether the terminal reports that it shows each frame at once (synchronized output)."""

    def render(self) -> Content:
        lines = [Content.styled("Features of this terminal", "bold")]
        for label, value in self._features():
            lines.append(Content(f"{label:<{_LABEL}}{value}"))
        return Content("\n").join(lines)

    def _features(self) -> Iterator[tuple[str, str]]:
        look = look_of(self.app)
        colors = min(look.colors, 16) if look.quiet else look.colors
        count = "16.7 million" if colors > 256 else str(colors)
        yield "Colors", count if colors else "none; lockterm shows states as words"
        yield "Characters", "ASCII" if look.in_ascii else "Unicode"
        yield "Mouse", "handled by lockterm" if look.mouse else "handled by the terminal"
        yield "Updates", "all at once" if self.draws_at_once else "line by line"
        yield "Size", f"{self.app.size.width}x{self.app.size.height}"


class WelcomeScreen(LocktermScreen[None]):
    """The first screen, which offers the demo or the form for a first profile.

    Args:
        profiles: The profiles of the configuration file.
        choices: The preferences, which store unfinished input of the profile form.
    """

    BINDINGS = bindings("welcome")

    draws_at_once: reactive[bool] = reactive(False)
    """Whether the terminal reports that it shows each frame at once (synchronized output)."""

    @dataclass
    class Chosen(Message):
        """Posted when the user has chosen how to continue."""

        profile: str | None
        """The profile that the form saved; None for the demo."""

    def __init__(self, profiles: Profiles, choices: Preferences) -> None:
        super().__init__(None)
        self._profiles = profiles
        self._choices = choices

    def breadcrumbs(self) -> tuple[str, ...]:
        return ("Welcome to lockterm",)

    def compose_body(self) -> ComposeResult:
        yield Static(_WELCOME, id="welcome", markup=False)
        with Container(id="cards"):
            for way in _WAYS:
                yield Card(way)
        yield TerminalFeatures().data_bind(WelcomeScreen.draws_at_once)
        place = clean(self._profiles.path)
        words = f"No service is configured yet. lockterm writes the profile to {place}."
        yield Static(words, id="place", markup=False)

    def on_mount(self) -> None:
        self.query(Card).first().focus()

    def on_resize(self) -> None:
        self.write_again()

    def write_again(self) -> None:
        for features in self.query(TerminalFeatures):  # none at exit
            features.refresh()

    async def action_choose(self) -> None:
        """Run the action of the card that has the focus."""
        if isinstance(self.focused, Card):
            await self.run_action(self.focused.way)

    def action_demo(self) -> None:
        self.post_message(self.Chosen(None))

    @work
    @opens("the profile", must_appear=True)
    async def action_connect(self) -> None:
        try:
            file = self._profiles.read()
        except ConfigError as error:
            self.tell(error)
            return
        form = screens.ProfileForm(self._profiles, file, None, self._choices)
        name = await self.app.push_screen_wait(form)
        if name is not None:
            self.post_message(self.Chosen(name))
