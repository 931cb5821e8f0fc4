"""The half of the voice screen with the voices there are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING

from lockterm.domain.glyphs import quoted
from lockterm.domain.languages import LanguageName
from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.keymap.hints import key, with_keys
from lockterm.operations.load_state import LoadState
from lockterm.screens.voice.half_panel import HalfPanel
from lockterm.screens.voice.voice_tree import VoiceLine, VoiceTree

if TYPE_CHECKING:
    from lockterm.domain.voices import Language
    from lockterm.screens.voice.of_many import OfMany


class VoicesPanel(HalfPanel):
    """The languages of a model and their timbres."""

    def __init__(self, *, id: str | None = None) -> None:
        self.voices = VoiceTree()
        super().__init__("Voices", self.voices, id=id)

    @property
    def entry(self) -> VoiceLine | None:
        """What the cursor stands on; None while no voices are shown."""
        return self.voices.entry if self.voices.display else None

    def show_voices(
        self,
        state: LoadState[list[Language]],
        names: Mapping[str, LanguageName | None],
        lock: Lock,
        wanted: str,
        zone: tzinfo,
        many: OfMany | None = None,
    ) -> None:
        """Show what is known now.

        Args:
            state: The languages.
            names: What their codes mean.
            lock: Its vendor and model decide which voices there are; its voice is marked.
            wanted: What is searched for; empty: everything.
            zone: In which times are shown.
            many: The locks that it is about, where they are many: each line says how many have it.
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
        words: tuple[str, ...] = ("Reading the voices ...",)
        if not has_model:
            words = (
                "Vendor and model decide which voices there are."
                " The lock book does not know them for this lock.",
                with_keys("{voice.vendor_model}  say vendor and model"),
            )
        elif wanted and known:
            words = (f"No voice matches {quoted(clean(wanted, 60))}.", "escape  show all")
        elif state.value is not None:
            words = (
                f"The service has no voices for {model}.",
                with_keys(
                    "{voice.vendor_model}  change vendor and model\n{voice.refresh}  refresh"
                ),
            )
        cut = f"Voices: some, {key('voice.find')} finds the others of {model}"
        heading = cut if self.voices.is_cut else f"Voices of {model}"
        self.set_heading(heading if has_model else "Voices")
        self.show_state(state, bool(found or (known and not wanted)), words, zone)
        if self.voices.display and self.screen.focused is None:
            self.voices.focus()
