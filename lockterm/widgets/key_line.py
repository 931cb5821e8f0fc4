"""The last line of every screen: the keys that work here, as many as fit; help is always there."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.screen import Screen
from textual.widget import Widget

from lockterm.widgets.actions import is_typed, named


class KeyLine(Widget):
    """One line made from the screen's own bindings: the same list as help and palette.

    A key that can do nothing now is dimmed and in brackets; pressing it says why.
    """

    _painted: list[tuple[str, str, str, bool]] | None = None

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, screen: Screen[object]) -> None:
        if self.is_attached and screen is self.screen:
            self.show_keys()

    def show_keys(self) -> None:
        """Paint from the first key that has changed on: its brackets move those behind it."""
        if (before := self._painted) is None:
            self.refresh()
            return
        now = self._entries()
        if [entry[:3] for entry in before] != [entry[:3] for entry in now]:
            self.refresh()
            return
        x = 0
        for old, new in zip(before, now, strict=True):
            if old != new:
                self.refresh(Region(x, 0, max(self.size.width - x, 1), 1))
                return
            x += _width(new)

    def _entries(self) -> list[tuple[str, str, str, bool]]:
        """Key, how it is written, what it does, whether it works now; what fits this width.

        Where not all fit, keys that work come before those that do not, and help before all. A
        single one that does not stays in its place: it is the flip beyond the first or the last
        page, and the others would change places at each. What the screen puts first comes first.
        """
        shown: dict[str, tuple[str, str, str, bool]] = {}
        for node, binding, enabled, _ in self.screen.active_bindings.values():
            if binding.show and binding.action not in shown and not is_typed(self.screen, binding):
                if not (written := self.app.get_key_display(binding)):
                    continue  # its key was chosen for something else
                verb = named(node, binding).description
                shown[binding.action] = (binding.key, written, verb, enabled)
        first: Sequence[str] = getattr(self.screen, "first_keys", ())
        front = [shown.pop(action) for action in first if action in shown]
        entries = [*front, *shown.values()]
        last = [entry for entry in entries if entry[2] == "help"]
        entries = [entry for entry in entries if entry[2] != "help"]
        idle = [entry for entry in entries if not entry[3]]
        idle = idle if len(idle) > 1 else []
        over = sum(map(_width, entries + last)) - self.size.width
        while over > 0 and entries:
            least = idle.pop() if idle else entries[-1]
            entries.remove(least)
            over -= _width(least)
        return entries + last

    def render(self) -> Content:
        parts: list[tuple[str, str]] = []
        self._painted = self._entries()
        for _, written, description, enabled in self._painted:
            if enabled:
                parts += [(written, "bold"), (f" {description}  ", "")]
            else:
                parts.append((f"({written} {description}) ", "dim"))
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        x = event.x
        for entry in self._entries():
            x -= _width(entry)
            if x < 0:
                self.app.simulate_key(entry[0])
                return


def _width(entry: tuple[str, str, str, bool]) -> int:
    return cell_len(entry[1]) + cell_len(entry[2]) + (3 if entry[3] else 4)
