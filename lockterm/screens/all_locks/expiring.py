"""The screen "Expiring": the remotes of all locks by end date, and a chart of the next days."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from rich.cells import cell_len, set_cell_size
from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static

from lockterm import screens
from lockterm.domain import dates, glyphs
from lockterm.domain.listing import ListPosition, Timeline, split_needle
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import describe_unreadable_periods, format_count
from lockterm.domain.text.service import describe_read_only
from lockterm.domain.validity import RemoteState
from lockterm.operations import Operations
from lockterm.operations.all_locks import LockRead
from lockterm.operations.planner import PlanDraft
from lockterm.screens.all_locks.base import AllLocksScreen
from lockterm.screens.all_locks.lock_lists import EMPTY_BOOK
from lockterm.screens.all_locks.table import OnLock, problem_rows
from lockterm.widgets.actions import bindings
from lockterm.widgets.cells import Part, cut, join_parts
from lockterm.widgets.data_status import KeyOffers

_HIGH = 36
"""The minimum terminal height in lines at which the chart appears without a key press, if the
terminal is too small for frames."""


@dataclass(frozen=True, slots=True)
class Span:
    """A period of end dates. The screen shows only remotes that end in this period."""

    words: str
    first_days: int | None
    """When the period begins, in days from the current time; None for no limit."""
    last_days: int
    """When the period ends, in days from the current time."""

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

TIMELINE_DAYS = 34
"""The number of days for which expiring remotes are counted.

The number is greater than 30, because locks in different time zones have different dates for today,
and because a day may be an hour shorter."""


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
        self._timeline = Timeline(0, (), TIMELINE_DAYS)
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

    def find_matches(self) -> Iterator[OnLock | None]:
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
        timeline = Timeline(now_ms, set(zones.values()), TIMELINE_DAYS)
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

    def describe_no_match(self) -> tuple[str, KeyOffers]:
        lock_lists = self.lock_lists
        if not lock_lists.locks:
            return EMPTY_BOOK, {"Esc": "back"}
        what = f"that {self.span.verb} " if self.span is not SPANS[0] else ""
        if self.asked_for:
            return f"No remote {what}matches {' and '.join(self.asked_for)}.", {"Esc": "show all"}
        if lock_lists.is_reading and lock_lists.unread:
            return "No remote found so far.", {"Esc": "back"}
        if lock_lists.unread == len(lock_lists.locks):
            offers = {"{everywhere.read}": "read all locks", "Esc": "back"}
            return "No lock has been read yet.", offers
        if self.span is SPANS[0]:
            return "No remote has expired, and none expires within 30 days.", {"Esc": "back"}
        return f"No remote {self.span.verb}.", {"{ends.next}": "next span", "Esc": "back"}

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
        """Place the chart, and show how many remotes end on each of the next days."""
        self._place_days()
        lock_lists, first = self.lock_lists, self._timeline.first
        ends = [
            (lock_lists.locks[lock_id].lock.title, counts)
            for lock_id, counts in self._timeline.by_first_day()
            if lock_id in lock_lists.locks  # the lock may have been removed
        ]
        now = dates.local(self.operations.now_ms(), self.operations.profile.zone)
        days = ExpiryCounts(first, now.date() if now else first, ends, lock_lists.unread)
        for chart in (self._days, self._days_pane):
            if chart.display:
                chart.days = days

    def on_resize(self) -> None:
        """Show or hide the chart of days, depending on the terminal's new size."""
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
        self.start_search(top=True)

    def action_next(self) -> None:
        self._choose(1)

    def action_timeline(self) -> None:
        """Show or hide the chart of days."""
        self._has_days = not self._shows_days
        self._show_days()

    def action_previous(self) -> None:
        self._choose(-1)


Ends = tuple[str, Sequence[int]]
"""The title of a lock, and for each day the number of its remotes that expire on that day."""


def sum_ends(ends: Sequence[Ends]) -> list[int]:
    """Return the number of remotes that expire on each day, summed over all locks."""
    sums = [sum(day) for day in zip(*(counts for _, counts in ends), strict=True)]
    return sums or [0] * TIMELINE_DAYS


@dataclass(frozen=True, slots=True)
class ExpiryCounts:
    """The number of remotes that expire on each of the next days, for the chart."""

    first: date | None = None
    """The first day; None if there are no locks."""
    today: date | None = None
    """Today in the time zone of the profile, which may differ by a day from other time zones."""
    ends: Sequence[Ends] = ()
    """The locks that have expiring remotes, each with the number of such remotes for each day. The
    lock with the earliest end date comes first."""
    unread: int = 0
    """The number of locks whose remotes are unknown, because lockterm has not read these locks."""


DAYS_AHEAD = 31
"""The number of days in the chart: today and the next 30 days. Later days appear only if a lock in
another time zone needs them."""

