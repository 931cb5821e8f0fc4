"""The rows of the remote form: which control serves which field of tables 4.1 and 4.4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from enum import IntEnum
from typing import TYPE_CHECKING

from textual.widget import Widget
from textual.widgets import Static

from lockterm.models.constants import WORDS, AddType, Flag, RemoteType, word
from lockterm.text import clean
from lockterm.typed_remote import EDITABLE, JSON_FIELDS, LABELS, MAIN, MORE
from lockterm.widgets.choice import Choice
from lockterm.widgets.datetime_input import DatetimeInput
from lockterm.widgets.form_field import FormField
from lockterm.widgets.json_editor import JsonEditor
from lockterm.widgets.text_input import TextInput
from lockterm.widgets.weekday_picker import WeekdayPicker

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote

_CONSTANTS: dict[str, type[IntEnum]] = {
    "remoteType": RemoteType,
    "addType": AddType,
    "isCoerced": Flag,
    "remoteRight": Flag,
}
_EXAMPLES = {
    "remoteName": "Anna Weber",
    "remoteNumber": "A-2041",
    "mac": "C4:4E:AC:01:02:03",
    "electricQuantity": "87",
    "remoteUserNo": "12",
    "businessId": "9001",
}


def typed_rows(
    typed: Mapping[str, str], before: Remote | None, zone: tzinfo
) -> Iterator[FormField]:
    """A row for each field that can be typed, in the order of the form."""
    for name in (*MAIN, *MORE) if before is None else EDITABLE:
        yield FormField(name, LABELS[name], _control(name, typed[name], zone))


def fixed_rows(before: Remote) -> Iterator[FormField]:
    """What an update cannot change, to read."""
    rows = {
        "id": ("Id", str(before.id)),
        "remoteNumber": (LABELS["remoteNumber"], clean(before.remote_number or "none", 200)),
        "addType": (LABELS["addType"], word(AddType, before.add_type)),
    }
    for name, (label, text) in rows.items():
        yield FormField(name, label, Static(text, markup=False, classes="fixed"))


def _control(name: str, text: str, zone: tzinfo) -> Widget:
    if name in ("startDate", "endDate"):
        return DatetimeInput(zone, text, id=name)
    if name == "weekDay":
        return WeekdayPicker(text, id=name)
    if name in JSON_FIELDS:
        return JsonEditor(text, id=name)
    if name in _CONSTANTS:
        words = WORDS[_CONSTANTS[name]]
        options = [(str(value), shown) for value, shown in words.items()]
        if text and text not in dict(options):  # what came is kept until something else is chosen
            options.append((text, f"unknown ({text[:20]})"))
        choice = Choice(options, id=name)
        choice.set_reactive(Choice.value, text)
        return choice
    return TextInput(text, placeholder=f"such as {_EXAMPLES[name]}", id=name)
