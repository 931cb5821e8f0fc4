"""The footer of every screen, which shows the keys that work there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from lockterm.keymap.keys import footer_group
from lockterm.widgets.actions import is_typed, named

FIRST = 3
"""Minimum number of the screen's own keys that the footer shows before global keys."""


class _Chip(NamedTuple):
    """A key in the footer, with its label."""

    key: str
    """Textual's name of the key."""
    label: str
    verb: str
    group: int
    enabled: bool

    @property
    def width(self) -> int:
        """The width in cells, including the gap after the label."""
        return cell_len(self.label) + cell_len(self.verb) + (3 if self.enabled else 4)


class KeyLine(Widget):
    """The footer, which shows keys of the screen and global keys with their labels.

    A disabled key is dimmed and in brackets. If the user presses it, lockterm shows why it is
    disabled. The footer shows as many keys as fit, and always the help key. On every screen, the
    keys have the same order: keys that act, keys that move, keys that find, and the others.
    """

    COMPONENT_CLASSES = {"key-line--key"}

    _painted: list[_Chip] | None = None

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, screen: Screen[object]) -> None:
        if self.is_attached and screen is self.screen:
            self.show_keys()

    def show_keys(self) -> None:
        """Repaint the keys from the first changed one on, because all keys after it may move."""
        if (before := self._painted) is None:
            self.refresh()
            return
        now = self._chips()
        if [(chip.key, chip.verb) for chip in before] != [(chip.key, chip.verb) for chip in now]:
            self.refresh()
            return
        x = 0
        for old, new in zip(before, now, strict=True):
            if old != new:
                self.refresh(Region(x, 0, max(self.size.width - x, 1), 1))
                return
            x += new.width

    def _chips(self) -> list[_Chip]:
        """Return the keys that fit, in the order of their groups.

        The screen's ``first_keys`` have precedence. If not all keys fit, disabled keys are left out
        first. The help key is never left out. A single disabled key is treated like an enabled key,
        because it is a paging key on the first or last page. If it were left out there, the other
        keys would move when the user pages.
        """
        own: dict[str, _Chip] = {}
        others: dict[str, _Chip] = {}
        more: Mapping[str, str] = getattr(self.screen, "global_keys", {})
        for node, binding, enabled, _ in self.screen.active_bindings.values():
            is_more = binding.id in more
            shown, name = (others, str(binding.id)) if is_more else (own, binding.action)
            if not (binding.show or is_more) or name in shown:
                continue
            if is_typed(self.screen, binding):
                continue
            if not (label := self.app.get_key_display(binding)):
                continue  # the user chose its key for another action
            verb = more[name] if is_more else named(node, binding).description
            group = footer_group(binding.id)
            shown[name] = _Chip(binding.key, label, verb, group, enabled)
        first: Sequence[str] = getattr(self.screen, "first_keys", ())
        front = [own.pop(action) for action in first if action in own]
        chips = [*front, *own.values()]
        last = [chip for chip in chips if chip.verb == "help"]
        chips = [chip for chip in chips if chip.verb != "help"]
        place = max(FIRST, len(front))
        chips[place:place] = [others[name] for name in more if name in others]
        idle = [chip for chip in chips if not chip.enabled]
        idle = idle if len(idle) > 1 else []
        over = sum(chip.width for chip in chips + last) - self.size.width
        while over > 0 and chips:
            least = idle.pop() if idle else chips[-1]
            chips.remove(least)
            over -= least.width
        return sorted(chips, key=attrgetter("group")) + last

    def render(self) -> Content:
        parts: list[tuple[str, str | Style]] = []
        style = self.get_visual_style("key-line--key")
        self._painted = self._chips()
        for chip in self._painted:
            if chip.enabled:
                parts += [(chip.label, style), (f" {chip.verb}  ", "")]
            else:
                parts.append((f"({chip.label} {chip.verb}) ", "dim"))
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        x = event.x
        for chip in self._chips():
            x -= chip.width
            if x < 0:
                self.app.simulate_key(chip.key)
                return
