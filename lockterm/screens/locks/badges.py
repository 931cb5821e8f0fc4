"""The line of badges about the selected lock, for terminals too small for the side panel.

The module is separate from :mod:`lockterm.screens.locks.pane`, because every start of lockterm
needs this module but not the screens of the history, which the panel imports.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from lockterm.domain import dates
from lockterm.domain.listing import Ends
from lockterm.domain.remote_states import sum_up
from lockterm.domain.text.amount import describe_age
from lockterm.domain.validity import RemoteState
from lockterm.widgets.cells import Part, join_parts

_DIGITS = 4
"""The width of a number, in cells."""


class LockBadges(Widget):
    """A line with the last known states of a lock's remotes, and its unconfirmed changes."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._parts: list[Part] = []
        self._ages: Sequence[str] = ("",)
        """Texts for the age of the counts, the longest first. The line shows the first text that
        fits."""
        self.display = False

    def show_lock(self, ends: Ends | None, unconfirmed: int, now_ms: int) -> None:
        """Show the numbers of remotes of a lock by state, or an empty line if no list is stored.

        Args:
            ends: The numbers of remotes in the lock's last list; None if no list is stored.
            unconfirmed: The number of unconfirmed changes of the lock.
            now_ms: The current time in milliseconds.
        """
        parts, ages = list[Part](), [""]
        if unconfirmed:
            text = f"{RemoteState.UNCLEAR.sign} {unconfirmed:,} unconfirmed  "
            parts.append((text, RemoteState.UNCLEAR.look))
        if ends is not None:
            for state, count, word in sum_up(ends.counts):
                # The widths stay, so that a cursor key often sends only the other digits.
                parts.append((state.sign, state.look))
                counted = f"{count:,} {word}".ljust(_DIGITS + len(word))
                parts.append((f" {counted}  ", ""))
            if not ends.counts:
                parts.append(("no remotes  ", ""))
            at_ms = now_ms if now_ms - ends.at_ms < dates.MINUTE_MS else ends.at_ms
            shorter = ["before your change"] if ends.changed else []
            ages = [describe_age(at_ms, now_ms, changed=ends.changed), *shorter, ""]
        if (parts, ages) != (self._parts, self._ages):
            self._parts, self._ages = parts, ages
            self.refresh()

    def render(self) -> Content:
        counts = join_parts(self._parts, self.app.theme_variables)
        room = self.content_size.width - counts.cell_length
        age = next((age for age in self._ages if cell_len(age) <= room), "")
        return Content.assemble(counts, age)
