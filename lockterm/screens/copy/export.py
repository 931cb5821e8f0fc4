"""Which export is copied: its path, typed with completion and read before the dialog ends."""

from __future__ import annotations

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input, Label

from lockterm.domain.safe_text import clean
from lockterm.errors import LocktermError
from lockterm.operations import Operations
from lockterm.operations.copying import Source, export_source
from lockterm.paths import find_typed
from lockterm.screens.modal import LocktermModal
from lockterm.terminal.key_queue import opens
from lockterm.widgets.compact_button import CompactButton
from lockterm.widgets.path_input import PathInput


class ExportModal(LocktermModal[Source | None]):
    """Ask for an export; answers with what it tells, or with None.

    Args:
        operations: What knows the locks.
    """

    is_form = True

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._operations = operations

    def compose(self) -> ComposeResult:
        """A field, what it may go on with, and what is wrong with what was typed."""
        with Vertical(classes="dialog"):
            yield Label("Copy from which export?", classes="question")
            yield Label("A JSON export of one lock:")
            yield PathInput()
            yield Label("", id="names", markup=False)
            yield Label("", id="wrong", markup=False)
            with Horizontal(classes="buttons"):
                yield CompactButton("Cancel", id="keep")
                yield CompactButton("Take it", id="act", variant="primary")

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one(PathInput).focus()

    @on(PathInput.Told)
    def _tell_matches(self, event: PathInput.Told) -> None:
        self.query_one("#names", Label).update(event.words)

    @on(Input.Changed)
    def _typing(self) -> None:
        self.query_one("#wrong", Label).update("")

    @on(PathInput.Entered)
    def _entered(self) -> None:
        self.take()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Take it or leave."""
        if event.button.id == "act":
            self.take()
        else:
            self.dismiss(None)

    @work(exclusive=True)
    @opens("the export")
    async def take(self) -> None:
        """Read the file: it answers, or what is wrong with it is said."""
        try:
            path = find_typed(self.query_one(PathInput).value)
            self.dismiss(await export_source(self._operations, path))
        except (LocktermError, RuntimeError) as error:
            words = "No such home directory."
            if isinstance(error, LocktermError):
                words = error.meaning
            self.query_one("#wrong", Label).update(clean(words, 400))
            self.query_one(PathInput).focus()
