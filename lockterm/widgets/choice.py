"""Lines of options: a single or multiple choice, and suggested texts beside a field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Offset, Size
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from lockterm.widgets.actions import bindings

_GAP = 2
"""The width between two options, in cells. The width shrinks to 1 if all options then fit on one
line."""


class OptionLine(Widget, can_focus=True):
    """A line of options with a cursor. ASCII characters show which options are chosen.

    Args:
        options: The value and the label of each option. Labels must be safe to show.
        id: The ID of the widget.
    """

    BINDINGS = bindings("options")

    cursor: reactive[int] = reactive(0)
    """The index of the option under the cursor."""

    marks = ("(*)", "( )")
    """The texts in front of a chosen option and of an option that is not chosen."""

    @dataclass
    class Changed(Message):
        """Posted when the chosen options have changed."""

        line: OptionLine

        @property
        def control(self) -> OptionLine:
            return self.line

    def __init__(self, options: Iterable[tuple[str, str]], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.options: Sequence[tuple[str, str]] = tuple(options)

    def is_chosen(self, value: str) -> bool:
        """Return whether the option with this value is chosen."""
        raise NotImplementedError

    def choose(self, index: int) -> None:
        """Choose the option at an index, or toggle it in a multiple choice."""
        raise NotImplementedError

    def _width(self, index: int) -> int:
        return len(self.marks[0]) + 1 + cell_len(self.options[index][1])

    def _gap(self, width: int) -> int:
        """Return the width between two options in a widget of ``width`` cells."""
        gaps = len(self.options) - 1
        texts = sum(map(self._width, range(len(self.options))))
        return 1 if texts + gaps <= width < texts + _GAP * gaps else _GAP

    def _lines(self, width: int) -> list[list[int]]:
        """Return the indexes of the options in each line; no option is split across lines."""
        lines: list[list[int]] = []
        room, gap = 0, self._gap(width)
        for index in range(len(self.options)):
            needed = self._width(index)
            if needed > room or not lines:
                lines.append([])
                room = width
            lines[-1].append(index)
            room -= needed + gap
        return lines

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render(self) -> Content:
        """Return the options with their marks; if focused, highlight the option at the cursor."""
        parts: list[tuple[str, Style] | str] = []
        width = self.content_size.width
        for line in self._lines(width):
            for index in line:
                parts += [self._option(index), " " * self._gap(width)]
            parts[-1] = "\n"
        return Content.assemble(*parts[:-1])

    def _option(self, index: int) -> tuple[str, Style]:
        value, text = self.options[index]
        is_chosen = self.is_chosen(value)
        style = Style.from_meta({"option": index})
        if index == self.cursor and self.has_focus:
            style += Style(reverse=True)
        elif is_chosen:
            style += Style(bold=True)
        return f"{self.marks[0 if is_chosen else 1]} {text}", style

    @property
    def cursor_screen_offset(self) -> Offset:
        """The position of the terminal's cursor, which is on the option under the cursor."""
        width = self.content_size.width
        for y, line in enumerate(self._lines(width)):
            if self.cursor in line:
                before = line[: line.index(self.cursor)]
                x = sum(self._width(index) + self._gap(width) for index in before)
                return self.content_region.offset + Offset(x, y)
        return self.content_region.offset

    def on_click(self, event: events.Click) -> None:
        index = event.style.meta.get("option")
        if isinstance(index, int):
            self.cursor = index
            self.choose(index)

    def on_key(self, event: events.Key) -> None:
        """Choose the option whose value is the typed digit, or go to a label by its first letter.

        A letter never chooses an option, because the user may have typed it for another field.
        """
        character = event.character or ""
        if not character.isalnum() or not character.isascii():
            return
        values = [value for value, _ in self.options]
        if character in values:
            self.cursor = values.index(character)
            self.choose(self.cursor)
            event.stop()
            return
        for step in range(1, len(values) + 1):
            index = (self.cursor + step) % len(values)
            if self.options[index][1].casefold().startswith(character.casefold()):
                self.cursor = index
                event.stop()
                return

    def go_to(self, index: int) -> None:
        self.cursor = index

    def action_move(self, step: int) -> None:
        """Move the cursor by a number of options, wrapping around at both ends."""
        self.go_to((self.cursor + step) % len(self.options))

    def action_choose(self) -> None:
        self.choose(self.cursor)


