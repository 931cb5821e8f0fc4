"""The panel with the tree of a model's voices, and the voices of several locks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets import Static, Tree
from textual.widgets.tree import TreeNode

from lockterm.domain import dates
from lockterm.domain.glyphs import ellipsis, quoted
from lockterm.domain.languages import LanguageName
from lockterm.domain.locks import SET_BY_YOU, Lock, VoiceChoice
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.voices import Language, Timbre, joined
from lockterm.errors import ServiceError
from lockterm.keymap.hints import key, with_keys
from lockterm.operations.cached_reads import Fetched
from lockterm.operations.list_state import LoadState
from lockterm.operations.planner import read_voices
from lockterm.widgets.actions import bindings
from lockterm.widgets.data_status import KeyOffers, StatePanel, describe_error, in_a_line
from lockterm.widgets.text_input import matches

if TYPE_CHECKING:
    from lockterm.operations import Operations


_Model = tuple[str, str]
"""A pair of vendor and model."""

_NAMED = 20
"""The maximum number of locks that a sentence lists by name."""


class VoicesOfLocks:
    """The voices of several locks, and which locks have each voice.

    Args:
        operations: The operations on the service and the local store.
        locks: The chosen locks, as in the lock book.
    """

    def __init__(self, operations: Operations, locks: Sequence[Lock]) -> None:
        self.locks = locks
        self._operations = operations
        self._has: Mapping[_Model, frozenset[tuple[str | None, str | None]]] = {}
        """Maps each model whose voices were read to its voices, as pairs of language code and
        timbre ID."""
        self._count = Counter((lock.vendor, lock.model) for lock in locks)
        """Maps models to the number of chosen locks of that model."""

    @property
    def title(self) -> str:
        """The number of locks as text, such as ``3 marked locks``."""
        return format_count(len(self.locks), "marked lock")

    async def read(self) -> list[Language]:
        """Request the voices of all models at the same time, and return them as one list.

        Raises:
            ServiceError: If no list of voices could be read.
        """
        answers = await read_voices(self._operations, self.locks)
        lists = {model: one for model, one in answers.items() if not isinstance(one, ServiceError)}
        for error in answers.values():
            if not lists and isinstance(error, ServiceError):
                raise error
        return self._note(lists)

    async def kept(self) -> Fetched[list[Language]] | None:
        """Return all cached voices as one list; None unless each model's list is cached."""
        cached: dict[_Model, Fetched[list[Language]]] = {}
        for model in self._count:
            if (seen := await self._operations.voices.cached_languages(*model)) is None:
                return None  # an unknown list would look like missing voices
            cached[model] = seen
        oldest = min(cached.values(), key=attrgetter("at_ms"))
        return Fetched(
            self._note({one: seen.value for one, seen in cached.items()}),
            oldest.at_ms,
            oldest.steady_ms,
        )

    def _note(self, lists: Mapping[_Model, Sequence[Language]]) -> list[Language]:
        self._has = {
            model: frozenset(
                (one.lang, timbre.timbre) for one in languages for timbre in one.timbres
            )
            for model, languages in lists.items()
        }
        return joined(lists.values())

    def without(self, voice: VoiceChoice | None) -> list[Lock]:
        """Return the chosen locks for which a voice is not available or the voices are unknown.

        Args:
            voice: The voice; None to return only the locks whose voices are unknown.
        """
        left = []
        for lock in self.locks:
            has = self._has.get((lock.vendor, lock.model))
            if has is None or (voice is not None and (voice.lang, voice.timbre) not in has):
                left.append(lock)
        return left

    def held(self, voice: VoiceChoice | None) -> str:
        """Return for how many of the chosen locks a voice is available, such as ``3 of 5 locks``.

        Returns:
            The text; empty if the voice is None, or if all locks whose voices are known have it.
        """
        if voice is None:
            return ""
        lacking = [one for one, has in self._has.items() if (voice.lang, voice.timbre) not in has]
        if not lacking:
            return ""
        count = sum(self._count[one] for one in self._has if one not in lacking)
        return f"{count:,} of {len(self.locks):,} locks"

    def first_of_all(self, languages: Iterable[Language]) -> VoiceChoice | None:
        """Return the first voice that all locks with known voices have; None if there is none."""
        for language in languages:
            for timbre in language.timbres:
                choice = VoiceChoice(language.lang or "", timbre.timbre or "")
                if choice.lang and choice.timbre and not self.held(choice):
                    return choice
        return None

    def describe_locks(self, voice: VoiceChoice | None) -> str:
        """Return a text about how many locks have a voice, and names of locks without it.

        If the voice is None, the text names only the locks whose voices are unknown.
        """
        left, total = self.without(voice), len(self.locks)
        names = ", ".join(clean(lock.title, 40) for lock in left[:_NAMED])
        if voice is None:
            return (
                f"Locks that were not read, or have no vendor and model: {names}." if left else ""
            )
        if not left:
            return (
                "The lock can use this voice."
                if total == 1
                else f"All {total:,} marked locks can use this voice."
            )
        return (
            f"{total - len(left):,} of {total:,} marked locks can use this voice. Others: {names}."
        )


