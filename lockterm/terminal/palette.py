"""A command palette whose list is always that of what stands in its field."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from textual import on
from textual.command import Command, CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.style import Style
from textual.types import IgnoreReturnCallbackType
from textual.widgets import Button, Input
from textual.widgets.option_list import Option

from lockterm.terminal.key_queue import opening

NEAR = "Nothing has these words. Like them (down, then enter):"
"""Above what is merely like what was typed."""


class ReadyProvider(Provider):
    """Knows what it offers without waiting for anything."""

    @abstractmethod
    def all(self) -> Iterator[DiscoveryHit]:
        """What is offered while nothing is typed."""

    @abstractmethod
    def found(self, query: str) -> Iterator[Hit]:
        """What is offered for what is typed."""

    @abstractmethod
    def near(self, query: str) -> Iterator[Hit]:
        """What is like what is typed; shown where nothing has it, and never done by enter alone."""

    async def discover(self) -> Hits:
        """As :meth:`all`."""
        for hit in self.all():
            yield hit

    async def search(self, query: str) -> Hits:
        """As :meth:`found`."""
        for hit in self.found(query):
            yield hit


class Palette(CommandPalette):
    """A palette over providers that need no waiting.

    Textual searches in the background: enter, typed at once, took a command of the list before,
    which nobody had chosen.
    """

    def _gather_commands(self, search_value: str) -> None:  # type: ignore[override]
        """Show what was found, before the next key is dealt with."""
        ready = [one for one in self._providers if isinstance(one, ReadyProvider)]
        found: list[DiscoveryHit | Hit] = [
            hit
            for provider in ready
            for hit in (provider.found(search_value) if search_value else provider.all())
        ]
        near = ready if search_value and not found else ()
        hits = found or [hit for provider in near for hit in provider.near(search_value)]
        help_style = Style.from_styles(self.get_component_styles("command-palette--help-text"))
        commands = []
        for place, hit in enumerate(hits):
            help_text = Content.from_markup(hit.help or "").stylize_before(help_style)
            prompt = Content("\n").join([_as_content(hit), help_text])
            commands.append(Command(prompt, hit, id=str(place)))
        shown = self.query_one(CommandList)
        self._refresh_command_list(shown, commands, True)
        if commands and not found:
            # No row is under the cursor: what is merely like it is gone to before it is done.
            shown.clear_options().add_options([Option(NEAR, disabled=True), *commands])
        if search_value and not commands:
            self._start_no_matches_countdown(search_value)
        self.add_class("-ready")

    @on(Input.Submitted)
    def _choose_nothing(self, event: Input.Submitted) -> None:
        """Let enter do nothing where no row is under the cursor: Textual would go to the first."""
        if self._list_visible and self.query_one(CommandList).highlighted is None:
            event.stop()
            event.prevent_default()

    def _select_or_command(self, event: Input.Submitted | Button.Pressed | None = None) -> None:
        """Have later keys wait for what was chosen: it begins once the palette has gone."""
        hit = self._selected_command
        if hit is not None and not self._list_visible:
            hit.command = self._held_until(hit.command)
        super()._select_or_command(event)

    def _held_until(self, command: IgnoreReturnCallbackType) -> IgnoreReturnCallbackType:
        opened = opening(self.app.screen_stack[-2], "what was chosen")

        def begin() -> object:
            opened.end()
            return command()

        return begin


def _as_content(hit: DiscoveryHit | Hit) -> Content:
    return hit.prompt if isinstance(hit.prompt, Content) else Content(str(hit.prompt))
