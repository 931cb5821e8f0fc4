"""What must not be overlooked: the service is gone, or a change is not settled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from lockterm.domain.text.operation import describe_operation
from lockterm.keymap.hints import key

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from lockterm.domain.operation import Operation


class NoticeLine(Widget):
    """A line for each; nothing at all while all is well."""

    link: reactive[str] = reactive("", layout=True)
    """What to say while the service is out of reach or asks for a pause; empty: neither."""

    unsettled: reactive[tuple[Operation, ...]] = reactive((), layout=True)
    """The operations that are not settled, the oldest first."""

    instead: reactive[str] = reactive("", layout=True)
    """What to say in place of the keys for an operation: in a form they are typed into its fields.
    """

    def __init__(self, zone: ZoneInfo, now_ms: Callable[[], int]) -> None:
        super().__init__()
        self._zone = zone
        self._now_ms = now_ms

    def render(self) -> Content:
        lines: list[Content] = []
        if self.link:
            word, _, rest = self.link.partition("  ")
            lines.append(Content.assemble((f"{word}  ", "bold"), rest))
        if self.unsettled:
            first = self.unsettled[0]
            more = f"  (1 of {len(self.unsettled)})" if len(self.unsettled) > 1 else ""
            words = describe_operation(first, self._zone, self._now_ms()) + more
            if self.instead:
                words = f"{words}. {self.instead}"
            lines += self._broken(words.split(" "), () if self.instead else self._keys())
        return Content("\n").join(lines)

    def _keys(self) -> Iterator[Content]:
        for name in ("check", "send_again", "give_up"):
            named = key(f"outcome.{name}"), "bold"
            yield Content.assemble(named, f" {name.replace('_', ' ')}")

    def _broken(self, words: Iterable[str], commands: Iterable[Content]) -> list[Content]:
        """Lines that are broken between words, and never inside of a command."""
        room = self.app.size.width - self.gutter.width  # known before the first layout
        lines = [Content.styled("UNSETTLED ", "bold")]
        parts = [*((" ", Content(word)) for word in words), *(("  ", one) for one in commands)]
        for gap, part in parts:
            longer = Content.assemble(lines[-1], gap, part)
            if longer.cell_length <= room:
                lines[-1] = longer
            else:
                lines.append(part)
        return lines

    def watch_link(self) -> None:
        self.display = bool(self.link or self.unsettled)

    watch_unsettled = watch_link
