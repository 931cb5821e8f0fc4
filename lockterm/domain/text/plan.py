"""Texts about plans and the effects of their steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any

from lockterm.domain import rules
from lockterm.domain.dates import UnknownZone
from lockterm.domain.glyphs import ellipsis
from lockterm.domain.plan import DUE, MOST_UNTYPED, Action, Plan, Step
from lockterm.domain.reading import in_sentence
from lockterm.domain.remotes import ADDED, FIELDS, UPDATED, Remote, RemoteType
from lockterm.domain.safe_text import clean, seen_or
from lockterm.domain.shortening import (
    Shortening,
    describe_added_access,
    describe_shortening,
    find_shortening,
)
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.remote import Difference, find_differences, format_name, format_value
from lockterm.domain.text.validity import (
    OPENS_ALWAYS,
    describe_never_opens,
    describe_period,
    shorten_period,
    shorten_start,
)
from lockterm.domain.validity import RemoteState, state_by_dates, state_of
from lockterm.errors import LocktermError

_NAMED = 3
"""Maximum number of locks, remotes or values that a sentence lists."""

MOST_LISTED = 50
"""Maximum number of remotes that a confirmation lists. The plan lists all of them."""

WITHOUT_ACCESS = "without access"
"""The key in ``Plan.skipped`` for the number of table rows that give access at no lock."""

_DATES = {FIELDS[name].label: name for name in ("startDate", "endDate")}

_PERIOD = {*_DATES, *(FIELDS[name].label for name in ("remoteType", "weekDay"))}
"""The labels of the fields that determine when a remote opens its lock."""

_TODO = {
    Action.ADD: "to add",
    Action.UPDATE: "to change",
    Action.DELETE: "to delete",
    Action.VOICE: "to get a new voice",
}


def describe_plan(plan: Plan) -> str:
    """Return a summary of a plan, such as ``2 to add, 1 to delete, 3 skipped (name taken)``."""
    counts = plan.actions()
    parts = [f"{counts[action]:,} {text}" for action, text in _TODO.items() if counts[action]]
    skipped = describe_skipped(plan)
    if not parts and not skipped:
        return "Nothing to change."
    return ", ".join([*(parts or ["Nothing to change"]), *skipped])


def describe_skipped(plan: Plan) -> list[str]:
    """Return a text such as ``3 skipped (name taken)`` for each reason why a plan skips remotes."""
    counts = {**plan.skipped, "name taken": sum(step.is_name_taken for step in plan.steps)}
    return [_describe_count(reason, count) for reason, count in counts.items() if count]


def _describe_count(reason: str, count: int) -> str:
    if reason == WITHOUT_ACCESS:
        return f"{format_count(count, 'row')} {reason}"
    return f"{count:,} skipped ({reason})"


def describe_none_expired(
    days: int,
    plan: Plan,
    unread: Sequence[tuple[str, LocktermError]],
    *,
    is_none_read: bool = False,
) -> str:
    """Return sentences about a plan to delete expired remotes that has no steps.

    Args:
        days: The minimum number of days since a remote expired.
        plan: The plan, which has no steps.
        unread: Pairs of title and error, for the locks that lockterm could not read completely.
        is_none_read: Whether lockterm could read none of the locks.
    """
    where = " on the locks that lockterm read" if unread else ""
    words = f"No remotes expired more than {format_count(days, 'day')} ago{where}."
    if is_none_read:
        words = ""
    if skipped := describe_skipped(plan):
        words += f" {', '.join(skipped)}."
    if unread:
        reasons = {in_sentence(error.title) for _, error in unread}
        why = reasons.pop() if len(reasons) == 1 else ""
        named = [
            clean(title, 40) + ("" if why else f" ({in_sentence(error.title)})")
            for title, error in unread[:_NAMED]
        ]
        more = f" and {len(unread) - _NAMED:,} more" if len(unread) > _NAMED else ""
        lead = "lockterm could not read any lock" if is_none_read else "Locks not read"
        words += f" {lead}: {', '.join(named)}{more}{f' ({why})' if why else ''}."
    return clean(words.strip(), 400)


def describe_work(plan: Plan, cost: str) -> str:
    """Return a summary of a plan, followed by its cost if the plan sends any request.

    Args:
        plan: The plan.
        cost: The number of requests and their duration, in words.
    """
    summary = describe_plan(plan)
    if not has_work(plan):
        return summary
    return f"{summary}. {cost}" if describe_skipped(plan) else f"{summary}: {cost}"


def grants_access(step: Step, now_ms: int) -> bool:
    """Return whether a step adds a remote, or makes an expired remote valid again."""
    if step.action is Action.ADD:
        return True
    before = Remote.read(step.before)
    wanted = Remote.read({**step.before, **step.wanted})
    return step.action is Action.UPDATE and rules.opens_again(before, wanted, now_ms)


def count_to_type(steps: Iterable[Step], now_ms: int) -> int:
    """Return the number that the user must type to confirm steps; 0 if a key is enough.

    The result is the sum of the number of deletes and the number of remotes that get access. Each
    of these numbers counts only if it is greater than ``MOST_UNTYPED``.
    """
    counts = Counter[bool]()
    for step in steps:
        if step.action is Action.DELETE or grants_access(step, now_ms):
            counts[step.action is Action.DELETE] += 1
    return sum(count for count in counts.values() if count > MOST_UNTYPED)


def has_work(plan: Plan) -> bool:
    """Return whether the plan sends any request."""
    return any(step.is_left for step in plan.steps)


def step_name(step: Step) -> tuple[str, str | None]:
    """Return the name and the number of a step's remote.

    Name and number may contain control characters. The number is None if it is unknown. If the
    remote has no name, the name is ``remote`` with the ID or the number, and the number is None.

    A step that sets a voice has no remote, so its name is ``voice``.
    """
    if step.action is Action.VOICE:
        return "voice", None
    number = step.wanted.get("remoteNumber", step.before.get("remoteNumber"))
    shown = number if isinstance(number, str) else None
    if not seen_or(step.remote_name, ""):
        return f"remote {step.remote_id or shown or ''}".strip(), None
    return step.remote_name, shown


def step_states(step: Step, now_ms: int) -> tuple[RemoteState | None, RemoteState | None]:
    """Return the state of a step's remote before the step, and its state after the step.

    The state before the step follows from the dates and, if the service sent it, the status. The
    state after the step follows from the dates alone. A state is None if there is no remote: before
    an add, after a delete, and for a voice.
    """
    if step.action is Action.VOICE:
        return None, None
    if step.action is Action.ADD:
        return None, state_by_dates(Remote.read(step.wanted), now_ms)
    before, after = step_remotes(step)
    find_state = state_of if "status" in step.before else state_by_dates
    now = find_state(before, now_ms) if step.before else None
    if step.action is Action.UPDATE:
        return now, state_by_dates(after, now_ms)
    return now, now if step.action is Action.KEEP else None


def step_remotes(step: Step) -> tuple[Remote, Remote]:
    """Return the remote of a step as it is before the step, and as it will be after the step."""
    before = Remote.read(step.before)
    return before, rules.effective(before, Remote.read({**step.before, **step.wanted}))


def format_step(step: Step) -> str:
    """Return the name and the number of a step's remote, safe to show."""
    return format_name(*step_name(step))


