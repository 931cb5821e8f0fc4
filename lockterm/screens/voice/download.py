"""Fetching a voice pack: a bar with rate and time left, cancel, and what was checked in the end."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Label, ProgressBar, Static

from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_size
from lockterm.errors import LONGEST_MEANING, LocktermError
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.modal import LocktermModal
from lockterm.terminal.glyphs import DrawnBar
from lockterm.widgets.compact_button import CompactButton

if TYPE_CHECKING:
    from lockterm.domain.voices import PackSource
    from lockterm.operations import Operations

PAINT_S = 0.5
"""How often progress is painted at the most, in seconds: a thin link carries both."""


class DrawnProgressBar(ProgressBar):
    """A bar of progress that every terminal can show."""

    BAR_RENDERABLE = DrawnBar


class DownloadModal(LocktermModal[Path | None]):
    """Fetch a pack at once; closing it stops, and what came so far is kept for another time.

    Args:
        operations: The door.
        source: The pack.
        title: Its name.
    """

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
            # Never without a total: an indeterminate bar moves all the time, on a thin link too.
            yield DrawnProgressBar(self._source.size or 1, show_eta=False, id="progress")
            yield Static("Connecting ...", id="words", markup=False)
            with Horizontal(classes="buttons"):
                yield CompactButton(Content("Stop"), id="stop")

    def on_mount(self) -> None:
        self.fetch()

    @work(exclusive=True)
    async def fetch(self) -> None:
        """Fetch, and say how it ended."""
        self._began_s = monotonic()
        try:
            if server := await self._operations.voices.server_of(self._source):
                question = f"Fetch the voice pack {clean(self._title, 60)} from {server}?"
                own = clean(self._operations.profile.host, 80)
                details = f"{own} names it, and it is another server. No header is sent there."
                modal = ConfirmModal(question, details, verb="Fetch it", keep="Do not fetch")
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
                f"{format_size(size)} in {clean(self._file)}\n{self._source.assurance}\n"
                "The pack was not unpacked or played."
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
        words = f"{format_size(have)} of {format_size(total)}" if total else format_size(have)
        rate = (have - self._first) / max(now_s - self._began_s, 1e-3)
        if rate > 0 and now_s - self._began_s > PAINT_S:
            words += f", {format_size(rate)} a second"
            if total:
                left_s = (total - have) / rate
                words += (
                    f", {left_s:.0f} s left" if left_s < 120 else f", {left_s / 60:.0f} min left"
                )
        self._say(words)

    def _say(self, words: str) -> None:
        self.query_one("#words", Static).update(Content(words))

    def on_button_pressed(self) -> None:
        """Stop, or close when it has ended."""
        self.dismiss(self._file)

    def action_cancel(self) -> None:
        """Stop; what came so far is kept."""
        self.dismiss(self._file)
