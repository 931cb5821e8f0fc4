"""What every app of lockterm shares: how it draws, its notices, its palette, its last words."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ReturnType
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.notifications import Notify
from textual.widgets._toast import Toast

from lockterm.appearance import Appearance
from lockterm.choices import Choices
from lockterm.config.look import Look
from lockterm.keymap.names import written
from lockterm.keymap.spoken import key
from lockterm.rebindable import Rebindable
from lockterm.screens.base import FullScreen, LocktermModal
from lockterm.text import clean
from lockterm.widgets.hostile import HostileFilter
from lockterm.widgets.notice import Notice

if TYPE_CHECKING:
    from textual.await_remove import AwaitRemove
    from textual.command import Provider
    from textual.dom import DOMNode
    from textual.notifications import SeverityLevel
    from textual.widget import Widget

_HERE = Path(__file__).parent
_STYLES = [_HERE / "styles.tcss", _HERE.parent / "styles.tcss"]
"""In the wheel the styles lie in the package, in a checkout beside it."""

NOTICES = 4
"""How many notices stand on the screen at once; all are in the message log."""

ROOMY = 40
"""Rows from which on there is room for all of them; below it, for half: rows are to be seen too."""

MESSAGES = 500
"""How many notices the message log keeps."""

_log = logging.getLogger("lockterm")


def _actions() -> type[Provider]:
    """What the palette offers: imported when it is opened."""
    from lockterm.widgets.palette import ActionsProvider

    return ActionsProvider


@dataclass(frozen=True, slots=True)
class Message:
    """A notice that was shown, for the message log."""

    at_ms: int
    severity: SeverityLevel
    title: str
    text: str


class TerminalApp(Rebindable[ReturnType], Appearance[ReturnType]):
    """An app that is at home on the terminal at hand.

    Args:
        look: What this terminal can do, and what was asked for.
        choices: What was chosen in earlier sessions.
    """

    TITLE = "lockterm"
    CSS_PATH = next(path for path in _STYLES if path.exists())
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_actions}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+p",
            "command_palette",
            "palette",
            show=False,
            id="app.palette",
            priority=True,
            tooltip="Find an action by its words",
        ),
    ]
    NOTIFICATION_TIMEOUT = 6

    _asks_to_quit = False

    def __init__(self, look: Look, choices: Choices) -> None:
        super().__init__(look, choices)
        self.messages: deque[Message] = deque(maxlen=MESSAGES)
        """The notices of this session, oldest first."""
        self._hostile = HostileFilter()

    def now_ms(self) -> int:
        """The time of notices."""
        return time.time_ns() // 1_000_000

    # --- strings of the service --------------------------------------------------------------

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Drop what could steer the terminal, wherever a widget let it through."""
        return [*super().get_line_filters(), self._hostile]

    def action_command_palette(self) -> None:
        """Open the palette over a screen; over itself it has nothing to offer."""
        from lockterm.widgets.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(placeholder="Find an action by its words"))

    def action_help_quit(self) -> None:
        """Ctrl+c was pressed where there is nothing to copy: say which key quits."""
        self.notify(f"{key('app.quit_always')} leaves lockterm from anywhere.", title="To quit")

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a notice and keep it in the message log. Never markup: names come from outside."""
        message, title = clean(message, 600), clean(title, 80)
        self.keep_message(message, title, severity)
        self._make_room(title, message)
        stands_s = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        self.post_message(Notify(Notice(message, title, severity, stands_s)))

    def keep_message(self, message: str, title: str, severity: SeverityLevel) -> None:
        """Keep in the message log what is said elsewhere, so that it can be read again."""
        kept = Message(self.now_ms(), severity, clean(title, 80), clean(message, 600))
        self.messages.append(kept)

    def _make_room(self, title: str, message: str) -> None:
        """A key held down on a lost service makes 30 notices a second, which slow every key."""
        shown = list(self._notifications)
        most = NOTICES if self.size.height >= ROOMY else NOTICES // 2
        for old in shown:
            if old in shown[: 1 - most] or (old.title, old.message) == (title, message):
                self._unnotify(old, refresh=False)
        self._drop_toasts()

    def clear_notifications(self) -> None:
        """Take every notice off the screen; the message log keeps them."""
        for old in list(self._notifications):
            self._unnotify(old, refresh=False)
        self._drop_toasts()

    def _drop_toasts(self) -> None:
        for screen in self.screen_stack:
            for toast in screen.query(Toast):
                if toast._notification not in self._notifications:
                    toast._expire()  # Textual itself would leave its empty holder behind

    def copy_to_clipboard(self, text: str) -> None:
        """Copy what was selected in a field or on the screen, as every value is copied."""
        from lockterm.widgets.clipboard import copy

        copy(self, text, "text", lines=True)

    # --- keys ----------------------------------------------------------------------------------

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Discard keys that were typed before the dialog they would reach was painted."""
        screen = self.screen
        painted = not isinstance(screen, LocktermModal) or screen.is_meant(event)
        return painted and super().is_meant(event)

    def get_key_display(self, binding: Binding) -> str:
        """A key in words: glyphs such as arrows are not in every font and encoding."""
        return written(binding.key)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """No cursor blinks: an idle field sends nothing."""
        if hasattr(event.widget, "cursor_blink"):
            event.widget.cursor_blink = False

    # --- the end -------------------------------------------------------------------------------

    async def action_quit(self) -> None:
        """End; where that loses something, ask first; once, however often the key is pressed."""
        screens = (screen for screen in self.screen_stack if isinstance(screen, FullScreen))
        if question := next(filter(None, (screen.would_lose for screen in screens)), ""):
            if not self._asks_to_quit:
                self.run_worker(self._ask_to_quit(question))
        else:
            self.exit()

    async def _ask_to_quit(self, question: str) -> None:
        from lockterm.screens.confirm import ConfirmModal

        self._asks_to_quit = True
        try:
            modal = ConfirmModal(question, verb="Leave", keep="Keep editing")
            if await self.push_screen_wait(modal):
                self.exit()
        finally:
            self._asks_to_quit = False

    def _prune(self, *nodes: Widget, parent: DOMNode | None = None) -> AwaitRemove:
        """Stop the workers of what is being closed at once, and not after its widgets have gone.

        A read that ended in between found no widget to show its answer in, and ended lockterm.
        """
        for worker in list(self.workers):
            if not set(nodes).isdisjoint(worker.node.ancestors_with_self):
                worker.cancel()
        return super()._prune(*nodes, parent=parent)

    def _fatal_error(self) -> None:
        """A bug: say so without the locals, which may hold secrets; the log has the traceback."""
        _log.critical("lockterm ended on a bug", exc_info=True)
        self._exit_renderables.append(
            "lockterm ended on a bug of its own. What was sent before is not affected.\n"
            "Start it again; `lockterm info` names the log file to report.\n"
        )
        self._close_messages_no_wait()
