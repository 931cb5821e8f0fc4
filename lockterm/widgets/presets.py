"""Suggested texts beside a field; a click puts one of them into the field."""

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
        return sum(map(_width, self.texts)) - 1

    def render(self) -> Content:
        """Return the texts that fit, in brackets, so that they look like buttons without color."""
        parts: list[tuple[str, Style] | str] = []
        room = self.size.width + 1
        for text in self.texts:
            room -= _width(text)
            if room >= 0:
                parts += [(f"[{text}]", Style.from_meta({"preset": text})), " "]
        return Content.assemble(*parts[:-1])

    def on_click(self, event: events.Click) -> None:
        text = event.style.meta.get("preset")
        if isinstance(text, str):
            event.stop()
            self.post_message(self.Chosen(text))


def _width(text: str) -> int:
    """Return the width of a text with its brackets and the following blank, in cells."""
    return cell_len(text) + 3
