"""Configurable keys: their defaults, their validation, and their names in sentences.

This package knows the IDs of the bindings, but imports none of the screens that use them.
``tests/keymap`` compares the IDs with the screens.
"""

from __future__ import annotations

from collections.abc import Mapping

Keymap = Mapping[str, tuple[str, ...]]
"""ID of a binding -> its keys in Textual's names. Bindings that are missing keep their defaults."""

DEFAULT_KEYMAP: Keymap = {}
"""The keymap if the user has chosen no keys."""
