"""The help screen: the keys, terms and icons of another screen, and facts about the session."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from lockterm import __version__
from lockterm.domain.glyphs import ellipsis, notice_mark
from lockterm.domain.safe_text import REPLACEMENT, clean
from lockterm.domain.validity import COERCED, RemoteState
from lockterm.keymap.keys import MOVING, TASKS, in_help
from lockterm.operations import Operations
from lockterm.screens.base import LocktermScreen
from lockterm.widgets.actions import Action, actions_of, bindings
from lockterm.widgets.line_table import MARK
from lockterm.widgets.text_input import FindLine, matches

EDITING = "While you type in a field"
"""The title of the last section, with Textual's own editing keys, which users cannot change."""

TWO_COLUMNS = 100
"""The minimum width of a terminal for two columns of help, in cells."""

VERBS = 80
"""The minimum width of a terminal, in cells, to show verbs in a column of their own.

In a narrower terminal, or if the help has two columns, each description begins with the verb."""

COLUMN = 17
"""The maximum width of the column of keys, and of the column of verbs, in cells with the gap."""

MARGIN = 6
"""The width in cells that the left margin, the right margin and the scrollbar take together."""

GAP = 3
"""The width of the gap between the two columns of the help, in cells."""

NONE = "No matches found."

WORDS = {
    "remote": "a bluetooth key fob that opens one lock",
    "timbre": "one voice of a language",
    "voice pack": "the audio file of a timbre",
    "coerced": "the service's flag for a coerced remote: yes, no, or default (means no)",
    "API user": "the number of an account that calls the service, not of a person",
    "Via: GW, BT": "how a remote was added: via the gateway, by bluetooth",
    "recorded by the service": (
        "the service has the change, but does not report whether the lock has it"
    ),
    "set by you": "your last choice, because the service cannot report a lock's voice",
    "OFFLINE": "the service is unreachable, and the screen shows older data",
    "LIST BEHIND": "the service's list does not show your latest changes yet",
    "STALE": "the latest refresh failed, and the screen shows an older list",
    "UNCONFIRMED": "a change was sent, but no answer came, so the result is unknown",
    "(key verb)": "an action that is disabled now; press the key to see the reason",
}
"""Maps each term to its meaning."""