NAME = 16
"""The maximum length of a timbre's name, so that the mark of the current voice fits in 80
columns."""
MOST_SHOWN = 500
"""The maximum number of lines in the tree, because thousands of lines would delay the keys."""


@dataclass(frozen=True, slots=True)
class VoiceLine:
    """The language or the timbre that a line of the tree shows."""

    key: tuple[str, ...]
    """The identity of the line, unique in the tree and unchanged by a refresh."""
    language: Language
    timbre: Timbre | None = None
    """The timbre of the line; None for the line of a language."""

    @property
    def choice(self) -> VoiceChoice | None:
        """The language code and the ID of the line's voice; None if there is no valid voice."""
        if self.timbre is None or not self.language.lang or not self.timbre.timbre:
            return None
        return VoiceChoice(self.language.lang, self.timbre.timbre)


class VoiceTree(Tree[VoiceLine], inherit_bindings=False):
    """The tree of languages and timbres.

    The screen handles Enter, and all letters except the tree's own: h, j, k, l, g and G.
    """

    BINDINGS = bindings("tree")
    ICON_NODE = "+ "
    ICON_NODE_EXPANDED = "- "

    def __init__(self) -> None:
        super().__init__("")
        self.show_root = False
        self.show_guides = False
        self.guide_depth = 3
        self._folded: set[tuple[str, ...]] = set()
        self.is_cut = False
        """Whether there are more than :data:`MOST_SHOWN` lines, so that some are not shown."""

    def on_hide(self, event: events.Hide) -> None:
        """Keep the focus while the tree is hidden for lack of voices; see ``LineTable.on_hide``."""
        event.prevent_default()

    def on_resize(self) -> None:
        """Keep the selected line visible when the packs below take some of the height."""
        self.call_after_refresh(self._see_cursor)

    @property
    def cursor_screen_offset(self) -> Offset:
        """The position of the terminal's cursor, which is on the selected line."""
        return self.content_region.offset + Offset(
            0, max(self.cursor_line, 0) - self.scroll_offset.y
        )

    @property
    def entry(self) -> VoiceLine | None:
        """The language or timbre of the selected line; None if no line is selected."""
        return self.cursor_node.data if self.cursor_node is not None else None

    def show(
        self,
        languages: Sequence[Language],
        names: Mapping[str, LanguageName | None],
        *,
        marked: VoiceChoice | None = None,
        first: VoiceChoice | None = None,
        wanted: str = "",
        held: Callable[[VoiceChoice | None], str] = lambda _: "",
    ) -> int:
        """Replace the lines and keep the selection. The first call selects ``first``.

        Args:
            languages: The languages as the service sent them.
            names: The names of languages by language code.
            marked: The voice that lockterm last set, which gets a mark.
            first: The voice to select initially; None for the marked voice, or else the first
                voice.
            wanted: The search text; empty to show all voices.
            held: A function that returns a text about how many locks have a voice. The text may be
                empty.

        Returns:
            The number of timbres shown.
        """
        before = self.entry.key if self.entry else None
        line, shown, at, begin = self.cursor_line, 0, None, None
        likely = first or marked
        every = (timbre for language in languages for timbre in language.timbres)
        some = islice(every, MOST_SHOWN)
        width = max((cell_len(_name(timbre)) for timbre in some), default=0)
        self.is_cut, room = False, MOST_SHOWN
        with self.app.batch_update(), self.prevent(Tree.NodeHighlighted, Tree.NodeExpanded):
            self.clear()
            for entry, timbres in _entries(languages):
                name = names.get(entry.language.lang or "")
                timbres = _found(wanted, entry.language, name, timbres)
                if wanted and not timbres:
                    continue
                if room <= len(timbres):
                    self.is_cut, timbres = True, timbres[: max(room - 1, 0)]
                    if not timbres:
                        break
                room -= 1 + len(timbres)
                folded = entry.key in self._folded and not wanted
                node = self.root.add(_language(entry.language, name), entry, expand=not folded)
                at = node if entry.key == before else at
                for timbre in timbres:
                    label = _timbre(timbre, width, marked, held(timbre.choice))
                    leaf = node.add_leaf(label, timbre)
                    at = leaf if timbre.key == before else at
                    if begin is None or (before is None and timbre.choice == likely is not None):
                        begin = leaf
                shown += len(timbres)
            last = self.last_line  # this property also numbers the lines
            if at is None and (before is None or wanted):
                at = begin  # the first match, the likely voice, or the first one
            self.cursor_line = at.line if at is not None else max(min(line, last), 0)
        self.call_after_refresh(self._see_cursor)  # the tree may still get another height
        return shown

    def render_label(self, node: TreeNode[VoiceLine], base_style: Style, style: Style) -> Text:
        """Return the label of a line. An ellipsis replaces the part for which there is no room."""
        label = super().render_label(node, base_style, style)
        depth = 0 if node.parent is self.root else 1
        room = self.scrollable_content_region.width - self.guide_depth * depth
        if 0 < room < label.cell_len:
            label.truncate(room - 1)
            label.append(ellipsis())
        return label

    def _see_cursor(self) -> None:
        self.scroll_to_line(self.cursor_line, animate=False)

    def on_tree_node_collapsed(self, event: Tree.NodeCollapsed[VoiceLine]) -> None:
        """Remember that the user collapsed a language, for the next refresh."""
        if event.node.data:
            self._folded.add(event.node.data.key)

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[VoiceLine]) -> None:
        """Remember that the user expanded a language, for the next refresh."""
        if event.node.data:
            self._folded.discard(event.node.data.key)

    def action_fold(self) -> None:
        """Collapse the language, or move from a timbre to its language."""
        node = self.cursor_node
        if node is None:
            return
        if node.allow_expand and node.is_expanded:
            node.collapse()
        elif node.parent is not None and node.parent is not self.root:
            self.move_cursor(node.parent)

    def action_unfold(self) -> None:
        if self.cursor_node is not None and self.cursor_node.allow_expand:
            self.cursor_node.expand()


