"""The names of keys, and the names of the configured keys for sentences in the interface."""

from __future__ import annotations

import difflib
import re
import unicodedata

from lockterm.keymap import Keymap
from lockterm.keymap.keys import PLACES, known

_OF_TEXTUAL = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
"""Maps Unicode names of characters to Textual's shorter names."""

_MOVING = ("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "insert", "delete")
_OTHERS = ("backspace", "enter", "escape", "tab", "space")
_FUNCTION = tuple(f"f{number}" for number in range(1, 25))
_CONTROLLED = "abcdefgklnopqrstuvwxyz"

SENDABLE = frozenset({
    *_MOVING,
    *_OTHERS,
    *_FUNCTION,
    *(f"{held}+{key}" for held in ("ctrl", "shift", "ctrl+shift") for key in _MOVING),
    *(f"ctrl+{key}" for key in (*_FUNCTION, *_CONTROLLED)),
    *("ctrl+@", "ctrl+backslash", "ctrl+right_square_bracket"),
    *("ctrl+circumflex_accent", "ctrl+underscore", "shift+tab"),
}) - {"ctrl+shift+pageup", "ctrl+shift+pagedown"}  # fmt: skip
"""The keys, other than characters, that most terminals can send, in Textual's names."""

EDITING = frozenset({
    *("left", "right", "home", "end", "backspace", "delete", "f6", "f7"),
    *(f"ctrl+{key}" for key in ("left", "right", "delete", *"adekuvwxyz")),
    *(f"shift+{key}" for key in ("left", "right", "up", "down", "home", "end")),
    *(f"ctrl+shift+{key}" for key in ("left", "right")),
})  # fmt: skip
"""The keys, other than characters, with which a text field is edited, in Textual's names."""

PUNCTUATION = {
    "exclamation_mark": "!", "quotation_mark": '"', "number_sign": "#", "dollar_sign": "$",
    "percent_sign": "%", "ampersand": "&", "apostrophe": "'", "left_parenthesis": "(",
    "right_parenthesis": ")", "asterisk": "*", "plus": "+", "comma": ",", "minus": "-",
    "full_stop": ".", "slash": "/", "colon": ":", "semicolon": ";", "less_than_sign": "<",
    "equals_sign": "=", "greater_than_sign": ">", "question_mark": "?", "at": "@",
    "left_square_bracket": "[", "backslash": "\\", "right_square_bracket": "]",
    "circumflex_accent": "^", "underscore": "_", "grave_accent": "`", "left_curly_bracket": "{",
    "vertical_line": "|", "right_curly_bracket": "}", "tilde": "~",
}  # fmt: skip
"""Maps Textual's names of keys to the characters that they type.

The names are constants, because ``unicodedata`` would load a megabyte of tables at each start.
"""

_MEANT = {
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "ins": "insert",
    "pgup": "pageup",
    "page_up": "pageup",
    "pgdn": "pagedown",
    "pgdown": "pagedown",
    "page_down": "pagedown",
    "bs": "backspace",
    "dot": "full_stop",
    "period": "full_stop",
    "ctrl+space": "ctrl+@",
    "ctrl+at": "ctrl+@",
    "backtab": "shift+tab",
}
_SHORT = {"escape": "esc", "delete": "del", "pageup": "pgup", "pagedown": "pgdn"}

_LABELS = {name: name.capitalize() for name in (*_MOVING, *_OTHERS, *_FUNCTION, "esc", "del")}
_LABELS |= {"pgup": "PgUp", "pgdn": "PgDn"}
"""Maps names of keys in the configuration to their labels on the screen."""

_HELD = {
    **{"ctrl": "ctrl", "control": "ctrl", "strg": "ctrl", "shift": "shift"},
    **{"alt": "alt", "option": "alt", "meta": "alt"},
}
_PARTS = rf"((?:(?:{'|'.join(_HELD)})[-+])*)(.+)"

NO_KEY = "none:"
"""The prefix of a made-up key name for an action without a key. No terminal sends such a key."""

_LIKE = {
    "ctrl+i": "tab",
    "ctrl+j": "enter",
    "ctrl+m": "enter",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
    "shift+enter": "enter",
    "ctrl+enter": "enter",
    "ctrl+shift+enter": "enter",
    "ctrl+tab": "tab",
    "ctrl+shift+tab": "shift+tab",
    "shift+space": "space",
    "shift+backspace": "backspace",
    "shift+escape": "escape",
    "ctrl+escape": "escape",
    "ctrl+backspace": "backspace",
}
"""Maps keys to other keys, which most terminals send in their place."""


def spelled(written: str) -> str:
    """Return Textual's name of a key.

    Args:
        written: The key as written: ``x``, ``?``, ``Ctrl+S``, ``F5``, ``pgdn``, ``question_mark``.

    Raises:
        ValueError: If the text is not a key, few terminals send the key, or terminals send another
            key in its place. The message is the rest of a sentence that begins with the key.
    """
    typed = written.strip()
    if len(typed) <= 1:
        return _character(typed or written[:1])
    holding, key = re.fullmatch(_PARTS, typed.lower(), re.DOTALL).groups()  # type: ignore[union-attr]
    held = sorted(_HELD[one] for one in re.split("[-+]", holding)[:-1])
    if held == ["shift"] and len(key) == 1 and key.isalpha():
        return _character(key.upper())
    key = _MEANT.get(key, key)
    key = _character(key) if len(key) == 1 else _OF_TEXTUAL.get(key, key)
    name = "+".join([*held, key])
    name = _MEANT.get(name, name)
    if name in SENDABLE or name in PUNCTUATION:
        return name
    if name in _LIKE:
        raise ValueError(f"is the same as {_LIKE[name]} in most terminals")
    if "alt" in held:
        raise ValueError("arrives as escape and another key on slow connections")
    if held and (len(key) == 1 or key in SENDABLE or key in PUNCTUATION):
        raise ValueError("is sent by few terminals")
    close = difflib.get_close_matches(name, {*SENDABLE, *_MEANT}, n=1)
    raise ValueError(f"is not a key; did you mean {close[0]}?" if close else "is not a key")


def written(key: str) -> str:
    """Return the name of a key as the configuration has it: ``enter``, ``?``, ``ctrl+s``, ``pgdn``.

    The name is in ASCII if possible. The result is empty for a made-up key name; see
    :data:`NO_KEY`.
    """
    if key.startswith(NO_KEY):
        return ""
    *held, name = key.split("+")
    name = "space" if name == "@" and held else _SHORT.get(name, PUNCTUATION.get(name, name))
    return "+".join([*held, name])


def label(key: str) -> str:
    """Return the name of a key for screens and sentences: ``Enter``, ``?``, ``Ctrl+S``, ``PgDn``.

    The result is empty for a made-up key name; see :data:`NO_KEY`.
    """
    name = written(key)
    if len(name) <= 1:
        return name
    *held, last = name.split("+")
    last = last.upper() if len(last) == 1 else _LABELS.get(last, last)
    return "+".join([*map(str.capitalize, held), last])


def is_typed(key: str) -> bool:
    """Return whether a text field handles the key: a character or an editing key."""
    return len(key) == 1 or key in PUNCTUATION or key == "space" or key in EDITING


def _character(typed: str) -> str:
    if typed == " ":
        return "space"
    if not typed.isprintable() or unicodedata.category(typed or "\0")[0] not in "LNPS":
        raise ValueError("is not a key")
    return typed if typed.isalnum() else _name_of(typed)


def _name_of(character: str) -> str:
    name = unicodedata.name(character).lower().replace("-", "_").replace(" ", "_")
    return _OF_TEXTUAL.get(name, name)


_NAMED = re.compile(r"\{([a-z_]+\.[a-z_]+)\}")

_SETTLING = {
    "outcome.check": "checks the change",
    "outcome.send_again": "sends it again",
    "outcome.give_up": "dismisses it",
}

_in_force: Keymap = {}


def use(keymap: Keymap) -> None:
    """Set the keymap that all functions of this module use; a process has only one keymap."""
    global _in_force
    _in_force = keymap


def keys_of(name: str) -> tuple[str, ...]:
    """Return the configured or default keys of the action with an ID, in Textual's names.

    Raises:
        KeyError: If the ID is unknown.
    """
    return _in_force[name] if name in _in_force else known()[name]


def key(name: str) -> str:
    """Return the name of an action's first key, for a sentence.

    If the action also works while the user types text, a key that types no text comes first. If the
    action has no key, the function returns the key of the palette, where the user finds the action.

    Raises:
        KeyError: If the ID is unknown.
    """
    keys = keys_of(name) or keys_of("app.palette")
    if any(name in place.keys for place in PLACES.values() if place.is_typed_into):
        keys = tuple(one for one in keys if not is_typed(one)) or keys
    return label(keys[0])


def with_keys(sentence: str) -> str:
    """Replace each ID in braces by its key: ``{remotes.add}  add one`` becomes ``a  add one``.

    The sentence must not contain text from the service, because that text may have braces.

    Raises:
        KeyError: If the ID is unknown.
    """
    return _NAMED.sub(lambda named: key(named[1]), sentence)


def settle_first() -> str:
    """Return a sentence that asks the user to resolve an unconfirmed change first."""
    return f"Resolve the change first: {settling()}"


def settling() -> str:
    """Return the end of a sentence that names the keys to resolve an unconfirmed change."""
    keyed, others = [], []
    for name, what in _SETTLING.items():
        if keys_of(name):
            keyed.append(f"{key(name)} {what}")
        else:
            others.append(what)
    if others:
        keyed.append(f"{key('app.palette')} finds what {' or '.join(others)}")
    return f"{', '.join(keyed[:-1])}{',' * (len(keyed) > 2)}{' or ' * (len(keyed) > 1)}{keyed[-1]}."
