"""The execution of single steps of a plan: check, send once, and verify if no answer arrives."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from lockterm.domain import rules
from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.names import is_same_name
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.plan import DUE, Action, Step, StepState, outcome_of
from lockterm.domain.reading import Field
from lockterm.domain.remotes import ADDED, FIELDS, UPDATED, Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.text.operation import STATE_NAMES
from lockterm.domain.text.remote import find_differences
from lockterm.errors import (
    LocktermError,
    NameTakenError,
    RefusedError,
    ResultUnknownError,
    RuleViolationError,
    StoreError,
)
from lockterm.operations.proof import shows_others
from lockterm.operations.recorded import KEPT

if TYPE_CHECKING:
    from datetime import tzinfo

    from lockterm.operations.journal_store import JournalStore
    from lockterm.operations.rate_limiter import RateLimiter
    from lockterm.operations.remotes import Remotes
    from lockterm.operations.watching import Watch
    from lockterm.operations.writes import Writes
    from lockterm.store.lock_book import Locks

_log = logging.getLogger(__name__)

USER_NO = "remoteUserNo"
"""The field that has its own call (contract 4.8). A step that sets it sets no other field."""

CALLS = {Action.ADD: 2, Action.UPDATE: 2, Action.DELETE: 2, Action.KEEP: 0, Action.VOICE: 1}
"""Number of calls that a successful step needs: one to check the remote, and one to change it. A
step that sets a voice needs one call, because a voice cannot be checked."""


@dataclass
class Steps:
    """The object that runs single steps of plans.

    Args:
        writes: The writes, by which steps change the service.
        journal: The journal, which has the results of the changes that were sent.
        remotes: The remotes at the service, which are read just before they are changed.
        watch: The object that verifies changes without an answer.
        pace: The rate limiter of verifications.
        locks: The lock book.
        zone: A function that returns the time zone of a lock, for times in messages.
    """

    writes: Writes
    journal: JournalStore
    remotes: Remotes
    watch: Watch
    pace: RateLimiter
    locks: Locks
    zone: Callable[[Lock], tzinfo]

    def note_known(self, steps: Iterable[Step]) -> None:
        """Remember the remotes of steps, so that a list that shows none of them is not trusted."""
        for step in steps:
            is_gone = step.action is Action.DELETE and step.state not in DUE
            is_old = step.replaced_id is not None  # ``before`` is then another remote
            if step.remote_id is not None and step.before and not (is_gone or is_old):
                record = {**step.before, "id": step.remote_id}
                self.remotes.known.add(step.lock_id, record)

    async def execute(self, step: Step) -> Step:
        """Run a step whose operation ID is already stored. The change is sent at most once.

        Returns:
            The step with its result.

        Raises:
            LocktermError: Nothing was sent, or the service refused the change.
        """
        special = {Action.ADD: self._add, Action.VOICE: self._set_voice}
        send = special.get(step.action, self._change)
        try:
            return await send(step)
        except ResultUnknownError as error:
            return _ended(step, StepState.UNKNOWN, error.meaning)

    async def resolve(self, step: Step) -> Step | None:
        """Return an interrupted step with its result from the journal; None if it was not sent."""
        # This also resolves operations that ended sessions left.
        await self.journal.list_unconfirmed()
        operation = await self.journal.find(step.operation_id or "")
        if operation is None or operation.state is OperationState.NOT_SENT:
            return None
        return told(step, operation)

    async def up_to_date(self, step: Step) -> Step:
        """Return an unconfirmed step with its present result in the journal."""
        operation = await self.journal.find(step.operation_id or "")
        return step if operation is None else told(step, operation)

    async def verify_step(self, step: Step, within_s: float | None = None) -> Step:
        """Verify an unconfirmed step until its result is proven, and return it with the result.

        Args:
            step: The step.
            within_s: The maximum time in seconds; None for ``Horizon.proof_s``.
        """
        try:
            if operation := await self.journal.find(step.operation_id or ""):
                await self.verify(operation, within_s)
        except StoreError as error:  # the step stays unconfirmed, because it may have been sent
            _log.info("step %s could not be read back: %s", step.number, error.message)
        with contextlib.suppress(StoreError):  # the background reader may have proven it first
            return await self.up_to_date(step)
        return step

    async def verify(self, operation: Operation, within_s: float | None = None) -> None:
        """Verify an unconfirmed change until its result is proven.

        Args:
            operation: The change. If it is not unconfirmed, nothing is done.
            within_s: The maximum time in seconds; None for ``Horizon.proof_s``.
        """
        if operation.is_unconfirmed:
            within_s = self.watch.horizon.proof_s if within_s is None else within_s
            try:
                await self.watch.until_proven(operation, within_s, self.pace)
            except LocktermError as error:  # it stays unconfirmed
                _log.info("operation %s could not be read back: %s", operation.id, error.message)

    # --- adding ------------------------------------------------------------------------------

    async def _add(self, step: Step) -> Step:
        wanted = _wanted(step, {}, ADDED)
        restores = None
        if step.restores is None:
            request = rules.new_remote(step.lock_id, wanted)
        else:
            request = rules.added_again(step.lock_id, wanted)
            restores = (step.restores, step.before["id"])
            if done := await self.journal.restored_as(*restores):
                message = f"The remote was already restored, as remote {done[0].remote_id}."
                return _ended(step, StepState.UNCHANGED, message)
        try:
            new_id = await self.writes.add_remote(
                request, restores=restores, operation_id=step.operation_id
            )
        except NameTakenError as error:
            for remote in await self.remotes.all(step.lock_id):
                if is_same_name(remote.remote_name, request.remote_name):
                    return await self._taken(step, wanted, remote, error)
            return _ended(step, StepState.REFUSED, error.meaning)
        return replace(_ended(step, StepState.RECORDED), remote_id=new_id)

    async def _taken(
        self, step: Step, wanted: Remote, remote: Remote, error: NameTakenError
    ) -> Step:
        """Return an add step with its result. Call this if the name is taken.

        The step is unchanged if the remote with this name equals the wanted one; otherwise the step
        is refused.

        Args:
            step: The add.
            wanted: The remote to add.
            remote: The remote on the lock that has the name.
            error: The refusal.
        """
        fields = [field for field in ADDED if field.name in wanted.raw]
        shown = [field for field in fields if field.listed or field.name in remote.raw]
        others = await self._differences(step, remote, rules.effective(None, wanted), shown)
        if not others:
            message = "The lock already has this remote."
            return replace(_ended(step, StepState.UNCHANGED, message), remote_id=remote.id)
        message = error.sentences_with(f"The remote differs: {others}.")
        return _ended(step, StepState.REFUSED, message)

    # --- the voice of a lock -----------------------------------------------------------------

    async def _set_voice(self, step: Step) -> Step:
        lang, timbre = step.wanted.get("lang"), step.wanted.get("timbre")
        if not (isinstance(lang, str) and isinstance(timbre, str)):
            raise RuleViolationError({"currentVoiceTimbre": "The plan contains no voice."})
        lock = await self.locks.find(step.lock_id)
        voice = VoiceChoice(lang, timbre)
        await self.writes.set_voice(lock, voice, operation_id=step.operation_id)
        return _ended(step, StepState.RECORDED)

    # --- changing and deleting ---------------------------------------------------------------

    async def _change(self, step: Step) -> Step:
        before = Remote.read({**step.before, "id": step.remote_id})
        try:
            now = await self.remotes.still(before, step.lock_id)
        except RuleViolationError as error:
            return _ended(step, StepState.SKIPPED, error.message)
        except RefusedError as error:
            if not error.is_gone:
                raise
            return await self._gone(step, before, error)
        if USER_NO in step.wanted:
            return await self._set_user_no(step, before, now)
        if step.action is Action.UPDATE:
            return await self._update(step, before, now)
        shown = [field for field in UPDATED if field.name in before.raw]
        # The user has confirmed the deletion of the remote with its earlier values.
        delete = partial(self.writes.delete_remote, step.lock_id, now)
        return await self._unless_changed(step, before, now, shown, delete)

    async def _unless_changed(
        self,
        step: Step,
        before: Remote,
        now: Remote,
        fields: list[Field],
        write: Callable[..., Awaitable[None]],
    ) -> Step:
        """Send a change, unless the remote was changed since the plan was made.

        Return the step with its result.

        Args:
            step: The step.
            before: The remote when the plan was made.
            now: The remote as it was just read.
            fields: The fields that must be unchanged.
            write: A method of :class:`Writes` that sends the change. Only ``just_read`` and
                ``operation_id`` are missing from its arguments.
        """
        if changed := await self._differences(step, before, now, fields):
            return _ended(step, StepState.SKIPPED, f"The remote was changed since then: {changed}.")
        await write(just_read=True, operation_id=step.operation_id)
        return _ended(step, StepState.RECORDED)

    async def _update(self, step: Step, before: Remote, now: Remote) -> Step:
        wanted = _wanted(step, before.raw, UPDATED)
        request = rules.changes(before, wanted)
        names = request.body().keys() | step.wanted.keys()
        replaced = [field for field in UPDATED if field.name in names]
        if not await self._differences(step, now, rules.effective(before, wanted), replaced):
            return _ended(step, StepState.UNCHANGED, "The remote is already up to date.")
        update = partial(self.writes.update_remote, step.lock_id, now.id or 0, request, now)
        return await self._unless_changed(step, before, now, replaced, update)

    async def _set_user_no(self, step: Step, before: Remote, now: Remote) -> Step:
        """Set the user number with its own call (contract 4.8), and return the step's result.

        The service may omit the number in its answers. In this case, the number cannot be compared.
        """
        wanted = step.wanted[USER_NO]
        if USER_NO in now.raw and now.remote_user_no == wanted:
            return _ended(step, StepState.UNCHANGED, "The remote is already up to date.")
        comparable = [FIELDS[USER_NO]] if USER_NO in now.raw else []
        set_user_no = partial(self.writes.set_user_no, step.lock_id, now, wanted)
        return await self._unless_changed(step, before, now, comparable, set_user_no)

    async def _gone(self, step: Step, before: Remote, error: RefusedError) -> Step:
        """Return a step with its result. Call this if the service refused the remote's details.

        Args:
            step: The step.
            before: The remote when the plan was made.
            error: The refusal.

        Raises:
            RefusedError: The list of the lock still contains the remote. The error is ``error``.
        """
        others = self.remotes.known.others(step.lock_id, [before.id])
        remotes = await self.remotes.all(step.lock_id)
        if any(one.id == before.id for one in remotes):
            raise error
        if not shows_others(others, remotes, ()):
            # The next step must not take the same list as proof.
            self.remotes.known.restore(step.lock_id, [*(others or ()), before.raw])
            fact = "The service lists neither this remote nor any other known remote of the lock."
            return _ended(
                step, StepState.SKIPPED, f"{fact} It is not certain that the remote was deleted."
            )
        if step.action is Action.DELETE:
            return _ended(step, StepState.UNCHANGED, "The remote is already deleted.")
        return _ended(step, StepState.SKIPPED, f"The remote no longer exists: {error.meaning}")

    async def _differences(
        self, step: Step, one: Remote, other: Remote, fields: list[Field]
    ) -> str:
        zone = self.zone(await self.locks.find(step.lock_id))
        return "; ".join(map(str, find_differences(one, other, zone, fields)))


def told(step: Step, operation: Operation) -> Step:
    """Return a step with the result that its operation has in the journal."""
    state = outcome_of(operation.state)
    message = "" if state is StepState.RECORDED else operation.message
    if state is StepState.UNKNOWN:
        message = message or f"The change is {STATE_NAMES[operation.state]}."
    remote_id = operation.remote_id if state is StepState.RECORDED else step.remote_id
    return replace(_ended(step, state, message), remote_id=remote_id)


def state_after(error: LocktermError) -> StepState:
    """Return the state of a step after an error which proves that the change was not made."""
    return (
        StepState.REFUSED
        if isinstance(error, RefusedError | RuleViolationError)
        else StepState.NOT_SENT
    )


def _wanted(step: Step, base: Mapping[str, Any], fields: Iterable[Field]) -> Remote:
    """Return the remote with the values that a step sets.

    Args:
        step: The step.
        base: The values of the other fields, by the contract's names.
        fields: The fields that the call can send.

    Raises:
        RuleViolationError: A value cannot be sent. If the value were left out, the step would
            wrongly count as done.
    """
    given = {name: value for name, value in step.wanted.items() if value is not None}
    given.pop("lockId", None)
    wanted = Remote.read({**base, **given})
    sent = {field.name for field in fields}
    if wrong := [name for name in given if name not in sent or name in wanted.odd]:
        raise RuleViolationError(
            {name: f"{clean(name, 30)} cannot be set to this value." for name in wrong}
        )
    return wanted


def _ended(step: Step, state: StepState, message: str = "") -> Step:
    return replace(step, state=state, message=message)


async def with_notes(journal: JournalStore, plan_id: str, steps: Iterable[Step]) -> list[Step]:
    """Return the steps of a run, with messages about differing values.

    A step gets such a message if the service recorded other values than lockterm sent.
    """
    messages = await journal.messages_of_run(plan_id, KEPT)
    return [
        replace(step, message=messages.get(step.operation_id or "", step.message)) for step in steps
    ]
