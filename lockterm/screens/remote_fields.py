"""The fields of the remote form: what is typed, what it means, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Button, Input, TextArea

from lockterm.screens.remote_rows import fixed_rows, typed_rows
from lockterm.typed_remote import MORE, Reading, read_typed, shown_fields, typed_of
from lockterm.widgets.choice import OptionLine
from lockterm.widgets.datetime_input import DatetimeInput
from lockterm.widgets.form_field import FormField, Row
from lockterm.widgets.weekday_picker import WeekdayPicker

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote

_MORE_NAMES = "user number, MAC, battery, firmware, extra data"


class _MoreButton(Row, Button):
    """A button that is a row among the fields."""


class RemoteFields(VerticalScroll, can_focus=False):
    """One column of fields that scrolls with the focus; the type chooses which are shown.

    A field says what is wrong with it once it was left, so that nobody is told off while typing.

    Args:
        before: The remote to change; None adds one.
        zone: The zone of the lock.
        now_ms: Tells the time in milliseconds.
    """

    more: reactive[bool] = reactive(False, init=False)
    """Whether the less used fields are shown."""

    @dataclass
    class Changed(Message):
        """Something was typed; the reading is new."""

        fields: RemoteFields

    @dataclass
    class Left(Message):
        """The focus left a field."""

        fields: RemoteFields
        field: str
        """The contract's name of the field."""

    def __init__(self, before: Remote | None, zone: tzinfo, now_ms: Callable[[], int]) -> None:
        super().__init__(id="form")
        self.before = before
        """The remote as it was when the person began, or as taken over since."""
        self.initial = typed_of(before, zone)
        """What stood in the form before anything was typed."""
        self.objections: dict[tuple[str, str], str] = {}
        """Field and text -> why the service does not take that text there."""
        self.remarks: dict[tuple[str, str], str] = {}
        """Field and text -> what else is known about that text there."""
        self._zone = zone
        self._now_ms = now_ms
        self._visited: set[str] = set()
        self.reading: Reading = read_typed(self.initial, zone, now_ms(), before)
        """What is typed, as it was read last."""

    def compose(self) -> ComposeResult:
        """A row for each field; shown or not."""
        for row in typed_rows(self.initial, self.before, self._zone):
            if row.field == MORE[0]:
                yield _MoreButton(self._more_label(), id="more", compact=True)
            yield row
            if row.field == "remoteName" and self.before is not None:
                yield from fixed_rows(self.before)

    def on_mount(self) -> None:
        """Show what the first values mean."""
        self.show_reading()

    # --- what is typed -------------------------------------------------------------------------

    def row(self, field: str) -> FormField:
        """The row of a field."""
        return self.query_one(f"#field-{field}", FormField)

    def _rows(self) -> list[FormField]:
        return [row for row in self.query(FormField) if row.field in self.initial]

    def typed(self) -> dict[str, str]:
        """Contract field -> what is typed, shown or hidden."""
        return {row.field: row.value for row in self._rows()}

    def fill(self, typed: Mapping[str, str]) -> None:
        """Put typed values back, as a draft kept them."""
        for row in self._rows():
            if row.field in typed:
                row.value = typed[row.field]
        self.more = self.more or any(typed.get(field) for field in MORE)

    def touched(self) -> dict[str, str]:
        """The fields in which something else stands than at first: what a draft has to keep."""
        return {key: text for key, text in self.typed().items() if text != self.initial[key]}

    @property
    def is_touched(self) -> bool:
        """Whether anything was typed."""
        return bool(self.touched())

    def take_over(self, current: Remote) -> None:
        """Go on from another state of the remote: what was not touched follows it."""
        typed, old, new = self.typed(), self.initial, typed_of(current, self._zone)
        self.before, self.initial = current, new
        self.fill({field: new[field] for field in new if typed[field] == old[field]})
        self.read_now()

    def shown(self) -> tuple[str, ...]:
        """The fields that belong to the chosen type."""
        kind = self.reading.values.remote_type
        return shown_fields(kind, adding=self.before is None)

    # --- what it means -------------------------------------------------------------------------

    def read_now(self) -> Reading:
        """Read what is typed, at this moment, and show what it means."""
        typed = self.typed()
        self.reading = read_typed(typed, self._zone, self._now_ms(), self.before)
        for field in self.shown():
            key = (field, typed[field].strip())
            if key in self.objections:
                self.reading.errors.setdefault(field, self.objections[key])
            elif key in self.remarks:
                self.reading.notes[field] = self.remarks[key]
        self.show_reading()
        return self.reading

    def show_reading(self) -> None:
        """Show at each field what it was understood as and what is wrong with it."""
        shown = self.shown()
        for row in self._rows():
            field = row.field
            is_hidden = self.before is None and field in MORE and not self.more
            row.display = field in shown and not is_hidden
            told = field in self._visited
            row.error = self.reading.errors.get(field, "") if told else ""
            row.warning = self.reading.warnings.get(field, "") if told and not row.error else ""
            is_missing = told and field in self.reading.missing
            row.note = "" if is_missing else self.reading.notes.get(field, "")
            if isinstance(row.control, DatetimeInput):
                row.control.ask(self.reading.choices.get(field, ()))

    def show_problems(self) -> None:
        """Say at every field what is wrong with it, and go to the first."""
        self._visited.update(self.shown())
        self.more = self.more or any(field in MORE for field in self.reading.errors)
        self.show_reading()
        if self.reading.errors:
            self.row(next(iter(self.reading.errors))).focus_control()

    # --- handlers ------------------------------------------------------------------------------

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(OptionLine.Changed)
    @on(DatetimeInput.Changed)
    @on(WeekdayPicker.Changed)
    def _typing(self, event: Message) -> None:
        event.stop()
        self.read_now()
        self.post_message(self.Changed(self))

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """A field that was left says what is wrong with it."""
        row = _row_of(event)
        if row is not None and self.is_attached and row.field in self.initial:
            self._visited.add(row.field)
            self.read_now()
            self.post_message(self.Left(self, row.field))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Keep the whole row of the focused control in sight."""
        if (row := _row_of(event)) is not None:
            # A row may grow or shrink with the focus; where it is then counts.
            self.call_after_refresh(row.scroll_visible, animate=False)

    @on(Button.Pressed, "#more")
    def _more_pressed(self) -> None:
        self.more = not self.more

    def watch_more(self) -> None:
        """Show or hide the less used fields."""
        if self.is_mounted and self.before is None:
            self.query_one("#more", Button).label = self._more_label()
            self.show_reading()

    def _more_label(self) -> str:
        return "- Fewer fields" if self.more else f"+ More fields: {_MORE_NAMES}"


def _row_of(event: events.DescendantBlur | events.DescendantFocus) -> FormField | None:
    return next((node for node in event.widget.ancestors if isinstance(node, FormField)), None)
