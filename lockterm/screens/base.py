"""The base of every screen of lockterm, and the interface that the app offers to its screens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.worker import Worker

from lockterm import screens
from lockterm.config.profile import has_frames
from lockterm.domain.safe_text import clean
from lockterm.domain.text.service import LOCK_MAY_NOT_KNOW
from lockterm.errors import LocktermError, RateLimitedError, RefusedError
from lockterm.keymap.hints import keys_of
from lockterm.keymap.keys import that_open
from lockterm.screens.modal import RefusedModal
from lockterm.terminal.key_queue import is_opening
from lockterm.terminal.patches import active_binding, own_bindings, paint_once
from lockterm.widgets.actions import reason_against, titled
from lockterm.widgets.header_footer import ColoredTitleLine, KeyLine, TitleLine

if TYPE_CHECKING:
    from pathlib import Path

    from textual.notifications import SeverityLevel

    from lockterm.config.preferences import Preferences
    from lockterm.domain.locks import Lock
    from lockterm.domain.notices import NoticeLog
    from lockterm.domain.operation import Operation
    from lockterm.operations import Operations


ResultT = TypeVar("ResultT")

PROGRESS_S = 0.25
"""Seconds between two updates of a screen while locks are being read."""

ELSEWHERE = "Resolve the change outside this form."
"""The sentence that a form shows about an unconfirmed change that the form did not send."""


@runtime_checkable
class Host(Protocol):
    """The methods and properties that lockterm's apps add to Textual's, and that screens use."""

    @property
    def choices(self) -> Preferences:
        """The preferences that earlier sessions saved."""

    def now_ms(self) -> int:
        """Return the current time in milliseconds."""

    @property
    def notice_log(self) -> NoticeLog:
        """The log of this session's notifications, including a notification that is shown now."""

    def keep_message(self, message: str, title: str, severity: SeverityLevel) -> None:
        """Add a message to the message log without showing it."""

    def once(self, sentence: str) -> str:
        """Return the sentence on its first use in a session, and an empty string afterwards."""

    def ask_drawn(self, drawn: Callable[[float], None]) -> None:
        """Call ``drawn`` as soon as the terminal shows the current screen.

        Args:
            drawn: A function that receives the time at which the screen was shown, in seconds on
                Textual's clock.
        """


def recorded(host: Host, more: str = "") -> str:
    """Return a notification text for a change that the service recorded.

    The text contains the sentences in ``more``. Once per session, the text adds that the lock may
    not have received the change yet.
    """
    once = host.once(LOCK_MAY_NOT_KNOW)
    return " ".join(filter(None, ("Recorded by the service.", more, once)))


class HasOperations(Protocol):
    """The interface of an app that uses the service of a profile."""

    @property
    def operations(self) -> Operations:
        """The operations on the service and the local store."""

    @property
    def exports(self) -> Path:
        """The directory for exported files."""

    async def choose_backup(self) -> str | None:
        """Let the user choose, in the history, a delete or clear whose remotes are a backup.

        Returns:
            The ID of the operation; None if canceled.
        """


def format_run_progress(operations: Operations) -> str:
    """Return the progress of the active run for the header; empty if no run is active."""
    run = operations.run_under_way
    return f"run {run.done}/{run.due}" if run is not None else ""


def notify_error(app: App[Any], error: LocktermError, what: str = "") -> None:
    """Show an error as a notification, with its title, meaning and next step.

    Args:
        app: The app that shows the error.
        error: The error.
        what: The failed action, such as ``Delete Anna Weber``, without control characters; may be
            empty.
    """
    means, said = clean(error.title), clean(error.sentences)
    title, text = (what, f"{means}: {said}") if what else (means, said)
    app.notify(text, title=title, severity="error")


def refuse_to_open(app: App[Any], what: str, reason: str) -> None:
    """Open a dialog that explains why a screen cannot open.

    The dialog also receives the keys that the user already typed for that screen.

    Args:
        app: The app that shows the dialog.
        what: The refused action, such as ``Edit``, without control characters.
        reason: The reason as a sentence, which may contain strings from the service.
    """
    assert isinstance(app, Host)
    app.keep_message(reason, what, "information")
    app.push_screen(RefusedModal(what, reason))


def can_act(disabled_reason: Callable[[str], str], action: str) -> bool | None:
    """Return True if an action is enabled, or None if Textual must dim its key."""
    try:
        return None if disabled_reason(action) else True
    except NoMatches:  # at exit, Textual removes the widgets before the screen
        return None


def say_why_not(screen: Screen[Any], binding: Binding, reason: str) -> None:
    """Explain why an action is disabled.

    If the action opens a screen, use a dialog, otherwise a notification. Even for an action that
    opens a screen, use a notification if the keys of ``screen`` must keep working. Do the same
    while another screen is opening, because the user may already be typing keys for that screen.
    """
    stays_open = isinstance(screen, LocktermScreen) and screen.keys_must_work
    if binding.id in that_open() and not is_opening(screen) and not stays_open:
        refuse_to_open(screen.app, titled(binding), reason)
    else:
        screen.notify(reason, title=titled(binding))


