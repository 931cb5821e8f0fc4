"""The help screen: keys, terms and icons of a screen, and facts about the session."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from lockterm import __version__
from lockterm.domain.glyphs import ellipsis
from lockterm.domain.safe_text import REPLACEMENT, clean
from lockterm.domain.validity import COERCED, State
from lockterm.keymap.keys import MOVING, TASKS, in_help
from lockterm.operations import Operations
from lockterm.screens.base import LocktermScreen
from lockterm.widgets.actions import Action, actions_of
from lockterm.widgets.bindings import bindings

EDITING = "While you type in a field"
"""The last heading, for Textual's own editing keys, which users cannot change."""

COLUMN = 17
"""The maximum width of the key and verb columns in cells, with the gap."""

MARGIN = 6
"""The sum of the left and right margins of the text in cells, with the scrollbar."""

WORDS = {
    "remote": "a bluetooth key fob that opens one lock",
    "timbre": "one voice of a language",
    "voice pack": "the file that makes a lock speak with one timbre",
    "coerced": "the service's flag for a coerced remote: yes, no, or default, which is no",
    "API user": "the number of an account that calls the service, not a person with a remote",
    "Via: GW, BT": "how a remote was added: via the gateway, by bluetooth",
    "recorded by the service": "the service has the change, but does not report if the lock has it",
    "set by you": "your last choice, because the service cannot report a lock's voice",
    "OFFLINE": "the service is unreachable, and the screen shows older data",
    "LIST BEHIND": "the service's list does not show your latest changes yet",
    "STALE": "the latest refresh failed, and the screen shows an older list",
    "UNSETTLED": "a change was sent, but no answer came, so the result is unknown",
    "(key verb)": "is disabled now; press the key to see the reason",
}
"""Term -> its meaning."""


def _marks() -> dict[str, str]:
    """Return icon -> its meaning."""
    return {
        **{state.sign: f"a remote: {state.meaning}" for state in State},
        COERCED: "beside a remote: the remote is coerced",
        ellipsis(): "the text does not fit and is cut",
        REPLACEMENT: "a control character or an invisible character",
    }


class HelpScreen(LocktermScreen[None]):
    """The screen with the help for another screen.

    Args:
        operations: The operations on the service and the local store; None without a service.
        screen: The screen to describe, which must still be the active screen.
    """

    BINDINGS = bindings("help")

    def __init__(self, operations: Operations | None, screen: Screen[Any]) -> None:
        super().__init__(operations)
        self._of = screen.crumbs() if isinstance(screen, LocktermScreen) else ()
        self._tasks = _by_task(actions_of(screen))

    def crumbs(self) -> tuple[str, ...]:
        return (*self._of, "Help")

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="help", can_focus=False):
            yield Static(id="help-text", markup=False)

    def on_mount(self) -> None:
        self._write()

    def on_resize(self) -> None:
        self._write()

    def write_again(self) -> None:
        self._write()

    def _write(self) -> None:
        width = max((self.size.width or self.app.size.width) - MARGIN, 40)
        every = [action for _, actions in self._tasks for action in actions]
        keys = _fitting(", ".join(action.keys) for action in every)
        verb = _fitting(action.binding.description for action in every)
        lines: list[Content] = []
        for title, actions in self._tasks:
            lines += [Content.styled(title, "bold underline")]
            for action in actions:
                lines += _of_action(action, keys, verb, width)
            lines.append(Content(""))
        lines.append(Content.styled("Words and marks", "bold underline"))
        for word, meaning in (WORDS | _marks()).items():
            lines += _columns([(word, 2 + max(map(len, WORDS)))], meaning, width)
        lines += [Content(""), Content.styled("Profile, service and version", "bold underline")]
        for label, value in self._places():
            lines += _columns([(label, 11)], value, width)
        self.query_one("#help-text", Static).update(Content("\n").join(lines))

    def _places(self) -> Iterator[tuple[str, str]]:
        if self.has_service:
            profile = self.operations.profile
            yield "profile", clean(profile.name) + ("  read-only" if profile.read_only else "")
            yield "service", clean(profile.base_url)
            yield "time zone", f"{clean(profile.timezone)}, for locks without a time zone"
        yield "version", f"lockterm {__version__}"

    def action_scroll_body(self, how: str) -> None:
        getattr(self.query_one("#help"), f"scroll_{how}")(animate=False)

    def action_close(self) -> None:
        self.dismiss()


def _by_task(actions: list[Action]) -> list[tuple[str, list[Action]]]:
    """Return the actions grouped by task heading."""
    tasks: dict[str, list[Action]] = {task: [] for task in (*TASKS, EDITING)}
    for action in sorted(actions, key=lambda action: _in_help(action.binding)[1]):
        tasks[_in_help(action.binding)[0]].append(action)
    return [(task, found) for task, found in tasks.items() if found]


def _in_help(binding: Binding) -> tuple[str, int]:
    """Return the heading of a binding, and its position below it."""
    if binding.id is not None:
        return in_help()[binding.id]
    # Textual's own keys have no ID, and come last. They move between fields or edit text.
    return MOVING if binding.action.startswith("app.focus_") else EDITING, len(in_help())


def _fitting(words: Iterable[str]) -> int:
    """Return the width of a column in cells, including the gap.

    Words that are too long for :data:`COLUMN` are ignored, because they get their own line.
    """
    return 2 + max((len(word) for word in words if len(word) + 2 <= COLUMN), default=0)


def _of_action(action: Action, keys: int, verb: int, width: int) -> list[Content]:
    sentence, told = action.sentence, ", ".join(action.keys)
    word = action.binding.description.lower()
    if sentence.lower() == word:
        sentence = ""
    if not action.enabled:
        sentence = f"Not available now: {action.reason or 'it has no effect here.'}"
    style = "" if action.enabled else "dim"
    above: list[Content] = []
    if len(told) + 2 > keys:
        above, told = [Content.styled(told, f"bold {style}".strip())], ""
    columns = [(told, keys), (word, verb)]
    if len(word) + 2 > verb:
        columns, sentence = columns[:1], ". ".join(filter(None, (word, sentence)))
    return above + _columns(columns, sentence, width, style)


def _columns(
    columns: list[tuple[str, int]], text: str, width: int, style: str = ""
) -> list[Content]:
    """Return lines with words in columns, and a text that wraps beside the last column.

    Args:
        columns: Words with the widths of their columns in cells; the first word is bold.
        text: The text.
        width: The width of the lines in cells.
        style: The style of the lines; empty for none.
    """
    start = sum(wide for _, wide in columns)
    wrapped = textwrap.wrap(text, max(width - start, 20)) or [""]
    head = Content.assemble(
        *(
            (word + " " * max(wide - cell_len(word), 1), "bold" if index == 0 else "")
            for index, (word, wide) in enumerate(columns)
        ),
        wrapped[0],
    )
    lines = [head, *(Content(" " * start + line) for line in wrapped[1:])]
    return [line.stylize(style) if style else line for line in lines]
