"""The people on all locks, found by joining remotes with the same name.

Two remotes belong to one person only if their names are equal in normal form C. Case, accents and
spaces count, because a wrong join would hide who can open a lock. Remotes without a name are joined
by their numbers. Names that may mean one person are *similar*. lockterm shows similar names, but
never joins them.

The module also has the texts about people: names, end dates of access, and similar names.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from enum import Enum
from heapq import merge
from itertools import chain, combinations, islice
from operator import attrgetter
from typing import Any, NamedTuple

from lockterm.domain import dates
from lockterm.domain.dates import WEEK
from lockterm.domain.listing import NEVER, UNREADABLE, Period, count_by_dates, find_lines
from lockterm.domain.names import fold_text, natural, near_key, normalize_name
from lockterm.domain.remotes import Remote, needs_weekdays
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.validity import format_state
from lockterm.domain.validity import RemoteState, StateFilter, describe_counts, without_weekdays

MOST_COMPARED = 20_000
"""Maximum number of different names that are compared letter by letter."""

MOST_SIMILAR = 20
"""Maximum number of people that :meth:`People.similar` returns."""

_SHORTEST, _LONGEST = 5, 60
"""Minimum and maximum length of names that are compared letter by letter. Short names of different
people, such as Tim and Tom, often differ in only one letter."""

_MOST_ALIKE = 20
"""Maximum number of names that differ from each other in one letter at one position. If there are
more, they are a series of names, not typing errors."""

_MANY = 500
"""Number of remotes of one person above which :meth:`People.sort` also sorts their end dates."""

_CHUNK = 1000
"""Number of people whose search texts are joined to one string."""

PersonKey = tuple[str, str]
"""A pair of the name in normal form C and an empty string. If a remote has no name, the pair is an
empty string and the number."""


class Why(Enum):
    """The reason why two people may be the same person."""

    SPELLING = "spelling"
    """The names differ only in case, accents, dashes or spaces."""
    LETTER = "one letter"
    """One letter of the names is different, missing, or swapped with its neighbor."""
    NUMBER = "same number"
    """The two people have remotes with the same number, which may be the same fob."""


def key_of_person(name: str | None, number: str | None) -> PersonKey:
    """Return the key of the person to whom a remote belongs.

    All remotes that have neither a name nor a number share one key.
    """
    name = normalize_name(name)
    if name.strip():
        return name, ""
    return "", _as_number(number)


class Person:
    """A person: the remotes that share a name, or that have no name and share a number.

    Args:
        key: The key of the person.
    """

    __slots__ = (
        *("_sorted", "count", "ends", "key", "last_lock", "locks", "name", "numbers", "order"),
        *("periods", "row"),
    )

    def __init__(self, key: PersonKey) -> None:
        self.key = key
        self.row = "\n".join(key)
        """The key of the person as one string, for the rows of a table."""
        self.name = key[0]
        """The name in normal form C; empty if the person's remotes have no name."""
        self.count = 0
        """Number of remotes of the person."""
        self.numbers: dict[str, None] = {}
        """The numbers in normal form C, in the order in which they were found."""
        self.locks = 0
        """Number of locks with a remote of the person."""
        self.ends: dict[str, array[int]] = {}
        """Maps a time zone to the ends of the person's remotes on locks in this zone, in
        milliseconds. The end is ``NEVER`` for a permanent remote, and ``UNREADABLE`` if it cannot
        be read from type and dates."""
        self.periods: list[Period] = []
        """The periods of the remotes whose state does not follow from their end alone."""
        self.last_lock: int | None = None
        """The ID of the lock that was counted last in :attr:`locks`."""
        self.order = (not key[0], natural(key[0] or key[1]))
        """The sort key, which sorts people by name, with people without a name last."""
        self._sorted = 0
        """Number of remotes when the ends were last sorted."""

    def sort_ends(self) -> None:
        """Sort the end dates of the person's remotes, unless they are sorted already."""
        if self._sorted != self.count:
            self._sorted = self.count
            self.ends = {zone: array("q", sorted(ends)) for zone, ends in self.ends.items()}

    def counts(self, now_ms: int) -> Counter[StateFilter]:
        """Return the number of the person's remotes in each state.

        The states follow from type, dates and weekdays at ``now_ms``, in milliseconds.
        """
        self.sort_ends()
        return count_by_dates(self.ends.values(), self.periods, now_ms)

    def bounds(self, now_ms: int) -> Bounds:
        """Return the first and the last end of the person's remotes that have not expired.

        If all remotes have expired, return the first and the last end of the expired ones.
        """
        self.sort_ends()
        left, over = list[tuple[int, str]](), list[tuple[int, str]]()
        is_endless = is_unclear = False
        for zone, ends in self.ends.items():
            first, last = bisect_right(ends, NEVER), bisect_left(ends, UNREADABLE)
            is_endless, is_unclear = is_endless or first > 0, is_unclear or last < len(ends)
            known = ends[first:last]
            middle = bisect_right(known, now_ms)
            for part, found in ((known[middle:], left), (known[:middle], over)):
                found += [(end, zone) for end in (*part[:1], *part[-1:])]
        if not left and not is_endless and not is_unclear:
            left = over
        return Bounds(min(left, default=None), max(left, default=None), is_endless, is_unclear)


