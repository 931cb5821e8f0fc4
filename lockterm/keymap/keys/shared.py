"""Keys and the places where they work, the headings of the help, and the keys that screens share.

Several screens share the global keys and the keys of tables, dialogs and fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Key:
    """An action in one place (see :class:`KeyContext`), with its keys and texts.

    Another place may use the same ID for another action.
    """

    id: str
    """The ID by which the configuration refers to the action."""
    keys: str
    """The default keys in Textual's names, separated by commas."""
    verb: str
    """The label in the footer, which is a verb."""
    sentence: str = ""
    """A longer description of the action; empty if the label is enough."""
    action: str = ""
    """The name of the action on the screen or widget; if empty, the last part of the ID."""
    line: int = 0
    """The position in the footer, from 1; 0 if the footer does not show the key.

    If the footer is too narrow, it leaves out the keys with the highest positions.
    """
    opens: bool = False
    """Whether the action opens a screen or a dialog, which receives the keys typed next.

    If the action is disabled, a dialog shows the reason instead, so that these keys do not act on
    the current screen.
    """
    priority: bool = False
    """Whether the key takes precedence over all other keys, in every dialog and every field."""

    @property
    def does(self) -> str:
        """A description of the action, as a sentence without a period."""
        text = self.sentence or self.verb
        return text[0].upper() + text[1:]


@dataclass(frozen=True)
class KeyContext:
    """A place where keys work: a screen, a dialog, or a widget inside a screen or dialog."""

    words: str
    """A phrase for the place, such as ``on the remotes``."""
    tasks: Mapping[str, tuple[Key, ...]]
    """Maps headings in the help to the keys that this place adds, in the order of the help."""
    like: KeyContext | None = None
    """Another place whose keys also work here; None if there is none."""
    holds: tuple[str, ...] = ()
    """The names of the places of widgets inside this place. At most one of these widgets has the
    focus at a time."""
    is_typed_into: bool = False
    """Whether the user types text here, so that each action needs a key that types no text."""
    is_inner: bool = False
    """Whether the place is a widget inside a screen or a dialog."""
    everywhere: tuple[str, ...] | None = None
    """The IDs of the global keys that work here; None if all of them work."""

    @cached_property
    def own(self) -> tuple[Key, ...]:
        """The keys that this place adds to those of :attr:`like`.

        The keys that the footer shows come first.
        """
        keys = [key for keys in self.tasks.values() for key in keys]
        return tuple(sorted(keys, key=lambda key: key.line or len(keys) + 1))

    @cached_property
    def keys(self) -> Mapping[str, tuple[str, ...]]:
        """Maps the IDs of actions to their default keys in this place.

        The actions of ``like`` are included.
        """
        above = self.like.keys if self.like else {}
        return {**above, **{key.id: tuple(key.keys.split(",")) for key in self.own}}


REMOTES = "Remotes: show, add, change"
MARKS = "Marks: change many at once"
LOCKS = "Locks: open, add, change"
VOICE = "Voice"
CHANGES = "Sent changes"
PLANS = "Plans: changes of many remotes"
PROFILES = "Profiles: switch, add, change"
FORM = "This form"
FINDING = "Finding and paging"
COPYING = "Copy and export"
DIALOGS = "Dialogs"
MOVING = "Moving"
OUTCOMES = "Results"
EVERYWHERE = "Everywhere"

TASKS = (
    *(REMOTES, MARKS, LOCKS, VOICE, CHANGES, PLANS, PROFILES, FORM, FINDING, COPYING, DIALOGS),
    *(MOVING, OUTCOMES, EVERYWHERE),
)
"""The headings of the help, in order."""


# fmt: off

def rows(
    actions: str,
    verbs: tuple[str, ...] = (
        "row up",
        "row down",
        "page up",
        "page down",
        "first row",
        "last row",
    ),
    lines: tuple[int, ...] = (0,) * 6,
) -> tuple[Key, ...]:
    """Return the six keys that move the cursor through rows, or scroll a text.

    Args:
        actions: The actions of the six keys, separated by blanks.
        verbs: The verbs of the six keys.
        lines: The positions of the six keys in the footer; 0 for a key that is not shown there.
    """
    keys = {
        "row.up": "up,k",
        "row.down": "down,j",
        "row.page_up": "pageup",
        "row.page_down": "pagedown",
        "row.first": "home,g",
        "row.last": "end,G",
    }
    each = zip(keys.items(), verbs, actions.split(), lines, strict=True)
    return tuple(Key(*key, verb, action=action, line=line) for key, verb, action, line in each)


