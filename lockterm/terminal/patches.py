"""Patches for what Textual draws with colours alone: scroll bars, fields, the cursor of lists."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rich.color import ColorSystem
from rich.segment import Segment, Segments
from rich.style import Style
from textual import _styles_cache, events
from textual._border import get_box
from textual._compositor import Compositor
from textual.app import App
from textual.binding import ActiveBinding, Binding, BindingsMap
from textual.color import Color
from textual.content import Content
from textual.css._style_properties import ScrollbarColorProperty
from textual.css.styles import StylesBase
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.driver import Driver
from textual.filter import LineFilter, Monochrome, NoColor
from textual.geometry import Offset, Region, Size
from textual.keys import key_to_character
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.style import Style as VisualStyle
from textual.widget import AwaitMount, Widget
from textual.widgets import Input

from lockterm.domain import glyphs
from lockterm.domain.glyphs import are_ascii
from lockterm.keymap.names import PUNCTUATION, SENDABLE
from lockterm.terminal.glyphs import DrawnFilter, in_ascii
from lockterm.terminal.held_paint import is_held

if TYPE_CHECKING:
    from textual.widgets import OptionList

ScreenT = TypeVar("ScreenT", bound=Screen[Any])

_REVERSE = VisualStyle(reverse=True)
_REVERSED = Style(reverse=True)
_get_visual_style = Widget.get_visual_style
_render_line = Input.render_line
_truncate = Content.truncate
_get_line_filters = Widget.get_line_filters
_set_bar_colour = ScrollbarColorProperty.__set__
_size_updated = Widget._size_updated
_view_size_updated = ScrollView._size_updated
_await_mount = AwaitMount.__await__
_get_renders = Compositor._get_renders
_screen_resized = Screen._screen_resized
_on_screen_resume = Screen._on_screen_resume
_on_timer_update = Screen._on_timer_update
_get_dispatch_methods = MessagePump._get_dispatch_methods
_DRAWN = DrawnFilter()
_DRAWING = {"ScrollBar", "Bar"}
"""Widgets of Textual that show nothing but lines and blocks; most of them are imported late."""

_CHARACTERS = {**dict.fromkeys(SENDABLE), **PUNCTUATION, "space": " "}
"""What a field would take for a key; None: nothing that can be printed."""


class SeenScrollBar(ScrollBarRender):
    """Textual's, which is made of background colours; of glyphs in the terminal's own colours.

    In ASCII there are no parts of a cell: the handle ends with a whole one.
    """

    @classmethod
    def render_bar(cls, *args: Any, **options: Any) -> Segments:
        """As Textual's; the handle is a block where it has the colour of the terminal's text."""
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
        handle = (" ", _REVERSED) if options.get("vertical", True) else ("▀", Style())
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


def _whole_line(self: Input, y: int) -> Strip:
    """Where a field is told by its underline, an empty one has it too."""
    strip, style = _render_line(self, y), self.rich_style
    return strip.extend_cell_length(self.size.width, style) if style.underline else strip


def _at_cursor(self: Input) -> Offset:
    """Textual's counts one cell too many behind the last letter."""
    x = self._position_to_cell(self.cursor_position) - self.scroll_offset.x
    return self.content_region.offset + Offset(x, 0)


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


def _filters(self: Widget) -> Sequence[LineFilter]:
    filters = _get_line_filters(self)
    # First: what sends nothing beyond ASCII would have made question marks of them.
    return [_DRAWN, *filters] if self._css_type_name in _DRAWING else filters


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
    Input.render_line = _whole_line  # type: ignore[method-assign]
    Input.cursor_screen_offset = property(_at_cursor)  # type: ignore[assignment]
    Content.truncate = _cut  # type: ignore[method-assign]
    _styles_cache.get_box = _box  # type: ignore[assignment, attr-defined]
    Widget.get_line_filters = _filters  # type: ignore[method-assign]
    Widget.get_visual_style = _with_reverse  # type: ignore[method-assign]


