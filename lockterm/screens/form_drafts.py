"""Drafts of forms, which lockterm saves during input and offers later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.timer import Timer

from lockterm import screens
from lockterm.domain.dates import day_time
from lockterm.domain.locks import Lock
from lockterm.domain.names import is_same_name
from lockterm.domain.operation import RECORDED, WITHOUT_EFFECT, Selection
from lockterm.domain.safe_text import clean
from lockterm.domain.text.operation import STATE_NAMES
from lockterm.errors import LocktermError, ServiceError, StoreError
from lockterm.screens.base import notify_error
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.form import SOON_S, FormScreen
from lockterm.terminal.key_queue import PendingNavigation, opening

if TYPE_CHECKING:
    from lockterm.domain.drafts import Draft
    from lockterm.domain.remotes import Remote
    from lockterm.operations import Operations

REMOTE, LOCK = "remote", "lock"
"""The names of the forms whose drafts are saved in the local store."""

WAITS_FOR_STORE = "Waiting, because another program has locked the local store."

_LATE_MS = 60_000
"""Maximum time in milliseconds from the sending of a form to the last save of its draft.

A draft counts as sent if its form was sent after the save, or at most this long before the save.
"""


class StoreWait:
    """A repeated check, during a save, whether another program has locked the local store.

    Args:
        form: The form.
    """

    def __init__(self, form: FormScreen[Any]) -> None:
        self._form = form
        self._timer: Timer | None = None
        self.is_waiting = False
        """Whether the save waits because another program has locked the local store."""

    def watch(self, is_busy: bool) -> None:
        """Start or stop the check.

        Args:
            is_busy: Whether a save is running.
        """
        if is_busy and self._timer is None:
            self._timer = self._form.set_interval(SOON_S / 4, self._look)
        elif not is_busy and self._timer is not None:
            self._timer.stop()
            self._timer = None
            self.is_waiting = False

    def _look(self) -> None:
        waits = self._form.operations.journal.is_waiting
        if waits != self.is_waiting:
            self.is_waiting = waits
            self._form.show_store_wait()


class FormDraft:
    """The draft of one open form.

    Args:
        form: The form.
        key: The name of the form, the ID of its lock, and the ID of its remote; None for a new
            remote.
        title: The title of the form as the beginning of a sentence, without control characters.
    """

    def __init__(self, form: FormScreen[Any], key: tuple[str, int, int | None], title: str) -> None:
        self._form = form
        self._key = key
        self._title = title
        self._touched: dict[str, str] = {}
        self._is_kept = False
        self._has_failed = False
        self._is_over = False

    def begin(self, typed: Mapping[str, str] | None) -> None:
        """Continue a given draft, or look for a saved draft and offer it to the user.

        Args:
            typed: The draft to continue; None to look for a saved draft. Keys wait during this
                search.
        """
        if typed is not None:
            self._form.fill(typed)
        else:
            opened = opening(self._form, "the form")
            self._form.app.run_worker(self._offer(opened), group="drafts")

    def note_change(self) -> None:
        """Schedule a save of the draft after the user typed something."""
        self._touched = self._form.touched()  # at exit, Textual removes the widgets before the form
        if not self._is_over and (self._is_kept or self._touched):
            self._form.soon.begin()

    def keep(self) -> None:
        """Save the changed fields in the background, or delete the draft if no field is changed."""
        self._form.soon.stop()
        self._is_kept = bool(self._touched)
        self._form.operations.drafts.keep(self._key, self._touched, self._tell)

    def finish(self) -> None:
        """Delete the draft, because the form was sent, or left on purpose.

        Later changes of fields are ignored, because they come from closing the form, not from the
        user.
        """
        self._is_over, self._touched = True, {}
        self.keep()

    def begin_anew(self) -> None:
        """Delete the draft of the form that was sent, and begin a new draft with later input."""
        self._touched = {}
        self.keep()

    def _tell(self, error: StoreError) -> None:
        if not self._has_failed and self._form.is_attached:  # do not repeat the error at each key
            error.hint = f"{error.hint} lockterm will save your input as soon as it can."
            self._form.tell(error)
        self._has_failed = True

    async def _offer(self, opened: PendingNavigation) -> None:
        keeper = self._form.operations.drafts
        with opened, self._form.showing_errors():
            draft = await keeper.find(*self._key)
            if draft is None or self._form.touched():
                return
            modal = await ask_about_draft(
                draft,
                self._form.operations,
                self._title,
                self._form.describe,
                verb="Continue",
                other="Start over" if draft.is_live else "Discard the input",
            )
            is_wanted = await self._form.app.push_screen_wait(modal)
            if is_wanted:
                await keeper.take_over(draft)
                self._is_kept = True
                self._form.fill(draft.typed)
            elif is_wanted is None:
                self._form.dismiss(None)  # input in the form would replace the draft
            else:
                await keeper.discard(draft)


async def ask_about_draft(
    draft: Draft,
    operations: Operations,
    what: str,
    words: Callable[[str, str], str],
    *,
    verb: str,
    other: str = "",
) -> ConfirmModal:
    """Return a dialog that asks whether to continue a draft.

    Esc and "Later" keep the draft saved.

    Args:
        draft: The draft.
        operations: The operations on the service and the local store.
        what: The title of the form as the beginning of a sentence, without control characters.
        words: A function that gets the name and text of a field, and returns a line for the dialog.
        verb: The label of the button that continues the draft.
        other: The label of a third button; empty for no such button.
    """
    sent = await _sent_since(draft, operations) if draft.form == REMOTE else ""
    saved = f"Last edited {day_time(draft.saved_ms, operations.profile.zone, exact=False)}."
    question = f"{what} was not finished. {verb}?"
    if draft.is_live:
        question = f"{what} is being edited in another session. {verb} here too?"
        saved += " Your choice does not change the input of the other session."
    typed = [words(field, text) for field, text in draft.typed.items()]
    details = "\n".join(filter(None, (sent, saved, *typed)))
    return ConfirmModal(question, details, verb=verb, keep="Later", other=other, unasked=True)


async def _sent_since(draft: Draft, operations: Operations) -> str:
    """Return the result of the change that a draft's form sent; empty if the form sent no change.

    Changes that had no effect are ignored.
    """
    call = "add" if draft.remote_id is None else "update"
    since = Selection(draft.lock_id, since_ms=draft.saved_ms - _LATE_MS)
    for line in await operations.journal.lines(since):  # the newest first
        is_it = line.call == call and (
            line.remote_id == draft.remote_id
            if draft.remote_id is not None
            else is_same_name(line.remote_name, draft.typed.get("remoteName", "").strip())
        )
        if is_it and line.state not in WITHOUT_EFFECT:
            at = day_time(line.prepared_ms, operations.profile.zone, exact=False)
            again = (
                " If you send the form again, the lock may have the remote twice."
                if call == "add"
                else ""
            )
            probably = (
                ""
                if line.state in RECORDED
                else " The change is probably recorded. Check the lock first."
            )
            return f"! The form was sent {at}: {STATE_NAMES[line.state]}.{probably}{again}"
    return ""


def title_of_remote(lock: Lock, remote_id: int | None, name: str | None = None) -> str:
    """Return the title of a remote form for its draft, without control characters."""
    title = clean(lock.title, 60)
    if remote_id is None:
        return f"The form for a new remote on {title}"
    return f"The form for {clean(name or f'remote {remote_id}', 60)} on {title}"


def title_of_lock(lock: Lock | None) -> str:
    """Return the title of a lock form for its draft, without control characters."""
    return f"The form for the lock {clean(lock.title, 60)}" if lock else "The form for a new lock"


async def offer_abandoned(
    app: App[Any], operations: Operations, draft: Draft, may_ask: Callable[[], bool]
) -> None:
    """Offer a draft that an earlier session left unfinished.

    Args:
        app: The app that asks and opens the form.
        operations: The operations on the service and the local store.
        draft: The newest draft. Older drafts are offered when their forms open.
        may_ask: A function that returns whether a dialog may open now. lockterm calls the function
            just before it would open the dialog.
    """
    is_lock = draft.form == LOCK
    form_class = screens.LockForm if is_lock else screens.RemoteForm
    try:
        book = await operations.locks.all()
        known = next((lock for lock in book if lock.lock_id == draft.lock_id), None)
        lock = known or Lock(draft.lock_id)
        title = title_of_remote(lock, draft.remote_id)
        if is_lock:
            title = title_of_lock(lock if draft.lock_id else None)
        modal = await ask_about_draft(
            draft, operations, title, form_class.describe, verb="Open the form"
        )
        if not may_ask() or not await app.push_screen_wait(modal):
            return
        remote = await _remote(operations, draft.remote_id)
        await operations.drafts.take_over(draft)
    except LocktermError as error:
        notify_error(app, error)
        return
    if is_lock:
        app.push_screen(screens.LockForm(operations, known, book, typed=draft.typed))
        return
    form = screens.RemoteForm(operations, lock, remote, typed=draft.typed)

    def closed(saved: screens.RemoteSaved | None) -> None:
        for screen in form.screens_of(lock.lock_id):
            if saved is not None and isinstance(screen, screens.RemotesScreen):
                screen.remotes.go_to = saved.remote_id
            screen.after_write(saved.remote_id if saved else None)

    app.push_screen(form, closed)


async def _remote(operations: Operations, remote_id: int | None) -> Remote | None:
    """Return the remote of a draft; None if the draft is for a new remote.

    If the service fails, return the remote as lockterm last received it.

    Raises:
        ServiceError: If the service fails and no earlier copy of the remote is stored.
    """
    if remote_id is None:
        return None
    try:
        return await operations.remotes.detail(remote_id)
    except ServiceError:
        if stored := await operations.remotes.cached_detail(remote_id):
            return stored.value
        raise
