"""The voice packs of a lock as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from lockterm import moments
from lockterm.text import clean
from lockterm.widgets.row_table import Column, RowTable

if TYPE_CHECKING:
    from lockterm.models.voices import VoicePack

LONGEST = 80
"""The most characters of a string of the service that are looked at for a cell."""


class PacksTable(RowTable):
    """Name, day of the last update, label (2.4)."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            Column("Pack", most=40, least=12),
            Column("Updated", most=11, least=11, rank=1),
            Column("Label", most=40, least=8),  # last: it may run from right to left
            id=id,
        )
        self._packs: dict[str, VoicePack] = {}

    def show_packs(self, packs: Sequence[VoicePack], zone: tzinfo) -> None:
        """Replace the rows; two packs of one name are told apart by their order."""
        self._packs = {}
        for pack in packs:
            count = sum(other.name == pack.name for other in self._packs.values())
            self._packs[f"{count} {pack.name or ''}"] = pack
        self.show({key: _cells(pack, zone) for key, pack in self._packs.items()})

    @property
    def pack(self) -> VoicePack | None:
        """The pack under the cursor."""
        key = self.highlighted
        return self._packs.get(key) if key is not None else None


def _cells(pack: VoicePack, zone: tzinfo) -> tuple[str, ...]:
    updated = pack.updated_at
    return (
        clean(pack.name, LONGEST) if pack.name else "(no name)",
        "-" if updated is None else moments.day(moments.as_ms(updated), zone),
        clean(pack.label or "", LONGEST),
    )
