"""The voice of a lock: the languages and timbres there are, and the packs it has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import DataTable, Static, Tree

from lockterm.errors import LocktermError, OutcomeUnknown
from lockterm.models.locks import Lock, VoiceChoice
from lockterm.operations import Operations
from lockterm.screens.voice_keys import KEYS
from lockterm.screens.voice_reading import VoiceReadings
from lockterm.text import clean
from lockterm.widgets.clipboard import copy
from lockterm.widgets.find_line import FindLine
from lockterm.widgets.packs_panel import PacksPanel
from lockterm.widgets.voice_tree import about, voice_words
from lockterm.widgets.voices_panel import VoicesPanel

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from lockterm.models.voices import VoicePack


class VoiceScreen(VoiceReadings):
    """Choose the voice of a lock.

    Args:
        operations: The one door to service and store.
        entry: The lock.
    """

    BINDINGS = KEYS

    def __init__(self, operations: Operations, entry: Lock) -> None:
        super().__init__(operations, entry)
        self._sending: VoiceChoice | None = None
        self._unsure: VoiceChoice | None = None

    def crumbs(self) -> tuple[str, ...]:
        """Which lock."""
        return ("Locks", self.entry.title, "Voice")

    def compose_body(self) -> ComposeResult:
        """The voices there are beside the packs of the lock; below them what is known of now."""
        with Container(id="halves"):
            yield VoicesPanel(id="voices")
            yield PacksPanel(id="packs")
        yield FindLine()
        yield Static(id="voice-now", markup=False)
        yield Static(id="voice-about", markup=False)

    # --- loading -------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Read what there is to choose from."""
        self._paint_voices()
        self._paint_packs()
        self.load_packs()
        self.begin()

    # --- watchers ------------------------------------------------------------------------------

    def watch_entry(self) -> None:
        """The lock's name, model, zone or voice has changed."""
        self.show_crumbs()
        self._paint_voices()
        self._paint_packs()

    def watch_voices(self) -> None:
        """Show the languages."""
        self._paint_voices()

    def watch_packs(self) -> None:
        """Show the packs."""
        self._paint_packs()

    def watch_details(self) -> None:
        """Show the detail."""
        self._show_detail()

    def _paint_voices(self) -> None:
        wanted = self.query_one(FindLine).value
        panel = self.query_one(VoicesPanel)
        panel.show_voices(self.voices, self.names, self.entry, wanted, self._zone)
        self._tell()

    def _paint_packs(self) -> None:
        self.query_one(PacksPanel).show_packs(self.packs, self._zone)
        self._show_detail()

    def _show_detail(self) -> None:
        missing = self.query_one(PacksPanel).show_detail(self.details, self._zone)
        if missing is not None:
            self.load_detail(missing)
        self.refresh_bindings()

    def _tell(self) -> None:
        """Say which voice the lock has, and what the cursor stands on."""
        now = f"Voice now: {self._voice_now()}"
        if self._sending is not None:
            now = f"Sending {self._words(self._sending)} ..."
        elif self._unsure is not None:
            unsure = self._words(self._unsure)
            now = (
                f"Voice now: perhaps {unsure}, the outcome is unknown. Before: {self._voice_now()}"
            )
        self.query_one("#voice-now", Static).update(now)
        entry = self.query_one(VoicesPanel).entry
        self.query_one("#voice-about", Static).update(about(entry, self.names) if entry else "")
        self.refresh_bindings()

    def _voice_now(self) -> str:
        if self.entry.voice is None:
            return "not known: the service has no way to read it"
        return f"{self._words(self.entry.voice)}, last set from here"

    def _words(self, choice: VoiceChoice) -> str:
        return voice_words(choice, self.voices.value or ())

    # --- handlers ------------------------------------------------------------------------------

    @on(Tree.NodeHighlighted)
    def _voice_moved(self) -> None:
        self._tell()

    @on(DataTable.RowHighlighted)
    def _pack_moved(self) -> None:
        self._show_detail()

    @on(FindLine.Changed)
    def _search(self) -> None:
        self._paint_voices()

    @on(FindLine.Left)
    def _to_the_tree(self) -> None:
        self.query_one(VoicesPanel).voices.focus()

    # --- setting -------------------------------------------------------------------------------

    def why_not(self, action: str) -> str:
        """What each key needs."""
        if action == "set_voice":
            return self._why_not_set()
        if action in ("copy_url", "fetch_pack") and not self._url:
            return "There is no pack URL under the cursor."
        if action == "copy_md5" and not self._md5:
            return "There is no MD5 under the cursor: go to a pack whose detail was read."
        return ""

    def _why_not_set(self) -> str:
        if self.operations.profile.read_only:
            return f"The profile {self.operations.profile.name} is read-only."
        if self._sending is not None:
            return "The last voice is still being sent."
        if self._packs_focused:
            return "These are packs. Go to the voices with tab and choose a timbre there."
        entry = self.query_one(VoicesPanel).entry
        if entry is None or entry.timbre is None:
            return "Choose a timbre: the lines below a language."
        if entry.choice is None:
            return "The service gave this voice no language code or no id, so it cannot be set."
        return ""

    @work
    async def action_set_voice(self) -> None:
        """Set the voice under the cursor, after asking."""
        from lockterm.screens.confirm import ConfirmModal

        entry = self.query_one(VoicesPanel).entry
        if entry is None or entry.choice is None:
            return
        choice, words = entry.choice, self._words(entry.choice)
        confirm = ConfirmModal(
            f"Set the voice of {clean(self.entry.title, 60)} (lock {self.entry.lock_id})?",
            f"From  {self._voice_now()}\nTo    {words}",
            verb="Set the voice",
            keep="Keep",
        )
        if await self.app.push_screen_wait(confirm):
            # On the app: leaving this screen must not stop a request that is under way.
            self.app.run_worker(self._send(self.entry, choice, words))

    async def _send(self, lock: Lock, choice: VoiceChoice, words: str) -> None:
        self._sending = choice
        self._repaint()
        try:
            await self.operations.set_voice(lock, choice)
        except LocktermError as error:
            if isinstance(error, OutcomeUnknown):
                self._unsure = choice
            self.tell(error)
        else:
            self._unsure = None
            self.set_reactive(VoiceScreen.entry, replace(self.entry, voice=choice))
            self.app.notify(
                f"{clean(lock.title, 60)} is to speak with {words}. Recorded by the service;"
                " it does not say when the lock itself has it.",
                title="Voice set",
            )
        finally:
            self._sending = None
            self._repaint()

    def _repaint(self) -> None:
        if self.is_attached:
            self._paint_voices()

    # --- other actions -------------------------------------------------------------------------

    @property
    def _zone(self) -> ZoneInfo:
        return self.operations.zone(self.entry)

    @property
    def _packs_focused(self) -> bool:
        return self.query_one(PacksPanel).table.has_focus

    @property
    def _url(self) -> str:
        if self._packs_focused:
            return self._detail.timbre_pack_url or "" if self._detail else ""
        entry = self.query_one(VoicesPanel).entry
        return entry.timbre.timbre_pack_url or "" if entry and entry.timbre else ""

    @property
    def _md5(self) -> str:
        return self._detail.file_md5 or "" if self._detail else ""

    @property
    def _detail(self) -> VoicePack | None:
        """The detail of the pack under the cursor, where it was read."""
        pack = self.query_one(PacksPanel).pack
        detail = self.details.get(pack.name or "") if pack else None
        return None if isinstance(detail, LocktermError) else detail

    def action_find(self) -> None:
        """Type to find."""
        self.query_one(FindLine).open()

    def action_copy_url(self) -> None:
        """Copy the URL under the cursor."""
        copy(self.app, self._url, "URL")

    def action_copy_md5(self) -> None:
        """Copy the MD5 under the cursor."""
        copy(self.app, self._md5, "MD5")

    def action_fetch_pack(self) -> None:
        """Fetch the pack under the cursor; what was told of it is there for packs of the lock."""
        from lockterm.models.packs import PackSource
        from lockterm.screens.download import DownloadModal

        detail = self._detail if self._packs_focused else None
        if detail is not None:
            source = PackSource(self._url, detail.file_size, detail.file_md5 or "")
            title = detail.label or detail.name
        else:
            entry = self.query_one(VoicesPanel).entry
            source = PackSource(self._url)
            title = (entry.timbre.name or entry.timbre.timbre) if entry and entry.timbre else ""
        self.app.push_screen(DownloadModal(self.operations, source, title or "(no name)"))

    def action_refresh(self) -> None:
        """Read everything again."""
        self.read_again()

    def action_back(self) -> None:
        """Show all voices again, or go back."""
        find = self.query_one(FindLine)
        if find.value:
            find.action_close()
        else:
            self.dismiss()
