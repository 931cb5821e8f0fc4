"""Patches of Textual's drawing without colors or in ASCII, and access to its private parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rich.color import ColorSystem
from rich.segment import Segment, Segments
from rich.style import Style
from textual import _styles_cache
from textual._border import get_box
from textual.app import App
from textual.binding import ActiveBinding, Binding
from textual.content import Content
from textual.dom import DOMNode
from textual.driver import Driver
from textual.filter import Monochrome, NoColor
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.style import Style as VisualStyle
from textual.widget import Widget

from lockterm.domain import glyphs
from lockterm.domain.glyphs import are_ascii
from lockterm.terminal.glyphs import in_ascii

if TYPE_CHECKING:
    from textual.widgets import OptionList

ScreenT = TypeVar("ScreenT", bound=Screen[Any])

_REVERSE = VisualStyle(reverse=True)
_REVERSED = Style(reverse=True)
_get_visual_style = Widget.get_visual_style
_truncate = Content.truncate


class SeenScrollBar(ScrollBarRender):
    """Textual's scroll bar, drawn with glyphs if the theme uses the terminal's own colors.

    In ASCII, the handle ends with a whole cell, because there are no partial blocks.
    """

    @classmethod
    def render_bar(cls, *args: Any, **options: Any) -> Segments:
        """Render Textual's bar, with the handle as a block if it has the terminal's text color."""
        bar = super().render_bar(*args, **options)
        if are_ascii():
            segments = [
                Segment(" " * len(text) if text.strip() else text, style)
                for text, style, _ in bar.segments
            ]
            bar = Segments(segments, new_lines=bar.new_lines)
        if not options["bar_color"].is_default:
            return bar
        # A vertical handle is made of reversed cells. On some terminals, a full block reaches into
        # the next cell and leaves a line there when the handle moves.
        lying = ("#" if are_ascii() else "▀", Style())
        handle = (" ", _REVERSED) if options.get("vertical", True) else lying
        return Segments(
            [_drawn(segment, *handle) for segment in bar.segments], new_lines=bar.new_lines
        )


def _drawn(segment: Segment, glyph: str, style: Style) -> Segment:
    if segment.style is None or segment.text == "\n":
        return segment
    meta = Style.from_meta(segment.style.meta)
    is_handle = segment.style.reverse and segment.text.isspace()
    return Segment(
        (glyph if is_handle else " ") * len(segment.text), meta + style if is_handle else meta
    )


def _with_reverse(self: Widget, *component_classes: str, partial: bool = False) -> VisualStyle:
    """Return the style of component classes, including ``text-style: reverse``.

    Textual ignores ``reverse``, for example in the style of a list's cursor.
    """
    style = _get_visual_style(self, *component_classes, partial=partial)
    if any(self.get_component_styles(name).text_style.reverse for name in component_classes):
        style += _REVERSE
    return style


def _box(*args: Any) -> Any:
    """Return the characters of a border, in ASCII if lockterm draws in ASCII."""
    rows = get_box(*args)
    return tuple(tuple(map(in_ascii, row)) for row in rows) if are_ascii() else rows


def _cut(self: Content, max_width: int, *, ellipsis: bool = False, pad: bool = False) -> Content:
    """Truncate as Textual does, but with lockterm's ellipsis in ASCII."""
    shown = _truncate(self, max_width, ellipsis=ellipsis, pad=pad)
    if not (ellipsis and are_ascii() and 0 < max_width < self.cell_length):
        return shown
    return Content(shown.plain[:-1] + glyphs.ellipsis(), [*shown.spans], max_width)


def active_binding(screen: Screen[Any], key: str) -> ActiveBinding | None:
    """Return the binding that a key would use on a screen; None if there is none.

    Unlike ``screen.active_bindings``, this function does not check the actions of all other keys.
    """
    found: ActiveBinding | None = None
    for node, bindings in screen._modal_binding_chain:
        for binding in bindings.key_to_bindings.get(key, ()):
            if found is not None and (found.binding.priority or not binding.priority):
                continue
            state = screen.app._check_action_state(binding.action, node)
            if state is not False:
                found = ActiveBinding(node, binding, bool(state), binding.tooltip)
    return found


def patch_drawing() -> None:
    """Patch Textual's classes for scroll bars, borders and styles, which offer no hooks."""
    ScrollBar.renderer = SeenScrollBar
    Content.truncate = _cut  # type: ignore[method-assign]
    _styles_cache.get_box = _box  # type: ignore[assignment, attr-defined]
    Widget.get_visual_style = _with_reverse  # type: ignore[method-assign]


# --- private parts of Textual --------------------------------------------------------------------


def driver_of(app: App[Any]) -> Driver | None:
    """Return the driver of an app; None before the app runs."""
    return app._driver


def without_greys(app: App[Any]) -> None:
    """Remove Textual's filters that draw in gray, which it adds even if NO_COLOR is empty."""
    app._filters = [one for one in app._filters if not isinstance(one, (Monochrome, NoColor))]


def begin_with_theme(app: App[Any], theme: str) -> None:
    """Set the theme before the first frame, without the repaint of a theme change."""
    app.set_reactive(App.theme, theme)
    app._refresh_truecolor_filter(app.ansi_theme)
    app.stylesheet.set_variables(app.get_css_variables())


def use_colors(app: App[Any], colors: ColorSystem) -> None:
    """Make an app send only colors of the given color system."""
    app.console._color_system = colors


def line_of_option(options: OptionList) -> int:
    """Return the line, from 0, on which a list's highlighted option begins."""
    return options._index_to_line.get(options.highlighted or 0, 0)


def has_key_of_its_own(app: App[Any], key: str, action_id: str) -> bool:
    """Return whether the app's own bindings contain a key with this ID, even behind a dialog.

    Args:
        app: The app.
        key: Textual's name of the key.
        action_id: The ID of a binding, such as ``app.quit``.
    """
    chain = app.screen._binding_chain
    own = (bindings.key_to_bindings.get(key, ()) for node, bindings in chain if node is app)
    return any(binding.id == action_id for found in own for binding in found)


def own_bindings(node: DOMNode, key: str) -> Sequence[Binding]:
    """Return a node's own bindings for a key, even if their actions are disabled."""
    return node._bindings.key_to_bindings.get(key, ())


def paint_once(screen: Screen[Any]) -> None:
    """Drop the second paint of a new screen, because the first layout already paints the screen."""
    if screen.outer_size != screen.app.size:
        # A lambda, because Textual would parse the text signature of a built-in function.
        screen.call_next(lambda: setattr(screen, "_repaint_required", False))


def follow_size(view: ScrollView) -> None:
    """Update a view's scroll bars after its content has changed.

    If a bar appears or disappears, Textual lays out the view again.
    """
    view._scroll_update(view.virtual_size)


def answers_nobody(screen: ScreenT, app: App[Any]) -> ScreenT:
    """Return an app's first screen with the result callback that ``switch_screen`` requires."""
    screen._push_result_callback(app, None)
    return screen
