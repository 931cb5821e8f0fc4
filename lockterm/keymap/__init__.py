"""Configurable keys: their default values, their validation, and their names in sentences.

This package contains the IDs of the bindings, but imports none of the screens that use these IDs.
``tests/keymap`` compares the IDs with the screens.
"""

from __future__ import annotations

from collections.abc import Mapping

Keymap = Mapping[str, tuple[str, ...]]
"""Maps the IDs of bindings to keys, in Textual's names. A binding without an entry keeps its
default keys."""

DEFAULT_KEYMAP: Keymap = {}
"""The keymap if the user has configured no keys."""
