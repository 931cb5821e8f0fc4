"""The half of the voice screen with the voices there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from lockterm.languages import LanguageName
from lockterm.models.locks import Lock
from lockterm.text import clean
from lockterm.widgets.half_panel import HalfPanel
from lockterm.widgets.state_panel import Reading
from lockterm.widgets.voice_tree import Entry, VoiceTree

if TYPE_CHECKING:
    from lockterm.models.voices import Language


class VoicesPanel(HalfPanel):
    """The languages of a model and their timbres."""

    def __init__(self, *, id: str | None = None) -> None:
        self.voices = VoiceTree()
        super().__init__("Voices", self.voices, id=id)

    @property
    def entry(self) -> Entry | None:
        """What the cursor stands on; None while no voices are shown."""
        return self.voices.entry if self.voices.display else None

    def show_voices(
        self,
        reading: Reading[Sequence[Language]],
        names: Mapping[str, LanguageName | None],
        lock: Lock,
        wanted: str,
        zone: tzinfo,
    ) -> None:
        """Show what is known now.

        Args:
            reading: The languages.
            names: What their codes mean.
            lock: Its vendor and model decide which voices there are; its voice is marked.
            wanted: What is searched for; empty: everything.
            zone: In which times are shown.
        """
        known = reading.value or ()
        found = self.voices.show(known, names, marked=lock.voice, wanted=wanted)
        model = clean(f"{lock.vendor} {lock.model}", 80)
        has_model = bool(lock.vendor and lock.model)
        words: tuple[str, ...] = ("Reading the voices there are ...",)
        if not has_model:
            words = (
                "Vendor and model decide which voices there are."
                " The lock book does not know them for this lock.",
                "e  say vendor and model",
            )
        elif wanted and known:
            words = (f"No voice matches “{clean(wanted, 60)}”.", "escape  show all")
        elif reading.value is not None:
            words = (
                f"The service has no voices for {model}.",
                "e  change vendor and model\nr  refresh",
            )
        self.set_heading(f"Voices of {model}" if has_model else "Voices")
        self.show_reading(reading, bool(found or (known and not wanted)), words, zone)
        if self.voices.display and self.screen.focused is None:
            self.voices.focus()
