"""The base class of every list screen: a table, its empty state, a search field, and marks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content

from lockterm.domain.marks import Marks
from lockterm.errors import LocktermError, NoSuchRunError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.screens.base import LocktermScreen, ResultT
from lockterm.widgets.data_status import KeyOffers, StatePanel
from lockterm.widgets.header_footer import KeyLine
from lockterm.widgets.line_table import TITLES, LineTable
from lockterm.widgets.row_table import RowTable
from lockterm.widgets.text_input import FindLine

if TYPE_CHECKING:
    from lockterm.domain.locks import Lock
    from lockterm.domain.plan import Step

MARKING = frozenset({"mark", "mark_range", "mark_all", "unmark_all", "act_on_marked"})
"""The names of the actions on marks, and of the action that offers commands on marked rows."""

ON_MARKED = {"renew": "renew marked", "delete": "delete marked", "copies": "copy marked"}
"""Maps actions to their labels while remotes are marked. The actions then apply to the marked
remotes."""


class ListScreen(LocktermScreen[ResultT]):
    """A screen with a table, which shows an empty state if the table has no rows.

    A subclass composes the screen, reads the rows in a worker, and shows them with ``paint``.

    Args:
        operations: The operations on the service and the local store.
        table: The table with the rows.
        marks: The marked rows. Rows that are no longer shown stay marked. None if rows cannot be
            marked. A subclass with marks overrides :attr:`rows_to_mark`.
    """

    row_action: ClassVar[str] = "open"
    """The name of the action that a click on the selected row runs."""

    keeps_titles: ClassVar[bool] = False
    """Whether the table stays visible without rows, with the empty state below its column
    titles."""

    on_marked: ClassVar[Mapping[str, str]] = ON_MARKED
    """Maps actions to their labels while rows are marked. The actions then apply to the marked
    rows."""

    def __init__(
        self,
        operations: Operations,
        table: LineTable,
        marks: Marks[Any, Any] | None = None,
    ) -> None:
        super().__init__(operations)
        self.table = table
        """The table with the rows."""
        self.marks: Marks[Any, Any] = Marks() if marks is None else marks
        """The marked rows; always empty if rows cannot be marked."""
        self._plans: dict[str, int] = {}
        """Maps the ID of each unfinished plan to ``marks.count`` when the plan was made."""

    def compose_list(self) -> ComposeResult:
        """Compose the table and the empty state, which is shown until the table has rows."""
        self.table.display = self.keeps_titles
        yield self.table
        yield StatePanel(self.describe_empty()[0], id="state")

    # --- for subclasses to override ------------------------------------------------------------

    @abstractmethod
    def paint(self) -> None:
        """Show the current rows, and the lines that describe them."""

    @property
    def has_rows(self) -> bool:
        """Whether the table has rows."""
        return self.table.row_count > 0

    def describe_empty(self) -> tuple[str, KeyOffers]:
        """Return the text of the empty state, and the keys that the user can press next."""
        return "", {}

    def describe_title(self) -> str:
        """Return the title for the frame of the table, without control characters."""
        count = self.table.row_count
        return f"{self.breadcrumbs()[-1]} {count:,}" if count else self.breadcrumbs()[-1]

    def describe_titles(self) -> Sequence[str]:
        """Return titles for the frame of the table, the longest first."""
        return (self.describe_title(),)

    def describe_rows(self) -> None:
        """Update the lines below the table."""

    def follow_cursor(self) -> None:
        """Update everything that depends on the selected row."""
        self.describe_rows()

    def sort_rows(self) -> None:
        """Sort the rows by the clicked column."""
        self.paint()

    def search_for(self, text: str) -> None:
        """Show only the rows that match the search text, or all rows if the text is empty."""

    # --- table, empty state, search field ------------------------------------------------------

    def show_list(self) -> None:
        """Show the table, or the empty state if it has no rows."""
        state, has_rows = self.query_one(StatePanel), self.has_rows
        titles = self.describe_titles()
        self.table.show_titles(titles)
        state.border_title = Content(titles[-1])
        self.table.display, state.display = has_rows or self.keeps_titles, not has_rows
        if not has_rows:
            state.say(*self.describe_empty())
        elif self.focused is None:
            self.table.focus()

    def write_again(self) -> None:
        self.paint()

    def action_find(self) -> None:
        """Open the search field."""
        self.query_one(FindLine).open()

    def edits_search(self, event: events.Key) -> bool:
        """Return whether a key edits the search text, and therefore need not wait for results."""
        return self.query_one(FindLine).types(event)

    @on(LineTable.Moved)
    def _cursor_moved(self) -> None:
        self.follow_cursor()

    @on(LineTable.Chosen)
    async def _row_clicked(self) -> None:
        if reason := self.disabled_reason(self.row_action):
            self.notify(reason, title="Open")
            return
        await self.run_action(f"screen.{self.row_action}")

    @on(RowTable.Resorted)
    def _title_clicked(self) -> None:
        self.sort_rows()

    @on(FindLine.Changed)
    def _text_typed(self, event: FindLine.Changed) -> None:
        self.search_for(event.value)

    @on(FindLine.Left)
    def _find_line_left(self) -> None:
        self.table.focus()

    # --- for subclasses with marks to override -------------------------------------------------

    @property
    def rows_to_mark(self) -> Sequence[Any]:
        """The displayed rows from top to bottom, as the type that ``marks`` contains."""
        return ()

    @property
    def row_to_mark(self) -> Any | None:
        """The selected row, as the type that ``marks`` contains; None if it cannot be marked."""
        return None

    @property
    def rows_shown(self) -> Sequence[Any]:
        """The displayed rows, except perhaps unmarked rows.

        ``marks`` counts each marked row outside of these rows as "not shown".
        """
        return self.rows_to_mark

    @property
    def cursor_place(self) -> int:
        """The index of the selected row in ``rows_to_mark``; -1 if the row is not included."""
        return self.table.cursor_row

    @property
    def locks(self) -> Mapping[int, Lock]:
        """Maps lock IDs to locks, for the locks of the rows."""
        return {self.lock_entry.lock_id: self.lock_entry} if self.lock_entry is not None else {}

    def key_of_step(self, step: Step) -> Hashable | None:
        """Return the key of the row that a step of a plan changes; None if no row matches."""
        return None

    # --- the footer ----------------------------------------------------------------------------

    @property
    def first_keys(self) -> Sequence[str]:
        return ("mark", *self.on_marked, "act_on_marked", "unmark_all") if self.marks else ()

    def verb_now(self, action: str) -> str:
        """Return the current label of an action; empty for its usual label."""
        if self.marks and action in self.on_marked:
            return self.on_marked[action]
        return "restore marks" if action == "unmark_all" and self.marks.may_bring_back else ""

    def is_offered(self, action: str) -> bool:
        return action not in ("act_on_marked", "unmark_all") or not self.why_no_mark(action)

    def why_no_mark(self, action: str) -> str:
        """Return why a mark action is disabled; empty if it is enabled."""
        if self.marks or action not in MARKING:
            return ""
        if action == "mark_range":
            return with_keys("First press {marks.mark} to mark the first row of the range.")
        if action == "act_on_marked" or (action == "unmark_all" and not self.marks.may_bring_back):
            return with_keys("Nothing marked. Press {marks.mark} to mark a row.")
        return ""

    # --- actions -------------------------------------------------------------------------------

    def action_mark(self) -> None:
        """Mark or unmark the selected row, and move to the next row."""
        if (row := self.row_to_mark) is not None:
            self.marks.toggle(row)
            self.table.refresh_lines(self.table.cursor_row + TITLES)  # no other row has changed
            self._show_mark_count()
            self.table.action_cursor_down()

    def action_mark_range(self) -> None:
        """Mark all rows between the last marked row and the selected row."""
        if not self.marks.mark_range(self.rows_to_mark, self.cursor_place):
            reason = "A range starts at the last marked row, but that row is not shown now."
            self.notify(reason, title="Mark range")
        self.show_marks()

    def action_mark_all(self) -> None:
        """Mark or unmark all displayed rows."""
        rows = self.rows_to_mark
        self.marks.toggle_all(rows)
        if without := sum(not self.marks.may_have(row) for row in rows):
            warning = f"Rows without a usable ID cannot be marked: {without:,}."
            self.notify(warning, title="Mark all")
        self.show_marks()

    def action_unmark_all(self) -> None:
        """Unmark all rows, displayed or not. If no row is marked, restore the last marks."""
        if self.marks:
            hint = with_keys("Press {marks.none} to mark them again.")
            self.notify(f"Rows unmarked: {self.marks.clear():,}. {hint}", title="Unmark all")
        else:
            self.marks.bring_back()
        self.show_marks()

    def show_marks(self) -> None:
        """Update the marks of all rows, the number of marked rows, and the footer."""
        self.table.refresh()
        self._show_mark_count()

    def _show_mark_count(self) -> None:
        self.describe_rows()
        self.query_one(KeyLine).show_keys()

    # --- plans of marked rows ------------------------------------------------------------------

    def note_plan(self, plan_id: str) -> None:
        """Remember a plan for marked rows, so that rows of finished steps are unmarked later."""
        self._plans[plan_id] = self.marks.count

    def unmark_done(self) -> None:
        """Unmark the rows whose steps are finished, except rows that were marked again."""
        if self._plans and self.marks:
            self.run_alone(self._drop_done, "outcomes")

    async def _drop_done(self) -> None:
        last = [*self._plans][-1]
        for plan_id, mark_count in [*self._plans.items()]:
            try:
                plan = await self.operations.runs.find(plan_id)
            except NoSuchRunError:  # the user did not confirm the run, or has not done so yet
                if plan_id != last:
                    self._plans.pop(plan_id, None)
                continue
            except LocktermError:  # the plan's screen shows the error
                return
            keys = (self.key_of_step(step) for step in plan.steps if step.is_done)
            self.marks.drop_keys([key for key in keys if key is not None], mark_count)
            if not plan.is_due:
                self._plans.pop(plan_id, None)
        self.show_marks()
