"""A row of a form with its hints and errors, the status line, and the buttons."""

from __future__ import annotations

from typing import Any, Protocol, cast

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Button, Static


class Control(Protocol):
    """A form control whose value is a text."""

    value: str


class FormField(Horizontal):
    """A control with a label. The label is highlighted while the control has the focus.

    Args:
        field: The field's name in the contract, which becomes the control's ID.
        label: The label that users see.
        control: Either a widget to type into, whose ``value`` is a text, or a widget that only
            displays something.
    """

    note: reactive[str] = reactive("", init=False)
    """A hint that shows how lockterm understands the value; safe to show."""
    warning: reactive[str] = reactive("", init=False)
    """A warning about a value that the user may confirm; safe to show."""
    error: reactive[str] = reactive("", init=False)
    """An error about the value; safe to show."""

    def __init__(self, field: str, label: str, control: Widget) -> None:
        super().__init__(id=f"field-{field}", classes="form-field")
        self.field = field
        self.label = label
        self.control = control

    def compose(self) -> ComposeResult:
        yield Static(self.label, classes="label", markup=False)
        with Vertical(classes="control"):
            yield self.control
            for kind in ("note", "warning", "error"):
                line = Static("", classes=kind, markup=False)
                line.display = False
                yield line

    @property
    def value(self) -> str:
        return cast("Control", self.control).value

    @value.setter
    def value(self, value: str) -> None:
        cast("Control", self.control).value = value

    def watch_note(self, text: str) -> None:
        self._say("note", text)

    def watch_warning(self, text: str) -> None:
        self._say("warning", f"Note: {text}" if text else "")

    def watch_error(self, text: str) -> None:
        self._say("error", f"! {text}" if text else "")

    def _say(self, kind: str, text: str) -> None:
        line = self.query_one(f".{kind}", Static)
        line.update(text)
        line.display = bool(text)

    def on_descendant_focus(self) -> None:
        self.add_class("-focused")

    def on_descendant_blur(self) -> None:
        self.remove_class("-focused")

    def focus_control(self) -> None:
        """Focus the control, or the first child of the control that can have the focus."""
        target = self.control
        if not target.focusable:
            target = next((child for child in target.query("*") if child.focusable), target)
        target.focus()


class StatusLine(Static):
    """A text of one or more lines about missing, pending or refused input.

    Args:
        words: The initial text.
    """

    def __init__(self, words: str = "") -> None:
        super().__init__(words, id="status", markup=False)
        self.display = bool(words)

    def say(self, words: str, *, is_wrong: bool = False) -> None:
        """Replace the text.

        If the text is unchanged, as after most typed letters, do nothing.

        Args:
            words: The text, without control characters.
            is_wrong: Whether the text reports an error or a refusal.
        """
        shown = f"! {words}" if is_wrong else words
        if shown != self.content:
            self.update(shown)
            self.display = bool(shown)
        self.set_class(is_wrong, "refused")


class CompactButton(Button):
    """A button of one line that reacts to every Enter.

    Textual's button ignores an Enter within 0.2 seconds of the previous Enter. Because of this,
    some keys that a slow link delivers together would have no effect.

    Args:
        options: The keyword arguments for Textual's button.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, compact=True, **options)
        self.set_class(self.variant == "default", "-plain")

    def action_press(self) -> None:
        self.press()
