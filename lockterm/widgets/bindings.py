"""Creates Textual's bindings from the registry of keys."""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding, BindingType

from lockterm.keymap.keys import PLACES
from lockterm.keymap.place import Key


def bindings(place: str) -> list[BindingType]:
    """Return the bindings for the keys that the registry lists for a place, such as a screen."""
    return bind(PLACES[place].own)


def bind(keys: Iterable[Key]) -> list[BindingType]:
    """Return the bindings for some keys."""
    return [
        Binding(
            key.keys,
            key.action or key.id.rpartition(".")[2],
            key.verb,
            show=bool(key.line),
            id=key.id,
            tooltip=key.sentence,
            priority=key.priority,
        )
        for key in keys
    ]
