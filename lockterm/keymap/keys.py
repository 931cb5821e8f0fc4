"""Every key: where it works, what it is called, what it does, under which heading help has it.

This is the one list. What screens and widgets bind, help, palette, the line of keys and ``lockterm
keys`` follow from it; the configuration chooses other keys by its ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from lockterm.keymap.place import Key, Place

REMOTES = "Remotes: add, look at, change"
MARKS = "Marks: act on many"
LOCKS = "Locks: open, add, change"
VOICE = "Voice"
CHANGES = "Changes that were sent"
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
"""What keys are for: the headings of help, in its order."""


# fmt: off

def _rows(
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
    """The keys that go through lines; the actions of who has the lines, with blanks between."""
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


def _marks(mark: int, act: int, none: int, more: str, every: int = 0) -> tuple[Key, ...]:
    """The keys that mark; which of the line of keys some of them are, and what else there is."""
    return (
        Key("marks.mark", "space", "mark", line=mark,
            sentence="Mark the one under the cursor, or unmark it, and go down"),
        Key("marks.range", "S", "mark range", action="mark_range",
            sentence="Mark from the one that was marked last to the cursor"),
        Key("marks.all", "asterisk", "mark all", action="mark_all", line=every,
            sentence="Mark all that is shown, what was found or this page; or unmark them"),
        Key("marks.none", "U", "unmark all", action="unmark_all", line=none,
            sentence="Unmark all, shown or not; then, mark those again"),
        Key("marks.act", "m", "more", action="act_on_marked", line=act, opens=True,
            sentence=f"Choose what else to do with the marked ones: {more}"),
    )


_MORE = "type, weekdays, coerced, extra data, copy, export"

_FILTER = "Show only what has ended, or what ends soon, and so on, of what is found"
_SHOW_ALL = "Show all again; unmark all; then go back"

_ON_ALL_LOCKS = (
    Key("everywhere.open", "enter", "open", line=1, opens=True,
        sentence="Show every field of what is under the cursor; of a lock that could not be read,"
                 " its remotes"),
    Key("everywhere.renew", "w", "renew", line=6, opens=True,
        sentence="Give this remote, or all that are marked, another end"),
    Key("everywhere.delete", "d,delete", "delete", line=7, opens=True,
        sentence="Delete this remote, or all that are marked, after asking"),
)

_RESTORE = "Add again what this delete or clear took away; says first what is lost"

_DIALOG = Place(
    "in a dialog",
    {DIALOGS: (Key("dialog.cancel", "escape", "cancel", line=1),)},
    holds=("plain_text", "text", "path", "list"),
    everywhere=("app.quit_always", "app.palette"),
)
_CONFIRM = Place(
    "in a question",
    {
        MOVING: (
            Key("dialog.previous", "left,h,up,k", "previous", action="app.focus_previous"),
            Key("dialog.next", "right,l,down,j", "next", action="app.focus_next"),
            Key("dialog.page_up", "pageup", "scroll up", action="scroll_details(-1)"),
            Key("dialog.page_down", "pagedown", "scroll down", action="scroll_details(1)"),
        ),
    },
    _DIALOG,
    holds=("plain_text",),
    is_typed_into=True,
    everywhere=_DIALOG.everywhere,
)
_OPTIONS = Place(
    "in a line of options",
    {
        FORM: (
            Key("option.choose", "space", "choose",
                sentence="Choose the option under the cursor; its first letter goes to it, and its"
                         " number at the service chooses it"),
        ),
        MOVING: (
            Key("field.previous", "up,k", "previous field", action="app.focus_previous"),
            Key("field.next", "down,j,enter", "next field", action="app.focus_next"),
            Key("option.previous", "left,h", "previous option", action="move(-1)"),
            Key("option.next", "right,l", "next option", action="move(1)"),
        ),
    },
    is_inner=True,
)
_APP = Place(
    "everywhere",
    {
        OUTCOMES: (
            Key("outcome.check", "c", "check result", action="settle('check')", opens=True,
                sentence="Read back whether the unsettled change has taken effect"),
            Key("outcome.send_again", "A", "send again", opens=True,
                sentence="Send the unsettled change again; asks for the word send, for what is left"
                         " of a clear for delete"),
            Key("outcome.give_up", "X", "give up", action="settle('give_up')", opens=True,
                sentence="Let the unsettled change be; asks for the words give up"),
        ),
        EVERYWHERE: (
            Key("app.help", "question_mark,f1", "help", line=1, opens=True),
            Key("app.palette", "ctrl+p", "palette", action="command_palette", opens=True,
                priority=True, sentence="Find an action or a lock by its words"),
            Key("app.messages", "f2,M", "messages", opens=True),
            Key("app.history", "H", "history", opens=True,
                sentence="Every change sent from here, what became of it, and how to restore"),
            Key("app.file", "I", "take a file", opens=True,
                sentence="Check a file of remotes, and plan what it says"),
            Key("app.everywhere", "F", "everywhere", opens=True,
                sentence="Find remotes on all locks of the book, by name, number, id or extra"
                         " data"),
            Key("app.what_ends", "W", "what ends", opens=True,
                sentence="Show what has ended and what ends soon, on all locks of the book"),
            Key("app.run", "L", "last run", opens=True,
                sentence="The run that is under way, was interrupted, or was last"),
            Key("app.profiles", "P", "profiles", opens=True,
                sentence="Switch to another profile, add one, or change one"),
            Key("app.quiet", "f3,Q", "quiet",
                sentence="Send less, for a thin link: 16 colours, ASCII, nothing read"
                         " ahead; or not"),
            Key("app.mouse", "f4,O", "mouse",
                sentence="Leave the mouse to the terminal, which selects text with"
                         " it; or take it back"),
            Key("app.theme", "T", "theme", "Choose the colours; the choice is kept", opens=True),
            Key("app.redraw", "ctrl+l", "redraw",
                sentence="Draw the whole screen again, where something else has written on it"),
            Key("app.quit", "q", "back, or quit", action="back_or_quit",
                sentence="Go back; on the first screen, quit"),
            Key("app.quit_always", "ctrl+q", "quit", action="quit", priority=True),
        ),
    },
)

PRIORITY = tuple(key.id for key in _APP.own if key.priority)
"""They work before anything else does, in every dialog and every field."""

FIRST_RUN_IDS = ("app.quiet", "app.mouse", "app.theme", "app.redraw", "app.quit")
"""Those of everywhere that are there while no service is known, beside those of ``PRIORITY``."""

FIRST_RUN = tuple(
    replace(key, verb="quit", line=1) if key.id == "app.quit" else key
    for key in _APP.own
    if key.id in (*FIRST_RUN_IDS, *PRIORITY)
)
"""The keys of everywhere while no service is known."""

PLACES: Mapping[str, Place] = {
    # In the order of help below a heading.
    "table": Place(
        "in a table",
        {MOVING: _rows("cursor_up cursor_down page_up page_down scroll_top scroll_bottom")},
        is_inner=True,
    ),
    "tree": Place(
        "in a tree",
        {
            MOVING: (
                *_rows("cursor_up cursor_down page_up page_down scroll_home scroll_end"),
                Key("tree.fold", "left,h", "fold the language"),
                Key("tree.unfold", "right,l", "unfold the language"),
                Key("tree.toggle", "space", "fold or unfold", action="toggle_node"),
            ),
        },
        is_inner=True,
    ),
    # --- screens -----------------------------------------------------------------------------
    "locks": Place(
        "on the locks",
        {
            LOCKS: (
                Key("locks.open", "enter", "open", line=1, opens=True,
                    sentence="Show the remotes of the lock"),
                Key("locks.open_by_id", "o", "open by id", line=8, opens=True,
                    sentence="Show the remotes of any lock id, in the book or not"),
                Key("locks.add", "a", "add", line=2, opens=True,
                    sentence="Add a lock to the book by its id"),
                Key("locks.edit", "e", "edit", "Change what the book says", line=6, opens=True),
                Key("locks.remove", "x,delete", "remove", line=7, opens=True,
                    sentence="Take the lock out of the book; nothing changes at the service"),
            ),
            COPYING: (
                Key("locks.copies", "Y", "copy remotes", line=9, opens=True,
                    sentence="Add the remotes of the lock to other locks too; with marks, to the"
                             " marked ones"),
            ),
            MARKS: _marks(5, 11, 12, "voice, read, copy to"),
            VOICE: (
                Key("locks.voice", "v", "voice", line=3, opens=True,
                    sentence="The voice the lock speaks with, or all that are marked"),
            ),
            FINDING: (
                Key("locks.find", "slash", "find", "Type to find", line=4, opens=True),
                Key("locks.show_all", "escape", "show all",
                    sentence="Show all, or unmark all"),
                Key("locks.refresh", "r,f5", "refresh", line=10,
                    sentence="Read the book again; with marks, all remotes of the marked locks"),
            ),
        },
        holds=("table", "find"),
    ),
    "lock_form": Place(
        "in the form of a lock",
        {
            FORM: (
                Key("form.save", "ctrl+s", "save", line=1),
                Key("form.leave", "escape", "leave", "Leave without saving", line=2),
            ),
        },
        holds=("text",),
        is_typed_into=True,
    ),
    "file": Place(
        "in the form of a file",
        {
            FORM: (
                Key("form.save", "ctrl+s", "check", action="check", line=1,
                    sentence="Check the file, and show its plan or what is wrong with it"),
                Key("form.leave", "escape", "leave", line=2,
                    sentence="Stop checking; or leave, and keep the path for the next time"),
            ),
        },
        holds=("path", "text", "choice", "table"),
        is_typed_into=True,
    ),
    "copies": Place(
        "where remotes are copied to",
        {
            COPYING: (
                Key("copies.plan", "enter,ctrl+s", "plan", line=2, opens=True,
                    sentence="Show what would be added to the marked locks"),
                Key("copies.mark", "space", "mark", "Mark the lock, or not", line=1),
                Key("copies.mark_all", "asterisk", "mark all", "Mark all locks, or none", line=4),
                Key("copies.taken", "equals_sign", "taken names", line=3,
                    sentence="Leave out what has a name that is taken, or give it another"),
                Key("copies.file", "f", "export", line=6, opens=True,
                    sentence="Copy what an export tells, in place of the lock"),
                Key("copies.backup", "B", "backup", line=7, opens=True,
                    sentence="Copy what a delete or clear took away: chosen in the history"),
            ),
            MOVING: (Key("copies.back", "escape", "back", "Stop reading; or go back", line=5),),
        },
        holds=("table",),
    ),
    "remotes": Place(
        "on the remotes",
        {
            REMOTES: (
                Key("remotes.add", "a", "add", "Add a remote to this lock", line=1, opens=True),
                Key("remotes.detail", "enter", "detail", line=10, opens=True,
                    sentence="Show every field of the remote under the cursor"),
                Key("remotes.edit", "e", "edit", line=2, opens=True,
                    sentence="Change the remote under the cursor"),
                Key("remotes.renew", "w", "renew", line=8, opens=True,
                    sentence="Give the remote under the cursor, or all that are marked,"
                             " another end"),
                Key("remotes.user_number", "u", "user number", line=11, opens=True,
                    sentence="Set the user number of the remote under the cursor"),
                Key("remotes.delete", "d,delete", "delete", line=3, opens=True,
                    sentence="Delete the remote under the cursor, or all that are marked,"
                             " after asking"),
                Key("remotes.another", "plus", "like this", line=16, opens=True,
                    sentence="Add another remote like the one under the cursor: its name and"
                             " number are counted up"),
                Key("remotes.undo", "z", "undo", line=19, opens=True,
                    sentence="Undo the last change of this lock that was sent from here, as a"
                             " plan"),
                Key("remotes.clear", "C", "clear", line=15, opens=True,
                    sentence="Delete all remotes of this lock, after asking"),
            ),
            LOCKS: (
                Key("remotes.next_lock", "right_parenthesis", "next lock", opens=True,
                    sentence="Show the remotes of the next lock of the book, by name"),
                Key("remotes.previous_lock", "left_parenthesis", "previous lock", opens=True),
            ),
            MARKS: _marks(9, 17, 18, _MORE),
            VOICE: (
                Key("remotes.voice", "v", "voice", line=6, opens=True,
                    sentence="The voice the lock speaks with"),
            ),
            FINDING: (
                Key("remotes.find", "slash", "find", line=7, opens=True,
                    sentence="Type to find a remote; enter searches the whole lock"),
                Key("remotes.filter", "i", "filter", line=20, opens=True,
                    sentence="Show only what has ended, or what ends soon, and so on, of the"
                             " whole lock"),
                Key("remotes.next_page", "n,right,l", "next", "Show the next page", line=4),
                Key("remotes.previous_page", "p,left,h", "previous", line=5,
                    sentence="Show the previous page"),
                Key("remotes.first_page", "less_than_sign", "first page", "Show the first page"),
                Key("remotes.last_page", "greater_than_sign", "last page", "Show the last page"),
                Key("remotes.go_to_page", "colon", "go to page", opens=True,
                    sentence="Show the page with a certain number"),
                Key("remotes.page_size", "number_sign", "page size", opens=True,
                    sentence="Choose how many remotes a page has"),
                Key("remotes.table", "t", "table", line=14, opens=True,
                    sentence="Choose, order and sort the columns"),
                Key("remotes.refresh", "r,f5", "refresh", line=13,
                    sentence="Ask the service for this page again"),
            ),
            COPYING: (
                Key("remotes.copy", "y", "copy", line=12, opens=True,
                    sentence="Copy name, number or id of the remote under the cursor"),
                Key("remotes.copies", "Y", "copy remotes", opens=True,
                    sentence="Add the remotes of this lock, or those that are marked, to other"
                             " locks too"),
            ),
            MOVING: (
                Key("remotes.back", "escape", "back",
                    sentence="Stop searching, show all, unmark all, or go back to the locks"),
            ),
        },
        holds=("table", "find"),
    ),
    "remote": Place(
        "on a remote",
        {
            REMOTES: (
                Key("remote.edit", "e", "edit", "Change this remote", line=1, opens=True),
                Key("remote.renew", "w", "renew", "Give it another end", line=3, opens=True),
                Key("remote.user_number", "u", "user number", line=4, opens=True,
                    sentence="Set its user number"),
                Key("remote.delete", "d,delete", "delete", line=2, opens=True,
                    sentence="Delete this remote, after asking"),
            ),
            FINDING: (Key("remote.refresh", "r,f5", "refresh", "Read it again", line=6),),
            COPYING: (
                Key("remote.copy", "y", "copy", "Copy the value under the cursor, whole", line=5),
            ),
            MOVING: (
                Key("remote.back", "escape,backspace", "back", "Go back to the remotes", line=7),
            ),
        },
        holds=("table",),
    ),
    "remote_form": Place(
        "in the form of a remote",
        {
            FORM: (
                Key("form.save", "ctrl+s", "save", "Show what will be sent, and ask", line=1),
                Key("form.save_next", "ctrl+n", "save, next", line=4,
                    sentence="Save a new remote, and go on with the next one, counted up"),
                Key("form.check", "ctrl+r,f5", "check", line=5,
                    sentence="Read back whether the last save took effect"),
                Key("form.more", "ctrl+o", "more fields", action="toggle_more", line=3),
                Key("form.leave", "escape,q", "leave", "Leave without saving", line=2),
            ),
        },
        holds=("text", "plain_text", "options", "choice"),
        is_typed_into=True,
    ),
    "marked_form": Place(
        "in the form for marked remotes",
        {
            FORM: (
                Key("form.save", "ctrl+s", "plan", line=1,
                    sentence="Show the plan; nothing is sent before that is agreed to"),
                Key("form.leave", "escape", "leave", "Leave; the marks stay", line=2),
            ),
        },
        holds=("text", "options", "choice"),
        is_typed_into=True,
    ),
    "voice": Place(
        "on the voice",
        {
            VOICE: (
                Key("voice.set", "enter", "set voice", action="set_voice", line=1, opens=True,
                    sentence="Let the lock speak with the timbre under the cursor"),
                Key("voice.vendor_model", "e", "vendor, model", opens=True,
                    sentence="Say which vendor and model the lock is: that decides which"
                             " voices there are"),
            ),
            FINDING: (
                Key("voice.find", "slash", "find", "Type to find", line=2, opens=True),
                Key("voice.refresh", "r,f5", "refresh", "Read everything again", line=5),
            ),
            COPYING: (
                Key("voice.copy_url", "y", "copy URL", line=3,
                    sentence="Copy the URL of the pack under the cursor"),
                Key("voice.copy_md5", "ctrl+y", "copy MD5",
                    sentence="Copy the MD5 of the pack under the cursor"),
                Key("voice.fetch", "E", "fetch pack", action="fetch_pack", line=4, opens=True,
                    sentence="Fetch the pack under the cursor to this machine, or resume"
                             " fetching it"),
            ),
            MOVING: (Key("voice.back", "escape", "back", "Go back", line=6),),
        },
        holds=("tree", "find"),
    ),
    "history": Place(
        "in the history",
        {
            CHANGES: (
                Key("history.open", "enter", "open", "Everything about it", line=1, opens=True),
                Key("history.restore", "R", "restore", _RESTORE, line=3, opens=True),
                Key("history.undo", "z", "undo", line=2, opens=True,
                    sentence="Undo this change, or all that this run has changed, as a plan"),
            ),
            FINDING: (
                Key("history.find", "slash", "find", line=4, opens=True,
                    sentence="Type to find: a name, a result, a day such as 2026-11-20, today"),
                Key("history.outcomes", "i", "results", line=6,
                    sentence="Show all results, then only unsettled, failed, done"),
                Key("history.one_lock", "at", "lock", line=5,
                    sentence="Show only this lock's operations, or those of all locks again"),
                Key("history.next", "n", "older", "The next page"),
                Key("history.previous", "p", "newer"),
                Key("history.refresh", "r,f5", "refresh"),
            ),
            COPYING: (
                Key("history.export", "E", "export", line=7,
                    sentence="Write what is shown to a CSV and a JSON file"),
                Key("history.copies", "Y", "copy backup", opens=True,
                    sentence="Add what this delete or clear took away to other locks"),
            ),
            MOVING: (
                Key("history.back", "escape", "back", "Show all again; then go back", line=8),
            ),
        },
        holds=("table", "find"),
    ),
    "everywhere": Place(
        "on the search of all locks",
        {
            REMOTES: (
                *_ON_ALL_LOCKS,
            ),
            MARKS: _marks(3, 8, 9, _MORE, every=4),
            FINDING: (
                Key("everywhere.find", "slash", "find", "Type to find", line=2, opens=True),
                Key("everywhere.filter", "i", "filter", _FILTER, line=10, opens=True),
                Key("everywhere.read", "ctrl+r,r,f5", "read", "Read all locks now", line=5),
            ),
            MOVING: (
                Key("everywhere.back", "escape", "back", line=11, sentence=_SHOW_ALL),
            ),
        },
        holds=("table", "find"),
    ),
    "ends": Place(
        "on what ends",
        {
            REMOTES: (
                *_ON_ALL_LOCKS,
            ),
            MARKS: _marks(4, 8, 9, _MORE, every=5),
            FINDING: (
                Key("everywhere.find", "slash", "find", "Type to find", line=3, opens=True),
                Key("ends.next", "n,right,l", "span", line=2,
                    sentence="Show what has ended; what ends within 7 days; within 30; all"),
                Key("ends.previous", "p,left,h", "previous span"),
                Key("ends.timeline", "V", "timeline", line=13,
                    sentence="Show how many end on each of the days to come, by lock; or not"),
                Key("everywhere.filter", "i", "filter", _FILTER, line=11, opens=True),
                Key("everywhere.read", "ctrl+r,r,f5", "read", "Read all locks now", line=10),
            ),
            MOVING: (
                Key("everywhere.back", "escape", "back", line=12, sentence=_SHOW_ALL),
            ),
        },
        holds=("table", "find"),
    ),
    "operation": Place(
        "on an operation",
        {
            CHANGES: (Key("operation.restore", "R", "restore", _RESTORE, line=1, opens=True),),
            FINDING: (Key("operation.refresh", "r,f5", "refresh"),),
            COPYING: (
                Key("operation.copy", "y", "copy", line=2,
                    sentence="Copy the value under the cursor, whole"),
            ),
            MOVING: (
                Key("operation.back", "escape,backspace", "back", "Go back to the history", line=3),
            ),
        },
        holds=("table",),
    ),
    "plan": Place(
        "on a plan",
        {
            PLANS: (
                Key("plan.carry_out", "enter,ctrl+s", "do it", line=1, opens=True,
                    sentence="Carry the plan out, or go on with it, after asking"),
                Key("plan.stop", "s", "stop", line=2,
                    sentence="Begin no more steps of the run; those under way end"),
                Key("plan.retry", "N", "retry", line=4, opens=True,
                    sentence="Make a smaller plan of what was refused or not sent"),
                Key("plan.undo", "z", "undo step", line=6, opens=True,
                    sentence="Undo the step under the cursor alone, as a plan"),
                Key("plan.problems", "i", "problems", line=3,
                    sentence="Show only what has to be looked at, or all steps again"),
            ),
            MOVING: (
                Key("plan.back", "escape", "back", line=5,
                    sentence="Go back; a run that is under way goes on"),
            ),
        },
        holds=("table",),
    ),
    "messages": Place(
        "in the messages",
        {
            COPYING: (Key("messages.copy", "y", "copy", "Copy the whole message", line=1),),
            MOVING: (Key("messages.close", "escape,q,f2,M", "close", line=2),),
        },
        holds=("table",),
    ),
    "help": Place(
        "in the help",
        {
            MOVING: (
                *_rows(
                    "scroll_body('up') scroll_body('down') scroll_body('page_up')"
                    " scroll_body('page_down') scroll_body('home') scroll_body('end')",
                    ("up", "down", "page up", "page down", "top", "end"),
                    (0, 0, 4, 2, 0, 0),
                ),
                Key("help.page_up", "b", "page up", action="scroll_body('page_up')", line=5),
                Key("help.page_down", "space", "page down", line=3,
                    action="scroll_body('page_down')"),
                Key("help.close", "escape,question_mark,f1,q,backspace", "close", line=1),
            ),
        },
    ),
    "profiles": Place(
        "in the profiles",
        {
            PROFILES: (
                Key("profiles.open", "enter", "open", action="switch", line=1, opens=True,
                    sentence="Switch to the profile under the cursor; the one in use is"
                             " opened anew"),
                Key("profiles.add", "a", "add", "Add a profile", line=2, opens=True),
                Key("profiles.edit", "e", "edit", line=3, opens=True,
                    sentence="Change the profile; the one in use changes when it is opened again"),
                Key("profiles.default", "0", "default", action="make_default", line=4,
                    sentence="Start with this profile from now on"),
                Key("profiles.remove", "x,delete", "remove", line=5, opens=True,
                    sentence="Take the profile out of the configuration; nothing else changes"),
            ),
            FINDING: (Key("profiles.refresh", "r,f5", "refresh"),),
            MOVING: (Key("profiles.close", "escape,q", "close", line=6),),
        },
        holds=("table",),
    ),
    "profile_form": Place(
        "in the form of a profile",
        {
            FORM: (
                Key("form.save", "ctrl+s", "save", line=1,
                    sentence="Try the service, then write the profile into the configuration"),
                Key("form.test", "ctrl+t", "test", line=2,
                    sentence="Ask the service; nothing is changed or written"),
                Key("form.leave", "escape", "leave", "Leave without saving", line=3),
            ),
        },
        holds=("text", "choice"),
        is_typed_into=True,
    ),
    "welcome": Place(
        "on the first screen",
        {
            PROFILES: (
                Key("welcome.demo", "1", "demo", "Try it on a made-up site", line=1, opens=True),
                Key("welcome.connect", "2", "connect", line=2, opens=True,
                    sentence="Say where the service is, and try it"),
            ),
        },
        holds=("list",),
        everywhere=(*FIRST_RUN_IDS, *PRIORITY),
    ),
    # --- dialogs -----------------------------------------------------------------------------
    "columns": Place(
        "in the choice of columns",
        {
            DIALOGS: (
                Key("columns.show", "space", "show or hide", line=1),
                Key("columns.down", "J,shift+down", "move down", action="move(1)", line=2),
                Key("columns.up", "K,shift+up", "move up", action="move(-1)", line=3),
                Key("columns.sort", "Z", "sort", "Sort up, down, or not at all", line=4),
                Key("columns.usual", "0", "as usual", "The usual columns again", line=5),
                Key("columns.use", "ctrl+s", "use", "Show the table like this", line=6),
            ),
        },
        _DIALOG,
        holds=("list",),
        everywhere=PRIORITY,
    ),
    "dialog": _DIALOG,
    "confirm": _CONFIRM,
    "destroy": Place(
        "in a question that deletes",
        {
            DIALOGS: (
                Key("dialog.destroy", "D", "delete", "Do what the red button of a question says"),
            ),
        },
        _CONFIRM,
        holds=("plain_text",),
        everywhere=PRIORITY,
    ),
    # --- inside of forms and dialogs -----------------------------------------------------------
    "list": Place(
        "in a list",
        {
            DIALOGS: (Key("list.choose", "enter", "choose", action="select"),),
            MOVING: _rows("cursor_up cursor_down page_up page_down first last"),
        },
        is_inner=True,
    ),
    "text": Place(
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
    "path": Place(
        "in a path",
        {
            MOVING: (
                Key("field.previous", "up", "previous field", action="app.focus_previous"),
                Key("field.next", "down", "next field", action="app.focus_next"),
                Key("path.enter", "enter", "take the file"),
            ),
        },
        is_typed_into=True,
        is_inner=True,
    ),
    "plain_text": Place("in a field", {}, is_typed_into=True, is_inner=True),
    "options": _OPTIONS,
    "choice": Place(
        "in a line of options",
        {FORM: (Key("option.clear", "backspace,delete", "choose none"),)},
        _OPTIONS,
        is_inner=True,
    ),
    "find": Place(
        "in the line to find with",
        {
            FINDING: (
                Key("find.leave", "down", "to what was found",
                    sentence="Go to what was found, as enter does"),
                Key("find.close", "escape", "show all", line=1),
            ),
        },
        is_typed_into=True,
        is_inner=True,
    ),
    "app": _APP,
}

# fmt: on


@cache
def known() -> Mapping[str, tuple[str, ...]]:
    """Id -> its keys where it is found first, unless chosen."""
    keys: dict[str, tuple[str, ...]] = {}
    for place in PLACES.values():
        for name, own in place.keys.items():
            keys.setdefault(name, tuple(own.split(",")))
    return keys


@cache
def in_help() -> Mapping[str, tuple[str, int]]:
    """Id -> its heading, and where it stands below it."""
    below: dict[str, list[str]] = {task: [] for task in TASKS}
    for place in PLACES.values():
        for task, keys in place.tasks.items():
            names = below[task]
            at = len(names)
            for key in reversed(keys):  # new ones before the next that another place has too
                if key.id in names:
                    at = names.index(key.id)
                else:
                    names.insert(at, key.id)
    return {name: (task, at) for task, names in below.items() for at, name in enumerate(names)}


@cache
def that_open() -> frozenset[str]:
    """The ids of the keys that open something."""
    return frozenset(key.id for place in PLACES.values() for key in place.own if key.opens)


def is_by_hand(name: str) -> bool:
    """Whether an id moves a cursor or a focus, as no command does: only its key is of use."""
    begin = name.partition(".")[0]
    return begin in ("row", "tree", "list", "field", "option", "dialog", "help")


def stacks() -> Iterator[tuple[Place, ...]]:
    """The places that are active at the same time, nearest to the person first."""
    for place in PLACES.values():
        if place.is_inner or place is _APP:
            continue
        everywhere = Place(
            _APP.words,
            {
                task: tuple(
                    key for key in keys if place.everywhere is None or key.id in place.everywhere
                )
                for task, keys in _APP.tasks.items()
            },
        )
        for inner in (None, *place.holds):
            yield (*((PLACES[inner],) if inner else ()), place, everywhere)
