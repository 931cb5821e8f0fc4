"""What every screen of lockterm has in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.worker import Worker

from lockterm.domain.safe_text import clean
from lockterm.errors import LocktermError, RateLimited, Refused
from lockterm.keymap.hints import keys_of
from lockterm.keymap.keys import that_open
from lockterm.screens.host import HEIGHTS, WIDTHS, Host, recorded
from lockterm.screens.modal import RefusedModal
from lockterm.terminal.key_queue import is_opening
from lockterm.terminal.patches import active_binding, own_bindings, paint_once
from lockterm.widgets.actions import reason_against, titled
from lockterm.widgets.colored_title import ColoredTitleLine
from lockterm.widgets.key_line import KeyLine
from lockterm.widgets.notice_line import NoticeLine
from lockterm.widgets.title_line import TitleLine

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.domain.locks import Lock
    from lockterm.domain.operation import Operation
    from lockterm.operations import Operations
    from lockterm.widgets.notice_line import NoticeLine


ResultT = TypeVar("ResultT")

ELSEWHERE = "Resolve it outside this form."
"""What a form says of an unsettled operation that is none of its own."""


def run_words(operations: Operations) -> str:
    """How far the run is that is under way, for the title line; empty: there is none."""
    run = operations.run_under_way
    return f"run {run.done}/{run.due}" if run is not None else ""


def title_line(profile: Profile) -> TitleLine:
    """The title line of screens on a profile."""
    named = profile.name, profile.host
    if not profile.color:
        return TitleLine(*named, read_only=profile.read_only)

    return ColoredTitleLine(*named, profile.color, read_only=profile.read_only)


def notify_error(app: App[Any], error: LocktermError, what: str = "") -> None:
    """Show an error: what happened, what it means, what to do.

    Args:
        app: Where it is shown.
        error: The error.
        what: What was being done, already clean: ``Delete Anna Weber``.
    """
    means, said = clean(error.title), clean(error.sentences)
    title, text = (what, f"{means}: {said}") if what else (means, said)
    app.notify(text, title=title, severity="error")


def refuse_to_open(app: App[Any], what: str, reason: str) -> None:
    """Say why something does not open, and take what is typed for it: no key acts below.

    Args:
        app: Where it is said.
        what: What was asked for: ``Edit``; clean.
        reason: Why it cannot be, as a sentence; may have strings of the service in it.
    """
    assert isinstance(app, Host)
    app.keep_message(reason, what, "information")
    app.push_screen(RefusedModal(what, reason))


def can_act(why_not: Callable[[str], str], action: str) -> bool | None:
    """Whether an action of a screen can do something now, as Textual wants it; None: not now."""
    try:
        return None if why_not(action) else True
    except NoMatches:  # lockterm is ending: the widgets of a screen go before the screen
        return None


def say_why_not(screen: Screen[Any], binding: Binding, reason: str) -> None:
    """Say why an action does nothing: in a notice, or where it opens something in a dialog.

    No dialog stands before what is being opened: later keys wait for that.
    """
    if binding.id in that_open() and not is_opening(screen):
        refuse_to_open(screen.app, titled(binding), reason)
    else:
        screen.notify(reason, title=titled(binding))


def say_why_no_key(screen: Screen[Any], event: events.Key) -> None:
    """Say why the key of a disabled action does nothing, whosever it is."""
    nearest = active_binding(screen, event.key)
    if nearest is not None:
        found = [(nearest.node, nearest.binding)]
    else:  # its own key, which is not even offered now
        found = [(screen, own) for own in own_bindings(screen, event.key)]
    for node, binding in found:
        if reason := reason_against(node, binding.action):
            event.stop()
            say_why_not(screen, binding, reason)
            return


class LocktermScreen(Screen[ResultT]):
    """A full screen: a title line, the body, a line of keys.

    Args:
        operations: The one door to service and store; None while no service is known yet.
    """

    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    is_form = False
    """Whether it is there to be typed into: what is typed is for it, wherever its focus is."""

    lock_entry: Lock | None = None
    """The lock that the screen is about; None: it is about none, or about several."""

    leads_back = False
    """Whether its escape leads to another screen even where no screen is below it."""

    notices: NoticeLine | None = None
    """What must not be overlooked; None: there was nothing yet."""

    _lags = False
    """Whether time has passed while another screen was over it."""

    unsettled: tuple[Operation, ...] = ()
    """The operations that are not settled, the oldest first, as the screen was last told."""

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
        """Whether a service is known."""
        return self._operations is not None

    @property
    def operations(self) -> Operations:
        """The one door to service and store; only where a service is known."""
        assert self._operations is not None
        return self._operations

    @property
    def would_lose(self) -> str:
        """What ending now would lose, as a question; empty: nothing, as where drafts are kept."""
        return ""

    @property
    def known_locks(self) -> Sequence[Lock]:
        """The locks that it shows, for the palette."""
        return ()

    @property
    def first_keys(self) -> Sequence[str]:
        """The actions that come first in the line of keys now; none: those of the list of keys."""
        return ()

    def may_read_again(self, error: LocktermError | None) -> bool:
        """Whether what could not be read is worth another try by itself: a refusal is an answer.

        Args:
            error: Why it could not be read; None: it could.
        """
        if error is None or (isinstance(error, Refused) and not isinstance(error, RateLimited)):
            return False
        return bool(self.operations.connection.online) and not self.operations.connection.wait_s

    def run_alone(self, work: Callable[[], Coroutine[Any, Any, None]], group: str) -> Worker[None]:
        """Do something beside all else, and end what was begun of its group before."""
        return self.run_worker(work, group=group, exclusive=True)

    def note_minute(self) -> None:
        """Let time pass, now or once this is the screen that is seen."""
        self._lags = not self.is_active
        if self.is_active:
            self.pass_time()

    def on_screen_resume(self) -> None:
        paint_once(self)
        if self._lags:
            self.note_minute()

    def pass_time(self) -> None:
        """Tell by now what is told as of now: ages, dates, states. Rows stay where they are."""

    def write_again(self) -> None:
        """Write the words that are kept with the signs of now: the look has changed."""

    @abstractmethod
    def crumbs(self) -> tuple[str, ...]:
        """The way to this screen, for the title line."""

    @abstractmethod
    def compose_body(self) -> ComposeResult:
        """What stands between the title line and the keys."""

    def compose(self) -> ComposeResult:
        # Before the first layout: Textual sets these after it, and paints everything again.
        for length, breakpoints in zip(
            self.app.size, (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), strict=True
        ):
            now = [name for least, name in breakpoints if length >= least][-1]
            self.add_class(now, update=False)  # they say how what is inside looks: it comes now
        title = TitleLine("", "")
        if self.has_service:
            title = title_line(self.operations.profile)
            title.online = self.operations.connection.online
            title.run = run_words(self.operations)
        title.crumbs = self.crumbs()
        yield title
        yield from self.compose_body()
        yield KeyLine(self.host.notice_log)

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Keep what is typed for a form from the app, also where the focus is on no text."""
        if not self.is_form or character is None or not character.isprintable():
            return False
        return key not in (*keys_of("app.help"), *keys_of("app.quit"))

    def show_notices(self, link: str, unsettled: tuple[Operation, ...]) -> None:
        """Show what must not be overlooked.

        Args:
            link: What to say of a service that is out of reach or asks for a pause.
            unsettled: The operations that are not settled, the oldest first.
        """
        self.unsettled = unsettled
        if not self.has_service or not self.query(TitleLine):
            return  # lockterm is ending: the widgets of a screen go before the screen
        self.query_one(TitleLine).online = self.operations.connection.online
        if self.notices is None and (link or unsettled):
            self.notices = NoticeLine(self.operations.profile.zone, self.operations.now_ms)
            self.notices.instead = ELSEWHERE if self.is_form else ""
            self.mount(self.notices, after=self.query_one(TitleLine))
        if self.notices is not None:
            self.notices.link, self.notices.unsettled = link, unsettled

    def show_run(self) -> None:
        """Say in the title line how far a run is."""
        if self.has_service:
            for title in self.query(TitleLine):  # none: lockterm is ending
                title.run = run_words(self.operations)

    def show_crumbs(self) -> None:
        """Repaint the title line after a name has changed."""
        self.query_one(TitleLine).crumbs = self.crumbs()

    # --- keys that do nothing now --------------------------------------------------------------

    def is_offered(self, action: str) -> bool:
        """Whether the key of an action is there now, be it dimmed."""
        return True

    def why_not(self, action: str) -> str:
        """Why an action can do nothing now, as a sentence; empty: it can."""
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Dim the actions that can do nothing now, and keep away those that are not offered."""
        return can_act(self.why_not, action) if self.is_offered(action) else False

    def on_key(self, event: events.Key) -> None:
        say_why_no_key(self, event)

    def refuses(self, event: events.Key) -> bool:
        """Whether a key does nothing now but be told why: it is not kept for what opens."""
        nearest = active_binding(self, event.key)
        return nearest is not None and bool(reason_against(nearest.node, nearest.binding.action))

    # --- errors --------------------------------------------------------------------------------

    def refuse_to_open(self, what: str, reason: str) -> None:
        """Say why something does not open; see :func:`refuse_to_open`."""
        refuse_to_open(self.app, what, reason)

    @contextmanager
    def refusing_errors(self) -> Iterator[None]:
        """Turn an error for people that keeps something from opening into its refusal."""
        try:
            yield
        except LocktermError as error:
            self.refuse_to_open(error.title, error.sentences)

    @contextmanager
    def showing_errors(self) -> Iterator[None]:
        """Turn an error for people into a notice and a line of the message log."""
        try:
            yield
        except LocktermError as error:
            self.tell(error)

    def tell(self, error: LocktermError, what: str = "") -> None:
        """Show an error as a notice; see :func:`notify_error`."""
        notify_error(self.app, error, what)

    def tell_recorded(self, what: str, more: str = "") -> None:
        """Say that a change was recorded.

        Args:
            what: What was done: ``Deleted Anna Weber (A-2041)``; clean.
            more: What else to say of it, as sentences; clean.
        """
        self.notify(recorded(self.host, more), title=what)

    def keep_refusal(self, error: LocktermError) -> None:
        """Keep a refusal in the message log, where what is shown of it has little room.

        A read in a pause that is known leaves nothing: behind a change, its words would be taken
        for that, and the line of notices tells the pause.
        """
        is_known = isinstance(error, RateLimited) and not error.asked
        if isinstance(error, Refused) and not is_known:
            self.host.keep_message(error.sentences, error.title, "error")

    # --- what other screens have changed -------------------------------------------------------

    def after_write(self, remote_id: int | None) -> None:
        """Read again what is shown of ``lock_entry``.

        Args:
            remote_id: The remote that was written, or that is to be found; None: the whole lock.
        """

    def after_delete(self, remote_id: int | None) -> None:
        """Show that a remote of ``lock_entry`` was deleted.

        Args:
            remote_id: The remote.
        """
        self.after_write(remote_id)

    def read_changed(self, lock_ids: Iterable[int]) -> None:
        """Read locks again that were changed by a run.

        Args:
            lock_ids: The ids of the locks.
        """

    def screens_of(self, lock_id: int) -> Iterator[LocktermScreen[Any]]:
        """The open screens about a lock."""
        for screen in self.app.screen_stack:
            if not isinstance(screen, LocktermScreen) or not screen.is_attached:
                continue
            if screen.lock_entry is not None and screen.lock_entry.lock_id == lock_id:
                yield screen
