"""The commands on one remote, for every screen that shows it, and on all remotes of a lock."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from textual.worker import Worker

from lockterm import screens
from lockterm.config.values import INT64
from lockterm.domain.constants import CALL_NAMES, RemoteType
from lockterm.domain.locks import Lock
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
from lockterm.keymap.hints import key, settle_first
from lockterm.screens.base import LocktermScreen
from lockterm.terminal.clipboard import copy
from lockterm.terminal.key_queue import opening

if TYPE_CHECKING:
    from lockterm.domain.operation import Operation
    from lockterm.domain.plan import Step
    from lockterm.domain.remotes import Remote
    from lockterm.domain.series import NamesInUse
    from lockterm.operations.planner import PlanDraft
    from lockterm.screens.remote_form import RemoteSaved

WRITES = frozenset({"add", "another", "edit", "renew", "replace", "delete", "clear", "user_number"})
"""The actions that send a change to the service."""

_HELD = frozenset({"add", "another", "replace", "clear"})
"""The actions of ``WRITES`` that an unconfirmed change of the lock may block."""

ON_A_REMOTE = frozenset(
    {"another", "detail", "edit", "renew", "replace", "delete", "user_number", "copy"}
)
"""Actions that need a selected remote."""

_WITHOUT_ID = frozenset({"another", "copy"})
"""Actions of ``ON_A_REMOTE`` that do not need the remote's ID."""


