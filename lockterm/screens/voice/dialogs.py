"""The dialogs of the voice screen: for vendor and model, and for the download of a pack."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Label, ProgressBar, Static

from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_size
from lockterm.errors import LONGEST_MEANING, LocktermError
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.modal import LocktermModal
from lockterm.terminal.patches import DrawnBar
from lockterm.widgets.form_field import CompactButton
from lockterm.widgets.text_input import SingleLineInput, TextInput

if TYPE_CHECKING:
    from lockterm.domain.voices import PackSource
    from lockterm.operations import Operations


class VendorModelModal(LocktermModal[tuple[str, str] | None]):
    """A dialog for the vendor and the model, which the call ``voice/packs`` needs (contract 4.10).

    The result is the vendor and the model, or None if canceled.

    Args:
        entry: The lock book entry of the lock.
        book: The locks of the lock book, whose vendors and models are suggested.
    """

    heading = "Vendor and model"
    is_form = True

    def __init__(self, entry: Lock, book: Sequence[Lock] = ()) -> None:
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
        typed = TextInput(text, id=name) if first else SingleLineInput(text, id=name, compact=True)
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
        """Download the pack, and show the result."""
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
