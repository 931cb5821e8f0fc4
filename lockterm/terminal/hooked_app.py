"""An app that is asked where Textual decides by itself, and names for what it does not offer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from textual.app import App, ReturnType
from textual.notifications import Notification
from textual.widgets._toast import Toast

if TYPE_CHECKING:
    from textual.await_remove import AwaitRemove
    from textual.dom import DOMNode
    from textual.screen import Screen
    from textual.widget import Widget


class Notice(Notification):
    """A notice whose time never runs out between being listed and being shown.

    Textual makes a timer of the time left. One of zero or less runs for ever without giving way:
    no key works any more, and the process must be killed.
    """

    @property
    def time_left(self) -> float:
        """The seconds it is still to stand; more than none."""
        return max(super().time_left, 0.01)

    @property
    def has_expired(self) -> bool:
        """Whether its time is over."""
        return super().time_left <= 0


class HookedApp(App[ReturnType]):
    """Textual's app; what is asked of it comes first, and below it who asks."""

    # --- what is asked -------------------------------------------------------------------------

    def to_send(self, painted: Any) -> Any:
        """What is sent of what was painted; None: nothing."""
        return painted

    def prepare(self, widgets: Iterable[Widget]) -> None:
        """Change screens and widgets before they are asked for their bindings."""

    def take_left_key(self, key: str) -> bool:
        """Whether a key does something that no binding has taken; in a dialog, none of the app."""
        return False

    def place_notices(self) -> None:
        """Have the notices that stand on the screen now leave free what has to be seen."""

    def last_words(self) -> str:
        """What is said on the terminal after a bug has ended it, while that is being handled."""
        return ""

    # --- who asks ------------------------------------------------------------------------------

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

    def _refresh_notifications(self) -> None:
        super()._refresh_notifications()
        self.call_later(self.place_notices)

    def _prune(self, *nodes: Widget, parent: DOMNode | None = None) -> AwaitRemove:
        """Stop the workers of what is being closed at once, and not after its widgets have gone.

        A read that ended in between found no widget to show its answer in, and ended lockterm.
        """
        for worker in list(self.workers):
            if not set(nodes).isdisjoint(worker.node.ancestors_with_self):
                worker.cancel()
        return super()._prune(*nodes, parent=parent)

    def _fatal_error(self) -> None:
        """Textual's shows the locals of a traceback, which may hold secrets."""
        self._exit_renderables.append(self.last_words())
        self._close_messages_no_wait()

    # --- what Textual does not offer -----------------------------------------------------------

    @property
    def notices(self) -> list[Notification]:
        """The notices that stand on the screen, the oldest first."""
        return list(self._notifications)

    def take_off(self, notices: Iterable[Notification]) -> None:
        """Take notices off every screen."""
        for notice in notices:
            self._unnotify(notice, refresh=False)
        for screen in self.screen_stack:
            for toast in screen.query(Toast):
                if toast._notification not in self._notifications:
                    toast._expire()  # Textual itself would leave its empty holder behind