def _laid_out(
    self: Widget, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
) -> bool:
    """Textual's; what a layout has found needs no other one, but for a scroll bar that comes.

    A terminal of another size has one all the same: what is told of the rows waits for it.
    """
    is_resized = isinstance(self, Screen) and bool(self._size)
    return _size_updated(self, size, virtual_size, container_size, layout and is_resized)


def _painting_bars_once(size_updated: Callable[..., bool]) -> Callable[..., bool]:
    """Textual paints the scroll bars of what has another size with the layout, and once more."""

    def updated(self: Widget, *sizes: Size, layout: bool = True) -> bool:
        was = self._size
        is_told = size_updated(self, *sizes, layout=layout)
        if self._size != was:
            for bar in (self._vertical_scrollbar, self._horizontal_scrollbar):
                if bar is not None:
                    bar._repaint_required = False
        return is_told

    return updated


def _resized(self: Screen[Any], size: Size) -> None:
    """Textual lays a screen, and those below it, out again when it hears of its first layout."""
    if size != self._size:
        _screen_resized(self, size)


def _resumed(self: Screen[Any], event: events.ScreenResume) -> None:
    """Textual styles all of a screen again that was made, and so styled, just now."""
    event.refresh_styles = event.refresh_styles and self.stack_updates > 0
    _on_screen_resume(self, event)


def _due(self: Screen[Any]) -> None:
    """Textual's; what is held stays marked as changed, and is asked about again."""
    if is_held(self):
        self._update_timer.pause()
    else:
        _on_timer_update(self)


def _mounted(self: AwaitMount) -> Generator[None, None, None]:
    """Textual waits twice for what is mounted, and lays the screen out anew each time.

    What is mounted is a new screen itself, or in one: that is laid out when it is shown.
    """
    if self._parent in self._widgets:
        yield from self._parent._mounted_event.wait().__await__()
    elif not hasattr(self, "is_over"):
        yield from _await_mount(self)
        self.is_over = True  # type: ignore[attr-defined]


def _rendered(self: Compositor, crop: Region | None = None) -> Iterable[Any]:
    """Textual asks nearly every widget for all of its lines, whichever rows are painted."""
    if crop is None:
        return _get_renders(self)
    rows = Region(0, crop.y, self.size.width, crop.height)
    seen = {
        widget: (region, clip.intersection(rows))
        for widget, (region, clip) in self.visible_widgets.items()
        if rows.overlaps(region)
    }
    return _get_renders(cast(Compositor, SimpleNamespace(visible_widgets=seen)))


def _restyled(self: Stylesheet, nodes: Iterable[DOMNode], animate: bool = False) -> None:
    """Textual's; without the scroll bars: no rule of a stylesheet is for them.

    They look as what they scroll says. Textual styles them late: the first change of the focus had
    each laid out anew.
    """
    cache: dict[tuple[Any, ...], Any] = {}
    for node in nodes:
        self.apply(node, animate=animate, cache=cache)


def _coloured(self: ScrollbarColorProperty, obj: StylesBase, color: Color | str | None) -> None:
    """Textual's, which has the scroll bars painted anew with each change of the focus."""
    if color != obj.get_rule(self.name):
        _set_bar_colour(self, obj, color)


def patch_layout() -> None:
    """Have nothing laid out, styled or painted again that has just been, and nothing in vain."""
    # Each screen would have a place for toasts and one for tooltips: there are none here.
    Screen._extend_compose = Widget._extend_compose  # type: ignore[method-assign]
    Compositor._get_renders = _rendered  # type: ignore[method-assign]
    Widget._size_updated = _painting_bars_once(_laid_out)  # type: ignore[method-assign]
    ScrollView._size_updated = _painting_bars_once(_view_size_updated)  # type: ignore[method-assign]
    AwaitMount.__await__ = _mounted  # type: ignore[method-assign]
    Screen._screen_resized = _resized  # type: ignore[method-assign]
    Screen._on_screen_resume = _resumed  # type: ignore[method-assign]
    Screen._on_timer_update = _due  # type: ignore[method-assign]
    Stylesheet.update_nodes = _restyled  # type: ignore[method-assign]
    ScrollbarColorProperty.__set__ = _coloured  # type: ignore[method-assign]
    Screen.focused._repaint = False  # whose looks change with the focus paint themselves


