"""The profiles of the configuration as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockterm.config.file import color_key
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.sorting import natural, sorted_by
from lockterm.widgets.row_table import Column, RowTable

if TYPE_CHECKING:
    from lockterm.config.profiles import ProfileEntry

BROKEN = "BROKEN"


class ProfilesTable(RowTable):
    """Name, host, state, whether it is read-only, zone, color."""

    sortable = ("Profile", "Host", "Read-only", "Zone", "Color")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            Column("Profile", most=24, least=10),
            Column("Host", most=40, least=22),
            Column("", most=16, least=16),
            Column("Read-only", most=9, least=9, rank=1),
            Column("Zone", most=24, least=10, rank=3),
            Column("Color", most=6, rank=2),
            id=id,
        )

    def show_profiles(
        self, entries: Sequence[ProfileEntry], in_use: str, cursor: str | None = None
    ) -> None:
        """Replace the rows.

        Args:
            entries: In the order of the file, unless a title was clicked.
            in_use: The name of the profile of this session.
            cursor: The profile to stand on; by default the one of now.
        """
        rows = {entry.name: _cells(entry, in_use) for entry in entries}
        if (sorting := self.sorting) is not None:
            column = [one.title for one in self._plan].index(sorting.key)
            order = sorted_by(
                [*rows],
                lambda name: None if rows[name][column] == "-" else natural(rows[name][column]),
                descending=sorting.descending,
            )
            rows = {name: rows[name] for name in order}
        self.show(rows, cursor)


def _cells(entry: ProfileEntry, in_use: str) -> tuple[str, ...]:
    marks = [
        BROKEN if entry.error else "",
        "in use" if entry.name == in_use else "",
        "default" if entry.is_default else "",
    ]
    profile = entry.profile
    if profile is None:
        host = str(entry.filed.get("base_url", "")).partition("://")[2]
        read_only, zone = "-", str(entry.filed.get("timezone", "-"))
        color = str(entry.filed.get(color_key(entry.filed), "-"))
    else:
        read_only = "yes" if profile.read_only else "no"
        host, zone, color = profile.host, profile.timezone, profile.color or "-"
    shown = (entry.name, host or "-", ", ".join(filter(None, marks)), read_only, zone, color)
    return tuple(clean(value, LONGEST_CELL) for value in shown)
