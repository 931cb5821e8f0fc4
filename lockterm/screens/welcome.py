"""The first run: what lockterm is, and the two ways to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from lockterm.errors import ConfigError
from lockterm.screens.base import FullScreen
from lockterm.screens.choice_modal import Choices as ChoiceList
from lockterm.text import clean

if TYPE_CHECKING:
    from lockterm.choices import Choices
    from lockterm.config.profiles import Profiles

_WELCOME = """\
lockterm manages the bluetooth remotes (key fobs) of smart locks, and the voice they speak with.

It knows no service yet."""

_WAYS = {
    "demo": ("Try the demo", "a made-up site, on this machine"),
    "connect": ("Connect to a service", "asks for its address and tries it"),
}


class WelcomeScreen(FullScreen[None]):
    """Offers the demo, or the form for a first profile.

    Args:
        profiles: Reads and writes the configuration.
        choices: Keeps what is typed.
    """

    BINDINGS = [
        Binding("d", "demo", "demo", id="welcome.demo", tooltip="Try it on a made-up site"),
        Binding(
            "c",
            "connect",
            "connect",
            id="welcome.connect",
            tooltip="Say where the service is, and try it",
        ),
    ]

    class Chosen(Message):
        """How to go on.

        Args:
            profile: The profile that was written; None for the demo.
        """

        def __init__(self, profile: str | None) -> None:
            super().__init__()
            self.profile = profile

    def __init__(self, profiles: Profiles, choices: Choices) -> None:
        super().__init__(None)
        self._profiles = profiles
        self._choices = choices

    def crumbs(self) -> tuple[str, ...]:
        """Where every way starts."""
        return ("Welcome to lockterm",)

    def compose_body(self) -> ComposeResult:
        """What it is, and the ways."""
        yield Static(_WELCOME, id="welcome", markup=False)
        options = [
            Option(Content.assemble((f"{title:<22}", "bold"), words), id=way)
            for way, (title, words) in _WAYS.items()
        ]
        yield ChoiceList(*options, compact=True, markup=False)
        words = f"The profile is written into {clean(self._profiles.path)}."
        yield Static(words, id="place", markup=False)

    def on_mount(self) -> None:
        """Stand on the first way."""
        self.query_one(ChoiceList).focus()
        self.query_one(ChoiceList).highlighted = 0

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_id == "demo":
            self.action_demo()
        else:
            self.action_connect()

    def action_demo(self) -> None:
        """Try it on a made-up site."""
        self.post_message(self.Chosen(None))

    @work
    async def action_connect(self) -> None:
        """Ask for a profile."""
        from lockterm.screens.profile_form import ProfileForm

        try:
            file = self._profiles.read()
        except ConfigError as error:
            self.tell(error)
            return
        form = ProfileForm(self._profiles, file, None, self._choices)
        name = await self.app.push_screen_wait(form)
        if name is not None:
            self.post_message(self.Chosen(name))