def sex(timbre: Timbre) -> str:
    """Return "female", "male", or "unstated" for a missing or unknown value (contract 2.6)."""
    texts: dict[int | None, str] = {0: "male", 1: "female"}
    return texts.get(timbre.is_female, "unstated")


def about(entry: VoiceLine, names: Mapping[str, LanguageName | None]) -> str:
    """Return a text about a line: names of a language, or name, ID and pack URL of a timbre."""
    timbre = entry.timbre
    if timbre is None:
        timbres = format_count(len(entry.language.timbres), "timbre")
        code = clean(entry.language.lang or "no code", LONGEST_CELL)
        name = names.get(entry.language.lang or "")
        if name is None:
            return f"{code}   not in the service's list of languages   {timbres}"
        own = f"   {name.own_full}" if name.own_full not in ("", name.english_full) else ""
        return f"{code}   {name.english_full}{own}   {timbres}"
    identifier = clean(timbre.timbre, LONGEST_CELL) if timbre.timbre else "none"
    url = clean(timbre.timbre_pack_url, 200) if timbre.timbre_pack_url else "no pack URL"
    return f"{_name(timbre)}   {sex(timbre)} voice   ID {identifier}\n{url}"


def format_voice_choice(choice: VoiceChoice, languages: Sequence[Language]) -> str:
    """Return a voice as text, such as ``de-DE Anna (anna), female``.

    If ``languages`` do not contain the voice, the text contains only its language code and ID.
    """
    ids = f"{clean(choice.lang, 40)} {clean(choice.timbre, 40)}"
    for language in languages:
        for timbre in language.timbres:
            if (language.lang, timbre.timbre) == (choice.lang, choice.timbre):
                name = f"{_name(timbre)} ({clean(choice.timbre, 40)})"
                return f"{clean(choice.lang, 40)} {name}, {sex(timbre)}"
    return ids


