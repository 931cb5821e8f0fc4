"""The HTML page of ``lockterm report --html``: remotes by state and lock, end dates, changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo

from lockterm.domain import dates
from lockterm.domain.listing import Listing, Timeline
from lockterm.domain.locks import Lock
from lockterm.domain.markup import (
    NO_NUMBER,
    Html,
    fact_table,
    join,
    page,
    paragraph,
    section,
    table,
)
from lockterm.domain.operation import IN_FLIGHT, RECORDED, UNCONFIRMED, WITHOUT_EFFECT, HistoryLine
from lockterm.domain.remotes import CALL_NAMES
from lockterm.domain.text.amount import describe_age, format_count
from lockterm.domain.validity import RemoteState, StateFilter, count_states

DAYS = 90
"""Number of days from today for which the page shows how many remotes end on each day."""

_WIDTH, _HEIGHT = 900, 180
"""Width and height of the chart, in units of its SVG."""
_LEFT, _TOP, _BOTTOM = 50, 12, 24
"""Space for labels on the left, above and below the bars, in units of the chart's SVG."""
_LABEL_DAYS = 15
"""Number of days from one label of the chart to the next."""

_RESULTS = {
    "Recorded": RECORDED,
    "Unconfirmed": UNCONFIRMED | IN_FLIGHT,
    "Refused or not sent": WITHOUT_EFFECT,
}
"""Maps the title of a column to the operation states that the column counts. A further column
counts all other states."""


@dataclass(frozen=True, slots=True)
class LockReport:
    """A lock in the report, with its list of remotes if there is one."""

    lock: Lock
    zone: tzinfo
    listing: Listing | None
    """The list whose remotes are counted. If lockterm could not read the lock, this is the last
    stored list; None if there is none."""
    problem: str = ""
    """Why lockterm could not read the lock completely; empty if it could."""


@dataclass(frozen=True, slots=True)
class Report:
    """The data that the page of ``lockterm report --html`` shows."""

    profile: str
    zone: tzinfo
    """The time zone of the profile, for times that do not belong to a lock."""
    now_ms: int
    """The current time by the clock of the service, in milliseconds."""
    machine_ms: int
    """The current time by the clock of this machine, in milliseconds."""
    locks: Sequence[LockReport]
    changes: Sequence[HistoryLine]
    """The changes that this machine sent since ``since_ms``."""
    since_ms: int
    """The earliest time of the changes, in milliseconds."""


def render_report(report: Report) -> bytes:
    """Return the page as the content of an HTML file."""
    counts = {
        one.lock.lock_id: count_states(one.listing.remotes(), report.now_ms)
        for one in report.locks
        if one.listing is not None
    }
    states = {state: sum(count[state] for count in counts.values()) for state in RemoteState}
    unread = [one for one in report.locks if one.problem]
    facts = [
        ("Date", dates.day_time(report.now_ms, report.zone, exact=False)),
        ("Profile", report.profile),
        ("Time zone", str(report.zone)),
        ("Locks read", f"{len(report.locks) - len(unread):,} of {len(report.locks):,}"),
        ("Remotes", f"{sum(states.values()):,}"),
    ]
    return page(
        f"Remotes of {report.profile}",
        fact_table(facts),
        *([_show_unread(unread)] if unread else []),
        _show_states(states),
        _show_ends(report),
        _show_locks(report, counts, [state for state in RemoteState if states[state]]),
        _show_changes(report),
    )


def _show_unread(unread: Sequence[LockReport]) -> Html:
    rows = [
        (
            one.lock.title,
            str(one.lock.lock_id),
            one.problem,
            "not counted" if one.listing is None else "counted as last read",
        )
        for one in unread
    ]
    return section("Locks not read", table(("Lock", "ID", "Reason", "Remotes"), rows))


def _show_states(states: Mapping[RemoteState, int]) -> Html:
    most = max(states.values())
    rows = [
        (state.meaning, count, _draw_bar(count, most)) for state, count in states.items() if count
    ]
    if not rows:
        return section("Remotes by state", paragraph("There are no remotes."))
    titles = ("State", "Remotes", "")
    return section("Remotes by state", paragraph("Each remote counts once."), table(titles, rows))


def _show_locks(
    report: Report, counts: Mapping[int, Counter[StateFilter]], states: Sequence[RemoteState]
) -> Html:
    rows: list[tuple[object, ...]] = []
    for one in report.locks:
        lock = one.lock.title, str(one.lock.lock_id)
        if one.listing is None:
            rows.append((*lock, *[NO_NUMBER] * (len(states) + 1), "not read"))
            continue
        count = counts[one.lock.lock_id]
        age = describe_age(one.listing.at_ms, report.machine_ms, changed=one.listing.changed)
        rows.append((*lock, one.listing.count, *(count[state] for state in states), age))
    titles = ("Lock", "ID", "Remotes", *(state.word for state in states), "List")
    return section("Remotes by lock", table(titles, rows))


