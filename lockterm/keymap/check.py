"""The rules for configured keys: no key has two actions, and a configured key overrides a default.

A later version of lockterm may use a key by default that the user has already chosen for another
action. The user's choice stays, and the new action keeps only its other keys. If the new action has
no other keys, the user can still find it in the palette. A message reports the lost key to the
user.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from lockterm.keymap import Keymap
from lockterm.keymap.hints import is_typed, spelled, written
from lockterm.keymap.keys import PLACES, PRIORITY, is_by_hand, known, stacks
from lockterm.keymap.keys.shared import KeyContext

FIXED_KEYS = {
    "tab": "goes to the next field everywhere",
    "shift+tab": "goes to the previous field everywhere",
    "ctrl+c": "copies the selection and shows how to quit",
}
"""Maps each key that no setting can use to its fixed use, as the end of a sentence.

Forms and dialogs need these keys.
"""

RESERVED_KEYS = {
    "enter": "answers dialogs and continues in forms",
    "escape": "leaves every screen",
}
"""Maps reserved keys to their uses. Only an action that has a reserved key by default can use this
key.

Each use is the end of a sentence.
"""


class WrongKeyError(ValueError):
    """An error for a key that the user cannot choose.

    Args:
        name: The ID of the binding that the key was chosen for.
        sentence: The problem, as the rest of a sentence that begins with the ID.
        hint: The next step for the user, as a sentence; may be empty.
    """

    def __init__(self, name: str, sentence: str, hint: str = "") -> None:
        super().__init__(f"{name} {sentence}")
        self.name = name
        self.sentence = sentence
        self.hint = hint


def check(chosen: Mapping[str, object]) -> Keymap:
    """Return the keymap for the configured keys.

    The keymap contains each action with configured keys. If an action lost a default key to another
    action, the keymap contains the action with its remaining keys.

    Args:
        chosen: The settings by ID of an action, in the order of the configuration file.

    Raises:
        WrongKeyError: If a setting is invalid.
    """
    defaults = known()
    keymap = {}
    for name, value in chosen.items():
        if name not in defaults:
            raise WrongKeyError(
                name,
                f"is not an action{_suggestion(name, defaults)}",
                "`lockterm keys` lists every ID.",
            )
        keymap[name] = tuple(_keys(name, value))
        _check_reach(name, keymap[name], defaults[name])
    _resolve_conflicts(keymap, tuple(chosen))
    return keymap


def gave_way(chosen: Iterable[str], keymap: Keymap) -> Iterator[str]:
    """Yield a sentence for each action whose default key was configured for another action.

    Args:
        chosen: The IDs of the actions with configured keys.
        keymap: The result of :func:`check`.
    """
    chosen = tuple(chosen)
    for name in keymap.keys() - set(chosen):
        usual, left = known()[name], keymap[name]
        lost = [key for key in usual if key not in left]
        by = [one for one in chosen if not set(lost).isdisjoint(keymap[one])]
        has = f"has {','.join(map(written, left))}" if left else "has no key; the palette finds it"
        yield (
            f"{','.join(map(written, lost))} is configured for {' and '.join(by)}. It was the"
            f" default key of {name}, which {has}."
        )


def _keys(name: str, value: object) -> Iterator[str]:
    """Check the keys of a setting, and yield Textual's names of the keys."""
    if not isinstance(value, str):
        raise WrongKeyError(name, 'must be keys in quotes, such as "x" or "x,delete"')
    parts = [value] if value.strip() in (",", "") else value.split(",")
    if not value or (not value.strip() and len(value) > 1):
        raise WrongKeyError(name, "has no key", "Remove the line to use the default keys.")
    seen: set[str] = set()
    for part in parts:
        if not part.strip() and part != " ":
            raise WrongKeyError(name, f"contains an extra comma: {_quoted(value)}")
        try:
            key = spelled(part)
        except ValueError as error:
            raise WrongKeyError(name, f"uses {_quoted(part.strip())}, which {error}") from None
        if key in seen:
            raise WrongKeyError(name, f"lists {written(key)} twice")
        if key in FIXED_KEYS:
            raise WrongKeyError(name, f"uses {written(key)}, which {FIXED_KEYS[key]}")
        if key in RESERVED_KEYS and not any(
            key in place.keys.get(name, ()) for place in PLACES.values()
        ):
            raise WrongKeyError(name, f"uses {written(key)}, which {RESERVED_KEYS[key]}")
        seen.add(key)
        yield key