class Bounds(NamedTuple):
    """The first and the last end of the remotes of one person."""

    first: tuple[int, str] | None
    """The first end in milliseconds, with the time zone of its lock; None if no end is known."""
    last: tuple[int, str] | None
    """The last end in milliseconds, with the time zone of its lock; None if no end is known."""
    is_endless: bool
    """Whether at least one remote has no end."""
    is_unclear: bool
    """Whether the end of at least one remote is unclear."""


class Similar(NamedTuple):
    """A person who may be the same as another person."""

    person: Person
    why: Why
    number: str = ""
    """The number that both people have, if the reason is ``Why.NUMBER``."""


class People:
    """The people on all locks. Add all remotes of one lock before those of the next.

    Args:
        now_ms: The earliest time for which :meth:`Person.counts` must be right, in milliseconds.
    """

    def __init__(self, now_ms: int = 0) -> None:
        self._now_ms = now_ms
        self._found: dict[PersonKey, Person] = {}
        self._spelled: dict[str, Person] = {}
        """Maps each name as received to its person, so that each name is normalized only once."""
        self._near: dict[str, list[Person]] = {}
        """Maps each key of ``names.near_key`` to the people whose names have this key."""
        self._by_number: dict[str, list[Person]] = {}
        self._letters: Mapping[str, Iterable[str]] = {}
        """Maps each key of ``names.near_key`` to the keys that differ from it in one letter."""
        self._similar: dict[PersonKey, Sequence[Similar]] = {}
        self.compares_letters = False
        """Whether :attr:`similar` includes names that differ in one letter."""
        self.has_similar = False
        """Whether any two people are similar. :meth:`compare_letters` sets this value."""

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Person]:
        return iter(self._found.values())

    def add(
        self, lock_id: int, zone: str, raws: Iterable[Mapping[str, Any]], ends: Iterable[int]
    ) -> None:
        """Add remotes of one lock to the people that they belong to.

        Args:
            lock_id: The ID of the lock.
            zone: The time zone of the lock in the lock book; may be empty.
            raws: The records of the remotes as received.
            ends: The end date of each remote; see ``listing.Block.ends``.
        """
        for raw, end in zip(raws, ends, strict=True):
            name, number = raw.get("remoteName"), raw.get("remoteNumber")
            name = name if type(name) is str else ""
            number = number if type(number) is str else ""
            person = self._spelled.get(name)
            if person is None:
                person = self._person(name, number)
            if person.last_lock != lock_id:
                person.last_lock = lock_id
                person.locks += 1
            if number and number not in person.numbers:
                self._note_number(person, number)
            if end not in (NEVER, UNREADABLE):
                self._note_period(person, raw, end)
            if (of_zone := person.ends.get(zone)) is None:
                of_zone = person.ends[zone] = array("q")
            of_zone.append(end)
            person.count += 1

    def _person(self, name: str, number: str) -> Person:
        key = key_of_person(name, number)
        person = self._found.get(key)
        if person is None:
            person = self._found[key] = Person(key)
            if near := near_key(key[0]):
                self._near.setdefault(near, []).append(person)
        if key[0]:
            self._spelled[name] = person
        return person

    def _note_period(self, person: Person, raw: Mapping[str, Any], end: int) -> None:
        """Store the period of a remote, unless its state follows from its end alone."""
        start, days, has_days = raw.get("startDate"), raw.get("weekDay"), True
        if needs_weekdays(raw.get("remoteType")):
            is_plain = (
                type(days) is list
                and bool(days)
                and all(type(day) is int and day in WEEK for day in days)
            )
            has_days = is_plain or not without_weekdays(Remote.read(raw))
        if type(start) is int and (start > self._now_ms or not has_days):
            person.periods.append(Period(start, end, has_days))

    def _note_number(self, person: Person, number: str) -> None:
        number = _as_number(number)
        if number and number not in person.numbers:
            person.numbers[number] = None
            self._by_number.setdefault(number, []).append(person)

    def sort(self) -> Iterator[Person | None]:
        """Yield all people by name, with people without a name at the end.

        From time to time, the generator yields None, so that the caller can handle pressed keys.
        """
        people, parts, order = [*self], list[list[Person]](), attrgetter("order")
        for start in range(0, len(people), _CHUNK):
            parts.append(sorted(people[start : start + _CHUNK], key=order))
            yield None
            for person in parts[-1]:
                if person.count > _MANY:
                    person.sort_ends()
                    yield None
        yield from merge(*parts, key=order)

    def compare_letters(self) -> None:
        """Find names that differ in one letter, for :meth:`similar`.

        If there are more than :data:`MOST_COMPARED` names, do not compare letters.
        """
        keys = [*self._near]
        self.compares_letters = len(keys) <= MOST_COMPARED
        if self.compares_letters:
            self._letters = find_typing_errors(keys)
        shared = chain(self._near.values(), self._by_number.values())
        self.has_similar = bool(self._letters) or any(len(group) > 1 for group in shared)
        self._similar = {}

    def similar(self, person: Person) -> Sequence[Similar]:
        """Return at most :data:`MOST_SIMILAR` people who may be the same as this person."""
        known = self._similar.get(person.key)
        if known is None:
            found: dict[PersonKey, Similar] = {}
            for one in self._candidates(person):
                if one.person is not person:
                    found.setdefault(one.person.key, one)
                if len(found) == MOST_SIMILAR:
                    break
            known = self._similar[person.key] = [*found.values()]
        return known

    def _candidates(self, person: Person) -> Iterator[Similar]:
        near = near_key(person.name)
        for one in self._near.get(near, ()):
            yield Similar(one, Why.SPELLING)
        for other in self._letters.get(near, ()):
            for one in self._near[other]:
                yield Similar(one, Why.LETTER)
        for number in person.numbers:
            if len(group := self._by_number[number]) > 1:  # few numbers are those of two people
                for one in group:
                    yield Similar(one, Why.NUMBER, number)