class Choice(OptionLine):
    """A line of options for a single choice, which may be empty initially.

    If an option is chosen, an arrow key chooses the next or previous option. If no option is
    chosen, arrow keys only move the cursor, so that a key pressed by mistake chooses nothing. A
    letter only moves the cursor.

    Args:
        options: The value and the label of each option. Labels must be safe to show.
        value: The value of the option that is chosen initially; empty for none.
        id: The ID of the widget.
        may_be_empty: Whether Backspace can clear the choice.
    """

    BINDINGS = bindings("choice")

    value: reactive[str] = reactive("", init=False)
    """The value of the chosen option; empty if nothing is chosen."""

    def __init__(
        self,
        options: Iterable[tuple[str, str]],
        value: str = "",
        *,
        id: str | None = None,
        may_be_empty: bool = False,
    ) -> None:
        super().__init__(options, id=id)
        self._may_be_empty = may_be_empty
        self.set_reactive(Choice.value, value)  # without a message, because nothing is mounted yet
        self.set_reactive(Choice.cursor, self._index_of(value) or 0)

    def _index_of(self, value: str) -> int | None:
        return next((at for at, (one, _) in enumerate(self.options) if one == value), None)

    def is_chosen(self, value: str) -> bool:
        return value == self.value

    def choose(self, index: int) -> None:
        self.value = self.options[index][0]

    def go_to(self, index: int) -> None:
        super().go_to(index)
        if self.value:
            self.choose(index)

    def on_blur(self) -> None:
        """Move the cursor back to the chosen option."""
        self.cursor = self._index_of(self.value) or 0

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action is enabled.

        Clearing the choice is enabled only if the choice may be empty.
        """
        return self._may_be_empty if action == "clear" else True

    def action_clear(self) -> None:
        self.value = ""

    def watch_value(self, value: str) -> None:
        if (index := self._index_of(value)) is not None:
            self.cursor = index
        self.refresh(layout=True)
        self.post_message(self.Changed(self))


class MultiChoice(OptionLine):
    """A line of options for a multiple choice."""

    marks = ("[x]", "[ ]")

    chosen: reactive[frozenset[str]] = reactive(frozenset(), init=False)
    """The values of the chosen options."""

    def is_chosen(self, value: str) -> bool:
        return value in self.chosen

    def choose(self, index: int) -> None:
        self.chosen = self.chosen ^ {self.options[index][0]}
        self.post_message(self.Changed(self))


LABELS = {"eom": "end of month", "eoy": "end of year"}
"""Maps suggested texts to longer labels, which are shown if there is room for all labels of a
line."""

SHARE = 0.6
"""The maximum fraction of a line's width for the presets. The field beside the presets needs the
remaining width.

The stylesheet contains this fraction, too.
"""


class Presets(Widget):
    """A line of clickable texts.

    The line never has the focus, so that Tab and Enter go from field to field. The widget that
    contains the line binds a key that chooses the texts one after the other.

    Args:
        texts: The texts, without control characters.
    """

    @dataclass
    class Chosen(Message):
        """Posted when the user clicks a text."""

        text: str

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        self.texts = tuple(texts)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        room = int(container.width * SHARE)
        return sum(map(_width, self._labels(room))) - 1

    def _labels(self, room: int) -> Sequence[str]:
        """Return the long labels if all of them fit into ``room`` cells, otherwise the texts."""
        labels = [LABELS.get(text, text) for text in self.texts]
        return labels if sum(map(_width, labels)) - 1 <= room else self.texts

    def render(self) -> Content:
        """Return the texts that fit, in brackets, so that they look like buttons without color."""
        parts: list[tuple[str, Style] | str] = []
        room = self.size.width + 1
        for text, label in zip(self.texts, self._labels(self.size.width), strict=True):
            room -= _width(label)
            if room >= 0:
                parts += [(f"[{label}]", Style.from_meta({"preset": text})), " "]
        return Content.assemble(*parts[:-1])

    def on_click(self, event: events.Click) -> None:
        text = event.style.meta.get("preset")
        if isinstance(text, str):
            event.stop()
            self.post_message(self.Chosen(text))


def _width(text: str) -> int:
    """Return the width of a text with its brackets and the following blank, in cells."""
    return cell_len(text) + 3
