"""The registry of all keys, with the place, the ID, the action and the help heading of each key.

All bindings of screens and widgets, the help, the palette, the footer and ``lockterm keys`` come
from this registry. The configuration refers to actions by these IDs to choose other keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from lockterm.keymap.keys.screens import SCREENS
from lockterm.keymap.keys.shared import (
    APP,
    DIALOGS_AND_FIELDS,
    EVERYWHERE,
    FINDING,
    FIRST_RUN,
    FIRST_RUN_IDS,
    MOVING,
    OUTCOMES,
    PRIORITY,
    TABLES,
    TASKS,
    KeyContext,
)

__all__ = ["FIRST_RUN", "FIRST_RUN_IDS", "MOVING", "PLACES", "PRIORITY", "TASKS"]

PLACES: Mapping[str, KeyContext] = {**TABLES, **SCREENS, **DIALOGS_AND_FIELDS}
"""Maps the names of places to the places. The help lists the keys below a heading in the order of
the places."""


@cache
def known() -> Mapping[str, tuple[str, ...]]:
    """Return the default keys of each action by ID, in Textual's names.

    If several places have an action with the same ID, the keys of the first place count.
    """
    keys: dict[str, tuple[str, ...]] = {}
    for place in PLACES.values():
        for name, own in place.keys.items():
            keys.setdefault(name, own)
    return keys


@cache
def in_help() -> Mapping[str, tuple[str, int]]:
    """Map the ID of each action to its heading in the help, and its position below this heading."""
    below: dict[str, list[str]] = {task: [] for task in TASKS}
    for place in PLACES.values():
        for task, keys in place.tasks.items():
            names = below[task]
            at = len(names)
            for key in reversed(keys):  # insert new IDs before a known ID
                if key.id in names:
                    at = names.index(key.id)
                else:
                    names.insert(at, key.id)
    return {name: (task, at) for task, names in below.items() for at, name in enumerate(names)}


@cache
def that_open() -> frozenset[str]:
    """Return the IDs of the actions that open a screen or a dialog."""
    return frozenset(key.id for place in PLACES.values() for key in place.own if key.opens)


def is_by_hand(name: str) -> bool:
    """Return whether an action moves a cursor or the focus, so that it is useful only as a key."""
    begin = name.partition(".")[0]
    return name != "help.find" and begin in (
        "row",
        "tree",
        "list",
        "field",
        "option",
        "dialog",
        "help",
    )


def footer_group(name: str | None) -> int:
    """Return the number of an action's group in the footer.

    The groups are 1 for moving through rows and pages, 2 for finding, and 3 for other moves,
    unconfirmed changes and actions that work everywhere. All other actions, and a key without an
    ID, are in group 0.
    """
    if name is None:
        return 0
    begin, _, end = name.partition(".")
    if begin == "row" or end in ("page_up", "page_down", "next_page", "previous_page"):
        return 1
    heading = in_help()[name][0]
    return 2 if heading == FINDING else 3 if heading in (MOVING, OUTCOMES, EVERYWHERE) else 0


def stacks() -> Iterator[tuple[KeyContext, ...]]:
    """Yield each group of places that are active at the same time, the innermost first."""
    for place in PLACES.values():
        if place.is_inner or place is APP:
            continue
        everywhere = KeyContext(
            APP.words,
            {
                task: tuple(
                    key for key in keys if place.everywhere is None or key.id in place.everywhere
                )
                for task, keys in APP.tasks.items()
            },
        )
        for inner in (None, *place.holds):
            yield (*((PLACES[inner],) if inner else ()), place, everywhere)
