"""The base class of every form: its fields, status line, draft, and how it closes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.reactive import var
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Button
from textual.worker import Worker

from lockterm.domain.safe_text import clean
from lockterm.keymap.hints import key
from lockterm.screens.base import LocktermScreen, ResultT
from lockterm.terminal.key_queue import opens
from lockterm.widgets.actions import reason_against
from lockterm.widgets.form_field import CompactButton, FormField, StatusLine

if TYPE_CHECKING:
    from lockterm.operations import Operations
    from lockterm.screens.dialogs.confirm import ConfirmModal


class FormButton(NamedTuple):
    """A button of a form, which runs the same action as a key."""

    key: str
    """The ID of the key that runs the same action."""
    action: str
    """The name of the form's action that the button runs."""
    label: str


SAVE = FormButton("form.save", "save", "Save")
LEAVE = FormButton("form.leave", "leave", "Leave")

SOON_S = 1.0
"""Seconds from a key press until the draft is saved. The documentation promises at most two
seconds."""


class DelayedCall:
    """A delayed save of a form's draft, which runs :data:`SOON_S` after the first request."""

    def __init__(self, form: FormScreen[Any]) -> None:
        self._form = form
        self._timer: Timer | None = None

    def begin(self) -> None:
        """Schedule the save, unless it is already scheduled."""
        if self._timer is None:
            self._timer = self._form.set_timer(SOON_S, self.end)

    def stop(self) -> bool:
        """Cancel the save, and return whether a save was scheduled."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.stop()
        return timer is not None

    def end(self) -> None:
        """Save now if a save is scheduled."""
        if self.stop():
            self._form.keep_draft()


class FormScreen(LocktermScreen[ResultT]):
    """The base class of screens with fields to type into.

    A subclass composes a :class:`FormField` for each field, sets ``before`` to the initial values,
    and overrides methods whose default does nothing.

    Args:
        operations: The operations on the service and the local store; None if no service is
            configured.
    """

    is_form = True

    STOPPED = ""
    """The sentence to show after Escape has stopped the current work."""

    BUTTONS: ClassVar[Sequence[FormButton]] = (SAVE, LEAVE)
    """The buttons, from left to right. The first button is the main button."""

    doing: var[str] = var("", init=False)
    """A sentence about the current work; empty if no work is running."""

    before: Mapping[str, str]
    """Maps the name of each field to its initial value."""

    under_way: Worker[None] | None = None
    """The worker of the current work, which Escape stops."""

    def __init__(self, operations: Operations | None) -> None:
        super().__init__(operations)
        self.before = {}
        self._buttons: Sequence[Button] = ()
        self.soon = DelayedCall(self)
        """The delayed save of the draft, scheduled by input."""

    def compose_body(self) -> ComposeResult:
        """Compose the fields, the status line below them, and the buttons."""
        with Vertical(id="sheet") as sheet:
            sheet.border_title = Content(clean(self.breadcrumbs()[-1], 70))
            yield from self.compose_fields()
            yield StatusLine()
            yield from self.compose_buttons()

    def compose_fields(self) -> ComposeResult:
        """Compose the fields in a container that scrolls."""
        raise NotImplementedError

    def compose_buttons(self) -> ComposeResult:
        """Compose the line of buttons. Each label also shows the key."""
        self._buttons = [
            CompactButton(
                Content(f"{key(button.key)}  {button.label}"),
                "primary" if button is self.BUTTONS[0] else "default",
                id=button.action,
            )
            for button in self.BUTTONS
        ]
        yield Horizontal(*self._buttons, classes="buttons")

    def on_mount(self) -> None:
        """Dim the buttons of disabled actions, as the footer dims their keys."""
        self.bindings_updated_signal.subscribe(self, self._dim_buttons)
        self._dim_buttons(self)  # before the first frame

    def _dim_buttons(self, screen: Screen[Any]) -> None:
        if screen is self and self.is_attached:
            for button in self._buttons:  # a query would search all fields at each key
                button.set_class(bool(reason_against(self, button.id or "")), "-idle")

    # --- the fields ----------------------------------------------------------------------------

    @property
    def focus_chain(self) -> list[Widget]:
        """The widgets that Tab visits, in the order of the form.

        Textual orders widgets by their screen position. A row that has just become visible has no
        position until the next layout, so that Textual's order would make an immediate Tab skip the
        row.
        """
        places = {widget: place for place, widget in enumerate(self.walk_children())}
        return sorted(super().focus_chain, key=places.__getitem__)

    @property
    def rows(self) -> list[FormField]:
        """The rows of the form, shown or hidden."""
        return [*self.query(FormField)]

    def field(self, name: str) -> FormField:
        """Return the form row of a field."""
        return self.query_one(f"#field-{name}", FormField)

    def value_of(self, name: str) -> str:
        """Return the text of a field, without surrounding spaces."""
        return self.field(name).value.strip()

    def typed(self) -> dict[str, str]:
        """Return the text of each shown or hidden field, by field name."""
        return {row.field: row.value.strip() for row in self.rows}

    def touched(self) -> dict[str, str]:
        """Return the text of each field that differs from its initial text, by field name."""
        before = {field: text.strip() for field, text in self.before.items()}
        return {field: text for field, text in self.typed().items() if text != before.get(field)}

    def fill(self, typed: Mapping[str, str]) -> None:
        """Set the enabled fields to values that were typed earlier."""
        for row in self.rows:
            if row.field in typed and not row.control.disabled:
                row.value = typed[row.field]

    def show_errors(self, errors: Mapping[str, str]) -> None:
        """Show the errors at their fields, and focus the first such field."""
        for row in self.rows:
            row.error = errors.get(row.field, "")
        if errors:
            self.field(next(iter(errors))).focus_control()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.bring_into_sight(event.widget)

    def bring_into_sight(self, control: Widget) -> None:
        """Scroll to the control that has the focus."""
        control.scroll_visible(animate=False)

    # --- the line above the keys ---------------------------------------------------------------

    def say(self, words: str, *, is_wrong: bool = False) -> None:
        """Show a sentence in the status line, above the footer.

        Args:
            words: The sentence, without control characters.
            is_wrong: Whether the sentence reports an error.
        """
        self.query_one(StatusLine).say(words, is_wrong=is_wrong)

    def watch_doing(self, doing: str) -> None:
        """Disable the fields while work is running, and show ``doing`` in the status line."""
        self.query_one("#fields").disabled = bool(doing)
        if doing:
            self.say(f"{doing} Press Esc to stop.")
        self.refresh_bindings()

    # --- the draft -----------------------------------------------------------------------------

    def keep_draft(self) -> None:
        """Save the typed values as a draft, in case the terminal closes or lockterm ends."""

    def forget_draft(self) -> None:
        """Delete the draft after the form was sent, or when the user leaves the form on purpose."""

    def on_unmount(self) -> None:
        """Save the last input if it was not saved yet, because lockterm may be ending."""
        self.soon.end()

    # --- the way out ---------------------------------------------------------------------------

    def ask_to_leave(self) -> ConfirmModal | None:
        """Return the dialog to confirm before the form closes; None if no input would be lost."""
        return None

    @property
    def result_on_leaving(self) -> ResultT | None:
        """The result of the form if the user leaves it without saving; None by default."""
        return None

    @on(Button.Pressed, ".buttons Button")
    async def _button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        await self.press(next(one for one in self.BUTTONS if one.action == event.button.id))

    async def press(self, button: FormButton) -> None:
        """Run the action of a button. If the action is disabled, explain why, as the key does."""
        if reason := reason_against(self, button.action):
            self.notify(reason, title=button.label)
        else:
            await self.run_action(button.action)

    def action_leave(self) -> None:
        """Stop the current work, or leave the form if there is none."""
        if self.doing and self.under_way is not None:
            self.under_way.cancel()
            self.say(self.STOPPED)
        else:
            self.leave()

    @work
    @opens("the screen below the form")
    async def leave(self) -> None:
        """Leave the form. If unsaved input would be lost, ask for confirmation first."""
        if (question := self.ask_to_leave()) is not None:
            if not await self.app.push_screen_wait(question):
                return
            self.forget_draft()
        self.dismiss(self.result_on_leaving)