def _check_reach(name: str, keys: tuple[str, ...], defaults: tuple[str, ...]) -> None:
    """Check that the keys chosen for an action leave the action within reach.

    If Esc is a default key, it must stay a key of the action, because it leaves the screen. An
    action that works in text fields must have a key that types no text. An action that works
    everywhere must have only keys that type no text.

    Args:
        name: The ID of the action.
        keys: The chosen keys, in Textual's names.
        defaults: The default keys.

    Raises:
        WrongKeyError: If the keys break one of these rules.
    """
    if "escape" in defaults and "escape" not in keys:
        mine = ",".join(map(written, keys))
        raise WrongKeyError(
            name, "must keep escape, which leaves the screen", f'Write "esc,{mine}".'
        )
    swallowed = [key for key in keys if is_typed(key)]
    if name in PRIORITY and swallowed:
        key = written(swallowed[0])
        raise WrongKeyError(
            name,
            (
                f"uses {key}, which types text in fields. This action works everywhere, fields"
                " included"
            ),
            "Use a function key or a key with ctrl.",
        )
    is_for_fields = any(name in place.keys for place in PLACES.values() if place.is_typed_into)
    if is_for_fields and len(swallowed) == len(keys):
        only = " and ".join(map(written, keys))
        raise WrongKeyError(
            name,
            (
                f"uses only {only}, which types text in fields, so no key would reach the"
                " action there"
            ),
            "Add a function key or a key with ctrl.",
        )


def _resolve_conflicts(keymap: dict[str, tuple[str, ...]], order: tuple[str, ...]) -> None:
    """Remove from a keymap the default keys that the user configured for other actions.

    A default key stays if the other action is never active at the same time.

    Args:
        keymap: The keymap, which the function changes.
        order: The IDs of the actions with configured keys, in the order of the configuration.

    Raises:
        WrongKeyError: If a default key cannot be removed.
    """
    for stack in stacks():
        on: dict[str, list[tuple[str, KeyContext]]] = {}
        for place in stack:
            for name, usual in place.keys.items():
                for key in keymap.get(name, usual):
                    on.setdefault(key, []).append((name, place))
        for key, names in on.items():
            for (one, here), (other, there) in combinations(names, 2):
                if one == other or (key in here.keys[one] and key in there.keys[other]):
                    continue
                for name, place in ((one, here), (other, there)):
                    if name not in order and _can_give_way(name, place, key, keymap):
                        keys = keymap.get(name, place.keys[name])
                        keymap[name] = tuple(kept for kept in keys if kept != key)
                        break
                else:
                    _refuse(key, {one: here, other: there}, keymap, order)


def _can_give_way(name: str, place: KeyContext, key: str, keymap: Keymap) -> bool:
    """Return whether an action can lose a default key, because the user gave it to another action.

    Actions that move a cursor and actions that work everywhere keep their keys. In a place where
    the user types text, an action must have another key left.
    """
    left = {*keymap.get(name, place.keys[name])} - {key}
    is_in_reach = bool(left) or not place.is_typed_into
    return is_in_reach and name not in PRIORITY and not is_by_hand(name)


def _refuse(
    key: str, names: Mapping[str, KeyContext], keymap: Keymap, order: Iterable[str]
) -> None:
    """Raise an error because two actions have the same key.

    The error is about the last setting in the configuration that chooses this key.

    Args:
        key: The key that two actions have.
        names: Maps the IDs of the two actions to the places where the actions work.
        keymap: The keymap after the conflicts that were resolved so far.
        order: The IDs of the actions with configured keys, in the order of the configuration.

    Raises:
        WrongKeyError: Always.
    """
    holders = [name for name in order if name in names and key in keymap[name]]
    configured = [name for name in holders if key not in names[name].keys[name]]
    at_fault = configured[-1]
    (other,) = (name for name in names if name != at_fault)
    raise WrongKeyError(
        at_fault,
        f"uses {written(key)}, which is the key of {other} {names[other].words}",
        f"Use another key, or also give {other} another key.",
    )


def _suggestion(name: str, defaults: Mapping[str, object]) -> str:
    word = name.rpartition(".")[2]
    alike = [one for one in defaults if one.rpartition(".")[2] == word]
    close = difflib.get_close_matches(name, alike or list(defaults), n=1, cutoff=0.5)
    return f"; did you mean {(close or alike)[0]}?" if close or alike else ""


def _quoted(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:37] + "...")
