"""The keys of the remotes screen: the one list behind key line, help and palette."""

from __future__ import annotations

from textual.binding import Binding, BindingType

PAGING = frozenset({"next_page", "previous_page", "first_page", "last_page", "go_to_page"})
"""Actions that flip pages."""


def _key(keys: str, action: str, verb: str, sentence: str, *, show: bool = True) -> Binding:
    return Binding(keys, action, verb, show=show, id=f"remotes.{action}", tooltip=sentence)


def _quiet(keys: str, action: str, verb: str, sentence: str) -> Binding:
    return _key(keys, action, verb, sentence, show=False)


KEYS: list[BindingType] = [
    # In the order in which the key line gives them room.
    _key("a", "add", "add", "Add a remote to this lock"),
    _key("e", "edit", "edit", "Change the remote under the cursor"),
    _key("d,delete", "delete", "delete", "Delete the remote under the cursor, after asking"),
    _key("n,right,l", "next_page", "next", "Show the next page"),
    _key("p,left,h", "previous_page", "previous", "Show the previous page"),
    _key("v", "voice", "voice", "The voice the lock speaks with"),
    _key("slash", "find", "find", "Type to find a remote; enter searches the whole lock"),
    _key("w", "renew", "renew", "Give the remote under the cursor another end"),
    _key("enter", "detail", "detail", "Show every field of the remote under the cursor"),
    _key("u", "user_number", "user no", "Set the user number of the remote under the cursor"),
    _key("y", "copy", "copy", "Copy name, number or id of the remote under the cursor"),
    _key("r", "refresh", "refresh", "Ask the service for this page again"),
    _quiet("less_than_sign", "first_page", "first page", "Show the first page"),
    _quiet("greater_than_sign", "last_page", "last page", "Show the last page"),
    _quiet("colon", "go_to_page", "go to page", "Show the page with a certain number"),
    _quiet("s", "page_size", "page size", "Choose how many remotes a page has"),
    _key("t", "table", "table", "Choose, order and sort the columns"),
    _key("C", "clear", "clear", "Delete all remotes of this lock, after asking"),
    _quiet("escape", "back", "back", "Stop searching, show all, or go back to the locks"),
]
