"""The keys of each screen."""

from __future__ import annotations

from collections.abc import Mapping

from lockterm.keymap.keys.shared import (
    CHANGES,
    COPYING,
    FINDING,
    FIRST_RUN_IDS,
    FORM,
    LOCKS,
    MARKS,
    MOVING,
    PLANS,
    PRIORITY,
    PROFILES,
    REMOTES,
    VOICE,
    Key,
    KeyContext,
    between,
    marks,
    rows,
)

# fmt: off

_MORE = "type, weekdays, coerced, extra data, copy, export"
"""A list for a sentence in the help: the actions on marked remotes that have no key of their
own."""

_FILTER = "Show only remotes in one state, such as expired"
_SHOW_ALL = "Show all remotes, or else unmark all rows, or else go back"
_RESTORE = "Add the deleted remotes again, after a confirmation"

_ON_ALL_LOCKS = (
    Key("everywhere.open", "enter", "open", line=1, opens=True,
        sentence="Show every field of the selected remote; on the row of an unread lock, open the"
                 " lock"),
    Key("everywhere.renew", "w", "renew", line=6, opens=True,
        sentence="Set a new end date for the selected or the marked remotes"),
    Key("everywhere.delete", "d,delete", "delete", line=7, opens=True,
        sentence="Delete the selected or the marked remotes, after a confirmation"),
    Key("everywhere.replace", "equals_sign", "replace fob", line=8, opens=True,
        sentence="Show a plan to replace the fob of the selected or the marked remotes"),
)

