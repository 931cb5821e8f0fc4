"""Drafts of forms: kept while they are typed, offered when they are opened again."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen
from textual.timer import Timer

from lockterm.errors import LocktermError, ServiceError, StoreError
from lockterm.models.locks import Lock
from lockterm.moments import stamp
from lockterm.screens.base import LocktermScreen, ResultT
from lockterm.screens.confirm import ConfirmModal
from lockterm.text import clean
from lockterm.widgets.notice_line import NoticeLine

if TYPE_CHECKING:
    from lockterm.models.drafts import Draft
    from lockterm.models.remotes import Remote
    from lockterm.operations import Operations

SOON_S = 1.0
"""Seconds from a key to its draft on disk; two are promised."""


class DraftedForm(LocktermScreen[ResultT]):
    """A form whose draft is kept.

    Args:
        operations: The one door to service and store.
        typed: A draft to go on with, so that none is offered.
    """

    def __init__(self, operations: Operations, typed: Mapping[str, str] | None = None) -> None:
        super().__init__(operations)
        self.drafts = FormDrafts(self)
        self._draft = typed

    @abstractmethod
    def draft_key(self) -> tuple[str, int, int | None]:
        """The form's name, the lock and the remote that it is about."""

    @abstractmethod
    def touched(self) -> dict[str, str]:
        """The fields in which something else stands than at first."""

    @abstractmethod
    def fill(self, typed: Mapping[str, str]) -> None:
        """Put typed values back."""

    def begin_draft(self) -> None:
        """Go on with the draft that was given, or offer the one there is."""
        self.app.clear_notifications()  # they would cover the fields
        self.query_one(NoticeLine).has_keys = False
        if self._draft is not None:
            self.fill(self._draft)
        else:
            self.app.run_worker(self.drafts.offer(), group="drafts")

    async def on_unmount(self) -> None:
        """Keep the last keys of a form that ends with the program."""
        await self.drafts.keep_pending()


class FormDrafts:
    """The draft of one open form.

    Args:
        form: The form.
    """

    def __init__(self, form: DraftedForm[Any]) -> None:
        self._form = form
        self._timer: Timer | None = None
        self._touched: dict[str, str] = {}
        self._is_kept = False
        self._has_failed = False

    def note_change(self) -> None:
        """Something was typed: keep it soon."""
        self._touched = self._form.touched()  # at the end its widgets are gone before the form
        if self._timer is None and (self._is_kept or self._touched):
            self._timer = self._form.set_timer(SOON_S, self.keep)

    async def keep(self) -> None:
        """Write what was touched to the store."""
        self._timer = None
        touched = self._touched
        try:
            if touched:
                await self._form.operations.save_draft(*self._form.draft_key(), touched)
            else:  # all of it was taken back
                await self._form.operations.drop_draft(*self._form.draft_key())
            self._is_kept = bool(touched)
        except StoreError as error:
            if not self._has_failed:  # once is enough: every key would say it again
                self._form.tell(error)
            self._has_failed = True

    async def keep_pending(self) -> None:
        """Keep what was typed last, as the program ends."""
        if self._timer is not None:
            self._timer.stop()
            await self.keep()

    async def drop(self) -> None:
        """Forget the draft: the form was sent, or let go on purpose."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        with self._form.showing_errors():
            await self._form.operations.drop_draft(*self._form.draft_key())

    async def offer(self) -> None:
        """Offer what an earlier opening of this form left."""
        with self._form.showing_errors():
            draft = await self._form.operations.draft(*self._form.draft_key())
            if draft is None or self._form.touched():
                return
            what = "This form"
            modal = _question(draft, self._form.operations, what, "Fill it in", "Start afresh")
            if await self._form.app.push_screen_wait(modal):
                self._form.fill(draft.typed)
            else:
                await self.drop()


def _question(
    draft: Draft, operations: Operations, what: str, verb: str, keep: str
) -> ConfirmModal:
    typed = [f"{_label(field)}: {_value(field, text)}" for field, text in draft.typed.items()]
    saved = f"Last typed into at {stamp(draft.saved_ms, operations.profile.zone)}."
    question = f"{what} was not finished. {verb}?"
    return ConfirmModal(question, "\n".join([saved, *typed]), verb=verb, keep=keep)


def _label(field: str) -> str:
    """What people call a field."""
    from lockterm.screens.lock_form import FIELD_LABELS
    from lockterm.typed_remote import LABELS

    return LABELS.get(field) or FIELD_LABELS.get(field) or clean(field, 30)


def _value(field: str, text: str) -> str:
    """What was typed or chosen; a choice, kept as its number, in the form's word for it."""
    from lockterm.models.constants import AddType, Flag, RemoteType, word

    choices = {"remoteType": RemoteType, "addType": AddType, "isCoerced": Flag, "remoteRight": Flag}
    if field in choices and text.isascii() and text.isdecimal():
        return word(choices[field], int(text))
    return clean(text, 60)


def _what(draft: Draft, lock: Lock) -> str:
    """Which form a draft is of, at the beginning of a sentence."""
    from lockterm.screens.lock_form import LockForm

    title = clean(lock.title, 60)
    if draft.form == LockForm.DRAFT:
        return f"The entry of {title}" if draft.lock_id else "A new lock for the book"
    if draft.remote_id is None:
        return f"A new remote for {title}"
    return f"A change of remote {draft.remote_id} on {title}"


async def offer_abandoned(app: App[Any], operations: Operations) -> None:
    """Offer the newest draft of a session that has ended; the others come with their forms.

    Args:
        app: Where to ask, and to open the form.
        operations: The door.
    """
    try:
        drafts = await operations.abandoned_drafts()
        if not drafts:
            return
        draft = drafts[0]
        book = await operations.locks()
        known = next((lock for lock in book if lock.lock_id == draft.lock_id), None)
        what = _what(draft, known or Lock(draft.lock_id))
        modal: Screen[Any] = _question(draft, operations, what, "Open the form", "Later")
        if not await app.push_screen_wait(modal):
            return
        remote = await _remote(operations, draft.remote_id)
    except LocktermError as error:
        app.notify(f"{error.message} {error.hint}", title=error.title, severity="error")
        return
    from lockterm.screens.lock_form import LockForm
    from lockterm.screens.remote_form import RemoteForm

    form: Screen[Any]
    if draft.form == LockForm.DRAFT:
        form = LockForm(operations, known, book, typed=draft.typed)
    else:
        form = RemoteForm(operations, known or Lock(draft.lock_id), remote, typed=draft.typed)
    app.push_screen(form)


async def _remote(operations: Operations, remote_id: int | None) -> Remote | None:
    """The remote of a draft; as it was last read where the service is out of reach."""
    if remote_id is None:
        return None
    try:
        return await operations.remote(remote_id)
    except ServiceError:
        if kept := await operations.cached_remote(remote_id):
            return kept.value
        raise
