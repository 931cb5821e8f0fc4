"""Delivers keys in the order they were typed, each to the screen for which it was typed.

A stalled link delivers many keys at once. Textual passes each key to the widget that has the focus
at that moment. If ``w`` and ``+30d`` arrive in one read, the text would go to the list, or to the
first field of a form that has not yet focused the right field. In this module, each key waits until
the previous key has been handled completely and the screen that the previous key opened is ready.

lockterm waits for two conditions. First, the event loop has nothing left to run, which covers
Textual's own work, such as mounting a screen and focusing a field. Second, no
:class:`PendingNavigation` is active, which covers calls to the service and the reading of files.

:class:`FormWall` ignores letters that were typed for a form that has just closed. In pauses of
typing, :class:`Idle` prepares what later keys need.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import wraps
from operator import attrgetter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, Self, TypeVar, cast

from textual import events
from textual.message import Message

from lockterm.keymap.hints import keys_of, label
from lockterm.terminal import startup
from lockterm.terminal.terminal_input import Arrived, EscapedKey

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen
    from textual.widget import Widget


Typed = events.Key | events.Paste

TIMEOUT_S = 10.0
"""Maximum time in seconds that keys wait for a screen to open. Then lockterm drops the keys."""

WAY_OUT_S = 0.5
"""Seconds of waiting after which a key such as Esc cancels the waiting keys before it.

