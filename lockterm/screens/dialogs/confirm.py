"""The dialog before what is not meant to happen by accident; each button says what it does."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.widgets import Button

from lockterm.domain.safe_text import clean
from lockterm.keymap.hints import keys_of
from lockterm.screens.dialogs.question import QuestionBox
from lockterm.screens.modal import LocktermModal
from lockterm.widgets.bindings import bindings


class ConfirmModal(LocktermModal[bool | None]):
    """Ask before a write. ``True`` only when the person chose the verb, ``False`` the third button.

    Args:
        question: As for :class:`QuestionBox`, like ``details``, ``verb``, ``other``, ``typed``,
            ``danger`` and ``warning``.
        keep: What the button says that does what escape does; it has the focus.
        unasked: It comes by itself, in place of what a key has asked for: keys that were typed
            before it was painted were meant for something else, and are discarded. So was text
            that goes on behind it: the answer that ends it does not count.
        loses_text: Agreeing loses what was typed before: text that runs into the question is no
            answer either.
    """

    BINDINGS = bindings("confirm")

    def __init__(
        self,
        question: str,
        details: str = "",
        *,
        verb: str,
        keep: str = "Cancel",
        other: str = "",
        typed: tuple[str, ...] = (),
        danger: bool = False,
        warning: str = "",
        unasked: bool = False,
        loses_text: bool = False,
    ) -> None:
        super().__init__()
        verb = clean(verb, 48)
        self.box = QuestionBox(
            question,
            details,
            verb=verb,
            keep=keep,
            other=other,
            typed=typed,
            danger=danger,
            warning=warning,
        )
        """What is asked."""
        self._unasked = unasked
        self._notes_text = unasked or loses_text
        self._was_typed_into = False

    def compose(self) -> ComposeResult:
        yield self.box

    def on_mount(self) -> None:
        self.box.begin()

    # --- handlers ------------------------------------------------------------------------------

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Whether a key is for this question, or was typed before anyone could see it."""
        return not self._unasked or self.is_painted_for(event)

    def on_key(self, event: events.Key) -> None:
        """Note text: nobody types it to answer."""
        is_known = event.key in self.active_bindings or event.key in keys_of("app.help")
        if self._notes_text and event.is_printable and not is_known:
            self._was_typed_into = True

    def on_input_changed(self) -> None:
        """The verb works once one of the words stands there."""
        self.box.show_wrong(False)
        self.box.act.disabled = not self.box.is_typed

    def on_input_submitted(self) -> None:
        """Enter in the field goes to the verb's button, and never acts; a wrong word is told."""
        if self.box.is_typed:
            self.box.act.focus()
        else:
            self.box.show_wrong(True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if self._was_typed_into:
            self._was_typed_into = False
            self.box.keep.focus()
            self.notify(
                "You typed this before the question was shown. Read the question, then answer.",
                title="Not answered",
                severity="warning",
            )
            return
        self.dismiss({"act": True, "other": False}.get(event.button.id or ""))

    def action_scroll_details(self, direction: int) -> None:
        self.box.scroll_details(direction)
