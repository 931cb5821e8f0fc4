"""Saving a remote from its form: check the name, read the remote again, ask, send, and verify.

The confirmation dialogs of the form follow at the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from lockterm.domain.glyphs import ellipsis
from lockterm.domain.locks import Lock
from lockterm.domain.operation import (
    RECORDED,
    UNCONFIRMED,
    WITHOUT_EFFECT,
    Operation,
    OperationState,
)
from lockterm.domain.remotes import FIELDS, RECOGNIZED, Remote
from lockterm.domain.rules import changes, effective, new_remote, sends_dates
from lockterm.domain.safe_text import clean, seen_or
from lockterm.domain.shortening import describe_shortened_access
from lockterm.domain.text.remote import (
    Difference,
    describe_add,
    describe_update,
    find_differences,
    format_remote,
    format_remote_name,
)
from lockterm.domain.text.service import describe_clock_doubt, format_error, format_titled_meaning
from lockterm.domain.typed_remote import TypedRemote
from lockterm.errors import (
    LocktermError,
    NameTakenError,
    ResultUnknownError,
    RuleViolationError,
    ServiceError,
)
from lockterm.keymap.hints import key, settling, with_keys
from lockterm.operations.names_in_use import read_names_in_use
from lockterm.operations.refusals import (
    LAST_READING,
    AlreadyResolvedError,
    PendingChangeError,
    before_sending,
)
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.terminal.key_queue import PendingNavigation, opening

if TYPE_CHECKING:
    from lockterm.screens.base import LocktermScreen
    from lockterm.screens.remote_form.fields import RemoteFields


TAKEN = "This lock already has a remote with this name."
_FREE = "The name is free."

PROOF_S = 90.0
"""Maximum seconds to wait for a reading that confirms a sent change. A service may answer with data
that is a minute old."""


class RemoteSaving:
    """The steps of saving a remote, from the complete form to the answer of the service.

    Its workers belong to the app, so that leaving the form does not stop a request in progress.

    Args:
        screen: The screen of the form, on top of which dialogs open.
        fields: The fields of the form.
        lock_entry: The lock the remote belongs to.
        changed: A function to call when ``doing``, ``refusal`` or ``unknown`` has changed.
        saved: A function to call when the service has recorded the remote. The function gets the ID
            of the remote, or None if the ID is unknown, and a text about the change.
    """

    def __init__(
        self,
        screen: LocktermScreen[Any],
        fields: RemoteFields,
        lock_entry: Lock,
        *,
        changed: Callable[[], None],
        saved: Callable[[int | None, str], None],
    ) -> None:
        self._screen = screen
        self._fields = fields
        self._lock = lock_entry
        self._changed = changed
        self._saved = saved
        self._operations = screen.operations
        self._zone = screen.operations.zone(lock_entry)
        self.doing = ""
        """A text about the current work, such as ``Sending ...``; empty if the form waits for the
        user."""
        self.is_sending = False
        """Whether a request that changes data is in progress."""
        self.refusal = ""
        """Why the last attempt to save did not take effect; kept until the next attempt."""
        self._is_unreachable = False
        """Whether the last attempt to save failed because the service could not be reached."""
        self.unknown = False
        """Whether the result of the last change is unknown. If so, the user must verify the change
        before saving again."""
        self._numbers = asyncio.Lock()
        """A mutex that is held while the numbers in use on the lock are being read."""
        self._sent: Remote | None = None
        self._read: tuple[dict[str, str], TypedRemote] | None = None
        """The input of the last attempt to save, and the values parsed from the input."""
        self._unconfirmed: str | None = None
        """The journal ID of the last change if its request got no answer; otherwise None.

        If verifying does not confirm the change, the next attempt sends it again.
        """

    @property
    def typed(self) -> dict[str, str]:
        """The input of the last attempt to save."""
        assert self._read is not None
        return self._read[0]

    def would_change(self, wanted: Remote) -> bool:
        """Return whether saving these values would send anything."""
        before = self._fields.before
        return before is None or bool(
            find_differences(before, effective(before, wanted), self._zone)
        )

    def start(self) -> None:
        """Start to save. The form must start nothing else until saving has ended."""
        self.refusal, self._is_unreachable = "", False
        self._do("Preparing ...")
        opened = opening(self._screen, "the result of saving")
        self._screen.app.run_worker(self._save(opened), group="writes")

    def forget(self) -> None:
        """Forget the last attempt to save, before the form continues with another remote."""
        self.refusal, self.unknown = "", False
        self._sent = self._read = self._unconfirmed = None

    def forget_unreachable(self) -> None:
        """Clear an error about an unreachable service. Call this when the service answers again."""
        if self._is_unreachable:
            self._is_unreachable, self.refusal = False, ""

    def check(self) -> None:
        """Start to verify a change whose request got no answer."""
        self._do("Verifying the change, at most 90 s ...")
        opened = opening(self._screen, "the result of the check")
        self._screen.app.run_worker(self._verify(opened), group="writes")

    async def check_name(self) -> None:
        """Ask the service whether the typed name is free, unless this is known or not needed.

        The answer is stored with the name, so that a late answer never applies to another name. If
        the service cannot be asked, the field shows the reason. The user can still save, because
        the service checks the name again when the remote is sent (contract 4.2).
        """
        fields = self._fields
        name = fields.reading.values.remote_name or ""
        key = ("remoteName", name)
        own = fields.before.remote_name if fields.before else None
        wrong = fields.reading.errors.get("remoteName")
        if not name or name == own or fields.remarks.get(key) == _FREE:
            return
        if wrong and wrong != fields.objections.get(key):
            return
        fields.remarks[key] = "Checking whether the name is free ..."
        fields.read_now()
        try:
            if await self._operations.remotes.is_name_free(self._lock.lock_id, name):
                fields.objections.pop(key, None)
                fields.remarks[key] = _FREE
            else:
                fields.objections[key] = TAKEN
        except LocktermError as error:
            fields.remarks[key] = (
                f"lockterm could not check whether the name is free. {format_titled_meaning(error)}"
            )
        if fields.is_attached:
            fields.read_now()

    async def know_numbers(self) -> None:
        """Read the names and numbers in use on the lock, unless they were already read."""
        async with self._numbers:
            if not self._fields.taken.is_read:
                lock_id = self._lock.lock_id
                self._fields.taken = await read_names_in_use(self._operations, lock_id)
        if self._fields.is_attached:
            self._fields.read_now()

    def _do(self, doing: str) -> None:
        self.doing = doing
        self._changed()

    def _refuse(self, why: str) -> None:
        """Show why saving failed, in the form and in the message log."""
        self.refusal = why
        self._screen.host.keep_message(why, self._screen.breadcrumbs()[-1], "error")
        self._changed()

    @property
    def _was_left(self) -> bool:
        return self._screen not in self._screen.app.screen_stack

    def next_step(self, operation: Operation) -> str:
        """Return a sentence about the next step after an unconfirmed change of this form.

        The sentence is empty if the form did not send the operation.
        """
        if operation.id != self._unconfirmed:
            return ""
        state = OperationState.UNKNOWN if self.unknown else operation.state
        return with_keys(_NEXT.get(state, ""))

    # --- saving --------------------------------------------------------------------------------

    async def _save(self, opened: PendingNavigation) -> None:
        try:
            if await self._is_ready(opened):
                self._tell_saved(await self._send())
        except LocktermError as error:
            self._tell_error(error)
            opened.has_failed = True
        finally:
            self.is_sending = False
            self._do("")
            opened.end()

    async def _is_ready(self, opened: PendingNavigation) -> bool:
        """Run all checks, ask the user for confirmation, and return whether to send the change."""
        fields, connection = self._fields, self._operations.connection
        self._do("Checking whether the name is free ...")
        await self.check_name()
        if fields.before is not None and not await self._is_current(fields.before):
            return False
        if fields.before is None:
            self._do("Reading the remote numbers of the lock ...")
            await self.know_numbers()
        if self._was_left:  # nothing was sent
            return False
        self._do("Waiting for your answer ...")
        typed, reading = fields.typed(), fields.read_now()
        if self._unconfirmed and self._read and self._read[0] == typed:
            reading = self._read[1]  # sent again: keep the first meaning of "now" and "+30d"
        opened.has_failed = True  # if no dialog opens, discard the keys typed for it
        if reading.errors:
            fields.show_problems()
            return False
        if not self.would_change(reading.values):
            self.refusal = "Nothing to change. The remote is already up to date."
            return False
        if sends_dates(fields.before, reading.values) and connection.doubts_clock:
            reading.warnings["startDate"] = describe_clock_doubt(connection.clock_offset_s or 0)
        if fields.before is None and (number_doubt := fields.taken.words):
            noted = reading.warnings.get("remoteNumber", "")
            reading.warnings["remoteNumber"] = f"{noted} {number_doubt}".strip()
        about = (self._lock, reading, self._operations.now_ms(), self._zone)
        self._sent, self._read = reading.values, (typed, reading)
        question = ask_to_change(fields.before, *about) if fields.before else ask_to_add(*about)
        opened.has_failed = False
        answer = await self._screen.app.push_screen_wait(question)
        return bool(answer)

    async def _is_current(self, before: Remote) -> bool:
        """Read the remote again, and put newer values into the form if the user agrees.

        Returns:
            Whether the form has the current values. False if the user declined or left the form.
        """
        self._do("Reading the remote again ...")
        with before_sending(LAST_READING):
            current = await self._operations.remotes.still(before, self._lock.lock_id)
        others = find_differences(before, current, self._zone, RECOGNIZED)
        if self._was_left:
            return False
        if others and not await self._screen.app.push_screen_wait(ask_to_merge(before, others)):
            return False
        self._fields.take_over(current)  # the detail has more fields than the list
        return True

    async def _send(self) -> int | None:
        """Send the new remote, or the changed fields of an existing remote.

        If type, start, end or weekdays change, lockterm sends all four.

        Returns:
            The ID of the remote; None if the service did not report the ID of a new remote.
        """
        wanted, before = self._sent, self._fields.before
        assert wanted is not None
        self.is_sending = True
        timeout_s = self._operations.profile.timeout_s
        self._do(f"Sending ... lockterm waits up to {timeout_s:g} s for each answer.")
        writes, lock_id, again_of = self._operations.writes, self._lock.lock_id, self._unconfirmed
        if before is None:
            return await writes.add_remote(new_remote(lock_id, wanted), again_of=again_of)
        change, remote_id = changes(before, wanted), before.id or 0
        await writes.update_remote(lock_id, remote_id, change, before, again_of=again_of)
        return remote_id

    def _tell_saved(self, remote_id: int | None) -> None:
        verb = "Changed" if self._fields.before else "Added"
        self._saved(remote_id, f"{verb} {format_remote(self._sent)}" if self._sent else verb)

    # --- errors --------------------------------------------------------------------------------

    def _tell_error(self, error: LocktermError) -> None:
        """Show an error in the form, which keeps the typed values."""
        if not self._screen.is_attached:
            self._screen.tell(error)
            return
        fields, typed = self._fields, self._fields.typed()
        if isinstance(error, RuleViolationError):
            for field in typed.keys() & error.reasons.keys():
                fields.objections[field, typed[field].strip()] = error.reasons[field]
        if isinstance(error, NameTakenError) and self._sent is not None:
            fields.objections["remoteName", self._sent.remote_name or ""] = TAKEN
        self._is_unreachable = isinstance(error, ServiceError) and error.out_of_reach
        self.unknown = isinstance(error, ResultUnknownError)
        if isinstance(error, ResultUnknownError):
            self._unconfirmed = error.operation_id
        if isinstance(error, AlreadyResolvedError):
            self._unconfirmed = None
        if isinstance(error, PendingChangeError):
            error.hint = f"Outside this form, {settling()}"
            if error.operation.id == self._unconfirmed:
                error.hint = f"This form can send only the same change again. {error.hint}"
        refusal = format_error(error)
        if self.unknown:
            refusal += with_keys(" Before you save again, press {form.check} to verify the change.")
        self._refuse(refusal)
        fields.read_now()

    # --- an unconfirmed change -----------------------------------------------------------------

    async def _verify(self, opened: PendingNavigation) -> None:
        try:
            operation = await self._operation()
            if operation is not None and operation.is_unconfirmed:
                operation = await self._operations.watch.until_proven(operation, PROOF_S)
                operation = await self._recognize(operation)
            self._tell_outcome(operation)
        except LocktermError as error:
            if self._screen.is_attached:
                reason = f"The change cannot be verified: {format_error(error)}"
                self._refuse(f"{reason} Press {key('form.check')} to try again.")
        finally:
            self._do("")
            opened.end()

    async def _operation(self) -> Operation | None:
        """Return the change of this form that got no answer; None if there is none.

        If the change was sent again, return the later operation instead. Its result may be known.
        """
        journal = self._operations.journal
        found = await journal.find(self._unconfirmed or "")
        while found is not None and found.state is OperationState.SENT_AGAIN:
            again = [one for one in await journal.linked(found) if one.again_of == found.id]
            found = next((one for one in again if one.state not in WITHOUT_EFFECT), None)
        return found

    async def _recognize(self, operation: Operation) -> Operation:
        """If exactly one remote matches the added remote, ask the user whether it is the same.

        Returns:
            The operation, linked to the remote if the user recognizes it; otherwise unchanged.
        """
        if operation.state is not OperationState.AMBIGUOUS or len(operation.candidates) != 1:
            return operation
        question = ask_whether_it_is(operation.remote_name, operation.candidates[0])
        if self._was_left or not await self._screen.app.push_screen_wait(question):
            return operation
        return await self._operations.resolution.bind(operation, operation.candidates[0])

    def _tell_outcome(self, operation: Operation | None) -> None:
        state = operation.state if operation else None
        if operation and state in RECORDED:
            self._tell_saved(operation.remote_id)
            return
        self.unknown = state in (OperationState.UNKNOWN, OperationState.AMBIGUOUS)
        if operation and state in UNCONFIRMED:
            self._unconfirmed = operation.id
            self.refusal = f"{clean(operation.message, 200)} {with_keys(_NEXT[operation.state])}"
        else:  # the user resolved the change outside the form
            self._unconfirmed = None
            self.refusal = with_keys(
                "You resolved the change outside this form. The history shows the result. Press"
                " {form.save} to save again."
            )


_NEXT = {
    OperationState.UNKNOWN: "Press {form.check} to verify the change again.",
    OperationState.NOT_SEEN: "Press {form.save} to send the change again.",
    OperationState.DAMAGED: "Leave the form and check the lock's list of remotes.",
    OperationState.AMBIGUOUS: (
        "Leave the form and check the change, or press {form.check} to see the question again."
    ),
    OperationState.CONFLICT: (
        "Press {form.save} to compare your input with the lock before you send again."
    ),
}
"""Maps the state of an operation to a sentence about the user's next step."""