def character_of(key: str) -> str | None:
    """Textual asks Unicode, and of what this table knows too."""
    return _CHARACTERS[key] if key in _CHARACTERS else key_to_character(key)


def _chain(self: Screen[Any]) -> list[tuple[DOMNode, BindingsMap]]:
    """Textual's asks every widget on the way about every key that is bound behind it."""
    focused = self.focused
    nodes: list[DOMNode] = [self, self.app]
    if focused is not None and not focused.loading:
        nodes = focused.ancestors_with_self
    chain = [(node, node._bindings.copy()) for node in nodes]
    takers: list[DOMNode] = []
    for node, found in chain:
        bound = found.key_to_bindings
        for taker in takers:
            takes = taker.check_consume_key
            for key in [key for key in bound if takes(key, character_of(key))]:
                del bound[key]
        if type(node).check_consume_key is not DOMNode.check_consume_key:
            takers.append(node)
    return chain


@cache
def _methods_of(
    pump: type[MessagePump], kind: type[Message], name: str
) -> Sequence[tuple[type, Sequence[Callable[..., Any]]]] | None:
    """What a message is handed to, class by class; None where selectors decide on each message."""
    kinds = [one for one in kind.__mro__ if issubclass(one, Message)]
    found: list[tuple[type, Sequence[Callable[..., Any]]]] = []
    decorated: list[Callable[..., Any]] = []
    for cls in pump.__mro__:
        handlers = cls.__dict__.get("_decorated_handlers") or {}
        methods: list[Callable[..., Any]] = []
        for method, selectors in (pair for one in kinds for pair in handlers.get(one, ())):
            if selectors:
                return None
            if method not in decorated:
                methods.append(method)
                decorated.append(method)
        named = cls.__dict__.get(f"_{name}") or cls.__dict__.get(name)
        if named is not None and not getattr(named, "_textual_on", None):
            methods.append(named)
        if methods:
            found.append((cls, methods))
    return found


def _dispatched(
    self: MessagePump, name: str, message: Message
) -> Iterator[tuple[type, Callable[[Message], Any]]]:
    """Textual looks through all classes of a widget, for each of the thirty messages of a key."""
    known = _methods_of(type(self), type(message), name)  # type: ignore[arg-type]
    if known is None:
        yield from _get_dispatch_methods(self, name, message)
        return
    for cls, methods in known:
        if message._no_default_action:
            return
        for method in methods:
            yield cls, method.__get__(self, cls)


def patch_keys() -> None:
    """Have what a key is bound to found sooner, and what hears of what it leads to."""
    Screen._binding_chain = property(_chain)  # type: ignore[assignment]
    MessagePump._get_dispatch_methods = _dispatched  # type: ignore[assignment]


# --- what Textual has and does not offer ---------------------------------------------------------


def driver_of(app: App[Any]) -> Driver | None:
    """What draws an app; None before it runs."""
    return app._driver


def without_greys(app: App[Any]) -> None:
    """Drop Textual's filters that turn colours into greys; an empty NO_COLOR is one for them."""
    app._filters = [one for one in app._filters if not isinstance(one, (Monochrome, NoColor))]


def begin_with_theme(app: App[Any], theme: str) -> None:
    """Before the first frame, and without the painting that follows a change of theme."""
    app.set_reactive(App.theme, theme)
    app._refresh_truecolor_filter(app.ansi_theme)
    app.stylesheet.set_variables(app.get_css_variables())


def use_colours(app: App[Any], colours: ColorSystem) -> None:
    """Have colours sent as this kind of terminal takes them."""
    app.console._color_system = colours


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
