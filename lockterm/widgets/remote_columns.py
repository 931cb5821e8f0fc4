"""The columns a table of remotes can have, and what of them was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeGuard


@dataclass(frozen=True, slots=True)
class RemoteColumn:
    """A column that can be chosen."""

    title: str
    about: str
    """What stands in it, for the dialog."""
    noun: str
    """What it is called in ``sorted by ...``."""
    directions: tuple[str, str]
    """What stands first, sorted up and sorted down."""


_TEXT = ("A to Z", "Z to A")
_NUMBER = ("lowest first", "highest first")
_MOMENT = ("earliest first", "latest first")
_PAST = ("oldest first", "newest first")

COLUMNS: Mapping[str, RemoteColumn] = {
    "name": RemoteColumn("Name", "always there: actions name it", "name", _TEXT),
    "number": RemoteColumn("Number", "the remote's number", "number", _NUMBER),
    "type": RemoteColumn("Type", "permanent, time-limited, recurring", "type", _TEXT),
    "valid": RemoteColumn(
        "Valid", "since or until when, in short", "validity", ("first end first", "last end first")
    ),
    "state": RemoteColumn("State", "what service and dates say", "state", _TEXT),
    "added": RemoteColumn("Added", "by bluetooth or by gateway", "way added", _TEXT),
    "coerced": RemoteColumn("Coerced", "whether it is a coerced one", "coerced", _TEXT),
    "id": RemoteColumn("Id", "the service's identifier of it", "id", _NUMBER),
    "start": RemoteColumn("Start", "the day; with room, the time", "start", _MOMENT),
    "end": RemoteColumn("End", "the day; with room, the time", "end", _MOMENT),
    "created": RemoteColumn("Created", "when it was made", "created", _PAST),
    "updated": RemoteColumn("Updated", "when it was last changed", "updated", _PAST),
    "user": RemoteColumn("API user", "the service's number of who made it", "API user", _NUMBER),
}
"""Every field of a listed remote that fits a cell (2.3). The user number is none of them: a list
does not tell it (4.3), so that its column would be empty."""

USUAL = ("name", "number", "type", "valid", "state", "added", "coerced")
"""Where nothing was chosen, as many of them as fit."""

_SHOWN, _SORT, _DOWN = "columns", "sort", "descending"
"""What the file of choices calls them."""


@dataclass(frozen=True, slots=True)
class Order:
    """What rows are sorted by."""

    key: str
    """A column, shown or not."""
    descending: bool = False

    @property
    def marker(self) -> str:
        """What stands behind the column's title; plain ASCII."""
        return "v" if self.descending else "^"

    @property
    def brief(self) -> str:
        """``sorted by end``."""
        return f"sorted by {COLUMNS[self.key].noun}"

    @property
    def words(self) -> str:
        """``sorted by end, latest first``."""
        return f"{self.brief}, {COLUMNS[self.key].directions[self.descending]}"


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Which columns a table has, in which order, and what its rows are sorted by."""

    columns: tuple[str, ...] = ()
    """From left to right, the name always among them; none: the usual ones, as they fit."""
    order: Order | None = None
    """None: the order of the service."""

    @classmethod
    def of(cls, columns: tuple[str, ...], order: Order | None) -> Self:
        """An arrangement; the usual columns in their usual places are no choice."""
        return cls(() if columns == USUAL else columns, order)

    @classmethod
    def read(cls, kept: Any) -> Self:
        """What was kept, as far as it makes sense: the file is edited by people."""
        if not isinstance(kept, dict):
            return cls()
        listed = kept.get(_SHOWN)
        known = [key for key in listed if _is_column(key)] if isinstance(listed, list) else []
        if known and "name" not in known:
            known.insert(0, "name")
        sort = kept.get(_SORT)
        order = Order(sort, kept.get(_DOWN) is True) if _is_column(sort) else None
        return cls.of(tuple(dict.fromkeys(known)), order)

    def as_kept(self) -> dict[str, Any] | None:
        """What to keep; None where nothing was chosen."""
        kept: dict[str, Any] = {_SHOWN: list(self.columns)} if self.columns else {}
        if self.order is not None:
            kept |= {_SORT: self.order.key, _DOWN: self.order.descending}
        return kept or None


def _is_column(key: object) -> TypeGuard[str]:
    return isinstance(key, str) and key in COLUMNS


AS_USUAL = Arrangement()
"""Nothing was chosen."""
