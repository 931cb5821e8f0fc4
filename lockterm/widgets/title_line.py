"""The header of every screen: breadcrumbs, profile, host, and connection state."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import reactive, var
from textual.style import Style
from textual.widget import Widget

from lockterm.config.look import look_of
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.widgets.cells import cut, shorten_middle

CRUMBS = 4
"""The minimum width of the breadcrumbs is the header's width divided by this number."""
PROFILE, HOST = 9, 13
"""The minimum widths of profile and host in cells, so that similar names stay distinguishable."""
LEAST = 8
"""The minimum width of a shortened breadcrumb in cells.

If the breadcrumbs do not fit with this width, the first breadcrumb is left out.
"""
GAP = "  "
SEPARATOR = " > "
"""The text between two breadcrumbs."""


class TitleLine(Widget):
    """A header with breadcrumbs on the left, and profile, host and connection state on the right.

    If not everything fits, the breadcrumbs are shortened first, then the middle of the host, then
    the middle of the profile.

    Args:
        profile: The profile's name; empty if there is no profile yet.
        host: The host of the profile's service.
        read_only: Whether the profile is read-only.
    """

    COMPONENT_CLASSES = {"title-line--path"}

    breadcrumbs: reactive[tuple[str, ...]] = reactive[tuple[str, ...]](())
    """The breadcrumbs, which may contain control characters. The header removes such characters."""

    online: var[bool | None] = var[bool | None](None)
    """Whether the last request reached the service; None before the first request."""

    run: reactive[str] = reactive("")
    """The progress of a run, such as ``run 12/214``; empty if no run is active."""

    def __init__(self, profile: str, host: str, *, read_only: bool = False) -> None:
        super().__init__()
        self._profile, self._host = clean(profile, LONGEST_CELL), clean(host, LONGEST_CELL)
        if self._profile == self._host:  # a profile made from a base URL has the host as its name
            self._profile = ""
        self._read_only = read_only

    def watch_online(self, old: bool | None, new: bool | None) -> None:
        """Repaint only if the change is visible; None and True look the same."""
        if (old is False) != (new is False):
            self.refresh()

    def render(self) -> Content:
        states = ["read-only"] if self._read_only else []
        if self.online is False:
            states.append("OFFLINE")
        if self.run:
            states.append(self.run)
        state = GAP.join(states)
        band = self.band()
        width = self.size.width
        breadcrumbs = [clean(crumb) for crumb in self.breadcrumbs]
        wanted = min(cell_len(SEPARATOR.join(breadcrumbs)), width // CRUMBS)
        taken = sum(cell_len(part) + len(GAP) for part in (state,) if part)
        profile, host = self._fitted(width - wanted - taken - len(GAP) - 2 * bool(band))
        named = f" {profile} " if band and profile else profile
        right = [part for part in (named, host, state) if part]
        room = width - cell_len(GAP.join(right)) - len(GAP)
        left = fit_middle(breadcrumbs, max(room if right else width, 0))
        gap = " " * max(width - cell_len(left) - cell_len(GAP.join(right)), 0)
        path, separator, last = left.rpartition(SEPARATOR)
        line = Content.assemble(path + separator, (last, "bold"), gap, GAP.join(right))
        if path:
            muted = self.get_visual_style("title-line--path")
            line = line.stylize(muted, 0, len(path + separator))
        if band and named:
            start = len(left) + len(gap)
            line = line.stylize(band, start, start + len(named))
        return line

    def band(self) -> Style | None:
        """Return the style behind the profile's name, or None for no band."""
        return None

    def _fitted(self, room: int) -> tuple[str, str]:
        """Return profile and host, shortened in the middle to fit, the host first."""
        profile, host = self._profile, self._host
        gap = len(GAP) if profile and host else 0
        excess = cell_len(profile) + cell_len(host) + gap - room
        if excess > 0:
            keep = max(cell_len(host) - excess, HOST)
            excess -= max(cell_len(host) - keep, 0)
            host = shorten_middle(host, keep)
        if excess > 0:
            profile = shorten_middle(profile, max(cell_len(profile) - excess, PROFILE))
        return profile, host


def fit_middle(breadcrumbs: list[str], room: int) -> str:
    """Return breadcrumbs as a text of at most ``room`` cells; all long ones get the same width.

    If the text is still too long, the first breadcrumbs are left out; the last breadcrumb always
    stays.
    """
    longest = max(map(cell_len, breadcrumbs), default=0)
    for width in range(min(longest, room), min(longest, LEAST) - 1, -1):
        line = SEPARATOR.join(cut(crumb, width) for crumb in breadcrumbs)
        if cell_len(line) <= room:
            return line
    if len(breadcrumbs) > 1:
        return fit_middle(breadcrumbs[1:], room)
    return cut(breadcrumbs[0], room) if breadcrumbs and room else ""


class ColoredTitleLine(TitleLine):
    """A header with a colored background behind the profile's name.

    Args:
        profile: The profile's name.
        host: The host of the profile's service.
        color: The color, which is one of :data:`lockterm.config.values.COLORS`.
        read_only: Whether the profile is read-only.
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
        """Return the style behind the profile's name, or None if colors are off."""
        if not look_of(self.app).colors:
            return None
        return self.get_visual_style(f"title-line--{self._color}")
