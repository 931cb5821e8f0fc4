"""Texts about changes that shorten or add access."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import tzinfo

from lockterm.domain import dates
from lockterm.domain.remotes import Remote
from lockterm.domain.shortening import Shortening, find_shortening
from lockterm.domain.weekdays import format_weekdays


def describe_shortened_fields(found: Shortening, now_ms: int, zone: tzinfo) -> dict[str, str]:
    """Return a sentence for each field whose change shortens access, by contract field."""
    parts = _parts(found, now_ms, zone)
    return {name: f"Shortens access{part}." for name, part in parts.items()}


def describe_shortening(found: Shortening, now_ms: int, zone: tzinfo) -> str:
    """Return a sentence such as ``Shortens access by 37 days: the remote will expire ...``."""
    first, *others = _parts(found, now_ms, zone).values()
    return (
        "; ".join([f"Shortens access{first}", *(part.removeprefix(": ") for part in others)]) + "."
    )


def describe_shortened_access(before: Remote, after: Remote, now_ms: int, zone: tzinfo) -> str:
    """Return a sentence about how a change shortens access; empty if the change does not."""
    found = find_shortening(before, after, now_ms, zone)
    return describe_shortening(found, now_ms, zone) if found is not None else ""


def describe_added_access(before: Remote, after: Remote, now_ms: int, zone: tzinfo) -> list[str]:
    """Return sentences about access that a change adds: an earlier start, and more weekdays.

    The sentences do not mention a later end, because it is the purpose of most changes. They also
    do not mention that an expired remote becomes valid again.

    Args:
        before: The present remote.
        after: The remote after the change.
        now_ms: Now, in milliseconds.
        zone: The time zone of the lock.
    """
    found = find_shortening(after, before, now_ms, zone)  # what the present remote lacks
    said: list[str] = []
    if found is not None and found.closed is not None:
        since, until = found.closed
        begins = "now" if since <= now_ms else dates.near_time(since, zone, now_ms)
        said.append(
            f"Opens earlier: from {begins}, not from {dates.near_time(until, zone, now_ms)}."
        )
    if found is not None and found.days:
        said.append(f"Opens on more weekdays: {format_weekdays(found.days)}.")
    return said


def _parts(found: Shortening, now_ms: int, zone: tzinfo) -> dict[str, str]:
    parts: dict[str, str] = {}
    if found.ends_ms is not None:
        ends = "at once" if found.ends_ms <= now_ms else _moment(found.ends_ms, zone)
        if found.ended_ms is None:
            parts["remoteType"] = f": permanent access will end {ends}"
        else:
            by = dates.duration(found.earlier_ms)
            parts["endDate"] = (
                f" by {by}: the remote will expire {ends}, not {_moment(found.ended_ms, zone)}"
            )
    if found.closed is not None:
        since, until = found.closed
        begins = "now" if since <= now_ms else dates.near_time(since, zone, now_ms)
        parts["startDate"] = (
            f": no access from {begins} until {dates.near_time(until, zone, now_ms)}"
        )
    if found.days:
        parts["weekDay"] = f": no more access on {format_weekdays(found.days)}"
    return parts


def _moment(ms: int, zone: tzinfo) -> str:
    return dates.day_time(ms, zone).rpartition(" ")[0] or dates.day_time(ms, zone)


def summarize_shortenings(found: Iterable[Shortening]) -> str:
    """Return sentences such as ``2 remotes will expire up to 142 days earlier.``.

    The text is empty if no access is shortened.
    """
    some = [*found]
    earlier = [one for one in some if one.ends_ms is not None]
    said: list[str] = []
    if earlier:
        most_ms = max(one.earlier_ms for one in earlier)
        up_to = "up to " if len(earlier) > 1 else ""
        by = f"{up_to}{dates.duration(most_ms)} " if most_ms else ""
        words = f"{_remotes(earlier)} will expire {by}earlier"
        if permanent := sum(one.was_permanent for one in earlier):
            words += f" ({permanent:,} permanent until now)"
        said.append(words)
    if later := [one for one in some if one.closed is not None]:
        said.append(f"{_remotes(later)} will start later")
    if fewer := [one for one in some if one.days]:
        said.append(f"{_remotes(fewer)} will lose weekdays")
    return " ".join(f"{words}." for words in said)


def _remotes(some: Sequence[Shortening]) -> str:
    return f"{len(some):,} remote{'' if len(some) == 1 else 's'}"
