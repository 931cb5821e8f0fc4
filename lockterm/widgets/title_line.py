"""The first line of every screen: where I am; which profile and host, online or not."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.reactive import reactive, var
from textual.widget import Widget

from lockterm.text import clean


class TitleLine(Widget):
    """Breadcrumbs at the left, profile and host at the right; the crumbs give way first."""

    crumbs: reactive[tuple[str, ...]] = reactive[tuple[str, ...]](())
    """The way to this screen, as it came from people and the service; cleaned here."""

    online: var[bool | None] = var[bool | None](None)
    """Whether the last call reached the service; None before the first."""

    def __init__(self, profile: str, host: str, *, read_only: bool = False) -> None:
        super().__init__()
        # A profile made of a base URL alone is named after its host: once is enough.
        self._where = "  ".join(dict.fromkeys(filter(None, (clean(profile, 24), clean(host, 40)))))
        self._read_only = read_only

    def watch_online(self, old: bool | None, new: bool | None) -> None:
        """Paint only where it is seen: "not asked yet" and "online" look the same."""
        if (old is False) != (new is False):
            self.refresh()

    def render(self) -> Content:
        """One line, exactly as wide as there is room."""
        words = ["read-only"] if self._read_only else []
        if self.online is False:
            words.append("OFFLINE")
        right = "  ".join([self._where, *words])
        crumbs = [clean(crumb) for crumb in self.crumbs]
        width = self.size.width
        room = width - cell_len(right) - 2
        if room < 20:  # a narrow terminal: the host is in info and help
            right = "  ".join(words)
            room = width - (cell_len(right) + 2 if right else 0)
        left = fit_middle(crumbs, max(room, 0))
        gap = " " * max(width - cell_len(left) - cell_len(right), 0)
        return Content.assemble((left, "bold"), gap, right)


def fit_middle(crumbs: list[str], room: int) -> str:
    """Join breadcrumbs, shortening the longest until all fit into ``room`` cells."""
    crumbs = list(crumbs)
    separator = " > "
    while crumbs:
        line = separator.join(crumbs)
        excess = cell_len(line) - room
        if excess <= 0:
            return line
        longest = max(range(len(crumbs)), key=lambda index: cell_len(crumbs[index]))
        length = cell_len(crumbs[longest])
        if length <= 8:
            return set_cell_size(line, room - 1).rstrip() + "…" if room else ""
        keep = max(length - excess - 1, 7)
        crumbs[longest] = set_cell_size(crumbs[longest].removesuffix("…"), keep).rstrip() + "…"
    return ""
