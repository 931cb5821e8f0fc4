"""The input for the next remote of a series: the previous input, with the next name and number."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from lockterm.domain.names import is_same_name, near_key, near_note, normalize_name
from lockterm.domain.remotes import ADDED, Remote
from lockterm.domain.safe_text import clean

_DIGITS = re.compile(r"[0-9]+")
_MOST_DIGITS = 4000
"""Maximum number of digits in a number that :func:`counted_up` increases. Python does not convert
much longer numbers."""


class NamesInUse:
    """The names and numbers in use on a lock, as far as lockterm knows its remotes.

    Args:
        remotes: The known remotes; duplicates are allowed.
        total: The number of remotes on the lock; None if unknown.
        is_read: Whether lockterm has tried to read the complete list of the lock.
    """

    def __init__(
        self,
        remotes: Iterable[Remote] = (),
        total: int | None = None,
        *,
        is_read: bool = False,
    ) -> None:
        self.names = set[str]()
        self.numbers = dict[str, str]()
        """Maps the number of a remote to its name, which is safe to show."""
        self._near = dict[str, str]()
        self._near_names = dict[str, list[str]]()
        ids = set[int | None]()
        for remote in remotes:
            self.add(remote.remote_name or "", remote.remote_number or "")
            ids.add(remote.id)
        self.is_read = is_read
        self.words = ""
        """A warning if lockterm knows only some of the remotes; otherwise empty."""
        if total is not None and len(ids) < total:
            known = f"Only {len(ids):,} of {total:,} remotes were read"
            self.words = f"{known}, so another remote may have this number."

    def add(self, name: str, number: str) -> None:
        """Add the name and the number of one remote."""
        number = normalize_name(number)
        self.names.add(normalize_name(name))
        self._near_names.setdefault(near_key(name), []).append(name)
        self.numbers[number] = clean(name, 60) or "Another remote"
        if number:
            self._near[near_key(number)] = number

    def describe_name(self, name: str) -> str:
        """Return a warning if another remote has a similar but different name; otherwise empty."""
        some = self._near_names.get(near_key(name), []) if near_key(name) else []
        others = [one for one in some if not is_same_name(one, name)]
        return near_note(others) if others else ""

    def describe_number(self, number: str) -> str:
        """Return a warning if another remote has the same or a similar number; otherwise empty."""
        number = normalize_name(number)
        if not number:
            return ""
        if number in self.numbers:
            return f"{self.numbers[number]} on this lock has the same number."
        if (near := self._near.get(near_key(number))) is not None:
            return (
                f"{self.numbers[near]} on this lock has nearly the same number, {clean(near, 40)}."
            )
        return ""


def counted_up(text: str, taken: Collection[str]) -> str:
    """Return the next free text of a series, such as ``A-0100`` after ``A-0099``.

    The function increases the last number in the text until the text is free. The number keeps its
    leading zeros. If the text has no number, the function adds one, as in ``Anna 2``.

    Args:
        text: The text of the previous remote.
        taken: The texts that are in use.
    """
    found = [*_DIGITS.finditer(text)]
    if found and len(digits := found[-1][0]) <= _MOST_DIGITS:
        head, count, width = text[: found[-1].start()], int(digits), len(digits)
        tail = text[found[-1].end() :]
    else:
        head, count, width, tail = f"{text} ".lstrip(), 1, 1, ""
    while True:
        count += 1
        following = f"{head}{count:0{width}}{tail}"
        if following not in taken and normalize_name(following) not in taken:
            return following


def next_like(typed: Mapping[str, str], taken: NamesInUse) -> dict[str, str]:
    """Return the initial input for the next remote of a series.

    Args:
        typed: The input for the previous remote, by contract field.
        taken: The names and numbers in use on the lock.
    """
    return {
        **typed,
        **{field.name: "" for field in ADDED if field.of_device},
        "remoteName": counted_up(typed["remoteName"].strip(), taken.names),
        "remoteNumber": counted_up(typed["remoteNumber"].strip(), taken.numbers),
    }
