"""Applies the keys that the configuration sets.

This module replaces Textual's ``App.set_keymap``, which has three problems:

* It applies the keymap after ``Screen._binding_chain`` has dropped the keys that type text into the
  focused field. An action whose default key is a letter is dropped too. For example, F1 chosen
  instead of ``?`` would do nothing in a form.
* A rebound binding moves behind all other bindings.
* An action cannot be left without a key.

Here, a binding keeps its position and has its new key from the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from textual.app import App
from textual.binding import Binding, BindingsMap
from textual.widget import Widget

from lockterm.keymap import Keymap, hints
from lockterm.keymap.hints import NO_KEY


class ChosenKeys:
    """The keymap of the configuration, applied to the app and to each new widget."""

    def __init__(self) -> None:
        self._keymap: Keymap = {}

    def use(self, app: App[Any], keymap: Keymap) -> None:
        """Apply a keymap to the app and to all later screens; call this before any screen exists.

        Args:
            app: The app.
            keymap: Maps IDs of bindings to keys; ``lockterm.keymap.check`` must have accepted it.
        """
        self._keymap = keymap
        app._bindings = rebound(app._bindings, keymap)
        hints.use(keymap)

    def put_on(self, widgets: Iterable[Widget]) -> None:
        """Apply the keymap to new screens and widgets, once for each, before they receive keys."""
        if self._keymap:
            for widget in widgets:
                widget._bindings = rebound(widget._bindings, self._keymap)


def rebound(bindings: BindingsMap, keymap: Mapping[str, tuple[str, ...]]) -> BindingsMap:
    """Return bindings in their old order, with the keys that a keymap sets for their IDs."""
    keys: dict[str, list[Binding]] = {}
    moved: set[tuple[str, str]] = set()
    for key, binding in bindings:
        chosen = keymap.get(binding.id or "")
        if chosen is None:
            keys.setdefault(key, []).append(binding)
        elif (mark := (binding.id or "", binding.action)) not in moved:
            moved.add(mark)
            for new in chosen or (f"{NO_KEY}{binding.id}",):  # the palette needs the binding
                keys.setdefault(new, []).append(binding.with_key(new))
    return BindingsMap.from_keys(keys)
