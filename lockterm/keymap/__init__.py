"""Configurable keys: their defaults, their validation, and their names in sentences.

A leaf: it knows the ids of the bindings, not the screens that have them. ``tests/keymap`` compares
the two.
"""

from __future__ import annotations

from collections.abc import Mapping

Keymap = Mapping[str, tuple[str, ...]]
"""ID of a binding -> its keys as Textual names them; other bindings keep their defaults."""

DEFAULT_KEYMAP: Keymap = {}
"""None was chosen."""
