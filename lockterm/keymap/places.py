"""Every key that can be chosen: the places where it works, and its keys unless chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A screen, a dialog, or something in them that can have the focus."""

    words: str
    """Where that is: ``on the remotes``."""
    keys: Mapping[str, str]
    """Id -> its keys here unless chosen, with commas between; Textual's names."""
    holds: tuple[str, ...] = ()
    """What of the inner places it has; a screen and one of them are active at the same time."""
    is_typed_into: bool = False
    """Whether its keys have to work while text is typed."""
    is_inner: bool = False
    """Whether it is something inside of screens."""
    everywhere: tuple[str, ...] | None = None
    """Those of the keys of everywhere that work in it; None: all of them."""


FIRST = ("app.quiet", "app.mouse", "app.theme", "app.redraw", "app.quit")
"""Those of everywhere that are there while no service is known, beside those of ``THROUGH``."""

THROUGH = ("app.quit_always", "app.palette")
"""They work before anything else does, in every dialog and every field."""

_CANCEL = {"dialog.cancel": "escape"}
_BUTTONS = {"dialog.previous": "left,h,up,k", "dialog.next": "right,l,down,j"}
_ROWS = {
    "row.up": "up,k",
    "row.down": "down,j",
    "row.page_up": "pageup",
    "row.page_down": "pagedown",
    "row.first": "home,g",
    "row.last": "end,G",
}

EVERYWHERE = Place(
    "everywhere",
    {
        "app.help": "question_mark",
        "app.messages": "f2,M",
        "app.history": "H",
        "outcome.check": "c",
        "outcome.send_again": "A",
        "outcome.give_up": "X",
        "app.profiles": "P",
        "app.quiet": "f3,Q",
        "app.mouse": "f4,O",
        "app.theme": "T",
        "app.redraw": "ctrl+l",
        "app.palette": "ctrl+p",
        "app.quit": "q",
        "app.quit_always": "ctrl+q",
    },
)

