"""The footer of every screen: the keys that work there, or a notification."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from lockterm.domain.glyphs import notice_mark
from lockterm.domain.notices import LoggedNotice, NoticeLog
from lockterm.keymap.hints import keys_of
from lockterm.keymap.names import written
from lockterm.widgets.actions import is_typed, named
from lockterm.widgets.cells import cut

_WORDS = {"warning": "! Warning  ", "error": "! Error  "}


class KeyLine(Widget):
    """A footer made from the screen's own bindings, as the help and the palette are.

    A disabled key is dimmed and in brackets; pressing it shows the reason. The footer shows as many
    keys as fit, and always the help. A notification replaces the keys for the time that reading it
    takes, so that no row is moved or covered.

    Args:
        notices: The log of notifications.
        is_over: Whether the footer belongs to a dialog and shows notifications only.
    """

    COMPONENT_CLASSES = {"key-line--key", "key-line--warning", "key-line--error"}

    _painted: list[tuple[str, str, str, bool]] | None = None

    def __init__(self, notices: NoticeLog, *, is_over: bool = False) -> None:
        super().__init__(classes="-over" if is_over else None)
        self._notices = notices
        self._is_over = is_over

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def show_notice(self) -> None:
        """Show the current notification, or the keys again."""
        if self._is_over:
            self.display = self._notices.shown is not None
        self.refresh()

    def _changed(self, screen: Screen[object]) -> None:
        if self.is_attached and screen is self.screen:
            self.show_keys()

    def show_keys(self) -> None:
        """Repaint from the first changed key on, because its brackets move the keys after it."""
        if self._notices.shown is not None:
            return
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
        """Return the key, its name, its verb, and whether it works, for each entry that fits.

        The screen's ``first_keys`` come first. If not all entries fit, disabled keys are removed
        first, and help is never removed. A single disabled key keeps its place: it is a paging key
        on the first or last page, and without it the other keys would move at every page.
        """
        shown: dict[str, tuple[str, str, str, bool]] = {}
        for node, binding, enabled, _ in self.screen.active_bindings.values():
            if binding.show and binding.action not in shown and not is_typed(self.screen, binding):
                if not (written := self.app.get_key_display(binding)):
                    continue  # the user chose its key for another action
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
        if (notice := self._notices.shown) is not None:
            self._painted = None
            return self._said(notice)
        parts: list[tuple[str, str | Style]] = []
        chip = self.get_visual_style("key-line--key")
        self._painted = self._entries()
        for _, key, description, enabled in self._painted:
            if enabled:
                parts += [(key, chip), (f" {description}  ", "")]
            else:
                parts.append((f"({key} {description}) ", "dim"))
        return Content.assemble(*parts)

    def _said(self, notice: LoggedNotice) -> Content:
        """Return a notification and the key that shows the rest of it or the other notifications.

        If the notification is too long, the name in front is cut before the text after it.
        """
        width, head = self.size.width, f"{notice_mark()} {_WORDS.get(notice.severity, '')}"
        others, key, what = self._notices.more, self._messages_key(), notice.what
        is_long = cell_len(head + notice.line) > width
        if is_long and notice.text:
            what = cut(what, width // 2 - len(head))
        whole, hint = head + ": ".join(filter(None, (what, notice.text))), ""
        if key and (others or is_long):
            hint = f"  {written(key)} {f'{others:,} more' if others else 'more'}"
        text = cut(whole, width - cell_len(hint))
        gap = " " * (width - cell_len(text) - cell_len(hint)) if hint else ""
        line = Content(text + gap + hint).stylize("bold", len(head), len(head) + len(what))
        if notice.severity in _WORDS:
            return line.stylize_before(self.get_visual_style(f"key-line--{notice.severity}"))
        return line

    def _messages_key(self) -> str:
        """Return the key that shows all notifications here, or an empty string."""
        if self._is_over:  # a dialog swallows the app's keys except those that are never text
            return next((key for key in keys_of("app.messages") if len(key) > 1), "")
        for _, binding, *_ in self.screen.active_bindings.values():
            if binding.id == "app.messages" and not is_typed(self.screen, binding):
                return binding.key if written(binding.key) else ""
        return ""

    def on_click(self, event: events.Click) -> None:
        if self._notices.shown is not None:
            if key := self._messages_key():
                self.app.simulate_key(key)
            return
        x = event.x
        for entry in self._entries():
            x -= _width(entry)
            if x < 0:
                self.app.simulate_key(entry[0])
                return


def _width(entry: tuple[str, str, str, bool]) -> int:
    return cell_len(entry[1]) + cell_len(entry[2]) + (3 if entry[3] else 4)
