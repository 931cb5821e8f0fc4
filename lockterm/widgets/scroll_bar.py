"""A scroll bar that is seen where there are no colours to draw it with."""

from __future__ import annotations

from typing import Any

from rich.segment import Segment, Segments
from rich.style import Style
from textual.scrollbar import ScrollBar, ScrollBarRender


class SeenScrollBar(ScrollBarRender):
    """Textual's, which is made of background colours; of glyphs in the terminal's own colours."""

    @classmethod
    def render_bar(cls, *args: Any, **options: Any) -> Segments:
        """As Textual's; the handle is a block where it has the colour of the terminal's text."""
        bar = super().render_bar(*args, **options)
        if not options["bar_color"].is_default:
            return bar
        glyph = "█" if options.get("vertical", True) else "▀"
        return Segments(
            [_drawn(segment, glyph) for segment in bar.segments], new_lines=bar.new_lines
        )


def _drawn(segment: Segment, glyph: str) -> Segment:
    if segment.style is None or segment.text == "\n":
        return segment
    meta = Style.from_meta(segment.style.meta)
    is_handle = segment.style.reverse and segment.text.isspace()
    return Segment((glyph if is_handle else " ") * len(segment.text), meta)


def use_everywhere() -> None:
    """Draw every scroll bar so: Textual asks the class, not an app."""
    ScrollBar.renderer = SeenScrollBar
