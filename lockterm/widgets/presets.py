"""Suggested texts beside a field. A click on a text puts it into the field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

LABELS = {"eom": "end of month", "eoy": "end of year"}
"""Maps texts to longer labels, which are shown if there is room for all of them."""

SHARE = 0.6
"""The maximum share of the line's width for the presets, as a fraction. The field needs the rest.

The stylesheet has the same value.
"""


class Presets(Widget):
    """A line of clickable texts.

    The line never has the focus, so that Tab and Enter go from field to field. The widget that
    contains the line binds a key that chooses the texts one after the other.

    Args:
        texts: The texts, without control characters.
    """

    @dataclass
    class Chosen(Message):
        """Posted when the user clicks a text."""

        text: str

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        self.texts = tuple(texts)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        room = int(container.width * SHARE)
        return sum(map(_width, self._labels(room))) - 1

    def _labels(self, room: int) -> Sequence[str]:
        """Return the long labels if all of them fit into ``room`` cells, otherwise the texts."""
        labels = [LABELS.get(text, text) for text in self.texts]
        return labels if sum(map(_width, labels)) - 1 <= room else self.texts

    def render(self) -> Content:
        """Return the texts that fit, in brackets, so that they look like buttons without color."""
        parts: list[tuple[str, Style] | str] = []
        room = self.size.width + 1
        for text, label in zip(self.texts, self._labels(self.size.width), strict=True):
            room -= _width(label)
            if room >= 0:
                parts += [(f"[{label}]", Style.from_meta({"preset": text})), " "]
        return Content.assemble(*parts[:-1])

    def on_click(self, event: events.Click) -> None:
        text = event.style.meta.get("preset")
        if isinstance(text, str):
            event.stop()
            self.post_message(self.Chosen(text))


def _width(text: str) -> int:
    """Return the width of a text with its brackets and the following blank, in cells."""
    return cell_len(text) + 3
