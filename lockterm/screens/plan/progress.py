"""The progress of a run in a large terminal: a bar, the rate, the time left, and the counts."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content
from textual.widget import Widget

from lockterm.domain import glyphs
from lockterm.domain.plan import PROBLEMS
from lockterm.domain.run import Run
from lockterm.domain.text.run import FINAL_STATES, STEP_WORDS, describe_pace
from lockterm.screens.plan.table import LOOKS
from lockterm.widgets.parts import Part, join_parts


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
    words = f"  {100 * done // max(due, 1):>3} %  {done:,} of {due:,} done"
    # The bar keeps its length during the run, so that only a few cells change.
    room = max(width - len(words) - len(", 99,999 a minute, about 99 min left"), 10)
    full, light = glyphs.bar_cells()
    cells = room * done // max(due, 1)
    yield full * cells, "bold"
    yield light * (room - cells), "dim"
    yield words, "bold"
    yield f", {pace}" if pace else "", ""


def _badges(run: Run) -> Iterator[Part]:
    """Yield the counts as badges; those of problems are reversed, in the color of the state."""
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
