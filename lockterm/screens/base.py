"""The base of every screen of lockterm."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.worker import Worker

from lockterm import screens
from lockterm.config.profile import has_frames
from lockterm.domain.safe_text import clean
from lockterm.errors import LocktermError, RateLimited, Refused
from lockterm.keymap.hints import keys_of
from lockterm.keymap.keys import that_open
from lockterm.screens.host import HEIGHTS, WIDTHS, Host, recorded
from lockterm.screens.modal import RefusedModal
from lockterm.terminal.key_queue import is_opening
from lockterm.terminal.patches import active_binding, own_bindings, paint_once
from lockterm.widgets.actions import reason_against, titled
from lockterm.widgets.key_line import KeyLine
from lockterm.widgets.title_line import ColoredTitleLine, TitleLine

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.domain.locks import Lock
    from lockterm.domain.operation import Operation
    from lockterm.operations import Operations
    from lockterm.screens.notice_line import NoticeLine


ResultT = TypeVar("ResultT")

ELSEWHERE = "Resolve the change outside this form."
"""The text that a form shows for an unconfirmed change that the form did not send."""


def format_run_progress(operations: Operations) -> str:
    """Return the progress of the current run for the header; empty if there is none."""
    run = operations.run_under_way
    return f"run {run.done}/{run.due}" if run is not None else ""


def title_line(profile: Profile) -> TitleLine:
    """Return the header for screens of a profile, in its color if it has one."""
    named = profile.name, profile.host
    if not profile.color:
        return TitleLine(*named, read_only=profile.read_only)

    return ColoredTitleLine(*named, profile.color, read_only=profile.read_only)


def notify_error(app: App[Any], error: LocktermError, what: str = "") -> None:
    """Show an error with its title, meaning and next step.

    Args:
        app: The app that shows it.
        error: The error.
        what: The failed action, such as ``Delete Anna Weber``; clean, empty for none.
    """
    means, said = clean(error.title), clean(error.sentences)
    title, text = (what, f"{means}: {said}") if what else (means, said)
    app.notify(text, title=title, severity="error")


def refuse_to_open(app: App[Any], what: str, reason: str) -> None:
    """Show why a screen does not open, in a dialog that receives the keys typed for the screen.

    Args:
        app: The app that shows it.
        what: The action, such as ``Edit``; clean.
        reason: A sentence, which may contain strings from the service.
    """
    assert isinstance(app, Host)
    app.keep_message(reason, what, "information")
    app.push_screen(RefusedModal(what, reason))


def can_act(why_not: Callable[[str], str], action: str) -> bool | None:
    """Return True if an action is enabled, or None so that Textual dims its key."""
    try:
        return None if why_not(action) else True
    except NoMatches:  # at exit, Textual removes the widgets before the screen
        return None


def say_why_not(screen: Screen[Any], binding: Binding, reason: str) -> None:
    """Show why an action is disabled: in a dialog if it opens a screen, else as a notification.

    While another screen is opening, always use a notification, because later keys are meant for
    that screen.
    """
    if binding.id in that_open() and not is_opening(screen):
        refuse_to_open(screen.app, titled(binding), reason)
    else:
        screen.notify(reason, title=titled(binding))


def say_why_no_key(screen: Screen[Any], event: events.Key) -> None:
    """Show why a key does nothing if its action is disabled on the focused widget or the screen."""
    nearest = active_binding(screen, event.key)
    if nearest is not None:
        found = [(nearest.node, nearest.binding)]
    else:  # a key of the screen whose action is hidden now
        found = [(screen, own) for own in own_bindings(screen, event.key)]
    for node, binding in found:
        if reason := reason_against(node, binding.action):
            event.stop()
            say_why_not(screen, binding, reason)
            return


class LocktermScreen(Screen[ResultT]):
    """A full screen with a header, a body and a footer.

    Args:
        operations: The operations on the service and the local store; None without a service.
    """

    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    is_form = False
    """Whether the screen is a form, which receives typed text wherever the focus is."""

    lock_entry: Lock | None = None
    """The lock of the screen; None if the screen has no lock or several."""

    leads_back = False
    """Whether Esc opens another screen even if no screen is below this one."""

    notices: NoticeLine | None = None
    """The lines for an unreachable service and unconfirmed changes; None before the first use."""

    _lags = False
    """Whether a minute passed while another screen covered this one."""

    unsettled: tuple[Operation, ...] = ()
    """The unconfirmed changes last shown, the oldest first."""

    def __init__(self, operations: Operations | None) -> None:
        super().__init__()
        self._operations = operations

    @property
    def host(self) -> Host:
        """The app, as screens use it."""
        assert isinstance(self.app, Host)
        return self.app

    @property
    def has_service(self) -> bool:
        """Whether a service is configured."""
        return self._operations is not None

    @property
    def operations(self) -> Operations:
        """The operations on the service and the local store; use only if ``has_service``."""
        assert self._operations is not None
        return self._operations

    @property
    def would_lose(self) -> str:
        """The question to ask if quitting would lose input; empty if not, as with saved drafts."""
        return ""

    @property
    def known_locks(self) -> Sequence[Lock]:
        """The locks on the screen, which the palette offers."""
        return ()

    global_keys: ClassVar[Mapping[str, str]] = {}
    """ID of a global key -> its verb in the footer, for keys that the footer shows here too."""

    @property
    def first_keys(self) -> Sequence[str]:
        """The actions that get room in the footer first now; empty for the default order."""
        return ()

    def may_read_again(self, error: LocktermError | None) -> bool:
        """Return whether to repeat a failed read without a key press.

        A refused read is not repeated, except after a rate limit.

        Args:
            error: The error of the read; None if it succeeded.
        """
        if error is None or (isinstance(error, Refused) and not isinstance(error, RateLimited)):
            return False
        return bool(self.operations.connection.online) and not self.operations.connection.wait_s

    def run_alone(self, work: Callable[[], Coroutine[Any, Any, None]], group: str) -> Worker[None]:
        """Run work in a worker, and cancel earlier workers of its group."""
        return self.run_worker(work, group=group, exclusive=True)

    def note_minute(self) -> None:
        """Update times now, or when this screen becomes active."""
        self._lags = not self.is_active
        if self.is_active:
            self.pass_time()

    def on_screen_resume(self) -> None:
        paint_once(self)
        if self._lags:
            self.note_minute()

    def pass_time(self) -> None:
        """Update ages, dates and states to the present time; rows keep their places."""

    def write_again(self) -> None:
        """Update cached text after the icons or colors changed."""

    def on_resize(self) -> None:
        self.draw_frames()

    def draw_frames(self, *, update: bool = True) -> None:
        """Draw frames around tables and panels if there is room, except in low-bandwidth mode."""
        is_framed = has_frames(*self.app.size) and not self.app.has_class("-quiet")
        self.set_class(is_framed, "-framed", update=update)

    @abstractmethod
    def crumbs(self) -> tuple[str, ...]:
        """Return the path to this screen, for the header."""

    @abstractmethod
    def compose_body(self) -> ComposeResult:
        """Compose the widgets between header and footer."""

    def compose(self) -> ComposeResult:
        # Set the size classes before the first layout, because Textual would repaint after it.
        for length, breakpoints in zip(
            self.app.size, (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), strict=True
        ):
            now = [name for least, name in breakpoints if length >= least][-1]
            self.add_class(now, update=False)  # the widgets are added only now
        self.draw_frames(update=False)
        title = TitleLine("", "")
        if self.has_service:
            title = title_line(self.operations.profile)
            title.online = self.operations.connection.online
            title.run = format_run_progress(self.operations)
        title.crumbs = self.crumbs()
        yield title
        yield from self.compose_body()
        yield KeyLine()

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return whether a form consumes a typed character, so that the app does not."""
        if not self.is_form or character is None or not character.isprintable():
            return False
        return key not in (*keys_of("app.help"), *keys_of("app.quit"))

    def show_notices(self, link: str, unsettled: tuple[Operation, ...]) -> None:
        """Show the connection state and the unconfirmed changes.

        Args:
            link: The text for a service that is unreachable or asks for a pause; empty for none.
            unsettled: The unconfirmed changes, the oldest first.
        """
        self.unsettled = unsettled
        if not self.has_service or not self.query(TitleLine):
            return  # at exit, Textual removes the widgets before the screen
        self.query_one(TitleLine).online = self.operations.connection.online
        if self.notices is None and (link or unsettled):
            self.notices = screens.NoticeLine(self.operations.profile.zone, self.operations.now_ms)
            self.notices.instead = ELSEWHERE if self.is_form else ""
            self.mount(self.notices, after=self.query_one(TitleLine))
        if self.notices is not None:
            self.notices.link, self.notices.unsettled = link, unsettled

    def show_run(self) -> None:
        """Show the progress of a run in the header."""
        if self.has_service:
            for title in self.query(TitleLine):  # none at exit
                title.run = format_run_progress(self.operations)

    def show_crumbs(self) -> None:
        """Update the header after a name changed."""
        self.query_one(TitleLine).crumbs = self.crumbs()

    # --- keys that do nothing now --------------------------------------------------------------

    def is_offered(self, action: str) -> bool:
        """Return whether the key of an action appears now, even if dimmed."""
        return True

    def why_not(self, action: str) -> str:
        """Return a sentence about why an action is disabled; empty if it is enabled."""
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Dim disabled actions, and hide those that are not offered."""
        return can_act(self.why_not, action) if self.is_offered(action) else False

    def on_key(self, event: events.Key) -> None:
        say_why_no_key(self, event)

    def refuses(self, event: events.Key) -> bool:
        """Return whether a key's action is disabled; such a key does not wait for a new screen."""
        nearest = active_binding(self, event.key)
        return nearest is not None and bool(reason_against(nearest.node, nearest.binding.action))

    # --- errors --------------------------------------------------------------------------------

    def refuse_to_open(self, what: str, reason: str) -> None:
        """Show why a screen does not open; see :func:`refuse_to_open`."""
        refuse_to_open(self.app, what, reason)

    @contextmanager
    def refusing_errors(self) -> Iterator[None]:
        """Show a ``LocktermError`` of the block in a dialog, because a screen does not open."""
        try:
            yield
        except LocktermError as error:
            self.refuse_to_open(error.title, error.sentences)

    @contextmanager
    def showing_errors(self) -> Iterator[None]:
        """Show a ``LocktermError`` of the block as a notification."""
        try:
            yield
        except LocktermError as error:
            self.tell(error)

    def tell(self, error: LocktermError, what: str = "") -> None:
        """Show an error as a notification; see :func:`notify_error`."""
        notify_error(self.app, error, what)

    def tell_recorded(self, what: str, more: str = "") -> None:
        """Show that a change was recorded.

        Args:
            what: The change, such as ``Deleted Anna Weber (A-2041)``; clean.
            more: More sentences, clean.
        """
        self.notify(recorded(self.host, more), title=what)

    def keep_refusal(self, error: LocktermError) -> None:
        """Keep a refusal in the message log, because the screen shows only part of it.

        A read during a known pause is not logged: after a change, its message could be taken for
        the result of that change, and the notice line shows the pause.
        """
        is_known = isinstance(error, RateLimited) and not error.asked
        if isinstance(error, Refused) and not is_known:
            self.host.keep_message(error.sentences, error.title, "error")

    # --- changes by other screens --------------------------------------------------------------

    def after_write(self, remote_id: int | None) -> None:
        """Read the shown data of ``lock_entry`` again.

        Args:
            remote_id: The ID of the remote that may have changed; None for all of the lock.
        """

    def after_delete(self, remote_id: int | None) -> None:
        """Show that a remote of ``lock_entry`` was deleted."""
        self.after_write(remote_id)

    def read_changed(self, lock_ids: Iterable[int]) -> None:
        """Read the locks again that a run changed, if the screen shows them."""

    def screens_of(self, lock_id: int) -> Iterator[LocktermScreen[Any]]:
        """Yield the open screens of a lock."""
        for screen in self.app.screen_stack:
            if not isinstance(screen, LocktermScreen) or not screen.is_attached:
                continue
            if screen.lock_entry is not None and screen.lock_entry.lock_id == lock_id:
                yield screen
