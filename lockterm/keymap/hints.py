"""The names of the configured keys, for sentences on the screen."""

from __future__ import annotations

import re

from lockterm.keymap import Keymap
from lockterm.keymap.keys import PLACES, known
from lockterm.keymap.names import is_typed, written

_NAMED = re.compile(r"\{([a-z_]+\.[a-z_]+)\}")

_SETTLING = {
    "outcome.check": "checks it",
    "outcome.send_again": "sends it again",
    "outcome.give_up": "dismisses it",
}

_in_force: Keymap = {}


def use(keymap: Keymap) -> None:
    """Set the keymap that all functions of this module use, because a process has only one."""
    global _in_force
    _in_force = keymap


def keys_of(name: str) -> tuple[str, ...]:
    """Return the configured keys of an action by its ID, in Textual's names.

    Raises:
        KeyError: The ID is unknown.
    """
    return _in_force[name] if name in _in_force else known()[name]


def key(name: str) -> str:
    """Return the name of the first key of an action, for a sentence.

    If the action also works while the user types text, a key that types no text comes first. If the
    action has no key, the function returns the key of the palette, where the user finds the action.

    Raises:
        KeyError: The ID is unknown.
    """
    keys = keys_of(name) or keys_of("app.palette")
    if any(name in place.keys for place in PLACES.values() if place.is_typed_into):
        keys = tuple(one for one in keys if not is_typed(one)) or keys
    return written(keys[0])


def with_keys(sentence: str) -> str:
    """Replace each ID in braces by its key: ``{remotes.add}  add one`` becomes ``a  add one``.

    The sentence must not contain text from the service, because that text may have braces.

    Raises:
        KeyError: The ID is unknown.
    """
    return _NAMED.sub(lambda named: key(named[1]), sentence)


def settle_first() -> str:
    """Return a sentence that asks the user to resolve an unconfirmed operation first."""
    return f"Resolve the change first: {settling()}"


def settling() -> str:
    """Return the end of a sentence that lists the keys that resolve an unconfirmed change."""
    keyed, others = [], []
    for name, what in _SETTLING.items():
        if keys_of(name):
            keyed.append(f"{key(name)} {what}")
        else:
            others.append(what)
    if others:
        keyed.append(f"{key('app.palette')} finds what {' or '.join(others)}")
    return f"{', '.join(keyed[:-1])}{',' * (len(keyed) > 2)}{' or ' * (len(keyed) > 1)}{keyed[-1]}."
