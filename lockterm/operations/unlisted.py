"""The recorded changes that a list does not show yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lockterm.domain.remotes import Remote

ADDED, CHANGED, DELETED = "just added", "just changed", "just deleted"
"""The labels of remotes that a list does not show yet after an add, shows with old values after an
update, or still shows after a delete."""


class Unlisted(NamedTuple):
    """Recorded changes that a list does not show yet."""

    added: tuple[Remote, ...]
    """The added remotes that the list lacks, with the values that were sent."""
    changed: Mapping[int, Remote]
    """Maps remote IDs to changed remotes for which the list still shows the old values."""
    words: Mapping[int, str]
    """Maps remote IDs to :data:`ADDED`, :data:`CHANGED` or :data:`DELETED`."""