def _icons() -> Iterator[tuple[str, str]]:
    """Yield each icon of the current icon set with its meaning."""
    yield from ((state.sign, f"a remote: {state.meaning}") for state in RemoteState)
    yield COERCED, "beside a remote: the remote is coerced"
    yield MARK, "in the margin of a row: the row is marked"
    yield "! refused", "a step of a plan: the service did not accept the change"
    yield "! skipped", "a step of a plan: not sent, because its remote has changed or is gone"
    yield "! not sent", "a step of a plan: not sent, because the run or an earlier step failed"
    yield "! not planned", "a step of a plan: the run does not include it, because of a problem"
    yield "? unconfirmed", "a step of a plan: sent, but no answer came"
    yield "! shortens", "a step of a plan: the remote will expire earlier"
    yield notice_mark(), "before each line of a notification"
    yield ellipsis(), "at the end of a text: the text does not fit and is cut"
    yield REPLACEMENT, "a control character or an invisible character"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the help, whose texts have no control characters."""

    key: str
    """The keys, the term, the icon or the label; in parentheses if the action is disabled."""
    text: str
    """The description, which may be empty."""
    verb: str = ""
    """The verb of an action; empty for entries that are not actions."""
    reason: str = ""
    """Why the action is disabled, as a sentence; empty if it is enabled."""

    def has(self, words: str, title: str) -> bool:
        """Return whether each typed word occurs in the entry or in the title of its section."""
        return matches(words, title) or matches(words, self.key, self.verb, self.text, self.reason)


class HelpScreen(LocktermScreen[None]):
    """The screen with the help for another screen.

    Args:
        operations: The operations on the service and the local store; None if no service is
            configured.
        screen: The screen to describe, which must be active when the help is created.
    """

    BINDINGS = bindings("help")
    AUTO_FOCUS = ""

    def __init__(self, operations: Operations | None, screen: Screen[Any]) -> None:
        super().__init__(operations)
        self._of = screen.breadcrumbs() if isinstance(screen, LocktermScreen) else ()
        self._tasks = _by_task(actions_of(screen))
        self._wanted = ""
        """The text that the user searches for."""

    def breadcrumbs(self) -> tuple[str, ...]:
        return (*self._of, "Help")

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="help", can_focus=False), Horizontal(id="help-columns"):
            yield Static(id="help-text", markup=False)
            yield Static(id="help-more", markup=False)
        yield FindLine(id="find")

    def on_mount(self) -> None:
        self._write()

    def on_resize(self) -> None:
        self._write()

    def write_again(self) -> None:
        self._write()

    @on(FindLine.Changed)
    def _search(self, event: FindLine.Changed) -> None:
        self._wanted = event.value
        self.query_one("#help").scroll_home(animate=False)
        self._write()

    @on(FindLine.Left)
    def _find_line_left(self) -> None:
        self.set_focus(None)

    def _write(self) -> None:
        columns = self.size.width or self.app.size.width
        width = max(columns - MARGIN, 40)
        is_wide = columns >= TWO_COLUMNS
        width = (width - GAP) // 2 if is_wide else width
        actions = [_describe(action) for _, actions in self._tasks for action in actions]
        keys = _fit(entry.key for entry in actions)
        has_verbs = VERBS <= columns < TWO_COLUMNS
        verbs = _fit(entry.verb for entry in actions) if has_verbs else 0
        sections: list[list[Content]] = []
        for title, entries in self._sections():
            if found := [entry for entry in entries if entry.has(self._wanted, title)]:
                first = keys if found[0].verb else _fit(entry.key for entry in entries)
                heading = Content.styled(title, "bold underline")
                sections.append([heading, *_format(found, first, verbs, width), Content("")])
        left = _balance([*map(len, sections)]) if is_wide else len(sections)
        text, more = self.query_one("#help-text", Static), self.query_one("#help-more", Static)
        text.update(_join(sections[:left]) if sections else Content(NONE))
        more.update(_join(sections[left:]))
        more.display = is_wide
        more.styles.margin = (0, 0, 0, GAP)

    def _sections(self) -> Iterator[tuple[str, Sequence[Entry]]]:
        for title, actions in self._tasks:
            yield title, [*map(_describe, actions)]
        yield "Words", [Entry(*one) for one in WORDS.items()]
        yield "Icons", [Entry(*one) for one in _icons()]
        yield "Profile, service and version", [Entry(*one) for one in self._places()]

    def _places(self) -> Iterator[tuple[str, str]]:
        if self.has_service:
            profile = self.operations.profile
            yield "profile", clean(profile.name) + ("  read-only" if profile.read_only else "")
            yield "service", clean(profile.base_url)
            yield "time zone", f"{clean(profile.timezone)}, for locks without a time zone"
        yield "version", f"lockterm {__version__}"

    def action_scroll_body(self, how: str) -> None:
        getattr(self.query_one("#help"), f"scroll_{how}")(animate=False)

    def action_find(self) -> None:
        self.query_one(FindLine).open()

    def action_close(self) -> None:
        """Clear the search text. If there is no search text, close the help."""
        if self._wanted:
            self.query_one(FindLine).action_close()
        else:
            self.dismiss()


def _by_task(actions: list[Action]) -> list[tuple[str, list[Action]]]:
    """Return the actions grouped by task heading."""
    tasks: dict[str, list[Action]] = {task: [] for task in (*TASKS, EDITING)}
    for action in sorted(actions, key=lambda action: _in_help(action.binding)[1]):
        tasks[_in_help(action.binding)[0]].append(action)
    return [(task, found) for task, found in tasks.items() if found]


def _in_help(binding: Binding) -> tuple[str, int]:
    """Return the heading of a binding in the help, and its position below that heading."""
    if binding.id is not None:
        return in_help()[binding.id]
    # Textual's own keys have no ID, and come last. They move between fields or edit text.
    return MOVING if binding.action.startswith("app.focus_") else EDITING, len(in_help())


def _describe(action: Action) -> Entry:
    """Return the help entry of an action, without a description that only repeats the verb."""
    keys, verb, sentence = ", ".join(action.keys), action.binding.description.lower(), ""
    if action.sentence.lower() != verb:
        sentence = action.sentence
    if action.enabled:
        return Entry(keys, sentence, verb)
    return Entry(f"({keys})", sentence, verb, action.reason or "This key has no effect here.")


def _balance(heights: Sequence[int]) -> int:
    """Return how many sections belong to the first of two columns of about the same height.

    Args:
        heights: The number of lines of each section.
    """
    return min(
        range(len(heights) + 1),
        key=lambda left: max(sum(heights[:left]), sum(heights[left:])),
    )


def _join(sections: Iterable[Sequence[Content]]) -> Content:
    return Content("\n").join([line for lines in sections for line in lines])


def _fit(words: Iterable[str]) -> int:
    """Return the width in cells of a column with these texts, including the gap after it.

    Texts that are too long for :data:`COLUMN` are ignored, because they get their own line.
    """
    return 2 + max((cell_len(word) for word in words if cell_len(word) + 2 <= COLUMN), default=0)


def _format(entries: Sequence[Entry], keys: int, verbs: int, width: int) -> Iterator[Content]:
    """Yield the lines of a section.

    If several entries are disabled for the same reason, the reason appears once, after the last of
    these entries.

    Args:
        entries: The entries.
        keys: The width of the column of keys in cells.
        verbs: The width of the column of verbs in cells; 0 to put each verb in front of its
            description.
        width: The width of the lines in cells.
    """
    for reason, alike in groupby(entries, key=attrgetter("reason")):
        for entry in alike:
            for line in _format_entry(entry, keys, verbs, width):
                yield line.stylize("dim") if reason else line
        if reason:
            text = f"Not available now: {reason}"
            for line in _columns([("", keys)], text, width):
                yield line.stylize("dim")


def _format_entry(entry: Entry, keys: int, verbs: int, width: int) -> Iterator[Content]:
    key, verb, text = entry.key, entry.verb, entry.text
    if cell_len(key) + 2 > keys:
        yield Content.styled(key, "bold")
        key = ""
    columns = [(key, keys)]
    if verb and len(verb) + 2 <= verbs:
        columns.append((verb, verbs))
    elif verb and not text.lower().startswith(verb):
        text = ". ".join(filter(None, (verb[0].upper() + verb[1:], text)))
    yield from _columns(columns, text, width)


def _columns(columns: Sequence[tuple[str, int]], text: str, width: int) -> Iterator[Content]:
    """Yield lines with some texts in columns, and a text that wraps to the right of all columns.

    Args:
        columns: The texts with the widths of their columns in cells. The first text is bold.
        text: The text to wrap.
        width: The width of the lines in cells.
    """
    start = sum(wide for _, wide in columns)
    wrapped = textwrap.wrap(text, max(width - start, 20)) or [""]
    yield Content.assemble(
        *(
            (word + " " * max(wide - cell_len(word), 1), "bold" if index == 0 else "")
            for index, (word, wide) in enumerate(columns)
        ),
        wrapped[0],
    )
    for line in wrapped[1:]:
        yield Content(" " * start + line)
