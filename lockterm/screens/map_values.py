"""The dialogs for the columns of a table file: for a default value, and for a lock."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.suggester import SuggestFromList
from textual.widgets import Input, Label

from lockterm.domain.foreign_table import ids_by_name, lock_key
from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import clean
from lockterm.domain.table_columns import LOCK
from lockterm.domain.table_map import MEANINGS, find_value_error
from lockterm.screens.modal import FieldModal
from lockterm.widgets.form_field import CompactButton
from lockterm.widgets.text_input import SingleLineInput


class ValueModal(FieldModal[str | None]):
    """A dialog for a column's default value. The result is the value, or None if canceled.

    Args:
        column: The name of the column of a table file.
        value: The current value.
    """

    about = "lockterm uses this value for rows without a value. You can leave the field empty."

    def __init__(self, column: str, value: str) -> None:
        super().__init__()
        self._column = column
        self._value = value

    def compose(self) -> ComposeResult:
        """Compose the question, the field, the line for errors, and the buttons."""
        with Vertical(classes="dialog"):
            yield Label(self.describe_question(), classes="question", markup=False)
            yield Label(self.about, markup=False)
            field = SingleLineInput(self._value, compact=True)
            field.cursor_blink = False
            yield field
            yield Label("", id="wrong", markup=False)
            with Horizontal(classes="buttons"):
                yield CompactButton("Cancel", id="keep")
                yield CompactButton("Use this value", id="act", variant="primary")

    def describe_question(self) -> str:
        """Return the question of the dialog."""
        return f"Which {MEANINGS[self._column]} applies to rows without a value?"

    def answer(self) -> None:
        text = self.query_one(Input).value.strip()
        if reason := self.find_error(text):
            self.refuse(clean(reason, 200))
        else:
            self.dismiss(self.to_value(text))

    def find_error(self, text: str) -> str:
        """Return why a text is not a valid value; empty if it is valid."""
        return find_value_error(self._column, text)

    def to_value(self, text: str) -> str:
        """Return the value for a valid text."""
        return text


class LockModal(ValueModal):
    """A dialog for a lock. The result is the lock's ID as text, or None if canceled.

    Args:
        book: The locks of the lock book.
        value: The ID of the current lock; empty if there is none.
        door: The name of the column whose lock the dialog asks for; empty to ask for the lock of
            rows that name no lock.
    """

    about = "The ID of the lock, or its name in the lock book:"

    def __init__(self, book: Sequence[Lock], value: str, door: str = "") -> None:
        super().__init__(LOCK, value)
        self._door = door
        self._ids = ids_by_name(book)
        self._names = sorted({clean(lock.name) for lock in book if lock.name})

    def on_mount(self) -> None:
        """Let the field suggest the names of the locks in the lock book."""
        self.query_one(Input).suggester = SuggestFromList(self._names, case_sensitive=False)

    def describe_question(self) -> str:
        if not self._door:
            return super().describe_question()
        return f"Which lock does the column {clean(self._door, 60)} give access to?"

    def find_error(self, text: str) -> str:
        if not text:
            return "" if not self._door else "Type the ID or the name of a lock."
        if text.isascii() and text.isdigit():
            return "" if len(text) < 19 else "The lock ID must be a whole number, such as 1001."
        count = len(self._ids.get(lock_key(text), ()))
        if count > 1:
            return "Several locks have this name. Type the ID."
        if not count and self._completions(text):
            return "Several locks have names that start like this. Type more of the name."
        return "" if count else "The lock book has no lock with this name. Type its ID."

    def answer(self) -> None:
        """Close the dialog with the typed lock.

        If only one lock name starts with the typed text, complete the name first.
        """
        field = self.query_one(Input)
        names = self._completions(field.value)
        if len(names) == 1 and self.find_error(field.value.strip()):
            field.value = names[0]
        super().answer()

    def _completions(self, text: str) -> list[str]:
        """Return the names in the lock book that start with a text, ignoring case."""
        start = lock_key(text)
        is_id = start.isdigit() or not start
        return [] if is_id else [name for name in self._names if lock_key(name).startswith(start)]

    def to_value(self, text: str) -> str:
        named = self._ids.get(lock_key(text), ())
        return text if not named or text.isdigit() else str(named[0])
