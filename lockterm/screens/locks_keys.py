"""The keys of the lock book: the one list behind key line, help and palette."""

from __future__ import annotations

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    # In the order in which the key line gives them room.
    Binding(
        "enter",
        "open",
        "open",
        id="locks.open",
        tooltip="Show the remotes of the lock",
    ),
    Binding("a", "add", "add", id="locks.add", tooltip="Add a lock to the book by its id"),
    Binding("e", "edit", "edit", id="locks.edit", tooltip="Change what the book says"),
    Binding(
        "x,delete",
        "remove",
        "remove",
        id="locks.remove",
        tooltip="Take the lock out of the book; nothing changes at the service",
    ),
    Binding("v", "voice", "voice", id="locks.voice", tooltip="The voice the lock speaks with"),
    Binding("slash", "find", "find", id="locks.find", tooltip="Type to find"),
    Binding(
        "o",
        "open_by_id",
        "open by id",
        id="locks.open_by_id",
        tooltip="Show the remotes of any lock id, in the book or not",
    ),
    Binding("r", "refresh", "refresh", show=False, id="locks.refresh", tooltip="Read it again"),
    Binding("escape", "show_all", "show all", show=False, id="locks.show_all"),
]
