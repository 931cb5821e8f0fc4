"""An app with hooks at places where Textual decides alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from textual._styles_cache import StylesCache
from textual.app import App, ReturnType

if TYPE_CHECKING:
    from textual.await_remove import AwaitRemove
    from textual.dom import DOMNode
    from textual.screen import Screen
    from textual.widget import Widget


class HookedApp(App[ReturnType]):
    """Textual's app with hooks; the hooks come first, and below them their callers."""

    # --- hooks ---------------------------------------------------------------------------------

    def to_send(self, painted: Any) -> Any:
        """Return what to send for a painted update, or None to send nothing."""
        return painted

    def prepare(self, widgets: Iterable[Widget]) -> None:
        """Change new screens and widgets before their bindings are read."""

    def take_left_key(self, key: str) -> bool:
        """Return whether a key that no binding took did something; also called in dialogs."""
        return False

    def last_words(self) -> str:
        """Return the message for the terminal after a crash; called while the error is handled."""
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
        return taken or (not priority and self.take_left_key(key))

    def _prune(self, *nodes: Widget, parent: DOMNode | None = None) -> AwaitRemove:
        """Stop the workers of what is being closed at once, and not after its widgets have gone.

        A read that ended in between found no widget to show its answer in, and ended lockterm. And
        where a screen has gone, lay nothing out anew: what was below it stands as it stood.
        """
        if parent is self:
            # This cache of Textual has the widgets' rendered lines in its keys: up to 1,024
            # widgets of closed screens would keep them, about 50 MiB.
            StylesCache.get_inner_outer.cache_clear()
            # Textual drops the watchers of closed text areas when the theme changes, if it does.
            for watchers in getattr(self, "__watchers", {}).values():
                watchers[:] = [one for one in watchers if one[0].is_attached]
        for worker in list(self.workers):
            if not set(nodes).isdisjoint(worker.node.ancestors_with_self):
                worker.cancel()
        return super()._prune(*nodes, parent=None if parent is self else parent)

    def _fatal_error(self) -> None:
        """Textual's shows the locals of a traceback, which may hold secrets."""
        self._exit_renderables.append(self.last_words())
        self._close_messages_no_wait()
