"""The table of a plan's steps, and the panels with the progress and the problems of its run.

The table creates cells only for visible rows. Only large terminals show the panels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import tzinfo

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from lockterm.domain import glyphs
from lockterm.domain.plan import ACTION_GLYPHS, DUE, PROBLEMS, Action, Run, Step, StepState, at_rest
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.text.plan import (
    describe_step_notes,
    describe_step_shortening,
    format_step,
    shorten_step,
    step_name,
    step_states,
)
from lockterm.domain.text.run import (
    FINAL_STATES,
    LEFT_OUT,
    STEP_WORDS,
    describe_pace,
    format_step_state,
)
from lockterm.domain.validity import RemoteState
from lockterm.keymap.hints import with_keys
from lockterm.widgets.cells import Part, cut, cut_apart, join_parts
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
"""Maps the state of a step to the text that the table shows.

The text of a problem begins with ``!`` or ``?``, so that the user sees it without colors.
"""
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
        """Maps columns to mappings of full texts to short forms, for the texts that would equal
        other texts if they were cut at the end."""

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
        """Make the step column wide enough for results, which are longer than the actions."""
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
        """Return a word, cut or padded to the width of the column for steps."""
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
        is_due: Whether the step may still be sent. If so, the text includes the warnings about it.
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


class PlanProgress(Widget):
    """Two lines about a run: a bar with the rate and the time left, and counts by state."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown: tuple[int, int, str, list[Part]] | None = None
        """The numbers of done and due steps, the rate with the time left, and the badges; None if
        no run is shown."""
        self.display = False

    def show_run(self, run: Run | None) -> None:
        """Show the progress of a run, or hide the widget if the run is None.

        The widget is repainted only if a value has changed.
        """
        shown = None
        if run is not None:
            shown = run.done, run.due, describe_pace(run), [*_badges(run)]
        self.display = run is not None
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def render(self) -> Content:
        if self._shown is None:
            return Content("")
        done, due, pace, badges = self._shown
        bar = _bar(done, due, pace, self.content_size.width)
        return join_parts([*bar, ("\n", ""), *badges], self.app.theme_variables)


def _bar(done: int, due: int, pace: str, width: int) -> Iterator[Part]:
    label = f"  {100 * done // max(due, 1):>3} %  {done:,} of {due:,} done"
    # The bar keeps its length during the run, so that only a few cells change.
    room = max(width - len(label) - len(", 99,999 steps/min, about 99 min left"), 10)
    full, light = glyphs.bar_cells()
    cells = room * done // max(due, 1)
    yield full * cells, "bold"
    yield light * (room - cells), "dim"
    yield label, "bold"
    yield f", {pace}" if pace else "", ""


def _badges(run: Run) -> Iterator[Part]:
    """Yield the number of steps in each state as a badge.

    Badges of problems have reversed colors.
    """
    counts = run.counts()
    for state in FINAL_STATES:
        if counts[state]:
            look = f"{LOOKS[state]} reverse" if state in PROBLEMS else "bold"
            yield f" {counts[state]:,} {STEP_WORDS[state]} ", look
            yield " ", ""
    left = run.left - run.under_way
    others = {"under way": run.under_way, "verifying": run.reading, "left": left}
    for words, count in others.items():
        if count > 0:
            yield f" {count:,} {words} ", ""


MOST_LINES = 6
"""The maximum number of lines in the panel of problems. If there are more problems, the last line
has the number of the steps without a line."""

_RESULT_CELLS = 15
"""The width of a step's result and the gap after it, in cells."""

_NAME_CELLS = 26
"""The maximum width of the name of a remote or of a lock, in cells."""


class ProblemsPane(Widget):
    """A panel with a line for each step that has a problem: result, remote and reason."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._steps: Sequence[Step] = ()
        self._titles: Mapping[int, str] = {}
        self.display = False

    def show_steps(self, steps: Iterable[Step], titles: Mapping[int, str]) -> None:
        """Show the steps with problems, or hide the panel if there are none.

        Args:
            steps: Steps with and without problems, in order.
            titles: The raw title of each lock by ID, which may contain control characters.
        """
        steps = [step for step in steps if step.state in PROBLEMS]
        if (steps, titles) == (self._steps, self._titles):
            return
        is_as_high = min(len(steps), MOST_LINES) == min(len(self._steps), MOST_LINES)
        self._steps, self._titles = steps, titles
        self.display = bool(steps)
        self.border_title = Content(f"Problems {len(steps):,}")
        self.refresh(layout=not is_as_high)

    def is_whole(self, step: Step) -> bool:
        """Return whether the panel shows a step with its full reason."""
        if not self.display or step not in self._shown:
            return False
        return cell_len(self._format(step)) <= self.content_size.width - _RESULT_CELLS

    @property
    def _shown(self) -> Sequence[Step]:
        """The steps that have their own line."""
        return self._steps if len(self._steps) <= MOST_LINES else self._steps[: MOST_LINES - 1]

    def _format(self, step: Step) -> str:
        who = cut(format_step(step), _NAME_CELLS)  # the reason matters more than the whole name
        where = cut(clean(self._titles.get(step.lock_id, ""), 40), _NAME_CELLS)
        return f"{who}, {where}: {clean(step.message, 400)}"

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(len(self._steps), MOST_LINES)

    def render(self) -> Content:
        width, parts = self.content_size.width, list[Part]()
        for step in self._shown:
            sign = "?" if step.state is StepState.UNKNOWN else "!"
            result = f"{sign} {format_step_state(step)}"
            parts.append((f"{result:<{_RESULT_CELLS}}", LOOKS[step.state]))
            parts.append((f"{cut(self._format(step), width - _RESULT_CELLS)}\n", ""))
        if more := len(self._steps) - len(self._shown):
            parts.append(
                (with_keys(f"{more:,} more; {{plan.problems}} shows only problems"), "dim")
            )
        return join_parts(parts, self.app.theme_variables)
