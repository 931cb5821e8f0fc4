"""The check of the new ends that forms offer."""

from __future__ import annotations

from lockterm.config import Settings
from lockterm.domain.date_input import find_error
from lockterm.errors import ConfigError


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
        if error := find_error(text):
            raise ConfigError(f"{place}: presets contains {text!r}. {error}")
