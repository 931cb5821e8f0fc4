"""Changes to Textual for which it has no hooks, and access to its private parts.

The sections are: apps, keys, drawing without colors or in ASCII, and single parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment, Segments
from rich.style import Style
from textual import _styles_cache
from textual._border import get_box
from textual.app import App, ReturnType
from textual.binding import ActiveBinding, Binding, BindingsMap
from textual.content import Content
from textual.dom import DOMNode
from textual.driver import Driver
from textual.filter import Monochrome, NoColor
from textual.renderables.bar import Bar
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.style import Style as VisualStyle
from textual.widget import Widget

from lockterm.domain import glyphs
from lockterm.domain.glyphs import are_ascii
from lockterm.keymap import Keymap
from lockterm.keymap.hints import NO_KEY

if TYPE_CHECKING:
    from textual.await_remove import AwaitRemove
    from textual.widgets import OptionList

ScreenT = TypeVar("ScreenT", bound=Screen[Any])


class HookedApp(App[ReturnType]):
    """A Textual app with hooks that subclasses override, and the methods that call the hooks."""

    # --- hooks ---------------------------------------------------------------------------------

    def to_send(self, painted: Any) -> Any:
        """Return the output to send in place of a painted update; None to send nothing."""
        return painted

    def prepare(self, widgets: Iterable[Widget]) -> None:
        """Change new screens and widgets before Textual reads their bindings."""

    def take_unused_key(self, key: str) -> bool:
        """Handle a key that no binding used, even in a dialog; return whether the key was used."""
        return False

    def describe_crash(self) -> str:
        """Return the message for the terminal after a crash.

        The method is called while the error is handled.
        """
        return ""

    # --- callers -------------------------------------------------------------------------------

    def _display(self, screen: Screen[object], renderable: Any) -> None:
        if (sent := self.to_send(renderable)) is not None:
            super()._display(screen, sent)

    def _register(
        self,
        parent: DOMNode,
        *widgets: Widget,
        before: int | None = None,
        after: int | None = None,
        cache: dict[tuple[Any, ...], Any] | None = None,
    ) -> list[Widget]:
        self.prepare(widgets)
        return super()._register(parent, *widgets, before=before, after=after, cache=cache)

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        taken = await super()._check_bindings(key, priority)
        return taken or (not priority and self.take_unused_key(key))

    def _prune(self, *nodes: Widget, parent: DOMNode | None = None) -> AwaitRemove:
        """Cancel the workers of closing widgets before the widgets are removed.

        If a worker's call ended after the removal, it would find no widget for its answer and crash
        lockterm. If ``nodes`` is a closed screen, the method passes no parent to Textual, because
        the screen below needs no new layout.
        """
        if parent is self:
            # The keys of this cache of Textual refer to rendered lines. It would keep those of up
            # to 1,024 closed widgets, about 50 MiB.
            _styles_cache.StylesCache.get_inner_outer.cache_clear()
            # Textual drops the watchers of closed text areas only when the theme changes.
            for watchers in getattr(self, "__watchers", {}).values():
                watchers[:] = [one for one in watchers if one[0].is_attached]
        for worker in list(self.workers):
            if not set(nodes).isdisjoint(worker.node.ancestors_with_self):
                worker.cancel()
        return super()._prune(*nodes, parent=None if parent is self else parent)

    def _fatal_error(self) -> None:
        """Exit without Textual's traceback, whose local variables may contain secrets."""
        self._exit_renderables.append(self.describe_crash())
        self._close_messages_no_wait()


# --- keys ----------------------------------------------------------------------------------------


def rebind(nodes: Iterable[DOMNode], keymap: Keymap) -> None:
    """Give new apps, screens and widgets the keys that the user chose, before they receive keys.

    Textual's ``App.set_keymap`` has three problems:

    * It applies the keymap after ``Screen._binding_chain`` has dropped the keys that type text into
      the focused field. An action whose default key is a letter is dropped too. For example, F1
      chosen instead of ``?`` would do nothing in a form.
    * A rebound binding moves behind all other bindings.
    * An action cannot be left without a key.

    Here, a binding keeps its position and has its new key from the beginning.

    Args:
        nodes: The nodes, each of which must be given only once.
        keymap: Maps IDs of bindings to keys; ``lockterm.keymap.check`` must have accepted it.
    """
    if keymap:
        for node in nodes:
            node._bindings = _rebound(node._bindings, keymap)