Within this time, the user does not notice that a screen opens late. Esc is then meant for the
screen that is opening.
"""

LOST_S = 3.0
"""Seconds after which a key counts as handled, even if its ``Dealt`` message has not arrived."""

_TURNS = 5000
"""Maximum number of turns of the event loop to wait until the loop has nothing left to run."""

_LOOK_S = 0.01
"""Seconds between two checks of whether a screen is ready."""

_ParamsT = ParamSpec("_ParamsT")
_ResultT = TypeVar("_ResultT")
_NodeT = TypeVar("_NodeT", bound="Widget")
_Method = Callable[Concatenate[_NodeT, _ParamsT], Coroutine[Any, Any, _ResultT]]


@dataclass(eq=False)
class PendingNavigation:
    """A screen or page that a key has requested. Later keys wait until it has opened.

    Keys wait only while the screen on which the key was pressed is shown. If a dialog appears
    first, the keys go to the dialog.
    """

    queue: KeyQueue
    """The queue whose keys wait."""
    screen: Screen[Any]
    """The screen on which the key was pressed."""
    what: str
    """The name of the screen or page in a sentence, such as ``page 3``."""
    passes: Callable[[events.Key], bool]
    """A function that returns whether a key is delivered without waiting."""
    must_appear: bool
    """Whether the opening counts as failed if no other screen has appeared."""
    has_failed: bool = False
    """Whether the opening failed; :meth:`end` then drops the waiting keys."""

    def __post_init__(self) -> None:
        self.since_s = asyncio.get_running_loop().time()
        """The time when the opening began, in seconds on the clock of the event loop."""
        self._updates = self.screen.stack_updates

    def end(self) -> None:
        """Deliver the keys that have waited, or drop them if the opening failed.

        A second call does nothing.
        """
        app = self.queue.app
        if app.is_running and app.screen_stack:
            shown = app.screen is not self.screen or self.screen.stack_updates != self._updates
            self.queue.note_end(self, failed=self.has_failed or (self.must_appear and not shown))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.has_failed = self.has_failed or isinstance(error, Exception)
        self.end()


class _HasQueue(Protocol):
    @property
    def key_queue(self) -> KeyQueue: ...

    @property
    def idle(self) -> Idle: ...


def opening(
    node: Widget,
    what: str,
    *,
    passes: Callable[[events.Key], bool] = lambda _: False,
    must_appear: bool = False,
) -> PendingNavigation:
    """Make later keys wait until a screen or page has opened.

    Args:
        node: The screen that opens something, or a widget in it.
        what: The name of the screen or page without control characters, such as ``page 3``.
        passes: A function that returns whether a key is delivered without waiting.
        must_appear: Whether the opening counts as failed if no other screen has appeared.

    Returns:
        The pending navigation. The caller must call its ``end``, or use it as a context manager.
    """
    queue = cast("_HasQueue", node.app).key_queue
    return queue.begin(PendingNavigation(queue, node.screen, what, passes, must_appear))


def is_opening(node: Widget) -> bool:
    """Return whether a screen or page is being opened from the visible screen."""
    return cast("_HasQueue", node.app).key_queue.is_opening


def opens(
    what: str, *, must_appear: bool = False
) -> Callable[[_Method[_NodeT, _ParamsT, _ResultT]], _Method[_NodeT, _ParamsT, _ResultT]]:
    """Return a decorator that makes later keys wait while a method runs; see :func:`opening`."""

    def decorate(
        method: _Method[_NodeT, _ParamsT, _ResultT],
    ) -> _Method[_NodeT, _ParamsT, _ResultT]:
        @wraps(method)
        async def waited_for(
            self: _NodeT, *args: _ParamsT.args, **kwargs: _ParamsT.kwargs
        ) -> _ResultT:
            with opening(self, what, must_appear=must_appear):
                return await method(self, *args, **kwargs)

        return cast("_Method[_NodeT, _ParamsT, _ResultT]", waited_for)

    return decorate


class KeyQueue:
    """A queue that handles one key or one paste at a time.

    Args:
        app: The app that receives the keys.
        deliver: A function that passes a key to the widget that has the focus now.
        is_meant: A function that returns whether a key was typed for the screen that would receive
            it now. Other keys are discarded.
    """

    class Dealt(Message):
        """A message that follows a key through Textual's queues and arrives after the key."""

    def __init__(
        self,
        app: App[Any],
        deliver: Callable[[Typed], Awaitable[None]],
        is_meant: Callable[[Typed], bool],
    ) -> None:
        self.app = app
        self._deliver = deliver
        self._is_meant = is_meant
        self._waiting: deque[Arrived] = deque()
        self._openings: list[PendingNavigation] = []
        self._under_way: KeyQueue.Dealt | None = None
        self._target: Widget | None = None
        """The widget that received the current key."""
        self._lost: asyncio.TimerHandle | None = None
        self._is_settling = False
        self._follows_screens = False
        self._wake: asyncio.TimerHandle | None = None

    @property
    def is_dealing(self) -> bool:
        """Whether a key is being handled or is waiting."""
        return bool(self._waiting) or self._under_way is not None or self._is_settling

    @property
    def is_opening(self) -> bool:
        """Whether a screen or page is being opened from the visible screen."""
        return any(one.screen is self.app.screen for one in self._openings)

    # --- keys ----------------------------------------------------------------------------------

    async def take(self, event: Arrived) -> None:
        """Handle a key now, or add it to the queue if earlier keys are not handled yet."""
        self._waiting.append(event)
        if self._under_way is None and not self._is_settling:
            await self._go_on()

    async def _go_on(self) -> None:
        while self._under_way is None and not self._is_settling:
            if not self._waiting or self._is_held():
                return
            event = self._waiting.popleft()
            if isinstance(event, EscapedKey):
                in_text = takes_text(self.app)
                self._waiting.extendleft(reversed(event.keys(in_text=in_text)))
                if not in_text and not event.are_two:
                    self._report_alt(event.key)
            elif self._is_meant(event):
                await self._deal(event)

    async def _deal(self, event: Typed) -> None:
        target: Widget = self.app.focused or self.app.screen
        dealt = KeyQueue.Dealt()
        self._under_way, self._target = dealt, target
        self._lost = asyncio.get_running_loop().call_later(LOST_S, self.note_dealt, dealt)
        await self._deliver(event)
        if not target.post_message(dealt):
            self.note_dealt(dealt)
        else:
            self._deliver_waiting()

    def note_dealt(self, dealt: Dealt) -> None:
        """Note that a key was handled, given the message that follows this key."""
        if dealt is self._under_way:
            self._end_key()
            self._deliver_waiting()

    def _end_key(self) -> None:
        self._under_way = None
        if self._lost is not None:
            self._lost.cancel()

    def _report_alt(self, key: events.Key) -> None:
        name = label(key.key)
        self.app.notify(
            f"To press Escape and then {name}, wait between the two keys.",
            title=f"Alt+{name}",
        )

    # --- until a key is handled ----------------------------------------------------------------

    def _deliver_waiting(self) -> None:
        if not self._is_settling:
            self._is_settling = True
            asyncio.get_running_loop().call_soon(self._look, _TURNS)

    def _look(self, turns: int) -> None:
        """Continue with the next key when the event loop is idle and the screen is ready."""
        loop = asyncio.get_running_loop()
        if not self.app.is_running:
            self._is_settling = False
        elif turns and getattr(loop, "_ready", None):
            loop.call_soon(self._look, turns - 1)
        elif turns and not _is_there(self.app.screen):
            # Keys wait at most half a second for the layout of a mounted screen.
            step = _TURNS // 50 if self.app.screen.is_mounted else 1
            loop.call_later(_LOOK_S, self._look, max(turns - step, 0))
        else:
            self._is_settling = False
            if self._target is not None and not self._target.is_attached:
                self._end_key()  # the message that follows the key will not arrive
            if self._under_way is None:
                self.app.call_later(self._go_on)

    # --- pending navigations -------------------------------------------------------------------

    def begin(self, opened: PendingNavigation) -> PendingNavigation:
        """Make later keys wait until a pending navigation ends, and return the navigation."""
        if not self._follows_screens and self.app.is_running:  # the app may be about to end
            self._follows_screens = True
            self.app.screen_change_signal.subscribe(self.app, self._screen_changed)
        self._openings.append(opened)
        return opened

    def _screen_changed(self, screen: Screen[Any]) -> None:
        """Deliver the waiting keys to a screen that is now on top, such as a dialog."""
        if self._waiting:
            self._deliver_waiting()

    def note_end(self, opened: PendingNavigation, *, failed: bool) -> None:
        """Deliver the keys that waited for a navigation, or drop them if the navigation failed."""
        if opened not in self._openings:  # keys have stopped waiting for this opening
            return
        self._openings.remove(opened)
        if failed:
            self._drop(opened)
        self._deliver_waiting()

    def _is_held(self) -> bool:
        """Return whether the next key must wait until a screen or page has opened.

        After a timeout, keys no longer wait, and keys that were typed too early are dropped.
        """
        have_waited, self._wake = self._wake, None
        if have_waited is not None:
            have_waited.cancel()
        holding = self._holding()
        if not holding:
            return False
        loop = asyncio.get_running_loop()
        oldest = min(holding, key=attrgetter("since_s"))
        leads_out = any(map(_leads_out, self._waiting))
        until_s = oldest.since_s + (WAY_OUT_S if leads_out else TIMEOUT_S)
        if loop.time() < until_s:
            self._wake = loop.call_at(until_s, self._deliver_waiting)
            return True
        for one in holding:  # it may still open its screen, but keys no longer wait
            self._openings.remove(one)
        if leads_out or have_waited is not None:
            self._drop(oldest)
        return not self._waiting or self._is_held()

    def _holding(self) -> list[PendingNavigation]:
        head, screen = self._waiting[0], self.app.screen
        return [
            one
            for one in self._openings
            if one.screen is screen and not (isinstance(head, events.Key) and one.passes(head))
        ]

    def _drop(self, opened: PendingNavigation) -> None:
        """Drop the waiting keys up to the first key that leaves the screen, and notify the user.

        The key that leaves the screen is not dropped. Without such a key, drop all waiting keys.
        """
        count = 0
        while self._waiting and not _leads_out(self._waiting[0]):
            self._waiting.popleft()
            count += 1
        if count:
            keys = "1 key" if count == 1 else f"{count} keys"
            self.app.notify(
                f"lockterm ignored {keys} that you typed before {opened.what} appeared.",
                title="Typed too early",
                severity="warning",
            )