def say_why_no_key(screen: Screen[Any], event: events.Key) -> None:
    """Explain why a key does nothing, if the focused widget or the screen disables its action."""
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
        operations: The operations on the service and the local store; None if no service is
            configured.
    """

    is_form = False
    """Whether the screen is a form, which receives typed text wherever the focus is."""

    lock_entry: Lock | None = None
    """The lock that the screen is about; None if the screen is about no lock or several locks."""

    leads_back = False
    """Whether Esc opens another screen instead of quitting, if no screen is below this one."""

    notices: screens.NoticeLine | None = None
    """The lines about an unreachable service and unconfirmed changes; created on first use."""

    _lags = False
    """Whether a minute passed while another screen covered this one, so that the displayed times
    are outdated."""

    unconfirmed: tuple[Operation, ...] = ()
    """The unconfirmed changes that the screen last showed, the oldest first."""

    def __init__(self, operations: Operations | None) -> None:
        super().__init__()
        self._operations = operations

    @property
    def host(self) -> Host:
        """The app, typed as the interface that screens may use."""
        assert isinstance(self.app, Host)
        return self.app

    @property
    def has_service(self) -> bool:
        """Whether a service is configured."""
        return self._operations is not None

    @property
    def operations(self) -> Operations:
        """The operations on the service and the local store; available only if ``has_service``."""
        assert self._operations is not None
        return self._operations

    @property
    def would_lose(self) -> str:
        """The question to ask if quitting would lose input; empty if no input would be lost."""
        return ""

    @property
    def known_locks(self) -> Sequence[Lock]:
        """The locks that the screen has loaded, which the command palette offers to open."""
        return ()

    @property
    def first_keys(self) -> Sequence[str]:
        """The actions that the footer shows first at the moment; empty for the default order."""
        return ()

    def may_read_again(self, error: LocktermError | None) -> bool:
        """Return whether to repeat a failed request for data without a key press.

        A request that the service refused is not repeated, except after a rate limit.

        Args:
            error: The error of the last request; None if the request succeeded.
        """
        if error is None or (
            isinstance(error, RefusedError) and not isinstance(error, RateLimitedError)
        ):
            return False
        return bool(self.operations.connection.online) and not self.operations.connection.wait_s

    def run_alone(self, work: Callable[[], Coroutine[Any, Any, None]], group: str) -> Worker[None]:
        """Run work in a worker, after canceling any earlier worker of the same group."""
        return self.run_worker(work, group=group, exclusive=True)

    def note_minute(self) -> None:
        """Update the times on this screen now, or as soon as no other screen covers it."""
        self._lags = not self.is_active
        if self.is_active:
            self.refresh_relative_times()

    def on_screen_resume(self) -> None:
        paint_once(self)
        if self._lags:
            self.note_minute()

    def refresh_relative_times(self) -> None:
        """Update ages, dates and states to the current time without moving rows."""

    def write_again(self) -> None:
        """Rebuild cached text after the icons or colors changed."""

    def on_resize(self) -> None:
        self.draw_frames()

    def draw_frames(self, *, update: bool = True) -> None:
        """Draw frames around tables and panels if there is room, except in low-bandwidth mode."""
        is_framed = has_frames(*self.app.size) and not self.app.has_class("-quiet")
        self.set_class(is_framed, "-framed", update=update)

    @abstractmethod
    def breadcrumbs(self) -> tuple[str, ...]:
        """Return the breadcrumbs that lead to this screen, for the header."""

    @abstractmethod
    def compose_body(self) -> ComposeResult:
        """Compose the widgets between header and footer."""

    def compose(self) -> ComposeResult:
        # Set the size classes before the first layout, because Textual would repaint after it.
        breakpoints = self.app.HORIZONTAL_BREAKPOINTS, self.app.VERTICAL_BREAKPOINTS
        for length, classes in zip(self.app.size, breakpoints, strict=True):
            now = [name for least, name in classes or () if length >= least][-1]
            self.add_class(now, update=False)  # the widgets are added only now
        self.draw_frames(update=False)
        title = TitleLine("", "")
        if self.has_service:
            profile = self.operations.profile
            named, read_only = (profile.name, profile.host), profile.read_only
            title = TitleLine(*named, read_only=read_only)
            if profile.color:
                title = ColoredTitleLine(*named, profile.color, read_only=read_only)
            title.online = self.operations.connection.online
            title.run = format_run_progress(self.operations)
        title.breadcrumbs = self.breadcrumbs()
        yield title
        yield from self.compose_body()
        yield KeyLine()

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return whether a form takes a typed character as text, so that it is not a command."""
        if not self.is_form or character is None or not character.isprintable():
            return False
        return key not in (*keys_of("app.help"), *keys_of("app.quit"))

    def show_notices(self, connection_text: str, unconfirmed: tuple[Operation, ...]) -> None:
        """Show the connection state and the unconfirmed changes.

        Args:
            connection_text: The text about a service that is unreachable or asks for a
                pause; may be empty.
            unconfirmed: The unconfirmed changes, the oldest first.
        """
        self.unconfirmed = unconfirmed
        if not self.has_service or not self.query(TitleLine):
            return  # at exit, Textual removes the widgets before the screen
        self.query_one(TitleLine).online = self.operations.connection.online
        if self.notices is None and (connection_text or unconfirmed):
            self.notices = screens.NoticeLine(self.operations)
            self.notices.instead = ELSEWHERE if self.is_form else ""
            self.mount(self.notices, after=self.query_one(TitleLine))
        if self.notices is not None:
            self.notices.connection_text, self.notices.unconfirmed = connection_text, unconfirmed

    def show_run(self) -> None:
        """Show the progress of the active run in the header."""
        if self.has_service:
            for title in self.query(TitleLine):  # none at exit
                title.run = format_run_progress(self.operations)

    def show_crumbs(self) -> None:
        """Update the breadcrumbs in the header after a name in the breadcrumbs has changed."""
        self.query_one(TitleLine).breadcrumbs = self.breadcrumbs()

    # --- keys that do nothing now --------------------------------------------------------------

    @property
    def keys_must_work(self) -> bool:
        """Whether the keys must keep working, for example during a run.

        A disabled key then shows a notification instead of a dialog.
        """
        return False

    def is_offered(self, action: str) -> bool:
        """Return whether the footer and the help list the key of an action now, even if dimmed."""
        return True

    def disabled_reason(self, action: str) -> str:
        """Return the reason why an action is disabled, as a sentence; empty if it is enabled."""
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action is enabled; None to dim its key, False to hide the key."""
        return can_act(self.disabled_reason, action) if self.is_offered(action) else False

    def on_key(self, event: events.Key) -> None:
        say_why_no_key(self, event)

    def refuses(self, event: events.Key) -> bool:
        """Return whether a key's action is disabled, so that the key will open no screen."""
        nearest = active_binding(self, event.key)
        return nearest is not None and bool(reason_against(nearest.node, nearest.binding.action))

    # --- errors --------------------------------------------------------------------------------

    def refuse_to_open(self, what: str, reason: str) -> None:
        """Open a dialog that explains why a screen cannot open; see :func:`refuse_to_open`."""
        refuse_to_open(self.app, what, reason)

    @contextmanager
    def refusing_errors(self) -> Iterator[None]:
        """Show a ``LocktermError`` raised in the ``with`` block in a dialog.

        The block opens a screen, and the dialog explains why the screen cannot open.
        """
        try:
            yield
        except LocktermError as error:
            self.refuse_to_open(error.title, error.sentences)

    @contextmanager
    def showing_errors(self) -> Iterator[None]:
        """Show a ``LocktermError`` raised in the ``with`` block as a notification."""
        try:
            yield
        except LocktermError as error:
            self.tell(error)

    def tell(self, error: LocktermError, what: str = "") -> None:
        """Show an error as a notification; see :func:`notify_error`."""
        notify_error(self.app, error, what)

    def tell_recorded(self, what: str, more: str = "") -> None:
        """Show that the service recorded a change.

        Args:
            what: The change, such as ``Deleted Anna Weber (A-2041)``, without control characters.
            more: More sentences, without control characters.
        """
        self.notify(recorded(self.host, more), title=what)

    def keep_refusal(self, error: LocktermError) -> None:
        """Add an error to the message log if it is a refusal by the service.

        Call this if the screen has no room for the full text of the error.

        If lockterm sent no request because the service asked for a pause, the error is not logged.
        The notice line already shows the pause.
        """
        is_known = isinstance(error, RateLimitedError) and not error.asked
        if isinstance(error, RefusedError) and not is_known:
            self.host.keep_message(error.sentences, error.title, "error")

    # --- changes by other screens --------------------------------------------------------------

    def after_write(self, remote_id: int | None) -> None:
        """Read the data about ``lock_entry`` again, because lockterm sent a change.

        Args:
            remote_id: The ID of the remote that may have changed; None for all remotes of the lock.
        """

    def after_delete(self, remote_id: int | None) -> None:
        """Update the screen after a remote of ``lock_entry`` was deleted."""
        self.after_write(remote_id)

    def read_changed(self, lock_ids: Iterable[int]) -> None:
        """Read again the locks that a run has changed, if this screen shows any of them."""

    def screens_of(self, lock_id: int) -> Iterator[LocktermScreen[Any]]:
        """Yield the open screens that are about one lock."""
        for screen in self.app.screen_stack:
            if not isinstance(screen, LocktermScreen) or not screen.is_attached:
                continue
            if screen.lock_entry is not None and screen.lock_entry.lock_id == lock_id:
                yield screen
