"""Keys that people choose in the configuration.

Textual's ``App.set_keymap`` does not serve here. ``Screen._binding_chain`` drops the keys that the
focused field takes for text, and only then applies the keymap: an action whose own key is a letter
is dropped with it, so F1 chosen in place of ``?`` would do nothing in a form. Besides, a binding on
a chosen key moves behind all others, and an action cannot be left without any key.
Here a binding keeps its place, and is on its new key from the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from textual.app import App
from textual.binding import Binding, BindingsMap
from textual.widget import Widget

from lockterm.keymap import Keymap, hints
from lockterm.keymap.names import NO_KEY


class ChosenKeys:
    """Puts every binding with an id on the keys that were chosen for it."""

    def __init__(self) -> None:
        self._keymap: Keymap = {}

    def use(self, app: App[Any], keymap: Keymap) -> None:
        """Take on the keys of a configuration; before the first screen is shown.

        Args:
            app: Whose own keys follow at once.
            keymap: What ``lockterm.keymap.check`` has found good.
        """
        self._keymap = keymap
        app._bindings = rebound(app._bindings, keymap)
        hints.use(keymap)

    def put_on(self, widgets: Iterable[Widget]) -> None:
        """Rebind screens and widgets; each of them once, before it is asked for its bindings."""
        if self._keymap:
            for widget in widgets:
                widget._bindings = rebound(widget._bindings, self._keymap)


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
            for new in chosen or (f"{NO_KEY}{binding.id}",):  # the palette asks for bindings
                keys.setdefault(new, []).append(binding.with_key(new))
    return BindingsMap.from_keys(keys)
