"""The app that uses a profile: its first screen, and the keys that work on every screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from textual import work
from textual.screen import Screen
from textual.timer import Timer

from lockterm import screens
from lockterm.app.terminal_app import TerminalApp
from lockterm.config.look import FULL_LOOK, Look
from lockterm.config.preferences import Preferences
from lockterm.domain.dates import Clock
from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import clean
from lockterm.domain.text.service import describe_read_only
from lockterm.errors import LocktermError
from lockterm.keymap import DEFAULT_KEYMAP, Keymap
from lockterm.keymap.hints import key
from lockterm.operations import Operations
from lockterm.screens.base import LocktermScreen, refuse_to_open
from lockterm.screens.modal import LocktermModal
from lockterm.terminal import startup
from lockterm.terminal.key_queue import opening
from lockterm.terminal.patches import answers_nobody, has_key_of_its_own
from lockterm.widgets.actions import bindings

if TYPE_CHECKING:
    from lockterm.api.client import FirstPage
    from lockterm.config import Profile, Settings
    from lockterm.config.profiles import Profiles
    from lockterm.domain.plan import Run
    from lockterm.paths import Paths
    from lockterm.screens.unconfirmed import Outcomes
    from lockterm.store.cache import Cache

RUN_TOLD_S = 1.0
"""Seconds between two updates of a run's progress in the header."""

OTHERS_S = 60.0
"""Seconds between two checks of whether other sessions have resolved changes in the same store."""

PAGE_FIRST_S = 0.3
"""Seconds from the first frame until lockterm loads data of earlier sessions.

The delay leaves time to load the first page of remotes.
"""

ENDING_S = 5.0
"""Seconds between the first and the second search for abandoned drafts, if the first finds none.

A session whose SSH connection dropped takes about 3 seconds to end. Its draft counts as abandoned
only after that.
"""


