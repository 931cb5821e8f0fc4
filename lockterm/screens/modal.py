"""The base class of every dialog, and the dialog that explains why a screen cannot open."""

from __future__ import annotations

from typing import TypeVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen
from textual.widgets import Label

from lockterm.domain.safe_text import clean
from lockterm.terminal.patches import paint_once
from lockterm.widgets.actions import bindings

ResultT = TypeVar("ResultT")


class LocktermModal(ModalScreen[ResultT]):
    """A dialog on top of a screen."""

    BINDINGS = bindings("dialog")

    heading = ""
    """The title in the frame of the dialog; empty if the question is enough."""

    is_form = False
    """Whether the dialog is a form, which receives typed text."""

    painted_s: float | None = None
    """The time when the dialog was painted, in seconds on Textual's clock; None until then."""

    def on_mount(self) -> None:
        """Show the heading, and record the time when the dialog becomes visible."""
        for box in self.query(".dialog"):
            box.border_title = self.heading
        self.call_after_refresh(self.note_painted)

    def on_screen_resume(self) -> None:
        paint_once(self)

    def note_painted(self) -> None:
        """Record the current time as the time when the dialog was painted."""
        self.painted_s = events.Event().time

    def is_painted_for(self, event: events.Key | events.Paste) -> bool:
        """Return whether a key or paste came after the dialog was painted."""
        return self.painted_s is not None and event.time >= self.painted_s

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Return whether a key or paste is meant as an answer to this dialog."""
        return True

    def on_notification_line_freed(self) -> None:
        """Let the details of the dialog use the lines that a notification no longer takes."""
        for details in self.query(".details"):
            details.styles.max_height = None
        for more in self.query(".more"):
            more.display = False  # the dialog shows it again if it is needed

    def action_cancel(self) -> None:
        self.dismiss(None)


class RefusedModal(LocktermModal[None], inherit_bindings=False):
    """A dialog that explains why a screen cannot open.

    Until the user presses Esc, no key reaches the screen below.

    People press the key that opens a form, and type a name at once, without looking. On the screen
    below, the letters would be commands. For example, ``P x right enter`` removes a profile. The
    only key that closes the dialog is Esc, as it would close the form. Enter does nothing, because
    in the form it would go to the next field.

    Args:
        what: The refused action, such as ``Edit``.
        reason: A sentence about why the action is not possible.
    """

    heading = "Note"

    BINDINGS = Screen.BINDINGS
    """Textual's own bindings in place of those of other dialogs, because the user may have
    configured a letter that closes dialogs."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__()
        self._what = what
        self._reason = reason

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(f"{clean(self._what, 60)}: not available", markup=False, classes="question")
            yield Label(clean(self._reason, 600), markup=False, classes="ask")
            yield Label("Press Esc to close.", id="way-out", markup=False, classes="hint")

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return whether a key types a character, which was meant for a form."""
        return character is not None and character.isprintable()

    def on_key(self, event: events.Key) -> None:
        """Close on Esc. For any other key, explain that keys have no effect here."""
        event.stop()
        if event.key == "escape":
            self.dismiss(None)
        else:
            self._tell()

    def on_paste(self, event: events.Paste) -> None:
        """Discard a paste, because it was meant for the form."""
        event.stop()
        self._tell()

    def on_click(self) -> None:
        """Close on a click, because users look at the screen before they click."""
        self.dismiss(None)

    def _tell(self) -> None:
        hint = "Press Esc to close. Other keys do nothing here."
        self.query_one("#way-out", Label).update(hint)