def describe_step(step: Step, zone: tzinfo, now_ms: int) -> list[str]:
    """Return lines about the effect of a step: the period of a new remote, or the changed fields.

    Args:
        step: The step. For a delete, the lines describe the remote to delete.
        zone: The time zone of the lock.
        now_ms: Now, in milliseconds.
    """
    before = Remote.read(step.before)
    match step.action:
        case Action.ADD:
            lines = [clean(describe_period(Remote.read(step.wanted), now_ms, zone))]
            if extra := step.wanted.get("extraData"):
                lines.append(f"Extra data: {format_value(FIELDS['extraData'], extra, zone)}")
            return lines
        case Action.UPDATE | Action.VOICE:
            counted = [clean(step.message, 300)] if step.message and step.state in DUE else []
            return [*(str(one) for one in _changes(step, zone)), *counted]
        case Action.DELETE:
            return [clean(describe_period(before, now_ms, zone))]
        case Action.KEEP:
            return [clean(step.message, 300)] if step.message else []


def _changes(step: Step, zone: tzinfo) -> list[Difference]:
    """Return the differences that a step makes to a remote or to a voice."""
    if step.action is Action.VOICE:
        return [Difference("Voice", _format_voice(step.before), _format_voice(step.wanted))]
    before, after = step_remotes(step)
    fields = [one for one in ADDED if one in UPDATED or one.name in step.wanted]
    return find_differences(before, after, zone, fields)


