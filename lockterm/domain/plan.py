"""A plan: changes of many remotes, one step each, and what became of every step.

A plan is made from a file, from marks or from a backup; it is shown, confirmed once, run, and kept.
What it is when it runs is a *run*: nothing else than the plan with the states of its steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from lockterm.domain.operation import RECORDED, WITHOUT_EFFECT, State


class Action(StrEnum):
    """What a step does."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"
    KEEP = "keep"
    """Nothing: it is as it is to be already."""
    VOICE = "voice"
    """Sets the voice of the lock: it is about none of its remotes."""


ACTION_GLYPHS: Mapping[Action, str] = {
    Action.ADD: "+",
    Action.UPDATE: "~",
    Action.DELETE: "-",
    Action.KEEP: "=",
    Action.VOICE: "~",
}


class StepState(StrEnum):
    """How far a step got."""

    TO_DO = "to_do"
    SENT = "sent"
    """Its operation may be in the journal, which tells how far it is."""
    RECORDED = "recorded"
    UNCHANGED = "unchanged"
    """The remote was already up to date, so nothing was sent."""
    REFUSED = "refused"
    SKIPPED = "skipped"
    """The remote is no longer as it was when the plan was made: nothing was sent."""
    UNKNOWN = "unknown"
    NOT_SENT = "not_sent"
    """It could not be sent: the service was not reached, or another change holds it back."""


DUE = frozenset({StepState.TO_DO, StepState.SENT})
"""A run that was interrupted goes on with these."""

RETRIED = frozenset({StepState.REFUSED, StepState.NOT_SENT})
"""These can be tried again as a smaller plan. What is unknown is never repeated by itself, and what
was skipped has to be planned anew."""


PROBLEMS = frozenset({StepState.REFUSED, StepState.SKIPPED, StepState.UNKNOWN, StepState.NOT_SENT})
"""What became of these has to be looked at."""

NOT_REACHED = "Not reached"
"""So begins the message of a step whose lock gave no answer; more comes after it."""

NAME_TAKEN = "The name is taken"
"""The beginning of the message of a step whose remote cannot have its name."""

MOST_UNTYPED = 10
"""The most remotes that are deleted, or that get access, without typing their number."""


@dataclass(frozen=True, slots=True)
class Step:
    """One change of one remote, or of the voice of a lock."""

    number: int
    """From 1, in the order of the plan."""
    action: Action
    lock_id: int
    remote_id: int | None
    """None: it is added."""
    remote_name: str
    """As it is now, or as it will be where it is added."""
    wanted: Mapping[str, Any] = field(default_factory=dict)
    """What is to be, under the contract's names: for an add every field that is sent, for an update
    those that are to differ; for a voice its ``lang`` and ``timbre``."""
    before: Mapping[str, Any] = field(default_factory=dict)
    """The remote as it was when the plan was made, under the contract's names; the voice that was
    last set from here."""
    line: int | None = None
    """The line of the file it comes from, from 1."""
    state: StepState = StepState.TO_DO
    message: str = ""
    """Why, in words, for whatever is not recorded."""
    operation_id: str | None = None
    """Its operation in the journal, noted before the first byte leaves."""
    is_planned: bool = True
    """Whether it may be sent; what could not be planned is told with the rest, and why."""
    restores: str | None = None
    """The delete or clear that has taken away what is added again; ``before`` is how it was."""
    note: str = ""
    """What was found as it was planned and has to be agreed to, in sentences."""

    @property
    def is_left(self) -> bool:
        """Whether it is to be sent, or it was and what became of it is to be noted."""
        return self.state in DUE and self.action is not Action.KEEP

    @property
    def is_left_out(self) -> bool:
        """Whether it could not be planned: nothing was sent that the service could refuse."""
        return not self.is_planned and self.state is StepState.REFUSED

    @property
    def is_name_taken(self) -> bool:
        """Whether it is left out because another remote has its name."""
        return not self.is_planned and self.message.startswith(NAME_TAKEN)

    @property
    def may_retry(self) -> bool:
        """Whether it can be tried again as it is."""
        return self.is_planned and self.state in RETRIED


