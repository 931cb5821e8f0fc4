"""The screen for the voice and packs of a lock, and the dialog for its vendor and model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.reactive import var
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Label, Static, Tree

from lockterm.domain import languages
from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.safe_text import clean
from lockterm.domain.text.service import describe_read_only
from lockterm.domain.voices import Language, VoicePack, name_pack, pack_source
from lockterm.errors import LocktermError, ResultUnknownError, ServiceError, StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Fetched, Operations
from lockterm.operations.list_state import LoadState, load
from lockterm.screens.base import LocktermScreen
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.modal import LocktermModal
from lockterm.screens.voice.packs import DownloadModal, PacksPanel
from lockterm.screens.voice.voices import VoicesOfLocks, VoicesPanel, about, format_voice_choice
from lockterm.terminal.clipboard import copy
from lockterm.terminal.key_queue import opening, opens
from lockterm.widgets.actions import bindings
from lockterm.widgets.form_field import CompactButton
from lockterm.widgets.line_table import LineTable
from lockterm.widgets.text_input import FindLine, SingleLineInput, TextInput

if TYPE_CHECKING:
    from datetime import tzinfo

    from lockterm.domain.operation import Operation

SETTLE_S = 0.15
"""Seconds for which the cursor must stay on a pack before lockterm reads its details."""


class VoiceScreen(LocktermScreen[VoiceChoice | None]):
    """The screen that sets the voice of a lock, or returns the voice chosen for several locks.

    Args:
        operations: The operations on the service and the local store.
        entry: The lock book entry of the lock.
        many: The locks to choose a voice for, including ``entry``; empty for ``entry`` alone.
    """

    BINDINGS = bindings("voice")

    entry: var[Lock] = var(Lock(0), init=False)
    """The lock book entry of the lock."""

    voices: var[LoadState[list[Language]]] = var(LoadState, init=False)
    """The languages of the lock's model (contract 4.10), with their loading state."""

    packs: var[LoadState[list[VoicePack]]] = var(LoadState, init=False)
    """The packs of the lock (contract 4.9), with their loading state."""

    details: var[dict[str, VoicePack | LocktermError]] = var(dict, init=False)
    """Maps the names of the packs that were read to their details (contract 4.11) or the error."""

    def __init__(self, operations: Operations, entry: Lock, many: Sequence[Lock] = ()) -> None:
        super().__init__(operations)
        self._many = VoicesOfLocks(operations, many) if many else None
        self.set_reactive(VoiceScreen.entry, entry)
        self._names: dict[str, languages.LanguageName | None] = {}
        """Maps language codes to language names; the value is None if the language is unknown."""
        self._sending: VoiceChoice | None = None
        self._unsure: VoiceChoice | None = None

    def breadcrumbs(self) -> tuple[str, ...]:
        return ("Locks", self._many.title if self._many else self.entry.title, "Voice")

    def compose_body(self) -> ComposeResult:
        """Compose the voices beside the packs of the lock, and the current voice below."""
        with Container(id="halves"):
            yield VoicesPanel(id="voices")
            yield PacksPanel(id="packs")
        yield FindLine()
        yield Static(id="voice-now", markup=False)
        yield Static(id="voice-about", markup=False)

    # --- loading -------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.watch_voices()
        self.watch_packs()
        self.load_packs()
        self._begin()

    @work
    @opens("the voices")
    async def _begin(self) -> None:
        """Read the voices. If the lock book has no vendor and model, ask for these first."""
        with suppress(StoreError):  # the data from the caller is enough
            found = await self.operations.locks.find(self.entry.lock_id)
            if found != Lock(found.lock_id):
                self.entry = found
        if self._has_model:
            self.load_voices()
        else:
            await self._ask_for_model()
        with suppress(StoreError):  # the time of the last view is not essential
            await self.operations.locks.note_opened(self.entry)

    @work(exclusive=True, group="voices")
    async def load_voices(self) -> None:
        """Read the languages of the lock's model, or of all models if there are several locks."""
        vendor, model, many = self.entry.vendor, self.entry.model, self._many
        voices = self.operations.voices

        async def read() -> Fetched[list[Language]]:
            value = await (voices.languages(vendor, model) if many is None else many.read())
            await self._learn_names(value)
            return Fetched.now(value, self.operations.clock)

        async def kept() -> Fetched[list[Language]] | None:
            read = many.kept() if many is not None else voices.cached_languages(vendor, model)
            cached = await read
            if cached is not None:
                await self._learn_names(cached.value)
            return cached

        def show(state: LoadState[list[Language]]) -> None:
            self.voices = state

        with opening(self, "the voices") as opened:
            await load(lambda: self.voices, show, read, kept)
            opened.has_failed = self.voices.value is None
        if self.voices.error is not None:
            self.keep_refusal(self.voices.error)

    async def _learn_names(self, value: Sequence[Language]) -> None:
        codes = {language.lang for language in value if language.lang}
        self._names = await asyncio.to_thread(lambda: {c: languages.name_of(c) for c in codes})

    @work(exclusive=True, group="packs")
    async def load_packs(self) -> None:
        """Read the packs of the lock."""
        lock_id = self.entry.lock_id

        async def read() -> Fetched[list[VoicePack]]:
            value = await self.operations.voices.packs(lock_id)
            return Fetched.now(value, self.operations.clock)

        def show(state: LoadState[list[VoicePack]]) -> None:
            self.packs = state

        read_cached = partial(self.operations.voices.cached_packs, lock_id)
        await load(lambda: self.packs, show, read, read_cached)
        if self.packs.error is not None:
            self.keep_refusal(self.packs.error)

    @work(exclusive=True, group="detail")
    async def load_detail(self, name: str) -> None:
        """Read the details of a pack if the cursor stays on the pack for :data:`SETTLE_S`."""
        await asyncio.sleep(SETTLE_S)
        try:
            detail: VoicePack | LocktermError
            detail = await self.operations.voices.pack(self.entry.lock_id, name)
        except ServiceError as error:
            self.keep_refusal(error)
            detail = error
        self.details = {**self.details, name: detail}

    # --- watchers ------------------------------------------------------------------------------

    def watch_entry(self) -> None:
        """Update the screen after the lock's name, model, zone or voice changed."""
        self.show_crumbs()
        self.watch_voices()
        self.watch_packs()

    @on(FindLine.Changed)
    def watch_voices(self) -> None:
        """Show the voices that match the search text, and the current voice."""
        wanted = self.query_one(FindLine).value
        panel = self.query_one(VoicesPanel)
        panel.show_voices(self.voices, self._names, self.entry, wanted, self._zone, many=self._many)
        self._tell()

    def watch_packs(self) -> None:
        self.query_one(PacksPanel).show_packs(self.packs, self._zone)
        self.watch_details()

    @on(LineTable.Moved)
    def watch_details(self) -> None:
        """Show the details of the selected pack. If they were not read yet, read them."""
        panel = self.query_one(PacksPanel)
        if not self._packs_focused:
            panel.follow_voice(self.query_one(VoicesPanel).entry, self.details)
        missing = panel.show_detail(self.details, self._zone)
        if missing is not None:
            self.load_detail(missing)
        self.refresh_bindings()

    @on(Tree.NodeHighlighted)
    def _tell(self) -> None:
        """Update the texts about the current voice and the selected line."""
        now = f"Voice now: {self._voice_now()}"
        if self.entry.voice is None:
            now += ". The service cannot report the voice."
        entry = self.query_one(VoicesPanel).entry
        if self._many:
            now = (
                self._many.describe_locks(entry.choice if entry else None)
                if self.voices.value
                else ""
            )
        if self._sending is not None:
            now = f"Sending {self._format_voice(self._sending)} ..."
        elif self._unsure is not None:
            unsure = self._format_voice(self._unsure)
            now = f"Voice now: perhaps {unsure} (unconfirmed). Before: {self._voice_now()}"
        self.query_one("#voice-now", Static).update(now, layout=False)
        about_text = about(entry, self._names) if entry else ""
        self.query_one("#voice-about", Static).update(about_text, layout=False)
        self.watch_details()

    def _voice_now(self) -> str:
        if self.entry.voice is None:
            return "unknown"
        since = self.entry.voice_since(self._zone, self.operations.machine_ms())
        return f"{self._format_voice(self.entry.voice)}, {since}"

    def _format_voice(self, choice: VoiceChoice) -> str:
        return format_voice_choice(choice, self.voices.value or ())

    # --- handlers ------------------------------------------------------------------------------

    @on(FindLine.Left)
    def _to_the_tree(self) -> None:
        self.query_one(VoicesPanel).voices.focus()

    def show_notices(self, connection_text: str, unconfirmed: tuple[Operation, ...]) -> None:
        """Show the notices. If the service is reachable again, repeat the requests that failed."""
        super().show_notices(connection_text, unconfirmed)
        if self.may_read_again(self.voices.error) and not self.voices.busy:
            self.load_voices()
        if self.may_read_again(self.packs.error) and not self.packs.busy:
            self.load_packs()

    # --- setting -------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        if action == "set_voice":
            return self._why_not_set()
        if action == "vendor_model" and self._many:
            return with_keys(
                "This screen shows several locks. To set vendor and model, press {locks.edit}"
                " in the lock book."
            )
        if action in ("copy_url", "fetch_pack") and not self._url:
            return "The selected row has no pack URL."
        if action == "copy_md5" and not self._md5:
            if self._packs_focused:
                return "The service has not reported an MD5 of this pack."
            return "The MD5 of this voice has not been read. Press Tab to see the packs."
        return ""

    def _why_not_set(self) -> str:
        if self.operations.profile.read_only and not self._many:  # several locks only get a plan
            return describe_read_only(self.operations.profile.name)
        if self._sending is not None:
            return "lockterm is still sending the voice that you chose before."
        if self._packs_focused:
            return "This list shows packs. Press Tab to go to the voices, and choose a timbre."
        entry = self.query_one(VoicesPanel).entry
        if entry is None or entry.timbre is None:
            return "Select a voice in the lines below a language."
        if entry.choice is None:
            return "The service gave this voice no language code or no ID, so it cannot be set."
        return ""

    @work
    @opens("the voice")
    async def action_set_voice(self) -> None:
        """Set the selected voice after a confirmation.

        If there are several locks, close the screen with the voice as the result.
        """
        entry = self.query_one(VoicesPanel).entry
        if entry is None or entry.choice is None:
            return
        if self._many:
            self.dismiss(entry.choice)
            return
        confirm = ConfirmModal(
            f"Set the voice of {clean(self.entry.title, 60)} (lock {self.entry.lock_id})?",
            f"From  {self._voice_now()}\nTo    {self._format_voice(entry.choice)}",
            verb="Set the voice",
            keep="Keep",
        )
        if await self.app.push_screen_wait(confirm):
            # The app runs this worker, because leaving the screen must not stop the request.
            self.app.run_worker(self._send(self.entry, entry.choice))

    async def _send(self, lock: Lock, choice: VoiceChoice) -> None:
        self._sending = choice
        self._repaint()
        try:
            await self.operations.writes.set_voice(lock, choice)
        except LocktermError as error:
            if isinstance(error, ResultUnknownError):
                self._unsure = choice
            self.tell(error)
        else:
            self._unsure = None
            now_ms = self.operations.machine_ms()
            self.set_reactive(VoiceScreen.entry, replace(self.entry, voice=choice, voice_ms=now_ms))
            voice = clean(" ".join(choice), 40)
            self.tell_recorded(f"Set voice {voice} on {clean(lock.title, 60)}")
        finally:
            self._sending = None
            self._repaint()

    def _repaint(self) -> None:
        if self.is_attached:
            self.watch_voices()

    # --- other actions -------------------------------------------------------------------------

    @property
    def _zone(self) -> tzinfo:
        return self.operations.zone(self.entry)

    @property
    def _has_model(self) -> bool:
        """Whether vendor and model are known, which determine the available voices."""
        return bool(self.entry.vendor and self.entry.model)

    @property
    def _packs_focused(self) -> bool:
        return self.query_one(PacksPanel).table.has_focus

    @property
    def _url(self) -> str:
        if self._packs_focused:
            return self._detail.timbre_pack_url or "" if self._detail else ""
        return self._timbre_url

    @property
    def _timbre_url(self) -> str:
        entry = self.query_one(VoicesPanel).entry
        return entry.timbre.timbre_pack_url or "" if entry and entry.timbre else ""

    @property
    def _md5(self) -> str:
        return self._detail.file_md5 or "" if self._detail else ""

    @property
    def _detail(self) -> VoicePack | None:
        """The details of the pack that the user has selected; None if they were not read.

        While the packs do not have the focus, this is the pack of the selected voice.
        """
        read = {n: one for n, one in self.details.items() if not isinstance(one, LocktermError)}
        if self._packs_focused:
            pack = self.query_one(PacksPanel).pack
            return read.get(pack.name or "") if pack else None
        url = self._timbre_url  # only the URL links a timbre to a pack
        return next((one for one in read.values() if url and one.timbre_pack_url == url), None)

    def action_find(self) -> None:
        self.query_one(FindLine).open()

    def action_copy_url(self) -> None:
        copy(self.app, self._url, "URL")

    def action_copy_md5(self) -> None:
        copy(self.app, self._md5, "MD5")

    @work
    @opens("the voice pack", must_appear=True)
    async def action_fetch_pack(self) -> None:
        """Download the selected pack or the pack of the selected voice.

        The size and the MD5 of the download are compared with those that the service reports.
        """
        title, detail, url = "", self._detail, self._url
        entry, pack, timbre = self.query_one(VoicesPanel).entry, None, None
        if self._packs_focused:
            pack = self.query_one(PacksPanel).pack
        elif entry is not None:
            timbre = entry.timbre
        if detail is None and timbre is not None and not self._many:
            lock_id, name = self.entry.lock_id, timbre.timbre or ""
            detail = await self.operations.voices.find_pack(lock_id, url, name)
        if detail is not None:
            title = detail.label or detail.name or ""
        elif timbre is not None:
            title = timbre.name or timbre.timbre or ""
        named = (*self.entry.file_name_parts, *name_pack(url, self.voices.value or (), detail))
        source = pack_source(url, named, (detail, pack, timbre))
        self.app.push_screen(DownloadModal(self.operations, source, title or "(no name)"))

    @work
    @opens("vendor and model", must_appear=True)
    async def action_vendor_model(self) -> None:
        await self._ask_for_model()

    async def _ask_for_model(self) -> None:
        book: list[Lock] = []
        with suppress(StoreError):
            book = await self.operations.locks.all()
        answer = await self.app.push_screen_wait(VendorModelModal(self.entry, book))
        if answer is None:
            return
        vendor, model = answer
        self.voices = LoadState()
        self.entry = replace(self.entry, vendor=vendor, model=model)
        with self.showing_errors():
            await self.operations.locks.save(self.entry)
        self.load_voices()

    def action_refresh(self) -> None:
        """Read the voices and packs again. The old rows stay until the service answers."""
        self.details = {}
        self.load_packs()
        if self._has_model:
            self.load_voices()

    def action_back(self) -> None:
        """Clear the search text. If there is no search text, close the screen."""
        find = self.query_one(FindLine)
        if find.value:
            find.action_close()
        else:
            self.dismiss(None)


