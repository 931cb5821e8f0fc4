"""The screen that maps the columns of another system's table, and the dialogs for its values."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import var
from textual.suggester import SuggestFromList
from textual.widgets import Input, Label, Static

from lockterm.domain.foreign_table import TableHeader, ids_by_name, lock_key
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import RemoteType, choices
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.table_columns import ACTION, LOCK
from lockterm.domain.table_map import (
    BY_END,
    CONSTANT,
    DATE_ORDERS,
    FIRST,
    IGNORE,
    LAST,
    MEANINGS,
    NAMELESS,
    NUMBER_FORMATS,
    TYPE,
    WRITTEN,
    TableMap,
    find_value_error,
    format_map,
)
from lockterm.domain.text.amount import format_count
from lockterm.errors import LocktermError, describe_os_error
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.paths import write_new
from lockterm.screens.dialogs.choice import ChoiceModal
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.field_modal import FieldModal
from lockterm.screens.list_screen import ListScreen
from lockterm.terminal.key_queue import opens
from lockterm.widgets.actions import bindings
from lockterm.widgets.row_table import Column, RowTable
from lockterm.widgets.text_input import SingleLineInput

DOOR = "door"
"""The choice for a column whose cells show whether a person has access to one lock."""

DATES, NUMBERS = "dates", "numbers"
"""The keys of the table rows for the formats of dates and of numbers. The fields of
:class:`TableMap` with these formats have the same names."""

_NONE = "no meaning yet"

_EXPLAINED = {
    FIRST: "joined with the last name",
    LAST: "joined with the first name",
    LOCK: "its ID, or its name in the lock book",
    DOOR: "yes, x, 1 or an end date gives access",
    IGNORE: "the column has no effect",
    ACTION: "add, update, delete or keep",
}

_SETTINGS = {
    DATES: "date order",
    NUMBERS: "number format",
    **{name: f"default {MEANINGS[name]}" for name in CONSTANT},
}
"""Maps row keys to labels, for the settings that follow the rows of the file's columns."""

_AS_HERE = "year first, or an unambiguous date"


def _row_title(key: str) -> str:
    return f"({_SETTINGS[key]})"


TYPE_ROW = _row_title(TYPE)
"""The label of the setting for the type of remotes whose row has no type."""


