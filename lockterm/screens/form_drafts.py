"""Drafts of forms, which lockterm saves during input and offers later."""

from __future__ import annotations

from abc import abstractmethod
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
from lockterm.screens.base import ResultT, notify_error
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


class DraftForm(FormScreen[ResultT]):
    """A form whose input lockterm saves in the local store, and offers when the form opens again.

    Args:
        operations: The operations on the service and the local store.
        key: The name of the form, the ID of its lock, and the ID of its remote; None for a new
            remote.
        title: The title of the form as the beginning of a sentence, without control characters.
        typed: A draft to continue; None to offer a saved draft.
    """

    waits_for_store = False
    """Whether a save waits because another program has locked the local store."""

    _store_timer: Timer | None = None

    def __init__(
        self,
        operations: Operations,
        key: tuple[str, int, int | None],
        title: str,
        typed: Mapping[str, str] | None,
    ) -> None:
        super().__init__(operations)
        self._draft_key = key
        self._draft_title = title
        self._draft_to_continue = typed
        self._draft_input: dict[str, str] = {}
        self._has_draft = False
        self._has_draft_failed = False
        self._is_draft_over = False

    @staticmethod
    @abstractmethod
    def describe(field: str, text: str) -> str:
        """Return a field's label and text as one line that is safe to show."""

    @abstractmethod
    def show_store_wait(self) -> None:
        """Show or clear the message that a save waits for the local store."""

    def on_mount(self) -> None:
        """Continue the given draft, or look for a saved draft while keys wait."""
        if self._draft_to_continue is not None:
            self.fill(self._draft_to_continue)
        else:
            self.app.run_worker(self._offer_draft(opening(self, "the form")), group="drafts")

    def note_change(self) -> None:
        """Schedule a save of the draft after the user typed something."""
        self._draft_input = self.touched()  # at exit, Textual removes the widgets before the form
        if not self._is_draft_over and (self._has_draft or self._draft_input):
            self.soon.begin()

    def keep_draft(self) -> None:
        """Save the changed fields in the background, or delete the draft if no field is changed."""
        self.soon.stop()
        self._has_draft = bool(self._draft_input)
        self.operations.drafts.keep(self._draft_key, self._draft_input, self._tell_draft_failed)

    def forget_draft(self) -> None:
        """Delete the draft after the form was sent, or when the user leaves the form on purpose.

        Later changes of fields are ignored, because they come from closing the form, not from the
        user.
        """
        self._is_draft_over = True
        self.begin_new_draft()

    def begin_new_draft(self) -> None:
        """Delete the draft after the form was sent. Later input begins a new draft."""
        self._draft_input = {}
        self.keep_draft()

    def _tell_draft_failed(self, error: StoreError) -> None:
        if not self._has_draft_failed and self.is_attached:  # do not repeat it at each key
            error.hint = f"{error.hint} lockterm will save your input as soon as it can."
            self.tell(error)
        self._has_draft_failed = True

    async def _offer_draft(self, opened: PendingNavigation) -> None:
        keeper = self.operations.drafts
        with opened, self.showing_errors():
            draft = await keeper.find(*self._draft_key)
            if draft is None or self.touched():
                return
            modal = await ask_about_draft(
                draft,
                self.operations,
                self._draft_title,
                self.describe,
                verb="Continue",
                other="Start over" if draft.is_live else "Discard the input",
            )
            is_wanted = await self.app.push_screen_wait(modal)
            if is_wanted:
                await keeper.take_over(draft)
                self._has_draft = True
                self.fill(draft.typed)
            elif is_wanted is None:
                self.dismiss(None)  # input in the form would replace the draft
            else:
                await keeper.discard(draft)

    def note_saving(self, is_saving: bool) -> None:
        """Begin or stop checking repeatedly whether another program has locked the local store.

        Args:
            is_saving: Whether a save is running, so that the checks are needed.
        """
        if is_saving and self._store_timer is None:
            self._store_timer = self.set_interval(SOON_S / 4, self._look_at_store)
        elif not is_saving and self._store_timer is not None:
            self._store_timer.stop()
            self._store_timer = None
            self.waits_for_store = False

    def _look_at_store(self) -> None:
        waits = self.operations.database.is_waiting
        if waits != self.waits_for_store:
            self.waits_for_store = waits
            self.show_store_wait()


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
