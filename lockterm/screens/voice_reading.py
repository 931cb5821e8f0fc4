"""What the voice screen reads: the languages of the model, the packs of the lock, their details."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import work
from textual.reactive import reactive

from lockterm import languages
from lockterm.errors import LocktermError, ServiceError, StoreError
from lockterm.models.locks import Lock
from lockterm.operations import Operations
from lockterm.screens.base import SOON_S, LocktermScreen
from lockterm.widgets.state_panel import Reading

if TYPE_CHECKING:
    from lockterm.models.operation import Operation
    from lockterm.models.voices import Language, VoicePack

SETTLE_S = 0.15
"""How long the cursor rests on a pack before its detail is asked for, in seconds."""


class VoiceReadings(LocktermScreen[None]):
    """Keeps the readings of a lock's voices; each is nothing, a value, an error, or stale.

    Args:
        operations: The one door to service and store.
        entry: The lock.
    """

    voices: reactive[Reading[Sequence[Language]]] = reactive(Reading, init=False)
    """The languages of the lock's model (4.10)."""

    packs: reactive[Reading[Sequence[VoicePack]]] = reactive(Reading, init=False)
    """The packs of the lock (4.9)."""

    details: reactive[dict[str, VoicePack | LocktermError]] = reactive(dict, init=False)
    """Name of a pack -> its detail (4.11), or why there is none; a pack not in it was not read."""

    entry: reactive[Lock] = reactive(Lock(0), init=False)
    """The lock, as the lock book has it."""

    def __init__(self, operations: Operations, entry: Lock) -> None:
        super().__init__(operations)
        self.set_reactive(VoiceReadings.entry, entry)
        self.names: dict[str, languages.LanguageName | None] = {}
        """Language code -> what it is called."""

    @property
    def has_model(self) -> bool:
        """Whether vendor and model are known, which decide what voices there are."""
        return bool(self.entry.vendor and self.entry.model)

    @work
    async def begin(self) -> None:
        """Read the voices; where the book does not know the model, ask for it first."""
        await self.read_entry()
        if self.has_model:
            self.load_voices()
        else:
            await self._ask_for_model()

    async def read_entry(self) -> None:
        """Take the lock's entry from the book, where it has one."""
        lock_id = self.entry.lock_id
        try:
            found = await self.operations.find_lock(lock_id)
        except StoreError:  # what the caller knew of the lock is enough
            return
        if found != Lock(lock_id):
            self.entry = found

    @work(exclusive=True, group="voices")
    async def load_voices(self) -> None:
        """Read the languages of the lock's model."""
        vendor, model = self.entry.vendor, self.entry.model
        self.voices = replace(self.voices, busy=True)
        slow = self.set_timer(SOON_S, self._show_kept_voices)
        try:
            value = await self.operations.languages(vendor, model)
        except ServiceError as error:
            await self._show_kept_voices()
            self.voices = replace(self.voices, error=error, busy=False, kept=False)
            return
        finally:
            slow.stop()
        await self._learn_languages(value)
        self.voices = Reading(tuple(value), None, self.operations.now_ms())

    async def _show_kept_voices(self) -> None:
        """Until the service answers, show the voices as they once were."""
        kept = await self.operations.cached_languages(self.entry.vendor, self.entry.model)
        if kept is not None and self.voices.value is None:
            await self._learn_languages(kept.value)
            if self.voices.value is None:
                self.voices = Reading(tuple(kept.value), None, kept.at_ms, busy=True, kept=True)

    async def _learn_languages(self, value: Sequence[Language]) -> None:
        codes = {language.lang for language in value if language.lang}
        self.names = await asyncio.to_thread(lambda: {c: languages.name_of(c) for c in codes})

    @work(exclusive=True, group="packs")
    async def load_packs(self) -> None:
        """Read the packs of the lock."""
        self.packs = replace(self.packs, busy=True)
        slow = self.set_timer(SOON_S, self._show_kept_packs)
        try:
            value = await self.operations.voice_packs(self.entry.lock_id)
        except ServiceError as error:
            await self._show_kept_packs()
            self.packs = replace(self.packs, error=error, busy=False, kept=False)
            return
        finally:
            slow.stop()
        self.packs = Reading(tuple(value), None, self.operations.now_ms())

    async def _show_kept_packs(self) -> None:
        """Until the service answers, show the packs as they once were."""
        kept = await self.operations.cached_voice_packs(self.entry.lock_id)
        if kept is not None and self.packs.value is None:
            self.packs = Reading(tuple(kept.value), None, kept.at_ms, busy=True, kept=True)

    @work(exclusive=True, group="detail")
    async def load_detail(self, name: str) -> None:
        """Read the detail of a pack, once the cursor rests on it."""
        await asyncio.sleep(SETTLE_S)
        try:
            detail = await self.operations.voice_pack(self.entry.lock_id, name)
        except ServiceError as error:
            self.details = {**self.details, name: error}
        else:
            self.details = {**self.details, name: detail}

    @work
    async def action_vendor_model(self) -> None:
        """Say which vendor and model the lock is."""
        await self._ask_for_model()

    async def _ask_for_model(self) -> None:
        from lockterm.screens.lock_dialogs import VendorModelModal

        book: list[Lock] = []
        with suppress(StoreError):
            book = await self.operations.locks()
        answer = await self.app.push_screen_wait(VendorModelModal(self.entry, book))
        if answer is None:
            return
        vendor, model = answer
        self.voices = Reading()
        self.entry = replace(self.entry, vendor=vendor, model=model)
        with self.showing_errors():
            await self.operations.save_lock(self.entry)
        self.load_voices()

    def read_again(self) -> None:
        """Read everything anew; what is shown stays until then."""
        self.details = {}
        self.load_packs()
        if self.has_model:
            self.load_voices()

    def show_notices(self, offline: str, unsettled: tuple[Operation, ...]) -> None:
        """Read what could not be read while the service was out of reach."""
        super().show_notices(offline, unsettled)
        if not self.may_read_again:
            return
        if self.voices.error is not None and not self.voices.busy:
            self.load_voices()
        if self.packs.error is not None and not self.packs.busy:
            self.load_packs()
