"""The panel in a large terminal that lists the steps with problems, below all steps of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from lockterm.domain.plan import PROBLEMS, Step, StepState
from lockterm.domain.safe_text import clean
from lockterm.domain.text.plan import format_step
from lockterm.domain.text.run import format_step_state
from lockterm.keymap.hints import with_keys
from lockterm.screens.plan.table import LOOKS
from lockterm.widgets.cells import cut
from lockterm.widgets.parts import Part, join_parts

MOST = 6
"""The maximum number of lines; the last line counts the steps that have no line."""

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
        """Show the steps with problems; the panel is hidden if there are none.

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
