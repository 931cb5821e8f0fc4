"""The screen "Expiring": the remotes of all locks by end date, and a chart of the next days."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from lockterm import screens
from lockterm.domain import dates
from lockterm.domain.listing import ListPosition, split_needle
from lockterm.domain.text.amount import describe_unreadable_periods
from lockterm.domain.text.service import describe_read_only
from lockterm.domain.timeline import Timeline
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.operations.everywhere import LockRead
from lockterm.operations.planner import PlanDraft
from lockterm.screens.everywhere.all_locks import AllLocksScreen
from lockterm.screens.everywhere.days import DaysPane, DaysShown, DaysToCome
from lockterm.screens.everywhere.lock_lists import EMPTY_BOOK
from lockterm.screens.everywhere.table import OnLock, problem_rows
from lockterm.widgets.actions import bindings
from lockterm.widgets.find_line import FindLine

_HIGH = 36
"""The minimum terminal height in lines at which the chart appears without a key press, if the
terminal is too small for frames."""


@dataclass(frozen=True, slots=True)
class Span:
    """A period of end dates. The screen shows only remotes that end in this period."""

    words: str
    first_days: int | None
    """The first day of the period, in days from today; None for no limit."""
    last_days: int
    """The last day of the period, in days from today."""

    @property
    def verb(self) -> str:
        """The period as the verb of a sentence, for example ``expires within 7 days``."""
        return f"has {self.words}" if self.words == "expired" else f"expires {self.words}"


SPANS = (
    Span("all", None, 30),
    Span("expired", None, 0),
    Span("within 7 days", 0, 7),
    Span("within 30 days", 0, 30),
)


class ExpiringScreen(AllLocksScreen):
    """The screen "Expiring".

    It lists the remotes that expire next, then the expired remotes, most recently expired first.

    Args:
        operations: The operations on the service and the local store.
    """

    BINDINGS = bindings("ends")

    columns = ("sign", "end", "when", "lock", "who", "number", "days", "state", "read")
    reads_first = True

    def __init__(self, operations: Operations) -> None:
        super().__init__(operations)
        self.span = SPANS[0]
        """The period of end dates that the screen shows."""
        self._counts = [0] * len(SPANS)
        self._timeline = Timeline(0, ())
        self._has_days: bool | None = None
        """Whether the chart of days is shown; None to decide by the terminal's size."""
        self._days = DaysToCome(id="days")
        self._days_pane = DaysPane(id="days-pane")

    def breadcrumbs(self) -> tuple[str, ...]:
        """Return the breadcrumbs for the header, which name no lock."""
        return ("Expiring",)

    def compose_body(self) -> ComposeResult:
        yield Static(id="spans", markup=False)
        self._place_days()  # before the first layout, which measures the columns
        yield self._days
        yield from super().compose_body()

    def compose_beside(self) -> ComposeResult:
        yield self._days_pane

    def search(self) -> Iterator[OnLock | None]:
        lock_lists, now_ms, needed = (
            self.lock_lists,
            self.operations.now_ms(),
            split_needle(self.needle),
        )
        borders = (
            [
                (-(2**63) if span.first_days is None else now_ms + span.first_days * dates.DAY_MS)
                for span in SPANS
            ],
            [now_ms + span.last_days * dates.DAY_MS for span in SPANS],
        )
        found, counts = list[tuple[int, int, ListPosition, LockRead]](), [0] * len(SPANS)
        shown = SPANS.index(self.span)
        # Get each zone once, because an unknown zone name causes a search on the disk every time.
        named = {one.lock.zone: one.lock for one in lock_lists.locks.values()}
        zones = {name: self.operations.zone(lock) for name, lock in named.items()}
        timeline = Timeline(now_ms, set(zones.values()))
        for lock_id, one in lock_lists.locks.items():
            yield None
            if one.listing is None:
                continue
            having = set(one.listing.find(needed)) if needed else None
            for end, place in one.listing.ending(borders[1][0]):
                if having is not None and place not in having:
                    continue
                timeline.add(lock_id, zones[one.lock.zone], end)
                for index, (first, last) in enumerate(zip(*borders, strict=True)):
                    if first < end <= last:
                        counts[index] += 1
                        if index == shown:
                            found.append((end, one.place, place, one))
        self._counts, self._timeline = counts, timeline
        found.sort(key=lambda each: (each[0] <= now_ms, abs(each[0] - now_ms), each[1:3]))
        for _, _, place, one in found:
            if one.listing is not None:
                read = lock_lists.short_age(one.listing)
                yield OnLock(one.lock, zones[one.lock.zone], read, one.listing, place)
        for one in lock_lists.locks.values():
            count = one.listing.unreadable_periods if one.listing is not None else 0
            if count and not needed:
                problem = describe_unreadable_periods(count)
                yield OnLock(one.lock, zones[one.lock.zone], problem=problem)
        yield from problem_rows(lock_lists, self.operations)

    def describe_no_match(self) -> tuple[str, str]:
        lock_lists = self.lock_lists
        if not lock_lists.locks:
            return EMPTY_BOOK, "Esc  back"
        what = f"that {self.span.verb} " if self.span is not SPANS[0] else ""
        if self.asked_for:
            return f"No remote {what}matches {' and '.join(self.asked_for)}.", "Esc  show all"
        if lock_lists.is_reading and lock_lists.unread:
            return "No remote found so far.", "Esc  back"
        if lock_lists.unread == len(lock_lists.locks):
            return "No lock has been read yet.", with_keys(
                "{everywhere.read}  read all locks      Esc  back"
            )
        if self.span is SPANS[0]:
            return "No remote has expired, and none expires within 30 days.", "Esc  back"
        return f"No remote {self.span.verb}.", with_keys("{ends.next}  next span      Esc  back")

    def _describe_spans(self) -> Content:
        parts = []
        for span, count in zip(SPANS, self._counts, strict=True):
            words = f"{span.words} {count:,}"
            is_shown = span is self.span
            parts.append((f"[{words}]", "bold") if is_shown else (f" {words} ", "dim"))
        return Content(" ").join(Content.styled(*part) for part in parts)

    def describe_row(self) -> None:
        super().describe_row()
        self.query_one("#spans", Static).update(self._describe_spans(), layout=False)
        self._show_days()

    @property
    def _shows_days(self) -> bool:
        if self._has_days is not None:
            return self._has_days
        return self.has_class("-framed") or self.app.size.height >= _HIGH

    def _place_days(self) -> None:
        """Show the chart beside the rows if there is room for frames, otherwise above the rows."""
        is_beside = self.has_class("-framed")
        self._days.display = self._shows_days and not is_beside
        self._days_pane.display = self._shows_days and is_beside

    def _show_days(self) -> None:
        """Update the numbers of the next days in the chart."""
        self._place_days()
        days, pane, lock_lists = self._days, self._days_pane, self.lock_lists
        ends = [
            (lock_lists.locks[lock_id].lock.title, counts)
            for lock_id, counts in self._timeline.by_first_day()
            if lock_id in lock_lists.locks  # the lock may have been removed
        ]
        if days.display:
            days.show_days(self._timeline.first, ends)
        if pane.display:
            today = dates.local(self.operations.now_ms(), self.operations.profile.zone)
            first = self._timeline.first
            pane.show_days(
                DaysShown(first, today.date() if today else first, ends, lock_lists.unread)
            )

    def on_resize(self) -> None:
        """Show or hide the chart of days, because it depends on the terminal's size."""
        self.call_after_refresh(self._show_days)

    # --- actions -------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        if action != "clean":
            return super().disabled_reason(action)
        if self.operations.profile.read_only:
            return describe_read_only(self.operations.profile.name, "Nothing can be deleted")
        return self.disabled_reason("read")  # both actions need a lock in the book

    def action_clean(self) -> None:
        """Ask how long ago remotes must have expired, and show the plan that deletes them."""
        self.app.push_screen(screens.CleanModal(self.operations), self._show_cleaning)

    def _show_cleaning(self, draft: PlanDraft | None) -> None:
        if draft is not None:
            self.note_plan(draft.plan.id)
            self.app.push_screen(screens.PlanScreen(draft))

    def _choose(self, by: int) -> None:
        self.span = SPANS[(SPANS.index(self.span) + by) % len(SPANS)]
        self.find(top=True)

    def action_next(self) -> None:
        self._choose(1)

    def action_timeline(self) -> None:
        """Show or hide the chart of days."""
        self._has_days = not self._shows_days
        self._show_days()

    def action_previous(self) -> None:
        self._choose(-1)

    def action_back(self) -> None:
        """Clear the search, or else the filter, or else the marks.

        If there is nothing to clear, go back.
        """
        if self.needle:
            self.query_one(FindLine).action_close()
        else:
            super().action_back()
