"""What the keys do that mark rows of a table, whatever the rows are of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from lockterm.domain.marks import Marks
from lockterm.keymap.hints import with_keys
from lockterm.screens.base import LocktermScreen

MARKING = frozenset({"mark", "mark_range", "mark_all", "unmark_all", "act_on_marked"})
"""Actions that mark, and the one that is for what is marked alone."""

ON_MARKED = {"renew": "renew marked", "delete": "delete marked", "copies": "copy marked"}
"""Actions that are for the marked remotes where some are marked -> what they do then."""

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")


class Marking(Generic[K, R]):
    """Marks a range, all, none; says why it cannot, and what keys do while some are marked.

    Args:
        screen: The screen whose keys they are.
        marks: Which rows are marked.
        rows: Tells the rows that are shown, from top to bottom.
        cursor: Tells which of them the cursor stands on, from 0; -1: on none.
        changed: Called when others are marked.
        verbs: Actions that are for the marked rows where some are marked -> what they do then.
    """

    def __init__(
        self,
        screen: LocktermScreen[Any],
        marks: Marks[K, R],
        rows: Callable[[], Sequence[R]],
        cursor: Callable[[], int],
        changed: Callable[[], None],
        verbs: Mapping[str, str],
    ) -> None:
        self._screen = screen
        self._marks = marks
        self._rows = rows
        self._cursor = cursor
        self._changed = changed
        self._verbs = verbs

    # --- what the keys are ---------------------------------------------------------------------

    @property
    def first_keys(self) -> Sequence[str]:
        """What stands first in the line of keys now."""
        return ("mark", *self._verbs, "act_on_marked", "unmark_all") if self._marks else ()

    def verb_now(self, action: str) -> str:
        """What a key does now; empty: what it always does."""
        if self._marks and action in self._verbs:
            return self._verbs[action]
        return "mark again" if action == "unmark_all" and self._marks.may_bring_back else ""

    def is_offered(self, action: str) -> bool:
        """Whether a key is there now: what is for marked rows alone is so where some are marked."""
        return action not in ("act_on_marked", "unmark_all") or not self.why_not(action)

    def why_not(self, action: str) -> str:
        """Why an action can do nothing now, as a sentence; empty: it can."""
        if self._marks or action not in MARKING:
            return ""
        if action == "mark_range":
            return with_keys("Mark a first one with {marks.mark}: a range begins at it.")
        if action == "act_on_marked" or (action == "unmark_all" and not self._marks.may_bring_back):
            return with_keys("Nothing is marked: {marks.mark} marks.")
        return ""

    # --- what they do --------------------------------------------------------------------------

    def mark_range(self) -> None:
        """Mark from the one that was marked last to the cursor."""
        if not self._marks.mark_range(self._rows(), self._cursor()):
            words = "The one that was marked last is not shown here: a range begins at it."
            self._screen.notify(words, title="Mark range")
        self._changed()

    def mark_all(self) -> None:
        """Mark all that is shown, or unmark it."""
        rows = self._rows()
        self._marks.toggle_all(rows)
        if without := sum(not self._marks.may_have(row) for row in rows):
            words = f"{without:,} without a usable id cannot be marked."
            self._screen.notify(words, title="Mark all")
        self._changed()

    def unmark_all(self) -> None:
        """Unmark all, shown or not; or take that back."""
        if self._marks:
            words = with_keys("{marks.none} marks them again.")
            self._screen.notify(f"{self._marks.clear():,} unmarked. {words}", title="Unmark all")
        else:
            self._marks.bring_back()
        self._changed()
