"""The check of the new ends that forms offer."""

from __future__ import annotations

from datetime import UTC

from lockterm.config import Settings
from lockterm.domain.date_input import read_moment
from lockterm.errors import ConfigError

_SOME_TIME_MS = 1_800_000_000_000
"""The time from which relative ends count, because only their syntax is checked."""


def check_presets(settings: Settings) -> None:
    """Check that each of the configured new ends is a date.

    The package ``lockterm.config`` cannot check this, because it does not know dates.

    Args:
        settings: The settings, with a profile or without one.

    Raises:
        ConfigError: A text is not a date; the message names the text and its place.
    """
    place = settings.origins.get("presets")
    if settings.profile is None or place is None:
        return
    for text in settings.profile.presets:
        if error := read_moment(text, UTC, _SOME_TIME_MS, end=True).error:
            raise ConfigError(f"{place}: presets contains {text!r}. {error}")
