"""The confirmation dialog before a deletion, which accepts only a special key or a click."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events, work
from textual.app import ComposeResult
from textual.widgets import Button

from lockterm.domain.glyphs import quoted
from lockterm.domain.safe_text import clean
from lockterm.keymap.hints import key, keys_of, label, with_keys
from lockterm.screens.base import Host, can_act, say_why_no_key
from lockterm.screens.dialogs.confirm import QuestionBox
from lockterm.screens.modal import LocktermModal
from lockterm.widgets.actions import bindings


@dataclass(frozen=True, slots=True)
class TargetState:
    """The state of the remote or lock to delete, as read again while the dialog is open."""

    details: str
    """Lines below the question, which may contain strings from the service."""
    question: str = ""
    """The new question; empty to keep the current question."""
    verb: str = ""
    """The new label of the delete button; empty to keep the current label."""
    possible: bool = True
    """Whether the remote or the remotes of the lock can be deleted. If not, the details say why."""


class DestroyModal(LocktermModal[bool | None]):
    """A confirmation before a deletion.

    The result is True only for the delete key or a click on the delete button.

    People answer other dialogs with the arrow keys and Enter out of habit. Therefore, these keys
    never delete here: the delete button cannot have the focus, and its label shows the delete key.
    That key counts only if it was typed after the question was painted, and only as the first
    printable key. If typed text continues into the dialog, the dialog accepts no answer except Esc.

    Args:
        question: The question, which names the remote and its lock.
        details: Lines below the question. If the dialog reads its target again, the new details
            replace these lines.
        verb: The label of the delete button.
        keep: The label of the other button, which has the focus.
        typed: See :class:`QuestionBox`.
        warning: See :class:`QuestionBox`.
    """

    BINDINGS = [*bindings("confirm"), *bindings("destroy")]

    heading = "Delete"

    reads_target = False
    """Whether the dialog reads the remote or lock to delete again while the dialog is open."""

    def __init__(
        self,
        question: str,
        details: str,
        *,
        verb: str,
        keep: str,
        typed: tuple[str, ...] = (),
        warning: str = "",
    ) -> None:
        super().__init__()
        self.box = QuestionBox(
            question,
            details,
            verb=_behind_key(verb),
            keep=keep,
            typed=typed,
            danger=True,
            warning=warning,
        )
        """The box with the question and its buttons."""
        self._possible = self._is_read = not self.reads_target
        self._has_asked = False
        self._is_disarmed = False

    def compose(self) -> ComposeResult:
        yield self.box

    async def read_target(self) -> TargetState:
        """Return the current state of the remote or lock. If reading fails, the details say why.

        A subclass that sets ``reads_target`` overrides this method.
        """
        raise NotImplementedError

    def on_mount(self) -> None:
        """Focus the field or the button, and start to read the target."""
        self.box.begin()
        self.box.act.can_focus = False
        self.box.act.disabled = not self.may_act()
        if self.reads_target:
            self._show_target()

    @work
    async def _show_target(self) -> None:
        found = await self.read_target()
        if not self.is_attached:
            return
        self._possible = found.possible
        verb = _behind_key(found.verb) if found.verb else ""
        self.box.rewrite(found.question, found.details, verb, "" if found.possible else "Close")
        self.query(".warning").set(display=found.possible)
        self.box.act.disabled = not self.may_act()
        self._is_read = True
        self.call_after_refresh(self.note_painted)

    def on_screen_resume(self) -> None:
        """Ask the terminal for the time of painting, if the question was hidden until now."""
        self.call_after_refresh(self.note_painted)

    def note_painted(self) -> None:
        """Ask the terminal once to confirm that it shows the complete question.

        The method asks only after the target was read, and only if no other screen covers the
        dialog. Before that, the user cannot see the state of the target.
        """
        if self._is_read and self.is_active and not self._has_asked:
            self._has_asked = True
            assert isinstance(self.app, Host)
            self.app.ask_drawn(self._note_drawn)

    def _note_drawn(self, at_s: float) -> None:
        self.painted_s = at_s

    # --- answers -------------------------------------------------------------------------------

    def may_act(self) -> bool:
        """Return whether the delete key works.

        The key works if the target can be deleted and a required word is typed. It stops working
        after a paste or another printable key.
        """
        return self._possible and self.box.is_typed and not self._is_disarmed

    def disabled_reason(self, action: str) -> str:
        """Return why the delete key does not work; empty if it works, or for another action."""
        if action != "destroy" or self.may_act():
            return ""
        if self._is_disarmed:
            return "You pressed another key first. Press Esc to go back."
        if self._possible:
            return "First type the requested text, then press Enter."
        return "Nothing can be deleted now. The dialog shows the reason."

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Dim the delete key in the footer until it works."""
        return can_act(self.disabled_reason, action)

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return True for a printable key while the dialog accepts no answer except Esc."""
        return self._is_disarmed and character is not None and character.isprintable()

    def on_key(self, event: events.Key) -> None:
        """Stop accepting answers after a printable key outside the field, except the delete key."""
        if event.is_printable and event.key not in keys_of("dialog.destroy"):
            self._disarm(label(event.key))
        if self._is_disarmed and event.key != "escape":
            event.stop()
            event.prevent_default()
        else:
            say_why_no_key(self, event)

    def on_paste(self, event: events.Paste) -> None:
        """Stop accepting answers, because a paste is never an answer."""
        event.stop()
        self._disarm("")

    def _disarm(self, typed: str) -> None:
        """Accept no more answers except Esc, and show why.

        Args:
            typed: The key that was pressed; empty for a paste.
        """
        if self._is_disarmed:
            return
        self._is_disarmed = True
        answer = key("dialog.destroy")
        pressed = f"you first pressed {quoted(typed)}" if typed else "you pasted text"
        self.box.close(
            f"! Nothing was deleted, because {pressed}. Only {answer} deletes."
            " Press Esc to go back."
        )

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Return whether to act on a key.

        The delete key counts only after the question was painted.
        """
        if isinstance(event, events.Key) and event.key in keys_of("dialog.destroy"):
            return self.is_painted_for(event)
        return True

    def on_input_changed(self) -> None:
        """Enable the delete button if an accepted word is typed; otherwise, disable it."""
        self.box.note_typed()
        self.box.act.disabled = not self.may_act()

    def on_input_submitted(self) -> None:
        """On Enter, leave the field so that the delete key works, or report a wrong word."""
        if self.box.accept(with_keys("Your input matches. Press {dialog.destroy} to delete.")):
            self.box.keep.focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Accept a click on the delete button only after the whole question was visible."""
        is_act = event.button.id == "act"
        if self._is_disarmed:
            return
        if not is_act or self.painted_s is not None:
            self.dismiss(is_act)

    def action_destroy(self) -> None:
        if self.may_act():
            self.dismiss(True)

    def action_scroll_details(self, direction: int) -> None:
        self.box.scroll_details(direction)


def _behind_key(verb: str) -> str:
    """Return a label with the delete key before the verb, because a verb may end with a name."""
    return f"{key('dialog.destroy')}  {clean(verb, 48)}"
