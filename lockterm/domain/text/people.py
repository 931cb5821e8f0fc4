"""Texts about the people on all locks: names, end dates of access, and similar names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from itertools import islice

from lockterm.domain import dates
from lockterm.domain.people import Bounds, Person, Similar, Why
from lockterm.domain.remote_states import describe_counts
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.validity import format_state
from lockterm.domain.validity import RemoteState

NO_NAME = "(no name)"
"""The text that is shown for a person whose remotes have no name."""

NO_ONE = "The locks have no remotes, so no one can open them with a remote."
"""The message if the locks have no remotes."""

ABOUT_SIMILAR = "Similar names may be the same person. lockterm never joins them."
"""The explanation above a table of similar names."""

NOT_COMPARED = "There are too many names to find those that differ in one letter."
"""The message if there are too many names to compare them letter by letter."""


def format_person(person: Person, limit: int | None = None) -> str:
    """Return the name of a person, safe to show; ``(no name)`` if it is missing."""
    return clean(person.name, limit) if person.name else NO_NAME


def format_numbers(person: Person, most: int = 1) -> str:
    """Return the first numbers of a person, such as ``A-2041 +2`` for three numbers.

    Args:
        person: The person.
        most: The maximum number of numbers to show. The text counts the others.
    """
    named = ", ".join(clean(one, 30) for one in islice(person.numbers, most))
    more = len(person.numbers) - most
    return f"{named} +{more:,}" if more > 0 else named


def describe_bounds(
    bounds: Bounds, zone_of: Callable[[str], tzinfo], *, last_only: bool = False
) -> str:
    """Return the first and the last end of some remotes: ``1 Dec 2026 to 31 Dec 2026``.

    Args:
        bounds: The first and last end of the remotes.
        zone_of: A function that returns the time zone for the name of a zone in the lock book.
        last_only: Whether to leave out the first end.
    """
    days = [
        dates.last_day(end, zone_of(zone))
        for end, zone in dict.fromkeys(filter(None, (bounds.first, bounds.last)))
    ]
    if bounds.is_endless:
        days = [*days[:1], "no end"]
    elif bounds.is_unclear:
        days = [*days[:1], "unclear"]
    days = [*dict.fromkeys(days)]
    has_last = not (bounds.is_endless or bounds.is_unclear)
    return days[-1] if last_only else (" to " if has_last else " or ").join(days)


def describe_person_state(person: Person, now_ms: int) -> tuple[str, ...]:
    """Return texts with the numbers of a person's remotes by state, the longest text first.

    If all remotes have the same state, the texts have only the name of this state, such as
    ``expired``.
    """
    counts = person.counts(now_ms)
    if len(counts) == 1:
        (state,) = counts
        assert isinstance(state, RemoteState)
        return tuple(dict.fromkeys((format_state(state), state.word)))
    return describe_counts(counts, tells_more=True)


def describe_similar(similar: Sequence[Similar], most: int, *, with_why: bool = True) -> str:
    """Return similar names, such as ``anna weber (spelling), Ben (same number A-1), 2 more``.

    Args:
        similar: The similar people.
        most: The maximum number of names.
        with_why: Whether to add the reason after each name.
    """
    named = [
        format_person(one.person, 40) + (f" ({describe_why(one)})" if with_why else "")
        for one in similar[:most]
    ]
    more = len(similar) - most
    return ", ".join([*named, *([f"{more:,} more"] if more > 0 else [])])


def describe_why(one: Similar) -> str:
    """Return why a person is similar: ``spelling``, ``one letter`` or ``same number A-1``."""
    number = clean(one.number, 30)
    return f"{one.why.value} {number}" if one.why is Why.NUMBER else one.why.value


def format_people(count: int) -> str:
    """Return a number of people, such as ``31 people``."""
    return "1 person" if count == 1 else f"{count:,} people"


def count_people(people: Sequence[Person], joint: str = ", ") -> str:
    """Return the numbers of people and of their remotes, such as ``31 people, 120 remotes``.

    Args:
        people: The people.
        joint: The text between the two numbers.
    """
    remotes = format_count(sum(person.count for person in people), "remote")
    return f"{format_people(len(people))}{joint}{remotes}"
