"""The App on a profile: which screen comes first, and the keys that work on every one."""

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
from lockterm.domain.clock import Clock
from lockterm.domain.locks import Lock
from lockterm.domain.plan import RunState
from lockterm.domain.safe_text import clean
from lockterm.domain.text.run import ask_to_leave
from lockterm.domain.text.service import describe_read_only
from lockterm.errors import LocktermError
from lockterm.keymap import DEFAULT_KEYMAP, Keymap
from lockterm.keymap.hints import key
from lockterm.operations import Operations
from lockterm.screens.base import LocktermScreen, refuse_to_open
from lockterm.screens.modal import LocktermModal
from lockterm.store.cache import cache_of
from lockterm.terminal import startup
from lockterm.terminal.key_queue import opening
from lockterm.terminal.patches import answers_nobody, has_key_of_its_own
from lockterm.widgets.bindings import bindings

if TYPE_CHECKING:
    from lockterm.config import Profile, Settings
    from lockterm.config.profiles import Profiles
    from lockterm.operations.first_page import FirstPage
    from lockterm.operations.run_here import RunHere
    from lockterm.paths import Paths
    from lockterm.screens.outcomes import Outcomes
    from lockterm.store.cache import Cache

RUN_TOLD_S = 1.0
"""So often, in seconds, the title line tells how far a run is."""

OTHERS_S = 60.0
"""So often, in seconds, an idle session looks for what others on its store have settled."""

PAGE_FIRST_S = 0.3
"""So much later, in seconds, what earlier sessions left is read: the first page is wanted more."""

ENDING_S = 5.0
"""So much later it is read once more, if there was none: one whose line was cut takes 3 s to go."""


