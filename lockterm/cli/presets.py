"""The check of the configured end dates that forms offer."""

from __future__ import annotations

from lockterm.config import Settings
from lockterm.domain.date_input import find_error
from lockterm.errors import ConfigError


def check_presets(settings: Settings) -> None:
    """Check that each configured end date is a valid date.

    The package ``lockterm.config`` does not check the dates, because it cannot parse dates.

    Args:
        settings: The settings, with a profile or without one.

    Raises:
        ConfigError: If a text is not a date; the message names the text and the setting.
    """
    place = settings.origins.get("presets")
    if settings.profile is None or place is None:
        return
    for text in settings.profile.presets:
        if error := find_error(text):
            raise ConfigError(f"{place}: presets contains {text!r}. {error}")