PLACES: Mapping[str, Place] = {
    "app": EVERYWHERE,
    # --- inside of screens -------------------------------------------------------------------
    "table": Place("in a table", _ROWS, is_inner=True),
    "tree": Place(
        "in a tree",
        {**_ROWS, "tree.fold": "left,h", "tree.unfold": "right,l", "tree.toggle": "space"},
        is_inner=True,
    ),
    "list": Place("in a list", {**_ROWS, "list.choose": "enter"}, is_inner=True),
    "text": Place(
        "in a field",
        {"field.previous": "up", "field.next": "down,enter"},
        is_typed_into=True,
        is_inner=True,
    ),
    "plain_text": Place("in a field", {}, is_typed_into=True, is_inner=True),
    "options": Place(
        "in a line of options",
        {
            "option.previous": "left,h",
            "option.next": "right,l",
            "field.previous": "up,k",
            "field.next": "down,j,enter",
            "option.choose": "space",
        },
        is_inner=True,
    ),
    "choice": Place(
        "in a line of options",
        {
            "option.previous": "left,h",
            "option.next": "right,l",
            "field.previous": "up,k",
            "field.next": "down,j,enter",
            "option.choose": "space",
            "option.clear": "backspace,delete",
        },
        is_inner=True,
    ),
    "find": Place(
        "in the line to find with",
        {"find.leave": "down", "find.close": "escape"},
        is_typed_into=True,
        is_inner=True,
    ),
    # --- screens -----------------------------------------------------------------------------
    "locks": Place(
        "on the locks",
        {
            "locks.open": "enter",
            "locks.add": "a",
            "locks.edit": "e",
            "locks.remove": "x,delete",
            "locks.voice": "v",
            "locks.find": "slash",
            "locks.open_by_id": "o",
            "locks.refresh": "r",
            "locks.show_all": "escape",
        },
        ("table", "find"),
    ),
    "lock_form": Place(
        "in the form of a lock",
        {"form.save": "ctrl+s", "form.leave": "escape"},
        ("text",),
        is_typed_into=True,
    ),
    "remotes": Place(
        "on the remotes",
        {
            "remotes.add": "a",
            "remotes.edit": "e",
            "remotes.delete": "d,delete",
            "remotes.next_page": "n,right,l",
            "remotes.previous_page": "p,left,h",
            "remotes.voice": "v",
            "remotes.find": "slash",
            "remotes.renew": "w",
            "remotes.detail": "enter",
            "remotes.user_number": "u",
            "remotes.copy": "y",
            "remotes.refresh": "r",
            "remotes.first_page": "less_than_sign",
            "remotes.last_page": "greater_than_sign",
            "remotes.go_to_page": "colon",
            "remotes.page_size": "s",
            "remotes.table": "t",
            "remotes.clear": "C",
            "remotes.back": "escape",
        },
        ("table", "find"),
    ),
    "remote": Place(
        "on a remote",
        {
            "remote.edit": "e",
            "remote.delete": "d,delete",
            "remote.renew": "w",
            "remote.user_number": "u",
            "remote.copy": "y",
            "remote.refresh": "r",
            "remote.back": "escape,backspace",
        },
        ("table",),
    ),
    "remote_form": Place(
        "in the form of a remote",
        {
            "form.save": "ctrl+s",
            "form.leave": "escape,q",
            "form.more": "ctrl+o",
            "form.check": "ctrl+r",
        },
        ("text", "plain_text", "options", "choice"),
        is_typed_into=True,
    ),
    "voice": Place(
        "on the voice",
        {
            "voice.set": "enter,s",
            "voice.find": "slash",
            "voice.copy_url": "y",
            "voice.copy_md5": "m",
            "voice.fetch": "D",
            "voice.vendor_model": "e",
            "voice.refresh": "r",
            "voice.back": "escape",
        },
        ("tree", "find"),
    ),
    "history": Place(
        "in the history",
        {
            "history.open": "enter",
            "history.restore": "R",
            "history.find": "slash",
            "history.outcomes": "o",
            "history.one_lock": "l",
            "history.export": "E",
            "history.next": "n",
            "history.previous": "p",
            "history.refresh": "r",
            "history.back": "escape",
        },
        ("table", "find"),
    ),
    "operation": Place(
        "on an operation",
        {
            "operation.restore": "R",
            "operation.copy": "y",
            "operation.refresh": "r",
            "operation.back": "escape,backspace",
        },
        ("table",),
    ),
    "restore": Place(
        "while restoring",
        {
            **{"dialog.previous": "left,h", "dialog.next": "right,l"},
            **_ROWS,
            "restore.leave": "escape",
        },
    ),
    "messages": Place(
        "in the messages",
        {"messages.copy": "y", "messages.close": "escape,q,f2,M"},
        ("table",),
    ),
    "help": Place(
        "in the help",
        {
            **_ROWS,
            "help.page_down": "space",
            "help.page_up": "b",
            "help.close": "escape,question_mark,q,backspace",
        },
    ),
    "profiles": Place(
        "in the profiles",
        {
            "profiles.open": "enter",
            "profiles.add": "a",
            "profiles.edit": "e",
            "profiles.default": "D",
            "profiles.remove": "x,delete",
            "profiles.refresh": "r",
            "profiles.close": "escape,q",
        },
        ("table",),
    ),
    "profile_form": Place(
        "in the form of a profile",
        {"form.save": "ctrl+s", "form.test": "ctrl+t", "form.leave": "escape"},
        ("text", "choice"),
        is_typed_into=True,
    ),
    "welcome": Place(
        "on the first screen",
        {"welcome.demo": "d", "welcome.connect": "c"},
        ("list",),
        everywhere=(*FIRST, *THROUGH),
    ),
    # --- dialogs -----------------------------------------------------------------------------
    "dialog": Place("in a dialog", _CANCEL, ("plain_text", "text", "list"), everywhere=THROUGH),
    "confirm": Place(
        "in a question",
        {
            **_CANCEL,
            **_BUTTONS,
            "dialog.page_up": "pageup",
            "dialog.page_down": "pagedown",
        },
        ("plain_text",),
        is_typed_into=True,
        everywhere=THROUGH,
    ),
    "columns": Place(
        "in the choice of columns",
        {
            **_CANCEL,
            "columns.show": "space",
            "columns.down": "J,shift+down",
            "columns.up": "K,shift+up",
            "columns.sort": "s",
            "columns.usual": "0",
            "columns.use": "ctrl+s",
        },
        ("list",),
        everywhere=THROUGH,
    ),
}


def known() -> dict[str, tuple[str, ...]]:
    """Id -> its keys where it is found first, unless chosen."""
    keys: dict[str, tuple[str, ...]] = {}
    for place in PLACES.values():
        for name, own in place.keys.items():
            keys.setdefault(name, tuple(own.split(",")))
    return keys


def stacks() -> Iterator[tuple[Place, ...]]:
    """The places that are active at the same time, nearest to the person first."""
    for place in PLACES.values():
        if place.is_inner or place is EVERYWHERE:
            continue
        names = EVERYWHERE.keys if place.everywhere is None else place.everywhere
        everywhere = Place(EVERYWHERE.words, {name: EVERYWHERE.keys[name] for name in names})
        for inner in (None, *place.holds):
            yield (*((PLACES[inner],) if inner else ()), place, everywhere)
