"""The report of who can open which locks, as CSV, JSON, or a page for an audit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lockterm.domain import dates, markup
from lockterm.domain.locks import Lock
from lockterm.domain.people import (
    ABOUT_SIMILAR,
    NO_ONE,
    NOT_COMPARED,
    People,
    Person,
    PersonKey,
    count_people,
    describe_similar,
    format_person,
    key_of_person,
)
from lockterm.domain.remotes import Remote, RemoteType, word
from lockterm.domain.safe_text import without_secrets
from lockterm.domain.text.amount import describe_age
from lockterm.domain.text.validity import describe_dates, describe_validity_briefly, format_state
from lockterm.domain.validity import RemoteState, state_by_dates, state_of
from lockterm.operations.all_locks import LockRead, describe_reads

if TYPE_CHECKING:
    from lockterm.operations.facade import Operations

TITLE = "Who can open what"
"""The title of the report page."""

CSV_COLUMNS = (
    *("name", "lockName", "lockId", "remoteId", "remoteNumber", "remoteType", "start", "end"),
    *("valid", "state", "similar", "read", "notRead"),
)
"""The columns of the CSV file."""


@dataclass(frozen=True, slots=True)
class Access:
    """One remote of a person, with its values as texts for the report."""

    lock: Lock
    remote_id: int | None
    number: str
    """The number as received; empty if the remote has none."""
    kind: str
    """The type of the remote as a word."""
    start: str
    """The start as ISO 8601 with a UTC offset; empty if there is none."""
    end: str
    """The end as ISO 8601 with a UTC offset; empty if there is none."""
    valid: str
    """The period of validity as a readable text."""
    state: str
    """The word for the state of the remote by its dates. If the status from the service contradicts
    the dates, the text also contains the status."""


@dataclass
class PeopleReport:
    """The report on the people who can open some locks, with all of their remotes.

    Args:
        operations: The operations of the profile.
        people: The people on all locks, to find similar names.
        shown: The people in the report, in order.
        reads: All locks of the lock book, each with its last list.
        text: The search text that selected the people; empty if there was none.
    """

    operations: Operations
    people: People
    shown: Sequence[Person]
    reads: Collection[LockRead]
    text: str

    def __post_init__(self) -> None:
        self._accesses = defaultdict[PersonKey, list[Access]](list)
        self._now_ms = self.operations.now_ms()

    def collect(self) -> Iterator[None]:
        """Collect the remotes of the people.

        The iterator yields after each block, so that the caller can handle key presses.
        """
        wanted = {person.key for person in self.shown}
        zones: dict[str, tzinfo] = {}
        for one in self.reads:
            if one.listing is None:
                continue
            zone = zones.get(one.lock.zone)
            if zone is None:  # an unknown zone causes a search on the disk
                zone = zones[one.lock.zone] = self.operations.zone(one.lock)
            for block in one.listing.blocks:
                for remote in block.remotes():
                    key = key_of_person(remote.remote_name, remote.remote_number)
                    if key in wanted:
                        self._accesses[key].append(self._access(one.lock, zone, remote))
                yield

    def _access(self, lock: Lock, zone: tzinfo, remote: Remote) -> Access:
        state = format_state(state_by_dates(remote, self._now_ms))
        if state_of(remote, self._now_ms) is RemoteState.DISAGREE:
            _, reported = describe_validity_briefly(remote, self._now_ms, zone)
            state += f", service {reported}"
        return Access(
            lock,
            remote.id,
            remote.remote_number or "",
            word(RemoteType, remote.remote_type),
            dates.to_iso(remote.start_ms, zone),
            dates.to_iso(remote.end_ms, zone),
            describe_dates(remote, zone),
            state,
        )

    # --- forms -----------------------------------------------------------------------------------

    def csv_rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield a row for each remote, and then a row for each lock that could not be read."""
        read = {one.lock.lock_id: self._read_at(one) for one in self.reads}
        for person in self.shown:
            similar = self._similar(person)
            for one in self._accesses[person.key]:
                yield {
                    "name": person.name,
                    "lockName": one.lock.name,
                    "lockId": one.lock.lock_id,
                    "remoteId": one.remote_id,
                    "remoteNumber": one.number,
                    "remoteType": one.kind,
                    "start": one.start,
                    "end": one.end,
                    "valid": one.valid,
                    "state": one.state,
                    "similar": similar,
                    "read": read[one.lock.lock_id],
                }
        for lock_read in self._unread:
            lock = lock_read.lock
            yield {
                "lockName": lock.name,
                "lockId": lock.lock_id,
                "read": read[lock.lock_id],
                "notRead": _describe_problem(lock_read),
            }

    def as_json(self) -> list[dict[str, Any]]:
        """Return an object for each person, with the person's remotes."""
        read = {one.lock.lock_id: self._read_at(one) for one in self.reads}
        return [
            {
                "name": person.name or None,
                "numbers": [*person.numbers],
                "locks": person.locks,
                "similar": [
                    {"name": one.person.name or None, "why": one.why.value}
                    for one in self.people.similar(person)
                ],
                "remotes": [
                    {
                        "lock": {"lockId": one.lock.lock_id, "name": one.lock.name or None},
                        "remoteId": one.remote_id,
                        "number": one.number or None,
                        "type": one.kind,
                        "start": one.start or None,
                        "end": one.end or None,
                        "state": one.state,
                        "read": read[one.lock.lock_id],
                    }
                    for one in self._accesses[person.key]
                ],
            }
            for person in self.shown
        ]

    def as_html(self) -> bytes:
        """Return the report as an HTML page."""
        parts = [markup.fact_table(self._facts)]
        for title, about, titles, rows in self._sections():
            notes = [markup.paragraph(about)] if about else []
            parts.append(markup.section(title, *notes, markup.table(titles, rows)))
        return markup.page(TITLE, *parts)

    def as_markdown(self) -> bytes:
        """Return the report as a Markdown page."""
        parts = [markup.markdown_facts(self._facts)]
        for title, about, titles, rows in self._sections():
            notes = [markup.escape_markdown(about)] if about else []
            parts.append(
                markup.markdown_section(title, *notes, markup.markdown_table(titles, rows))
            )
        return markup.markdown_page(TITLE, *parts)

    @cached_property
    def _unread(self) -> list[LockRead]:
        """The locks that have no stored list, or whose last reading failed."""
        return [one for one in self.reads if one.problem or one.listing is None]

    @property
    def _facts(self) -> list[tuple[str, str]]:
        profile = self.operations.profile
        reads = [
            one
            if one.problem or one.listing is not None
            else LockRead(one.place, one.lock, problem="not read yet")
            for one in self.reads
        ]
        facts = [
            ("Date", dates.stamp(self._now_ms, profile.zone)),
            ("Time zone", str(profile.zone)),
            ("Profile", profile.name),
            ("Service", without_secrets(profile.base_url)),
            *([("Search", self.text)] if self.text else []),
            ("People", count_people(self.shown)),
            ("Locks", describe_reads(reads, 0)),
        ]
        if not self.people.compares_letters:
            facts.append(("Similar names", NOT_COMPARED))
        return facts

    def _sections(self) -> Iterator[tuple[str, str, Sequence[str], Iterable[Sequence[object]]]]:
        """Yield title, explanation, column titles and rows of each table of the report.

        The tables of unread locks and of similar names are left out if they are empty.
        """
        if self._unread:
            yield (
                "Locks not read",
                "Remotes on these locks are missing, or may be out of date.",
                ("Lock", "ID", "Reason", "Remotes shown"),
                [
                    (one.lock.title, str(one.lock.lock_id), _describe_problem(one), self._age(one))
                    for one in self._unread
                ],
            )
        yield (
            "People",
            "" if self.shown or self.text else NO_ONE,
            ("Name", "Lock", "Number", "Valid", "State"),
            [
                (format_person(person), one.lock.title, one.number, one.valid, one.state)
                for person in self.shown
                for one in self._accesses[person.key]
            ],
        )
        similar = [
            (format_person(one), words) for one in self.shown if (words := self._similar(one))
        ]
        if similar:
            yield "Similar names", ABOUT_SIMILAR, ("Name", "Similar to"), similar
        yield (
            "Locks",
            "",
            ("Lock", "ID", "Remotes", "List read"),
            [
                (one.lock.title, str(one.lock.lock_id), one.listing.count, self._when(one))
                for one in self.reads
                if one.listing is not None
            ],
        )

    def _similar(self, person: Person) -> str:
        similar = self.people.similar(person)
        return describe_similar(similar, len(similar))

    def _age(self, one: LockRead) -> str:
        """Return the age of a list in words, or ``none`` if there is no list."""
        if one.listing is None:
            return "none"
        return describe_age(
            one.listing.at_ms, self.operations.machine_ms(), changed=one.listing.changed
        )

    def _when(self, one: LockRead) -> str:
        """Return the time and the age of a list as text."""
        assert one.listing is not None
        return f"{dates.stamp(one.listing.at_ms, self.operations.profile.zone)}, {self._age(one)}"

    def _read_at(self, one: LockRead) -> str:
        if one.listing is None:
            return ""
        return dates.to_iso(one.listing.at_ms, self.operations.profile.zone)


def _describe_problem(one: LockRead) -> str:
    return one.problem or "not read yet"