class PeopleSearch:
    """A search of people by name and number.

    Args:
        people: The people, in the order in which results are returned.
    """

    def __init__(self, people: Sequence[Person]) -> None:
        self.people = people
        self._texts: list[str] = []
        """Parts of the search texts. Each part is a string with one line for each of :data:`_CHUNK`
        people."""

    def prepare(self) -> Iterator[None]:
        """Build the search texts.

        From time to time, the generator yields None, so that the caller can handle pressed keys.
        """
        for start in range(0, len(self.people), _CHUNK):
            chunk = self.people[start : start + _CHUNK]
            self._texts.append("\n".join(map(_search_text, chunk)))
            yield

    def find(self, words: Sequence[str]) -> Iterator[Sequence[int]]:
        """Yield groups of indexes of the people whose name or numbers contain each word.

        Without words, yield one group with the indexes of all people.

        Args:
            words: Words as ``listing.split_needle`` returns them.
        """
        if not words:
            yield range(len(self.people))
            return
        for number, texts in enumerate(self._texts):
            yield [number * _CHUNK + line for line in find_lines(texts, words)]


def _search_text(person: Person) -> str:
    return " ".join(fold_text(" ".join((person.name, *person.numbers))).split())


def _as_number(number: str | None) -> str:
    """Return a number in normal form C; empty if it is blank."""
    return normalize_name(number) if number and not number.isspace() else ""


def find_typing_errors(keys: Iterable[str]) -> Mapping[str, Iterable[str]]:
    """Return a mapping of each key to the keys that differ from it in one letter.

    A different digit is not a typing error, because "Guest 1" and "Guest 2" are a series.

    Args:
        keys: Keys of near names without duplicates; see ``names.near_key``.
    """
    # Two keys that differ in one letter are equal without this letter.
    shorter = defaultdict[str, list[str]](list)
    for key in keys:
        if _SHORTEST <= len(key) <= _LONGEST:
            for one in {key, *(key[:at] + key[at + 1 :] for at in range(len(key)))}:
                shorter[one].append(key)
    found = defaultdict[str, dict[str, None]](dict)
    for group in shorter.values():
        if 1 < len(group) <= _MOST_ALIKE:
            for one, other in combinations(group, 2):
                if differs_in_one_letter(one, other):
                    found[one][other] = None
                    found[other][one] = None
    return dict(found)


def differs_in_one_letter(one: str, other: str) -> bool:
    """Return whether two texts differ in one letter, or in the order of two adjacent letters."""
    begin = 0
    while begin < min(len(one), len(other)) and one[begin] == other[begin]:
        begin += 1
    end = 0
    rest = min(len(one), len(other)) - begin
    while end < rest and one[-1 - end] == other[-1 - end]:
        end += 1
    left, right = one[begin : len(one) - end], other[begin : len(other) - end]
    if not all(char.isalpha() for char in left + right):
        return False
    if len(left) == len(right) == 2:
        return left == right[::-1]
    return max(len(left), len(right)) == 1


# --- texts ---------------------------------------------------------------------------------------


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
        most: The maximum number of numbers to show. The text ends with how many are left out.
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
    """Return texts with the number of a person's remotes in each state, the longest first.

    If all remotes are in one state, the texts have only its name, such as ``expired``.
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
    """Return how many people and remotes there are, such as ``31 people, 120 remotes``.

    Args:
        people: The people.
        joint: The text between the two numbers.
    """
    remotes = format_count(sum(person.count for person in people), "remote")
    return f"{format_people(len(people))}{joint}{remotes}"
