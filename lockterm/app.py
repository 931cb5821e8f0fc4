"""The App: which screen comes first, what every screen shares, and the end of what it opened."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.notifications import Notify
from textual.screen import Screen
from textual.widgets._toast import Toast

from lockterm import startup
from lockterm.in_order import InOrder
from lockterm.models.locks import Lock
from lockterm.operations import Operations
from lockterm.screens.base import LocktermModal
from lockterm.screens.outcomes import Outcomes
from lockterm.store.cache import Cache
from lockterm.store.database import Database
from lockterm.text import clean
from lockterm.widgets.actions import actions_of, written
from lockterm.widgets.hostile import HostileFilter
from lockterm.widgets.notice import Notice

if TYPE_CHECKING:
    from textual.await_remove import AwaitRemove
    from textual.dom import DOMNode
    from textual.notifications import SeverityLevel
    from textual.widget import Widget

    from lockterm.config import Profile
    from lockterm.paths import Paths

_HERE = Path(__file__).parent
_STYLES = [_HERE / "styles.tcss", _HERE.parent / "styles.tcss"]
"""In the wheel the styles lie in the package, in a checkout beside it."""

NOTICES = 4
"""How many notices stand on the screen at once; all are in the message log."""

PAGE_FIRST_S = 0.3
"""So much later, in seconds, garbage is collected again and what earlier sessions left is read: the
first page is wanted more."""

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


class LocktermApp(InOrder[int]):
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
        Binding(
            "H",
            "history",
            "history",
            show=False,
            id="app.history",
            tooltip="Every change sent from here, what became of it, and how to restore",
        ),
        Binding(
            "c",
            "settle('check')",
            "check outcome",
            show=False,
            id="outcome.check",
            tooltip="Read back whether the unsettled change has taken effect",
        ),
        Binding(
            "A",
            "settle('send_again')",
            "send again",
            show=False,
            id="outcome.send_again",
            tooltip="Send the unsettled change again, after asking",
        ),
        Binding(
            "X",
            "settle('give_up')",
            "give up",
            show=False,
            id="outcome.give_up",
            tooltip="Let the unsettled change be, after asking",
        ),
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
        super().__init__()
        self.operations = Operations(
            profile,
            Database(paths.database),
            cache=Cache(paths.cache_dir / "answers.db", profile.base_url),
            clock=clock,
        )
        self.outcomes = Outcomes(self, self.operations)
        """What is not settled, and the keys for it."""
        self.operations.watch_online = self.outcomes.note_online
        self.operations.watch_wait = self.outcomes.note_wait
        self.operations.watch_journal = self._read_outcomes
        self.operations.packs_dir = paths.data_dir / "packs"
        self.messages: deque[Message] = deque(maxlen=MESSAGES)
        """The notices of this session, oldest first."""
        self._open_lock = open_lock
        self._exports = paths.data_dir / "exports"
        self._hostile = HostileFilter()

    def get_default_screen(self) -> Screen[Any]:
        """The lock book, or the remotes of the lock that was asked for."""
        if self._open_lock is None:
            from lockterm.screens.locks import LocksScreen

            return LocksScreen(self.operations)
        from lockterm.screens.remotes import RemotesScreen

        screen = RemotesScreen(self.operations, Lock(self._open_lock))
        # Textual gives its first screen none, and fails to take it away in switch_screen.
        screen._push_result_callback(self, None)
        return screen

    def on_mount(self) -> None:
        """Let go what waits for the first frame, and say what is unwise about the profile."""
        self.call_after_refresh(self._begin)
        self.screen_change_signal.subscribe(self, lambda _: self.outcomes.show())
        for warning in self.operations.profile.warnings:
            self.notify(warning, title="Profile", severity="warning", timeout=15)

    async def on_unmount(self) -> None:
        """Close what was opened."""
        await self.operations.close()

    def _begin(self) -> None:
        startup.first_frame_shown()
        self.set_timer(PAGE_FIRST_S, self._look_back)

    def _look_back(self) -> None:
        """Show what earlier sessions left."""
        from lockterm.screens.form_drafts import offer_abandoned

        startup.over()
        self._read_outcomes()
        self.run_worker(offer_abandoned(self, self.operations), group="drafts")

    def _read_outcomes(self) -> None:
        if self.is_running:
            self.run_worker(self.outcomes.refresh(), group="outcomes", exclusive=True)

    # --- strings of the service --------------------------------------------------------------

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Drop what could steer the terminal, wherever a widget let it through."""
        return [*super().get_line_filters(), self._hostile]

    def action_help_quit(self) -> None:
        """Ctrl+c was pressed where there is nothing to copy: say which key quits."""
        quits = [
            binding.key
            for _, binding, _, _ in self.screen.active_bindings.values()
            if binding.id == "app.quit_always"
        ]
        self.notify(f"{' or '.join(quits)} leaves lockterm from anywhere.", title="To quit")

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
        self._make_room(title, message)
        stands_s = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        self.post_message(Notify(Notice(message, title, severity, stands_s)))

    def _make_room(self, title: str, message: str) -> None:
        """A key held down on a lost service makes 30 notices a second, which slow every key."""
        shown = list(self._notifications)
        for old in shown:
            if old in shown[: 1 - NOTICES] or (old.title, old.message) == (title, message):
                self._unnotify(old, refresh=False)
        for screen in self.screen_stack:
            for toast in screen.query(Toast):
                if toast._notification not in self._notifications:
                    toast._expire()  # Textual itself would leave its empty holder behind

    # --- keys ----------------------------------------------------------------------------------

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Discard keys that were typed before the dialog they would reach was painted."""
        screen = self.screen
        return not isinstance(screen, LocktermModal) or screen.is_meant(event)

    def get_key_display(self, binding: Binding) -> str:
        """A key in words: glyphs such as arrows are not in every font and encoding."""
        return binding.key_display or written(binding.key)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """No cursor blinks: an idle field sends nothing."""
        if hasattr(event.widget, "cursor_blink"):
            event.widget.cursor_blink = False

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The palette offers the actions of the screen: the list that help and key line show."""
        for item in actions_of(screen):
            if item.enabled and item.binding.id:
                yield SystemCommand(
                    item.binding.description.capitalize(),
                    f"{item.sentence}  ({', '.join(item.keys)})",
                    lambda item=item: self.run_action(item.action, item.node),
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

    def action_history(self) -> None:
        """What was sent from here; where a lock's screen is open, what was sent to it."""
        from lockterm.screens.history import HistoryScreen

        if any(isinstance(screen, HistoryScreen) for screen in self.screen_stack):
            return
        entry = getattr(self.screen, "lock_entry", None)
        lock_id = entry.lock_id if isinstance(entry, Lock) else None
        self.push_screen(HistoryScreen(self.operations, self._exports, lock_id))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys for outcomes are there only while one is not settled."""
        if action == "settle":
            return bool(self.outcomes.unsettled) and not self.screen.is_modal
        return super().check_action(action, parameters)

    def action_settle(self, how: str) -> None:
        """Check, send again or give up the oldest unsettled operation."""
        acts = {
            "check": self.outcomes.check,
            "send_again": self.outcomes.send_again,
            "give_up": self.outcomes.give_up,
        }
        self.run_worker(acts[how]())

    # --- the end -------------------------------------------------------------------------------

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