def shorten_step(step: Step, zone: tzinfo, now_ms: int) -> Iterator[str]:
    """Yield texts about the effect of a step, each for a narrower column than the text before.

    The first text has all lines of :func:`describe_step`. The next texts leave out the old values,
    then the names of fields, and then everything but the end date. If the change moves the start of
    access, the start date remains instead of the end date.

    Args:
        step: The step.
        zone: The time zone of the lock.
        now_ms: Now, in milliseconds.
    """
    lines = describe_step(step, zone, now_ms)
    yield "; ".join(lines)
    before, after = step_remotes(step)
    match step.action:
        case Action.ADD | Action.DELETE:
            remote = Remote.read(step.wanted) if step.action is Action.ADD else before
            more = f"; {ellipsis()}" if len(lines) > 1 else ""
            yield from (f"{period}{more}" for period in shorten_period(remote, now_ms, zone))
        case Action.UPDATE | Action.VOICE:
            changes = _changes(step, zone)
            yield "; ".join(f"{one.label} -> {one.after}" for one in changes)
            if changes and {one.label for one in changes} <= _PERIOD:
                is_more = len(lines) > len(changes)
                forms = shorten_period(after, now_ms, zone)
                if _begins_otherwise(before, after, now_ms):
                    has_end = not is_more and {one.label for one in changes} == _DATES.keys()
                    forms = shorten_start(after, now_ms, zone, has_end=has_end)
                    is_more = is_more or (len(changes) > 1 and not has_end)
                more = f"; {ellipsis()}" if is_more else ""
                periods = [f"{one}{more}" for one in forms]
                yield from (f"-> {period}" for period in periods)
                yield periods[-1]
            elif len(changes) == 1:
                yield f"-> {changes[0].after}"


def _begins_otherwise(before: Remote, after: Remote, now_ms: int) -> bool:
    """Return whether a change moves the beginning of a remote's future access.

    The result is false if the remote becomes permanent.
    """
    starts = [
        now_ms if one.remote_type == RemoteType.PERMANENT else max(one.start_ms or 0, now_ms)
        for one in (before, after)
    ]
    return starts[0] != starts[1] and after.remote_type != RemoteType.PERMANENT


def describe_changes(steps: Iterable[Step], zones: Mapping[int, tzinfo]) -> str:
    """Return a text with the new values that updates set, and the number of remotes for each value.

    An example is ``End: 31 Dec 2026 23:59 +01:00 for 12 remotes; Coerced: yes for 3 remotes.``. The
    text is empty if there are no updates. Thousands of steps take noticeable time, so call this
    function in a thread.

    Args:
        steps: The steps that must still be sent.
        zones: Maps the ID of each lock to its time zone.
    """
    found: dict[str, Counter[str]] = {}
    moments: dict[str, int] = {}  # dates in words do not sort, so they are mapped to times
    for step in steps:
        if step.action is Action.UPDATE:
            for one in _changes(step, zones[step.lock_id]):
                found.setdefault(one.label, Counter())[one.after] += 1
                if one.label in _DATES:
                    moments[one.after] = step.wanted.get(_DATES[one.label]) or 0
    said = []
    for label, values in found.items():
        shown = ", ".join(
            f"{value} for {format_count(count, 'remote')}" for value, count in values.items()
        )
        if len(values) > _NAMED:
            shown = f"{len(values):,} different values for {format_count(values.total(), 'remote')}"
            if label in _DATES:
                first, *_, last = sorted(values, key=moments.__getitem__)
                shown += f", from {first} to {last}"
        said.append(f"{label}: {shown}")
    return f"{'; '.join(said)}." if said else ""


def shortening_of(step: Step, zone: tzinfo, now_ms: int) -> Shortening | None:
    """Return how an update step shortens the access of a remote; None if the step does not."""
    if step.action is not Action.UPDATE:
        return None
    return find_shortening(*step_remotes(step), now_ms, zone)


def describe_step_shortening(step: Step, zone: tzinfo, now_ms: int) -> str:
    """Return a sentence about how a step shortens access; empty if the step does not."""
    return describe_shortening(shortening_of(step, zone, now_ms), now_ms, zone)


def find_shortenings(
    steps: Iterable[Step], zones: Mapping[int, tzinfo], now_ms: int
) -> list[Shortening]:
    """Return how each step shortens access, without steps that do not shorten it.

    Thousands of steps take noticeable time, so call this function in a thread.

    Args:
        steps: The steps that must still be sent.
        zones: Maps the ID of each lock to its time zone.
        now_ms: Now, in milliseconds.
    """
    found = (shortening_of(step, zones[step.lock_id], now_ms) for step in steps)
    return [one for one in found if one is not None]


def describe_step_notes(step: Step, zone: tzinfo, now_ms: int) -> list[str]:
    """Return the sentences about a step that the user must confirm before lockterm sends it.

    Args:
        step: A step that must still be sent.
        zone: The time zone of the lock.
        now_ms: Now, in milliseconds.
    """
    shortened = describe_step_shortening(step, zone, now_ms)
    return [*([shortened] if shortened else []), *_other_notes(step, zone, now_ms)]


