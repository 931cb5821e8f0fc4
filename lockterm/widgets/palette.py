"""The command palette: the actions of the screen, found by their words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.command import Command, CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape
from textual.style import Style

from lockterm.widgets.actions import Action, actions_of
from lockterm.widgets.tasks import is_by_hand

if TYPE_CHECKING:
    from textual.types import IgnoreReturnCallbackType


@dataclass(frozen=True, slots=True)
class Offer:
    """An action in the palette."""

    name: str
    """Its verb; in brackets where it can do nothing now."""
    help: str
    """What it does and by which keys, or why it cannot; escaped, for Textual reads markup."""
    run: IgnoreReturnCallbackType
    """Does it, or says why it cannot."""
    enabled: bool

    def shown(self, words: Content) -> Content:
        """The words as they look: dim where it can do nothing."""
        return words if self.enabled else words.stylize("dim")


class Palette(CommandPalette):
    """A palette whose list is always that of what stands in its field.

    Textual searches in the background: enter, typed at once, took a command of the list before,
    which nobody had chosen.
    """

    def _gather_commands(self, search_value: str) -> None:  # type: ignore[override]
        """Show what was found, before the next key is dealt with."""
        found = [
            hit
            for provider in self._providers
            if isinstance(provider, ActionsProvider)
            for hit in (provider.found(search_value) if search_value else provider.all())
        ]
        help_style = Style.from_styles(self.get_component_styles("command-palette--help-text"))
        commands = []
        for place, hit in enumerate(found):
            help_text = Content.from_markup(hit.help or "").stylize_before(help_style)
            prompt = Content("\n").join([_as_content(hit), help_text])
            commands.append(Command(prompt, hit, id=str(place)))
        self._refresh_command_list(self.query_one(CommandList), commands, True)
        if not commands:
            self._start_no_matches_countdown(search_value)
        self.add_class("-ready")


def _as_content(hit: DiscoveryHit | Hit) -> Content:
    return hit.prompt if isinstance(hit.prompt, Content) else Content(str(hit.prompt))


class ActionsProvider(Provider):
    """Offers what help and line of keys show; moving about is left to the keys."""

    async def discover(self) -> Hits:
        """Every action, those that can do something first."""
        for hit in self.all():
            yield hit

    async def search(self, query: str) -> Hits:
        """The actions whose verbs have what was typed in them."""
        for hit in self.found(query):
            yield hit

    def all(self) -> Iterator[DiscoveryHit]:
        """As :meth:`discover`, at once."""
        for offer in self._offers():
            name = offer.shown(Content(offer.name))
            yield DiscoveryHit(name, offer.run, text=offer.name, help=offer.help)

    def found(self, query: str) -> Iterator[Hit]:
        """As :meth:`search`, at once."""
        matcher = self.matcher(query)
        for offer in self._offers():
            if (score := matcher.match(offer.name)) > 0:
                # Of two verbs alike, the one that can do something stands first.
                score = score if offer.enabled else score / 2
                name = offer.shown(matcher.highlight(offer.name))
                yield Hit(score, name, offer.run, text=offer.name, help=offer.help)

    def _offers(self) -> list[Offer]:
        actions = [
            action
            for action in actions_of(self.screen)
            if action.binding.id != "app.palette" and not is_by_hand(action.binding)
        ]
        return sorted(map(self._offer, actions), key=lambda offer: not offer.enabled)

    def _offer(self, action: Action) -> Offer:
        verb = action.binding.description.capitalize()
        if action.enabled:
            sentence = f"{action.sentence}  ({', '.join(action.keys)})"
            run = partial(self.app.run_action, action.action, action.node)
            return Offer(verb, escape(sentence), run, True)
        why = action.reason or "It has no effect here."
        tell = partial(self.app.notify, why, title=verb, markup=False)
        return Offer(f"({verb})", escape(f"Not now: {why}"), tell, False)
