"""The table of a plan's steps, which creates cells only for visible rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from rich.cells import cell_len

from lockterm.domain.plan import ACTION_GLYPHS, DUE, Action, Step, StepState, at_rest
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.text.plan import (
    describe_new_values,
    describe_step,
    describe_step_notes,
    describe_step_shortening,
    format_step,
    step_name,
    step_states,
)
from lockterm.domain.text.run import LEFT_OUT
from lockterm.domain.validity import State as Validity
from lockterm.widgets.line_table import TITLES, Piece
from lockterm.widgets.row_table import Column, LazyRows, RowTable

_STEP, _LOCK, _STATE = 1, 2, 3
"""The indexes of the columns with the action, the lock and the state icons."""

_SHORTENS = "! shortens"
"""The text that marks a change that shortens access, in the warning color."""

_WORDS: Mapping[Action, str] = {
    Action.ADD: "add",
    Action.UPDATE: "change",
    Action.DELETE: "delete",
    Action.KEEP: "keep",
    Action.VOICE: "voice",
}
_STATES: Mapping[StepState, str] = {
    StepState.SENT: "sending",
    StepState.RECORDED: "recorded",
    StepState.UNCHANGED: "unchanged",
    StepState.REFUSED: "! refused",
    StepState.SKIPPED: "! skipped",
    StepState.UNKNOWN: "? unknown",
    StepState.NOT_SENT: "! not sent",
}
"""Maps the state of a step to its text. The first character of a problem also identifies it without
color."""
LOOKS: Mapping[StepState, str] = {
    **dict.fromkeys((StepState.REFUSED, StepState.NOT_SENT), Validity.DISAGREE.look),
    StepState.SKIPPED: Validity.WEEK.look,
    StepState.UNKNOWN: Validity.UNCLEAR.look,
}
"""Maps the state of a step to a style name, for states that are problems."""


@dataclass(frozen=True, slots=True)
class OnLock:
    """The data about a lock that the screen of a plan shows."""

    title: str
    """The title of the lock, which may contain control characters."""
    zone: tzinfo


class PlanTable(RowTable):
    """The table of steps: action, lock, state icons, remote, and the change or the problem.

    Args:
        steps: The current steps by number; the owner may replace steps in this mapping.
        now_ms: The current time in milliseconds.
    """

    def __init__(self, steps: Mapping[int, Step], now_ms: int, *, id: str | None = None) -> None:
        super().__init__(
            Column("", most=1, least=1),
            Column("Step", most=10, least=10),
            Column("Lock", most=24, least=6),
            Column("", most=2, least=2, rank=1),
            Column("Remote", most=LONGEST_CELL, least=8),
            Column("Number", most=16, least=6, rank=2),
            Column("What", most=200, least=25),  # "End -> 31 Dec 2026 23:59", and that it is cut
            id=id,
        )
        self.is_at_rest = True
        """Whether no session is running the plan at the moment."""
        self._steps = steps
        self._now_ms = now_ms
        self._locks: Mapping[int, OnLock] = {}
        self._places: Mapping[int, int] = {}

    def show_steps(self, numbers: Sequence[int], locks: Mapping[int, OnLock]) -> None:
        """Replace the rows; the same step stays selected.

        Args:
            numbers: The numbers of the steps to show, in order.
            locks: The locks by ID.
        """
        self._locks = locks
        self.hidden = frozenset({_LOCK} if len(locks) == 1 else ())  # the header names it
        self._places = {number: place for place, number in enumerate(numbers)}
        self.show(LazyRows({str(number): number for number in numbers}, self._cells))

    def repaint(self, number: int) -> None:
        """Repaint the row of a step whose state has changed, if the table shows the step."""
        if (place := self._places.get(number)) is not None:
            self.refresh_lines(place + TITLES)

    @property
    def current(self) -> Step | None:
        """The selected step; None in an empty table."""
        return None if self.highlighted is None else self.step(int(self.highlighted))

    def step(self, number: int) -> Step:
        """Return a step as shown: outside of a run, a sent step without a result is unconfirmed."""
        step = self._steps[number]
        return at_rest(step) if self.is_at_rest else step

    def widest(self) -> Sequence[int]:
        """Return the width of each column's longest content, without creating all cells."""
        steps = [self._steps[number] for number in self._places]
        names = [step_name(step) for step in steps]
        locks = {self._locks[step.lock_id].title for step in steps}
        columns = (locks, {name for name, _ in names}, {number or "" for _, number in names})
        lock, name, number = (
            max((cell_len(clean(one, LONGEST_CELL)) for one in column), default=0)
            for column in columns
        )
        return 1, 10, lock, 2, name, number, 200

    def signs(self, row: int) -> Mapping[int, Sequence[Piece]]:
        """Return the styled pieces of a row by column index: icons, and a warning or a problem."""
        step = self.step(int(self._keys[row]))
        states = step_states(step, self._now_ms)
        signs = {_STATE: [(one.sign, one.look) if one else (" ", "") for one in states]}
        if step.state is StepState.TO_DO and step.is_planned:
            zone = self._locks[step.lock_id].zone
            if describe_step_shortening(step, zone, self._now_ms):
                signs[_STEP] = [(f"{_SHORTENS:{self._widths[_STEP]}}", Validity.WEEK.look)]
        elif step.state in LOOKS and not step.is_left_out:
            text = f"{_STATES[step.state]:{self._widths[_STEP]}}"
            signs[_STEP] = [(text, LOOKS[step.state])]
        return signs

    def _cells(self, number: int) -> tuple[str, ...]:
        step = self.step(number)
        name, remote_number = step_name(step)
        lock = self._locks[step.lock_id]
        state = _STATES.get(step.state) or _WORDS[step.action]
        if step.is_left_out:
            state = f"! {LEFT_OUT}"
        if step.state is StepState.UNCHANGED and step.action is Action.KEEP:
            state = _WORDS[step.action]
        return (
            ACTION_GLYPHS[step.action],
            state,
            clean(lock.title, LONGEST_CELL),
            "",
            clean(name, LONGEST_CELL),
            clean(remote_number or "", 30),
            what_of(step, lock, self._now_ms, self._widths.get(6, LONGEST_CELL)),
        )


def describe_row(step: Step, lock: OnLock, now_ms: int, *, is_due: bool) -> str:
    """Return the full text of a step, for the lines below a table whose rows may be too short.

    Args:
        step: The step.
        lock: The lock of the step.
        now_ms: The current time in milliseconds.
        is_due: Whether the step will still be sent, so that the warnings about it matter.
    """
    line = f", line {step.line}" if step.line else ""
    notes = describe_step_notes(step, lock.zone, now_ms) if is_due else ()
    parts = filter(None, (what_of(step, lock, now_ms), *(f"Note: {note}" for note in notes)))
    return f"{format_step(step)}, {clean(lock.title, 40)}{line}: {'; '.join(parts)}"


def what_of(step: Step, lock: OnLock, now_ms: int, room: int = 0) -> str:
    """Return why a step was not done, or otherwise the values that it changes.

    Args:
        step: The step.
        lock: The lock of the step.
        now_ms: The current time in milliseconds.
        room: The maximum width in cells, or 0 for no limit. A text that is too wide leaves out the
            old values.
    """
    if step.message and step.state not in DUE:
        return clean(step.message, 400)
    words = "; ".join(describe_step(step, lock.zone, now_ms))
    return describe_new_values(step, lock.zone, now_ms) if 0 < room < cell_len(words) else words
