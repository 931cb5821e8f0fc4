"""Unconfirmed changes: the notices on the screens, and the actions on the oldest change."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from textual.app import App
from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from lockterm import screens
from lockterm.domain.dates import time_of_day
from lockterm.domain.glyphs import ellipsis
from lockterm.domain.operation import HELD_CALLS, Operation, OperationState
from lockterm.domain.remotes import CALL_NAMES, READABLE_CALLS, Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.shortening import describe_shortened_access
from lockterm.domain.text.operation import ask_to_adopt, describe_operation, format_voice
from lockterm.domain.text.remote import describe_add, describe_update
from lockterm.domain.text.service import describe_clock
from lockterm.domain.text.validity import describe_never_opens
from lockterm.errors import LocktermError
from lockterm.keymap.hints import key
from lockterm.screens.base import LocktermScreen, notify_error, refuse_to_open
from lockterm.widgets.cells import count_lines

if TYPE_CHECKING:
    from datetime import tzinfo

    from lockterm.config.profiles import Profiles
    from lockterm.operations import Operations

MOST_LINES = 4
"""The maximum height of the widget in rows, as in the stylesheet."""

_VERBS = {
    "outcome.check": "check",
    "outcome.send_again": "send again",
    "outcome.give_up": "dismiss",
}
"""Maps the keys of the actions on an unconfirmed change to their verbs."""


class NoticeLine(Widget):
    """A widget with a line for each problem, which is hidden if there is no problem."""

    connection_text: reactive[str] = reactive("", layout=True)
    """The message while the service is unreachable or asks for a pause; otherwise empty."""

    unconfirmed: reactive[tuple[Operation, ...]] = reactive((), layout=True)
    """The unconfirmed operations, the oldest first."""

    instead: reactive[str] = reactive("", layout=True)
    """The sentence to show instead of the keys for the oldest change; empty to show the keys.

    A form needs a sentence, because the keys would type text there."""

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._operations = operations

    def render(self) -> Content:
        lines: list[Content] = []
        if self.connection_text:
            word, _, rest = self.connection_text.partition("  ")
            lines.append(Content.assemble((f"{word}  ", "bold"), rest))
        if self.unconfirmed:
            first = self.unconfirmed[0]
            count = len(self.unconfirmed)
            more = [Content(f"(1 of {count})")] if count > 1 else []
            zone, now_ms = self._operations.profile.zone, self._operations.now_ms()
            text = describe_operation(first, zone, now_ms)
            if self.instead:
                text = f"{text}. {self.instead}"
            keys = [] if self.instead else self._keys()
            lines += self._broken(text.split(" "), [*more, *keys])
        return Content("\n").join(lines)

    def _keys(self) -> Iterator[Content]:
        for name, verb in _VERBS.items():
            yield Content.assemble((key(name), "bold"), f" {verb}")

    def _broken(self, words: Sequence[str], kept_parts: Sequence[Content]) -> list[Content]:
        """Return lines that are broken between words, but never inside the label of a key.

        If there are too many lines, the last words are left out, but never ``kept_parts``.

        Args:
            words: The words about the oldest unconfirmed change.
            kept_parts: The number of changes, and the labels of the keys.
        """
        room = self.app.size.width - self.gutter.width  # known before the first layout
        most = MOST_LINES - (count_lines(self.connection_text, room) if self.connection_text else 0)
        kept, lines = [*words], self._lay(words, kept_parts, room)
        while len(lines) > most and len(kept) > 1:
            kept.pop()
            cut = [*kept[:-1], kept[-1].rstrip(",:") + ellipsis()]
            lines = self._lay(cut, kept_parts, room)
        return lines

    def _lay(self, words: Sequence[str], kept_parts: Sequence[Content], room: int) -> list[Content]:
        lines = [Content.styled("UNCONFIRMED ", "bold")]
        parts = [*((" ", Content(word)) for word in words), *(("  ", one) for one in kept_parts)]
        for gap, part in parts:
            longer = Content.assemble(lines[-1], gap, part)
            if longer.cell_length <= room:
                lines[-1] = longer
            else:
                lines.append(part)
        return lines

    def watch_connection_text(self) -> None:
        self.display = bool(self.connection_text or self.unconfirmed)

    watch_unconfirmed = watch_connection_text


T = TypeVar("T")

SHOWN_S = 1.0
"""Seconds between two readings of the unconfirmed changes, which other sessions may resolve."""

DESTROYING = ("delete", "clear")
"""Calls that delete remotes at the service."""


class Outcomes:
    """The notices of all screens about unconfirmed changes, and the actions on the oldest change.

    Args:
        app: The app whose screens show the notices.
        operations: The operations on the service and the local store.
        profiles: The profiles of the configuration; None if there is no configuration file.
    """

    def __init__(
        self, app: App[int], operations: Operations, profiles: Profiles | None = None
    ) -> None:
        self._app = app
        self._operations = operations
        self._profiles = profiles
        self._may_offer = True
        """Whether lockterm may still offer to take over unconfirmed changes of removed profiles."""
        self._offline_ms: int | None = None
        self._countdown: Timer | None = None
        self._others: Timer | None = None
        """The timer that checks whether other sessions resolved the unconfirmed changes."""
        self._is_looking = False
        self._told = ""
        """The notice about the local store that was last shown."""
        self._gone: set[str] = set()
        """The IDs of resolved operations whose results the user has not seen yet."""
        self.unconfirmed: tuple[Operation, ...] = ()
        """The unconfirmed operations as last read from the journal, the oldest first."""
        operations.journal.on_kept = self.note_kept
        operations.connection.on_clock = self.note_clock
        if operations.connection.doubts_clock:
            self.note_clock()

    def note_kept(self, operation: Operation) -> None:
        """Warn that the service recorded other values than lockterm sent."""
        text, title = clean(operation.message, 300), self._title(operation)
        self._app.notify(text, title=title, severity="warning")

    def note_clock(self) -> None:
        """Warn if this machine's clock is far off, and update the times on the screens."""
        connection = self._operations.connection
        if connection.doubts_clock:
            text = describe_clock(connection.clock_offset_s or 0)
            self._app.notify(text, title="Clock", severity="warning")
        for screen in self._app.screen_stack:  # so far, the screens used this machine's clock
            if isinstance(screen, LocktermScreen) and screen.is_mounted:
                screen.note_minute()

    def note_online(self, online: bool) -> None:
        """Store whether the service can be reached, and update the notices of the screens."""
        self._offline_ms = None if online else self._operations.machine_ms()
        self.show()

    def note_wait(self) -> None:
        """Start the countdown of a pause that the service requests."""
        self.show()
        if self._countdown is None:
            self._countdown = self._app.set_interval(1.0, self._count_down)

    def _count_down(self) -> None:
        self.show()
        if not self._operations.connection.wait_s and self._countdown is not None:
            self._countdown.stop()
            self._countdown = None

    async def refresh(self) -> None:
        """Read the unconfirmed changes from the journal and show them."""
        try:
            now = tuple(await self._operations.journal.list_unconfirmed())
            self._gone |= {one.id for one in self.unconfirmed} - {one.id for one in now}
            self.unconfirmed = now
            await self._tell_settled()
            # The changes may be from an earlier session, and no other call may start the checks.
            if any(operation.call in READABLE_CALLS for operation in self.unconfirmed):
                self._operations.watch.start()
        except LocktermError as error:
            notify_error(self._app, error)
        if (notice := self._operations.journal.notice) != self._told:
            self._told = notice
            self._app.notify(notice, title="Local store", severity="warning")
        self.show()
        if self._may_offer and not self._app.screen.is_modal:
            self._may_offer = False
            self._app.run_worker(self._offer_adoption(), group="adoption")
        if self._others is None:
            self._others = self._app.set_interval(SHOWN_S, self._look_for_others, pause=True)
        if self.unconfirmed:
            self._others.resume()
        else:
            self._others.pause()

    async def _offer_adoption(self) -> None:
        """Ask once whether unconfirmed changes of a removed profile belong to this profile."""
        with suppress(LocktermError):
            known = self._profiles.read().profiles if self._profiles else {}
            left = await self._operations.journal.left_by_others()
            left = [one for one in left if one.profile not in known]
            if not left:
                return
            details = "\n".join(
                [
                    *map(self._describe, left),
                    "These changes were sent with the same URL and account as in this profile.",
                ]
            )
            modal = screens.ConfirmModal(
                ask_to_adopt(left), details, verb="Adopt", keep="Not now", unasked=True
            )
            if await self._app.push_screen_wait(modal):
                await self._operations.journal.adopt(left)

    def _look_for_others(self) -> None:
        if not self._is_looking:  # the store may be locked for a while
            self._is_looking = True
            self._app.run_worker(self._look(), group="outcomes of others")

    async def _look(self) -> None:
        try:
            await self.look_again()
        finally:
            self._is_looking = False

    async def look_again(self) -> None:
        """Update the unconfirmed changes if another session has added or resolved some."""
        with suppress(LocktermError):  # each use of the store reports it
            if tuple(await self._operations.journal.list_unconfirmed()) != self.unconfirmed:
                await self.refresh()

    async def _oldest(self) -> Operation | None:
        """Read the oldest shown operation again and return it.

        If the operation is already resolved, explain that in a dialog and return None.
        """
        shown = self.unconfirmed[0] if self.unconfirmed else None
        await self.refresh()
        for operation in self.unconfirmed:
            if shown is not None and operation.id == shown.id:
                return operation
        text = "The change is already resolved. There is nothing left to do."
        refuse_to_open(self._app, self._title(shown) if shown else "Unconfirmed change", text)
        return None

    async def _tell_settled(self) -> None:
        """Notify the user once of each change that was resolved without a key press.

        A newer refresh may cancel this method. In that case, the newer refresh reports the
        remaining results.
        """
        reported_ids = self._operations.watch.told
        for operation_id in tuple(self._gone):
            operation = await self._operations.journal.find(operation_id)
            is_news = operation_id in self._gone - reported_ids
            self._gone.discard(operation_id)
            reported_ids.add(operation_id)
            if is_news and operation and operation.state is OperationState.CONFIRMED_BY_READING:
                text = f"{clean(operation.message)} There is nothing left to do."
                self._app.notify(text, title=f"Resolved: {self._title(operation)}")

    def show(self) -> None:
        """Show the notices on the visible screens.

        A covered screen shows them when it is visible again.
        """
        for screen in reversed(self._app.screen_stack):
            if isinstance(screen, LocktermScreen) and screen.is_mounted:
                # Painting a hidden screen would also repaint all of the screen above it.
                screen.show_notices(self._describe_link(), self.unconfirmed)
            if not screen.is_modal:
                return

    def _describe_link(self) -> str:
        if wait_s := self._operations.connection.wait_s:
            return f"PAUSE  The service asked lockterm to wait {math.ceil(wait_s)} s longer."
        if self._offline_ms is None:
            return ""
        since = time_of_day(self._offline_ms, self._operations.profile.zone)
        return f"OFFLINE  since {since}. Rows may be old. Nothing can be sent. Retrying."

    # --- acting ------------------------------------------------------------------------------

    async def check(self) -> None:
        """Verify the oldest unconfirmed change. If the result is ambiguous, ask the user."""
        if (operation := await self._oldest()) is None:
            return
        read = await self._try(self._operations.watch.check(operation))
        if read is None:
            return
        if read.state is OperationState.AMBIGUOUS:
            remote_id = await self._recognize(read)
            if remote_id is not None:
                bound = await self._try(self._operations.resolution.bind(read, remote_id))
                read = bound or read
        self._app.notify(read.message, title=self._title(read))

    async def _recognize(self, operation: Operation) -> int | None:
        if len(operation.candidates) > 1:
            which: screens.ChoiceModal[int | None] = screens.ChoiceModal(
                f"You added {clean(operation.remote_name, 60)}. Which remote is it?",
                [(None, "None of them"), *((one, f"Remote {one}") for one in operation.candidates)],
                unasked=True,
            )
            return await self._app.push_screen_wait(which)

        (remote_id,) = operation.candidates
        question = screens.ask_whether_it_is(operation.remote_name, remote_id)
        known = await self._app.push_screen_wait(question)
        return remote_id if known else None

    async def send_again(self) -> None:
        """Send the oldest unconfirmed change again, after a confirmation.

        The user must type a word, as when dismissing a change, because the keys of both actions
        work on every screen. If a form could not open, the text typed for that form may begin with
        such a key. The keys that would save the form must then not confirm the action.
        """
        if (operation := await self._oldest()) is None:
            return
        if operation.state is OperationState.UNKNOWN and operation.call in HELD_CALLS:
            reason = "First check the change. lockterm may still find out whether it was recorded."
            refuse_to_open(self._app, self._title(operation), reason)
            return
        if operation.call == "clear":
            count = len(operation.candidates) or len(operation.before)
            question = f"Delete the remaining {count} remotes one by one?"
            warning = (
                "lockterm does not send the clear again, because it would also delete"
                " remotes that were added later."
            )
            verb, word = f"Delete {count} one by one", "delete"
            if not operation.candidates:
                refuse_to_open(
                    self._app,
                    "Clear",
                    "First check the change. The service may still be deleting remotes.",
                )
                return
        else:
            question = f'Send "{self._title(operation)}" again?'
            warning = ""
            if operation.call == "add":
                warning = (
                    "If the first request also takes effect, the lock will have the remote twice."
                )
            elif operation.call == "updateLockSetting":
                # No service reports the voice of a lock, and nothing blocks a second setting.
                sent = await self._try(self._operations.journal.voices(operation.lock_id))
                if sent is None:
                    return
                if sent and sent[-1].id != operation.id:
                    warning = (
                        f"! Sending again replaces a later change: {self._describe(sent[-1])}."
                    )
            verb, word = "Send again", "send"
        values = await self._values(operation)
        details = "\n".join(
            filter(
                None, (f"{self._describe(operation)}.", clean(operation.message), *values, warning)
            )
        )
        kind = (
            screens.DestroyModal
            if operation.call in DESTROYING
            else partial(screens.ConfirmModal, danger=True)
        )
        modal: Screen[Any] = kind(question, details, verb=verb, keep="Do not send", typed=(word,))
        if await self._app.push_screen_wait(modal):
            await self._try(self._operations.resolution.send_again(operation))
            await self.refresh()

    async def _values(self, operation: Operation) -> list[str]:
        """Return lines with the values that would be set if an operation were sent again."""
        body = operation.body
        if operation.call == "updateRemoteUserNo":
            return [f"New value: user number {clean(body.get('remoteUserNo'))}"]
        if operation.call == "updateLockSetting":
            return [f"New value: voice {format_voice(operation)}"]
        if operation.call not in ("add", "update"):
            return []

        zone: tzinfo = self._operations.profile.zone
        now_ms = self._operations.now_ms()
        with suppress(LocktermError):
            lock = await self._operations.locks.find(operation.lock_id)
            zone = self._operations.zone(lock)
        if operation.call == "add":
            return ["New values:", *describe_add(Remote.read(body), now_ms, zone)]
        record = operation.before[0] if operation.before else {}
        before, after = Remote.read(record), Remote.read({**record, **body})
        shortened = describe_shortened_access(before, after, now_ms, zone)
        never = describe_never_opens(after, now_ms, zone)
        lines = [*filter(None, [shortened, never]), *describe_update(before, after, now_ms, zone)]
        return ["New values:", *lines]

    async def give_up(self) -> None:
        """Dismiss the oldest unconfirmed operation, after a confirmation."""
        if (operation := await self._oldest()) is None:
            return
        modal = screens.ConfirmModal(
            f'Dismiss "{self._title(operation)}"?',
            f"{self._describe(operation)}.\n{clean(operation.message)}\nThe change may"
            " have taken effect, or may still take effect. It stays in the history.",
            verb="Dismiss",
            keep="Keep verifying",
            typed=("dismiss",),
        )
        if await self._app.push_screen_wait(modal):
            await self._try(self._operations.resolution.give_up(operation))

    async def _try(self, work: Awaitable[T]) -> T | None:
        try:
            return await work
        except LocktermError as error:
            notify_error(self._app, error)
            return None

    def _describe(self, operation: Operation) -> str:
        now_ms = self._operations.machine_ms()
        return describe_operation(operation, self._operations.profile.zone, now_ms)

    @staticmethod
    def _title(operation: Operation) -> str:
        verb = CALL_NAMES.get(operation.call, operation.call).capitalize()
        return f"{verb} {clean(operation.remote_name or operation.lock_name, 40)}"
