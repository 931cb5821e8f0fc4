"""The command palette: the actions of the screen, found by their words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

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


class ActionsProvider(Provider):
    """Offers what help and line of keys show; moving about is left to the keys."""

    async def discover(self) -> Hits:
        """Every action, those that can do something first."""
        for offer in self._offers():
            name = offer.shown(Content(offer.name))
            yield DiscoveryHit(name, offer.run, text=offer.name, help=offer.help)

    async def search(self, query: str) -> Hits:
        """The actions whose verbs have what was typed in them."""
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
