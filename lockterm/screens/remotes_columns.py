"""The columns of the remotes screen: chosen in a dialog, kept for the next session."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, cast

from lockterm.errors import LocktermError
from lockterm.screens.remotes_paging import RemotesPaging
from lockterm.text import clean
from lockterm.widgets.remote_columns import AS_USUAL, Arrangement
from lockterm.widgets.remotes_table import RemotesTable

if TYPE_CHECKING:
    from lockterm.choices import Choices
    from lockterm.models.remotes import Remote

KEPT_AS = "remotes.table"
"""What the file of choices calls it: one for all profiles and locks, as eyes and terminal are."""


class _Keeping(Protocol):
    choices: Choices


class RemotesColumns(RemotesPaging):
    """Which columns there are, in which order, and what the rows are sorted by.

    A sort is kept too: the pager says it at all times, and every action names its remote.
    """

    arrangement = AS_USUAL
    """What was chosen."""

    @abstractmethod
    def show_arrangement(self) -> None:
        """Paint the table anew, and say what it is sorted by."""

    def read_arrangement(self) -> None:
        """Take over what was chosen earlier."""
        self.arrangement = Arrangement.read(self._choices.get(KEPT_AS))

    def ordered(self, remotes: Sequence[Remote]) -> Sequence[Remote]:
        """Sorted as it was chosen; else as the service has them."""
        order = self.arrangement.order
        if order is None:
            return remotes
        from lockterm.widgets.remote_order import sorted_remotes

        return sorted_remotes(remotes, order, self.operations.now_ms(), self._zone)

    def action_table(self) -> None:
        """Choose, order and sort the columns."""
        from lockterm.screens.columns_modal import ColumnsModal

        table = self.query_one(RemotesTable)
        self.app.push_screen(ColumnsModal(self.arrangement, table.left_out), self.use_arrangement)

    def use_arrangement(self, chosen: Arrangement | None) -> None:
        """Show the table so, and keep it; what cannot be kept holds for this session."""
        if chosen is None or chosen == self.arrangement:
            return
        self.arrangement = chosen
        self.show_arrangement()
        try:
            self._choices.keep(KEPT_AS, chosen.as_kept())
        except (LocktermError, OSError) as error:
            why = error.message if isinstance(error, LocktermError) else f"{error}."
            self.notify(
                f"The columns hold until lockterm ends; they were not kept: {clean(why, 300)}",
                title="Columns not kept",
                severity="warning",
                timeout=12,
            )

    @property
    def _choices(self) -> Choices:
        return cast(_Keeping, self.app).choices
