"""The screen of the first run: the purpose of lockterm, and the two ways to continue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from lockterm import screens
from lockterm.domain.safe_text import clean
from lockterm.errors import ConfigError
from lockterm.screens.base import LocktermScreen
from lockterm.screens.dialogs.choice import ChoiceList
from lockterm.terminal.key_queue import opens
from lockterm.widgets.bindings import bindings

if TYPE_CHECKING:
    from lockterm.config.preferences import Preferences
    from lockterm.config.profiles import Profiles

_WELCOME = """\
lockterm manages the bluetooth remotes (key fobs) of smart locks, and the voice they speak with.

No service is configured yet."""

_WAYS = {
    "demo": ("Try the demo", "a made-up site, on this machine"),
    "connect": ("Connect to a service", "asks for the address and tests it"),
}


class WelcomeScreen(LocktermScreen[None]):
    """The first screen, which offers the demo or the form for a first profile.

    Args:
        profiles: The profiles of the configuration file.
        choices: The preferences, which store typed values for the form.
    """

    BINDINGS = bindings("welcome")

    class Chosen(Message):
        """The message that the user chose how to continue.

        Args:
            profile: The profile that was written; None for the demo.
        """

        def __init__(self, profile: str | None) -> None:
            super().__init__()
            self.profile = profile

    def __init__(self, profiles: Profiles, choices: Preferences) -> None:
        super().__init__(None)
        self._profiles = profiles
        self._choices = choices

    def crumbs(self) -> tuple[str, ...]:
        return ("Welcome to lockterm",)

    def compose_body(self) -> ComposeResult:
        yield Static(_WELCOME, id="welcome", markup=False)
        options = [
            Option(Content.assemble((f"{title:<22}", "bold"), words), id=way)
            for way, (title, words) in _WAYS.items()
        ]
        yield ChoiceList(*options, compact=True, markup=False)
        words = f"lockterm writes the profile to {clean(self._profiles.path)}."
        yield Static(words, id="place", markup=False)

    def on_mount(self) -> None:
        self.query_one(ChoiceList).focus()
        self.query_one(ChoiceList).highlighted = 0

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_id == "demo":
            self.action_demo()
        else:
            self.action_connect()

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