class VendorModelModal(LocktermModal[tuple[str, str] | None]):
    """A dialog for the vendor and the model, which the call ``voice/packs`` needs (contract 4.10).

    The result is the vendor and the model, or None if canceled.

    Args:
        entry: The lock book entry of the lock.
        book: The locks of the lock book, whose vendors and models are suggested.
    """

    heading = "Vendor and model"
    is_form = True

    def __init__(self, entry: Lock, book: Sequence[Lock]) -> None:
        super().__init__()
        self._entry = entry
        self._vendors = sorted({lock.vendor for lock in book if lock.vendor})
        self._models = sorted({lock.model for lock in book if lock.model})

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(
                f"Which vendor and model does {clean(self._entry.title, 40)} have?",
                markup=False,
                classes="question",
            )
            yield Label("Use the service's spelling. The lock book stores both.")
            with Horizontal(classes="field"):
                yield Label("Vendor")
                yield self._input("vendor", self._entry.vendor, self._vendors)
            with Horizontal(classes="field"):
                yield Label("Model")
                yield self._input("model", self._entry.model, self._models)
            yield Label("", id="wrong")
            with Horizontal(classes="buttons"):
                yield CompactButton("Cancel", id="keep")
                yield CompactButton("Save and read voices", id="act", variant="primary")

    @staticmethod
    def _input(name: str, value: str, known: list[str]) -> Input:
        """Return a field of the dialog.

        Enter moves to the next field. In the last field, Enter submits the dialog.
        """
        text = clean(value)
        first = name == "vendor"
        typed = TextInput(text, id=name) if first else SingleLineInput(text, id=name)
        typed.suggester = SuggestFromList(known, case_sensitive=False)
        return typed

    def on_mount(self) -> None:
        self.query_one("#vendor").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "act":
            self._answer()
        else:
            self.dismiss(None)

    def on_input_submitted(self) -> None:
        """Submit the dialog on Enter, which would otherwise move the focus to the Cancel button."""
        self._answer()

    def _answer(self) -> None:
        typed = [clean(self.query_one(name, Input).value).strip() for name in ("#vendor", "#model")]
        if all(typed):
            self.dismiss((typed[0], typed[1]))
            return
        self.query_one("#wrong", Label).update("! Vendor and model are required.")
        self.query_one("#model" if typed[0] else "#vendor").focus()