def takes_text(app: App[Any]) -> bool:
    """Return whether letters are text now, for the focused field or the form around it."""
    nearest = app.focused or app.screen
    return any(node.check_consume_key("x", "x") for node in nearest.ancestors_with_self)


def _is_there(screen: Screen[Any]) -> bool:
    """Return whether a screen is mounted and laid out, because paging keys need its size."""
    return screen.is_mounted and not screen._layout_required


def _leads_out(event: Arrived) -> bool:
    if isinstance(event, EscapedKey):
        return event.are_two
    return isinstance(event, events.Key) and (
        event.key in ("escape", "ctrl+c") or event.key in keys_of("app.quit_always")
    )


CLOSED_S = 1.0
"""Seconds for which letters are ignored after Esc has closed a form.

Each ignored letter starts this time again.
"""


class FormWall:
    """A filter that keeps text typed for a form from acting on the screen below it.

    People may still be typing when a form closes, and each letter is a command on the screen below.
    Therefore, letters that arrive shortly after Esc has closed a form do nothing until the user
    pauses. The filter compares the times of Textual's events, and notifies the user once for each
    form.

    Args:
        app: The app, whose forms are the screens with the attribute ``is_form`` set to True.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._left: Screen[Any] | None = None
        """The form that the last typed key may close; None if there is no such form."""
        self._closed_s: float | None = None
        """The time of the closing or of the last ignored letter; None if no letter is ignored."""
        self._has_reported = False

    def note_screen(self, screen: Screen[Any]) -> None:
        """Start to ignore letters if a form has closed, or a dialog asks whether to close it.

        Call this for each new top screen.
        """
        if self._left is None or screen is self._left:
            return
        self._closed_s, self._has_reported = events.Event().time, False
        if self._left not in self._app.screen_stack:
            self._left = None

    def is_meant(self, event: Typed) -> bool:
        """Return whether a key or a paste was meant for the screen that would receive it now."""
        if getattr(self._app.screen, "is_form", False):
            if isinstance(event, events.Key):
                leaves = ("escape", *keys_of("form.leave"), *keys_of("app.quit"))
                self._left = self._app.screen if event.key in leaves else None
                self._closed_s = None
            return True
        if self._closed_s is None or event.time >= self._closed_s + CLOSED_S:
            return True
        if isinstance(event, events.Key) and not event.is_printable:
            return True
        self._closed_s = max(self._closed_s, event.time)
        if not self._has_reported:
            self._has_reported = True
            self._app.notify(
                "lockterm ignores letters until you stop typing for one second.",
                title="Form closed" if self._left is None else "Still typing",
            )
        return False


QUIET_S = 0.2
"""Seconds without a key before preparation starts. Pauses between typed keys are usually
shorter."""

REST_S = 1.0
"""Seconds without a key before a full garbage collection."""


class Idle:
    """A queue of preparations that runs one preparation in each pause of typing.

    Without preparation, the first key that needs a module or a widget would wait until the module
    is imported, or the widget is created, mounted and styled. A headless app runs no preparations.

    Args:
        queue: The queue of keys.
    """

    def __init__(self, queue: KeyQueue) -> None:
        self._app = queue.app
        self._queue = queue
        self._due: deque[tuple[Widget, Callable[[], object]]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, node: Widget, act: Callable[[], object]) -> None:
        """Queue an action for a widget; the action does not run if the widget is closed first.

        Args:
            node: The widget.
            act: An action that is quick and sends nothing.
        """
        # Drop actions of closed widgets, because fast typing leaves no pause, and the actions would
        # keep closed screens alive.
        self._due = deque(due for due in self._due if due[0].is_attached)
        self._due.append((node, act))
        self.wait()

    def wait(self) -> None:
        """Wait for a new pause of typing before the next action.

        The app calls this method for each key.
        """
        if self._timer is not None:
            self._timer.cancel()
        if not self._app.is_headless:
            pause_s = QUIET_S if self._due else REST_S
            self._timer = asyncio.get_running_loop().call_later(pause_s, self._use_pause)

    def _use_pause(self) -> None:
        is_busy = self._queue.is_dealing or self._queue.is_opening or not startup.is_finished()
        if not self._due:
            if not is_busy:
                startup.collect()
        elif is_busy:
            self.wait()
        elif self._app.is_running:
            self.do_next()

    def do_next(self) -> None:
        """Run the oldest action.

        The next action waits for another pause.
        """
        if self._due:
            node, act = self._due.popleft()
            self._app.call_later(lambda: node.is_attached and act())
            self.wait()


def when_idle(node: Widget, act: Callable[[], object]) -> None:
    """Queue an action for a widget, to run in a pause of typing; see :meth:`Idle.add`."""
    cast("_HasQueue", node.app).idle.add(node, act)
