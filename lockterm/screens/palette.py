"""The command palette: the actions of the screen, settings and locks, found by their words."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit
from textual.content import Content
from textual.markup import escape

from lockterm.domain.names import fold_text
from lockterm.domain.text import clean
from lockterm.errors import LocktermError
from lockterm.keymap.hints import key
from lockterm.keymap.keys import PLACES, is_by_hand
from lockterm.screens.base import LocktermScreen, refuse_to_open, say_why_not
from lockterm.screens.host import Host
from lockterm.screens.remotes import RemotesScreen
from lockterm.terminal.palette import ReadyProvider
from lockterm.widgets.actions import Action, actions_of, titled

if TYPE_CHECKING:
    from textual.types import IgnoreReturnCallbackType

    from lockterm.domain.locks import Lock

RECENT = 8
"""How many actions that were chosen last stand first."""

CHOICE = "palette"
"""What the preferences call them."""

_WORD = re.compile(r"[^\W\d_]+")

SHOWN = 60
"""The most that is offered for some words; what is meant is found by more of them."""


ALIKE = 0.75
"""How alike, of 1, a word is to one that was mistyped."""

SHOWN_NEAR = 8
"""The most that is offered for a mistyped word."""

SETTINGS = {
    "app.theme": "settings colors dark light contrast",
    "app.quiet": "settings slow",
    "app.mouse": "settings pointer",
    "app.profiles": "settings service address url time zone token header",
    "remotes.page_size": "settings rows lines per page",
    "remotes.table": "settings fields",
}
"""What can be set -> words for it that neither its verb nor its sentence has."""


@dataclass(frozen=True, slots=True)
class Offer:
    """An action or a lock in the palette."""

    name: str
    """Its verb; in brackets where it can do nothing now."""
    help: str
    """What it does and by which keys, or why it cannot; clean."""
    run: IgnoreReturnCallbackType
    """Does it, or says why it cannot."""
    enabled: bool = True
    id: str = ""
    """What the preferences know it by; empty: it is not kept."""
    others: str = ""
    """Words that it is found by as well."""

    @property
    def text(self) -> str:
        """All that it is found by, folded."""
        return fold_text(f"{self.name} {self.help} {self.others}")

    def shown(self) -> Content:
        """The name as it looks: dim where it can do nothing."""
        name = Content(self.name)
        return name if self.enabled else name.stylize("dim")

    def score(self, query: str) -> float:
        """How well it fits what was typed: every word of it is in the name or in the help.

        Args:
            query: What was typed, folded.
        """
        name, words = fold_text(self.name), query.split()
        if not all(word in self.text for word in words):
            return 0
        begins = name.strip("()").startswith(query)
        in_name = sum(word in name for word in words) / max(len(words), 1)
        # Of two that fit alike, the one that can do something stands first.
        return (1 + in_name + begins) * (1 if self.enabled else 0.5)


class ActionsProvider(ReadyProvider):
    """Offers what help and line of keys show, and the locks; moving about is left to the keys."""

    def all(self) -> Iterator[DiscoveryHit]:
        """Every action, those that can do something first, and of them those chosen last."""
        recent = self._recent()
        rank = {name: place for place, name in enumerate(recent)}
        for offer in sorted(
            self._actions(), key=lambda one: (not one.enabled, rank.get(one.id, RECENT))
        ):
            yield DiscoveryHit(
                offer.shown(), self._kept(offer), text=offer.name, help=escape(offer.help)
            )

    def found(self, query: str) -> Iterator[Hit]:
        """What has every typed word in its verb or its sentence: enter does no guess."""
        query = fold_text(query).strip()
        offers = self._offers()
        hits = [(score, offer) for offer in offers if (score := offer.score(query))]
        for score, offer in heapq.nlargest(SHOWN, hits, key=itemgetter(0)):
            yield self._hit(score, offer)

    def near(self, query: str) -> Iterator[Hit]:
        """What has words like all that were typed; of a number none is like it: it is another."""
        offers = self._offers()
        words = [{*_WORD.findall(offer.text)} for offer in offers]
        every = sorted(set[str]().union(*words))
        left = {place: 0 for place in range(len(offers))}
        for typed in fold_text(query).split():
            like = get_close_matches(typed, every, SHOWN, ALIKE) if typed.isalpha() else []
            left = {
                place: so_far + min(at)
                for place, so_far in left.items()
                if (
                    at := [0] * (typed in offers[place].text)
                    + [at for at, word in enumerate(like) if word in words[place]]
                )
            }
        for place in heapq.nsmallest(SHOWN_NEAR, left, key=lambda place: (left[place], place)):
            yield self._hit(1, offers[place])

    def _offers(self) -> list[Offer]:
        return [*self._actions(), *self._elsewhere(), *self._locks()]

    def _hit(self, score: float, offer: Offer) -> Hit:
        return Hit(
            score, offer.shown(), self._kept(offer), text=offer.name, help=escape(offer.help)
        )

    # --- actions -------------------------------------------------------------------------------

    def _actions(self) -> list[Offer]:
        return [
            self._offer(action)
            for action in actions_of(self.screen)
            if (name := action.binding.id) and name != "app.palette" and not is_by_hand(name)
        ]

    def _elsewhere(self) -> Iterator[Offer]:
        """What is set on the remotes of a lock, where these are not on top."""
        here = {action.binding.id for action in actions_of(self.screen)}
        for one in PLACES["remotes"].own:
            if one.id in SETTINGS and one.id not in here:
                title = one.verb.capitalize()
                why = f"On the remotes of a lock, {key(one.id)} does it."
                tell = partial(refuse_to_open, self.app, title, why)
                others = SETTINGS[one.id]
                yield Offer(f"({title})", f"{one.does}. {why}", tell, enabled=False, others=others)

    def _offer(self, action: Action) -> Offer:
        verb, name = titled(action.binding), action.binding.id or ""
        others = SETTINGS.get(name, "")
        if action.enabled:
            keys = f"  ({', '.join(action.keys)})" if action.keys else ""
            run = partial(self.app.run_action, action.action, action.node)
            return Offer(verb, f"{action.sentence}{keys}", run, id=name, others=others)
        why = action.reason or "It has no effect here."
        tell = partial(say_why_not, self.screen, action.binding, why)
        return Offer(f"({verb})", f"Not now: {why}", tell, enabled=False, others=others)

    def _recent(self) -> list[str]:
        assert isinstance(self.app, Host)
        kept = self.app.choices.get(CHOICE)
        return [str(name) for name in kept][:RECENT] if isinstance(kept, list) else []

    def _kept(self, offer: Offer) -> IgnoreReturnCallbackType:
        """Do it, and note that it was chosen."""
        return partial(self._run, offer) if offer.id else offer.run

    def _run(self, offer: Offer) -> object:
        assert isinstance(self.app, Host)
        others = [name for name in self._recent() if name != offer.id]
        with suppress(LocktermError, OSError):  # then it is known in this session alone
            self.app.choices.keep(CHOICE, [offer.id, *others][:RECENT])
        return offer.run()

    # --- locks ---------------------------------------------------------------------------------

    def _locks(self) -> Iterator[Offer]:
        """The locks of the book; none from a form, which would stay below."""
        if not isinstance(self.screen, LocktermScreen) or self.screen.is_form:
            return
        screens = [one for one in self.app.screen_stack if isinstance(one, LocktermScreen)]
        for lock in {lock.lock_id: lock for one in screens for lock in one.known_locks}.values():
            named = clean(lock.name, 60) or str(lock.lock_id)
            open_it = partial(self._open, lock)
            yield Offer(f"Remotes of {named}", f"Open the lock {lock.lock_id}", open_it)

    def _open(self, lock: Lock) -> None:
        screen = self.screen
        assert isinstance(screen, LocktermScreen)
        if any(isinstance(one, RemotesScreen) for one in screen.screens_of(lock.lock_id)):
            here = "here" if screen.lock_entry and screen.lock_entry.lock_id == lock.lock_id else ""
            below = here or "below this screen. escape goes back to it"
            refuse_to_open(self.app, "Remotes", f"Already open {below}.")
        else:
            self.app.push_screen(RemotesScreen(screen.operations, lock))