class LocktermApp(TerminalApp[int]):
    """The terminal UI for one profile.

    Args:
        profile: The service and the display settings.
        paths: The paths of lockterm's files.
        look: The terminal's capabilities and the options the user chose.
        keymap: The keys the user chose.
        open_lock: The ID of the lock whose remotes the app shows first, or None for the lock book.
            The lock need not be in the lock book.
        is_last: Whether ``open_lock`` is the lock that the previous session opened last, and not a
            choice of the user. If so, Esc opens the lock book instead of quitting.
        clock: A function that returns seconds since the epoch; replaced in tests.
        profiles: The profiles that the user can switch to, or None if the user cannot switch.
        first: The first page of ``open_lock``, requested before the app started, or None.
    """

    BINDINGS = bindings("app")

    def __init__(
        self,
        profile: Profile,
        paths: Paths,
        *,
        look: Look = FULL_LOOK,
        keymap: Keymap = DEFAULT_KEYMAP,
        open_lock: int | None = None,
        is_last: bool = False,
        clock: Clock | None = None,
        profiles: Profiles | None = None,
        first: FirstPage | None = None,
    ) -> None:
        super().__init__(look, Preferences(paths.choices))
        self.use_keys(keymap)
        self._cache_dir = paths.cache_dir
        self.operations: Operations = Operations(
            profile,
            paths.database,
            packs_dir=paths.data_dir / "packs",
            open_cache=self._open_cache,
            clock=clock,
            first=first,
        )
        self._outcomes: Outcomes | None = None
        self.operations.connection.on_online = lambda online: self.outcomes.note_online(online)
        self.operations.connection.on_wait = lambda: self.outcomes.note_wait()
        self.operations.on_run = self._note_run
        self._read_ahead(look)
        self.appearance.on_change = self._read_ahead
        self._profiles = profiles
        self.goes_on: Settings | None = None
        """The settings for the app that starts after this app exits, or None to quit lockterm."""
        self._open_lock = open_lock
        self._is_last = is_last
        self.exports = paths.data_dir / "exports"
        """The directory for exported files."""
        self._is_draft_due = False
        """Whether lockterm will offer an abandoned draft as soon as no dialog or form is open."""
        self._run_timer: Timer | None = None
        self._has_news = False
        """Whether the journal must be read again, because it changed during a run."""

    @property
    def outcomes(self) -> screens.Outcomes:
        """The unconfirmed changes and the actions on them; this object is created at first use."""
        if self._outcomes is None:
            self._outcomes = screens.Outcomes(self, self.operations, self._profiles)
        return self._outcomes

    def _open_cache(self) -> Cache | None:
        from lockterm.store.cache import cache_of  # after the first frame

        return cache_of(self._cache_dir, self.operations.profile)

    def now_ms(self) -> int:
        """Return the current time on the clock that the operations use, in milliseconds."""
        return self.operations.machine_ms()

    def _read_ahead(self, look: Look) -> None:
        """Let lists read their next pages in advance, except in low-bandwidth mode."""
        self.operations.remotes.reads_ahead = not look.quiet

    def get_default_screen(self) -> Screen[Any]:
        """Return the first screen: the lock book, or the remotes of the requested lock."""
        if self._open_lock is None:
            return screens.LocksScreen(self.operations)

        screen = screens.RemotesScreen(self.operations, Lock(self._open_lock), self._open_book)
        screen.leads_back = self._is_last
        return answers_nobody(screen, self)

    def _open_book(self) -> None:
        self.switch_screen(screens.LocksScreen(self.operations))

    def on_mount(self) -> None:
        """Schedule the work that waits for the first frame, and show the profile's warnings."""
        self.call_after_refresh(self._begin)
        self.screen_change_signal.subscribe(self, lambda _: self._screen_changed())
        for warning in self.operations.profile.warnings:
            self.notify(warning, title="Profile", severity="warning")

    async def on_unmount(self) -> None:
        self.workers.cancel_all()  # an active worker would open the store again
        await self.operations.close()

    def _begin(self) -> None:
        startup.first_frame_shown()
        # Do this now: no key was pressed yet, and the first answer finds these modules
        # imported.
        self.operations.journal.on_change = self._read_outcomes
        self.operations.preload()
        _ = self.outcomes
        self.set_timer(PAGE_FIRST_S, self._look_back)

    def _look_back(self) -> None:
        """Preload the client, measure the link, and offer the work that earlier sessions left.

        This work is unconfirmed changes, an abandoned draft and interrupted runs.
        """
        if not self.is_running:  # the app ended while this call was waiting
            return
        startup.finish()
        self.operations.connection.preload()
        self._read_outcomes()
        self.set_interval(OTHERS_S, self._look_again)
        self.appearance.measure_link()
        self._offer_draft(ENDING_S)
        self._offer_run()

    @work(group="drafts")
    async def _offer_draft(self, again_s: float = 0.0) -> None:
        if not self.is_running:  # the app ended while this worker was waiting
            return
        try:
            drafts = await self.operations.drafts.abandoned()
        except LocktermError as error:
            self.notify(error.sentences, title=error.title, severity="error")
            return
        if drafts:
            await screens.offer_abandoned(self, self.operations, drafts[0], self._may_offer)
        elif again_s:
            self.set_timer(again_s, self._offer_draft)

    def _may_offer(self) -> bool:
        """Return whether a draft can be offered now.

        If a dialog or form is open, note that a draft is to be offered once it is closed.
        """
        screen = self.screen
        is_form = isinstance(screen, LocktermScreen) and screen.is_form
        self._is_draft_due = screen.is_modal or is_form
        return not self._is_draft_due

    def _read_outcomes(self) -> None:
        if self._run_timer is not None:  # each step changes the journal several times
            self._has_news = True
        elif self.is_running:
            self._refresh_outcomes()

    @work(exclusive=True, group="outcomes")
    async def _refresh_outcomes(self) -> None:
        """Read the unconfirmed changes again, in a worker that replaces an earlier worker.

        The decorator ``work`` creates the coroutine only when the worker starts. Without the
        decorator, the coroutine would never be awaited if another worker replaced this worker
        before its start.
        """
        await self.outcomes.refresh()

    @work(group="others")
    async def _look_again(self) -> None:
        if self._run_timer is None:  # during a run, the progress timer refreshes them
            await self.outcomes.look_again()

    @work(group="runs")
    async def _offer_run(self) -> None:
        """Notify the user of an interrupted run and of the key that shows the run."""
        try:
            runs = await self.operations.journal.runs()
        except LocktermError:  # the history screen shows the error
            return

        if interrupted := [run for run in runs if run.is_interrupted]:
            title = clean(interrupted[0].title, 60)
            more = f" Press {key('app.history')} to list all {len(interrupted):,} interrupted runs."
            self.notify(
                f"The run did not finish: {title}. Press {key('app.run')} to show or resume"
                f" it.{more if interrupted[1:] else ''}",
                title="Interrupted run",
                severity="warning",
            )

    @work
    async def action_run(self) -> None:
        """Show the active run, or else the last interrupted run, or else the last run."""
        with opening(self.screen, "the run", must_appear=True):
            try:
                here, stored = self.operations.run_here, self.operations.runs
                run_id = here.plan.id if here is not None else await stored.find_last_id()
                screen = await screens.screen_of_run(self.operations, run_id)
            except LocktermError as error:
                refuse_to_open(self, "Last run", error.sentences)
                return
            runs = [one for one in self.screen_stack if isinstance(one, type(screen))]
            if shown := [one for one in runs if one.drawn.plan.id == run_id]:
                behind = "behind this screen. Press Esc to return to the run."
                place = "here." if shown[-1] is self.screen else behind
                refuse_to_open(self, "Last run", f"The run is already open {place}")
                return
            self.push_screen(screen)

    def _screen_changed(self) -> None:
        self.outcomes.show()
        self._show_run()
        if self._is_draft_due and self._may_offer():
            self._offer_draft()

    def _note_run(self, run: Run) -> None:
        """Show the progress of an active run, and update the screens when the run ends."""
        if not self.is_running:
            return
        if not run.is_finished:
            if self._run_timer is None:
                self._run_timer = self.set_interval(RUN_TOLD_S, self._tell_run)
                self._show_run()
            return
        if self._run_timer is not None:
            self._run_timer.stop()
            self._run_timer = None
        self._show_run()
        self.say_over("The run has ended. Leave lockterm?")
        self._read_outcomes()

        screens.report_end(self, run)

    def _tell_run(self) -> None:
        self._show_run()
        if self._has_news:
            self._has_news = False
            self._refresh_outcomes()

    def _show_run(self) -> None:
        for screen in reversed(self.screen_stack):
            if isinstance(screen, LocktermScreen) and screen.is_mounted:
                screen.show_run()
            if not screen.is_modal:
                return

    @property
    def would_stop(self) -> tuple[str, str]:
        """The question and the button to confirm leaving an active run; both empty if not needed.

        No question is needed if the run is already stopping.
        """
        run = self.operations.run_here
        return ("", "") if run is None else screens.ask_to_leave_run(run)

    async def stopped(self) -> None:
        """Stop the run after the steps in progress, and wait until their results are known."""
        if (run := self.operations.run_under_way) is not None:
            run.stop()
            self.notify(
                "The run will stop after the steps that are under way.", title="Stopping the run"
            )
            await run.finished.wait()

    def take_unused_key(self, key: str) -> bool:
        """Handle a key that no binding used, and return whether the method used the key.

        In dialogs, Textual ignores the app's own bindings, so this method handles the keys for help
        and for messages.
        """
        if super().take_unused_key(key):
            return True
        if not self.screen.is_modal:
            return False

        if isinstance(self.screen, LocktermModal) and has_key_of_its_own(self, key, "app.help"):
            self.action_help()
        elif has_key_of_its_own(self, key, "app.messages"):
            self.action_messages()
        else:
            return False
        return True

    def action_messages(self) -> None:
        if isinstance(self.screen, screens.MessagesScreen):
            self.screen.action_close()
            return
        self.push_screen(
            screens.MessagesScreen(self.operations, self.messages, self.notices.message_kept)
        )

    def action_history(self) -> None:
        """Show the history of the current screen's lock, or of all locks."""
        if self._is_open_already(screens.HistoryScreen, "History"):
            return
        entry = self.screen.lock_entry if isinstance(self.screen, LocktermScreen) else None
        lock_id = entry.lock_id if entry else None
        self.push_screen(screens.HistoryScreen(self.operations, lock_id))

    async def choose_backup(self) -> str | None:
        """Let the user choose a delete or a clear in the history.

        Returns:
            The ID of the operation; None if canceled.
        """
        return await self.push_screen_wait(screens.HistoryScreen(self.operations, chooses=True))

    def action_file(self) -> None:
        if not self._is_open_already(screens.FileScreen, "Import"):
            entry = self.screen.lock_entry if isinstance(self.screen, LocktermScreen) else None
            self.push_screen(screens.FileScreen(self.operations, entry))

    def action_everywhere(self) -> None:
        """Open the screen that searches all locks of the lock book."""
        if not self._is_open_already(screens.AllLocksSearchScreen, "All locks"):
            self.push_screen(screens.AllLocksSearchScreen(self.operations))

    def action_what_ends(self) -> None:
        """Open the screen with remotes of all locks that have expired or will expire soon."""
        if not self._is_open_already(screens.ExpiringScreen, "Expiring"):
            self.push_screen(screens.ExpiringScreen(self.operations))

    def action_elsewhere(self) -> None:
        """Open the screen with the changes of remotes that others made."""
        if not self._is_open_already(screens.ElsewhereScreen, "Changed elsewhere"):
            self.push_screen(screens.ElsewhereScreen(self.operations))

    def action_profiles(self) -> None:
        if self._profiles is None:
            refuse_to_open(
                self,
                "Profiles",
                "The demo is a separate, made-up site. To use your own service, press"
                f" {key('app.quit')} to quit, and then run lockterm without a command.",
            )
            return

        if self._is_open_already(screens.ProfilesScreen, "Profiles"):
            return
        screen = screens.ProfilesScreen(self.operations, self._profiles, self.choices, self._go_on)
        self.push_screen(screen)

    def _is_open_already(self, kind: type[Screen[Any]], what: str) -> bool:
        """Return whether a screen of this class is open.

        If another screen covers the open screen, notify the user.
        """
        if not any(isinstance(screen, kind) for screen in self.screen_stack):
            return False
        if not isinstance(self.screen, kind):
            refuse_to_open(
                self,
                what,
                "The screen is already open behind this one. Press Esc to return to it.",
            )
        return True

    def _go_on(self, settings: Settings) -> None:
        """Exit, so that the next app starts with these settings."""
        self.goes_on = settings
        self.exit()

    def disabled_reason(self, action: str) -> str:
        """Return why an action on unconfirmed changes is disabled; empty if it is enabled.

        These actions need an unconfirmed change. Sending a change again also needs a writable
        profile.
        """
        if action not in ("settle", "send_again"):
            return ""
        if self._outcomes is None or not self._outcomes.unconfirmed:
            return "There are no unconfirmed changes. The result of every sent change is known."
        profile = self.operations.profile
        if action == "send_again" and profile.read_only:
            return describe_read_only(profile.name, "The change cannot be sent again")
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether the action may run; None if it is disabled, so that its key is dimmed."""
        return None if self.disabled_reason(action) else super().check_action(action, parameters)

    def action_settle(self, how: str) -> None:
        self._wait_for({"check": self.outcomes.check, "give_up": self.outcomes.give_up}[how])

    def action_send_again(self) -> None:
        self._wait_for(self.outcomes.send_again)

    @work
    async def _wait_for(self, act: Callable[[], Awaitable[None]]) -> None:
        """Run an action that may open a dialog.

        Keys typed later wait until the action has ended.
        """
        with opening(self.screen, "the unconfirmed change"):
            await act()