SCREENS: Mapping[str, KeyContext] = {
    "locks": KeyContext(
        "on the locks",
        {
            LOCKS: (
                Key("locks.open", "enter", "open", line=1, opens=True,
                    sentence="Show the remotes of the selected lock"),
                Key("locks.open_by_id", "o", "open by ID", line=8, opens=True,
                    sentence="Show the remotes of any lock by its ID"),
                Key("locks.add", "a", "add", line=2, opens=True,
                    sentence="Add a lock to the lock book by its ID"),
                Key("locks.edit", "e", "edit", line=6, opens=True,
                    sentence="Edit the lock book entry of the selected lock"),
                Key("locks.remove", "x,delete", "remove", line=7, opens=True,
                    sentence="Remove the selected lock from the lock book, not from the service"),
            ),
            COPYING: (
                Key("locks.copies", "Y", "copy remotes", line=9, opens=True,
                    sentence="Copy the remotes of the selected lock to the marked locks; if none is"
                             " marked, choose locks"),
            ),
            MARKS: marks(5, 11, 12, "set voices, read or copy remotes"),
            VOICE: (
                Key("locks.voice", "v", "voice", line=4, opens=True,
                    sentence="Set the voice of the selected or the marked locks"),
            ),
            FINDING: (
                Key("locks.find", "slash", "find", "Filter rows by text", line=3, opens=True),
                Key("locks.show_all", "escape", "show all",
                    sentence="Show all locks; if all are shown, unmark all locks"),
                Key("locks.refresh", "r,f5", "refresh", line=10,
                    sentence="Refresh the lock book; if locks are marked, read their remotes"),
            ),
        },
        holds=("table", "find"),
    ),
    "lock_form": KeyContext(
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
    "file": KeyContext(
        "in the form of a file",
        {
            FORM: (
                Key("form.save", "ctrl+s", "check", action="check", line=1,
                    sentence="Check the file, and show its plan or its problems"),
                Key("form.more", "ctrl+o", "columns", action="columns", line=2, opens=True,
                    sentence="Choose what the columns of another system's table mean"),
                Key("form.leave", "escape", "leave", line=3,
                    sentence="Stop the check, or else leave; lockterm keeps the path for the next"
                             " time"),
            ),
        },
        holds=("path", "text", "choice", "table"),
        is_typed_into=True,
    ),
    "table_map": KeyContext(
        "on the columns of a table",
        {
            FORM: (
                Key("map.choose", "enter", "choose", line=1, opens=True,
                    sentence="Choose the meaning of the selected column, or the value of the"
                             " selected setting"),
                Key("map.remove", "x,delete", "ignore", action="ignore", line=2,
                    sentence="Ignore or use the selected column, or clear the value of the selected"
                             " setting"),
                Key("map.all", "asterisk", "ignore rest", action="ignore_rest", line=5,
                    sentence="Ignore all columns without a meaning"),
                Key("map.plan", "ctrl+s", "plan", line=3, opens=True,
                    sentence="Save the meanings of the columns, and show the plan"),
            ),
            COPYING: (
                Key("map.export", "E", "export", line=6,
                    sentence="Write a mapping file for the command line, beside the table"),
            ),
            MOVING: (
                Key("map.back", "escape", "back", "Go back without saving", line=4),
            ),
        },
        holds=("table",),
    ),
    "copies": KeyContext(
        "on the copy screen",
        {
            COPYING: (
                Key("copies.plan", "enter,ctrl+s", "plan", line=2, opens=True,
                    sentence="Show the plan for the marked locks"),
                Key("copies.mark", "space", "mark", "Mark or unmark the selected lock", line=1),
                Key("copies.mark_all", "asterisk", "mark all", "Mark or unmark all locks", line=5),
                Key("copies.taken", "equals_sign", "taken names", line=3,
                    sentence="Skip remotes whose name is taken, or rename them"),
                Key("copies.expired", "minus", "expired", "Skip or copy expired remotes", line=4),
                Key("copies.times", "full_stop", "times", line=9,
                    sentence="Copy dates as the same moment, or as the same local time"),
                Key("copies.file", "f", "export", line=7, opens=True,
                    sentence="Copy an export file instead of a lock"),
                Key("copies.backup", "B", "backup", line=8, opens=True,
                    sentence="Copy a backup of deleted remotes instead of a lock"),
            ),
            MOVING: (
                Key("copies.back", "escape", "back", "Stop reading, or else go back", line=6),
            ),
        },
        holds=("table",),
    ),
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
            MARKS: marks(9, 17, 18, _MORE),
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
    "voice": KeyContext(
        "on the voice",
        {
            VOICE: (
                Key("voice.set", "enter", "set voice", action="set_voice", line=1, opens=True,
                    sentence="Set the lock's voice to the selected timbre"),
                Key("voice.vendor_model", "e", "vendor, model", opens=True,
                    sentence="Set the vendor and model of the lock, which determine its voices"),
            ),
            FINDING: (
                Key("voice.find", "slash", "find", "Filter rows by text", line=2, opens=True),
                Key("voice.refresh", "r,f5", "refresh", "Read voices and packs again", line=5),
            ),
            COPYING: (
                Key("voice.copy_url", "y", "copy URL", line=3,
                    sentence="Copy the URL of the selected pack"),
                Key("voice.copy_md5", "ctrl+y", "copy MD5",
                    sentence="Copy the MD5 of the selected pack"),
                Key("voice.fetch", "E", "fetch pack", action="fetch_pack", line=4, opens=True,
                    sentence="Download the selected pack, or resume the download"),
            ),
            MOVING: (Key("voice.back", "escape", "back", "Go back", line=6),),
        },
        holds=("tree", "find"),
    ),
    "history": KeyContext(
        "in the history",
        {
            CHANGES: (
                Key("history.open", "enter", "open", line=1, opens=True,
                    sentence="Show all details of the selected change or run"),
                Key("history.restore", "R", "restore", _RESTORE, line=3, opens=True),
                Key("history.undo", "z", "undo", line=2, opens=True,
                    sentence="Show a plan to undo the selected change or run"),
            ),
            FINDING: (
                Key("history.find", "slash", "find", line=4, opens=True,
                    sentence="Search for a name, a result, or a day such as 2026-11-20 or today"),
                Key("history.outcomes", "i", "results", line=6,
                    sentence="Switch between all, unconfirmed, failed and done changes"),
                Key("history.one_lock", "at", "lock", line=5,
                    sentence="Switch between changes of all locks and of the selected lock"),
                Key("history.next", "n", "older", "Show older changes"),
                Key("history.previous", "p", "newer", "Show newer changes"),
                Key("history.refresh", "r,f5", "refresh", "Read the history again"),
            ),
            COPYING: (
                Key("history.export", "E", "export", line=7,
                    sentence="Export the list to a CSV and a JSON file"),
                Key("history.copies", "Y", "copy backup", opens=True,
                    sentence="Copy the selected change's deleted remotes to other locks"),
            ),
            MOVING: (
                Key("history.back", "escape", "back", line=8,
                    sentence="Show all changes; if all are shown, go back"),
            ),
        },
        holds=("table", "find"),
    ),
    "everywhere": KeyContext(
        "on All locks",
        {
            REMOTES: (
                *_ON_ALL_LOCKS,
            ),
            MARKS: marks(3, 9, 10, _MORE, every=13),
            FINDING: (
                Key("everywhere.find", "slash", "find", "Filter rows by text", line=2, opens=True),
                Key("everywhere.open_by_person", "o", "people", line=12, opens=True,
                    sentence="Show who can open which locks, with one row for each person"),
                Key("everywhere.filter", "i", "filter", _FILTER, line=11, opens=True),
                Key("everywhere.read", "ctrl+r,r,f5", "read", "Read all locks now", line=5),
            ),
            MOVING: (
                Key("everywhere.back", "escape", "back", line=4, sentence=_SHOW_ALL),
            ),
        },
        holds=("table", "find"),
    ),
    "people": KeyContext(
        "on People",
        {
            REMOTES: (
                Key("people.open", "enter", "open", line=1, opens=True,
                    sentence="Show the remotes of the selected person on all locks"),
            ),
            FINDING: (
                Key("everywhere.find", "slash", "find", "Filter rows by text", line=2, opens=True),
                Key("everywhere.read", "ctrl+r,r,f5", "read", "Read all locks now", line=5),
            ),
            COPYING: (
                Key("people.export", "E", "export", line=3,
                    sentence="Export these people to a CSV file and an HTML page"),
            ),
            MOVING: (
                Key("people.back", "escape", "back", line=4,
                    sentence="Show all people; if all are shown, go back"),
            ),
        },
        holds=("table", "find"),
    ),
    "ends": KeyContext(
        "on Expiring",
        {
            REMOTES: (
                *_ON_ALL_LOCKS,
                Key("ends.clean", "x", "clean", line=15, opens=True,
                    sentence="Show a plan to delete long-expired remotes on all locks"),
            ),
            MARKS: marks(4, 9, 10, _MORE, every=13),
            FINDING: (
                Key("everywhere.find", "slash", "find", "Filter rows by text", line=3, opens=True),
                Key("ends.next", "n,right,l", "span", line=2,
                    sentence="Show the next span: expired, within 7 days, within 30 days, or all"),
                Key("ends.previous", "p,left,h", "previous span", "Show the previous span"),
                Key("ends.timeline", "V", "timeline", line=14,
                    sentence="Show or hide the number of remotes that expire on each day"),
                Key("everywhere.filter", "i", "filter", _FILTER, line=12, opens=True),
                Key("everywhere.read", "ctrl+r,r,f5", "read", "Read all locks now", line=11),
            ),
            MOVING: (
                Key("everywhere.back", "escape", "back", line=5, sentence=_SHOW_ALL),
            ),
        },
        holds=("table", "find"),
    ),
    "elsewhere": KeyContext(
        "on Changed elsewhere",
        {
            REMOTES: (
                Key("elsewhere.open", "enter", "open", line=1, opens=True,
                    sentence="Show every field of the remote; if it is gone, open its lock"),
            ),
            FINDING: (
                Key("elsewhere.find", "slash", "find", "Filter rows by text", line=2, opens=True),
                Key("elsewhere.read", "ctrl+r,r,f5", "read", "Read all locks now", line=3),
            ),
            MOVING: (
                Key("elsewhere.back", "escape", "back", line=4,
                    sentence="Clear the search, or else mark the changes as seen and go back"),
            ),
        },
        holds=("table", "find"),
    ),
    "operation": KeyContext(
        "on a change",
        {
            CHANGES: (Key("operation.restore", "R", "restore", _RESTORE, line=1, opens=True),),
            FINDING: (Key("operation.refresh", "r,f5", "refresh", "Read the change again"),),
            COPYING: (
                Key("operation.copy", "y", "copy", line=2,
                    sentence="Copy the whole selected value"),
            ),
            MOVING: (
                Key("operation.back", "escape,backspace", "back", "Go back to the history", line=3),
            ),
        },
        holds=("table",),
    ),
    "plan": KeyContext(
        "on a plan",
        {
            PLANS: (
                Key("plan.carry_out", "enter,ctrl+s", "run", line=1, opens=True,
                    sentence="Run or resume the plan, after a confirmation"),
                Key("plan.stop", "s", "stop", line=2,
                    sentence="Stop the run after the steps that are being sent"),
                Key("plan.retry", "N", "retry", line=4, opens=True,
                    sentence="Show a new plan with the steps that were refused or not sent"),
                Key("plan.undo", "z", "undo step", line=6, opens=True,
                    sentence="Show a plan to undo only the selected step"),
                Key("plan.problems", "i", "problems", line=3,
                    sentence="Switch between all steps and the steps with problems"),
            ),
            MOVING: (
                Key("plan.back", "escape", "back", line=5,
                    sentence="Go back; the run continues"),
            ),
        },
        holds=("table",),
    ),
    "messages": KeyContext(
        "in the messages",
        {
            COPYING: (Key("messages.copy", "y", "copy", "Copy the whole message", line=1),),
            MOVING: (Key("messages.close", "escape,q,f2,M", "close", line=2),),
        },
        holds=("table",),
    ),
    "help": KeyContext(
        "in the help",
        {
            FINDING: (Key("help.find", "slash", "find", "Search the help", line=2, opens=True),),
            MOVING: (
                *rows(
                    "scroll_body('up') scroll_body('down') scroll_body('page_up')"
                    " scroll_body('page_down') scroll_body('home') scroll_body('end')",
                    ("line up", "line down", "page up", "page down", "first line", "last line"),
                    (0, 0, 5, 3, 0, 0),
                ),
                Key("help.page_up", "b", "page up", action="scroll_body('page_up')", line=6),
                Key("help.page_down", "space", "page down", line=4,
                    action="scroll_body('page_down')"),
                Key("help.close", "escape,question_mark,f1,q,backspace", "close", line=1,
                    sentence="End the search, or else close the help"),
            ),
        },
        holds=("find",),
    ),
    "profiles": KeyContext(
        "in the profiles",
        {
            PROFILES: (
                Key("profiles.open", "enter", "open", action="switch", line=1, opens=True,
                    sentence="Switch to the selected profile; if it is in use, reopen it"),
                Key("profiles.add", "a", "add", "Add a profile", line=2, opens=True),
                Key("profiles.edit", "e", "edit", line=3, opens=True,
                    sentence="Edit the selected profile; changes apply when you reopen it"),
                Key("profiles.default", "0", "default", action="make_default", line=4,
                    sentence="Make the selected profile the default"),
                Key("profiles.remove", "x,delete", "remove", line=5, opens=True,
                    sentence="Remove the selected profile from the configuration"),
            ),
            FINDING: (Key("profiles.refresh", "r,f5", "refresh", "Read the profiles again"),),
            MOVING: (Key("profiles.close", "escape,q", "close", line=6),),
        },
        holds=("table",),
    ),
    "profile_form": KeyContext(
        "in the form of a profile",
        {
            FORM: (
                Key("form.save", "ctrl+s", "save", line=1,
                    sentence="Test the service, then save the profile"),
                Key("form.test", "ctrl+t", "test", line=2,
                    sentence="Test the service without saving the profile"),
                Key("form.leave", "escape", "leave", "Leave without saving", line=3),
            ),
        },
        holds=("text", "choice"),
        is_typed_into=True,
    ),
    "welcome": KeyContext(
        "on the first screen",
        {
            PROFILES: (
                Key("welcome.demo", "1", "demo", line=1, opens=True,
                    sentence="Try lockterm with a made-up site"),
                Key("welcome.connect", "2", "connect", line=2, opens=True,
                    sentence="Enter the address of your service"),
                Key("welcome.choose", "enter", "choose", "Choose the selected card", opens=True),
            ),
            MOVING: between("card"),
        },
        everywhere=(*FIRST_RUN_IDS, *PRIORITY),
    ),
}

# fmt: on
