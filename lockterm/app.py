"""The App on a profile: which screen comes first, and the keys that work on every one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen

from lockterm import startup
from lockterm.choices import Choices
from lockterm.config.look import EVERYTHING, Look
from lockterm.keymap import USUAL, Keymap
from lockterm.models.locks import Lock
from lockterm.operations import Operations
from lockterm.screens.outcomes import Outcomes
from lockterm.store.cache import Cache
from lockterm.store.database import Database
from lockterm.terminal_app import TerminalApp
from lockterm.text import clean

if TYPE_CHECKING:
    from lockterm.config import Profile, Settings
    from lockterm.config.profiles import Profiles
    from lockterm.paths import Paths

PAGE_FIRST_S = 0.3
"""So much later, in seconds, garbage is collected again and what earlier sessions left is read: the
first page is wanted more."""


class LocktermApp(TerminalApp[int]):
    """The terminal UI on one profile.

    Args:
        profile: Which service, and how to show its times.
        paths: Where lockterm keeps its files.
        look: What this terminal can do, and what was asked for.
        keymap: The keys that were chosen.
        open_lock: Open straight on this lock's remotes, in the book or not.
        clock: Seconds since the epoch; replaced in tests.
        profiles: Those that can be switched to; None where there is only this one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "help", id="app.help"),
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
            "send_again",
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
        Binding(
            "P",
            "profiles",
            "profiles",
            show=False,
            id="app.profiles",
            tooltip="Switch to another profile, add one, or change one",
        ),
        Binding("q", "quit", "quit", show=False, id="app.quit"),
        Binding("ctrl+q", "quit", "quit", show=False, id="app.quit_always", priority=True),
    ]

    def __init__(
        self,
        profile: Profile,
        paths: Paths,
        *,
        look: Look = EVERYTHING,
        keymap: Keymap = USUAL,
        open_lock: int | None = None,
        clock: Callable[[], float] = time.time,
        profiles: Profiles | None = None,
    ) -> None:
        super().__init__(look, Choices(paths.choices))
        self.use_keys(keymap)
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
        self.operations.reads_ahead = not look.quiet
        self._profiles = profiles
        self.goes_on: Settings | None = None
        """Once it has ended: with what the next app goes on; None: not at all."""
        self._open_lock = open_lock
        self._exports = paths.data_dir / "exports"

    def now_ms(self) -> int:
        """The clock of the operations."""
        return self.operations.now_ms()

    def wear(self, look: Look) -> None:
        """Quiet reads nothing that was not asked for."""
        super().wear(look)
        self.operations.reads_ahead = not look.quiet

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
        self.measure_link()
        self.run_worker(offer_abandoned(self, self.operations), group="drafts")

    def _read_outcomes(self) -> None:
        if self.is_running:
            self.run_worker(self.outcomes.refresh(), group="outcomes", exclusive=True)

    def action_help(self) -> None:
        """Every key that works here."""
        from lockterm.screens.help import HelpScreen

        if isinstance(self.screen, HelpScreen):  # the key that opened it closes it, whichever it is
            self.screen.action_close()
            return
        self.push_screen(HelpScreen(self.screen))

    def action_messages(self) -> None:
        """The notices of this session, to read again."""
        from lockterm.screens.messages import MessagesScreen

        if isinstance(self.screen, MessagesScreen):
            self.screen.action_close()
            return
        self.push_screen(MessagesScreen(self.operations, list(self.messages)))

    def action_history(self) -> None:
        """What was sent from here; where a lock's screen is open, what was sent to it."""
        from lockterm.screens.history import HistoryScreen

        if any(isinstance(screen, HistoryScreen) for screen in self.screen_stack):
            return
        entry = getattr(self.screen, "lock_entry", None)
        lock_id = entry.lock_id if isinstance(entry, Lock) else None
        self.push_screen(HistoryScreen(self.operations, self._exports, lock_id))

    def action_profiles(self) -> None:
        """The profiles of the configuration."""
        if self._profiles is None:
            self.notify(
                "The demo is a made-up site of its own. Leave it with q: lockterm without a"
                " command opens your profiles, or asks for the first one.",
                title="No profiles here",
            )
            return
        from lockterm.screens.profiles import ProfilesScreen

        if any(isinstance(screen, ProfilesScreen) for screen in self.screen_stack):
            return
        screen = ProfilesScreen(self.operations, self._profiles, self.choices, self._go_on)
        self.push_screen(screen)

    def _go_on(self, settings: Settings) -> None:
        """End in good order; the next app goes on with these settings."""
        self.goes_on = settings
        self.exit()

    def why_not(self, action: str) -> str:
        """The keys for outcomes need one that is not settled, and sending again sends a change."""
        if action not in ("settle", "send_again"):
            return ""
        if not self.outcomes.unsettled:
            return "Nothing is unsettled: every change that was sent has its outcome."
        profile = self.operations.profile
        if action == "send_again" and profile.read_only:
            return f"The profile {clean(profile.name, 30)} is read-only: nothing is sent again."
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Dim what can do nothing now."""
        return None if self.why_not(action) else super().check_action(action, parameters)

    def action_settle(self, how: str) -> None:
        """Check or give up the oldest unsettled operation."""
        acts = {"check": self.outcomes.check, "give_up": self.outcomes.give_up}
        self.run_worker(acts[how]())

    def action_send_again(self) -> None:
        """Send the oldest unsettled operation again."""
        self.run_worker(self.outcomes.send_again())
