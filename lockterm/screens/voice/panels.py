"""The two halves of the voice screen: the available voices, and the packs of the lock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, chop_cells
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from lockterm.domain import dates
from lockterm.domain.glyphs import quoted
from lockterm.domain.languages import LanguageName
from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count, format_size
from lockterm.domain.voices import find_listed_pack
from lockterm.errors import LONGEST_MEANING, LocktermError
from lockterm.keymap.hints import key, with_keys
from lockterm.operations.load_state import LoadState
from lockterm.screens.voice.voice_tree import VoiceLine, VoiceTree
from lockterm.widgets.cells import cut
from lockterm.widgets.line_table import LineTable
from lockterm.widgets.row_table import Column, RowTable
from lockterm.widgets.state_panel import StatePanel, in_a_line

if TYPE_CHECKING:
    from lockterm.domain.voices import Language, VoicePack
    from lockterm.screens.voice.voice_tree import VoicesOfLocks


class HalfPanel(Vertical):
    """A panel with a heading, a line about outdated data, and rows or an empty state.

    Args:
        heading: The initial heading.
        rows: The widget with the rows.
        below: A widget below the rows, shown with them.
    """

    def __init__(self, heading: str, rows: Widget, *below: Widget, id: str | None = None) -> None:
        super().__init__(id=id)
        self.border_title = Content(heading)
        self._heading = heading
        self._rows = rows
        self._below = below

    def compose(self) -> ComposeResult:
        yield Static(self._heading, classes="heading", markup=False)
        stale = Static(classes="stale", markup=False)
        stale.display = False
        yield stale
        yield self._rows
        yield from self._below
        yield StatePanel()
        self._show_rows(False)

    def set_heading(self, heading: str) -> None:
        """Set the heading in the frame and above the rows, only one of which is visible."""
        text = clean(heading, 120)
        self.border_title = Content(text)
        self.query_one(".heading", Static).update(text)

    def show_state(
        self, state: LoadState[Any], found: bool, words: Iterable[str], zone: tzinfo
    ) -> None:
        """Show the rows or the empty state, and a line about outdated data.

        Args:
            state: The loading state of the data.
            found: Whether there are rows to show.
            words: The text of the empty state, and the keys to press next.
            zone: The time zone of the time at which outdated data was read.
        """
        self._show_rows(found)
        panel = self.query_one(StatePanel)
        if not found:
            if state.seen is None and state.error is not None:
                panel.say_error(state.error, with_keys("{voice.refresh}  try again"))
            else:
                panel.say(*words)
        stale = self.query_one(".stale", Static)
        stale.display = state.seen is not None and state.stale
        if state.seen is None:
            return
        at = dates.day_time(state.seen.at_ms, zone, exact=False)
        if state.error is not None:
            again = with_keys("Press {voice.refresh} to try again.")
            stale.update(f"STALE, read at {at}. {in_a_line(state.error)[0]}. {again}")
        elif state.kept:
            stale.update(f"OLD, read at {at}. Reading again ...")

    def _show_rows(self, shown: bool) -> None:
        for widget in (self._rows, *self._below):
            widget.display = shown
        for state in self.query(StatePanel):
            state.display = not shown


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
        """Show the packs in their loading state, with times in ``zone``."""
        empty_state: tuple[str, ...] = ("Reading the packs of the lock ...",)
        if state.value is not None:
            empty_state = ("The lock has no voice packs.", with_keys("{voice.refresh}  refresh"))
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


_LABEL = 2
"""The index of the column with the labels of packs."""

_IN_TABLE = 32
"""The maximum width in cells of a name that narrow terminals show in full in the table."""


class PacksTable(RowTable):
    """The table of packs: name, day of the last update, and label (contract 2.4)."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            Column("Pack", most=40, least=12),
            Column("Updated", most=11, least=11, rank=1),
            Column("Label", most=40, least=8),  # last, because a label may be right-to-left text
            id=id,
        )
        self._packs: dict[str, VoicePack] = {}

    def show_packs(self, packs: Sequence[VoicePack], zone: tzinfo) -> None:
        """Show at most :data:`MOST_SHOWN` packs. Packs with the same name differ by their order."""
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
        self.hidden = frozenset(() if has_room else (_LABEL,))

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

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
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
        """Return a line that shows how to download a pack; empty if there is no room for it."""
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
    """Return a value as text. A value that is not a string is shown as received."""
    if field in pack.odd:
        return f"{clean(pack.odd[field], 80)} (unexpected value)"
    return clean(value, most) if value else "not stated"


class VoicesPanel(HalfPanel):
    """The panel with the languages of a lock's model and their timbres."""

    def __init__(self, *, id: str | None = None) -> None:
        self.voices = VoiceTree()
        super().__init__("Voices", self.voices, id=id)

    @property
    def entry(self) -> VoiceLine | None:
        """The selected line; None while no voices are shown."""
        return self.voices.entry if self.voices.display else None

    def show_voices(
        self,
        state: LoadState[list[Language]],
        names: Mapping[str, LanguageName | None],
        lock: Lock,
        wanted: str,
        zone: tzinfo,
        many: VoicesOfLocks | None = None,
    ) -> None:
        """Show the known voices.

        Args:
            state: The languages with their loading state.
            names: The names of languages by language code.
            lock: The lock, whose vendor and model determine the voices. The voice that lockterm
                last set for the lock is marked.
            wanted: The search text; empty to show all voices.
            zone: The time zone of the shown times.
            many: The locks, if the user chooses a voice for several locks. The panel then shows how
                many locks have a voice, unless all locks have that voice. None for the single
                ``lock``.
        """
        known = state.value or ()
        if many is None:
            found = self.voices.show(known, names, marked=lock.voice, wanted=wanted)
            model = clean(f"{lock.vendor} {lock.model}", 80)
        else:
            first = many.first_of_all(known)
            found = self.voices.show(known, names, first=first, wanted=wanted, held=many.held)
            model = format_count(len(many.locks), "marked lock")
        has_model = bool(lock.vendor and lock.model)
        empty_state: tuple[str, ...] = ("Reading the voices ...",)
        if not has_model:
            empty_state = (
                "Vendor and model determine the voices, but the lock book does not"
                " contain them for this lock.",
                with_keys("{voice.vendor_model}  set vendor and model"),
            )
        elif wanted and known:
            empty_state = (f"No voice matches {quoted(clean(wanted, 60))}.", "Esc  show all")
        elif state.value is not None:
            empty_state = (
                f"The service has no voices for {model}.",
                with_keys(
                    "{voice.vendor_model}  change vendor and model      {voice.refresh}  refresh"
                ),
            )
        cut = f"Not all voices shown; {key('voice.find')} finds the others"
        heading = cut if self.voices.is_cut else f"Voices of {model}"
        self.set_heading(heading if has_model else "Voices")
        self.show_state(state, bool(found or (known and not wanted)), empty_state, zone)
        if self.voices.display and self.screen.focused is None:
            self.voices.focus()
