"""Text fields of one line, which notify the user if a paste does not fit, and the search field."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widgets import Input, Label

from lockterm.domain.glyphs import quoted
from lockterm.domain.names import fold_text
from lockterm.domain.safe_text import clean
from lockterm.terminal.key_queue import when_idle
from lockterm.widgets.actions import bindings

_WORD_END = re.compile(r"\W*\w*")
"""Matches any separators and the rest of the word after them."""

PASTE = 2000
"""The maximum number of characters that a paste adds to a field."""


class SingleLineInput(Input):
    """An ``Input`` that inserts the part of a paste that fits, and reports a dropped part.

    Keys with Alt edit as in readline. Terminals send a key with Alt as ESC and the key.

    Args:
        value: The initial text.
        options: The keyword arguments for Textual's ``Input``.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("alt+b,alt+left,alt+ctrl+left", "cursor_left_word", "Word left", show=False),
        Binding("alt+f,alt+right,alt+ctrl+right", "word_end", "Word right", show=False),
        Binding(
            "alt+backspace,alt+ctrl+backspace,ctrl+backspace",
            "delete_left_word",
            "Delete the word to the left",
            show=False,
        ),
        Binding(
            "alt+d,alt+delete,alt+ctrl+delete,ctrl+delete",
            "delete_word_end",
            "Delete the word to the right",
            show=False,
        ),
    ]

    class Refused(Message):
        """Posted when the field refused typed text, such as a letter in a field for a number."""

    virtual_size = Reactive(Size(0, 0))
    """The size of the whole text. Unlike in Textual, a change causes no new layout of the
    screen."""

    def __init__(self, value: str = "", **options: Any) -> None:
        super().__init__(value, compact=True, **options)
        self.cursor_blink = False  # an idle field must send nothing

    def on_mount(self) -> None:
        """Put the placeholder in brackets if no colors distinguish the placeholder from a value."""
        if self.app.no_color and self.placeholder:
            self.placeholder = f"({self.placeholder})"

    def on_focus(self) -> None:
        """Scroll to the cursor.

        Textual does not scroll if the initial text is longer than the field.
        """
        self.call_after_refresh(self._see_cursor)

    def _see_cursor(self) -> None:
        before = cell_len(self.value[: self.cursor_position])
        self.scroll_to_region(Region(before, 0, 1, 1), force=True, animate=False)

    def render_line(self, y: int) -> Strip:
        """Without colors, underline even an empty field, and put a suggestion in brackets."""
        strip, style = super().render_line(y), self.rich_style
        if not style.underline:
            return strip
        return self._bracket_suggestion(strip).extend_cell_length(self.size.width, style)

    def _bracket_suggestion(self, strip: Strip) -> Strip:
        """Put the suggested completion in brackets, so that it does not look like typed text."""
        start = cell_len(self.value) - self.scroll_offset.x
        if not (self.value and self.has_focus and start >= 0):
            return strip
        rest = strip.crop(start).text.rstrip()
        if not rest:
            return strip
        cursor = self.get_component_rich_style("input--cursor")
        faded = self.get_component_rich_style("input--suggestion")
        marked = [Segment("(", cursor), Segment(f"{rest})", faded)]
        return Strip([*strip.crop(0, start), *marked]).crop(0, self.size.width)

    def restricted(self) -> None:
        """Post a message instead of a bell, so that the screen can explain the refusal."""
        self.post_message(self.Refused())

    @property
    def cursor_screen_offset(self) -> Offset:
        """The cursor's position. After the last letter, it is one cell to the left of Textual's."""
        offset = super().cursor_screen_offset
        return offset - Offset(1, 0) if self.cursor_at_end else offset

    def on_paste(self, event: events.Paste) -> None:
        """Insert a paste's first line without control characters, and report the dropped text."""
        event.stop()
        event.prevent_default()
        line, *others = [line for line in event.text.splitlines() if line.strip()] or [""]
        if others:
            lines = "1 line" if len(others) == 1 else f"{len(others):,} lines"
            self._say(
                f"This field holds one line, but the pasted text has {len(others) + 1:,}."
                f" lockterm dropped {lines}, starting with {quoted(clean(others[0].strip(), 40))}."
            )
        if len(line) > PASTE:
            self._say(
                f"The pasted text has {len(line):,} characters. Only the first {PASTE:,} were"
                " inserted."
            )
        selection, before = self.selection, self.value
        text = clean(line[:PASTE].replace("\t", " "))
        if self.max_length:
            left = self.max_length - len(before) + abs(selection.end - selection.start)
            if len(text) > left:
                self._say(f"Only {left:,} of the {len(text):,} characters fit into the field.")
                text = text[:left]
        if selection.is_empty:
            self.insert_text_at_cursor(text)
        else:
            self.replace(text, *selection)
        if text and self.restrict and not re.fullmatch(self.restrict, text):
            self._say(f"{quoted(clean(text, 40))} is not valid in this field.")

    def action_word_end(self) -> None:
        """Move the cursor to the end of the current or next word."""
        self.cursor_position = self._word_end

    def action_delete_word_end(self) -> None:
        """Delete the selection, or the text up to the end of the current or next word."""
        if self.selection.is_empty:
            self.delete(self.cursor_position, self._word_end)
        else:
            self.delete_selection()

    @property
    def _word_end(self) -> int:
        if self.password:  # never reveal where the words of a password end
            return len(self.value)
        found = _WORD_END.match(self.value, self.cursor_position)
        return found.end() if found else len(self.value)

    def _say(self, words: str) -> None:
        self.notify(words, title="Pasted text cut", severity="warning")


