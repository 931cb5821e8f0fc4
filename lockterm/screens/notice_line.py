"""Lines that users must not overlook: an unreachable service, or unconfirmed changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from lockterm.domain.glyphs import ellipsis
from lockterm.domain.text.operation import describe_operation
from lockterm.keymap.hints import key
from lockterm.widgets.cells import count_lines

if TYPE_CHECKING:
    from lockterm.domain.operation import Operation
    from lockterm.operations import Operations

MOST_LINES = 4
"""The maximum height of the widget in rows, as in the stylesheet."""

_VERBS = {
    "outcome.check": "check",
    "outcome.send_again": "send again",
    "outcome.give_up": "dismiss",
}
"""Maps the keys of the actions on an unconfirmed change to their verbs."""


class NoticeLine(Widget):
    """A widget with a line for each problem, which is hidden if there is no problem."""

    connection_text: reactive[str] = reactive("", layout=True)
    """The message while the service is unreachable or asks for a pause; otherwise empty."""

    unconfirmed: reactive[tuple[Operation, ...]] = reactive((), layout=True)
    """The unconfirmed operations, the oldest first."""

    instead: reactive[str] = reactive("", layout=True)
    """In a form, the text in place of the keys, because those keys would type text there."""

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._operations = operations

    def render(self) -> Content:
        lines: list[Content] = []
        if self.connection_text:
            word, _, rest = self.connection_text.partition("  ")
            lines.append(Content.assemble((f"{word}  ", "bold"), rest))
        if self.unconfirmed:
            first = self.unconfirmed[0]
            count = len(self.unconfirmed)
            more = [Content(f"(1 of {count})")] if count > 1 else []
            zone, now_ms = self._operations.profile.zone, self._operations.now_ms()
            text = describe_operation(first, zone, now_ms)
            if self.instead:
                text = f"{text}. {self.instead}"
            keys = [] if self.instead else self._keys()
            lines += self._broken(text.split(" "), [*more, *keys])
        return Content("\n").join(lines)

    def _keys(self) -> Iterator[Content]:
        for name, verb in _VERBS.items():
            yield Content.assemble((key(name), "bold"), f" {verb}")

    def _broken(self, words: Sequence[str], kept_parts: Sequence[Content]) -> list[Content]:
        """Return lines that are broken between words, but never inside the label of a key.

        If there are too many lines, the last words are left out, but never ``kept_parts``.

        Args:
            words: The words about the oldest unconfirmed change.
            kept_parts: The number of changes, and the labels of the keys.
        """
        room = self.app.size.width - self.gutter.width  # known before the first layout
        most = MOST_LINES - (count_lines(self.connection_text, room) if self.connection_text else 0)
        kept, lines = [*words], self._lay(words, kept_parts, room)
        while len(lines) > most and len(kept) > 1:
            kept.pop()
            cut = [*kept[:-1], kept[-1].rstrip(",:") + ellipsis()]
            lines = self._lay(cut, kept_parts, room)
        return lines

    def _lay(self, words: Sequence[str], kept_parts: Sequence[Content], room: int) -> list[Content]:
        lines = [Content.styled("UNCONFIRMED ", "bold")]
        parts = [*((" ", Content(word)) for word in words), *(("  ", one) for one in kept_parts)]
        for gap, part in parts:
            longer = Content.assemble(lines[-1], gap, part)
            if longer.cell_length <= room:
                lines[-1] = longer
            else:
                lines.append(part)
        return lines

    def watch_connection_text(self) -> None:
        self.display = bool(self.connection_text or self.unconfirmed)

    watch_unconfirmed = watch_connection_text
