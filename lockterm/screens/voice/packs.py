"""The panel with the voice packs of a lock, and the dialog that downloads a pack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells
from textual import events, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Label, ProgressBar, Static

from lockterm.domain import dates
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_size
from lockterm.domain.voices import PackSource, VoicePack, find_listed_pack
from lockterm.errors import LONGEST_MEANING, LocktermError
from lockterm.keymap.hints import key, with_keys
from lockterm.operations.list_state import LoadState
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.modal import LocktermModal
from lockterm.screens.voice.voices import HalfPanel, VoiceLine
from lockterm.terminal.patches import DrawnBar
from lockterm.widgets.cells import cut
from lockterm.widgets.data_status import KeyOffers
from lockterm.widgets.form_field import CompactButton
from lockterm.widgets.line_table import LineTable
from lockterm.widgets.row_table import Column, RowTable

if TYPE_CHECKING:
    from lockterm.operations import Operations


MOST_SHOWN = 500
"""The maximum number of packs in the table, because thousands of packs would delay the keys."""

LONGEST = 80
"""The maximum number of characters that a cell shows of a string from the service."""

LONGEST_NAME = 2000
"""The maximum number of characters of a pack's name in the details, where it may wrap.

Requests identify a pack by its name, so users must be able to see the whole name.
"""

LABEL = 5
"""The width of a label and the gap after it, in cells. With this width, an MD5 fits into half a
terminal."""


class PacksPanel(HalfPanel):
    """The panel with the packs of a lock, and the details of the selected pack."""

    def __init__(self, *, id: str | None = None) -> None:
        self.table = PacksTable()
        self._detail = PackDetail()
        self._has_no_pack = False
        """Whether the selected voice has no pack."""
        super().__init__("Packs of the lock", self.table, self._detail, id=id)

    @property
    def pack(self) -> VoicePack | None:
        """The selected pack; None if there is none."""
        return self.table.pack if self.table.display else None

    def show_packs(self, state: LoadState[list[VoicePack]], zone: tzinfo) -> None:
        """Show the packs, or that they are loading or failed to load, with times in ``zone``."""
        empty_state: tuple[str, KeyOffers] = ("Reading the packs of the lock ...", {})
        if state.value is not None:
            empty_state = ("The lock has no voice packs.", {"{voice.refresh}": "refresh"})
        packs = state.value or ()
        is_cut, count = len(packs) > MOST_SHOWN, f"{len(packs):,}"
        cut = f"Packs: the first {MOST_SHOWN:,} of {count}"
        self.set_heading(cut if is_cut else "Packs of the lock")
        self.table.show_packs(packs, zone)
        self.show_state(state, bool(state.value), empty_state, zone)

    def follow_voice(
        self, entry: VoiceLine | None, details: Mapping[str, VoicePack | LocktermError]
    ) -> None:
        """Select the pack of the selected voice, so that its details are shown.

        Args:
            entry: The selected line of the tree of voices. For the line of a language, the same
                pack stays selected.
            details: The details or the error of each pack that was read, by its name.
        """
        self._has_no_pack = False
        if entry is None or entry.timbre is None or not self.table.display:
            return
        read = {name: one for name, one in details.items() if not isinstance(one, LocktermError)}
        place = find_listed_pack(entry.timbre, entry.language.lang, self.table.packs, read)
        self._has_no_pack = place is None
        if place is not None and place != self.table.cursor_row:
            self.table.move_cursor(place)

    def on_descendant_focus(self) -> None:
        """Show the details of the selected pack instead of those of the selected voice's pack."""
        self.post_message(LineTable.Moved())

    def on_descendant_blur(self) -> None:
        """Show the details of the selected voice's pack again."""
        self.post_message(LineTable.Moved())

    def show_detail(
        self, details: Mapping[str, VoicePack | LocktermError], zone: tzinfo
    ) -> str | None:
        """Show the details of the selected pack.

        Returns:
            The name of the pack if its details must still be read, otherwise None.
        """
        pack = self.pack
        if pack is None:
            return None
        if self._has_no_pack and not self.table.has_focus:
            self._detail.show_text("The service lists no pack of this voice for the lock.")
            return None
        if not pack.name:
            self._detail.show_text(
                "This pack has no name, so the service cannot return its details."
            )
            return None
        detail = details.get(pack.name)
        if detail is None:
            self._detail.show_text("Reading the details of the pack ...")
            return pack.name
        if isinstance(detail, LocktermError):
            self._detail.show_error(detail)
        else:
            self._detail.show_pack(detail, zone)
        return None


