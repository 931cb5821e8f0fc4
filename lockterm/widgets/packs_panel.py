"""The half of the voice screen with the packs of the lock and the detail of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from lockterm.errors import LocktermError
from lockterm.widgets.half_panel import HalfPanel
from lockterm.widgets.pack_detail import PackDetail
from lockterm.widgets.packs_table import PacksTable
from lockterm.widgets.state_panel import Reading

if TYPE_CHECKING:
    from lockterm.models.voices import VoicePack


class PacksPanel(HalfPanel):
    """The packs of a lock, and what the service says about the one under the cursor."""

    def __init__(self, *, id: str | None = None) -> None:
        self.table = PacksTable()
        self._detail = PackDetail()
        super().__init__("Packs of the lock", self.table, self._detail, id=id)

    @property
    def pack(self) -> VoicePack | None:
        """The pack under the cursor."""
        return self.table.pack if self.table.display else None

    def show_packs(self, reading: Reading[Sequence[VoicePack]], zone: tzinfo) -> None:
        """Show what is known now; times in ``zone``."""
        words: tuple[str, ...] = ("Reading the packs of the lock ...",)
        if reading.value is not None:
            words = ("The lock has no voice packs.", "r  refresh")
        self.table.show_packs(reading.value or (), zone)
        self.show_reading(reading, bool(reading.value), words, zone)

    def show_detail(
        self, details: Mapping[str, VoicePack | LocktermError], zone: tzinfo
    ) -> str | None:
        """Show the detail of the pack under the cursor.

        Returns:
            The pack's name where its detail has yet to be read.
        """
        pack = self.pack
        if pack is None:
            return None
        if not pack.name:
            self._detail.show_words("The service named no pack here, so it has no detail.")
            return None
        detail = details.get(pack.name)
        if detail is None:
            self._detail.show_words("Reading what the service says about it ...")
            return pack.name
        if isinstance(detail, LocktermError):
            self._detail.show_error(detail)
        else:
            self._detail.show_pack(detail, zone)
        return None
