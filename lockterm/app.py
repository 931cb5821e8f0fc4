"""The App: which screen comes first, what every screen shares, and the end of what it opened."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen

from lockterm import startup
from lockterm.operations import Operations
from lockterm.screens.base import LocktermModal, LocktermScreen
from lockterm.store.database import Database
from lockterm.text import clean
from lockterm.widgets.hostile import HostileFilter

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from lockterm.config import Profile
    from lockterm.paths import Paths

_HERE = Path(__file__).parent
_STYLES = [_HERE / "styles.tcss", _HERE.parent / "styles.tcss"]
"""In the wheel the styles lie in the package, in a checkout beside it."""

MESSAGES = 500
"""How many notices the message log keeps."""

_log = logging.getLogger("lockterm")


@dataclass(frozen=True, slots=True)
class Message:
    """A notice that was shown, for the message log."""

    at_ms: int
    severity: SeverityLevel
    title: str
    text: str


class LocktermApp(App[int]):
    """The terminal UI on one profile.

    Args:
        profile: Which service, and how to show its times.
        paths: Where lockterm keeps its files.
        open_lock: Open straight on this lock's remotes, in the book or not.
        clock: Seconds since the epoch; replaced in tests.
    """

    TITLE = "lockterm"
    CSS_PATH = next(path for path in _STYLES if path.exists())
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    NOTIFICATION_TIMEOUT = 6

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "help", key_display="?", id="app.help"),
        Binding("f2,M", "messages", "messages", show=False, id="app.messages"),
        Binding("q", "quit", "quit", show=False, id="app.quit"),
        Binding("ctrl+q", "quit", "quit", show=False, id="app.quit_always"),
    ]

    def __init__(
        self,
        profile: Profile,
        paths: Paths,
        *,
        open_lock: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(watch_css=False)
        self.operations = Operations(profile, Database(paths.database), clock=clock)
        self.operations.watch_online = self._show_online
        self.messages: deque[Message] = deque(maxlen=MESSAGES)
        """The notices of this session, oldest first."""
        self._open_lock = open_lock
        self._hostile = HostileFilter()

    def get_default_screen(self) -> Screen[object]:
        """The lock book, or the remotes of the lock that was asked for."""
        from lockterm.screens.locks import LocksScreen

        return LocksScreen(self.operations, open_lock=self._open_lock)

    def on_mount(self) -> None:
        """Let go what waits for the first frame, and say what is unwise about the profile."""
        self.call_after_refresh(startup.first_frame_shown)
        for warning in self.operations.profile.warnings:
            self.notify(warning, title="Profile", severity="warning", timeout=15)

    async def on_unmount(self) -> None:
        """Close what was opened."""
        await self.operations.close()

    def _show_online(self, online: bool) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, LocktermScreen):
                screen.show_online(online)

    # --- strings of the service --------------------------------------------------------------

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Drop what could steer the terminal, wherever a widget let it through."""
        return [*super().get_line_filters(), self._hostile]

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
        self.messages.append(Message(self.operations.now_ms(), severity, title, message))
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=False)

    # --- keys ----------------------------------------------------------------------------------

    async def on_event(self, event: events.Event) -> None:
        """Discard keys that were typed before the dialog they would reach was painted."""
        if isinstance(event, events.Key) and self.screen_stack:
            screen = self.screen
            if isinstance(screen, LocktermModal) and not screen.is_meant(event):
                return
        await super().on_event(event)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette offers the actions of the screen: the list that help and key line show."""
        for node, binding, enabled, _ in screen.active_bindings.values():
            if enabled and binding.description and binding.id:
                keys = self.get_key_display(binding)
                yield SystemCommand(
                    binding.description.capitalize(),
                    f"{binding.tooltip or binding.description}  ({keys})",
                    lambda node=node, action=binding.action: self.run_action(action, node),
                )
        yield SystemCommand("Theme", "Change the theme", self.action_change_theme)

    def action_help(self) -> None:
        """Every key that works here."""
        from lockterm.screens.help import HelpScreen

        self.push_screen(HelpScreen(self.screen))

    def action_messages(self) -> None:
        """The notices of this session, to read again."""
        from lockterm.screens.messages import MessagesScreen

        self.push_screen(MessagesScreen(self.operations, list(self.messages)))

    # --- the end -------------------------------------------------------------------------------

    def _fatal_error(self) -> None:
        """A bug: say so without the locals, which may hold secrets; the log has the traceback."""
        _log.critical("lockterm ended on a bug", exc_info=True)
        self._exit_renderables.append(
            "lockterm ended on a bug of its own. What was sent before is not affected.\n"
            "Start it again; `lockterm info` names the log file to report.\n"
        )
        self._close_messages_no_wait()
