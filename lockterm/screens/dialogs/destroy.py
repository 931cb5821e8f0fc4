"""The question before something is destroyed at the service: a key of its own answers it."""

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
    """What was found about the target just now."""

    details: str
    """Lines below the question; may hold strings of the service."""
    question: str = ""
    """The question, where the one that stands there is no longer right."""
    verb: str = ""
    """What the acting button says now, where that has changed."""
    possible: bool = True
    """Whether there is still something to do."""


class DestroyModal(LocktermModal[bool | None]):
    """Ask before something is deleted at the service. ``True`` only by its key, or by a click.

    Saving is answered with the arrows and enter, and hands do that by themselves. So they never
    delete: the verb's button cannot have the focus, and its key, which it says, is another one. The
    key counts only when it was typed after what it answers was painted, and only as the first
    printable one: text that runs into the question disarms it for good.

    Args:
        question: What is about to be deleted, naming it and the lock.
        details: Lines below the question; with a check, what stands there until it was made.
        verb: What the acting button says.
        keep: What the other button says; it has the focus.
        typed: As for :class:`QuestionBox`, like ``warning``.
        check: Reads the target again while the question stands there, and says what was found;
            every error is told in its words. None: there is nothing to read.
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
        """What is asked."""
        self._check = check
        self._possible = self._is_read = check is None
        self._has_asked = False
        self._is_disarmed = False

    def compose(self) -> ComposeResult:
        yield self.box

    def on_mount(self) -> None:
        """Read the target, where that is wanted."""
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
        """It may have been read below another screen, whose end takes along what waits for it."""
        self.call_after_refresh(self.note_painted)

    def note_painted(self) -> None:
        """Ask whether the terminal shows it too; not before it is the whole question.

        Nor while another screen is above it: what was read then was not seen by its end.
        """
        if self._is_read and self.is_active and not self._has_asked:
            self._has_asked = True
            assert isinstance(self.app, Host)
            self.app.ask_drawn(self._note_drawn)

    def _note_drawn(self, at_s: float) -> None:
        self.painted_s = at_s

    # --- answers -------------------------------------------------------------------------------

    def may_act(self) -> bool:
        """Whether the key works: the target was read, and what has to be typed stands there."""
        return self._possible and self.box.is_typed and not self._is_disarmed

    def why_not(self, action: str) -> str:
        """What is missing before the key does anything."""
        if action != "destroy" or self.may_act():
            return ""
        if self._is_disarmed:
            return "Another key was pressed first. Press Escape to go back."
        if self._possible:
            return "First type what is asked for, then enter."
        return "It was not read, or there is nothing to delete."

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Dim the verb until its key works."""
        return can_act(self.why_not, action)

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Take letters as text once text has run into the question."""
        return self._is_disarmed and character is not None and character.isprintable()

    def on_key(self, event: events.Key) -> None:
        """Disarm on a printable key that is no answer; the field for typing keeps its own."""
        if event.is_printable and event.key not in keys_of("dialog.destroy"):
            self._disarm(written(event.key))
        if self._is_disarmed and event.key != "escape":
            event.stop()
            event.prevent_default()
        else:
            say_why_no_key(self, event)

    def on_paste(self, event: events.Paste) -> None:
        """Disarm: nobody pastes an answer."""
        event.stop()
        self._disarm("")

    def _disarm(self, typed: str) -> None:
        """Have nothing answer this question any more but the key that leaves it."""
        if self._is_disarmed:
            return
        self._is_disarmed = True
        pressed = f"You pressed {quoted(typed)}, and" if typed else "You pasted text, and"
        answer = key("dialog.destroy")
        self.box.close(
            f"! Nothing was deleted. {pressed} only {answer} as the first key deletes."
            " Press Escape to go back."
        )

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Whether the key that destroys was typed by someone who could see this question."""
        if isinstance(event, events.Key) and event.key in keys_of("dialog.destroy"):
            return self.is_painted_for(event)
        return True

    def on_input_changed(self) -> None:
        """The verb works once one of the words stands there."""
        self.box.show_wrong(False)
        self.box.act.disabled = not self.may_act()

    def on_input_submitted(self) -> None:
        """Enter in the field leaves it, so that the key is one; a wrong word is told."""
        if self.box.is_typed:
            self.box.keep.focus()
        else:
            self.box.show_wrong(True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """A click counts as the key does: not before all of the question was seen."""
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
    """The verb behind the key that does it: after a name it would read as a part of it."""
    return f"{key('dialog.destroy')}  {clean(verb, 48)}"
