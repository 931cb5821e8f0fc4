"""The actions on one remote and on all remotes of a lock, for every screen that shows remotes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.worker import Worker

from lockterm import screens
from lockterm.config.values import INT64
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import CALL_NAMES, Remote, RemoteType
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.remote import (
    NO_END,
    UNNAMED,
    describe_beyond_backup,
    format_remote,
    format_remote_name,
)
from lockterm.domain.text.service import describe_read_only
from lockterm.errors import LocktermError
from lockterm.keymap.hints import key, settle_first, with_keys
from lockterm.operations.list_state import ListState
from lockterm.screens.base import LocktermScreen
from lockterm.terminal.clipboard import copy
from lockterm.terminal.key_queue import opens
from lockterm.widgets.cells import cut

if TYPE_CHECKING:
    from lockterm.domain.plan import Step
    from lockterm.domain.typed_remote import NamesInUse
    from lockterm.operations.planner import PlanDraft
    from lockterm.operations.remote_list import RemoteList
    from lockterm.screens.remote_form import RemoteSaved

WRITES = frozenset({"add", "another", "edit", "renew", "replace", "delete", "clear", "user_number"})
"""The actions that send a change to the service."""

_HELD = frozenset({"add", "another", "replace", "clear"})
"""The actions of ``WRITES`` that an unconfirmed add or clear on the lock blocks."""

ON_A_REMOTE = frozenset(
    {"another", "detail", "edit", "renew", "replace", "delete", "user_number", "copy"}
)
"""Actions that need a selected remote."""

_WITHOUT_ID = frozenset({"another", "copy"})
"""Actions of ``ON_A_REMOTE`` that do not need the remote's ID."""


