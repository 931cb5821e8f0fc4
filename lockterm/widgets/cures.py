"""Cures for what Textual draws with colours alone: scroll bars, fields, the cursor of lists."""

from __future__ import annotations

from typing import Any

from rich.segment import Segment, Segments
from rich.style import Style
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.style import Style as VisualStyle
from textual.widget import Widget
from textual.widgets import Input

_REVERSE = VisualStyle(reverse=True)
_get_visual_style = Widget.get_visual_style
_render_line = Input.render_line


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


def _with_reverse(self: Widget, *component_classes: str, partial: bool = False) -> VisualStyle:
    """Textual forgets ``text-style: reverse`` of the parts of a widget, such as a list's cursor."""
    style = _get_visual_style(self, *component_classes, partial=partial)
    if any(self.get_component_styles(name).text_style.reverse for name in component_classes):
        style += _REVERSE
    return style


def _whole_line(self: Input, y: int) -> Strip:
    """Where a field is told by its underline, an empty one has it too."""
    strip, style = _render_line(self, y), self.rich_style
    return strip.extend_cell_length(self.size.width, style) if style.underline else strip


def cure_drawing() -> None:
    """Apply them to every widget: Textual asks its classes, not an app."""
    ScrollBar.renderer = SeenScrollBar
    Input.render_line = _whole_line  # type: ignore[method-assign]
    Widget.get_visual_style = _with_reverse  # type: ignore[method-assign]
