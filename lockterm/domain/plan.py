"""Plans: changes of many remotes, with one step for each remote.

A plan comes from a file, marked remotes or a backup. lockterm shows the plan, asks for one
confirmation, runs the plan, and saves the result of each step. A *run* is a plan with the states of
its steps.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from lockterm.domain.callbacks import ignore
from lockterm.domain.dates import Clock
from lockterm.domain.operation import RECORDED, WITHOUT_EFFECT, OperationState
from lockterm.errors import LocktermError


class Action(StrEnum):
    """The kind of change that a step of a plan makes."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"
    KEEP = "keep"
    """No change, because the remote is already up to date."""
    VOICE = "voice"
    """A new voice for the lock. Such a step has no remote."""


ACTION_GLYPHS: Mapping[Action, str] = {
    Action.ADD: "+",
    Action.UPDATE: "~",
    Action.DELETE: "-",
    Action.KEEP: "=",
    Action.VOICE: "~",
}


class StepState(StrEnum):
    """The progress of a step."""

    TO_DO = "to_do"
    SENT = "sent"
    """The request may have been sent. If the journal contains the operation, the journal shows the
    progress of the request."""
    RECORDED = "recorded"
    UNCHANGED = "unchanged"
    """The remote was already up to date, so nothing was sent."""
    REFUSED = "refused"
    SKIPPED = "skipped"
    """The remote has changed since the plan was made, so nothing was sent."""
    UNKNOWN = "unknown"
    NOT_SENT = "not_sent"
    """lockterm did not reach the service, or another change blocks the step."""


DUE = frozenset({StepState.TO_DO, StepState.SENT})
"""The states of the steps that a run must still send or complete, even after an interruption."""

RETRIED = frozenset({StepState.REFUSED, StepState.NOT_SENT})
"""The states of steps that the user can retry in a smaller plan. An unconfirmed step is never
retried, because it could take effect twice. A skipped step needs a new plan."""


PROBLEMS = frozenset({StepState.REFUSED, StepState.SKIPPED, StepState.UNKNOWN, StepState.NOT_SENT})
"""The states of steps that the user must check."""

NOT_REACHED = "Not reached"
"""The beginning of a step's message if lockterm did not reach the service for its lock."""

NAME_TAKEN = "The name is taken"
"""The beginning of a step's message if another remote already has its name."""

MOST_UNTYPED = 10
"""Maximum number of remotes to delete, or to give access to, that the user can confirm with a key.
To confirm more, the user must type how many remotes there are."""


@dataclass(frozen=True, slots=True)
class Step:
    """One change of one remote, or of a lock's voice, and its progress."""

    number: int
    """The number of the step in the plan, from 1."""
    action: Action
    lock_id: int
    remote_id: int | None
    """The ID of the remote; None if the step adds a remote."""
    remote_name: str
    """The present name of the remote, or the name of the remote to add."""
    wanted: Mapping[str, Any] = field(default_factory=dict)
    """The wanted values, by the contract's names. An add has all fields that are sent, an update
    has the fields to change, and a voice has its ``lang`` and ``timbre``."""
    before: Mapping[str, Any] = field(default_factory=dict)
    """The values of the remote when the plan was made, by the contract's names. For a voice, the
    voice that lockterm last set."""
    line: int | None = None
    """The line of the imported file that the step comes from, from 1."""
    state: StepState = StepState.TO_DO
    message: str = ""
    """The reason for the state, in words; empty if the service recorded the change."""
    operation_id: str | None = None
    """The ID of the operation in the journal, saved before the first byte is sent."""
    is_planned: bool = True
    """Whether the step may be sent. If false, lockterm could not plan the step, and shows the
    reason."""
    restores: str | None = None
    """The ID of the delete or clear from whose backup the step restores ``before``."""
    note: str = ""
    """Sentences about facts found during planning, which the user confirms with the plan."""

    @property
    def is_left(self) -> bool:
        """Whether the run must still send the step or store its result."""
        return self.state in DUE and self.action is not Action.KEEP

    @property
    def is_done(self) -> bool:
        """Whether the remote has the values that the step wants."""
        return self.state in (StepState.RECORDED, StepState.UNCHANGED)

    @property
    def is_left_out(self) -> bool:
        """Whether the step is left out of the run because it could not be planned."""
        return not self.is_planned and self.state is StepState.REFUSED

    @property
    def is_name_taken(self) -> bool:
        """Whether the step is left out of the run because another remote has the wanted name."""
        return not self.is_planned and self.message.startswith(NAME_TAKEN)

    @property
    def replaced_id(self) -> int | None:
        """The ID of the remote that this add replaces; None if the step replaces no remote.

        An add with a remote in ``before`` replaces this remote, unless the add is a restore.
        """
        is_replacement = self.action is Action.ADD and self.restores is None
        return self.before.get("id") if is_replacement else None

    def requires(self, earlier: Step) -> bool:
        """Return whether this step may be sent only if an earlier step is done.

        For example, a plan that replaces a fob has an add and a delete, and the later of these
        steps requires the earlier one.

        Args:
            earlier: The step just before this one in the plan.
        """
        if earlier.lock_id != self.lock_id:
            return False
        pairs = ((earlier, self), (self, earlier))
        return any(
            add.replaced_id is not None
            and delete.action is Action.DELETE
            and add.replaced_id == delete.remote_id
            for add, delete in pairs
        )