LEAST_LINES, MOST_LINES = 4, 10
"""The minimum and the maximum height of the highest bar, in lines."""

_AROUND_BARS = 5
"""The number of lines of the panel for the axis, weekdays, dates and title, and a blank line."""

_WEEK = 7
"""The number of days from today whose bars have the color of remotes that expire soon."""

_FIRST, _COUNT = 9, 8
"""The widths of the columns with the first day and the number of remotes, in cells."""


class DaysPane(Widget):
    """A panel with a bar for each of the next days, and the locks with remotes that expire."""

    days: reactive[ExpiryCounts] = reactive(ExpiryCounts(), init=False)

    def watch_days(self, days: ExpiryCounts) -> None:
        count = sum(sum_ends(days.ends))
        self.border_title = Content(f"Next 30 days {count:,}" if count else "Next 30 days")

    def render(self) -> Content:
        shown, (width, height) = self.days, self.content_size
        if shown.first is None or shown.today is None:
            return Content("")
        parts: list[Part] = []
        left = height - bool(shown.unread)
        if shown.ends:
            lines = min(max(left - _AROUND_BARS - len(shown.ends), LEAST_LINES), MOST_LINES)
            parts += _chart(shown.first, shown.today, sum_ends(shown.ends), lines, width)
            parts += _locks(shown, left - _AROUND_BARS - lines, width)
        elif not shown.unread:
            parts.append(("No remote expires within 30 days.\n", "dim"))
        if shown.unread:
            words = f"{format_count(shown.unread, 'lock')} not read yet"
            parts.append((f"{words}\n", "dim"))
        return join_parts(parts, self.app.theme_variables)


def _chart(
    first: date, today: date, counts: Sequence[int], lines: int, width: int
) -> Iterator[Part]:
    """Yield the bars with a scale on their left, and the weekdays and dates below them.

    Args:
        first: The day of the first bar.
        today: The day to mark as today.
        counts: The number of remotes that expire on each day.
        lines: The height of the highest bar, in lines.
        width: The width of the chart, in cells.
    """
    most = max(counts)
    margin = len(f"{most:,}") + 1
    last = max(day for day, count in enumerate(counts) if count)
    days = min(max(DAYS_AHEAD, last + 1), width - margin)
    side, corner, floor = ("|", "+", "-") if glyphs.are_ascii() else ("│", "└", "─")
    soon = min(max((today - first).days, 0) + _WEEK, days)
    for line in reversed(range(lines)):
        label = f"{most:,}" if line == lines - 1 else ""
        yield f"{label:>{margin - 1}}{side}", "dim"
        yield _level(counts[:soon], most, line, lines), RemoteState.WEEK.look
        yield f"{_level(counts[soon:days], most, line, lines)}\n", RemoteState.MONTH.look
    yield f"{0:>{margin - 1}}{corner}{floor * days}\n", "dim"
    yield " " * margin, ""
    for number in range(days):
        day = first + timedelta(days=number)
        look = "bold reverse" if day == today else "dim" if day.weekday() > 4 else ""
        yield "MTWTFSS"[day.weekday()], look
    yield f"\n{' ' * margin}{_dates(first, today, days)}\n", "dim"