def _rebound(bindings: BindingsMap, keymap: Keymap) -> BindingsMap:
    """Return bindings in their old order, with the keys that a keymap sets for their IDs."""
    keys: dict[str, list[Binding]] = {}
    moved: set[tuple[str, str]] = set()
    for key, binding in bindings:
        chosen = keymap.get(binding.id or "")
        if chosen is None:
            keys.setdefault(key, []).append(binding)
        elif (mark := (binding.id or "", binding.action)) not in moved:
            moved.add(mark)
            for new in chosen or (f"{NO_KEY}{binding.id}",):  # the palette needs the binding
                keys.setdefault(new, []).append(binding.with_key(new))
    return BindingsMap.from_keys(keys)


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


def has_key_of_its_own(app: App[Any], key: str, action_id: str) -> bool:
    """Return whether one of the app's own bindings has this key and this ID, even behind a dialog.

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


# --- drawing without colors or in ASCII ----------------------------------------------------------

_ASCII = {
    **dict.fromkeys(range(0x2500, 0x2580), "+"),  # any other line is a corner
    **dict.fromkeys(map(ord, "─━┄┅┈┉╌╍═╴╶╸╺╼╾▔▁⎯"), "-"),
    **dict.fromkeys(map(ord, "│┃┆┇┊┋╎╏║╵╷╹╻╽╿▏▎▍▌▋▊▉▐▕"), "|"),
    **dict.fromkeys(map(ord, "▀▂▃▄▅▆▇█░▒▓■▖▗▘▙▚▛▜▝▞▟"), "#"),
    **{ord("╱"): "/", ord("╲"): "\\", ord("╳"): "x", ord("•"): "*", ord("●"): "*", ord("○"): "o"},
}
"""Maps the characters of Textual's decoration (borders, scroll bars, progress bars) to ASCII.

The service's values keep their characters. Icons in lockterm's own texts come from
``lockterm.domain.glyphs``.
"""

_REVERSE = VisualStyle(reverse=True)
_REVERSED = Style(reverse=True)
_get_visual_style = Widget.get_visual_style
_truncate = Content.truncate


def in_ascii(segment: Segment) -> Segment:
    """Return a segment of decoration in ASCII, with the same width."""
    if segment.control or segment.text.isascii():
        return segment
    return Segment(segment.text.translate(_ASCII), segment.style)


class DrawnBar(Bar):
    """Textual's progress bar, in ASCII if lockterm draws in ASCII."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in super().__rich_console__(console, options):
            segments = [part] if isinstance(part, Segment) else console.render(part, options)
            yield from map(in_ascii, segments) if are_ascii() else segments


class SeenScrollBar(ScrollBarRender):
    """Textual's scroll bar, drawn with glyphs if the theme uses the terminal's own colors.

    In ASCII, the handle ends with a whole cell, because there are no partial blocks.
    """

    @classmethod
    def render_bar(cls, *args: Any, **options: Any) -> Segments:
        """Render Textual's bar, and change a handle that has the terminal's text color.

        Such a handle is made of reversed blanks in a vertical bar, and of a glyph in a horizontal
        bar.
        """
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


def patch_drawing() -> None:
    """Patch Textual's classes for scroll bars, borders and styles, which offer no hooks."""
    ScrollBar.renderer = SeenScrollBar
    Content.truncate = _cut  # type: ignore[method-assign]
    _styles_cache.get_box = _box  # type: ignore[assignment, attr-defined]
    Widget.get_visual_style = _with_reverse  # type: ignore[method-assign]


# --- single parts of Textual ---------------------------------------------------------------------


def driver_of(app: App[Any]) -> Driver | None:
    """Return the driver of an app; None before the app runs."""
    return app._driver


def without_greys(app: App[Any]) -> None:
    """Remove the filters that draw in gray. Textual adds them even if NO_COLOR is empty."""
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
    """Give an app's first screen the result callback that ``switch_screen`` requires.

    Returns:
        The screen.
    """
    screen._push_result_callback(app, None)
    return screen