def at_rest(step: Step) -> Step:
    """Return a step as it is after its run has ended or was interrupted.

    If the step was being sent when the run ended, its state becomes ``StepState.UNKNOWN``.
    """
    if step.state is not StepState.SENT:
        return step
    message = "The step was under way when the run ended, so its result is unknown."
    return replace(step, state=StepState.UNKNOWN, message=message)


def under_way(step: Step) -> Step:
    """Return a step as this session shows it while another session is running the plan.

    If the other session is sending the step, the message of the returned step says so.
    """
    if step.state is not StepState.SENT:
        return step
    return replace(step, message="Another session is sending this step.")


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps that the user confirms together."""

    id: str
    profile: str
    service: str
    """The base URL of the service. IDs are valid only for this service."""
    title: str
    """A short description of the plan for people, such as ``apply remotes.csv``."""
    made_ms: int
    steps: tuple[Step, ...]
    losses: tuple[str, ...] = ()
    """Sentences about data that cannot be restored after the run, for the confirmation dialog."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Maps each reason for leaving out remotes to how many were left out; not saved."""
    is_running: bool = False
    """Whether a session was running the plan when it was loaded; not saved."""
    credentials: str | None = None
    """A digest of the credentials for which the plan was made. None if the plan is not saved yet;
    empty if an earlier version of lockterm saved it."""

    @property
    def is_due(self) -> bool:
        """Whether some steps have no result yet, so that the run can be started or resumed."""
        return any(step.state in DUE for step in self.steps)

    def counts(self) -> Counter[StepState]:
        """Return the number of steps in each state."""
        return Counter(step.state for step in self.steps)

    @property
    def left_out(self) -> int:
        """The number of steps that could not be planned."""
        return sum(step.is_left_out for step in self.steps)

    def actions(self) -> Counter[Action]:
        """Return the number of steps with each action, ignoring steps that could not be planned."""
        return Counter(step.action for step in self.steps if step.is_planned)


@dataclass(frozen=True, slots=True)
class PlannedSteps:
    """The steps of a change, before they get numbers and become a plan."""

    steps: list[Step]
    """The steps to run, without numbers."""
    left: list[Step]
    """The steps that are left out of the run, each with the reason."""
    losses: Sequence[str] = ()
    """Sentences about data that cannot be restored after the run."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Maps each reason for leaving out remotes to how many were left out."""


class RunState(StrEnum):
    """The progress of a run as a whole."""

    PLANNED = "planned"
    """No step has begun."""
    RUNNING = "running"
    """A session is running the plan now."""
    INTERRUPTED = "interrupted"
    """Some steps have begun and other steps remain, but no session is running the plan."""
    DONE = "done"
    """No step remains to be sent. Some steps may have problems; see ``RunLine.is_incomplete``."""