class RemoteActions(LocktermScreen[None]):
    """A screen with actions on remotes: add, edit, renew, replace, delete, clear, and others.

    An action acts on the remote that is selected when its key is pressed, even if the screen
    shows other remotes before the dialog or the request ends.
    """

    refresh_key: ClassVar[str]
    """The ID of the key that reads the screen's data again."""

    change_type: ClassVar[str]
    """A sentence that explains how to change the type of a remote, with IDs of keys in braces."""

    remotes: RemoteList | None = None
    """The list of the lock's remotes; None if the screen shows no such list."""

    # --- for subclasses to override ------------------------------------------------------------

    @property
    @abstractmethod
    def current(self) -> Remote | None:
        """The remote that the actions act on; None if there is none."""

    @property
    def current_lock(self) -> Lock:
        """The lock of the remote that the actions act on."""
        assert self.lock_entry is not None
        return self.lock_entry

    def mark_busy(self, lock_id: int, remote_id: int, word: str) -> None:
        """Show a word for the action that is running on a remote, such as ``deleting``.

        If ``word`` is empty, show that no action is running.
        """

    # --- what is possible ----------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        operations = self.operations
        if action in WRITES and operations.profile.read_only:
            return describe_read_only(operations.profile.name)
        if action in WRITES and operations.connection.online is False:
            again = key(self.refresh_key)
            return f"The service cannot be reached, so nothing can be sent. Press {again} to retry."
        if action in _HELD and (reason := self._why_held(None)):
            return reason
        if action not in ON_A_REMOTE:
            return ""
        remote = self.current
        if remote is None:
            return "No remote is selected."
        if action in _WITHOUT_ID:
            return ""
        if remote.id is None:
            return "The service listed this remote without a usable ID."
        if action in WRITES and self._list_state.is_deleted(remote):
            return (
                "This remote is already deleted. The service recorded the deletion but still"
                " lists the remote."
            )
        return self._why_held(remote) if action in WRITES else ""

    @property
    def _list_state(self) -> ListState:
        return ListState() if self.remotes is None else self.remotes.state

    def _why_held(self, remote: Remote | None) -> str:
        """Return why an earlier, unconfirmed change blocks a new change; empty if none does.

        Args:
            remote: The remote to change; None if the new change adds remotes or clears the lock.
        """
        for operation in self.unconfirmed:
            blocks = operation.holds_back if remote is None else operation.remote_id == remote.id
            if not blocks or operation.lock_id != self.current_lock.lock_id:
                continue
            named = f"{CALL_NAMES[operation.call]} {clean(operation.remote_name, 40)}".strip()
            if remote is None:
                return (
                    f"An earlier change is unconfirmed: {named}. Another change could repeat its"
                    f" effect. {settle_first()}"
                )
            return (
                f"An earlier change of this remote is unconfirmed: {named}. The order of the two"
                f" changes is uncertain. {settle_first()}"
            )
        return ""

    def _format_who(self, lock: Lock, remote: Remote) -> str:
        """Return the remote as text, with its lock unless the screen is about that lock."""
        at = f" at {_name_of(lock)}" if self.lock_entry is None else ""
        return f"{format_remote(remote)}{at}"

    # --- the form ------------------------------------------------------------------------------

    def action_add(self) -> None:
        """Open the form that adds a remote, or explain why adding is not possible."""
        if reason := self.disabled_reason("add"):  # chosen in the palette
            self.refuse_to_open("Add", reason)
        else:
            self._open_form(None)

    def action_another(self) -> None:
        """Open the form to add a remote like the selected remote.

        The form suggests the next free name and number.
        """
        if (remote := self.current) is not None:
            self._add_like(remote)

    @work(exclusive=True, group="another")
    @opens("the form", must_appear=True)
    async def _add_like(self, remote: Remote) -> None:
        known, page = [*self._list_state.known], self._list_state.page
        offered, taken = await screens.values_like(
            remote, self.operations, self.current_lock, known, page.total if page else None
        )
        self._open_form(None, "remoteName", offered, taken)

    def action_edit(self) -> None:
        """Open the form that changes the remote."""
        if (remote := self.current) is not None:
            self._open_form(remote)

    def action_renew(self) -> None:
        """Open the form that changes the remote, with the cursor in the end date.

        A permanent remote has no end date, so a dialog explains that it cannot be renewed. The
        footer does not dim the key for such a remote, because lockterm would then have to repaint
        the footer whenever the cursor moves to another type of remote.
        """
        remote = self.current
        if remote is None:
            return
        if remote.remote_type == RemoteType.PERMANENT:
            who, way = self._format_who(self.current_lock, remote), with_keys(self.change_type)
            self.refuse_to_open(f"Renew {who}", f"{NO_END} {way}")
            return
        self._open_form(remote, "endDate")

    def _open_form(
        self,
        remote: Remote | None,
        focus_field: str | None = None,
        offered: Mapping[str, str] | None = None,
        taken: NamesInUse | None = None,
    ) -> None:
        lock = self.current_lock

        def closed(saved: RemoteSaved | None) -> None:
            if saved is not None:
                self._select_after_load(saved.remote_id)
            # Also without a result: an unconfirmed change may have changed the shown data.
            self._note_written(lock, saved.remote_id if saved else None)

        form = screens.RemoteForm(
            self.operations, lock, remote, focus_field, offered=offered, taken=taken
        )
        self.app.push_screen(form, closed)

    def _select_after_load(self, remote_id: int | None) -> None:
        if self.remotes is not None:
            self.remotes.go_to = remote_id

    # --- the plan ------------------------------------------------------------------------------

    def action_replace(self) -> None:
        """Ask for the number of a new fob, and show the plan that replaces the remote's fob."""
        remote = self.current
        if remote is None:
            return
        lock = self.current_lock

        def planned(draft: PlanDraft | None) -> None:
            if draft is not None:
                left = partial(self._left_plan, lock, remote, draft.plan.id)
                self.app.push_screen(screens.PlanScreen(draft), left)

        self.app.push_screen(screens.ReplaceModal(self.operations, [(lock, remote)]), planned)

    def _left_plan(self, lock: Lock, old: Remote, plan_id: str, _: None) -> None:
        """Show what a run of a replacement has done, after the screen of its plan has closed.

        If the run has added the new remote, select this remote. If the run has deleted the old
        remote, close the screens of the old remote.
        """
        run = self.operations.run_here
        if run is None or run.plan.id != plan_id:
            return
        steps: dict[str, Step] = {one.action: one for one in run.steps.values() if one.is_done}
        if "add" in steps:
            self._select_after_load(steps["add"].remote_id)
        if "delete" in steps:
            self._note_written(lock, old.id, is_deleted=True)

    # --- writes --------------------------------------------------------------------------------

    def action_delete(self) -> None:
        """Delete the remote after a confirmation."""
        remote = self.current
        if remote is None:
            return
        lock = self.current_lock
        dialog = screens.DeleteModal(self.operations, lock, remote)

        def answered(confirmed: bool | None) -> None:
            if not confirmed:
                if not dialog.may_act():  # the remote was gone, so the list is old
                    self._note_written(lock, None)
                return
            who = format_remote(dialog.remote)
            self._send(
                lock,
                f"Delete {self._format_who(lock, dialog.remote)}",
                self.operations.writes.delete_remote(lock.lock_id, dialog.remote),
                lambda _: (f"Deleted {who} from {_name_of(lock)}", ""),
                remote_id=remote.id,
                busy="deleting",
                deletes=True,
            )

        self.app.push_screen(dialog, answered)

    def action_user_number(self) -> None:
        """Ask for a new user number of the remote, and send it."""
        remote = self.current
        if remote is None:
            return
        lock = self.current_lock
        who = format_remote(remote)
        numbers = "\n".join(screens.numbers_of(remote, lock))
        dialog = screens.NumberModal(
            f"New user number of {format_remote_name(remote, UNNAMED)} on {_name_of(lock)}?",
            f"{numbers}\nThe service does not report user numbers, so write down the number.",
            heading="User number",
            verb="Set the user number",
            numbers=INT64,  # the contract has no least one
            wrong="Type a whole number, such as 12.",
        )

        def answered(number: int | None) -> None:
            if number is not None:
                self._send(
                    lock,
                    f"User number of {who}",
                    self.operations.writes.set_user_no(lock.lock_id, remote, number),
                    lambda _: (f"Set user number {number} for {who}", ""),
                    remote_id=remote.id,
                    busy="writing",
                )

        self.app.push_screen(dialog, answered)

    def action_clear(self) -> None:
        """Delete all remotes of the lock, after a confirmation."""
        lock = self.current_lock
        dialog = screens.ClearModal(self.operations, lock)

        def answered(confirmed: bool | None) -> None:
            if confirmed:
                backed_up = dialog.count
                self._send(
                    lock,
                    f"Clear {_name_of(lock)}",
                    self.operations.writes.clear_remotes(lock.lock_id, backed_up),
                    lambda deleted: _describe_cleared(lock, deleted, backed_up),
                )

        self.app.push_screen(dialog, answered)

    def _send(
        self,
        lock: Lock,
        what: str,
        change: Awaitable[int | None],
        done: Callable[[int | None], tuple[str, str]],
        *,
        remote_id: int | None = None,
        busy: str = "",
        deletes: bool = False,
    ) -> Worker[None]:
        """Send a change and report its result, even if the user leaves the screen.

        Args:
            lock: The lock to change.
            what: The action as the title of an error, without control characters.
            change: The call that sends the change.
            done: A function that gets the result of the call, and returns the title and more
                sentences for a notification.
            remote_id: The ID of the remote to change; None for all remotes.
            busy: The text to show at that remote until the result arrives.
            deletes: Whether the change deletes that remote.
        """

        async def send() -> None:
            is_deleted = False
            if remote_id is not None:
                self.mark_busy(lock.lock_id, remote_id, busy)
            try:
                texts = done(await change)
            except LocktermError as error:
                self.tell(error, what)
            else:
                self.tell_recorded(*texts)
                is_deleted = deletes
            finally:
                if remote_id is not None:
                    self.mark_busy(lock.lock_id, remote_id, "")
                self._note_written(lock, remote_id, is_deleted=is_deleted)

        # The app runs this, not exclusively: a canceled request may still have been applied.
        return self.app.run_worker(send(), group="writes", exclusive=False)

    def _note_written(self, lock: Lock, remote_id: int | None, *, is_deleted: bool = False) -> None:
        """Update the open screens of a lock after a change.

        If this screen shows several locks, also read the changed lock again.
        """
        for screen in self.screens_of(lock.lock_id):
            (screen.after_delete if is_deleted else screen.after_write)(remote_id)
        if self.is_attached:  # a running change continues after this screen is closed
            self.read_changed([lock.lock_id])

    # --- copy ----------------------------------------------------------------------------------

    def action_copy(self) -> None:
        """Ask which value of the remote to copy, and copy it to the clipboard."""
        remote = self.current
        if remote is None:
            return
        values = {
            "number": remote.remote_number,
            "name": remote.remote_name,
            "id": None if remote.id is None else str(remote.id),
        }
        choices = [
            ((what, value), f"{what:<8}{cut(clean(value, 50), 44)}")
            for what, value in values.items()
            if value
        ]

        def chosen(what: tuple[str, str] | None) -> None:
            if what is not None:
                copy(self.app, what[1], what[0])

        self.app.push_screen(screens.ChoiceModal("Copy which value?", choices), chosen)


def _name_of(lock: Lock) -> str:
    return clean(lock.title, 60)


def _describe_cleared(lock: Lock, deleted: int | None, backed_up: int | None) -> tuple[str, str]:
    if deleted is None:
        return f"Deleted the remotes of {_name_of(lock)}", ""
    beyond = describe_beyond_backup(deleted, backed_up or deleted)
    return f"Deleted {format_count(deleted, 'remote')} from {_name_of(lock)}", beyond
