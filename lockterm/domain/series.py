"""Another remote like one that there is: what is the same, and what is counted up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from lockterm.domain.remotes import ADDED, Remote

_DIGITS = re.compile(r"[0-9]+")
_MOST_DIGITS = 4000
"""Python reads no longer numbers."""


class Taken:
    """The names and numbers that remotes of a lock have, as far as these are known.

    Args:
        remotes: Those that are known; one may come several times.
        total: How many the lock has; None: that is not known either.
    """

    def __init__(self, remotes: Iterable[Remote] = (), total: int | None = None) -> None:
        self.names = set[str]()
        self.numbers = set[str]()
        ids = set[int | None]()
        for remote in remotes:
            self.names.add(remote.remote_name or "")
            self.numbers.add(remote.remote_number or "")
            ids.add(remote.id)
        self.words = ""
        """A sentence where only a part is known."""
        if total is not None and len(ids) < total:
            known = f"Only {len(ids):,} of {total:,} remotes are known"
            self.words = f"{known}: another may have this number."


def counted_up(text: str, taken: Collection[str]) -> str:
    """The next of a series that is not taken: ``A-0099`` -> ``A-0100``, ``Anna`` -> ``Anna 2``.

    The last number in the text counts, at least as wide as it was.

    Args:
        text: The one before.
        taken: Those that there are.
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
        if following not in taken:
            return following


def next_like(typed: Mapping[str, str], taken: Taken) -> dict[str, str]:
    """What stands in the form of the next remote of a series.

    Args:
        typed: Contract field -> what stands in the form of the one before.
        taken: What it must not be called.
    """
    return {
        **typed,
        **{field.name: "" for field in ADDED if field.of_device},
        "remoteName": counted_up(typed["remoteName"].strip(), taken.names),
        "remoteNumber": counted_up(typed["remoteNumber"].strip(), taken.numbers),
    }
