"""The base class of lockterm's apps: painting, notifications, the palette, keys, and quitting."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from textual import constants, events, on, work
from textual.app import ReturnType
from textual.driver import Driver
from textual.filter import LineFilter

from lockterm import screens
from lockterm.app.appearance import Appearance, Styles
from lockterm.app.notices import Notices
from lockterm.config.look import Look
from lockterm.config.preferences import Preferences
from lockterm.keymap import hints
from lockterm.keymap.hints import key, label
from lockterm.screens.base import LocktermScreen
from lockterm.screens.modal import LocktermModal
from lockterm.terminal.clipboard import copy
from lockterm.terminal.colors import FilterChain, Sanitizer
from lockterm.terminal.driver import TerminalDriver
from lockterm.terminal.frame_diff import FrameDiff
from lockterm.terminal.key_queue import FormWall, Idle, KeyQueue
from lockterm.terminal.minimum_size import MinimumSize
from lockterm.terminal.patches import HookedApp, active_binding, has_key_of_its_own, rebind
from lockterm.terminal.render_barrier import RenderBarrier
from lockterm.terminal.terminal_input import EscapedKey, LettersDrawn, StatusReport

if TYPE_CHECKING:
    from textual.binding import Binding
    from textual.notifications import SeverityLevel
    from textual.screen import Screen
    from textual.widget import Widget

    from lockterm.domain.notices import LoggedNotice, NoticeLog
    from lockterm.keymap import Keymap
    from lockterm.operations import Operations
    from lockterm.screens.dialogs.confirm import ConfirmModal

_log = logging.getLogger("lockterm")

MINUTE_S = 60.0
"""Seconds between two updates of ages, relative dates and states on the screens."""


class TerminalApp(HookedApp[ReturnType]):
    """An app that is adapted to the current terminal.

    Args:
        look: The terminal's capabilities and the options the user chose.
        choices: The preferences saved in earlier sessions.
    """

    TITLE = "lockterm"
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-home"), (120, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (24, "-tall"), (36, "-roomy")]
    operations: Operations | None = None
    """The operations of the profile; None in the first run."""
    _asks_to_quit = False
    _asks_to_stop: ConfirmModal | None = None

    def __init__(self, look: Look, choices: Preferences) -> None:
        super().__init__(watch_css=False)
        self.choices = choices
        self.frame_diff = FrameDiff(self, look)
        """The writer that sends only changed cells to the terminal."""
        self.appearance = Appearance(self, self.frame_diff, look, choices)
        """The colors, glyphs, theme, mouse, and low-bandwidth mode."""
        self._minimum_size = MinimumSize(self)
        self._chosen_keys: Keymap = {}
        self._styles = Styles()
        self.notices = Notices(self, self.now_ms, self.ask_drawn)
        """The notifications above the footer, and the message log."""
        self._sanitizer = Sanitizer()
        self._filter_chain = FilterChain()
        self.key_queue = KeyQueue(self, super().on_event, self.is_meant)
        """Delays each key until earlier keys are handled and the screens that those keys open are
        ready."""
        self._form_wall = FormWall(self)
        self.idle = Idle(self.key_queue)
        """Work that prepares for later keys, and runs only while no keys are waiting."""
        self.fence = RenderBarrier(self, self.frame_diff)
        """Reports when the terminal shows the current frame, so that lockterm recognizes later
        keys."""

    def on_load(self) -> None:
        """Make the event loop start each task in a later step, as Python 3.11 does.

        On later versions, Textual starts a task within the call that creates it. The first frame
        would then wait for the modules that a worker imports.
        """
        asyncio.get_running_loop().set_task_factory(None)

    def on_mount(self) -> None:
        """Subscribe to screen changes to show pending notifications, and start the minute timer."""
        self.screen_change_signal.subscribe(self, self._show_screen)
        # Use one timer for all screens, because a canceled timer keeps its screen alive until it is
        # due.
        self.set_interval(MINUTE_S, self._note_minute)

    def _show_screen(self, screen: Screen[Any]) -> None:
        self._form_wall.note_screen(screen)
        self.call_later(self.notices.show)

    def _note_minute(self) -> None:
        if not self.is_running:  # the app is ending, and its screens lose their widgets
            return
        for screen in self.screen_stack:
            if isinstance(screen, LocktermScreen) and screen.is_mounted:
                screen.note_minute()

    def now_ms(self) -> int:
        """Return the current time for notifications, in milliseconds."""
        return time.time_ns() // 1_000_000

    @property
    def notice_log(self) -> NoticeLog:
        """The log of all notifications, including a notification that is shown now."""
        return self.notices.log

    @property
    def messages(self) -> Sequence[LoggedNotice]:
        """The notifications of this session, the oldest first."""
        return self.notice_log.messages

    # --- appearance ----------------------------------------------------------------------------

    @property
    def look(self) -> Look:
        """The terminal's capabilities and the options the user chose."""
        return self.appearance.look

    def get_driver_class(self) -> type[Driver]:
        """Return the class of the driver.

        lockterm's driver replaces only ``LinuxDriver``. Any other driver that Textual chose stays.
        """
        textuals = super().get_driver_class()
        if constants.DRIVER is not None or textuals.__name__ != "LinuxDriver":
            return textuals

        return TerminalDriver

    def action_theme(self) -> None:
        self.appearance.choose_theme()

    def action_quiet(self) -> None:
        self.appearance.toggle_quiet()

    def action_mouse(self) -> None:
        """Switch mouse handling between the terminal and lockterm."""
        self.appearance.toggle_mouse()

    def on_letters_drawn(self, event: LettersDrawn) -> None:
        self.appearance.take_letters(event)

    def on_cursor_position(self, event: events.CursorPosition) -> None:
        self.appearance.take_answer(event)

    # --- drawing -----------------------------------------------------------------------------

    def to_send(self, painted: Any) -> Any:
        """Return the output for the changed cells; None to send nothing.

        Nothing is sent if the cells and the cursor are unchanged, or if the terminal is too small
        or behind.
        """
        if self._minimum_size.tell():
            return None
        return self.frame_diff.changed(painted)

    def action_redraw(self) -> None:
        """Draw the whole screen again, for example after another program wrote to the terminal."""
        self.frame_diff.redraw()

    def on_driver_signal_resume(self) -> None:
        """Draw the whole screen again after a suspension, because the shell used the terminal."""
        self.frame_diff.redraw()

    # --- untrusted text ----------------------------------------------------------------------

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return one filter that combines Textual's filters, the app's filters and a sanitizer."""
        filters = (*super().get_line_filters(), *self.appearance.filters, self._sanitizer)
        if filters != self._filter_chain.filters:
            self._filter_chain = FilterChain(filters)
        return [self._filter_chain]

    def action_command_palette(self) -> None:
        """Open the palette, unless it is already open."""
        if not isinstance(self.screen, screens.Palette):
            self.push_screen(screens.Palette(self.screen))

    def action_help(self) -> None:
        """Show the keys of the current screen, or close the help if it is open."""
        if isinstance(self.screen, screens.HelpScreen):
            self.screen.action_close()
        else:
            self.push_screen(screens.HelpScreen(self.operations, self.screen))

    def action_help_quit(self) -> None:
        """Show which key quits lockterm; Ctrl+C does this if no text is selected."""
        self.notify(
            f"Press {key('app.quit_always')} to quit lockterm from any screen.", title="Quit"
        )

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a notification and keep it in the message log.

        The text is never parsed as markup, because it may contain names from the service. The
        notification ignores ``timeout``, because :class:`Notices` shows it long enough to be read.
        """
        self.notices.say(message, title, severity)

    def keep_message(self, message: str, title: str, severity: SeverityLevel) -> None:
        """Add a message to the message log without showing it."""
        self.notices.keep(message, title, severity)

    def once(self, sentence: str) -> str:
        """Return a sentence on its first use in a session, and an empty string afterwards."""
        return self.notice_log.once(sentence)

    def clear_notifications(self) -> None:
        """Remove all notifications from the screen, but keep them in the message log."""
        self.notices.clear()

    def copy_to_clipboard(self, text: str) -> None:
        """Copy the selected text of a field or of the screen to the terminal's clipboard."""
        copy(self, text, "text", lines=True)

    # --- keys ----------------------------------------------------------------------------------

    async def on_event(self, event: events.Event) -> None:
        """Queue keys in order, and ignore clicks while the terminal is too small for the screen."""
        if isinstance(event, EscapedKey):
            await self.key_queue.take(event)
            return
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            self.idle.wait()
            await self.key_queue.take(event)
            return
        if isinstance(event, events.MouseEvent) and self._minimum_size.is_missed:
            return
        if isinstance(event, events.Resize):
            self.frame_diff.note_resize()
        await super().on_event(event)

    def take_unused_key(self, key: str) -> bool:
        """Redraw the screen if the key is the redraw key, and return whether it is."""
        is_redraw = has_key_of_its_own(self, key, "app.redraw")
        if is_redraw:
            self.frame_diff.redraw()
        return is_redraw

    def use_keys(self, keymap: Keymap) -> None:
        """Use the keys that the user configured; call this before the first screen is shown.

        Args:
            keymap: A keymap that ``lockterm.keymap.check`` accepted.
        """
        self._chosen_keys = keymap
        rebind([self], keymap)
        hints.use(keymap)

    def prepare(self, widgets: Iterable[Widget]) -> None:
        """Bind the configured keys on new widgets, and load the styles of these widgets."""
        rebind(widgets, self._chosen_keys)
        self._styles.put_into(self.stylesheet, widgets)

    @on(KeyQueue.Dealt)
    def _dealt(self, message: KeyQueue.Dealt) -> None:
        self.key_queue.note_dealt(message)

    @on(StatusReport)
    def _drawn(self, event: StatusReport) -> None:
        self.fence.answered(event.time)

    def ask_drawn(self, drawn: Callable[[float], None]) -> None:
        """Call ``drawn`` when the current frame is on screen; see :meth:`RenderBarrier.ask`."""
        if self.is_headless:
            drawn(events.Event().time)
        else:
            self.fence.ask(drawn)

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Return whether to act on a key.

        For example, keys that were typed before the current dialog was visible have no effect.
        """
        screen = self.screen
        if not self._form_wall.is_meant(event):
            return False
        if isinstance(screen, LocktermModal) and not screen.is_meant(event):
            self.notify(
                "lockterm ignored the key, because you pressed it before the dialog appeared.",
                title="Typed too early",
                severity="warning",
            )
            return False
        is_meant = self._minimum_size.is_meant(event)
        if is_meant:
            self.notices.note_key(event)
        return is_meant

    def get_key_display(self, binding: Binding) -> str:
        """Return a key's name in ASCII letters, because some fonts and encodings have no arrows."""
        return label(binding.key)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Stop the cursor of a focused field from blinking, so that an idle field sends nothing."""
        if hasattr(event.widget, "cursor_blink"):
            event.widget.cursor_blink = False

    # --- quitting ------------------------------------------------------------------------------

    async def action_back_or_quit(self) -> None:
        """Go back like Esc, or quit on the first screen."""
        screen = self.screen
        leads_back = isinstance(screen, LocktermScreen) and screen.leads_back
        if len(self.screen_stack) == 1 and not leads_back:
            await self.action_quit()
        elif (way_out := active_binding(self.screen, "escape")) is not None:
            await self.run_action(way_out.binding.action, way_out.node)

    async def action_quit(self) -> None:
        """Quit. If quitting would lose text or stop a run, open a confirmation dialog instead.

        If this dialog is already open, do nothing.
        """
        screens = (screen for screen in self.screen_stack if isinstance(screen, LocktermScreen))
        question = next(filter(None, (screen.would_lose for screen in screens)), "")
        if question or any(self.would_stop):
            if not self._asks_to_quit:
                self._ask_to_quit(question)
        else:
            self.exit()

    @property
    def would_stop(self) -> tuple[str, str]:
        """The question and the button to confirm that quitting stops work; empty if not needed."""
        return "", ""

    def say_over(self, words: str) -> None:
        """Replace the question of the dialog about stopping work, if this dialog is open.

        Call this when the work has ended. A key that was typed before the new question was visible
        does not answer the question.

        Args:
            words: The new question.
        """
        modal = self._asks_to_stop
        if modal is not None and modal.is_attached:
            modal.box.rewrite(words, "", "Leave", "")
            modal.box.begin()

    async def stopped(self) -> None:
        """Stop the work that ``would_stop`` describes, and return when it has stopped."""

    @work
    async def _ask_to_quit(self, question: str) -> None:
        self._asks_to_quit = True
        try:
            modal = screens.ConfirmModal(
                question, verb="Leave", keep="Keep editing", loses_text=True
            )
            if question and not await self.push_screen_wait(modal):
                return
            stops, verb = self.would_stop
            if stops:
                self._asks_to_stop = screens.ConfirmModal(stops, verb=verb, keep="Stay")
                if not await self.push_screen_wait(self._asks_to_stop):
                    return
        finally:
            self._asks_to_quit, self._asks_to_stop = False, None
        await self.stopped()
        self.exit()

    def describe_crash(self) -> str:
        """Return the message for a crash, and log the traceback."""
        _log.critical("lockterm ended because of a bug", exc_info=True)
        return (
            "lockterm ended because of a bug. Changes that you sent before are"
            " not affected.\nStart lockterm again, and report the bug with the log file that"
            " `lockterm info` shows.\n"
        )