class RemoteCommands:
    """The commands on remotes: add, edit, renew, replace, delete, set user number, copy, clear.

    A command acts on the remote that is selected when its key is pressed, even if the screen
    shows other remotes before the dialog or the request ends.

    A subclass provides the remote and handles the result of a command.

    Args:
        screen: The screen whose keys run the commands.
        refresh: The ID of the key that reads the screen's data again.
        busy: A mapping of running actions, as in the attribute, to share with other commands; None
            for a new one.
        on_lock: The lock of the remote; None for the lock that the screen is about.
        change_type: A sentence that explains how to change the type of a remote; empty if the
            screen's edit key does that.
    """

    def __init__(
        self,
        screen: LocktermScreen[None],
        *,
        refresh: str,
        busy: dict[int, str] | None = None,
        on_lock: Lock | None = None,
        change_type: str = "",
    ) -> None:
        self._screen = screen
        self._refresh = refresh
        self._on_lock = on_lock
        self._change_type = change_type
        self.busy = {} if busy is None else busy
        """Maps remote IDs to the current action on the remote, such as ``deleting``."""

    # --- what a subclass gives -----------------------------------------------------------------

    @property
    @abstractmethod
    def current(self) -> Remote | None:
        """The remote that the commands act on; None if there is none."""

    @property
    def known(self) -> Iterable[Remote]:
        """The remotes of the lock that are already loaded, whose names are in use."""
        return ()

    @property
    def total(self) -> int | None:
        """The number of remotes of the lock; None if it is unknown."""
        return None

    def is_deleted(self, remote: Remote) -> bool:
        """Return whether the service has recorded the deletion of a remote."""
        return False

    def go_to(self, remote_id: int | None) -> None:
        """Select a saved remote once the screen has loaded it."""

    def show_busy(self) -> None:
        """Repaint the running actions of remotes; see ``busy``."""

    def note_written(self) -> None:
        """Handle that a remote may have changed, for example by reading it again."""

    @property
    def _lock(self) -> Lock:
        found = self._on_lock or self._screen.lock_entry
        assert found is not None
        return found

    @property
    def _lock_name(self) -> str:
        return clean(self._lock.title, 60)

    def _who(self, remote: Remote) -> str:
        """Return the remote for a notification, with its lock unless the screen is about it."""
        at = f" at {self._lock_name}" if self._on_lock is not None else ""
        return f"{format_remote(remote)}{at}"

    # --- what is possible ----------------------------------------------------------------------

    def why_not(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        operations = self._screen.operations
        if action in WRITES and operations.profile.read_only:
            return describe_read_only(operations.profile.name)
        if action in WRITES and operations.connection.online is False:
            again = key(self._refresh)
            return f"The service cannot be reached, so nothing can be sent. Press {again} to retry."
        if action in _HELD and (reason := self._why_held()):
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
        if action in WRITES and self.is_deleted(remote):
            return (
                "This remote is already deleted. The service recorded the delete but still"
                " lists the remote."
            )
        return self._why_remote_held(remote) if action in WRITES else ""

    def _why_held(self) -> str:
        """Return why an unconfirmed change blocks adding and clearing; empty if none does."""
        for operation in self._screen.unsettled:
            if operation.holds_back and operation.lock_id == self._lock.lock_id:
                return (
                    f"An earlier change is unconfirmed: {_named(operation)}. Another"
                    f" change could repeat its effect. {settle_first()}"
                )
        return ""

    def _why_remote_held(self, remote: Remote) -> str:
        """Return why an unconfirmed change blocks changes of a remote; empty if none does."""
        for operation in self._screen.unsettled:
            is_same = operation.lock_id == self._lock.lock_id
            if is_same and remote.id is not None and operation.remote_id == remote.id:
                return (
                    "An earlier change of this remote is unconfirmed:"
                    f" {_named(operation)}. The order of the two changes is uncertain."
                    f" {settle_first()}"
                )
        return ""

    # --- the form ------------------------------------------------------------------------------

    def add(self) -> None:
        """Open the form that adds a remote, or explain why adding is not possible."""
        if reason := self.why_not("add"):  # chosen in the palette
            self._screen.refuse_to_open("Add", reason)
        else:
            self._open_form(None)

    def add_another(self) -> None:
        """Open the form for a remote like the selected one, with the next free name and number."""
        remote = self.current
        if remote is not None:
            self._screen.run_worker(self._add_like(remote), group="another", exclusive=True)

    async def _add_like(self, remote: Remote) -> None:
        with opening(self._screen, "the form", must_appear=True):
            offered, taken = await screens.values_like(
                remote, self._screen.operations, self._lock, [*self.known], self.total
            )
            self._open_form(None, "remoteName", offered, taken)

    def edit(self) -> None:
        """Open the form that changes the remote."""
        self._open_form(self.current)

    def renew(self) -> None:
        """Open the form that changes the remote, with the cursor in the end date.

        A permanent remote has no end date, so a dialog explains that it cannot be renewed. The
        footer does not dim the key for such a remote, because lockterm would then send the footer
        again whenever the cursor moves.
        """
        remote = self.current
        if remote is not None and remote.remote_type == RemoteType.PERMANENT:
            edit = f"{self._refresh.partition('.')[0]}.edit"
            way = self._change_type or f"Press {key(edit)} to change the type."
            self._screen.refuse_to_open(f"Renew {self._who(remote)}", f"{NO_END} {way}")
            return
        self._open_form(remote, "endDate")

    def _open_form(
        self,
        remote: Remote | None,
        focus_field: str | None = None,
        offered: Mapping[str, str] | None = None,
        taken: NamesInUse | None = None,
    ) -> None:
        screen = self._screen
        form = screens.RemoteForm(
            screen.operations, self._lock, remote, focus_field, offered=offered, taken=taken
        )
        screen.app.push_screen(form, self._form_closed)

    def _form_closed(self, saved: RemoteSaved | None) -> None:
        if saved is not None:
            self.go_to(saved.remote_id)
        # Also without a result, because an unconfirmed change may have changed the shown data.
        self._written(saved.remote_id if saved else None)

    # --- the plan ------------------------------------------------------------------------------

    def replace_fob(self) -> None:
        """Ask for the number of a new fob, and show the plan that replaces the remote's fob."""
        remote, screen = self.current, self._screen
        if remote is None:
            return

        def planned(draft: PlanDraft | None) -> None:
            if draft is not None:
                left = partial(self._left_plan, remote, draft.plan.id)
                screen.app.push_screen(screens.PlanScreen(draft), left)

        dialog = screens.ReplaceModal(screen.operations, [(self._lock, remote)])
        screen.app.push_screen(dialog, planned)

    def _left_plan(self, old: Remote, plan_id: str, _: None) -> None:
        """Select the new remote and close the old one's screens, if the plan replaced the fob."""
        run = self._screen.operations.run_here
        if run is None or run.plan.id != plan_id:
            return
        steps: dict[str, Step] = {one.action: one for one in run.steps.values() if one.is_done}
        if "add" in steps:
            self.go_to(steps["add"].remote_id)
        if "delete" in steps:
            self._written(old.id, is_deleted=True)

    # --- writes --------------------------------------------------------------------------------

    def delete(self) -> None:
        """Delete the remote after a confirmation."""
        remote = self.current
        if remote is None:
            return
        operations, lock = self._screen.operations, self._lock
        deletion = screens.Deletion(operations, lock, remote)
        dialog = deletion.dialog()

        def answered(confirmed: bool | None) -> None:
            if not confirmed:
                if not dialog.may_act():  # the remote was gone, so the list is old
                    self._written(None)
                return
            who = format_remote(deletion.remote)
            self._carry_out(
                f"Delete {self._who(deletion.remote)}",
                operations.writes.delete_remote(lock.lock_id, deletion.remote),
                lambda _: (f"Deleted {who} from {self._lock_name}", ""),
                remote_id=remote.id,
                busy="deleting",
                deletes=True,
            )

        self._screen.app.push_screen(dialog, answered)

    def set_user_number(self) -> None:
        """Ask for a new user number of the remote, and send it."""
        remote = self.current
        if remote is None:
            return
        who, operations, lock = format_remote(remote), self._screen.operations, self._lock
        name = format_remote_name(remote, UNNAMED)
        numbers = "\n".join(screens.numbers_of(remote, lock))
        dialog = screens.NumberModal(
            f"New user number of {name} on {self._lock_name}?",
            f"{numbers}\nThe service does not report user numbers, so write down the number.",
            heading="User number",
            verb="Set the user number",
            numbers=INT64,  # the contract has no least one
            wrong="Type a whole number, such as 12.",
        )

        def answered(number: int | None) -> None:
            if number is not None:
                self._carry_out(
                    f"User number of {who}",
                    operations.writes.set_user_no(lock.lock_id, remote, number),
                    lambda _: (f"Set user number {number} for {who}", ""),
                    remote_id=remote.id,
                    busy="writing",
                )

        self._screen.app.push_screen(dialog, answered)

    def clear(self) -> None:
        """Delete all remotes of the lock, after a confirmation."""
        operations, lock = self._screen.operations, self._lock
        clearing = screens.Clearing(operations, lock)

        def answered(confirmed: bool | None) -> None:
            if confirmed:
                backed_up = clearing.count
                self._carry_out(
                    f"Clear {self._lock_name}",
                    operations.writes.clear_remotes(lock.lock_id, backed_up),
                    lambda deleted: self._cleared(deleted, backed_up),
                )

        self._screen.app.push_screen(clearing.dialog(), answered)

    def _cleared(self, deleted: int | None, backed_up: int | None) -> tuple[str, str]:
        if deleted is None:
            return f"Deleted the remotes of {self._lock_name}", ""
        beyond = describe_beyond_backup(deleted, backed_up or deleted)
        return f"Deleted {format_count(deleted, 'remote')} from {self._lock_name}", beyond

    def _carry_out(
        self,
        what: str,
        work: Awaitable[int | None],
        done: Callable[[int | None], tuple[str, str]],
        *,
        remote_id: int | None = None,
        busy: str = "",
        deletes: bool = False,
    ) -> Worker[None]:
        """Send a change and report its result, even if the user leaves the screen.

        Args:
            what: The action as the title of an error, without control characters.
            work: The call that sends the change.
            done: A function that gets the result of the call, and returns a message and more
                sentences about it.
            remote_id: The ID of the remote to change; None for all remotes.
            busy: The text to show at that remote until the result arrives.
            deletes: Whether the change deletes that remote.
        """

        async def send() -> None:
            is_deleted = False
            self.mark_busy(remote_id, busy)
            try:
                told = done(await work)
            except LocktermError as error:
                self._screen.tell(error, what)
            else:
                self._screen.tell_recorded(*told)
                is_deleted = deletes
            finally:
                self.mark_busy(remote_id, "")
                self._written(remote_id, is_deleted=is_deleted)

        # The app runs this, not exclusively: a canceled request may still have been applied.
        return self._screen.app.run_worker(send(), group="writes", exclusive=False)

    def mark_busy(self, remote_id: int | None, word: str) -> None:
        """Show that an action on a remote is running; an empty word means that it has ended."""
        if remote_id is None:
            return
        self.busy.pop(remote_id, None)
        if word:
            self.busy[remote_id] = word
        if self._screen.is_attached:
            self.show_busy()

    def _written(self, remote_id: int | None, *, is_deleted: bool = False) -> None:
        """Update every open screen of this lock after a change."""
        for screen in self._screen.screens_of(self._lock.lock_id):
            (screen.after_delete if is_deleted else screen.after_write)(remote_id)
        self.note_written()

    # --- copy ----------------------------------------------------------------------------------

    def copy(self) -> None:
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
            ((what, value), f"{what:<8}{clean(value, 50)}")
            for what, value in values.items()
            if value
        ]

        def chosen(what: tuple[str, str] | None) -> None:
            if what is not None:
                copy(self._screen.app, what[1], what[0])

        self._screen.app.push_screen(screens.ChoiceModal("Copy which value?", choices), chosen)


def _named(operation: Operation) -> str:
    return f"{CALL_NAMES[operation.call]} {clean(operation.remote_name, 40)}".strip()
