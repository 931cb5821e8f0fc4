"""Saving a remote from its form: check the name, read again, ask, send, and never guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockterm.comparison import RECOGNISED, differences
from lockterm.errors import (
    LocktermError,
    MalformedAnswer,
    NameTaken,
    NoAnswer,
    OutcomeUnknown,
    Refused,
    RuleViolation,
)
from lockterm.keymap.spoken import key, said, settling
from lockterm.models.operation import UNSETTLED, State
from lockterm.models.remote_values import RemoteValues, values_of
from lockterm.operations import HeldBack
from lockterm.rules import changes, effective, needs_dates, new_remote, touches_validity
from lockterm.screens.name_check import TAKEN, ask_about_name
from lockterm.screens.remote_questions import (
    ask_to_add,
    ask_to_change,
    ask_to_merge,
    ask_whether_it_is,
    clock_doubt,
)
from lockterm.text import clean

if TYPE_CHECKING:
    from lockterm.models.operation import Operation
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
        self._again_of: str | None = None
        """The operation that was read back and not seen: the next save sends it again."""

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
                await form.leave_saved(remote_id)
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
        after = effective(fields.before, reading.values)
        sends_dates = needs_dates(after.remote_type) and touches_validity(fields.before, after)
        if sends_dates and form.operations.doubts_clock:
            reading.warnings["startDate"] = clock_doubt(form.operations.clock_offset_s or 0)
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
        if (other := current.other_lock(form.lock_entry.lock_id)) is not None:
            words = f"The service says that remote {before.id} belongs to lock {other} now."
            raise RuleViolation({"lockId": f"{words} Nothing was sent."})
        others = differences(values_of(before), values_of(current), form.zone, RECOGNISED)
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
        form.doing = f"Sending ... at most {form.operations.profile.timeout_s:g} s for each answer."
        lock_id = form.lock_entry.lock_id
        if form.fields.before is None:
            request = new_remote(lock_id, values)
            return await form.operations.add_remote(request, again_of=self._again_of)
        remote_id = form.fields.before.id or 0
        change = changes(form.fields.before, values)
        await form.operations.update_remote(
            lock_id, remote_id, change, form.fields.before, again_of=self._again_of
        )
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
        if isinstance(error, HeldBack):
            error.hint = f"Outside of this form {settling()}"
        refusal = _sentence(error)
        if isinstance(error, NoAnswer | MalformedAnswer):  # a read: it comes before the writing
            refusal = f"Nothing was changed. {refusal}"
        if form.unknown:
            refusal += said(
                " It may have been recorded. Before another save: {form.check} reads it back."
            )
        form.refuse(refusal)
        fields.read_now()

    # --- an outcome that is not known ----------------------------------------------------------

    async def _read_back(self) -> None:
        form = self._form
        try:
            operation = await self._operation()
            if operation is not None and operation.unsettled:
                operation = await form.operations.check(operation)
                operation = await self._recognise(operation)
            await self._tell_outcome(operation)
        except LocktermError as error:
            if form.is_attached:
                form.refuse(
                    f"It cannot be read back: {_sentence(error)} {key('form.check')} tries again."
                )
        finally:
            if form.is_attached:
                form.doing = ""

    async def _operation(self) -> Operation | None:
        """The last save of this form, as the journal has it."""
        for operation in reversed(await self._form.operations.history()):
            if operation.lock_id == self._form.lock_entry.lock_id and self._is_mine(operation):
                return operation
        return None

    def _is_mine(self, operation: Operation) -> bool:
        before, sent = self._form.fields.before, self._sent
        if before is not None:
            return operation.call == "update" and operation.remote_id == before.id
        name = sent.remote_name if sent else None
        return operation.call == "add" and operation.remote_name == name

    async def _recognise(self, operation: Operation) -> Operation:
        """Let the person say whether the only remote like the new one is the new one."""
        if operation.state is not State.AMBIGUOUS or len(operation.candidates) != 1:
            return operation
        question = ask_whether_it_is(operation.remote_name, operation.candidates[0])
        if self._was_left or not await self._form.app.push_screen_wait(question):
            return operation
        return await self._form.operations.bind(operation, operation.candidates[0])

    async def _tell_outcome(self, operation: Operation | None) -> None:
        form = self._form
        state = operation.state if operation else None
        if operation and state in (State.CONFIRMED, State.CONFIRMED_BY_READING):
            form.notify(self._success(), title="Recorded by the service", markup=False)
            await form.leave_saved(operation.remote_id)
            return
        if not form.is_attached:
            return
        form.unknown = state in (State.UNKNOWN, State.AMBIGUOUS)
        if operation and state in UNSETTLED:
            self._again_of = operation.id
            form.refusal = f"{clean(operation.message, 200)} {said(_NEXT[operation.state])}"
        else:  # it was settled elsewhere
            self._again_of = None
            form.refusal = said(
                "It was settled elsewhere: the history says how. {form.save} saves anew."
            )


_NEXT = {
    State.UNKNOWN: "{form.check} reads it back again.",
    State.NOT_SEEN: "A late request may still land; {form.save} sends it again.",
    State.AMBIGUOUS: "Leave the form and look at it; {form.check} asks again.",
    State.CONFLICT: "{form.save} shows the difference before anything is sent again.",
}
"""What to do about an operation that was read back."""


def _sentence(error: LocktermError) -> str:
    """An error of the tree as text for the form, safe to show."""
    parts = [f"{error.title}: {error.message}"]
    if isinstance(error, Refused):
        if error.code is not None:
            parts.append(f"(code {error.code})")
        if error.description and error.description != error.message:
            parts.append(error.description)
    return clean(" ".join([*parts, error.hint]).strip(), 500)
