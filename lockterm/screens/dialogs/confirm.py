"""The dialogs that ask for a confirmation or for a number."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Button, Input, Label, Static

from lockterm.domain.safe_text import clean, clean_lines
from lockterm.domain.text.amount import format_count
from lockterm.keymap.hints import keys_of, with_keys
from lockterm.screens.base import Host
from lockterm.screens.field_modal import FieldModal
from lockterm.screens.modal import LocktermModal
from lockterm.widgets.actions import bindings
from lockterm.widgets.cells import wrap
from lockterm.widgets.form_field import CompactButton
from lockterm.widgets.text_input import SingleLineInput

READ_S = 2.0
"""Seconds after the last typed letter, with the question visible, before a button press counts."""


class Details(VerticalScroll, can_focus=False):
    """The details of a question, which scroll if they are long."""

    class Scrolled(Message):
        """Posted when other lines have become visible."""

    def on_resize(self) -> None:
        """Post ``Scrolled``, because other lines are visible at the new height."""
        self.post_message(self.Scrolled())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Post ``Scrolled`` for every scrolling, with keys or with the mouse wheel."""
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Scrolled())

    @property
    def lines_below(self) -> int:
        """The number of lines below the visible lines."""
        return max(self.virtual_size.height - self.size.height - int(self.scroll_offset.y), 0)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the height, limited by ``max-height``, which Textual ignores here."""
        height, most = (
            super().get_content_height(container, viewport, width),
            self.styles.max_height,
        )
        return height if most is None else min(height, int(most.resolve(container, viewport)))


class DetailLines(Static):
    """The lines of a question's details. If a list item wraps, its further lines are indented."""

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return max(map(cell_len, self._lines))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._wrapped(width))

    def render(self) -> Content:
        return Content("\n".join(self._wrapped(self.content_size.width)))

    @property
    def _lines(self) -> list[str]:
        return str(self.content).split("\n")

    def _wrapped(self, width: int) -> list[str]:
        """Return the lines, wrapped to a width in cells.

        If the width is 0, as before the first layout, the lines are not wrapped.
        """
        if not width:
            return self._lines
        return [
            part
            for line in self._lines
            for part in wrap(line, width, "  " if line.startswith("- ") else "")
        ]


