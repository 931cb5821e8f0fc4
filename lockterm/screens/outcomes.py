"""What a person does about an outcome that is not settled: check, send again, give up."""

from __future__ import annotations

import math
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen
from textual.timer import Timer

from lockterm.errors import LocktermError
from lockterm.models.operation import CALL_WORDS, READABLE_CALLS, Operation, State
from lockterm.screens.base import FullScreen
from lockterm.text import clean
from lockterm.widgets.notice_line import outcome_words

if TYPE_CHECKING:
    from lockterm.operations import Operations


class Outcomes:
    """Keeps the notices of all screens true, and acts on the oldest unsettled operation.

    Args:
        app: Whose screens show the notices.
        operations: The journal's door.
    """

    def __init__(self, app: App[int], operations: Operations) -> None:
        self._app = app
        self._operations = operations
        self._offline_ms: int | None = None
        self._countdown: Timer | None = None
        self._told = ""
        """The notice about the store that was shown."""
        self.unsettled: tuple[Operation, ...] = ()
        """The operations that are not settled, the oldest first, as last read."""

    def note_online(self, online: bool) -> None:
        """The service was reached or lost; a screen that is told so reads again what failed."""
        self._offline_ms = None if online else self._operations.now_ms()
        self.show()

    def note_wait(self) -> None:
        """The service asks for a pause: count it down."""
        self.show()
        if self._countdown is None:
            self._countdown = self._app.set_interval(1.0, self._count_down)

    def _count_down(self) -> None:
        self.show()
        if not self._operations.wait_s and self._countdown is not None:
            self._countdown.stop()
            self._countdown = None

    async def refresh(self) -> None:
        """Read the journal and show what is not settled."""
        try:
            self.unsettled = tuple(await self._operations.unsettled())
            unread = [
                operation
                for operation in self.unsettled
                if operation.call in READABLE_CALLS and operation.read_ms is None
            ]
            if unread:  # perhaps from an earlier session: nothing else may call the service soon
                self._operations.settle()
        except LocktermError as error:
            self._app.notify(f"{error.message} {error.hint}", title=error.title, severity="error")
        if (notice := self._operations.store_notice) != self._told:
            self._told = notice
            self._app.notify(notice, title="Local store", severity="warning", timeout=20)
        self.show()

    def show(self) -> None:
        """Show the notices on what can be seen; the others follow when they are seen again."""
        for screen in reversed(self._app.screen_stack):
            if isinstance(screen, FullScreen) and screen.is_mounted:
                # A hidden screen that is painted has the one above it painted whole.
                screen.show_notices(self._link_words(), self.unsettled)
            if not screen.is_modal:
                return

    def _link_words(self) -> str:
        if wait_s := self._operations.wait_s:
            return f"PAUSE  The service asks to wait {math.ceil(wait_s)} s. Nothing is sent now."
        if self._offline_ms is None:
            return ""
        from lockterm.moments import stamp

        since = stamp(self._offline_ms, self._operations.profile.zone)[11:]
        return f"OFFLINE  since {since}. Rows may be old; read only. Trying again."

    # --- acting ------------------------------------------------------------------------------

    async def check(self) -> None:
        """Read the oldest unsettled operation back; let a person recognise an added remote."""
        operation = self.unsettled[0]
        read = await self._try(self._operations.check(operation))
        if read is None:
            return
        if read.state is State.AMBIGUOUS:
            remote_id = await self._recognise(read)
            if remote_id is not None:
                bound = await self._try(self._operations.bind(read, remote_id))
                read = bound or read
        self._app.notify(read.message, title=self._title(read))

    async def _recognise(self, operation: Operation) -> int | None:
        if len(operation.candidates) > 1:
            from lockterm.screens.which_remote import WhichRemote

            return await self._app.push_screen_wait(WhichRemote(operation))
        (remote_id,) = operation.candidates
        name = clean(operation.remote_name, 60)
        known = await self._ask(
            f"Is remote {remote_id} the {name} that was added here?",
            "Name, number, type and dates are the same. The lock had no remote of that name"
            " just before.",
            verb="It is the one",
            keep="Not sure",
        )
        return remote_id if known else None

    async def send_again(self) -> None:
        """Send the oldest unsettled operation again, after asking."""
        operation = self.unsettled[0]
        if operation.call == "clear":
            count = len(operation.candidates) or len(operation.before)
            question = f"Delete the {count} remotes that are left of this clear, one by one?"
            warning = "A clear is never sent again: it would delete remotes that came since."
            verb = f"Delete {count} one by one"
            if not operation.candidates:
                self._app.notify("Check it first: what is left is not known yet.", title="Clear")
                return
        else:
            question = f"Send it again? {self._title(operation)}"
            warning = "The first one may still land. An add may then be there twice."
            verb = "Send again"
        details = f"{self._words(operation)}.\n{clean(operation.message)}\n{warning}"
        if await self._ask(question, details, verb=verb, keep="Do not send", danger=True):
            await self._try(self._operations.send_again(operation))
            await self.refresh()

    async def give_up(self) -> None:
        """Let the oldest unsettled operation be, after asking."""
        operation = self.unsettled[0]
        if await self._ask(
            f"Give up on this? {self._title(operation)}",
            f"{self._words(operation)}.\n{clean(operation.message)}\n"
            "It may still have taken effect. It stays in the history.",
            verb="Give up",
            keep="Keep watching",
        ):
            await self._try(self._operations.give_up(operation))

    async def _ask(
        self, question: str, details: str, *, verb: str, keep: str, danger: bool = False
    ) -> bool:
        from lockterm.screens.confirm import ConfirmModal

        modal: Screen[Any] = ConfirmModal(question, details, verb=verb, keep=keep, danger=danger)
        return bool(await self._app.push_screen_wait(modal))

    async def _try(self, work: Awaitable[Operation | None]) -> Operation | None:
        try:
            return await work
        except LocktermError as error:
            message = f"{error.message} {error.hint}".strip()
            self._app.notify(message, title=error.title, severity="error", timeout=12)
            return None

    def _words(self, operation: Operation) -> str:
        now_ms = self._operations.now_ms()
        return outcome_words(operation, self._operations.profile.zone, now_ms)

    @staticmethod
    def _title(operation: Operation) -> str:
        verb = CALL_WORDS.get(operation.call, operation.call).capitalize()
        return f"{verb} {clean(operation.remote_name or operation.lock_name, 40)}"
