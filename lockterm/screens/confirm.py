"""The dialog before every write: it names its target, and each button says what it does."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Label, Static

from lockterm.screens.base import LocktermModal
from lockterm.text import clean, clean_lines


class ConfirmModal(LocktermModal[bool | None]):
    """Ask before a write. ``True`` only when the person chose the verb.

    Args:
        question: What is about to happen, naming remote and lock.
        details: Lines below it: numbers, losses, differences.
        verb: What the acting button says, ``Delete Anna Weber``.
        keep: What the other button says, ``Keep``; it has the focus.
        typed: Words of which one must be typed before the verb works; for what cannot be undone.
        danger: Colour the verb as destructive.
    """

    BINDINGS = [
        Binding("left,h,up,k", "app.focus_previous", "previous", show=False, id="dialog.previous"),
        Binding("right,l,down,j", "app.focus_next", "next", show=False, id="dialog.next"),
        Binding("pageup", "scroll_details(-1)", "scroll up", show=False, id="dialog.page_up"),
        Binding("pagedown", "scroll_details(1)", "scroll down", show=False, id="dialog.page_down"),
    ]

    def __init__(
        self,
        question: str,
        details: str = "",
        *,
        verb: str,
        keep: str = "Cancel",
        typed: tuple[str, ...] = (),
        danger: bool = False,
    ) -> None:
        super().__init__()
        self._question = question
        self._details = details
        self._verb = verb
        self._keep = keep
        self._typed = tuple(word.strip() for word in typed if word.strip())
        self._danger = danger

    def compose(self) -> ComposeResult:
        """Question, details, what to type, two buttons."""
        with Vertical(classes="dialog"):
            yield Label(clean(self._question, 400), markup=False, classes="question")
            if self._details:
                with VerticalScroll(classes="details", can_focus=False):
                    yield Static(clean_lines(self._details), markup=False)
            if self._typed:
                choices = " or ".join(clean(word, 60) for word in self._typed)
                yield Label(f"Type {choices} to go on:", markup=False, classes="ask")
                field = Input(id="typed", compact=True)
                field.cursor_blink = False
                yield field
            with Horizontal(classes="buttons"):
                yield Button(Content(clean(self._keep, 40)), id="keep", compact=True)
                yield Button(
                    Content(clean(self._verb, 48)),
                    id="act",
                    variant="error" if self._danger else "primary",
                    disabled=bool(self._typed),
                    compact=True,
                )

    def on_mount(self) -> None:
        """Keep has the focus; where something must be typed, the field has it."""
        self.query_one("#typed" if self._typed else "#keep").focus()

    def may_act(self) -> bool:
        """Whether the verb works: nothing has to be typed, or one of the words stands there."""
        return not self._typed or self.query_one("#typed", Input).value.strip() in self._typed

    def on_input_changed(self) -> None:
        """The verb works once one of the words stands there."""
        self.query_one("#act", Button).disabled = not self.may_act()

    def action_scroll_details(self, direction: int) -> None:
        """Show what does not fit between question and buttons."""
        for details in self.query(VerticalScroll):
            details.scroll_relative(y=direction * max(details.size.height - 1, 1), animate=False)

    def on_input_submitted(self) -> None:
        """Enter in the field goes to the buttons; it never acts."""
        act = self.query_one("#act", Button)
        (self.query_one("#keep", Button) if act.disabled else act).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer."""
        self.dismiss(event.button.id == "act")
