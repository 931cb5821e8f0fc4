"""Saving a remote from its form: check the name, read again, ask, send, and never guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockterm.comparison import differences
from lockterm.errors import LocktermError, NameTaken, OutcomeUnknown, Refused, RuleViolation
from lockterm.rules import RemoteValues, changes, effective, new_remote, values_of
from lockterm.screens.name_check import TAKEN, ask_about_name
from lockterm.screens.remote_questions import ask_to_add, ask_to_change, ask_to_merge
from lockterm.text import clean

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote
    from lockterm.screens.remote_form import RemoteForm


class RemoteSaving:
    """The way from a complete form to an answer of the service.

    Its workers belong to the app: leaving the screen does not stop a request that is under way.

    Args:
        form: The form that is saved.
    """

    def __init__(self, form: RemoteForm) -> None:
        self._form = form
        self.is_sending = False
        """Whether a request is under way that may be applied."""
        self._sent: RemoteValues | None = None

    def would_change(self, values: RemoteValues) -> bool:
        """Whether an edit would send anything."""
        before = self._form.fields.before
        if before is None:
            return True
        return bool(differences(values_of(before), effective(before, values), self._form.zone))

    def start(self) -> None:
        """Begin; the form can begin nothing else until this has ended."""
        self._form.refusal = ""
        self._form.doing = "Getting ready ..."
        self._form.app.run_worker(self._save(), group="writes")

    def check(self) -> None:
        """Read back what became of a request without an answer."""
        self._form.doing = "Reading back ..."
        self._form.app.run_worker(self._read_back(), group="writes")

    # --- the way -------------------------------------------------------------------------------

    async def _save(self) -> None:
        form = self._form
        try:
            if await self._is_ready():
                remote_id = await self._send()
                form.notify(self._success(), title="Recorded by the service", markup=False)
                form.leave_saved(remote_id)
        except LocktermError as error:
            self._refuse(error)
        finally:
            self.is_sending = False
            if form.is_attached:
                form.doing = ""

    @property
    def _was_left(self) -> bool:
        return self._form not in self._form.app.screen_stack

    async def _is_ready(self) -> bool:
        """Whether everything was checked and the person said yes."""
        form, fields = self._form, self._form.fields
        form.doing = "Asking whether the name is free ..."
        await ask_about_name(fields, form.operations, form.lock_entry.lock_id)
        if fields.before is not None and not await self._is_current(fields.before):
            return False
        if self._was_left:  # nothing was sent
            return False
        form.doing = "Waiting for your answer ..."
        reading = fields.read_now()
        if reading.errors:
            fields.show_problems()
            return False
        if not self.would_change(reading.values):
            form.refusal = "Nothing is left to change: the remote is so already."
            return False
        about = (form.lock_entry, reading, form.operations.now_ms(), form.zone)
        self._sent = reading.values
        question = ask_to_change(fields.before, *about) if fields.before else ask_to_add(*about)
        answer = await form.app.push_screen_wait(question)
        return bool(answer)

    async def _is_current(self, before: Remote) -> bool:
        """Whether the remote is still as the person saw it, or they took over what is new."""
        form = self._form
        form.doing = "Reading it again ..."
        current = await form.operations.remote(before.id or 0)
        others = differences(values_of(before), values_of(current), form.zone)
        if self._was_left:
            return False
        if others and not await form.app.push_screen_wait(ask_to_merge(before, others)):
            return False
        form.fields.take_over(current)  # the detail knows more than the list
        return True

    async def _send(self) -> int | None:
        form, values = self._form, self._sent
        assert values is not None
        self.is_sending = True
        form.doing = "Sending ..."
        lock_id = form.lock_entry.lock_id
        if form.fields.before is None:
            return await form.operations.add_remote(new_remote(lock_id, values))
        remote_id = form.fields.before.id or 0
        change = changes(form.fields.before, values)
        await form.operations.update_remote(lock_id, remote_id, change, form.fields.before)
        return remote_id

    def _success(self) -> str:
        name = clean(self._sent.remote_name if self._sent else "", 60)
        verb = "changed" if self._form.fields.before else "added"
        return f"{name} was {verb}. Whether the lock has it already is not told by the service."

    # --- what went wrong -----------------------------------------------------------------------

    def _refuse(self, error: LocktermError) -> None:
        """Say on the form what happened; everything typed stays."""
        form = self._form
        if not form.is_attached:
            form.tell(error)
            return
        fields, typed = form.fields, form.typed()
        if isinstance(error, RuleViolation):
            for field in typed.keys() & error.reasons.keys():
                fields.objections[field, typed[field].strip()] = error.reasons[field]
        if isinstance(error, NameTaken) and self._sent is not None:
            fields.objections["remoteName", self._sent.remote_name] = TAKEN
        form.unknown = isinstance(error, OutcomeUnknown)
        form.refusal = _sentence(error)
        if form.unknown:
            form.refusal += " It may have been recorded. Before another save: ctrl+r reads it back."
        fields.read_now()

    async def _read_back(self) -> None:
        form = self._form
        try:
            if form.fields.before is None:
                await self._look_for_new()
            else:
                await self._look_at_changed(form.fields.before)
        except LocktermError as error:
            if form.is_attached:
                form.refusal = f"It cannot be read back: {_sentence(error)} ctrl+r tries again."
        finally:
            if form.is_attached:
                form.doing = ""

    async def _look_for_new(self) -> None:
        form = self._form
        name = self._sent.remote_name if self._sent else ""
        free = await form.operations.is_name_free(form.lock_entry.lock_id, name)
        form.unknown = False
        if free:
            form.refusal = (
                f"Not seen: the lock has no remote named {clean(name, 60)}. A late request may "
                "still land; ctrl+s sends it again."
            )
            return
        form.fields.objections["remoteName", name] = f"{TAKEN} Most likely it is the one just sent."
        form.fields.read_now()
        form.refusal = (
            f"The lock has a remote named {clean(name, 60)} now: most likely it was recorded. "
            "Leave the form and look at it."
        )

    async def _look_at_changed(self, before: Remote) -> None:
        form = self._form
        current = await form.operations.remote(before.id or 0)
        wanted = effective(before, self._sent or values_of(before))
        form.unknown = False
        if not differences(wanted, values_of(current), form.zone):
            form.notify(self._success(), title="Recorded, seen by reading it back", markup=False)
            form.leave_saved(before.id)
        elif not differences(values_of(before), values_of(current), form.zone):
            form.refusal = (
                "Not seen: the remote is still as it was. A late request may still land; ctrl+s "
                "sends it again."
            )
        else:
            form.refusal = (
                "The remote is neither as it was nor as it was sent: ctrl+s shows the difference "
                "before anything is sent again."
            )


def _sentence(error: LocktermError) -> str:
    """An error of the tree as text for the form, safe to show."""
    parts = [f"{error.title}: {error.message}"]
    if isinstance(error, Refused):
        if error.code is not None:
            parts.append(f"(code {error.code})")
        if error.description and error.description != error.message:
            parts.append(error.description)
    return clean(" ".join([*parts, error.hint]).strip(), 500)