def _entries(languages: Sequence[Language]) -> Iterator[tuple[VoiceLine, list[VoiceLine]]]:
    seen: Counter[tuple[str, ...]] = Counter()

    def unique(*parts: str | None) -> tuple[str, ...]:
        """Return a unique key for a line. Lines with equal parts differ by their order."""
        key = tuple(part or "" for part in parts)
        seen[key] += 1
        return (*key, str(seen[key]))

    for language in languages:
        entry = VoiceLine(unique(language.lang), language)
        timbres = [
            VoiceLine(unique(*entry.key, timbre.timbre), language, timbre)
            for timbre in language.timbres
        ]
        yield entry, timbres


def _found(
    wanted: str, language: Language, name: LanguageName | None, timbres: list[VoiceLine]
) -> list[VoiceLine]:
    fields = [language.lang or "", name.english_full if name else "", name.own_full if name else ""]
    return [
        entry
        for entry in timbres
        if (timbre := entry.timbre) is not None
        and matches(wanted, *fields, timbre.name or "", timbre.timbre or "", sex(timbre))
    ]


def _language(language: Language, name: LanguageName | None) -> Text:
    label = Text(clean(language.lang, LONGEST_CELL) if language.lang else "(no code)", style="bold")
    if name is not None:
        own = name.own if name.own != name.english else ""
        label.append("  ".join(["", name.english, *filter(None, (own,))]), style="not bold")
    if not language.timbres:
        label.append("  no timbres", style="not bold")
    return label


def _name(timbre: Timbre | None) -> str:
    return clean(timbre.name or timbre.timbre or "(no name)", NAME) if timbre else ""


def _timbre(entry: VoiceLine, width: int, marked: VoiceChoice | None, held: str) -> Text:
    timbre = entry.timbre
    if timbre is None:
        return Text("")
    label = Text(f"{set_cell_size(_name(timbre), width)}  ")
    label.append(f"{sex(timbre):8}  ")
    if marked is not None and entry.choice == marked:  # before the ID, which may be cut
        label.append(f"[{SET_BY_YOU}]", style="bold")  # reversed, it would look like the cursor
        label.append("  ")
    if held:
        label.append(f"{held}  ")
    label.append(clean(timbre.timbre, LONGEST_CELL) if timbre.timbre else "(no ID)")
    return label