class MapScreen(ListScreen[TableMap | None]):
    """A screen for the meanings of a file's columns.

    The result is a complete mapping, or None if canceled.

    Args:
        operations: The operations on the service and the local store.
        header: The columns of the file.
        table_map: The meanings and settings to begin with.
        path: The path of the file.
        of_lock: The lock for rows that name no lock; None if each row must name a lock.
    """

    BINDINGS = bindings("table_map")

    row_action = "choose"
    table: RowTable

    table_map: var[TableMap] = var(TableMap, init=False)
    """The meanings of the columns, and the settings, as the screen shows them."""

    def __init__(
        self,
        operations: Operations,
        header: TableHeader,
        table_map: TableMap,
        path: Path,
        of_lock: Lock | None,
    ) -> None:
        table = RowTable(
            Column("Column", most=60, least=14),
            Column("Sample", most=40, least=6, rank=1),
            Column("Meaning", most=60, least=20, good=24),
            id="columns",
        )
        super().__init__(operations, table)
        self._header = header
        self._columns = [*header.to_map]
        self._before = table_map
        self._path = path
        self._of_lock = of_lock
        self._book: dict[str, Lock] = {}
        """Maps the IDs of locks, as text, to the locks of the lock book."""
        self.set_reactive(MapScreen.table_map, table_map)

    def breadcrumbs(self) -> tuple[str, ...]:
        """Return the breadcrumbs for the header, with the name of the file."""
        return ("Import", self._path.name, "Columns")

    @property
    def would_lose(self) -> str:
        is_changed = self.table_map != self._before
        return "Leave without saving the meanings of the columns?" if is_changed else ""

    def compose_body(self) -> ComposeResult:
        """Compose the table, and the line about the user's next step."""
        yield from self.compose_list()
        yield Static(id="left", markup=False)

    def on_mount(self) -> None:
        """Show the columns, and read the names of the locks."""
        self.paint()
        self.load_book()

    @work
    async def load_book(self) -> None:
        """Read the lock book. If that fails, the user can choose locks only by their ID."""
        try:
            locks = await self.operations.locks.all()
        except LocktermError as error:
            self.tell(error)
            return
        self._book = {str(lock.lock_id): lock for lock in locks}
        if self.table_map.doors or LOCK in self.table_map.values:
            self.paint()

    # --- the rows ------------------------------------------------------------------------------

    def paint(self) -> None:
        """Show the columns in the order of the file, then the settings."""
        rows = {str(place): self._cells_of(one) for place, one in enumerate(self._columns)}
        rows |= {key: (_row_title(key), "", self._setting(key)) for key in _SETTINGS}
        self.table.show(rows)
        self.show_list()
        self.query_one("#left", Static).update(self._describe_next())

    def describe_title(self) -> str:
        return f"{format_count(len(self._columns), 'column')} of {clean(self._path.name, 40)}"

    def _cells_of(self, column: str) -> tuple[str, str, str]:
        sample = clean(self._header.samples.get(column, ""), LONGEST_CELL)
        return clean(column, LONGEST_CELL) or NAMELESS, sample, self._meaning(column)

    def _meaning(self, column: str) -> str:
        if column in self.table_map.doors:
            return f"door of {self._lock_title(self.table_map.doors[column])}"
        meaning = self.table_map.columns.get(column)
        return MEANINGS[meaning] if meaning else f"? {_NONE}"

    def _setting(self, key: str) -> str:
        if key in (DATES, NUMBERS):
            return getattr(self.table_map, key) or _AS_HERE
        text = self.table_map.values.get(key, "")
        if key == LOCK:
            if text:
                return self._lock_title(text)
            return clean(self._of_lock.title, LONGEST_CELL) if self._of_lock else "-"
        return clean(text, LONGEST_CELL) or "-"

    def _lock_title(self, lock_id: str) -> str:
        lock = self._book.get(lock_id)
        named = clean(lock.name, 40) if lock else ""
        return f"{named} ({clean(lock_id, 20)})" if named else f"lock {clean(lock_id, 20)}"

    @property
    def _open(self) -> Sequence[str]:
        """The columns without a meaning. The user must give each a meaning, or ignore it."""
        return [one for one in self._columns if not self.table_map.is_known(one)]

    def _describe_next(self) -> str:
        if reason := self._mistake():
            return reason
        if not self.table_map.has_type:
            return with_keys(
                "No column gives the type, which new remotes need. Choose it in the row"
                f" {TYPE_ROW}. Then press {{map.plan}} to show the plan."
            )
        return with_keys(
            "Press {map.plan} to save the columns and show the plan. lockterm reads the next file"
            " with these columns in the same way."
        )

    def _mistake(self) -> str:
        """Return why the mapping is not complete; empty if it is complete."""
        if left := self._open:
            listed = ", ".join(clean(column, 30) or NAMELESS for column in left[:3])
            more = f" and {len(left) - 3:,} more" if len(left) > 3 else ""
            have = "has" if len(left) == 1 else "have"
            fact = f"{format_count(len(left), 'column')} {have} no meaning yet: {listed}{more}."
            return with_keys(
                f"{fact} Press {{map.choose}} to choose a meaning, {{map.remove}} to ignore"
                " a column."
            )
        for problem in self.table_map.find_mistakes(self._columns):
            return (
                f"{clean(problem.column, 40)}: {problem.reason}"
                if problem.column
                else problem.reason
            )
        if self._of_lock is None and not self.table_map.has_lock(self._columns):
            return "No lock is chosen. Choose a lock, a column with the lock, or columns of doors."
        return ""

    # --- choosing ------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        if action in ("plan", "export"):
            return self._mistake()
        if action == "ignore_rest" and not self._open:
            return "Every column has a meaning."
        return ""

    def watch_table_map(self) -> None:
        """Show the changed meanings and settings."""
        self.paint()
        self.refresh_bindings()

    @work
    @opens("the choice")
    async def action_choose(self) -> None:
        """Let the user choose the meaning of the selected column, or the selected setting."""
        if (key := self.table.highlighted) is None:
            return
        if key in (DATES, NUMBERS):
            await self._choose_format(key)
        elif key in _SETTINGS:
            await self._choose_value(key)
        else:
            await self._choose_meaning(self._columns[int(key)])

    async def _choose_meaning(self, column: str) -> None:
        sample = clean(self._header.samples.get(column, ""), 15)
        example = f" Example: {sample}" if sample else ""
        question = f"What does {clean(column, 20) or NAMELESS} mean?{example}"
        listed: dict[str, str] = {}
        for name, text in MEANINGS.items():
            listed[name] = text
            if name == LOCK:
                listed[DOOR] = "door"
        found = [
            (name, f"{text}: {_EXPLAINED[name]}" if name in _EXPLAINED else text)
            for name, text in listed.items()
        ]
        now = DOOR if column in self.table_map.doors else self.table_map.columns.get(column, "")
        place = [*listed].index(now) if now in listed else 0
        meaning = await self.app.push_screen_wait(ChoiceModal(question, found, place))
        if meaning == DOOR:
            present = self.table_map.doors.get(column, "")
            lock = await self.app.push_screen_wait(
                LockModal([*self._book.values()], present, column)
            )
            if lock:
                self._assign(column, door=lock)
        elif meaning is not None:
            self._assign(column, meaning)

    def _assign(self, column: str, meaning: str = "", door: str = "") -> None:
        """Give a column a meaning, or the lock to which it grants access.

        If neither is given, clear both.
        """
        columns = {
            **_without(self.table_map.columns, column),
            **({column: meaning} if meaning else {}),
        }
        doors = {**_without(self.table_map.doors, column), **({column: door} if door else {})}
        self.table_map = replace(self.table_map, columns=columns, doors=doors)

    async def _choose_format(self, key: str) -> None:
        if key == DATES:
            known = [("", _AS_HERE), *((one, one) for one in DATE_ORDERS)]
            question = "In which order are dates written?"
        else:
            known = [(one, one) for one in NUMBER_FORMATS]
            question = "How are numbers written?"
        place = [value for value, _ in known].index(getattr(self.table_map, key))
        chosen = await self.app.push_screen_wait(ChoiceModal(question, known, place))
        if chosen is not None:
            formats: dict[str, Any] = {key: chosen}
            self.table_map = replace(self.table_map, **formats)

    async def _choose_value(self, name: str) -> None:
        present = self.table_map.values.get(name, "")
        if name == TYPE:
            types = [(one, one) for one in choices(RemoteType)]
            known = [
                ("", "none"),
                *types,
                (BY_END, f"{BY_END}: time-limited with an end, otherwise permanent"),
            ]
            place = max((at for at, (one, _) in enumerate(known) if one == present), default=0)
            question = "Which type applies to rows without a type?"
            chosen = await self.app.push_screen_wait(ChoiceModal(question, known, place))
        elif name == LOCK:
            chosen = await self.app.push_screen_wait(LockModal([*self._book.values()], present))
        else:
            chosen = await self.app.push_screen_wait(ValueModal(name, present))
        if chosen is not None:
            self._set_value(name, chosen)

    def _set_value(self, name: str, text: str) -> None:
        values = {**_without(self.table_map.values, name), **({name: text} if text else {})}
        self.table_map = replace(self.table_map, values=values)

    def action_ignore(self) -> None:
        """Ignore the selected column, or stop ignoring it.

        If a setting is selected, clear the setting.
        """
        key = self.table.highlighted
        if key == DATES:
            self.table_map = replace(self.table_map, dates="")
        elif key == NUMBERS:
            self.table_map = replace(self.table_map, numbers=WRITTEN)
        elif key in _SETTINGS:
            self._set_value(key, "")
        elif key is not None:
            column = self._columns[int(key)]
            is_ignored = self.table_map.columns.get(column) == IGNORE
            self._assign(column, "" if is_ignored else IGNORE)

    def action_ignore_rest(self) -> None:
        """Ignore every column without a meaning."""
        rest = dict.fromkeys(self._open, IGNORE)
        self.table_map = replace(self.table_map, columns={**self.table_map.columns, **rest})

    def action_plan(self) -> None:
        """Close with the mapping, from which the import makes a plan."""
        self.dismiss(self.table_map)

    @work
    async def action_export(self) -> None:
        """Write the mapping to the folder of the table file, for ``lockterm apply --map``."""
        table_map, file = self.table_map, self._path.with_suffix(".toml")
        if self._of_lock is not None and not table_map.has_lock(self._columns):
            lock = {LOCK: str(self._of_lock.lock_id)}
            table_map = replace(table_map, values={**table_map.values, **lock})
        try:
            await asyncio.to_thread(write_new, file, format_map(table_map).encode())
        except OSError as error:
            text = f"{clean(file, 200)} cannot be written: {clean(describe_os_error(error), 100)}."
            self.notify(text, title="Not exported", severity="error")
        else:
            text = f"Mapping written to {clean(file, 200)} for lockterm apply --map."
            self.notify(text, title="Exported")

    @work
    @opens("the screen below the columns")
    async def action_back(self) -> None:
        """Leave without saving. If a chosen meaning would be lost, ask for confirmation first."""
        if question := self.would_lose:
            details = "Nothing was sent. The file is unchanged."
            asked = ConfirmModal(question, details, verb="Leave", keep="Keep assigning")
            if not await self.app.push_screen_wait(asked):
                return
        self.dismiss(None)


def _without(texts: Mapping[str, str], key: str) -> dict[str, str]:
    return {one: text for one, text in texts.items() if one != key}


class ValueModal(FieldModal[str | None]):
    """A dialog for a column's default value. The result is the value, or None if canceled.

    Args:
        column: The name of the column of a table file.
        value: The current value.
    """

    verb = "Use this value"
    about = "lockterm uses this value for rows without a value. You can leave the field empty."

    def __init__(self, column: str, value: str) -> None:
        super().__init__()
        self._column = column
        self._value = value

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(self.describe_question(), classes="question", markup=False)
            yield Label(self.about, markup=False)
            yield SingleLineInput(self._value)
            yield from self.compose_end()

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