class TextInput(SingleLineInput):
    """An ``Input`` of one line, from which Up and Down go to the neighboring fields.

    Args:
        value: The initial text.
        select_on_focus: Whether the text is selected when the field gets the focus, so that typing
            replaces it.
        options: Other keyword arguments for Textual's ``Input``.
    """

    BINDINGS = bindings("text")

    def __init__(self, value: str = "", *, select_on_focus: bool = False, **options: Any) -> None:
        super().__init__(value, select_on_focus=select_on_focus, **options)


class FindLine(Horizontal):
    """A search field. By default, it is visible only during a search.

    Args:
        stays: Whether the field is always visible. If so, Esc first clears the text, and leaves the
            field only if it is empty.
    """

    BINDINGS = bindings("find")

    @dataclass
    class Changed(Message):
        """Posted when the search text has changed. An empty text ends the search."""

        value: str

    class Left(Message):
        """Posted when the user leaves the field to go to the results."""

    class Submitted(Message):
        """Posted when the user presses Enter, so that unloaded rows may be searched, too."""

    class GivenUp(Message):
        """Posted when the user presses Esc in an empty field that is always visible."""

    def __init__(self, *, stays: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.display = self._stays = stays
        self._field: SingleLineInput | None = None

    @property
    def value(self) -> str:
        return self._field.value.strip() if self._field else ""

    def types(self, event: events.Key) -> bool:
        """Return whether a key edits the search text. Such a key need not wait for results."""
        return self.has_focus_within and (event.is_printable or event.key == "backspace")

    def on_mount(self) -> None:
        when_idle(self, self._with_field)

    def open(self) -> None:
        self.display = True
        self._with_field().focus()

    def _with_field(self) -> SingleLineInput:
        """Return the text field. If the field does not exist yet, create it."""
        if self._field is None:
            self._field = SingleLineInput(max_length=200)
            self.mount(Label("Find:"), self._field)
        return self._field

    def action_leave(self) -> None:
        """Go to the results, and hide the field if it is empty."""
        if not self.value:
            self.display = self._stays
        self.post_message(self.Left())

    def action_close(self) -> None:
        if self._stays:
            if self._field and self._field.value:
                self._field.value = ""
            else:
                self.post_message(self.GivenUp())
            return
        self.display = False
        if self._field:
            self._field.value = ""
        self.post_message(self.Left())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_leave()
        self.post_message(self.Submitted())

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value.strip()))


def matches(words: str, *fields: object) -> bool:
    """Return whether each word in ``words`` occurs in one of the fields; see :func:`fold_text`."""
    text = fold_text("\n".join(str(field) for field in fields))
    return all(word in text for word in fold_text(words).split())
