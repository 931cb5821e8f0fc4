"""The panels of a run in a large terminal: its progress, and the steps with problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from lockterm.domain import glyphs
from lockterm.domain.plan import PROBLEMS, Step, StepState
from lockterm.domain.run import Run
from lockterm.domain.safe_text import clean
from lockterm.domain.text.plan import format_step
from lockterm.domain.text.run import FINAL_STATES, STEP_WORDS, describe_pace, format_step_state
from lockterm.keymap.hints import with_keys
from lockterm.screens.plan.table import LOOKS
from lockterm.widgets.cells import Part, cut, join_parts


class PlanProgress(Widget):
    """Two lines about a run: a bar with the rate and the time left, and counts by state."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown: tuple[int, int, str, list[Part]] | None = None
        """The numbers of done and due steps, the rate with the time left, and the badges."""
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


MOST = 6
"""The maximum number of lines. The last line counts the steps that have no line."""

_STATE = 15
"""The width of a step's result and the gap after it, in cells."""


_NAME = 26
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
        is_as_high = min(len(steps), MOST) == min(len(self._steps), MOST)
        self._steps, self._titles = steps, titles
        self.display = bool(steps)
        self.border_title = Content(f"Problems {len(steps):,}")
        self.refresh(layout=not is_as_high)

    def is_whole(self, step: Step) -> bool:
        """Return whether the panel shows a step with its full reason."""
        if not self.display or step not in self._shown:
            return False
        return cell_len(self._format(step)) <= self.content_size.width - _STATE

    @property
    def _shown(self) -> Sequence[Step]:
        """The steps that have their own line."""
        return self._steps if len(self._steps) <= MOST else self._steps[: MOST - 1]

    def _format(self, step: Step) -> str:
        who = cut(format_step(step), _NAME)  # the reason matters more than the whole name
        where = cut(clean(self._titles.get(step.lock_id, ""), 40), _NAME)
        return f"{who}, {where}: {clean(step.message, 400)}"

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(len(self._steps), MOST)

    def render(self) -> Content:
        width, parts = self.content_size.width, list[Part]()
        for step in self._shown:
            sign = "?" if step.state is StepState.UNKNOWN else "!"
            parts.append((f"{sign} {format_step_state(step):<{_STATE - 2}}", LOOKS[step.state]))
            parts.append((f"{cut(self._format(step), width - _STATE)}\n", ""))
        if more := len(self._steps) - len(self._shown):
            parts.append(
                (with_keys(f"{more:,} more; {{plan.problems}} shows only problems"), "dim")
            )
        return join_parts(parts, self.app.theme_variables)