_LABEL_COLUMN = 2
"""The index of the column with the labels of packs."""

_IN_TABLE = 32
"""The maximum width of a pack's name, in cells, for which narrow terminals show the name only in
the table, not in the details."""


class PacksTable(RowTable):
    """The table of packs: name, day of the last update, and label (contract 2.4)."""

    def __init__(self) -> None:
        super().__init__(
            Column("Pack", most=40, least=12),
            Column("Updated", most=11, least=11, rank=1),
            Column("Label", most=40, least=8),  # last, because a label may be right-to-left text
        )
        self._packs: dict[str, VoicePack] = {}

    def show_packs(self, packs: Sequence[VoicePack], zone: tzinfo) -> None:
        """Show at most :data:`MOST_SHOWN` packs. Packs of the same name get different row keys."""
        self._choose_columns()
        self._packs, names = {}, Counter[str | None]()
        for pack in packs[:MOST_SHOWN]:
            self._packs[f"{names[pack.name]} {pack.name or ''}"] = pack
            names[pack.name] += 1
        self.show({key: _cells(pack, zone) for key, pack in self._packs.items()})

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns before the base class divides the width among the columns."""
        self._choose_columns()

    def _choose_columns(self) -> None:
        """Hide the column of labels if it would be cut, because the details show the label."""
        has_room = self.screen.has_class("-framed") or self.screen.has_class("-wide")
        self.hidden = frozenset(() if has_room else (_LABEL_COLUMN,))

    @property
    def packs(self) -> Sequence[VoicePack]:
        """The shown packs, from top to bottom."""
        return [*self._packs.values()]

    @property
    def pack(self) -> VoicePack | None:
        """The selected pack; None in an empty table."""
        key = self.highlighted
        return self._packs.get(key) if key is not None else None


class PackDetail(Static):
    """The details of a pack: name, size, MD5, time of the update, URL and label."""

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._fields: dict[str, str] = {}

    def show_pack(self, pack: VoicePack, zone: tzinfo) -> None:
        """Show every field of a pack, with times in ``zone``."""
        size = None if pack.file_size is None else format_size(pack.file_size)
        at_ms = None if pack.updated_at is None else dates.as_ms(pack.updated_at)
        at = None if at_ms is None else dates.day_time(at_ms, zone, exact=False)
        self._fields = {
            "Name": _shown(pack, "name", pack.name, LONGEST_NAME),
            "Size": _shown(pack, "fileSize", size),
            "MD5": _shown(pack, "fileMd5", pack.file_md5),
            "Date": _shown(pack, "updated_at", at),
            **self._way(pack),
            "URL": _shown(pack, "timbrePackUrl", pack.timbre_pack_url),
            "Text": _shown(pack, "label", pack.label),
        }
        self._lay_out()

    def _way(self, pack: VoicePack) -> dict[str, str]:
        """Return the line with the download key, as a label with a text; may be empty.

        There is no line if the pack has no URL, or if the terminal has no room for the line.
        """
        if not pack.timbre_pack_url or not self.screen.has_class("-framed"):
            return {}
        return {"Get": with_keys("press {voice.fetch} to fetch this pack")}

    def show_text(self, words: str) -> None:
        """Show a sentence in place of the details."""
        self._fields = {}
        self.update(clean(words, LONGEST_MEANING))

    def show_error(self, error: LocktermError) -> None:
        """Show why the details could not be read."""
        again = error.sentences_with(f"Press {key('voice.refresh')} to try again.")
        self.show_text(f"{error.title}: {again}")

    def on_resize(self) -> None:
        """Wrap long values again for the new width."""
        if self._fields:
            self._lay_out()

    def _lay_out(self) -> None:
        room = max((self.content_size.width or 40) - LABEL, 8)
        lines: list[Content] = []
        one_line = self.screen.has_class("-narrow")  # a second line would not fit
        for label, value in self._fields.items():
            if one_line and label == "Name" and cell_len(value) <= _IN_TABLE:
                continue
            pieces = chop_cells(value, room) or [""]
            if one_line and label != "Name":
                pieces = [cut(value, room)]
            look = "bold" if label == "Name" else ""
            lines.append(Content.assemble((f"{label:{LABEL}}", "dim"), (pieces[0], look)))
            lines += [Content.styled(" " * LABEL + piece, look) for piece in pieces[1:]]
        self.update(Content("\n").join(lines))


def _cells(pack: VoicePack, zone: tzinfo) -> tuple[str, ...]:
    updated = pack.updated_at
    return (
        clean(pack.name, LONGEST) if pack.name else "(no name)",
        "-" if updated is None else dates.day(dates.as_ms(updated), zone),
        clean(pack.label or "", LONGEST),
    )


def _shown(pack: VoicePack, field: str, value: str | None, most: int = 200) -> str:
    """Return a field's value as text. A value of an unexpected type is shown as received."""
    if field in pack.odd:
        return f"{clean(pack.odd[field], 80)} (unexpected value)"
    return clean(value, most) if value else "not stated"