_BUTTON = 24
"""The maximum width of a name on a button, in cells, so that two buttons fit into 60 columns."""


def ask_to_add(lock_entry: Lock, reading: TypedRemote, now_ms: int, zone: tzinfo) -> ConfirmModal:
    """Return the dialog that confirms adding a remote, and lists everything to be sent."""
    wanted = effective(None, reading.values)
    name = clean(wanted.remote_name, 60)
    return ConfirmModal(
        f"Add {name} to {_title(lock_entry)}?",
        "\n".join([*describe_add(wanted, now_ms, zone), *_notes(reading.warnings)]),
        verb=f"Add {_short(name)}",
        keep="Keep editing",
    )


def ask_to_change(
    before: Remote, lock_entry: Lock, reading: TypedRemote, now_ms: int, zone: tzinfo
) -> ConfirmModal:
    """Return the dialog that confirms changing a remote, and lists old and new values."""
    name = format_remote_name(before, f"remote {before.id}")
    after = effective(before, reading.values)
    lines = describe_update(before, after, now_ms, zone)
    shortened = describe_shortened_access(before, after, now_ms, zone)
    verb = "Shorten" if shortened else "Renew" if _is_renewal(before, after, zone) else "Change"
    return ConfirmModal(
        f"{verb} {name}, number {clean(seen_or(before.remote_number, 'none'), 60)}, "
        f"on {_title(lock_entry)}?",
        "\n".join([*lines, *_notes(reading.warnings)]),
        verb=f"{verb} {_short(name)}",
        keep="Keep editing",
        warning=shortened,
    )


