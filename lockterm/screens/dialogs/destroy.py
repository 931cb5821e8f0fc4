"""The confirmation before a delete: only its own key, or a click, answers it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from textual import events, work
from textual.app import ComposeResult
from textual.widgets import Button

from lockterm.domain.glyphs import quoted
from lockterm.domain.safe_text import clean
from lockterm.keymap.hints import key, keys_of
from lockterm.keymap.names import written
from lockterm.screens.base import can_act, say_why_no_key
from lockterm.screens.dialogs.confirm import QuestionBox
from lockterm.screens.host import Host
from lockterm.screens.modal import LocktermModal
from lockterm.widgets.bindings import bindings


@dataclass(frozen=True, slots=True)
class TargetState:
    """The result of a new read of the target."""

    details: str
    """Lines below the question; may hold strings of the service."""
    question: str = ""
    """The new question, if the present one is out of date."""
    verb: str = ""
    """The new label of the acting button, if it changed."""
    possible: bool = True
    """Whether there is still something to do."""


class DestroyModal(LocktermModal[bool | None]):
    """The confirmation before a delete; its result is ``True`` only after its key or a click.

    People answer other dialogs with the arrow keys and Enter out of habit. So these keys never
    delete: the acting button cannot have the focus, and its key, shown on it, is another one. The
    key counts only if it was typed after the question was painted, and only as the first printable
    one: text that continues into the dialog disarms it for good.

    Args:
        question: The question, which names target and lock.
        details: Lines below it; with a check, they are shown until it has ended.
        verb: The label of the acting button.
        keep: The label of the other button, which has the focus.
        typed: As for :class:`QuestionBox`, like ``warning``.
        check: Reads the target again while the dialog is open, and returns the result or the words
            of the error; None to read nothing.
    """

    BINDINGS = [*bindings("confirm"), *bindings("destroy")]

    def __init__(
        self,
        question: str,
        details: str,
        *,
        verb: str,
        keep: str,
        typed: tuple[str, ...] = (),
        warning: str = "",
        check: Callable[[], Awaitable[TargetState]] | None = None,
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
        """The question with its buttons."""
        self._check = check
        self._possible = self._is_read = check is None
        self._has_asked = False
        self._is_disarmed = False

    def compose(self) -> ComposeResult:
        yield self.box

    def on_mount(self) -> None:
        """Read the target if there is a check."""
        self.box.begin()
        self.box.act.can_focus = False
        self.box.act.disabled = not self.may_act()
        if self._check is not None:
            self._run_check(self._check)

    @work
    async def _run_check(self, check: Callable[[], Awaitable[TargetState]]) -> None:
        found = await check()
        if not self.is_attached:
            return
        self._possible = found.possible
        verb = _behind_key(found.verb) if found.verb else ""
        self.box.rewrite(found.question, found.details, verb, "" if found.possible else "Close")
        self.box.act.disabled = not self.may_act()
        self._is_read = True
        self.call_after_refresh(self.note_painted)

    def on_screen_resume(self) -> None:
        """Note the painted dialog; its read may have ended below another screen."""
        self.call_after_refresh(self.note_painted)

    def note_painted(self) -> None:
        """Ask whether the terminal has drawn the dialog, once the question is complete.

        It waits while another screen is above it, because the result of a read was not visible.
        """
        if self._is_read and self.is_active and not self._has_asked:
            self._has_asked = True
            assert isinstance(self.app, Host)
            self.app.ask_drawn(self._note_drawn)

    def _note_drawn(self, at_s: float) -> None:
        self.painted_s = at_s

    # --- answers -------------------------------------------------------------------------------

    def may_act(self) -> bool:
        """Return whether the key works: the target is read, and any required word is typed."""
        return self._possible and self.box.is_typed and not self._is_disarmed

    def why_not(self, action: str) -> str:
        """Return what is missing before the key works."""
        if action != "destroy" or self.may_act():
            return ""
        if self._is_disarmed:
            return "Another key was pressed first. Press Escape to go back."
        if self._possible:
            return "First type the requested text, then press Enter."
        return "The remotes were not read, or there is nothing to delete."

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Dim the verb until its key works."""
        return can_act(self.why_not, action)

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Consume letters as text after typed text ran into the dialog."""
        return self._is_disarmed and character is not None and character.isprintable()

    def on_key(self, event: events.Key) -> None:
        """Disarm on any other printable key; keys in the field belong to the field."""
        if event.is_printable and event.key not in keys_of("dialog.destroy"):
            self._disarm(written(event.key))
        if self._is_disarmed and event.key != "escape":
            event.stop()
            event.prevent_default()
        else:
            say_why_no_key(self, event)

    def on_paste(self, event: events.Paste) -> None:
        """Disarm, because a paste is never an answer."""
        event.stop()
        self._disarm("")

    def _disarm(self, typed: str) -> None:
        """Accept no more answers except the key that cancels."""
        if self._is_disarmed:
            return
        self._is_disarmed = True
        pressed = f"You pressed {quoted(typed)}, but" if typed else "You pasted text, but"
        answer = key("dialog.destroy")
        self.box.close(
            f"! Nothing was deleted. {pressed} only {answer} as the first key deletes."
            " Press Escape to go back."
        )

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Return whether the delete key was typed after the question was visible."""
        if isinstance(event, events.Key) and event.key in keys_of("dialog.destroy"):
            return self.is_painted_for(event)
        return True

    def on_input_changed(self) -> None:
        """Enable the acting button when one of the words is typed."""
        self.box.show_wrong(False)
        self.box.act.disabled = not self.may_act()

    def on_input_submitted(self) -> None:
        """Leave the field on Enter, so that the key works; report a wrong word."""
        if self.box.is_typed:
            self.box.keep.focus()
        else:
            self.box.show_wrong(True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Accept a click like the key, only after the whole question was visible."""
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
    """Return the key and the verb; a key after a name would look like part of the name."""
    return f"{key('dialog.destroy')}  {clean(verb, 48)}"
