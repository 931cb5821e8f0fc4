"""What the service says about one voice pack (2.5)."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING

from rich.cells import chop_cells
from textual.widgets import Static

from lockterm import moments
from lockterm.errors import LocktermError
from lockterm.keymap.spoken import key
from lockterm.text import clean

if TYPE_CHECKING:
    from lockterm.models.voices import VoicePack

LABEL = 5
"""Cells of a label and the gap behind it; an MD5 then fits into half a terminal."""


class PackDetail(Static):
    """Size, MD5, time of the update, URL, label."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._fields: dict[str, str] = {}

    def show_pack(self, pack: VoicePack, zone: tzinfo) -> None:
        """Show every field; times in ``zone``."""
        size = None if pack.file_size is None else size_words(pack.file_size)
        at_ms = None if pack.updated_at is None else moments.as_ms(pack.updated_at)
        self._fields = {
            "Size": _shown(pack, "fileSize", size),
            "MD5": _shown(pack, "fileMd5", pack.file_md5),
            "Date": _shown(
                pack, "updated_at", None if at_ms is None else moments.stamp(at_ms, zone)
            ),
            "URL": _shown(pack, "timbrePackUrl", pack.timbre_pack_url),
            "Name": _shown(pack, "label", pack.label),
        }
        self._lay_out()

    def show_words(self, words: str) -> None:
        """A sentence in the place of a detail."""
        self._fields = {}
        self.update(clean(words, 300))

    def show_error(self, error: LocktermError) -> None:
        """Why there is no detail."""
        self.show_words(f"{error.title}: {error.message} {key('voice.refresh')} tries again.")

    def on_resize(self) -> None:
        """Break long values for the new width."""
        if self._fields:
            self._lay_out()

    def _lay_out(self) -> None:
        room = max((self.content_size.width or 40) - LABEL, 8)
        lines = []
        for label, value in self._fields.items():
            pieces = chop_cells(value, room) or [""]
            lines.append(f"{label:{LABEL}}{pieces[0]}")
            lines += [" " * LABEL + piece for piece in pieces[1:]]
        self.update("\n".join(lines))


def size_words(size: int) -> str:
    """``1.4 MiB (1,468,006 bytes)``."""
    exact = f"{size:,} byte{'' if size == 1 else 's'}"
    amount, units = float(size), iter(("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
    unit = ""
    while amount >= 1023.95:
        amount, unit = amount / 1024, next(units)
    return f"{amount:.1f} {unit} ({exact})" if unit else exact


def _shown(pack: VoicePack, field: str, value: str | None) -> str:
    """A value; what came instead of one of the contract's type is shown as it came."""
    if field in pack.odd:
        return f"{clean(pack.odd[field], 80)} (not as in the contract)"
    return clean(value, 200) if value else "not stated"
