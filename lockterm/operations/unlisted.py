"""Recent changes that a list does not show yet; :mod:`.recorded` finds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lockterm.domain.remotes import Remote

ADDED, CHANGED, DELETED = "just added", "just changed", "just deleted"
"""The labels of remotes that the list does not show, shows unchanged, or still shows."""


@dataclass(frozen=True, slots=True)
class Unlisted:
    """Recent changes that the list does not show yet."""

    added: tuple[Remote, ...] = ()
    """The added remotes as sent, which the list lacks."""
    changed: Mapping[int, Remote] = field(default_factory=dict)
    """Remote ID -> the changed remote, for which the list still shows the old values."""
    words: Mapping[int, str] = field(default_factory=dict)
    """Remote ID -> :data:`ADDED`, :data:`CHANGED` or :data:`DELETED`."""