def marks(mark: int, act: int, none: int, more: str, every: int = 0) -> tuple[Key, ...]:
    """Return the keys that mark rows, unmark rows, and offer actions on marked rows.

    Args:
        mark: The position in the footer of the key that marks a row.
        act: The position in the footer of the key that offers actions.
        none: The position in the footer of the key that unmarks all rows.
        more: The actions on marked rows that have no key of their own, as a part of a sentence.
        every: The position in the footer of the key that marks all rows; 0 if it is not shown
            there.
    """
    return (
        Key("marks.mark", "space", "mark", line=mark,
            sentence="Mark or unmark the selected row, and move down"),
        Key("marks.range", "S", "mark range", action="mark_range",
            sentence="Mark all rows from the last marked row to the selected row"),
        Key("marks.all", "asterisk", "mark all", action="mark_all", line=every,
            sentence="Mark or unmark all rows that are shown"),
        Key("marks.none", "U", "unmark all", action="unmark_all", line=none,
            sentence="Unmark all rows; if none is marked, restore the last marks"),
        Key("marks.act", "m", "more", action="act_on_marked", line=act, opens=True,
            sentence=f"Choose an action for the marked rows: {more}"),
    )


def between(thing: str) -> tuple[Key, Key]:
    """Return the keys that move between things next to each other, such as the buttons of a dialog.

    Args:
        thing: The name of such a thing in the footer, such as ``button``.
    """
    return (
        Key("dialog.previous", "left,h,up,k", f"previous {thing}", action="app.focus_previous"),
        Key("dialog.next", "right,l,down,j", f"next {thing}", action="app.focus_next"),
    )


DIALOG = KeyContext(
    "in a dialog",
    {DIALOGS: (Key("dialog.cancel", "escape", "cancel", line=1),)},
    holds=("plain_text", "text", "path", "list"),
    everywhere=("app.quit_always", "app.palette"),
)
CONFIRM = KeyContext(
    "in a confirmation",
    {
        MOVING: (
            *between("button"),
            Key("dialog.page_up", "pageup", "scroll up", action="scroll_details(-1)"),
            Key("dialog.page_down", "pagedown", "scroll down", action="scroll_details(1)"),
        ),
    },
    DIALOG,
    holds=("plain_text",),
    is_typed_into=True,
    everywhere=DIALOG.everywhere,
)
OPTIONS = KeyContext(
    "in a line of options",
    {
        FORM: (
            Key("option.choose", "space", "choose", line=1,
                sentence="Choose the selected option. You can also type its number, or select it"
                         " by its first letter"),
        ),
        MOVING: (
            Key("field.previous", "up,k", "previous field", action="app.focus_previous"),
            Key("field.next", "down,j,enter", "next field", action="app.focus_next"),
            # No letters, because letters that were typed for a field must not choose.
            Key("option.previous", "left", "previous option", action="move(-1)",
                sentence="Choose the previous option; if none is chosen, only select it"),
            Key("option.next", "right", "next option", action="move(1)",
                sentence="Choose the next option; if none is chosen, only select it"),
        ),
    },
    is_inner=True,
)
APP = KeyContext(
    "everywhere",
    {
        OUTCOMES: (
            Key("outcome.check", "c", "check result", action="settle('check')", opens=True,
                sentence="Check whether the service recorded the unconfirmed change"),
            Key("outcome.send_again", "A", "send again", opens=True,
                sentence='Send the unconfirmed change again, after you type "send" or'
                         ' "delete"'),
            Key("outcome.give_up", "X", "dismiss", action="settle('give_up')", opens=True,
                sentence='Dismiss the unconfirmed change, after you type "dismiss"'),
        ),
        EVERYWHERE: (
            Key("app.help", "question_mark,f1", "help", line=1, opens=True),
            Key("app.palette", "ctrl+p", "palette", action="command_palette", opens=True,
                priority=True, sentence="Find an action, a setting or a lock by name"),
            Key("app.messages", "f2,M", "messages", opens=True),
            Key("app.history", "H", "history", opens=True,
                sentence="Show every change that you sent, its result, and how to undo it"),
            Key("app.file", "I", "import", opens=True,
                sentence="Read remotes from a table file, and show a plan"),
            Key("app.everywhere", "F", "all locks", opens=True,
                sentence="Search all locks by name, number, ID or extra data"),
            Key("app.what_ends", "W", "expiring", opens=True,
                sentence="Show expired and expiring remotes of all locks"),
            Key("app.elsewhere", "exclamation_mark", "changed elsewhere", opens=True,
                sentence="Show what others changed on all locks since you last looked"),
            Key("app.run", "L", "last run", opens=True,
                sentence="Show the current run, else the last interrupted run, else the last run"),
            Key("app.profiles", "P", "profiles", opens=True,
                sentence="Switch, add or edit profiles"),
            Key("app.quiet", "f3,Q", "quiet",
                sentence="Turn low-bandwidth mode on or off: 16 colors, ASCII, no preloading"),
            Key("app.mouse", "f4,O", "mouse",
                sentence="Switch the mouse between lockterm and the terminal's text selection"),
            Key("app.theme", "T", "theme", "Choose the theme", opens=True),
            Key("app.redraw", "ctrl+l", "redraw",
                sentence="Redraw the whole screen if other output has overwritten it"),
            Key("app.quit", "q", "back, or quit", action="back_or_quit",
                sentence="Go back; on the first screen, quit"),
            Key("app.quit_always", "ctrl+q", "quit", action="quit", priority=True),
        ),
    },
)

