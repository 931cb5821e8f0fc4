"""What every screen and every dialog of lockterm has in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen

from lockterm.errors import LocktermError
from lockterm.text import clean
from lockterm.widgets.actions import reason_against
from lockterm.widgets.key_line import KeyLine
from lockterm.widgets.notice_line import NoticeLine
from lockterm.widgets.title_line import TitleLine

if TYPE_CHECKING:
    from lockterm.models.operation import Operation
    from lockterm.operations import Operations

ResultT = TypeVar("ResultT")

SOON_S = 0.1
"""What the service answers within this is not announced as being loaded."""


class _Common(Screen[ResultT]):
    """Actions that say why they are disabled, and errors that become notices."""

    HORIZONTAL_BREAKPOINTS = [
        (0, "-narrow"),
        (80, "-home"),
        (120, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (24, "-tall")]

    def on_screen_resume(self) -> None:
        """Paint a new screen once: Textual lays it out, which paints it, and then paints again."""
        if self.outer_size != self.app.size:
            self.call_next(self._let_painting_be)

    def _let_painting_be(self) -> None:
        self._repaint_required = False

    def why_not(self, action: str) -> str:
        """Why an action can do nothing now, as a sentence; empty: it can."""
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Dim the actions that can do nothing now."""
        return None if self.why_not(action) else True

    def on_key(self, event: events.Key) -> None:
        """Say why the key of a disabled action does nothing, whosever it is."""
        nearest = self.active_bindings.get(event.key)
        if nearest is not None:
            found = [(nearest.node, nearest.binding)]
        else:  # one of our own that is not even offered now
            found = [(self, own) for own in self._bindings.key_to_bindings.get(event.key, ())]
        for node, binding in found:
            if reason := reason_against(node, binding.action):
                event.stop()
                self.notify(reason, title=binding.description.capitalize(), markup=False)
                return

    @contextmanager
    def showing_errors(self) -> Iterator[None]:
        """Turn an error for people into a notice and a line of the message log."""
        try:
            yield
        except LocktermError as error:
            self.tell(error)

    def tell(self, error: LocktermError, what: str = "") -> None:
        """Show an error: what happened, what it means, what to do.

        Args:
            error: The error.
            what: What was being done, already clean: ``Delete Anna Weber``.
        """
        message = " ".join(filter(None, (clean(error.message), clean(error.hint))))
        title = ": ".join(filter(None, (what, clean(error.title))))
        self.notify(message, title=title, severity="error", timeout=12, markup=False)


class FullScreen(_Common[ResultT]):
    """A full screen: a title line, the body, a line of keys.

    Args:
        door: The one door to service and store; None while no service is known yet.
    """

    def __init__(self, door: Operations | None) -> None:
        super().__init__()
        self._door = door

    @property
    def would_lose(self) -> str:
        """What ending now would lose, as a question; empty: nothing, as where drafts are kept."""
        return ""

    @abstractmethod
    def crumbs(self) -> tuple[str, ...]:
        """The way to this screen, for the title line."""

    @abstractmethod
    def compose_body(self) -> ComposeResult:
        """What stands between the title line and the keys."""

    def compose(self) -> ComposeResult:
        """Title, body, keys."""
        # Before the first layout: Textual sets these after it, and paints everything once more.
        for length, breakpoints in zip(
            self.app.size, (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), strict=True
        ):
            self.add_class([name for least, name in breakpoints if length >= least][-1])
        yield from self._compose_head()
        yield from self.compose_body()
        yield KeyLine()

    def _compose_head(self) -> ComposeResult:
        title = TitleLine("", "")
        if self._door is not None:
            profile = self._door.profile
            title = TitleLine(
                profile.name, profile.host, read_only=profile.read_only, colour=profile.colour
            )
            title.online = self._door.online
        title.crumbs = self.crumbs()
        yield title
        if self._door is not None:
            yield NoticeLine(self._door.profile.zone, self._door.now_ms)

    def show_notices(self, link: str, unsettled: tuple[Operation, ...]) -> None:
        """Show what must not be overlooked.

        Args:
            link: What to say of a service that is out of reach or asks for a pause.
            unsettled: The operations that are not settled, the oldest first.
        """
        if self._door is None or not self.query(TitleLine):
            return  # lockterm is ending: what is inside a screen goes before it
        self.query_one(TitleLine).online = self._door.online
        notices = self.query_one(NoticeLine)
        notices.link, notices.unsettled = link, unsettled

    def show_crumbs(self) -> None:
        """Repaint the title line after a name has changed."""
        self.query_one(TitleLine).crumbs = self.crumbs()


class LocktermScreen(FullScreen[ResultT]):
    """A full screen on a profile.

    Args:
        operations: The one door to service and store.
    """

    def __init__(self, operations: Operations) -> None:
        super().__init__(operations)
        self.operations = operations

    @property
    def may_read_again(self) -> bool:
        """Whether what could not be read is worth another try by itself."""
        return bool(self.operations.online) and not self.operations.wait_s


class LocktermModal(ModalScreen[ResultT], _Common[ResultT]):
    """A dialog over a screen. Keys typed before it was painted do nothing in it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "cancel", id="dialog.cancel"),
    ]

    painted_s: float | None = None
    """When it stood on the screen, on the clock of Textual's events; None before."""

    def on_mount(self) -> None:
        """Let no older notice cover the dialog; note from when on keys are meant for it."""
        self.app.clear_notifications()
        self.call_after_refresh(self._note_painted)

    def _note_painted(self) -> None:
        self.painted_s = events.Event().time

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Whether a key was typed by someone who could see this dialog."""
        return self.painted_s is not None and event.time >= self.painted_s

    def action_cancel(self) -> None:
        """Leave without doing anything."""
        self.dismiss(None)
