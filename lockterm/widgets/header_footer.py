"""The lines around every screen: the header, a notification, and the footer with keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive, var
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from lockterm.config.look import look_of
from lockterm.domain.glyphs import ellipsis, notice_mark
from lockterm.domain.notices import LoggedNotice, NoticeLog
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.keymap.hints import keys_of, label
from lockterm.keymap.keys import footer_group
from lockterm.widgets.actions import is_typed, named
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
        """Return profile and host, shortened to fit ``room`` cells; the host is shortened first."""
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
    """Return a text with the breadcrumbs in at most ``room`` cells.

    All breadcrumbs that must be shortened get the same width. If the text is still too long, the
    first breadcrumbs are left out; the last breadcrumb always stays.
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
    keys have the same order: keys that act, keys that move, keys that find, and other keys.
    """

    COMPONENT_CLASSES = {"key-line--key"}

    _painted: list[_Chip] | None = None

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, screen: Screen[object]) -> None:
        if self.is_attached and screen is self.screen:
            self.show_keys()

    def show_keys(self) -> None:
        """Repaint the first changed key and the keys to its right, because those keys may move."""
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
        because it is a paging key on the first or last page. If a paging key were left out there,
        the other keys would move when the user pages.
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
            if not (key_label := self.app.get_key_display(binding)):
                continue  # the user chose its key for another action
            verb = more[name] if is_more else named(node, binding).description
            group = footer_group(binding.id)
            shown[name] = _Chip(binding.key, key_label, verb, group, enabled)
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


_WORDS = {"warning": "! Warning  ", "error": "! Error  "}


class NotificationLine(Widget):
    """A widget with the current notification, above the footer or in the last line of a dialog.

    On a list, the widget covers the line that describes the table, and moves no row. In a form or a
    dialog without free lines, the area of the fields shrinks, so that the widget covers no field or
    button.

    Warnings, errors and texts with a path wrap, to at most half of the screen. For other texts, the
    widget shows only the title and the first sentence, in at most two lines. The key for the
    message log shows the rest of a text and the other notifications.

    Args:
        notices: The log of notifications.
        is_over: Whether the line belongs to a dialog, which has no footer.
    """

    class Freed(Message):
        """Posted when the notification no longer takes lines from a form or dialog."""

    COMPONENT_CLASSES = {"notification-line--warning", "notification-line--error"}

    def __init__(self, notices: NoticeLog, *, is_over: bool = False) -> None:
        super().__init__(classes="-over" if is_over else None)
        self._notices = notices
        self._is_over = is_over
        self.display = notices.shown is not None

    def show_notice(self, *, in_front: bool) -> None:
        """Show the current notification, if there is one.

        Args:
            in_front: Whether the screen of this line is at the front, so that the notification
                appears here.
        """
        self.display = in_front and self._notices.shown is not None
        self._make_room()
        self.refresh(layout=self.display)

    def on_mount(self) -> None:
        self._make_room()

    def _make_room(self) -> None:
        """Shrink the area of fields and buttons if the line would cover some of them."""
        gives_way = self.screen.is_modal or getattr(self.screen, "is_form", False)
        needs = self.display and gives_way and (self.has_class("-apart") or self._covers_any())
        if self.has_class("-apart") and not needs:
            self.post_message(self.Freed())
        self.set_class(needs, "-apart")
        if needs and (focused := self.screen.focused) is not None:
            self.call_after_refresh(focused.scroll_visible, animate=False)

    def _covers_any(self) -> bool:
        """Return whether the line covers a part of a form or dialog other than the footer."""
        width, height = self.screen.size
        free = height - len(self._lines(width)) - (0 if self._is_over else 1)
        others = (child for child in self.screen.children if child.styles.dock == "none")
        return any(other.region.bottom > free for other in others if other.display)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width)) if self._notices.shown is not None else 1

    def render(self) -> Content:
        return Content("\n").join(self._lines(self.size.width))

    def _lines(self, width: int) -> Sequence[Content]:
        """Return the lines of the current notification, each after a mark for the severity."""
        if (notice := self._notices.shown) is None:
            return ()
        lines = self._wrap(notice, width - 2)
        marked = [Content.assemble(f"{notice_mark()} ", line) for line in lines]
        if notice.severity not in _WORDS:
            return marked
        style = self.get_visual_style(f"notification-line--{notice.severity}")
        padded = (line.pad_right(max(width - line.cell_length, 0)) for line in marked)
        return [line.stylize_before(style) for line in padded]

    def _wrap(self, notice: LoggedNotice, width: int) -> list[Content]:
        """Return the lines of a notification.

        If the text is shortened, or if there are more notifications, the last line ends with the
        key for the message log.
        """
        what, text, width = notice.what, notice.text, max(width, 2)
        others, key = self._notices.more, self._messages_key()
        hint = f"{label(key)} {f'{others:,} more' if others else 'more'}" if key else ""
        room = width - len(hint) - 2 if hint else width
        most = max(self.app.size.height // 2, 1)
        if notice.severity not in _WORDS and "/" not in notice.line:
            most = 2
            if cell_len(notice.line) > (room if others else width):
                what, text = _shorten(what, text, room)
        said = f": {text}" if what and text else text
        lines = Content.assemble(_WORDS.get(notice.severity, ""), (what, "bold"), said).wrap(width)
        is_cut = len(lines) > most
        if not others and not is_cut and (what, text) == (notice.what, notice.text):
            hint = ""
        if hint and not is_cut and lines[-1].cell_length > room:
            lines.append(Content(""))
            is_cut = len(lines) > most
        if is_cut:
            lines = [*lines[: most - 1], lines[most - 1].truncate(room - 1).rstrip() + ellipsis()]
        if hint:
            gap = " " * (width - lines[-1].cell_length - len(hint))
            lines[-1] = Content.assemble(lines[-1], gap, hint)
        return lines

    def _messages_key(self) -> str:
        """Return the key that shows all notifications; empty if no key shows them here."""
        if self._is_over:  # a dialog swallows the app's keys except those that are never text
            return next((key for key in keys_of("app.messages") if len(key) > 1), "")
        for _, binding, *_ in self.screen.active_bindings.values():
            if binding.id == "app.messages" and not is_typed(self.screen, binding):
                return binding.key if label(binding.key) else ""
        return ""

    def on_click(self, event: events.Click) -> None:
        event.stop()
        if key := self._messages_key():
            self.app.simulate_key(key)


def _shorten(what: str, text: str, room: int) -> tuple[str, str]:
    """Return a title and a text, shortened so that the whole first sentence of the text stays.

    If the title and the first sentence fit into one line of ``room`` cells, the other sentences are
    left out. Otherwise, the text takes a second line, and the title at most the first line.
    """
    end = text.find(". ") + 1
    first = f"{text[:end]} {ellipsis()}" if end else text
    fits = cell_len(what) + len(": ") + cell_len(first) <= room
    return (what, first) if fits else (cut(what, room), text)
