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
    marks,
    rows,
)
from lockterm.keymap.place import Key, Place

# fmt: off

_MORE = "type, weekdays, coerced, extra data, copy, export"
_FILTER = "Show only what has ended, or what ends soon, and so on, of what is found"
_SHOW_ALL = "Show all again; unmark all; then go back"
_RESTORE = "Add again what this delete or clear took away; says first what is lost"

_ON_ALL_LOCKS = (
    Key("everywhere.open", "enter", "open", line=1, opens=True,
        sentence="Show every field of what is under the cursor; of a lock that could not be read,"
                 " its remotes"),
    Key("everywhere.renew", "w", "renew", line=6, opens=True,
        sentence="Give this remote, or all that are marked, another end"),
    Key("everywhere.delete", "d,delete", "delete", line=7, opens=True,
        sentence="Delete this remote, or all that are marked, after asking"),
)

SCREENS: Mapping[str, Place] = {
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
            MARKS: marks(5, 11, 12, "voice, read, copy to"),
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
                Key("copies.mark_all", "asterisk", "mark all", "Mark all locks, or none", line=5),
                Key("copies.taken", "equals_sign", "taken names", line=3,
                    sentence="Leave out what has a name that is taken, or give it another"),
                Key("copies.expired", "minus", "expired", "Skip expired remotes, or not", line=4),
                Key("copies.times", "full_stop", "times", "Keep moment or time of day", line=9),
                Key("copies.file", "f", "export", "Copy an export instead", line=7, opens=True),
                Key("copies.backup", "B", "backup", line=8, opens=True,
                    sentence="Copy what a delete or clear took away: chosen in the history"),
            ),
            MOVING: (Key("copies.back", "escape", "back", "Stop reading; or go back", line=6),),
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
                    sentence="Undo the last change sent from here to this lock, as a plan"),
                Key("remotes.clear", "C", "clear", line=15, opens=True,
                    sentence="Delete all remotes of this lock, after asking"),
            ),
            LOCKS: (
                Key("remotes.next_lock", "right_parenthesis", "next lock", opens=True,
                    sentence="Show the remotes of the next lock of the book, by name"),
                Key("remotes.previous_lock", "left_parenthesis", "previous lock", opens=True),
            ),
            MARKS: marks(9, 17, 18, _MORE),
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
                Key("remotes.page_size", "number_sign", "page size",
                    "Choose how many remotes a page has", opens=True),
                Key("remotes.table", "t", "table", "Choose, order and sort the columns", line=14,
                    opens=True),
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
            MARKS: marks(3, 8, 9, _MORE, every=4),
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
            MARKS: marks(4, 8, 9, _MORE, every=5),
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
                Key("plan.carry_out", "enter,ctrl+s", "run", line=1, opens=True,
                    sentence="Run or resume the plan, after a confirmation"),
                Key("plan.stop", "s", "stop", line=2,
                    sentence="Stop after the steps that are being sent"),
                Key("plan.retry", "N", "retry", line=4, opens=True,
                    sentence="Make a new plan of the refused and unsent steps"),
                Key("plan.undo", "z", "undo step", line=6, opens=True,
                    sentence="Undo only the selected step, as a plan"),
                Key("plan.problems", "i", "problems", line=3,
                    sentence="Show problems only, or all steps"),
            ),
            MOVING: (
                Key("plan.back", "escape", "back", line=5,
                    sentence="Go back; the run continues"),
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
                *rows(
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
}

# fmt: on