def _level(counts: Sequence[int], most: int, line: int, lines: int) -> str:
    """Return one line of text of the chart, which is a slice through all bars at one height.

    Args:
        counts: The number of remotes for each bar.
        most: The number of remotes of the highest bar.
        line: The index of the line, counted from the axis.
        lines: The height of the highest bar, in lines.
    """
    signs = " #" if glyphs.are_ascii() else " ▁▂▃▄▅▆▇█"
    steps = len(signs) - 1
    heights = (-(-count * lines * steps // most) - line * steps for count in counts)
    return "".join(signs[min(max(height, 0), steps)] for height in heights)


def _dates(first: date, today: date, days: int) -> str:
    """Return a line with ``today`` and the dates of later Mondays, each below the day's bar."""
    text, month = "", today.month
    for number in range(days):
        day = first + timedelta(days=number)
        if day < today or (day > today and (day.weekday() or number <= len(text))):
            continue
        label = "today" if day == today else str(day.day)
        if day.month != month:
            label, month = f"{label} {dates.MONTHS[day.month - 1]}", day.month
        if number + len(label) <= days:
            text = text.ljust(number) + label
    return text


def _locks(shown: ExpiryCounts, most: int, width: int) -> Iterator[Part]:
    """Yield a line per lock: name, first day with expiring remotes, number of these remotes.

    Args:
        shown: The numbers of expiring remotes.
        most: The maximum number of lines. The last line sums up the locks that have no line.
        width: The width of a line, in cells.
    """
    assert shown.first is not None
    if most < 1:
        return
    room = width - _FIRST - _COUNT
    yield f"\n{'Lock':<{room}}{'First':<{_FIRST}}{'30 days':>{_COUNT}}\n", "dim"
    named = shown.ends if len(shown.ends) <= most else shown.ends[: most - 1]
    for title, counts in named:
        day = shown.first + timedelta(next(day for day, count in enumerate(counts) if count))
        when = "today" if day == shown.today else f"{day.day} {dates.MONTHS[day.month - 1]}"
        name = set_cell_size(cut(clean(title, 60), room - 1), room)
        yield f"{name}{when:<{_FIRST}}{sum(counts):>{_COUNT},}\n", ""
    if rest := shown.ends[len(named) :]:
        words = format_count(len(rest), "other lock")
        yield f"{words:<{room + _FIRST}}{sum(sum_ends(rest)):>{_COUNT},}\n", ""


LABEL = 10
"""The minimum width of the labels at the start of the lines, in cells."""

MORE = "^"
"""The character in place of a number that is too wide. It differs from the icons of all states."""

MOST_LOCKS = 10
"""The maximum number of locks that have their own line."""

_LOW = 18
"""The maximum terminal height, in lines, without room for a lock. Each two additional lines make
room for the line of one lock."""


class DaysToCome(Widget):
    """A chart with a bar and the number of expiring remotes for each of the next days.

    In a high terminal, the locks with the earliest end dates also have their own lines.
    """

    days: reactive[ExpiryCounts] = reactive(ExpiryCounts(), init=False)

    def watch_days(self) -> None:
        if self._height != self.content_size.height:
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._height

    @property
    def _height(self) -> int:
        return 3 + len(self._shown)

    @property
    def _shown(self) -> Sequence[Ends]:
        """The locks with their own line. If not all locks fit, the last entry sums up the rest."""
        most = min(max(self.app.size.height - _LOW, 0) // 2, MOST_LOCKS)
        ends = self.days.ends
        if min(len(ends), most) < 2:
            return ()
        if len(ends) <= most:
            return ends
        rest = ends[most - 1 :]
        return [*ends[: most - 1], (format_count(len(rest), "other lock"), sum_ends(rest))]

    def render(self) -> Content:
        if (first := self.days.first) is None:
            return Content("")
        width, sums = self.content_size.width, sum_ends(self.days.ends)
        cells = min(max((width - LABEL) // TIMELINE_DAYS, 1), 3)
        room = max(width - cells * TIMELINE_DAYS, 0)
        lines = [
            ("day", _ruler(first, cells)),
            (f"peak {max(sums):,}", bars(sums, cells)),
            (f"all {sum(sums):,}", numbers(first, sums, cells)),
            *((clean(title, 60), numbers(first, ends, cells)) for title, ends in self._shown),
        ]
        return Content("\n".join(_labeled(label, room) + text for label, text in lines))


def _labeled(label: str, room: int) -> str:
    shown = cut(label, room - 1)
    return shown + " " * (room - cell_len(shown))


def _ruler(first: date, cells: int) -> str:
    """Return labels for the first day and each Monday: ``23 Nov  30       7 Dec``.

    A label has the name of the month only if the month has changed.

    Args:
        first: The first day.
        cells: The width of a day in cells.
    """
    text, shown_month = "", 0
    for number in range(TIMELINE_DAYS):
        day = first + timedelta(days=number)
        at = number * cells + cells - 1  # above the last cell of its column
        if (number and day.weekday()) or (text and at <= len(text)):
            continue
        month = f" {dates.MONTHS[day.month - 1]}" if day.month != shown_month else ""
        label = f"{day.day}{month}"
        if at + len(label) <= TIMELINE_DAYS * cells:
            text, shown_month = text.ljust(at) + label, day.month
    return text


def bars(counts: Sequence[int], cells: int) -> str:
    """Return one bar per day, scaled to the busiest day.

    Args:
        counts: The number of remotes that expire on each day.
        cells: The width of a day in cells.
    """
    most = max(counts)
    drawn = (glyphs.bar(count, most) if count else "" for count in counts)
    return "".join(bar.rjust(cells) for bar in drawn)


def numbers(first: date, counts: Sequence[int], cells: int) -> str:
    """Return one line with the number of remotes for each day.

    :data:`MORE` replaces a number that does not fit. A working day without a number gets a dot.

    Args:
        first: The first day.
        counts: The number of remotes that expire on each day.
        cells: The width of a day in cells.
    """
    text = ""
    for number, count in enumerate(counts):
        is_weekend = (first.weekday() + number) % 7 > 4
        sign = "" if is_weekend else glyphs.nothing()
        if count:
            sign = str(count) if len(str(count)) <= max(cells - 1, 1) else MORE
        text += sign.rjust(cells)
    return text
