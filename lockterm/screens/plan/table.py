"""The table of a plan's steps, which creates cells only for visible rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import tzinfo

from rich.cells import cell_len

from lockterm.domain.plan import ACTION_GLYPHS, DUE, Action, Step, StepState, at_rest
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.text.plan import (
    describe_step_notes,
    describe_step_shortening,
    format_step,
    shorten_step,
    step_name,
    step_states,
)
from lockterm.domain.text.run import LEFT_OUT
from lockterm.domain.validity import RemoteState
from lockterm.widgets.cells import cut, cut_apart
from lockterm.widgets.line_table import TITLES, Piece
from lockterm.widgets.row_table import Column, LazyRows, RowTable

_GLYPH, _STEP, _STATE, _REMOTE, _NUMBER, _LOCK, _WHAT = range(7)
"""The indexes of the columns. The first column has the icon of the action."""

_NAMES = (_REMOTE, _NUMBER, _LOCK)
"""The indexes of the columns whose texts stay different from each other if they are cut."""

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
    StepState.UNKNOWN: "? unconfirmed",
    StepState.NOT_SENT: "! not sent",
}
"""Maps the state of a step to its text. The first character of a problem also identifies it without
color."""
LOOKS: Mapping[StepState, str] = {
    **dict.fromkeys((StepState.REFUSED, StepState.NOT_SENT), RemoteState.DISAGREE.look),
    StepState.SKIPPED: RemoteState.WEEK.look,
    StepState.UNKNOWN: RemoteState.UNCLEAR.look,
}
"""Maps the state of a step to a style name, for states that are problems."""
_ACTION_LOOKS: Mapping[Action, str] = {
    Action.ADD: RemoteState.AHEAD.look,
    Action.DELETE: RemoteState.DISAGREE.look,
}
"""Maps the action of a step without a result to a style name, so that deletions stand out."""


@dataclass(frozen=True, slots=True)
class OnLock:
    """The data about a lock that the screen of a plan shows."""

    title: str
    """The title of the lock, which may contain control characters."""
    zone: tzinfo


class PlanTable(RowTable):
    """The table of steps: action, state icons, remote, lock, and the change or the problem.

    Args:
        steps: The current steps by number. The caller may replace steps in this mapping later.
        now_ms: The current time in milliseconds.
    """

    def __init__(self, steps: Mapping[int, Step], now_ms: int, *, id: str | None = None) -> None:
        super().__init__(
            Column("", most=1, least=1, gap=1),
            Column("Step", most=13, least=10),
            Column("", most=2, least=2, gap=1, rank=2),
            # The name has priority, because it shows whom a deletion concerns.
            Column("Remote", most=LONGEST_CELL, least=14, good=18),
            Column("Number", most=16, least=8, good=12),
            Column("Lock", most=24, least=8, good=12),
            Column("What", most=200, least=9, good=20, rank=1),  # an end date: "31 Dec 26"
            id=id,
        )
        self.is_at_rest = True
        """Whether no session is running the plan at the moment."""
        self._steps = steps
        self._now_ms = now_ms
        self._locks: Mapping[int, OnLock] = {}
        self._places: Mapping[int, int] = {}
        self._shortens = False
        self._texts: Mapping[int, Set[str]] = {column: frozenset({""}) for column in _NAMES}
        """Maps each column in ``_NAMES`` to the set of its texts; never empty."""
        self._forms: Mapping[int, Mapping[str, str]] = {}
        """Maps a column to short forms of the texts that would equal other texts if they were cut
        at the end."""

    def show_steps(
        self, numbers: Sequence[int], locks: Mapping[int, OnLock], *, shortens: bool
    ) -> None:
        """Replace the rows. The same step stays selected.

        Args:
            numbers: The numbers of the steps to show, in order.
            locks: The locks by ID.
            shortens: Whether any step shortens access.
        """
        self._locks, self._shortens = locks, shortens
        self.hidden = frozenset({_LOCK} if len(locks) == 1 else ())  # the header names it
        self._places = {number: place for place, number in enumerate(numbers)}
        self._texts = self._collect_texts([self._steps[number] for number in numbers])
        self.show(LazyRows({str(number): number for number in numbers}, self._cells))

    def begin_run(self) -> None:
        """Make room for the results of a run, which are longer than the actions."""
        if self.is_at_rest:
            self.is_at_rest = False
            self.measure_again()

    def repaint(self, number: int) -> None:
        """Repaint the row of a step whose state has changed, if the table shows the step."""
        if (place := self._places.get(number)) is not None:
            self.refresh_lines(place + TITLES)

    @property
    def current(self) -> Step | None:
        """The selected step; None in an empty table."""
        return None if self.highlighted is None else self.step(int(self.highlighted))

    def step(self, number: int) -> Step:
        """Return a step with the state to show.

        If no session is running the plan, a sent step without a result is unconfirmed.
        """
        step = self._steps[number]
        return at_rest(step) if self.is_at_rest else step

    def widest(self) -> Sequence[int]:
        """Return the width of each column's longest content, without creating all cells."""
        widths = {column: max(map(cell_len, texts)) for column, texts in self._texts.items()}
        steps = [self.step(number) for number in self._places]
        words = {self._word(step) for step in steps}
        if self._shortens and any(step.state is StepState.TO_DO for step in steps):
            words.add(_SHORTENS)
        if not self.is_at_rest:  # the columns stay where they are while the results come
            words.update(_STATES.values())
        icons = 1 + any(step.action is Action.UPDATE for step in steps)
        step = max(map(len, words), default=0)
        return 1, step, icons, widths[_REMOTE], widths[_NUMBER], widths[_LOCK], 200

    def _collect_texts(self, steps: Sequence[Step]) -> Mapping[int, Set[str]]:
        """Return the set of safe texts for each column in ``_NAMES``; no set is empty."""
        names = [step_name(step) for step in steps]
        locks = {self._locks[lock_id].title for lock_id in {step.lock_id for step in steps}}
        texts = ({name for name, _ in names}, {number or "" for _, number in names}, locks)
        return {
            column: {clean(text, LONGEST_CELL) for text in (*some, "")}
            for column, some in zip(_NAMES, texts, strict=True)
        }

    def _fill(self, cursor: int) -> None:
        super()._fill(cursor)
        self._forms = {
            column: cut_apart(texts, self._widths[column])
            for column, texts in self._texts.items()
            if column in self._widths
        }

    def signs(self, row: int) -> Mapping[int, Sequence[Piece]]:
        """Return styled texts of a row by column index: icons, and a warning or a problem."""
        step = self.step(int(self._keys[row]))
        states = dict.fromkeys(filter(None, step_states(step, self._now_ms)))
        icons = [(state.sign, state.look) for state in states]
        signs = {_STATE: [*icons, (" " * (self._widths.get(_STATE, 0) - len(icons)), "")]}
        if step.state is StepState.TO_DO and step.is_planned and self._shortens:
            zone = self._locks[step.lock_id].zone
            if describe_step_shortening(step, zone, self._now_ms):
                signs[_STEP] = [(self._fit_step(_SHORTENS), RemoteState.WEEK.look)]
        elif step.state in LOOKS and not step.is_left_out:
            signs[_STEP] = [(self._fit_step(self._word(step)), LOOKS[step.state])]
        elif step.state is StepState.TO_DO and step.is_planned and step.action in _ACTION_LOOKS:
            look = _ACTION_LOOKS[step.action]
            signs[_GLYPH] = [(ACTION_GLYPHS[step.action], look)]
            signs[_STEP] = [(self._fit_step(self._word(step)), look)]
        return signs

    def _fit_step(self, word: str) -> str:
        """Return a word in the width of the column for steps."""
        width = self._widths[_STEP]
        return cut(word, width).ljust(width)

    def _word(self, step: Step) -> str:
        """Return the word for a step's result, or for its action if there is no result yet."""
        if step.is_left_out:
            return f"! {LEFT_OUT}"
        if step.action is Action.KEEP and step.state is StepState.UNCHANGED:
            return _WORDS[step.action]
        return _STATES.get(step.state) or _WORDS[step.action]

    def _cells(self, number: int) -> tuple[str, ...]:
        step = self.step(number)
        name, remote_number = step_name(step)
        lock = self._locks[step.lock_id]
        shown = (clean(one, LONGEST_CELL) for one in (name, remote_number or "", lock.title))
        names = (
            self._forms.get(column, {}).get(text, text)
            for column, text in zip(_NAMES, shown, strict=True)
        )
        room = self._widths.get(_WHAT, 0)
        what = what_of(step, lock, self._now_ms, room) if room else ""
        return ACTION_GLYPHS[step.action], self._word(step), "", *names, what


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
    return f"{format_step(step)}, {clean(lock.title, LONGEST_CELL)}{line}: {'; '.join(parts)}"


def what_of(step: Step, lock: OnLock, now_ms: int, room: int = 0) -> str:
    """Return why a step was not done, or otherwise the values that it changes.

    Args:
        step: The step.
        lock: The lock of the step.
        now_ms: The current time in milliseconds.
        room: The maximum width in cells, or 0 for no limit. If no text is short enough, the caller
            cuts the shortest text.
    """
    if step.message and step.state not in DUE:
        return clean(step.message, 400)
    text = ""
    for text in shorten_step(step, lock.zone, now_ms):
        if not room or cell_len(text) <= room:
            break
    return text
