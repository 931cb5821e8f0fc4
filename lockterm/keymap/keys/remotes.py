"""The keys of the screens and forms for the remotes of a lock."""

from __future__ import annotations

from collections.abc import Mapping

from lockterm.keymap.keys.shared import (
    COPYING,
    FINDING,
    FORM,
    LOCKS,
    MARKS,
    MOVING,
    REMOTES,
    VOICE,
    marks,
)
from lockterm.keymap.place import Key, KeyContext

# fmt: off

MORE = "type, weekdays, coerced, extra data, copy, export"
"""A list for a sentence in the help: the actions on marked remotes that have no key of their
own."""

REMOTE_SCREENS: Mapping[str, KeyContext] = {
    "remotes": KeyContext(
        "on the remotes",
        {
            REMOTES: (
                Key("remotes.add", "a", "add", "Add a remote to this lock", line=1, opens=True),
                Key("remotes.detail", "enter", "detail", line=10, opens=True,
                    sentence="Show every field of the selected remote"),
                Key("remotes.edit", "e", "edit", "Edit the selected remote", line=2, opens=True),
                Key("remotes.renew", "w", "renew", line=8, opens=True,
                    sentence="Set a new end date for the selected or the marked remotes"),
                Key("remotes.replace", "equals_sign", "replace fob", opens=True,
                    sentence="Show a plan to replace the fob of the selected remote"),
                Key("remotes.user_number", "u", "user number", line=11, opens=True,
                    sentence="Set the user number of the selected remote"),
                Key("remotes.delete", "d,delete", "delete", line=3, opens=True,
                    sentence="Delete the selected or the marked remotes, after a confirmation"),
                Key("remotes.another", "plus", "duplicate", line=16, opens=True,
                    sentence="Add a remote like the selected one, with the next name and number"),
                Key("remotes.undo", "z", "undo", line=19, opens=True,
                    sentence="Show a plan to undo the last change that you sent to this lock"),
                Key("remotes.clear", "C", "clear", line=15, opens=True,
                    sentence="Delete all remotes of this lock, after a confirmation"),
            ),
            LOCKS: (
                Key("remotes.next_lock", "right_parenthesis", "next lock", opens=True,
                    sentence="Show the remotes of the alphabetically next lock"),
                Key("remotes.previous_lock", "left_parenthesis", "previous lock", opens=True,
                    sentence="Show the remotes of the alphabetically previous lock"),
            ),
            MARKS: marks(9, 17, 18, MORE),
            VOICE: (
                Key("remotes.voice", "v", "voice", line=6, opens=True,
                    sentence="Set the voice of the lock"),
            ),
            FINDING: (
                Key("remotes.find", "slash", "find", line=7, opens=True,
                    sentence="Search this page for a remote; Enter searches the whole lock"),
                Key("remotes.filter", "i", "filter", line=20, opens=True,
                    sentence="Show only remotes in one state, from all pages of the lock"),
                Key("remotes.next_page", "n,right,l", "next", "Show the next page", line=4),
                Key("remotes.previous_page", "p,left,h", "previous", line=5,
                    sentence="Show the previous page"),
                Key("remotes.first_page", "less_than_sign", "first page", "Show the first page"),
                Key("remotes.last_page", "greater_than_sign", "last page", "Show the last page"),
                Key("remotes.go_to_page", "colon", "go to page", opens=True,
                    sentence="Show a page by its number"),
                Key("remotes.page_size", "number_sign", "page size",
                    "Choose the number of remotes per page", opens=True),
                Key("remotes.table", "t", "table", line=14, opens=True,
                    sentence="Choose the columns, their order and the sort order"),
                Key("remotes.refresh", "r,f5", "refresh", "Read this page again", line=13),
            ),
            COPYING: (
                Key("remotes.copy", "y", "copy", line=12, opens=True,
                    sentence="Copy the name, number or ID of the selected remote"),
                Key("remotes.copies", "Y", "copy remotes", opens=True,
                    sentence="Copy the remotes of this lock, or the marked ones, to other locks"),
            ),
            MOVING: (
                Key("remotes.back", "escape", "back",
                    sentence="Stop the search, or else show all remotes, or else unmark all rows,"
                             " or else go back"),
            ),
        },
        holds=("table", "find"),
    ),
    "remote": KeyContext(
        "on a remote",
        {
            REMOTES: (
                Key("remote.edit", "e", "edit", "Edit this remote", line=1, opens=True),
                Key("remote.renew", "w", "renew", "Set a new end date", line=3, opens=True),
                Key("remote.replace", "equals_sign", "replace fob", line=8, opens=True,
                    sentence="Show a plan to replace the fob of this remote"),
                Key("remote.user_number", "u", "user number", line=4, opens=True,
                    sentence="Set the user number of the remote"),
                Key("remote.delete", "d,delete", "delete", line=2, opens=True,
                    sentence="Delete this remote, after a confirmation"),
            ),
            FINDING: (Key("remote.refresh", "r,f5", "refresh", "Read the remote again", line=6),),
            COPYING: (
                Key("remote.copy", "y", "copy", "Copy the whole selected value", line=5),
            ),
            MOVING: (
                Key("remote.back", "escape,backspace", "back", "Go back to the remotes", line=7),
            ),
        },
        holds=("table",),
    ),
    "remote_form": KeyContext(
        "in the form of a remote",
        {
            FORM: (
                Key("form.save", "ctrl+s", "save", "Review the remote, then save it", line=1),
                Key("form.save_next", "ctrl+n", "save, next", line=4,
                    sentence="Save the new remote, then add another one"),
                Key("form.check", "ctrl+r,f5", "check", line=5,
                    sentence="Check whether the service recorded the last save"),
                Key("form.more", "ctrl+o", "more fields", action="toggle_more", line=3),
                Key("form.leave", "escape,q", "leave", "Leave without saving", line=2),
            ),
        },
        holds=("date", "text", "plain_text", "options", "choice"),
        is_typed_into=True,
    ),
    "marked_form": KeyContext(
        "in the form for marked remotes",
        {
            FORM: (
                Key("form.save", "ctrl+s", "plan", line=1,
                    sentence="Show the plan; nothing is sent before you confirm it"),
                Key("form.leave", "escape", "leave", "Leave and keep the marks", line=2),
            ),
        },
        holds=("date", "text", "options", "choice"),
        is_typed_into=True,
    ),
}
