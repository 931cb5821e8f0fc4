"""When a session starts, offers the user a draft that an earlier session left unfinished."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen

from lockterm.domain.locks import Lock
from lockterm.domain.typed_remote import format_typed
from lockterm.errors import LocktermError, ServiceError
from lockterm.screens.base import notify_error
from lockterm.screens.form_drafts import LOCK, ask_about_draft, title_of_lock, title_of_remote
from lockterm.screens.locks.form import LockForm, format_lock_field
from lockterm.screens.remote_form import RemoteForm, RemoteSaved
from lockterm.screens.remotes import RemotesScreen

if TYPE_CHECKING:
    from lockterm.domain.drafts import Draft
    from lockterm.domain.remotes import Remote
    from lockterm.operations import Operations


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
    try:
        book = await operations.locks.all()
        known = next((lock for lock in book if lock.lock_id == draft.lock_id), None)
        lock = known or Lock(draft.lock_id)
        title = title_of_remote(lock, draft.remote_id)
        if is_lock:
            title = title_of_lock(lock if draft.lock_id else None)
        describe_field = format_lock_field if is_lock else format_typed
        modal: Screen[Any] = await ask_about_draft(
            draft, operations, title, describe_field, verb="Open the form"
        )
        if not may_ask() or not await app.push_screen_wait(modal):
            return
        remote = await _remote(operations, draft.remote_id)
        await operations.drafts.take_over(draft)
    except LocktermError as error:
        notify_error(app, error)
        return
    if is_lock:
        app.push_screen(LockForm(operations, known, book, typed=draft.typed))
        return
    form = RemoteForm(operations, lock, remote, typed=draft.typed)

    def closed(saved: RemoteSaved | None) -> None:
        for screen in form.screens_of(lock.lock_id):
            if saved is not None and isinstance(screen, RemotesScreen):
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