class LocktermApp(TerminalApp[int]):
    """The terminal UI on one profile.

    Args:
        profile: Which service, and how to show its times.
        paths: Where lockterm keeps its files.
        look: What this terminal can do, and what was asked for.
        keymap: The keys that were chosen.
        open_lock: Open straight on this lock's remotes, in the book or not.
        is_last: Whether that is the lock opened last: then it is as if opened from the book.
        clock: Seconds since the epoch; replaced in tests.
        profiles: Those that can be switched to; None where there is only this one.
        first: That lock's first page, which was asked for already; None: it was not.
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
        self.operations = Operations(
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
        """Once it has ended: with what the next app goes on; None: not at all."""
        self._open_lock = open_lock
        self._is_last = is_last
        self.exports = paths.data_dir / "exports"
        """The directory for exported files."""
        self._is_draft_due = False
        """Whether a draft waits to be offered until nothing else is asked."""
        self._run_timer: Timer | None = None
        self._has_news = False
        """Whether the journal has changed since it was read; while a run goes on."""

    @property
    def outcomes(self) -> screens.Outcomes:
        """What is not settled, and the keys for it; made behind the first frame."""
        if self._outcomes is None:
            self._outcomes = screens.Outcomes(self, self.operations, self._profiles)
        return self._outcomes

    def _open_cache(self) -> Cache | None:
        return cache_of(self._cache_dir, self.operations.profile)

    def now_ms(self) -> int:
        """The clock of the operations."""
        return self.operations.machine_ms()

    def _read_ahead(self, look: Look) -> None:
        """Quiet reads nothing that was not asked for."""
        self.operations.remotes.reads_ahead = not look.quiet

    def get_default_screen(self) -> Screen[Any]:
        """The lock book, or the remotes of the lock that was asked for."""
        if self._open_lock is None:
            return screens.LocksScreen(self.operations)

        screen = screens.RemotesScreen(self.operations, Lock(self._open_lock), self._open_book)
        screen.leads_back = self._is_last
        return answers_nobody(screen, self)

    def _open_book(self) -> None:
        self.switch_screen(screens.LocksScreen(self.operations))

    def on_mount(self) -> None:
        """Let go what waits for the first frame, and say what is unwise about the profile."""
        self.call_after_refresh(self._begin)
        self.screen_change_signal.subscribe(self, lambda _: self._screen_changed())
        for warning in self.operations.profile.warnings:
            self.notify(warning, title="Profile", severity="warning")

    async def on_unmount(self) -> None:
        await self.operations.close()

    def _begin(self) -> None:
        startup.first_frame_shown()
        # Now: no key is so far by then, and an answer on its way is to find these imported.
        self.operations.journal.on_change = self._read_outcomes
        self.operations.get_ready()
        _ = self.outcomes
        self.set_timer(PAGE_FIRST_S, self._look_back)

    def _look_back(self) -> None:
        """Show what earlier sessions left, and get ready for the first lock of the book."""
        startup.over()
        self.operations.connection.get_ready()
        self._read_outcomes()
        self.set_interval(OTHERS_S, self._look_again)
        self.appearance.measure_link()
        self._offer_draft(ENDING_S)
        self._offer_run()

    @work(group="drafts")
    async def _offer_draft(self, again_s: float = 0.0) -> None:
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
        """Whether nothing else is asked or typed into; else it is offered once that has gone."""
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
        """As a decorated method: a coroutine replaced before it began would never be awaited."""
        await self.outcomes.refresh()

    @work(group="others")
    async def _look_again(self) -> None:
        if self._run_timer is None:  # while a run goes on, they are read all the time
            await self.outcomes.look_again()

    @work(group="runs")
    async def _offer_run(self) -> None:
        """Say that a run was interrupted, and which key leads to it."""
        try:
            runs = await self.operations.journal.runs()
        except LocktermError:  # whoever opens the history is told
            return

        if interrupted := [run for run in runs if run.state is RunState.INTERRUPTED]:
            title = clean(interrupted[0].title, 60)
            more = f", and {len(interrupted) - 1:,} more: see {key('app.history')}"
            self.notify(
                f"{key('app.run')} shows it and goes on: {title} was not carried out to its end"
                f"{more if interrupted[1:] else ''}.",
                title="Interrupted run",
                severity="warning",
            )

    @work
    async def action_run(self) -> None:
        """Show the run that is under way, was interrupted, or was last."""
        with opening(self.screen, "the run", must_appear=True):
            try:
                run_id = await screens.last_run(self.operations)
                screen = await screens.screen_of_run(self.operations, run_id)
            except LocktermError as error:
                refuse_to_open(self, "Last run", error.sentences)
                return
            shown = [one for one in self.screen_stack if isinstance(one, type(screen))]
            if any(one.drawn.plan.id == run_id for one in shown):
                is_here = shown[-1] is self.screen and shown[-1].drawn.plan.id == run_id
                words = "below this screen. escape goes back to it." if not is_here else "here."
                refuse_to_open(self, "Last run", f"Already open {words}")
                return
            self.push_screen(screen)

    def _screen_changed(self) -> None:
        self.outcomes.show()
        self._show_run()
        if self._is_draft_due and self._may_offer():
            self._offer_draft()

    def _note_run(self, run: RunHere) -> None:
        """A run has begun or ended: tell how far it is, and have what it changed read again."""
        if not self.is_running:
            return
        if not run.is_over:
            self._run_timer = self._run_timer or self.set_interval(RUN_TOLD_S, self._tell_run)
            self._show_run()
            return
        if self._run_timer is not None:
            self._run_timer.stop()
            self._run_timer = None
        self._show_run()
        self.say_over("The run has ended meanwhile. Leave lockterm?")
        self._read_outcomes()

        screens.tell_end(self, run)

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
        """The question before a run is left, if some of it is left and it was not told to stop."""
        run = self.operations.run_here
        if run is None or run.is_stopping:
            return "", ""

        return ask_to_leave(run)

    async def stopped(self) -> None:
        """Let the steps under way end, so that their outcomes are known; the same key leaves."""
        if (run := self.operations.run_under_way) is not None:
            run.stop()
            self.notify("It ends after the steps that are under way.", title="Stopping the run")
            await run.over.wait()

    def take_left_key(self, key: str) -> bool:
        """Help from a dialog too, and all notices from whatever the line of one stands over."""
        if super().take_left_key(key):
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

    def action_help(self) -> None:
        # The key that opened it closes it, whichever it is.
        if isinstance(self.screen, screens.HelpScreen):
            self.screen.action_close()
            return
        self.push_screen(screens.HelpScreen(self.operations, self.screen))

    def action_messages(self) -> None:
        if isinstance(self.screen, screens.MessagesScreen):
            self.screen.action_close()
            return
        self.push_screen(
            screens.MessagesScreen(self.operations, self.messages, self.notices.message_kept)
        )

    def action_history(self) -> None:
        """What was sent from here; where a lock's screen is open, what was sent to it."""
        if self._is_open_already(screens.HistoryScreen, "History"):
            return
        entry = self.screen.lock_entry if isinstance(self.screen, LocktermScreen) else None
        lock_id = entry.lock_id if entry else None
        self.push_screen(screens.HistoryScreen(self.operations, self.exports, lock_id))

    async def choose_backup(self) -> str | None:
        """Have a delete or clear chosen in the history; answers with its id, or with None."""
        history = screens.HistoryScreen(self.operations, self.exports, chooses=True)
        return await self.push_screen_wait(history)

    def action_file(self) -> None:
        if not self._is_open_already(screens.FileScreen, "Import"):
            entry = self.screen.lock_entry if isinstance(self.screen, LocktermScreen) else None
            self.push_screen(screens.FileScreen(self.operations, entry))

    def action_everywhere(self) -> None:
        """Search all locks of the book."""
        if not self._is_open_already(screens.EverywhereScreen, "All locks"):
            self.push_screen(screens.EverywhereScreen(self.operations))

    def action_what_ends(self) -> None:
        """Show what has ended and what ends soon, on all locks."""
        if not self._is_open_already(screens.WhatEndsScreen, "Expiring"):
            self.push_screen(screens.WhatEndsScreen(self.operations))

    def action_profiles(self) -> None:
        if self._profiles is None:
            refuse_to_open(
                self,
                "Profiles",
                f"The demo is a made-up site of its own. Leave it with {key('app.quit')}: lockterm"
                " without a command opens your profiles, or asks for the first one.",
            )
            return

        if self._is_open_already(screens.ProfilesScreen, "Profiles"):
            return
        screen = screens.ProfilesScreen(self.operations, self._profiles, self.choices, self._go_on)
        self.push_screen(screen)

    def _is_open_already(self, kind: type[Screen[Any]], what: str) -> bool:
        """Whether a screen is open; where it is below others, say so."""
        if not any(isinstance(screen, kind) for screen in self.screen_stack):
            return False
        if not isinstance(self.screen, kind):
            refuse_to_open(self, what, "Already open below this screen. escape goes back to it.")
        return True

    def _go_on(self, settings: Settings) -> None:
        """End in good order; the next app goes on with these settings."""
        self.goes_on = settings
        self.exit()

    def why_not(self, action: str) -> str:
        """The keys for outcomes need one that is not settled, and sending again sends a change."""
        if action not in ("settle", "send_again"):
            return ""
        if self._outcomes is None or not self._outcomes.unsettled:
            return "Nothing is unsettled: every change that was sent has its outcome."
        profile = self.operations.profile
        if action == "send_again" and profile.read_only:
            return describe_read_only(profile.name, "nothing is sent again")
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Dim what can do nothing now."""
        return None if self.why_not(action) else super().check_action(action, parameters)

    def action_settle(self, how: str) -> None:
        self._wait_for({"check": self.outcomes.check, "give_up": self.outcomes.give_up}[how])

    def action_send_again(self) -> None:
        self._wait_for(self.outcomes.send_again)

    @work
    async def _wait_for(self, act: Callable[[], Awaitable[None]]) -> None:
        """Have later keys wait: a question, or another state of a screen, may come of it."""
        with opening(self.screen, "the unsettled change"):
            await act()