PAINT_S = 0.5
"""Minimum seconds between two updates of the progress, because updates slow down the download."""


class DrawnProgressBar(ProgressBar):
    """A progress bar made of characters that every terminal can show."""

    BAR_RENDERABLE = DrawnBar


class DownloadModal(LocktermModal[Path | None]):
    """The dialog that downloads a voice pack and shows the progress.

    The result is the path of the pack, or None if the download is not complete. Closing the dialog
    stops the download and keeps the received bytes.

    Args:
        operations: The operations on the service and the local store.
        source: The URL of the pack, and the expected properties of the file.
        title: The name of the pack.
    """

    heading = "Fetch a pack"

    def __init__(self, operations: Operations, source: PackSource, title: str) -> None:
        super().__init__()
        self._operations = operations
        self._source = source
        self._title = title
        self._file: Path | None = None
        self._began_s = 0.0
        self._first = 0
        self._painted_s = 0.0

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(f"Voice pack {clean(self._title, 60)}", markup=False, classes="question")
            # Always set a total: an indeterminate bar repaints all the time, even on a slow link.
            yield DrawnProgressBar(self._source.size or 1, show_eta=False, id="progress")
            yield Static("Connecting ...", id="words", markup=False)
            with Horizontal(classes="buttons"):
                yield CompactButton(Content("Stop"), id="stop")

    def on_mount(self) -> None:
        self.fetch()

    @work(exclusive=True)
    async def fetch(self) -> None:
        """Download the pack, and show the result. If the pack is on another server, ask first."""
        self._began_s = monotonic()
        try:
            if server := await self._operations.voices.server_of(self._source):
                question = f"Fetch the voice pack {clean(self._title, 60)} from {server}?"
                own = clean(self._operations.profile.host, 80)
                details = (
                    f"The pack is on this server, not on the service {own}. lockterm sends no"
                    " header to this server."
                )
                modal = ConfirmModal(question, details, verb="Fetch the pack", keep="Do not fetch")
                if not await self.app.push_screen_wait(modal):
                    self.dismiss(None)
                    return
            self._file = await self._operations.voices.fetch(
                self._source, self._note_progress, server
            )
        except LocktermError as error:
            self._say(clean(f"{error.title}. {error.sentences}", LONGEST_MEANING))
        else:
            size = self._file.stat().st_size
            self.query_one(ProgressBar).update(total=size or 1, progress=size or 1)
            self._say(
                f"Saved {format_size(size)} to {clean(self._file)}\n{self._source.assurance}\n"
                "lockterm did not unpack or play the pack."
            )
        self.query_one("#stop", Button).label = Content("Close")

    def _note_progress(self, have: int, total: int | None) -> None:
        now_s = monotonic()
        if not self._painted_s:
            self._began_s, self._first = now_s, have
        if now_s - self._painted_s < PAINT_S and have != total:
            return
        self._painted_s = now_s
        self.query_one(ProgressBar).update(total=total or 1, progress=have if total else 0)
        text = f"{format_size(have)} of {format_size(total)}" if total else format_size(have)
        rate = (have - self._first) / max(now_s - self._began_s, 1e-3)
        if rate > 0 and now_s - self._began_s > PAINT_S:
            text += f", {format_size(rate)} per second"
            if total:
                left_s = (total - have) / rate
                text += (
                    f", {left_s:.0f} s left" if left_s < 120 else f", {left_s / 60:.0f} min left"
                )
        self._say(text)

    def _say(self, words: str) -> None:
        self.query_one("#words", Static).update(Content(words))

    def on_button_pressed(self) -> None:
        """Stop the download, or close the dialog if the download has ended."""
        self.dismiss(self._file)

    def action_cancel(self) -> None:
        """Stop the download, and keep the bytes received so far."""
        self.dismiss(self._file)
