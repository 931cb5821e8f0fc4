"""Reading records leniently: one odd field never hides a record, one odd record never a page.

Plain dataclasses: the first page waits for what is imported here, and pydantic would take longer
to import than the rest of the way to it. What is *sent* is checked by pydantic; see ``requests``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum, IntEnum
from functools import cache
from typing import Any, NamedTuple, Self

INT64 = range(-(2**63), 2**63)
"""The whole numbers that the service and the local store can keep."""

_MOST_DIGITS = 20
"""Of a 64-bit number with its sign."""

_LEAST, _BEYOND = INT64.start, INT64.stop
"""Its bounds: a page has thousands of numbers, and to ask the range takes three times as long."""


class Kind(Enum):
    """What a field holds: how it is read, typed, compared, shown and checked follows from it."""

    TEXT = "text"
    NUMBER = "whole number"
    CONSTANT = "one of the constants of section 2.2"
    DATE = "milliseconds since 1970; 0 or nothing where there is none"
    TIMESTAMP = "a time whose unit the contract leaves open"
    WEEKDAYS = "an array of numbers, 1 Monday to 7 Sunday"
    OBJECT = "a JSON object"
    RECORD = "a record that is read by the record it is in"


class Sent(Enum):
    """In which requests a person can send a field."""

    NEVER = 0
    ON_CREATION = 1
    """Table 4.1 alone."""
    ALWAYS = 2
    """Tables 4.1 and 4.4."""


class Field(NamedTuple):
    """A field of a record: what the contract says of it, and what people know it by."""

    name: str
    """The contract's name of it, on the wire."""
    kind: Kind
    row: int = 0
    """Its place in the contract's tables: the order of CSV columns and request bodies."""
    label: str = ""
    """What people call it; empty: it is not shown by itself."""
    option: str = ""
    """The command line's option for it, without the dashes."""
    about: str = ""
    """What the option's help says."""
    sent: Sent = Sent.NEVER
    constants: type[IntEnum] | None = None
    """Of a constant: the values that the contract lists."""
    listed: bool = True
    """Whether a list returns it; if not, a detail need not either (2.3)."""
    required: bool = False
    """Whether nothing can be added without it (4.1)."""
    rare: bool = False
    """Whether the form asks for it only where a person wants more fields."""
    of_device: bool = False
    """Whether it belongs to one device: a remote that is like it otherwise has its own."""
    first: str = ""
    """What stands in the form of a new remote, as it would be typed."""
    example: str = ""
    noun: str = ""
    """What it is called within a sentence, where the label in small letters does not do."""
    default: Any = None
    """What it has where it did not come."""
    attribute: str = ""
    """Its name in Python; :meth:`Record.fields` fills it in."""

    @property
    def called(self) -> str:
        """Its name within a sentence: ``user number``, ``MAC address``."""
        label = self.label if self.label[:2].isupper() else self.label[:1].lower() + self.label[1:]
        return self.noun or label

    def of(self, record: Record) -> Any:
        """Its value in a record that was read."""
        return getattr(record, self.attribute)


def wire_field(
    name: str,
    kind: Kind,
    row: int = 0,
    label: str = "",
    option: str = "",
    about: str = "",
    **more: Any,
) -> Any:
    """An attribute of a record that holds a field; see :class:`Field`."""
    described = Field(name, kind, row, label, option, about, **more)
    return field(default=described.default, metadata={_FIELD: described})


def number(name: str) -> Any:
    """An attribute that holds a whole number."""
    return wire_field(name, Kind.NUMBER)


def text(name: str) -> Any:
    """An attribute that holds a string."""
    return wire_field(name, Kind.TEXT)


def part(name: str, default: Any = None) -> Any:
    """An attribute whose records are read by the record itself, and given to ``read``."""
    return wire_field(name, Kind.RECORD, default=default)


_FIELD = "field"


def is_number(value: Any) -> bool:
    """Whether a value that came is a whole number that can be kept; True is none."""
    return type(value) is int and _LEAST <= value < _BEYOND


def _is_moment(value: Any) -> bool:
    """Return whether a value that came is a time; one in a string is read as well."""
    return is_number(value)


def _from_digits(value: Any) -> int | None:
    """Return the whole number that a string has the digits of; None if it is none."""
    if not isinstance(value, str) or not value.isascii() or len(value) > _MOST_DIGITS:
        return None
    number = int(value) if value.removeprefix("-").isdigit() else None
    return number if is_number(number) else None


_FITS: Mapping[Kind, Callable[[Any], bool]] = {
    **dict.fromkeys((Kind.NUMBER, Kind.CONSTANT), is_number),
    **dict.fromkeys((Kind.DATE, Kind.TIMESTAMP), _is_moment),
    Kind.TEXT: lambda value: isinstance(value, str),
    Kind.WEEKDAYS: lambda value: isinstance(value, list) and all(map(is_number, value)),
    Kind.OBJECT: lambda value: isinstance(value, dict),
    Kind.RECORD: lambda value: False,
}
"""Whether a value that came is of the contract's type."""

_SURE: Mapping[Kind, type] = {Kind.TEXT: str, Kind.OBJECT: dict}
"""What fits whatever it is, and need not be asked: a page has thousands of values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record as the service sent it.

    Fields of a kind the contract does not know land in ``odd`` with the value that came; fields it
    does not name are in ``extras``. Neither is ever written back.
    """

    raw: dict[str, Any] = field(default_factory=dict, repr=False)
    """The whole record as it came, for a backup or a copy; empty if it was not read."""
    odd: dict[str, Any] = field(default_factory=dict)
    """Contract field -> the value that came, where it is not of the contract's type."""

    @classmethod
    @cache
    def fields(cls) -> Mapping[str, Field]:
        """The contract's name of a field -> the field, in the order of the class."""
        found = (
            one.metadata[_FIELD]._replace(attribute=one.name)
            for one in fields(cls)
            if _FIELD in one.metadata
        )
        return {one.name: one for one in found}

    @classmethod
    @cache
    def _plan(cls) -> Sequence[tuple[str, str, type | None, Callable[[Any], bool], Any]]:
        return [
            (one.name, one.attribute, _SURE.get(one.kind), _FITS[one.kind], one.default)
            for one in cls.fields().values()
        ]

    @classmethod
    def read_parts(cls, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Read the records inside a JSON object, by the contract's names of their fields."""
        return {}

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Self:
        """Read a JSON object, setting aside what has the wrong type."""
        parts = cls.read_parts(raw)
        values: dict[str, Any] = {}
        odd: dict[str, Any] = {}
        # Only the contract's names: no answer may fill a field by the name it has in Python.
        for name, attribute, sure, fits, default in cls._plan():
            if name in parts:
                values[attribute] = parts[name]
            elif name in raw:
                value = raw[name]
                if type(value) is sure or fits(value) or (value is None and default is None):
                    values[attribute] = value
                elif fits is _is_moment and (digits := _from_digits(value)) is not None:
                    values[attribute] = digits
                else:
                    odd[name] = value
        return cls(raw=dict(raw), odd=odd, **values)

    @property
    def extras(self) -> dict[str, Any]:
        """Fields that the contract does not name, as they came."""
        names = self.fields()
        return {key: value for key, value in self.raw.items() if key not in names}
