"""An app whose keys can be chosen.

Textual has ``set_keymap`` for this, but a key that was chosen moves behind all others there, out of
the line of keys; and one chosen in place of a letter is dead while a field has the focus. Here a
binding keeps its place, and is on its new key from the beginning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.app import App, ReturnType
from textual.binding import Binding, BindingsMap
from textual.dom import DOMNode
from textual.widget import Widget

from lockterm.keymap import Keymap, spoken


class Rebindable(App[ReturnType]):
    """An app that puts every binding with an id on the keys that were chosen for it."""

    _keymap_chosen: Keymap = {}

    def use_keys(self, keymap: Keymap) -> None:
        """Take on the keys of a configuration; before the first screen is shown.

        Args:
            keymap: What ``lockterm.keymap.check`` has found good.
        """
        self._keymap_chosen = keymap
        self._bindings = rebound(self._bindings, keymap)
        spoken.use(keymap)

    def _register(
        self,
        parent: DOMNode,
        *widgets: Widget,
        before: int | None = None,
        after: int | None = None,
        cache: dict[tuple[Any, ...], Any] | None = None,
    ) -> list[Widget]:
        """Every screen and every widget comes this way before it is asked for its bindings."""
        if self._keymap_chosen:
            for widget in widgets:
                widget._bindings = rebound(widget._bindings, self._keymap_chosen)
        return super()._register(parent, *widgets, before=before, after=after, cache=cache)


def rebound(bindings: BindingsMap, keymap: Mapping[str, tuple[str, ...]]) -> BindingsMap:
    """The bindings on the keys of the keymap, each in its place among the others."""
    keys: dict[str, list[Binding]] = {}
    moved: set[tuple[str, str]] = set()
    for key, binding in bindings:
        chosen = keymap.get(binding.id or "")
        if chosen is None:
            keys.setdefault(key, []).append(binding)
        elif (mark := (binding.id or "", binding.action)) not in moved:
            moved.add(mark)
            for new in chosen:
                keys.setdefault(new, []).append(binding.with_key(new))
    return BindingsMap.from_keys(keys)