class RunLine(NamedTuple):
    """A summary of a run for a list: its plan, and the number of steps in each state."""

    id: str
    profile: str
    service: str
    title: str
    made_ms: int
    is_running: bool
    """Whether a session is running the plan now."""
    is_begun: bool
    """Whether any step has begun. Steps that could not be planned never begin."""
    states: Mapping[StepState, int]
    """Maps each state to the number of steps in this state."""
    left_out: int = 0
    """The number of steps that could not be planned. Their state is ``StepState.REFUSED``."""

    @property
    def is_interrupted(self) -> bool:
        """Whether the run has begun and some steps remain, but no session is running the plan."""
        return self.state is RunState.INTERRUPTED

    @property
    def is_incomplete(self) -> bool:
        """Whether the run has ended, but some of the planned steps have problems to check."""
        problems = sum(self.states.get(state, 0) for state in PROBLEMS)
        return self.state is RunState.DONE and problems > self.left_out

    def counts(self) -> Counter[StepState]:
        """Return the number of steps in each state."""
        return Counter(self.states)

    @property
    def state(self) -> RunState:
        """The progress of the run."""
        if self.is_running:
            return RunState.RUNNING
        if not any(self.states.get(state) for state in DUE):
            return RunState.DONE
        return RunState.INTERRUPTED if self.is_begun else RunState.PLANNED


def outcome_of(state: OperationState) -> StepState:
    """Return a step's state, derived from the state of its operation in the journal.

    An operation without a final answer gives ``StepState.UNKNOWN``, because this function is only
    called when no session waits for the answer any more.
    """
    if state in RECORDED:
        return StepState.RECORDED
    if state in WITHOUT_EFFECT:
        return StepState.REFUSED if state is OperationState.REFUSED else StepState.NOT_SENT
    return StepState.UNKNOWN


def select_retryable(steps: Iterable[Step]) -> list[Step]:
    """Return the steps that can be retried, in the order of their plan.

    A step that requires an earlier step can be retried only if the earlier step is done, or is
    retried too.

    Args:
        steps: All steps of a plan, in order.
    """
    found: list[Step] = []
    earlier: Step | None = None
    for step in steps:
        is_free = earlier is None or earlier.is_done or not step.requires(earlier)
        if step.is_planned and step.state in RETRIED and (is_free or earlier in found[-1:]):
            found.append(step)
        earlier = step
    return found


def count_left(steps: Iterable[Step]) -> int:
    """Return the number of steps that must still be sent, or whose result must still be stored."""
    return sum(step.is_left for step in steps)


# --- a run of this session -----------------------------------------------------------------------


RATED_S = 1.0
"""Minimum duration of a run, in seconds, before its rate is shown."""


