"""The command palette, which finds actions, settings and locks by words in their texts."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from lockterm.domain.names import fold_text
from lockterm.domain.safe_text import clean
from lockterm.errors import LocktermError
from lockterm.keymap.hints import key
from lockterm.keymap.keys import PLACES, is_by_hand
from lockterm.screens.base import Host, LocktermScreen, refuse_to_open, say_why_not
from lockterm.screens.modal import LocktermModal
from lockterm.screens.remotes import RemotesScreen
from lockterm.terminal.key_queue import opening
from lockterm.widgets.actions import Action, actions_of, titled
from lockterm.widgets.cells import cut
from lockterm.widgets.text_input import SingleLineInput

if TYPE_CHECKING:
    from lockterm.domain.locks import Lock

RECENT = 8
"""The number of recently used actions that the palette shows first."""

CHOICE = "palette"
"""The name of the preference that stores the recently used actions."""

_WORD = re.compile(r"[^\W\d_]+")

SHOWN = 60
"""The maximum number of results that the palette shows."""


ALIKE = 0.75
"""The minimum similarity, from 0 to 1, of a typed word and a word in an approximate result."""

SHOWN_NEAR = 8
"""The maximum number of results that match only approximately."""

HOME_COLUMNS = 80
"""The minimum width of a terminal for wide rows, in columns."""

NARROW, WIDE = 53, 71
"""The widths of a row in a narrow and in a wide terminal, in cells, as in the style sheet."""

PLACEHOLDER = "Find an action or a lock by name"

NEAR = "No exact match. Press down to choose a similar one:"
"""The heading of results that match only approximately."""

NONE = "No matches found"

NO_EFFECT = "This action has no effect here."
"""The reason to show for a disabled action that gives no reason."""

SETTINGS = {
    "app.theme": "settings colors dark light contrast",
    "app.quiet": "settings slow",
    "app.mouse": "settings pointer",
    "app.profiles": "settings service address url time zone token header",
    "remotes.page_size": "settings rows lines per page",
    "remotes.table": "settings fields",
}
"""Maps the actions of settings to search words that their verbs and sentences do not contain."""


@dataclass(frozen=True, slots=True)
class Offer:
    """An action or a lock that the palette offers."""

    name: str
    """The label; in parentheses if the action is disabled."""
    help: str
    """The effect of the action, or the reason why it is disabled, without control characters."""
    run: Callable[[], object]
    """A function that runs the action, opens the lock, or explains why the action is disabled."""
    keys: str = ""
    """The keys of the action, separated by commas."""
    enabled: bool = True
    id: str = ""
    """The name by which the preferences store the action; empty if it is not stored."""
    others: str = ""
    """Additional search words."""

    @property
    def text(self) -> str:
        """The text in which the palette searches, case-folded."""
        return fold_text(f"{self.name} {self.help} {self.keys} {self.others}")

    def format_row(self, width: int) -> Content:
        """Return a row with the label on the left and the keys on the right; dim if disabled."""
        name = cut(self.name, width - len(self.keys) - 2 if self.keys else width)
        gap = " " * (width - cell_len(name) - len(self.keys))
        row = Content.assemble((name, "bold"), gap, self.keys)
        return row if self.enabled else row.stylize("dim")

    def score(self, query: str) -> float:
        """Return how well the offer matches a query; 0 if ``text`` lacks a word of the query.

        Args:
            query: The typed text, case-folded.
        """
        name, words = fold_text(self.name), query.split()
        if not all(word in self.text for word in words):
            return 0
        begins = name.strip("()").startswith(query)
        in_name = sum(word in name for word in words) / max(len(words), 1)
        # Of two equal matches, the enabled one comes first.
        return (1 + in_name + begins) * (1 if self.enabled else 0.5)


class Offers:
    """All offers of the palette: the actions of the help and the footer, and locks.

    Args:
        screen: The screen below the palette, whose actions are offered.
    """

    def __init__(self, screen: Screen[Any]) -> None:
        self.screen = screen
        self.app: App[Any] = screen.app

    def all(self) -> list[Offer]:
        """Return an offer for each action.

        Enabled actions come before disabled actions. In each group, recently used actions come
        first.
        """
        rank = {name: place for place, name in enumerate(self._recent())}
        return sorted(
            self._actions(), key=lambda offer: (not offer.enabled, rank.get(offer.id, RECENT))
        )

    def found(self, query: str) -> list[Offer]:
        """Return the offers whose text contains every typed word, the best match first."""
        query = fold_text(query).strip()
        hits = [(score, offer) for offer in self._offers() if (score := offer.score(query))]
        return [offer for _, offer in heapq.nlargest(SHOWN, hits, key=itemgetter(0))]

    def near(self, query: str) -> list[Offer]:
        """Return the offers whose text contains each typed word or a similar word.

        Words that do not consist of letters must match exactly.
        """
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
        best = heapq.nsmallest(SHOWN_NEAR, left, key=lambda place: (left[place], place))
        return [offers[place] for place in best]

    def run(self, offer: Offer) -> object:
        """Run an offer, and store it as the most recently used action."""
        if offer.id:
            assert isinstance(self.app, Host)
            others = [name for name in self._recent() if name != offer.id]
            with suppress(LocktermError, OSError):  # then it is not saved
                self.app.choices.keep(CHOICE, [offer.id, *others][:RECENT])
        return offer.run()

    def _offers(self) -> list[Offer]:
        return [*self._actions(), *self._elsewhere(), *self._locks()]

    # --- actions -------------------------------------------------------------------------------

    def _actions(self) -> list[Offer]:
        return [
            self._offer(action)
            for action in actions_of(self.screen)
            if (name := action.binding.id) and name != "app.palette" and not is_by_hand(name)
        ]

    def _elsewhere(self) -> Iterator[Offer]:
        """Yield the settings of the screen with a lock's remotes, as disabled offers.

        Settings that the current screen also has are left out.
        """
        here = {action.binding.id for action in actions_of(self.screen)}
        for one in PLACES["remotes"].own:
            if one.id in SETTINGS and one.id not in here:
                title = one.verb[:1].upper() + one.verb[1:]
                why = f"On the remotes of a lock, press {key(one.id)}."
                tell = partial(refuse_to_open, self.app, title, why)
                others = SETTINGS[one.id]
                words, keys = f"{one.does}. {why}", key(one.id)
                yield Offer(f"({title})", words, tell, keys, enabled=False, others=others)

    def _offer(self, action: Action) -> Offer:
        verb, name = titled(action.binding), action.binding.id or ""
        others = SETTINGS.get(name, "")
        keys = ", ".join(action.keys)
        if action.enabled:
            run = partial(self.app.run_action, action.action, action.node)
            return Offer(verb, action.sentence, run, keys, id=name, others=others)
        why = f"Not available now: {action.reason or NO_EFFECT}"
        tell = partial(say_why_not, self.screen, action.binding, action.reason or NO_EFFECT)
        return Offer(f"({verb})", why, tell, keys, enabled=False, others=others)

    def _recent(self) -> list[str]:
        assert isinstance(self.app, Host)
        names = self.app.choices.get(CHOICE)
        return [str(name) for name in names][:RECENT] if isinstance(names, list) else []

    # --- locks ---------------------------------------------------------------------------------

    def _locks(self) -> Iterator[Offer]:
        """Yield the known locks.

        On a form, yield no locks, because the form would stay open below the lock's screen.
        """
        if not isinstance(self.screen, LocktermScreen) or self.screen.is_form:
            return
        screens = [one for one in self.app.screen_stack if isinstance(one, LocktermScreen)]
        for lock in {lock.lock_id: lock for one in screens for lock in one.known_locks}.values():
            named = clean(lock.name, 60) or str(lock.lock_id)
            open_it = partial(self._open, lock)
            yield Offer(f"Remotes of {named}", f"Open lock {lock.lock_id}", open_it)

    def _open(self, lock: Lock) -> None:
        screen = self.screen
        assert isinstance(screen, LocktermScreen)
        if any(isinstance(one, RemotesScreen) for one in screen.screens_of(lock.lock_id)):
            here = "here" if screen.lock_entry and screen.lock_entry.lock_id == lock.lock_id else ""
            below = here or "behind this screen. Press Esc to return to them"
            refuse_to_open(self.app, "Remotes", f"The remotes are already open {below}.")
        else:
            self.app.push_screen(RemotesScreen(screen.operations, lock))


class OfferList(OptionList, can_focus=False):
    """The list of offers, which never gets the focus because the search field keeps it."""


class Palette(LocktermModal[None], inherit_bindings=False):
    """A dialog with a search field and the matching offers.

    The list always matches the search text, because it changes before the next key is handled.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Leave", show=False),
        Binding("down", "list('cursor_down')", "Next", show=False),
        Binding("up", "list('cursor_up')", "Previous", show=False),
        Binding("pagedown", "list('page_down')", "Next page", show=False),
        Binding("pageup", "list('page_up')", "Previous page", show=False),
        Binding("ctrl+home,shift+home", "list('first')", "First", show=False),
        Binding("ctrl+end,shift+end", "list('last')", "Last", show=False),
    ]

    AUTO_FOCUS = "#palette-field"

    def __init__(self, below: Screen[Any]) -> None:
        super().__init__()
        self._below = below
        self._offers = Offers(below)
        self._shown: Sequence[Offer] = ()

    def compose(self) -> ComposeResult:
        with Vertical(id="palette") as box:
            box.border_title = "Palette"
            yield SingleLineInput(
                placeholder=PLACEHOLDER, id="palette-field", select_on_focus=False
            )
            yield OfferList()
            yield Static(id="palette-help", markup=False)

    def on_mount(self) -> None:
        self._show("")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._show(event.value.strip())

    def _show(self, query: str) -> None:
        found = self._offers.found(query) if query else self._offers.all()
        self._shown = found or (self._offers.near(query) if query else [])
        options = [Option(offer.format_row(self._row_width)) for offer in self._shown]
        if query and not found:  # no row is selected, so Enter does not run a guess
            options.insert(0, Option(NEAR if options else NONE, disabled=True))
        offers = self.query_one(OfferList)
        offers.clear_options().add_options(options)
        offers.highlighted = 0 if found else None
        self._describe()

    @property
    def _row_width(self) -> int:
        return NARROW if self.app.size.width < HOME_COLUMNS else WIDE

    def on_resize(self) -> None:
        """Align the keys with the right edge of the new width, and keep the selected row."""
        offers = self.query_one(OfferList)
        titles = offers.option_count - len(self._shown)
        for place, offer in enumerate(self._shown, titles):
            offers.replace_option_prompt_at_index(place, offer.format_row(self._row_width))

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._describe()

    def _describe(self) -> None:
        """Show the description of the selected offer below the list."""
        offers = self.query_one(OfferList)
        help_text = ""
        if offers.highlighted is not None:
            titles = offers.option_count - len(self._shown)
            help_text = self._shown[offers.highlighted - titles].help
        self.query_one("#palette-help", Static).update(help_text)

    def action_list(self, action: str) -> None:
        """Run an action of the list of offers, such as moving the cursor."""
        getattr(self.query_one(OfferList), f"action_{action}")()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        """Choose the selected offer on Enter, if there is one."""
        event.stop()
        self.query_one(OfferList).action_select()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        titles = len(self.query_one(OfferList).options) - len(self._shown)
        self._choose(self._shown[event.option_index - titles])

    def _choose(self, offer: Offer) -> None:
        """Run an offer after the palette has closed. Later keys wait until the offer has run."""
        opened = opening(self._below, "the chosen screen")

        def begin() -> object:
            opened.end()
            return self._offers.run(offer)

        self.app.delay_update()
        self.dismiss(None)
        self.app.call_later(begin)

    def on_click(self, event: events.Click) -> None:
        """Close on a click outside the palette."""
        if event.widget is self:
            self.dismiss(None)
