"""The header of every screen for a profile that has a color."""

from __future__ import annotations

from textual.style import Style

from lockterm.config.look import look_of
from lockterm.widgets.title_line import TitleLine


class ColoredTitleLine(TitleLine):
    """A header with a color band behind the profile's name.

    Args:
        profile: The profile's name.
        host: The host of the profile's service.
        color: One of :data:`lockterm.config.values.COLORS`.
        read_only: Whether the profile sends no changes.
    """

    COMPONENT_CLASSES = {
        "title-line--red",
        "title-line--yellow",
        "title-line--green",
        "title-line--blue",
    }

    def __init__(self, profile: str, host: str, color: str, *, read_only: bool = False) -> None:
        super().__init__(profile, host, read_only=read_only)
        self._color = color

    def band(self) -> Style | None:
        """Return the band's style, or None if colors are off."""
        if not look_of(self.app).colors:
            return None
        return self.get_visual_style(f"title-line--{self._color}")
