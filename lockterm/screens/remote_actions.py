"""What can be done with one remote, wherever it is shown: edit, renew, delete, number, copy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from textual.worker import Worker

from lockterm.errors import LocktermError
from lockterm.keymap.spoken import key
from lockterm.models.constants import RemoteType
from lockterm.models.locks import Lock
from lockterm.operations import Operations
from lockterm.screens.base import LocktermScreen
from lockterm.text import clean

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote
    from lockterm.screens.remote_form import RemoteSaved

WRITES = frozenset({"add", "edit", "renew", "delete", "clear", "user_number"})
"""Actions that send a change."""

ON_A_REMOTE = frozenset({"detail", "edit", "renew", "delete", "user_number", "copy"})
"""Actions that need a remote."""

_INT64 = range(-(2**63), 2**63)


class RemoteActions(LocktermScreen[None]):
    """A screen that shows remotes of one lock.

    An action takes the remote that is shown when its key is pressed; dialog and request keep that
    one, whatever the screen shows by then.

    Args:
        operations: The one door to service and store.
        lock_entry: The lock.
    """

    IDS: ClassVar[str] = "remotes"
    """How the ids of its keys begin."""

    def __init__(self, operations: Operations, lock_entry: Lock) -> None:
        super().__init__(operations)
        self.lock_entry = lock_entry
        """The lock, as the lock book knows it."""

    @property
    @abstractmethod
    def current(self) -> Remote | None:
        """The remote that the keys act on."""

    @abstractmethod
    def after_write(self, remote_id: int | None) -> None:
        """Read again what is shown.

        Args:
            remote_id: The remote that was written, or that is to be found; None: the whole lock.
        """

    def mark_busy(self, remote_id: int | None, word: str) -> None:
        """Show that something is being done with a remote; an empty word: no longer."""

    # --- what is possible ----------------------------------------------------------------------

    def why_not(self, action: str) -> str:
        """Read-only profiles, a lost service, no remote, one without an id."""
        if action in WRITES and self.operations.profile.read_only:
            return f"The profile {clean(self.operations.profile.name, 30)} is read-only."
        if action in WRITES and self.operations.online is False:
            again = key(f"{self.IDS}.refresh")
            return f"The service cannot be reached, so nothing can be sent. {again} tries again."
        if action not in ON_A_REMOTE:
            return ""
        remote = self.current
        if remote is None:
            return "There is no remote under the cursor."
        if remote.id is None and action != "copy":
            return "The service listed this remote without a usable id."
        if action == "renew" and remote.remote_type == RemoteType.PERMANENT:
            edit = key(f"{self.IDS}.edit")
            return f"A permanent remote has no end to renew. {edit} changes its type."
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Dim what can do nothing now; but not by the type of each row the cursor comes past.

        The key line is sent whole whenever it changes. The key itself says why it does nothing.
        """
        remote = self.current if action == "renew" else None
        if remote is not None and remote.remote_type == RemoteType.PERMANENT:
            action = "edit"
        return super().check_action(action, parameters)

    # --- the form --------------------------------------------------------------------------

    def action_edit(self) -> None:
        """Change the remote in the form."""
        self._open_form(self.current)

    def action_renew(self) -> None:
        """Change its end: the form with the cursor there."""
        if reason := self.why_not("renew"):  # chosen in the palette
            self.notify(reason, title="Renew")
            return
        self._open_form(self.current, "endDate")

    def _open_form(self, remote: Remote | None, focus_field: str | None = None) -> None:
        from lockterm.screens.remote_form import RemoteForm

        form = RemoteForm(self.operations, self.lock_entry, remote, focus_field)
        self.app.push_screen(form, self._form_closed)

    def _form_closed(self, saved: RemoteSaved | None) -> None:
        # Without a result too: a save of unknown outcome may have changed what is shown.
        self._written(saved.remote_id if saved else None)

    # --- writes ----------------------------------------------------------------------------

    def action_delete(self) -> None:
        """Delete the remote, after asking."""
        from lockterm.screens.delete_remote import DeleteModal, remote_title

        remote = self.current
        if remote is None:
            return
        dialog = DeleteModal(self.operations, self.lock_entry, remote)

        def answered(confirmed: bool | None) -> None:
            if not confirmed:
                if not dialog.may_act():  # it was gone: the list is old
                    self._written(None)
                return
            who = remote_title(dialog.remote)
            self.carry_out(
                f"Delete {who}",
                self.operations.delete_remote(self.lock_entry.lock_id, dialog.remote),
                lambda _: f"{who} was deleted from {self._lock_name}; recorded by the service.",
                remote_id=remote.id,
                busy="deleting",
            )

        self.app.push_screen(dialog, answered)

    def action_user_number(self) -> None:
        """Set the remote's user number."""
        from lockterm.screens.delete_remote import remote_title
        from lockterm.screens.number_modal import NumberModal

        remote = self.current
        if remote is None:
            return
        who = remote_title(remote)
        dialog = NumberModal(
            f"New user number of {who} on {self._lock_name}?",
            "The service has no way to read it back: note what you set.",
            verb="Set the user number",
            numbers=_INT64,
        )

        def answered(number: int | None) -> None:
            if number is not None:
                self.carry_out(
                    f"User number of {who}",
                    self.operations.set_user_no(self.lock_entry.lock_id, remote, number),
                    lambda _: f"{who} has user number {number} now; recorded by the service.",
                    remote_id=remote.id,
                    busy="writing",
                )

        self.app.push_screen(dialog, answered)

    @property
    def _lock_name(self) -> str:
        return clean(self.lock_entry.title, 60)

    def carry_out(
        self,
        what: str,
        work: Awaitable[int | None],
        done: Callable[[int | None], str],
        *,
        remote_id: int | None = None,
        busy: str = "",
    ) -> Worker[None]:
        """Send a change and tell what became of it, even where this screen is left meanwhile.

        Args:
            what: What is done, for the titles of notices; clean.
            work: The call.
            done: What to say after it, from its result.
            remote_id: The remote it is about.
            busy: What to show at that remote until then.
        """

        async def send() -> None:
            self.mark_busy(remote_id, busy)
            try:
                message = done(await work)
            except LocktermError as error:
                self.tell(error, what)
            else:
                self.notify(message, title=what)
            finally:
                self.mark_busy(remote_id, "")
                self._written(remote_id)

        # Not exclusive, and not this screen's: a cancelled request may still have been applied.
        return self.app.run_worker(send(), group="writes", exclusive=False)

    def _written(self, remote_id: int | None) -> None:
        """Let every open screen of this lock read again what it shows."""
        for screen in self.app.screen_stack:
            if not isinstance(screen, RemoteActions) or not screen.is_attached:
                continue
            if screen.lock_entry.lock_id == self.lock_entry.lock_id:
                screen.after_write(remote_id)

    # --- copy ----------------------------------------------------------------------------------

    def action_copy(self) -> None:
        """Choose a value of the remote and copy it."""
        from lockterm.screens.choice_modal import ChoiceModal

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
        dialog = ChoiceModal("Copy which value?", choices)
        self.app.push_screen(dialog, self._copy_chosen)

    def _copy_chosen(self, chosen: tuple[str, str] | None) -> None:
        from lockterm.widgets.clipboard import copy

        if chosen:
            copy(self.app, chosen[1], chosen[0])