# --- ends by day ---------------------------------------------------------------------------------


def _show_ends(report: Report) -> Html:
    first, counts = count_ends(report)
    title = f"Remotes that expire in the next {DAYS} days"
    if not any(counts):
        return section(title, paragraph("None."))
    weeks = [
        (f"{first + timedelta(at)} to {first + timedelta(min(at + 6, DAYS - 1))}", sum(week))
        for at in range(0, DAYS, 7)
        if (week := counts[at : at + 7])
    ]
    text = f"{format_count(sum(counts), 'remote')}, each on its last day, in the zone of its lock."
    return section(
        title, paragraph(text), _draw_days(first, counts), table(("Days", "Remotes"), weeks)
    )


def count_ends(report: Report) -> tuple[date, list[int]]:
    """Return today's date, and for each of :data:`DAYS` days the number of remotes that end on it.

    If today's date differs between the time zones of the locks and the profile, the earliest of
    these dates is returned.
    """
    zones = {report.zone, *(one.zone for one in report.locks)}
    timeline = Timeline(report.now_ms, zones, DAYS)
    until_ms = report.now_ms + (DAYS + 2) * dates.DAY_MS  # no zone is more than a day away
    for one in report.locks:
        for end_ms, _ in one.listing.ending(until_ms) if one.listing is not None else ():
            timeline.add(one.lock.lock_id, one.zone, end_ms)
    sums = [sum(day) for day in zip(*timeline.counts.values(), strict=True)]
    return timeline.first or date(1970, 1, 1), sums or [0] * DAYS


def _draw_days(first: date, counts: Sequence[int]) -> Html:
    """Return a chart with a bar for each day. The table below it has the same numbers as text."""
    most, slot = max(counts), (_WIDTH - _LEFT) / len(counts)
    base = _HEIGHT - _BOTTOM
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Remotes by last day">',
        *(
            f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{y}" y2="{y}"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{number:,}</text>'
            for y, number in ((_TOP, most), (base, 0))
        ),
    ]
    for day, count in enumerate(counts):
        x, name = _LEFT + day * slot, first + timedelta(day)
        if count:
            height = max((base - _TOP) * count / most, 1)
            parts.append(
                f'<rect x="{x:.1f}" y="{base - height:.1f}" width="{slot * 0.8:.1f}"'
                f' height="{height:.1f}"><title>{name}: {count:,}</title></rect>'
            )
        if day % _LABEL_DAYS == 0:
            parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 6}">{name}</text>')
    return Html("\n".join([*parts, "</svg>"]))


def _draw_bar(count: int, most: int) -> Html:
    return Html(
        '<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{100 * count / max(most, 1):.1f}" height="1"/></svg>'
    )


# --- changes -------------------------------------------------------------------------------------


def _show_changes(report: Report) -> Html:
    day = dates.day_time(report.since_ms, report.zone, exact=False)
    text = paragraph(f"Sent from this machine since {day}. Others may have sent more.")
    if not report.changes:
        return section("Changes", text, paragraph("None."))
    by_kind: dict[str, list[HistoryLine]] = {}
    by_lock: dict[int, list[HistoryLine]] = {}
    for line in report.changes:
        kind = "restore" if line.restores is not None else CALL_NAMES.get(line.call, line.call)
        by_kind.setdefault(kind, []).append(line)
        by_lock.setdefault(line.lock_id, []).append(line)
    titles = (*_RESULTS, "Dismissed or sent again")
    names = {
        **{number: Lock(number, name=some[0].lock_name).title for number, some in by_lock.items()},
        **{one.lock.lock_id: one.lock.title for one in report.locks},
    }
    kinds = table(("Change", *titles), [(name, *_sum(lines)) for name, lines in by_kind.items()])
    rows = [(names[lock_id], str(lock_id), *_sum(lines)) for lock_id, lines in by_lock.items()]
    locks = table(("Lock", "ID", *titles), rows)
    return section("Changes", text, join(kinds, Html("<p></p>"), locks))


def _sum(lines: Sequence[HistoryLine]) -> tuple[int, ...]:
    counts = [sum(line.state in states for line in lines) for states in _RESULTS.values()]
    return (*counts, len(lines) - sum(counts))