def _other_notes(step: Step, zone: tzinfo, now_ms: int) -> list[str]:
    """Return the sentences that the user must confirm, except those about shortened access."""
    notes = [step.note] if step.note else []
    if step.action in (Action.VOICE, Action.DELETE):
        return [clean(note, 300) for note in notes]
    if step.action not in (Action.ADD, Action.UPDATE):
        return []
    before = Remote.read(step.before) if step.action is Action.UPDATE else None
    wanted = Remote.read({**step.before, **step.wanted})
    asked = rules.warnings(wanted, now_ms, before)
    if isinstance(zone, UnknownZone) and step_sends_dates(step):
        notes.append(f"{zone.reason} Times are shown in UTC.")
    if rules.touches_validity(before, wanted):
        if warning := describe_never_opens(wanted, now_ms, zone):
            asked["endDate"] = warning
        if before is not None and wanted.remote_type == RemoteType.PERMANENT:
            asked["remoteType"] = OPENS_ALWAYS
        if before is not None and rules.opens_again(before, wanted, now_ms, zone):
            notes.insert(0, rules.OPENS_AGAIN)
        elif before is not None:
            notes[:0] = describe_added_access(before, wanted, now_ms, zone)
    return [clean(note, 300) for note in (*asked.values(), *notes)]


def step_sends_dates(step: Step) -> bool:
    """Return whether a step sends a start and an end, which may be wrong if a clock is wrong."""
    before = Remote.read(step.before) if step.before else None
    return rules.sends_dates(before, Remote.read({**step.before, **step.wanted}))


def describe_notes(
    steps: Sequence[Step],
    zones: Mapping[int, tzinfo],
    now_ms: int,
    titles: Mapping[int, str] | None = None,
) -> list[str]:
    """Return the sentences about steps that the user must confirm before lockterm sends them.

    Each sentence names the remotes that it is about. Shortened access is not included; see
    :func:`find_shortenings`. Thousands of steps take noticeable time, so call this function in a
    thread.

    Args:
        steps: The steps that must still be sent.
        zones: Maps the ID of each lock to its time zone.
        now_ms: Now, in milliseconds.
        titles: Maps lock IDs to titles, which may contain control characters. If None, the
            sentences do not mention locks.
    """
    noted: dict[str, list[Step]] = {}
    for step in steps:
        for words in _other_notes(step, zones[step.lock_id], now_ms):
            noted.setdefault(words, []).append(step)
    lines: list[str] = []
    for words, some in noted.items():
        is_again = words == rules.OPENS_AGAIN and len(some) > 1
        # A note found for one remote is shown for each; notes that follow from fields are not.
        is_own = words == clean(some[0].note, 300)
        named = some[: MOST_LISTED if is_again or is_own else _NAMED]
        more = f" and {len(some) - len(named):,} more" if len(some) > len(named) else ""
        who = f"{_format_on_locks(named, titles or {})}{more}"
        if is_again:
            lines.insert(0, f"{len(some):,} expired remotes will be reactivated: {who}.")
        else:
            is_all = len(some) == len(steps) > 1
            whom = f"each of the {len(some):,} remotes" if is_all else who
            lines.append(f"Note for {whom}: {words}")
    return lines


def _format_on_locks(steps: Iterable[Step], titles: Mapping[int, str]) -> str:
    """Return the remotes of steps: ``Anna (A-1) on Gate, Yard; Ben (B-2) on Gate``."""
    on_locks: dict[str, list[str]] = {}
    for step in steps:
        title = clean(titles.get(step.lock_id, ""), 40)
        on_locks.setdefault(format_step(step), []).append(title)
    if not titles:
        return ", ".join(on_locks)
    return "; ".join(f"{who} on {', '.join(locks)}" for who, locks in on_locks.items())


def _format_voice(voice: Mapping[str, Any]) -> str:
    said = (clean(str(voice[name]), 40) for name in ("lang", "timbre") if name in voice)
    return " ".join(said) or "unknown"


def describe_gaps(unread: Iterable[str], unplanned: int) -> list[str]:
    """Return sentences about locks that could not be read and steps that could not be planned.

    Args:
        unread: The titles of locks that could not be read; may contain control characters.
        unplanned: The number of steps that could not be planned.
    """
    titles = ", ".join(clean(title, 40) for title in unread)
    gaps = [f"Locks not read: {titles}"] if titles else []
    return (
        [*gaps, f"{format_count(unplanned, 'step')} could not be planned."] if unplanned else gaps
    )


def describe_ignored(columns: Sequence[str]) -> str:
    """Return a sentence that lists the ignored columns of a file; empty if there are none."""
    listed = ", ".join(clean(column, 40) or "(no name)" for column in columns)
    return f"Ignored columns: {listed}." if columns else ""