class QuestionBox(Vertical):
    """A question with details, a text field if the user must type a word, and buttons.

    The buttons are ``#keep``, ``#act`` and ``#other``.

    Args:
        question: The question, which names the remote and its lock.
        details: Lines below the question, such as the remote's number, lost data or changed values.
        verb: The label of the button that acts, such as ``Delete Anna Weber``, without control
            characters.
        keep: The label of the button that changes nothing, such as ``Keep``.
        other: The label of a third button, without control characters; empty for no button.
        typed: The accepted words if the user must type one of them before acting; otherwise empty.
        danger: Whether the button that acts has the color of destructive actions.
        warning: Sentences about lost data or lost access, above the details.
    """

    def __init__(
        self,
        question: str,
        details: str,
        *,
        verb: str,
        keep: str,
        other: str = "",
        typed: tuple[str, ...] = (),
        danger: bool = False,
        warning: str = "",
    ) -> None:
        super().__init__(classes="dialog -danger" if danger else "dialog")
        self._warning = warning
        self._question = question
        self._details = details
        self._verb = verb
        self._keep = keep
        self._other = other
        self._danger = danger
        self.typed = tuple(word.strip() for word in typed if word.strip())
        """The accepted words; empty if the user need not type a word."""

    def compose(self) -> ComposeResult:
        yield Label(clean(self._question, 400), markup=False, classes="question")
        if self._details or self._warning:
            with Details(classes="details"):
                if self._warning:
                    yield Static(clean_lines(self._warning), classes="warning", markup=False)
                yield DetailLines(clean_lines(self._details), markup=False)
            more = Label("", classes="more", markup=False)
            more.display = False
            yield more
        if self.typed:
            yield Label(_ask_to_type(self.typed), markup=False, classes="ask")
            digits = "[0-9]*" if self._wants_number else None
            yield SingleLineInput(id="typed", restrict=digits)
            wrong = Label("", id="wrong", markup=False)
            wrong.display = False
            yield wrong
        with Horizontal(classes="buttons"):
            yield CompactButton(Content(clean(self._keep, 40)), id="keep")
            yield CompactButton(
                Content(self._verb),
                id="act",
                variant="error" if self._danger else "primary",
                disabled=bool(self.typed),
            )
            if self._other:
                yield CompactButton(Content(self._other), id="other")

    def on_resize(self) -> None:
        """Limit the height of the details to the rows that the buttons leave."""
        over = self.virtual_size.height - self.size.height
        for details in self.query(Details):
            more = self.query_one(".more", Label)
            if max(over, details.lines_below) > 0:
                more.display = True
            if more.display and not more.size.height:  # its line is not laid out yet
                over += 1
            if over > 0:
                details.styles.max_height = max(details.size.height - over, 1)
        self.call_after_refresh(self._show_more)

    def on_details_scrolled(self) -> None:
        self._show_more()

    def _show_more(self) -> None:
        """Show how many lines are below the visible details, and the key that shows them."""
        for details in self.query(Details):
            lines = format_count(details.lines_below, "more line") if details.lines_below else ""
            more = self.query_one(".more", Label)
            more.update(with_keys(f"{{dialog.page_down}} shows {lines}") if lines else "")

    @property
    def keep(self) -> Button:
        """The button that changes nothing and closes the dialog."""
        return self.query_one("#keep", Button)

    @property
    def act(self) -> Button:
        """The button that runs the action."""
        return self.query_one("#act", Button)

    @property
    def is_typed(self) -> bool:
        """Whether the user has typed an accepted word, or need not type a word."""
        return not self.typed or self.query_one("#typed", Input).value.strip() in self.typed

    @property
    def _wants_number(self) -> bool:
        return all(word.isascii() and word.isdigit() for word in self.typed)

    def begin(self) -> None:
        """Focus the button that changes nothing, or the field if a word must be typed."""
        self.query_one("#typed" if self.typed else "#keep").focus()

    def note_typed(self) -> None:
        """Remove the error after new input, and show the request for the word again."""
        self._show_wrong("")
        self._ask(_ask_to_type(self.typed))

    def accept(self, next_step: str) -> bool:
        """Return whether an accepted word is typed, and show the next step or the error.

        After an error, the text is selected, so that typing replaces it.

        Args:
            next_step: The sentence that replaces the request to type a word.
        """
        self._show_wrong("" if self.is_typed else _say_wrong(self.typed))
        if self.is_typed:
            self._ask(next_step, is_next=True)
        else:
            self.query_one("#typed", Input).select_all()
        return self.is_typed

    def on_single_line_input_refused(self, event: SingleLineInput.Refused) -> None:
        """Explain why a letter was not inserted into the field for a number."""
        event.stop()
        first = f"Type only the number {self.typed[0]}, then press Enter."
        self._show_wrong(
            "! The number is complete. Press Enter." if self.is_typed else f"! {first}"
        )

    def _ask(self, words: str, *, is_next: bool = False) -> None:
        label = self.query_one(".ask", Label)
        label.update(words)
        label.set_class(is_next, "-next")

    def _show_wrong(self, words: str) -> None:
        label = self.query_one("#wrong", Label)
        label.update(words)
        label.display = bool(words)
        self.call_after_refresh(self.on_resize)

    def close(self, reason: str) -> None:
        """Replace the field and the buttons by a reason. The question stays visible.

        Args:
            reason: Sentences about why no answer is possible, without control characters.
        """
        for gone in self.query(".buttons, .ask, #typed, #wrong"):
            gone.display = False
        self.mount(Label(reason, id="closed", markup=False))
        self.call_after_refresh(self.on_resize)

    def rewrite(self, question: str, details: str, verb: str, keep: str) -> None:
        """Replace the texts of the box. An empty question or label keeps the current text."""
        if question:
            self.query_one(".question", Label).update(clean(question, 400))
        for lines in self.query(".details Static").results(Static):
            if not lines.has_class("warning"):
                lines.update(clean_lines(details))
        for button, label in ((self.act, verb), (self.keep, keep)):
            button.label = Content(label) if label else button.label
            button.refresh(layout=True)  # a new label alone keeps the old width
        self.call_after_refresh(self.on_resize)

    def scroll_details(self, direction: int) -> None:
        """Scroll the details by a page: down if ``direction`` is 1, up if it is -1."""
        for details in self.query(Details):
            details.scroll_relative(y=direction * max(details.size.height - 1, 1), animate=False)


def _ask_to_type(words: Sequence[str]) -> str:
    """Return the sentence that asks the user to type one of the accepted words.

    If a word is not ASCII, each word gets its own line. Terminals may disagree on the width or
    direction of such a word, so users would misread an ID on the same line.
    """
    shown = [clean(word, 60) for word in words]
    if all(map(str.isascii, shown)):
        return f"To continue, type {' or '.join(shown)}, then press Enter:"
    return "\n".join(["To continue, type the name or the number below, then press Enter:", *shown])


def _say_wrong(words: Sequence[str]) -> str:
    """Return the message for a wrong word.

    The message contains the accepted words if they are ASCII. Users could misread other words.
    """
    shown = [clean(word, 60) for word in words]
    if not all(map(str.isascii, shown)):
        return "! Your input does not match."
    return (
        f"! Your input is neither {' nor '.join(shown)}."
        if shown[1:]
        else f"! Your input is not {shown[0]}."
    )


