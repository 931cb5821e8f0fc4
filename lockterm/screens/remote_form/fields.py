"""The fields of the remote form: their text, how lockterm understands it, and its errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from textual import events, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Button, Input, Static, TextArea

from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import ADDED, FIELDS, UPDATED, WORDS, Remote, word
from lockterm.domain.safe_text import clean
from lockterm.domain.typed_remote import NamesInUse, TypedRemote, read_typed, shown_fields, typed_of
from lockterm.screens.remote_form.inputs import (
    STARTS,
    DatetimeInput,
    JsonEditor,
    TypedValue,
    WeekdayPicker,
)
from lockterm.widgets.choice import Choice, OptionLine
from lockterm.widgets.form_field import CompactButton, FormField
from lockterm.widgets.text_input import TextInput

_RARE = tuple(field for field in ADDED if field.rare)
_FIXED = (FIELDS["id"], *(field for field in ADDED if field.listed and field not in UPDATED))
"""The fields that an update cannot change (contract 4.4)."""


class RemoteFields(VerticalScroll, can_focus=False):
    """A column of fields that scrolls with the focus.

    The remote type determines which fields are shown.

    Most fields show their errors only after the focus has left them. A date field shows the date or
    the error while the user types.

    Args:
        before: The remote to change; None to add a remote.
        zone: The time zone of the lock.
        now_ms: A function that returns the current time in milliseconds.
        offered: Suggested texts by field, in place of the remote's values. Suggestions do not count
            as changes by the user.
        presets: The end dates to offer, as texts.
    """

    more: reactive[bool] = reactive(False, init=False)
    """Whether the less used fields are shown."""

    class Changed(Message):
        """Posted when the input has changed, after ``reading`` was updated."""

    @dataclass
    class Left(Message):
        """Posted when a field has lost the focus."""

        field: str
        """The contract's name of the field."""

    def __init__(
        self,
        before: Remote | None,
        zone: tzinfo,
        now_ms: Callable[[], int],
        offered: Mapping[str, str],
        presets: Sequence[str],
    ) -> None:
        super().__init__(id="form")
        self.before = before
        """The remote as it was when the form opened or last took over newer values; None to add a
        remote."""
        self.initial = typed_of(before, zone)
        """The texts of the fields before any input."""
        self.objections: dict[tuple[str, str], str] = {}
        """Maps pairs of field and text to the reason why the service does not accept this text."""
        self.remarks: dict[tuple[str, str], str] = {}
        """Maps pairs of field and text to a hint about this text."""
        self.taken = NamesInUse()
        """The names and numbers in use on the lock, as far as lockterm knows them."""
        self._offered = self._other(offered)
        self._zone = zone
        self._presets = presets
        self._now_ms = now_ms
        self._visited: set[str] = set()
        first = {**self.initial, **offered}
        self.set_reactive(RemoteFields.more, _has_rare(self._offered))
        self.reading: TypedRemote = read_typed(first, zone, now_ms(), before)
        """The values, errors and hints that result from the current input."""

    def compose(self) -> ComposeResult:
        first = {**self.initial, **self._offered}
        for field in ADDED if self.before is None else UPDATED:
            if field is _RARE[0]:
                yield CompactButton(self._more_label(), id="more")
            control = self._control(field, first[field.name])
            yield FormField(field.name, field.label, control)
            if field.name == "remoteName" and self.before is not None:
                yield from self._fixed(self.before)

    def _fixed(self, before: Remote) -> Iterator[FormField]:
        for field in _FIXED:
            value, constants = field.of(before), field.constants
            text = word(constants, value) if constants else clean(value or "none", 200)
            yield FormField(field.name, field.label, Static(text, markup=False, classes="fixed"))

    def _control(self, field: Field, text: str) -> Widget:
        """Return the input widget for a field of the tables in contract 4.1 and 4.4."""
        if field.constants is not None:
            options = [(str(value), shown) for value, shown in WORDS[field.constants].items()]
            if text and text not in dict(options):  # keep the unknown value as an option
                options.append((text, f"unknown ({text[:20]})"))
            return Choice(options, text, id=field.name, may_be_empty=not field.required)
        match field.kind:
            case Kind.DATE:
                presets = self._presets if field.name == "endDate" else STARTS
                return DatetimeInput(self._zone, text, id=field.name, presets=presets)
            case Kind.WEEKDAYS:
                return WeekdayPicker(text, id=field.name)
            case Kind.OBJECT:
                return JsonEditor(text, id=field.name)
        return TextInput(text, placeholder=f"for example: {field.example}", id=field.name)

    def on_mount(self) -> None:
        self.show_reading()

    # --- the input -----------------------------------------------------------------------------

    def row(self, field: str) -> FormField:
        """Return the form row of a field."""
        return self.query_one(f"#field-{field}", FormField)

    def _rows(self) -> list[FormField]:
        # Use the children: a query would search all their descendants at each key.
        rows = (child for child in self.children if isinstance(child, FormField))
        return [row for row in rows if row.field in self.initial]

    def typed(self) -> dict[str, str]:
        """Return the texts of all fields, including hidden fields, by contract name."""
        return {row.field: row.value for row in self._rows()}

    def fill(self, typed: Mapping[str, str]) -> None:
        """Put the texts in ``typed`` into their fields. The other fields stay unchanged.

        If a less used field gets a text, show the less used fields.
        """
        for row in self._rows():
            if row.field in typed:
                row.value = typed[row.field]
        self.more = self.more or _has_rare(typed)

    def go_on(self, draft: Mapping[str, str]) -> None:
        """Fill in a draft. Fields that are not in the draft get their initial texts."""
        self.fill({**self.initial, **draft})

    def offer(self, offered: Mapping[str, str]) -> None:
        """Reset the fields to their initial texts, then fill in suggested texts."""
        self._offered = self._other(offered)
        self._visited.clear()
        self.fill({**self.initial, **offered})
        self.read_now()

    def _other(self, typed: Mapping[str, str]) -> dict[str, str]:
        """Return the texts in ``typed`` that differ from the initial texts.

        Surrounding spaces are ignored.
        """
        initial = self.initial
        return {name: text for name, text in typed.items() if text.strip() != initial[name].strip()}

    def touched(self) -> dict[str, str]:
        """Return the texts to save as a draft, by field name; empty if the user changed nothing.

        A draft contains every text that differs from the initial text, including suggestions.
        """
        other = self._other(self.typed())
        return {} if other == self._offered else other

    def take_over(self, current: Remote) -> None:
        """Continue with newer values of the remote.

        The fields that the user did not change get the newer values.
        """
        typed, old, new = self.typed(), self.initial, typed_of(current, self._zone)
        self.before, self.initial = current, new
        self.fill({field: new[field] for field in new if typed[field] == old[field]})
        self.read_now()

    def shown(self) -> tuple[str, ...]:
        """Return the names of the fields that belong to the chosen remote type."""
        kind = self.reading.values.remote_type
        return shown_fields(kind, adding=self.before is None)

    # --- the meaning ---------------------------------------------------------------------------

    def read_now(self) -> TypedRemote:
        """Parse the input, show how lockterm understands it, and return the parsed values."""
        typed = self.typed()
        self.reading = read_typed(typed, self._zone, self._now_ms(), self.before)
        errors = dict(self.reading.errors)
        self.reading.errors.clear()  # refilled in the order of the form
        for field in self.shown():
            key = (field, typed[field].strip())
            if problem := errors.get(field) or self.objections.get(key):
                self.reading.errors[field] = problem
            elif key in self.remarks:
                self.reading.notes[field] = self.remarks[key]
        if self.before is None:
            found = {
                "remoteName": self.taken.describe_name(typed["remoteName"].strip()),
                "remoteNumber": self.taken.describe_number(typed["remoteNumber"].strip()),
            }
            self.reading.warnings.update((name, words) for name, words in found.items() if words)
        self.show_reading()
        return self.reading

    def show_reading(self) -> None:
        """Show the fields of the chosen remote type, each with its hint, warning or error."""
        shown = self.shown()
        for row in self._rows():
            field = row.field
            is_hidden = self.before is None and FIELDS[field].rare and not self.more
            row.display = field in shown and not is_hidden
            was_visited = field in self._visited
            row.error = self.reading.errors.get(field, "") if was_visited else ""
            warnings = [self.reading.shortens.get(field, "")]  # even while the field has the focus
            # Like its meaning, the consequence of an end date is shown while it is typed.
            if was_visited or field == "endDate":
                warnings.append(self.reading.warnings.get(field, ""))
            row.warning = "" if row.error else " ".join(filter(None, warnings))
            is_missing = field in self.reading.missing
            note = self.reading.notes.get(field, FIELDS[field].explanation)
            row.note = "" if was_visited and is_missing else note
            if isinstance(row.control, DatetimeInput):
                if not was_visited and not is_missing:  # a date is explained while it is typed
                    row.note = self.reading.errors.get(field, note)
                row.control.ask(self.reading.choices.get(field, ()))

    def show_problems(self) -> None:
        """Show the errors of all fields, and focus the first field that has an error."""
        self._visited.update(self.shown())
        self.more = self.more or any(FIELDS[field].rare for field in self.reading.errors)
        self.show_reading()
        if self.reading.errors:
            row = self.row(next(iter(self.reading.errors)))
            row.focus_control()
            self._bring_into_sight(row)  # scroll even if the field has the focus already

    # --- handlers ------------------------------------------------------------------------------

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(OptionLine.Changed)
    @on(TypedValue.Changed)
    def _typing(self, event: Message) -> None:
        event.stop()
        self.read_now()
        self.post_message(self.Changed())

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Show the error of a field when it loses the focus."""
        row = _row_of(event)
        if row is not None and self.is_attached and row.field in self.initial:
            self._visited.add(row.field)
            self.read_now()
            self.post_message(self.Left(row.field))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Scroll so that the whole row of the focused control is visible."""
        if (row := _row_of(event)) is not None:
            self._bring_into_sight(row)

    def _bring_into_sight(self, row: FormField) -> None:
        """Scroll to a whole row after the hints below its field have their final height."""
        self.call_after_refresh(row.scroll_visible, animate=False)

    @on(Button.Pressed, "#more")
    def _more_pressed(self) -> None:
        self.more = not self.more

    def watch_more(self) -> None:
        if self.is_mounted and self.before is None:
            more = self.query_one("#more", Button)
            more.label = self._more_label()
            more.refresh(layout=True)  # a new label alone keeps the old width
            self.show_reading()

    def _more_label(self) -> str:
        if self.more:
            return "- Fewer fields"
        return f"+ More fields: {', '.join(field.called for field in _RARE[:3])} ..."


def _has_rare(typed: Mapping[str, str]) -> bool:
    return any(typed.get(field.name) for field in _RARE)


def _row_of(event: events.DescendantBlur | events.DescendantFocus) -> FormField | None:
    return next((node for node in event.widget.ancestors if isinstance(node, FormField)), None)
