"""A Textual app with hooks that Textual itself does not offer."""

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
            StylesCache.get_inner_outer.cache_clear()
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
