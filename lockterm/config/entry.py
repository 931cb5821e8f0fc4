"""A line of the list of profiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockterm.config.profile import Profile
from lockterm.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Entry:
    """A profile as the file has it."""

    name: str
    filed: Mapping[str, Any]
    """What the file says of it, unchecked."""
    profile: Profile | None
    """What it comes to, with options and environment; None where it is broken."""
    error: ConfigError | None
    """Why it is broken."""
    is_default: bool
    """Whether the file names it as the one to start with."""