class HalfPanel(Vertical):
    """A panel with a heading, a line about outdated data, and rows or an empty state.

    Args:
        heading: The initial heading.
        rows: The widget with the rows.
        below: A widget below the rows, shown with them.
    """

    def __init__(self, heading: str, rows: Widget, *below: Widget, id: str | None = None) -> None:
        super().__init__(id=id)
        self.border_title = Content(heading)
        self._heading = heading
        self._rows = rows
        self._below = below

    def compose(self) -> ComposeResult:
        yield Static(self._heading, classes="heading", markup=False)
        stale = Static(classes="stale", markup=False)
        stale.display = False
        yield stale
        yield self._rows
        yield from self._below
        yield StatePanel()
        self._show_rows(False)

    def set_heading(self, heading: str) -> None:
        """Set the heading in the frame and above the rows, only one of which is visible."""
        text = clean(heading, 120)
        self.border_title = Content(text)
        self.query_one(".heading", Static).update(text)

    def show_state(
        self, state: LoadState[Any], found: bool, empty_state: tuple[str, KeyOffers], zone: tzinfo
    ) -> None:
        """Show the rows or the empty state, and a line about outdated data.

        Args:
            state: The loading state of the data.
            found: Whether there are rows to show.
            empty_state: The text of the empty state, and the keys to press next.
            zone: The time zone of the time at which outdated data was read.
        """
        self._show_rows(found)
        panel = self.query_one(StatePanel)
        if not found:
            if state.seen is None and state.error is not None:
                panel.say(describe_error(state.error), {"{voice.refresh}": "try again"})
            else:
                panel.say(*empty_state)
        stale = self.query_one(".stale", Static)
        stale.display = state.seen is not None and state.stale
        if state.seen is None:
            return
        at = dates.day_time(state.seen.at_ms, zone, exact=False)
        if state.error is not None:
            again = with_keys("Press {voice.refresh} to try again.")
            stale.update(f"STALE, read at {at}. {in_a_line(state.error)[0]}. {again}")
        elif state.kept:
            stale.update(f"OLD, read at {at}. Reading again ...")

    def _show_rows(self, shown: bool) -> None:
        for widget in (self._rows, *self._below):
            widget.display = shown
        for state in self.query(StatePanel):
            state.display = not shown


class VoicesPanel(HalfPanel):
    """The panel with the languages of a lock's model and their timbres."""

    def __init__(self, *, id: str | None = None) -> None:
        self.voices = VoiceTree()
        super().__init__("Voices", self.voices, id=id)

    @property
    def entry(self) -> VoiceLine | None:
        """The selected line; None while no voices are shown."""
        return self.voices.entry if self.voices.display else None

    def show_voices(
        self,
        state: LoadState[list[Language]],
        names: Mapping[str, LanguageName | None],
        lock: Lock,
        wanted: str,
        zone: tzinfo,
        many: VoicesOfLocks | None,
    ) -> None:
        """Show the voices that match the search text, or why there are none.

        Args:
            state: The languages with their loading state.
            names: The names of languages by language code.
            lock: The lock, whose vendor and model determine the voices. The voice that lockterm
                last set for the lock is marked.
            wanted: The search text; empty to show all voices.
            zone: The time zone of the shown times.
            many: The locks, if the user chooses a voice for several locks. The panel then shows how
                many locks have a voice, unless all locks have that voice. None for the single
                ``lock``.
        """
        known = state.value or ()
        if many is None:
            found = self.voices.show(known, names, marked=lock.voice, wanted=wanted)
            model = clean(f"{lock.vendor} {lock.model}", 80)
        else:
            first = many.first_of_all(known)
            found = self.voices.show(known, names, first=first, wanted=wanted, held=many.held)
            model = many.title
        has_model = bool(lock.vendor and lock.model)
        empty_state: tuple[str, KeyOffers] = ("Reading the voices ...", {})
        if not has_model:
            empty_state = (
                "Vendor and model determine the voices, but the lock book does not"
                " contain them for this lock.",
                {"{voice.vendor_model}": "set vendor and model"},
            )
        elif wanted and known:
            empty_state = (f"No voice matches {quoted(clean(wanted, 60))}.", {"Esc": "show all"})
        elif state.value is not None:
            empty_state = (
                f"The service has no voices for {model}.",
                {"{voice.vendor_model}": "change vendor and model", "{voice.refresh}": "refresh"},
            )
        cut = f"Not all voices shown; {key('voice.find')} finds the others"
        heading = cut if self.voices.is_cut else f"Voices of {model}"
        self.set_heading(heading if has_model else "Voices")
        self.show_state(state, bool(found or (known and not wanted)), empty_state, zone)
        if self.voices.display and self.screen.focused is None:
            self.voices.focus()
