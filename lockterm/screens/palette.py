"""The command palette: the actions of the screen, found by their words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit
from textual.content import Content
from textual.markup import escape

from lockterm.keymap.keys import is_by_hand
from lockterm.screens.base import say_why_not
from lockterm.terminal.palette import ReadyProvider
from lockterm.widgets.actions import Action, actions_of, titled

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


class ActionsProvider(ReadyProvider):
    """Offers what help and line of keys show; moving about is left to the keys."""

    def all(self) -> Iterator[DiscoveryHit]:
        """Every action, those that can do something first."""
        for offer in self._offers():
            name = offer.shown(Content(offer.name))
            yield DiscoveryHit(name, offer.run, text=offer.name, help=offer.help)

    def found(self, query: str) -> Iterator[Hit]:
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
            if (name := action.binding.id) and name != "app.palette" and not is_by_hand(name)
        ]
        return sorted(map(self._offer, actions), key=lambda offer: not offer.enabled)

    def _offer(self, action: Action) -> Offer:
        verb = titled(action.binding)
        if action.enabled:
            keys = f"  ({', '.join(action.keys)})" if action.keys else ""
            sentence = f"{action.sentence}{keys}"
            run = partial(self.app.run_action, action.action, action.node)
            return Offer(verb, escape(sentence), run, True)
        why = action.reason or "It has no effect here."
        tell = partial(say_why_not, self.screen, action.binding, why)
        return Offer(f"({verb})", escape(f"Not now: {why}"), tell, False)