def at_rest(step: Step) -> Step:
    """A step as it stands where nobody carries it out: whether what was sent arrived is unknown."""
    if step.state is not StepState.SENT:
        return step
    words = "It was under way when the run ended: its result is unknown."
    return replace(step, state=StepState.UNKNOWN, message=words)


def under_way(step: Step) -> Step:
    """A step as it stands while a session carries it out: one that is sent has no outcome yet."""
    if step.state is not StepState.SENT:
        return step
    return replace(step, message="It is being sent in another session.")


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps that are confirmed together."""

    id: str
    profile: str
    service: str
    """The base URL it was made for: elsewhere, the same ids are other locks and remotes."""
    title: str
    """Where it comes from, for people: ``apply remotes.csv``."""
    made_ms: int
    steps: tuple[Step, ...]
    losses: tuple[str, ...] = ()
    """What it cannot bring back, in sentences: to be agreed to."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Reason -> the number of remotes that have no step because of it; it is not kept."""
    stopped: str = ""
    """Why a run has ended before all was tried, in sentences; it is not kept."""
    is_running: bool = False
    """Whether a session carried it out just as it was looked up; it is not kept."""
    credentials: str | None = None
    """A digest of the credentials that it is for; None if it is not kept yet, empty if an earlier
    version has kept it."""

    def counts(self) -> Counter[StepState]:
        """How many steps there are of each state."""
        return Counter(step.state for step in self.steps)

    @property
    def left_out(self) -> int:
        """How many steps are left out."""
        return sum(step.is_left_out for step in self.steps)

    def actions(self) -> Counter[Action]:
        """How many steps there are of each action; without what could not be planned."""
        return Counter(step.action for step in self.steps if step.is_planned)


@dataclass(frozen=True, slots=True)
class PlannedSteps:
    """What a change comes to before it is a plan."""

    steps: list[Step]
    """The steps to carry out, without numbers."""
    left: list[Step]
    """The steps that are left out, each with the reason."""
    losses: Sequence[str] = ()
    """See :class:`Plan`."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """See :class:`Plan`."""


class RunState(StrEnum):
    """How far a plan got as a whole."""

    PLANNED = "planned"
    """None of its steps was begun."""
    RUNNING = "running"
    """A session carries it out just now."""
    INTERRUPTED = "interrupted"
    """It was begun, and some of its steps are due."""
    DONE = "done"


@dataclass(frozen=True, slots=True)
class RunLine:
    """A plan in short."""

    id: str
    profile: str
    service: str
    title: str
    made_ms: int
    is_running: bool
    """Whether a session carries it out just now."""
    is_begun: bool
    """Whether a step of it was begun; what could not be planned never is."""
    states: Mapping[StepState, int]
    """State -> how many steps have it."""
    left_out: int = 0
    """How many of the refused ones could not be planned."""

    def counts(self) -> Counter[StepState]:
        """How many steps there are of each state."""
        return Counter(self.states)

    @property
    def state(self) -> RunState:
        """How far it got."""
        if self.is_running:
            return RunState.RUNNING
        if not any(self.states.get(state) for state in DUE):
            return RunState.DONE
        return RunState.INTERRUPTED if self.is_begun else RunState.PLANNED


def outcome_of(state: State) -> StepState:
    """What became of a step, by its operation in the journal.

    One that is on its way is unknown: nobody waits for it any more where this is asked.
    """
    if state in RECORDED:
        return StepState.RECORDED
    if state in WITHOUT_EFFECT:
        return StepState.REFUSED if state is State.REFUSED else StepState.NOT_SENT
    return StepState.UNKNOWN


def count_left(steps: Iterable[Step]) -> int:
    """Return how many steps are to be sent, or have a result that is not noted yet."""
    return sum(step.is_left for step in steps)
