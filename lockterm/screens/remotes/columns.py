"""The columns a table of remotes can have; what of them was chosen, and kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeGuard

from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import FIELDS
from lockterm.domain.safe_text import clean
from lockterm.errors import LocktermError
from lockterm.widgets.line_table import Sorting

if TYPE_CHECKING:
    from lockterm.config.preferences import Preferences


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
    field: Field
    """What it shows, by itself or with others."""

    @classmethod
    def of(
        cls,
        name: str,
        about: str,
        *,
        title: str = "",
        noun: str = "",
        directions: tuple[str, str] | None = None,
    ) -> Self:
        """The column of the field of that name; what it does not say is as the field says it."""
        field = FIELDS[name]
        ways = directions or _DIRECTIONS.get(field.kind, ("A to Z", "Z to A"))
        return cls(title or field.label, about, noun or field.called, ways, field)


_NUMBER = ("lowest first", "highest first")
_DIRECTIONS = {
    Kind.NUMBER: _NUMBER,
    Kind.DATE: ("earliest first", "latest first"),
    Kind.TIMESTAMP: ("oldest first", "newest first"),
}
_DAY = "the day; with room, the time"
_ENDS = ("first end first", "last end first")

COLUMNS: Mapping[str, RemoteColumn] = {
    "name": RemoteColumn.of("remoteName", "always there: actions name it"),
    "number": RemoteColumn.of("remoteNumber", "the remote's number", directions=_NUMBER),
    "type": RemoteColumn.of("remoteType", "permanent, time-limited, recurring"),
    "valid": RemoteColumn.of(
        "endDate", "since or until when, in short", title="Valid", noun="validity", directions=_ENDS
    ),
    "state": RemoteColumn.of("status", "what service and dates say", title="State", noun="state"),
    "added": RemoteColumn.of(
        "addType", "by bluetooth or by gateway", title="Added", noun="way added"
    ),
    "coerced": RemoteColumn.of("isCoerced", "whether it is a coerced one", noun="coerced"),
    "id": RemoteColumn.of("id", "the service's identifier of it"),
    "start": RemoteColumn.of("startDate", _DAY),
    "end": RemoteColumn.of("endDate", _DAY),
    "created": RemoteColumn.of("createTime", "when it was made"),
    "updated": RemoteColumn.of("updateTime", "when it was last changed"),
    "user": RemoteColumn.of("apiUserId", "number of an account that calls the service"),
}
"""Every field of a listed remote that fits a cell (2.3). The user number is none of them: a list
does not tell it (4.3), so that its column would be empty."""

ALWAYS = "name"
"""The column that is always there: without it, one would act on a remote one cannot tell apart."""

USUAL = ("name", "number", "type", "valid", "state", "added", "coerced")
"""Where nothing was chosen, as many of them as fit."""

_SHOWN, _SORT, _DOWN = "columns", "sort", "descending"
"""What the file of choices calls them."""


class SortOrder(Sorting):
    """What remotes are sorted by, in words too."""

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
    order: SortOrder | None = None
    """None: the order of the service."""

    @classmethod
    def of(cls, columns: tuple[str, ...], order: SortOrder | None) -> Self:
        """An arrangement; the usual columns in their usual places are no choice."""
        return cls(() if columns == USUAL else columns, order)

    @classmethod
    def read(cls, kept: Any) -> Self:
        """What was kept, as far as it makes sense: the file is edited by people."""
        if not isinstance(kept, dict):
            return cls()
        listed = kept.get(_SHOWN)
        known = [key for key in listed if _is_column(key)] if isinstance(listed, list) else []
        if known and ALWAYS not in known:
            known.insert(0, ALWAYS)
        sort = kept.get(_SORT)
        order = SortOrder(sort, kept.get(_DOWN) is True) if _is_column(sort) else None
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

KEPT_AS = "remotes.table"
"""What the file of choices calls it: one for all profiles and locks, as eyes and terminal are."""


class ColumnsChoice:
    """Which columns there are, in which order, and what the rows are sorted by.

    A sort is kept too: the pager says it at all times, and every action names its remote.

    Args:
        preferences: Where it is kept.
    """

    def __init__(self, preferences: Preferences) -> None:
        self._preferences = preferences
        self.arrangement = Arrangement.read(preferences.get(KEPT_AS))
        """What was chosen."""

    def use(self, chosen: Arrangement) -> str:
        """Keep a choice.

        Returns:
            Why it holds for this session only; empty: it is kept.
        """
        self.arrangement = chosen
        try:
            self._preferences.keep(KEPT_AS, chosen.as_kept())
        except (LocktermError, OSError) as error:
            why = error.message if isinstance(error, LocktermError) else f"{error}."
            return f"The columns hold until lockterm ends; they were not kept: {clean(why, 300)}"
        return ""