class Run:
    """A run that this session has started. The run continues even if no screen shows it.

    ``operations.runs.Runs.execute`` changes the run. Commands and screens read the run, and can
    stop it.

    Args:
        plan: The confirmed plan. If the plan is already in the store, ``plan`` may have no steps,
            because :meth:`load` adds them.
        clock: The clock, whose monotonic time measures the duration.
    """

    def __init__(self, plan: Plan, clock: Clock) -> None:
        self.on_change: Callable[[Run], None] = ignore
        """The function to call when a step or ``reading`` has changed, or the run has ended."""
        self.plan = plan
        """The plan as it was when the run began. After the run, the plan with the results."""
        self.steps: dict[int, Step] = {}
        """Maps the number of each step to the step with its present state."""
        self.news: list[int] = []
        """The numbers of the steps that got a new state during this run, in the order of the
        changes. A step that got several new states occurs several times."""
        self.due = self.left = 0
        """``due`` is the number of steps that this run tries. ``left`` is the number of these steps
        that have no result yet."""
        self.problems = Counter[StepState]()
        """Maps states that the user must check to the number of tried steps in that state."""
        self.reading = 0
        """Number of unconfirmed steps that are being verified."""
        self.stop_request = asyncio.Event()
        """An event that is set when the user stops the run."""
        self.stop_reason = ""
        """The error that stopped the run, in sentences; empty if no error stopped it."""
        self.finished = asyncio.Event()
        """An event that is set when no step is in progress any more."""
        self.error: LocktermError | None = None
        """The error that prevented or aborted the run; None if there was none."""
        # The order of the steps:
        self.waiting: dict[int, deque[int]] = {}
        """Maps lock IDs to the numbers of the steps that remain for the lock, in order."""
        self.ready: deque[int] = deque()
        """IDs of locks with remaining steps and no step in progress, the next lock first."""
        self.unreached: dict[int, str] = {}
        """Maps lock IDs to the reason why the service could not be reached for the lock."""
        self.pauses = Counter[int]()
        """Maps the number of each step to how often this run has postponed the step."""
        self.holders: set[str] = set()
        """IDs of unconfirmed changes that block steps, and that this run has tried to verify."""
        self._tried: set[int] = set()
        self._sent: set[int] = set()
        """The numbers of the steps that were sent and have no result yet."""
        self._clock = clock
        self._began_s = clock.steady()
        self.load(plan)

    # --- changes ------------------------------------------------------------------------------

    def load(self, plan: Plan) -> None:
        """Use a plan from the store instead of the present plan.

        Call this only before the first step is sent.
        """
        self.plan = replace(plan, skipped=self.plan.skipped)
        self.steps = {step.number: step for step in plan.steps}
        self._tried = {step.number for step in plan.steps if step.is_left}
        self.due = self.left = len(self._tried)

    def note(self, step: Step) -> None:
        """Store a step that has a new state, update the counts, and call :attr:`on_change`."""
        was, now = self.steps[step.number].state, step.state
        self.steps[step.number] = step
        self.news.append(step.number)
        if now is StepState.SENT:
            self._sent.add(step.number)
        else:
            self._sent.discard(step.number)
        if step.number in self._tried:
            self.left += (now in DUE) - (was in DUE)
            self.problems[was] -= was in PROBLEMS
            self.problems[now] += now in PROBLEMS
        self.on_change(self)

    def note_reading(self, more: int) -> None:
        """Change the number of steps that are being verified by ``more``, which may be negative."""
        self.reading += more
        self.on_change(self)

    def end(self) -> None:
        """Mark the run as finished. Call this only when no step is in progress."""
        self.plan = replace(self.plan, steps=tuple(self.steps.values()))
        self.finished.set()
        self.on_change(self)

    def stop(self) -> None:
        """Request that the run starts no more steps. Steps in progress are completed."""
        self.stop_request.set()

    # --- progress -----------------------------------------------------------------------------

    @property
    def done(self) -> int:
        """The number of steps of this run that have a result, without unconfirmed steps."""
        return self.due - self.left - self.problems[StepState.UNKNOWN]

    @property
    def only_reads(self) -> bool:
        """Whether no step remains to be sent, and the run is only verifying unconfirmed steps."""
        return bool(self.reading) and not self.left

    @property
    def under_way(self) -> int:
        """The number of steps that were sent and have no result yet."""
        return len(self._sent)

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended."""
        return self.finished.is_set()

    @property
    def is_stopped(self) -> bool:
        """Whether :meth:`stop` was called. Some steps may still be in progress."""
        return self.stop_request.is_set()

    @property
    def starts_no_more(self) -> bool:
        """Whether the user or an error has stopped the run, so that no more steps are started."""
        return self.is_stopped or bool(self.stop_reason)

    @property
    def took_s(self) -> float:
        """The time since the run began, in seconds."""
        return self._clock.steady() - self._began_s

    @property
    def per_s(self) -> float:
        """Number of completed steps per second; 0 if it is not known yet."""
        took_s = self.took_s
        return (self.due - self.left) / took_s if took_s >= RATED_S else 0.0

    def counts(self) -> Counter[StepState]:
        """Return the number of steps in each state."""
        return Counter(step.state for step in self.steps.values())