class ConfirmModal(LocktermModal[bool | None]):
    """A confirmation dialog with two or three buttons.

    The result is True for the button that acts, False for the third button, and otherwise None.

    Args:
        question: See :class:`QuestionBox`, also for ``details``, ``verb``, ``other``, ``typed``,
            ``danger`` and ``warning``.
        keep: The label of the button that closes the dialog as Esc does, and has the initial focus.
        unasked: Whether the dialog may open instead of an expected screen. Keys typed before the
            dialog was painted were meant for that screen, and are discarded. If typed text
            continues into the dialog, the key that ends the text is not an answer, unless
            :data:`READ_S` have passed since the last letter.
        loses_text: Whether confirming loses typed text. If so, text that the user is still typing
            when the dialog opens is not an answer either.
    """

    BINDINGS = bindings("confirm")

    heading = "Confirm"

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
        """The box with the question and its buttons."""
        self._unasked = unasked
        self._notes_text = unasked or loses_text
        self._typed_s: float | None = None
        """The time of the last typed text, in seconds on Textual's clock. None if a button press
        counts without a delay."""
        self._drawn_s = math.inf
        """The time when the terminal showed the question, in seconds on Textual's clock."""
        self._pressed_s = 0.0
        """The time of the last key or click, in seconds on Textual's clock."""

    def compose(self) -> ComposeResult:
        yield self.box

    def on_mount(self) -> None:
        self.box.begin()

    # --- handlers ------------------------------------------------------------------------------

    def note_painted(self) -> None:
        """Record the time of painting.

        If the user may still be typing text for an earlier screen, also ask the terminal when it
        has drawn the dialog.
        """
        super().note_painted()
        if self._notes_text:
            assert isinstance(self.app, Host)
            self.app.ask_drawn(self._note_drawn)

    def _note_drawn(self, at_s: float) -> None:
        self._drawn_s = at_s

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Return whether to act on a key.

        A dialog that opened unexpectedly drops keys that were typed before it was painted.
        """
        self._pressed_s = event.time
        return not self._unasked or self.is_painted_for(event)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Remember the time of a click, as ``is_meant`` does for keys."""
        self._pressed_s = event.time

    def on_key(self, event: events.Key) -> None:
        """Remember that text was typed, so that a button press soon after is not an answer."""
        is_known = event.key in self.active_bindings or event.key in keys_of("app.help")
        if self._notes_text and event.is_printable and not is_known:
            self._typed_s = event.time

    def on_input_changed(self) -> None:
        """Enable the button that acts if an accepted word is typed; otherwise, disable it."""
        self.box.note_typed()
        self.box.act.disabled = not self.box.is_typed

    def on_input_submitted(self) -> None:
        """On Enter, focus the button that acts, or show an error if no accepted word is typed."""
        if self.box.accept("Your input matches. Press Enter again to confirm."):
            self.box.act.focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer, unless the user was just typing text and had no time to read the question."""
        typed_s, self._typed_s = self._typed_s, None
        if typed_s is not None and self._pressed_s < max(typed_s, self._drawn_s) + READ_S:
            self.box.keep.focus()
            self.notify(
                "You were still typing text. Read the question, then answer.",
                title="Not answered",
                severity="warning",
            )
            return
        self.dismiss({"act": True, "other": False}.get(event.button.id or ""))

    def action_scroll_details(self, direction: int) -> None:
        self.box.scroll_details(direction)


_LONGEST = 20
"""The maximum length of a signed 64-bit number, in characters."""


class NumberModal(FieldModal[int | None]):
    """A dialog for a whole number. The result is the number, or None if canceled.

    Args:
        question: The question, which names the remote or lock that the number is for.
        details: Sentences below the question; may be empty.
        heading: The title in the frame.
        verb: The label of the button that accepts the number.
        numbers: The valid numbers.
        wrong: The message for invalid input. If empty, the message lists the valid numbers.
    """

    def __init__(
        self,
        question: str,
        details: str = "",
        *,
        heading: str,
        verb: str,
        numbers: range,
        wrong: str = "",
    ) -> None:
        super().__init__()
        self._question = question
        self._details = details
        self.verb = clean(verb, 48)
        self._numbers = numbers
        self.heading = heading
        self._wrong = wrong or f"Type a whole number from {numbers.start} to {numbers.stop - 1}."

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(clean(self._question, 400), markup=False, classes="question")
            if self._details:
                yield Label(clean_lines(self._details), markup=False, classes="ask")
            yield SingleLineInput(max_length=_LONGEST, restrict=r"-?[0-9]*")
            yield from self.compose_end()

    def answer(self) -> None:
        typed = self.query_one(Input).value.strip()
        try:
            number = int(typed)
        except ValueError:
            number = self._numbers.start - 1
        if number in self._numbers:
            self.dismiss(number)
        else:
            self.refuse(self._wrong)
            self.query_one(Input).select_all()  # so that typing replaces the wrong number

    def on_single_line_input_refused(self) -> None:
        """Explain why a letter was not inserted."""
        self.refuse(self._wrong)