def ask_to_merge(before: Remote, others: list[Difference]) -> ConfirmModal:
    """Return the dialog that offers to take over changes that others made to the remote."""
    name = format_remote_name(before, f"remote {before.id}")
    return ConfirmModal(
        f"Someone else has changed {name} since you opened this form. Take over the changes?",
        "\n".join(map(str, others))
        + "\n\nIf you take over the changes, only the fields that you did not edit get new values."
        " Nothing is sent until you confirm the result.",
        verb="Take over",
        keep="Keep editing",
        unasked=True,
    )


def ask_whether_it_is(name: str, remote_id: int) -> ConfirmModal:
    """Return the dialog that asks whether a remote is the remote that this form added.

    lockterm shows the dialog if the result of adding is unknown, and exactly one remote on the lock
    matches.
    """
    return ConfirmModal(
        f"Is remote {remote_id} the remote {clean(name, 60)} that you added?",
        "Name, number, type and dates match, and no remote had this name before.",
        verb="It is this remote",
        keep="Not sure",
        unasked=True,
    )


def ask_to_leave(what: str, *, is_sent: bool) -> ConfirmModal:
    """Return the dialog that confirms leaving a form with unsaved input.

    Args:
        what: The name of the remote, which may contain control characters.
        is_sent: Whether the change was sent and its result is unconfirmed.
    """
    question, lost = f"Leave without saving {clean(what, 60)}?", "What you typed will be lost."
    if is_sent:
        question = f"Leave the form for {clean(what, 60)}?"
        lost = "The change that you sent remains unconfirmed. What you typed later will be lost."
    return ConfirmModal(question, warning=lost, verb="Leave", keep="Keep editing", loses_text=True)


def _is_renewal(before: Remote, after: Remote, zone: tzinfo) -> bool:
    """Return whether a change only sets a later end date."""
    labels = [one.label for one in find_differences(before, after, zone)]
    is_later = (after.end_ms or 0) > (before.end_ms or 0)
    return is_later and labels == [FIELDS["endDate"].label]


def _short(name: str) -> str:
    """Return a name, shortened to fit a button.

    The question above the button shows the full name.
    """
    if cell_len(name) <= _BUTTON:
        return name
    while cell_len(name) > _BUTTON - 1:
        name = name[:-1]
    return f"{name}{ellipsis()}"


def _title(lock_entry: Lock) -> str:
    title = clean(lock_entry.title, 60)
    return f"{title} (lock {lock_entry.lock_id})" if lock_entry.name else title


def _notes(warnings: Mapping[str, str]) -> list[str]:
    return [f"Note on {FIELDS[field].label}: {text}" for field, text in warnings.items()]
