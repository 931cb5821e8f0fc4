"""The progress of a run in a large terminal: a bar, the rate, the time left, and the counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from lockterm.domain import glyphs
from lockterm.domain.plan import PROBLEMS, StepState
from lockterm.domain.run import Run
from lockterm.domain.text.amount import format_duration
from lockterm.domain.text.run import FINAL_STATES, STEP_WORDS, format_rate
from lockterm.screens.plan.table import LOOKS
from lockterm.widgets.parts import Part, join_parts


@dataclass(frozen=True, slots=True)
class Progress:
    """The values that :class:`PlanProgress` shows."""

    done: int
    """The number of steps to send that have a certain result."""
    due: int
    """The number of steps to send."""
    left: int
    """The number of steps to send that have no result, and are not under way."""
    counts: Mapping[StepState, int]
    """The number of steps in each state, for the states in which steps can end."""
    under_way: int
    """The number of steps that were sent and have no result yet."""
    reading: int
    """The number of unconfirmed steps that are being verified."""
    pace: str
    """The rate and the time left, as text; empty until they are known."""

    @classmethod
    def of(cls, run: Run) -> Progress:
        """Return the current progress of a run."""
        states, pace = run.counts(), ""
        if run.left and (per_s := run.per_s):
            pace = f"{format_rate(per_s)}, about {format_duration(run.left / per_s)} left"
        counts = {state: states[state] for state in FINAL_STATES if states[state]}
        left = run.left - run.under_way
        return cls(run.done, run.due, left, counts, run.under_way, run.reading, pace)


class PlanProgress(Widget):
    """Two lines about a run: a bar with the rate and the time left, and counts by state."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._progress: Progress | None = None
        self.display = False

    def show_run(self, run: Run | None) -> None:
        """Show the progress of a run, or hide the widget if the run is None.

        The widget is repainted only if a value has changed.
        """
        progress = None if run is None else Progress.of(run)
        self.display = progress is not None
        if progress != self._progress:
            self._progress = progress
            self.refresh()

    def render(self) -> Content:
        if self._progress is None:
            return Content("")
        width = self.content_size.width
        parts = [*_bar(self._progress, width), ("\n", ""), *_badges(self._progress)]
        return join_parts(parts, self.app.theme_variables)


def _bar(progress: Progress, width: int) -> Iterator[Part]:
    done, due = progress.done, progress.due
    words = f"  {100 * done // max(due, 1):>3} %  {done:,} of {due:,} done"
    pace = f", {progress.pace}" if progress.pace else ""
    # The bar keeps its length during the run, so that only a few cells change.
    room = max(width - len(words) - len(", 99,999 a minute, about 99 min left"), 10)
    full, light = glyphs.bar_cells()
    cells = room * done // max(due, 1)
    yield full * cells, "bold"
    yield light * (room - cells), "dim"
    yield words, "bold"
    yield pace, ""


def _badges(progress: Progress) -> Iterator[Part]:
    """Yield the counts as badges; those of problems are reversed, in the color of the state."""
    for state, count in progress.counts.items():
        look = f"{LOOKS[state]} reverse" if state in PROBLEMS else "bold"
        yield f" {count:,} {STEP_WORDS[state]} ", look
        yield " ", ""
    others = {"under way": progress.under_way, "verifying": progress.reading}
    others["left"] = progress.left
    for words, count in others.items():
        if count > 0:
            yield f" {count:,} {words} ", ""
