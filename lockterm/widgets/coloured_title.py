"""The first line of every screen on a profile that has a colour."""

from __future__ import annotations

from textual.style import Style

from lockterm.config.look import look_of
from lockterm.widgets.title_line import TitleLine


class ColouredTitleLine(TitleLine):
    """A title line with a band behind the name of the profile.

    Args:
        profile: Its name.
        host: The host of its service.
        colour: Its colour: one of :data:`lockterm.config.values.COLOURS`.
        read_only: Whether it sends no changes.
    """

    COMPONENT_CLASSES = {
        "title-line--red",
        "title-line--yellow",
        "title-line--green",
        "title-line--blue",
    }

    def __init__(self, profile: str, host: str, colour: str, *, read_only: bool = False) -> None:
        super().__init__(profile, host, read_only=read_only)
        self._colour = colour

    def band(self) -> Style | None:
        """How the colour is shown; not at all where colours are not wanted."""
        if not look_of(self.app).colours:
            return None
        return self.get_visual_style(f"title-line--{self._colour}")
