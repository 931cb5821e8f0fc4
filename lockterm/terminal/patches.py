"""Patches for what Textual draws with colors alone: scroll bars, fields, the cursor of lists."""

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
    """Textual's, which is made of background colors; of glyphs in the terminal's own colors.

    In ASCII there are no parts of a cell: the handle ends with a whole one.
    """

    @classmethod
    def render_bar(cls, *args: Any, **options: Any) -> Segments:
        """As Textual's; the handle is a block where it has the color of the terminal's text."""
        bar = super().render_bar(*args, **options)
        if are_ascii():
            segments = [
                Segment(" " * len(text) if text.strip() else text, style)
                for text, style, _ in bar.segments
            ]
            bar = Segments(segments, new_lines=bar.new_lines)
        if not options["bar_color"].is_default:
            return bar
        # Of an upright one the cells are reversed: a full block reaches into the cell beside it on
        # some terminals, and leaves a line there when the handle moves.
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
    """Textual forgets ``text-style: reverse`` of the parts of a widget, such as a list's cursor."""
    style = _get_visual_style(self, *component_classes, partial=partial)
    if any(self.get_component_styles(name).text_style.reverse for name in component_classes):
        style += _REVERSE
    return style


def _box(*args: Any) -> Any:
    """What an edge is drawn with: lines, or ASCII."""
    rows = get_box(*args)
    return tuple(tuple(map(in_ascii, row)) for row in rows) if are_ascii() else rows


def _cut(self: Content, max_width: int, *, ellipsis: bool = False, pad: bool = False) -> Content:
    """Textual's, with our sign for what is cut off."""
    shown = _truncate(self, max_width, ellipsis=ellipsis, pad=pad)
    if not (ellipsis and are_ascii() and 0 < max_width < self.cell_length):
        return shown
    return Content(shown.plain[:-1] + glyphs.ellipsis(), [*shown.spans], max_width)


def active_binding(screen: Screen[Any], key: str) -> ActiveBinding | None:
    """What ``screen.active_bindings`` has for a key, without asking whether all others are enabled.

    Args:
        screen: The one on top.
        key: As Textual calls it.

    Returns:
        The binding that the key would reach; None: there is none, or its action is not offered.
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
    """Apply them to every widget: Textual asks its classes, not an app."""
    ScrollBar.renderer = SeenScrollBar
    Content.truncate = _cut  # type: ignore[method-assign]
    _styles_cache.get_box = _box  # type: ignore[assignment, attr-defined]
    Widget.get_visual_style = _with_reverse  # type: ignore[method-assign]


# --- what Textual has and does not offer ---------------------------------------------------------


def driver_of(app: App[Any]) -> Driver | None:
    """What draws an app; None before it runs."""
    return app._driver


def without_greys(app: App[Any]) -> None:
    """Drop Textual's filters that turn colors into grays; an empty NO_COLOR is one for them."""
    app._filters = [one for one in app._filters if not isinstance(one, (Monochrome, NoColor))]


def begin_with_theme(app: App[Any], theme: str) -> None:
    """Before the first frame, and without the painting that follows a change of theme."""
    app.set_reactive(App.theme, theme)
    app._refresh_truecolor_filter(app.ansi_theme)
    app.stylesheet.set_variables(app.get_css_variables())


def use_colors(app: App[Any], colors: ColorSystem) -> None:
    """Have colors sent as this kind of terminal takes them."""
    app.console._color_system = colors


def line_of_option(options: OptionList) -> int:
    """On which line of a list the option under its cursor begins, counted from 0."""
    return options._index_to_line.get(options.highlighted or 0, 0)


def has_key_of_its_own(app: App[Any], key: str, action_id: str) -> bool:
    """Whether a key is bound to this id by the app, wherever the focus is and in a dialog too."""
    chain = app.screen._binding_chain
    own = (bindings.key_to_bindings.get(key, ()) for node, bindings in chain if node is app)
    return any(binding.id == action_id for found in own for binding in found)


def own_bindings(node: DOMNode, key: str) -> Sequence[Binding]:
    """What a screen or widget itself has bound to a key, offered now or not."""
    return node._bindings.key_to_bindings.get(key, ())


def paint_once(screen: Screen[Any]) -> None:
    """Paint a new screen once: Textual lays it out, which paints it, and then paints again."""
    if screen.outer_size != screen.app.size:
        # Of a function that is built in, Textual has the text of the signature parsed, each start.
        screen.call_next(lambda: setattr(screen, "_repaint_required", False))


def follow_size(view: ScrollView) -> None:
    """Have scroll bars fit what a view has come to hold; the screen is laid out where one comes."""
    view._scroll_update(view.virtual_size)


def answers_nobody(screen: ScreenT, app: App[Any]) -> ScreenT:
    """The first screen of an app as ``switch_screen`` wants it: with a place for its answer."""
    screen._push_result_callback(app, None)
    return screen
