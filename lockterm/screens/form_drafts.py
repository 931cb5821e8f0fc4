"""Drafts of the remote form: kept while it is typed, offered when it is opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen
from textual.timer import Timer

from lockterm.errors import LocktermError, ServiceError, StoreError
from lockterm.moments import day_time
from lockterm.screens.confirm import ConfirmModal
from lockterm.text import clean

if TYPE_CHECKING:
    from lockterm.models.drafts import Draft
    from lockterm.models.remotes import Remote
    from lockterm.operations import Operations
    from lockterm.screens.remote_form import RemoteForm

FORM = "remote"
"""The name of this form among the drafts."""

SOON_S = 1.0
"""Seconds from a key to its draft on disk; two are promised."""


class FormDrafts:
    """The draft of one open form.

    Args:
        form: The form.
    """

    def __init__(self, form: RemoteForm) -> None:
        self._form = form
        self._timer: Timer | None = None
        self._has_failed = False

    @property
    def _key(self) -> tuple[str, int, int | None]:
        before = self._form.fields.before
        return FORM, self._form.lock_entry.lock_id, before.id if before else None

    def note_change(self) -> None:
        """Something was typed: keep it soon."""
        if self._timer is None and self._form.fields.is_touched:
            self._timer = self._form.set_timer(SOON_S, self.keep)

    async def keep(self) -> None:
        """Write what was touched to the store."""
        self._timer = None
        try:
            await self._form.operations.save_draft(*self._key, self._form.fields.touched())
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
            await self._form.operations.drop_draft(*self._key)

    async def offer(self) -> None:
        """Offer what an earlier opening of this form left."""
        with self._form.showing_errors():
            draft = await self._form.operations.draft(*self._key)
            if draft is None or self._form.fields.is_touched:
                return
            modal = _question(draft, self._form.operations, "Fill it in", "Start afresh")
            if await self._form.app.push_screen_wait(modal):
                self._form.fill(draft.typed)
            else:
                await self.drop()


def _question(draft: Draft, operations: Operations, verb: str, keep: str) -> ConfirmModal:
    typed = [f"{clean(field, 30)}: {clean(text, 60)}" for field, text in draft.typed.items()]
    saved = day_time(draft.saved_ms, operations.profile.zone)
    return ConfirmModal(
        f"This form was not finished on {saved}.", "\n".join(typed), verb=verb, keep=keep
    )


async def offer_abandoned(app: App[Any], operations: Operations) -> None:
    """Offer the newest draft of a session that has ended; the others come with their forms.

    Args:
        app: Where to ask, and to open the form.
        operations: The door.
    """
    from lockterm.screens.remote_form import RemoteForm

    try:
        drafts = await operations.abandoned_drafts()
        if not drafts:
            return
        draft = drafts[0]
        lock_entry = await operations.find_lock(draft.lock_id)
        modal: Screen[Any] = _question(draft, operations, "Open the form", "Later")
        if not await app.push_screen_wait(modal):
            return
        remote = await _remote(operations, draft.remote_id)
    except LocktermError as error:
        app.notify(f"{error.message} {error.hint}", title=error.title, severity="error")
        return
    app.push_screen(RemoteForm(operations, lock_entry, remote, typed=draft.typed))


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