PRIORITY = tuple(key.id for key in APP.own if key.priority)
"""The IDs of the keys that take precedence over all other keys, in every dialog and field."""

FIRST_RUN_IDS = ("app.help", "app.quiet", "app.mouse", "app.theme", "app.redraw", "app.quit")
"""The IDs of the global keys, besides ``PRIORITY``, that work before a service is configured."""

FIRST_RUN = tuple(
    replace(key, verb="quit", line=1) if key.id == "app.quit" else key
    for key in APP.own
    if key.id in (*FIRST_RUN_IDS, *PRIORITY)
)
"""The global keys that work before a service is configured."""

TABLES: Mapping[str, KeyContext] = {
    "table": KeyContext(
        "in a table",
        {MOVING: rows("cursor_up cursor_down page_up page_down scroll_top scroll_bottom")},
        is_inner=True,
    ),
    "tree": KeyContext(
        "in a tree",
        {
            MOVING: (
                *rows("cursor_up cursor_down page_up page_down scroll_home scroll_end"),
                Key("tree.fold", "left,h", "hide the voices"),
                Key("tree.unfold", "right,l", "show the voices"),
                Key("tree.toggle", "space", "show or hide the voices", action="toggle_node"),
            ),
        },
        is_inner=True,
    ),
}

DIALOGS_AND_FIELDS: Mapping[str, KeyContext] = {
    # --- dialogs -----------------------------------------------------------------------------
    "columns": KeyContext(
        "in the choice of columns",
        {
            DIALOGS: (
                Key("columns.show", "space", "show or hide", line=1),
                Key("columns.down", "J,shift+down", "move down", action="move(1)", line=2),
                Key("columns.up", "K,shift+up", "move up", action="move(-1)", line=3),
                Key("columns.sort", "Z", "sort", line=4,
                    sentence="Sort by the selected column: ascending, descending, or off"),
                Key("columns.usual", "0", "default", "Restore the default columns", line=5),
                Key("columns.use", "ctrl+s", "use", "Use these columns", line=6),
            ),
        },
        DIALOG,
        holds=("list",),
        everywhere=PRIORITY,
    ),
    "dialog": DIALOG,
    "confirm": CONFIRM,
    "destroy": KeyContext(
        "in a confirmation that deletes",
        {
            DIALOGS: (
                Key("dialog.destroy", "D", "delete", "Press the delete button of the dialog"),
            ),
        },
        CONFIRM,
        holds=("plain_text",),
        everywhere=PRIORITY,
    ),
    # --- inside of forms and dialogs -----------------------------------------------------------
    "list": KeyContext(
        "in a list",
        {
            DIALOGS: (Key("list.choose", "enter", "choose", action="select"),),
            MOVING: rows("cursor_up cursor_down page_up page_down first last"),
        },
        is_inner=True,
    ),
    "text": KeyContext(
        "in a field",
        {
            MOVING: (
                Key("field.previous", "up", "previous field", action="app.focus_previous"),
                Key("field.next", "down,enter", "next field", action="app.focus_next"),
            ),
        },
        is_typed_into=True,
        is_inner=True,
    ),
    "date": KeyContext(
        "in a date field",
        {
            FORM: (
                Key("date.preset", "ctrl+g", "preset", line=1,
                    sentence="Fill in the next preset, as shown in brackets"),
            ),
        },
        is_typed_into=True,
        is_inner=True,
    ),
    "path": KeyContext(
        "in a path field",
        {
            MOVING: (
                Key("field.previous", "up", "previous field", action="app.focus_previous"),
                Key("field.next", "down", "next field", action="app.focus_next"),
                Key("path.enter", "enter", "use the file"),
            ),
        },
        is_typed_into=True,
        is_inner=True,
    ),
    "plain_text": KeyContext("in a field", {}, is_typed_into=True, is_inner=True),
    "options": OPTIONS,
    "choice": KeyContext(
        "in an optional line of options",
        {FORM: (Key("option.clear", "backspace,delete", "choose none"),)},
        OPTIONS,
        is_inner=True,
    ),
    "find": KeyContext(
        "in the search field",
        {
            FINDING: (
                Key("find.leave", "down", "to the results",
                    sentence="Go to the results, like Enter"),
                Key("find.close", "escape", "show all", line=1,
                    sentence="End the search, and show all rows"),
            ),
        },
        is_typed_into=True,
        is_inner=True,
    ),
    "app": APP,
}

# fmt: on
