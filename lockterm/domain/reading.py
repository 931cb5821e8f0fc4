"""The lenient parser of records from the service.

If a field has an unexpected type, lockterm still shows the record. If a record is unreadable,
lockterm still shows the other records of the page. Records are plain dataclasses, because importing
pydantic would delay the first page. Requests are checked with pydantic; see ``requests``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum, IntEnum
from functools import cache
from typing import Any, NamedTuple, Self

from lockterm.config.values import INT64

_MOST_DIGITS = 20
"""Maximum number of characters of a 64-bit number including its sign."""

_LEAST, _BEYOND = INT64.start, INT64.stop
"""The bounds of ``INT64``. A comparison with these bounds is three times as fast as ``in INT64``,
and a page has thousands of numbers."""


class Kind(Enum):
    """The type of a field.

    The type decides how lockterm parses, compares, shows and checks the field.
    """

    TEXT = "a text"
    NUMBER = "a whole number"
    CONSTANT = "one of the numbers that the service defines"
    DATE = "a time in milliseconds since 1970, or 0"
    TIMESTAMP = "a time"
    WEEKDAYS = "a list of numbers from 1 (Monday) to 7 (Sunday)"
    OBJECT = "a JSON object"
    RECORD = "a nested object"


class Sent(Enum):
    """The requests that can contain a field (contract 4.1 and 4.4)."""

    NEVER = 0
    ON_CREATION = 1
    """Only the request that adds a remote (contract 4.1)."""
    ALWAYS = 2
    """The requests that add (contract 4.1) and update (contract 4.4) a remote."""


def in_sentence(label: str) -> str:
    """Return a label or title as it is written within a sentence, such as ``user number``."""
    return label if label[:2].isupper() else label[:1].lower() + label[1:]


class Field(NamedTuple):
    """A field of a record: its properties in the contract, and how lockterm presents it."""

    name: str
    """The contract's name of the field."""
    kind: Kind
    row: int = 0
    """The position in the contract's tables, which decides the order of CSV columns and
    requests."""
    label: str = ""
    """The label of the field in views; empty if views do not show the field."""
    option: str = ""
    """The name of the command-line option, without dashes; empty if there is none."""
    about: str = ""
    """The help text of the command-line option."""
    is_explained: bool = False
    """Whether the form and the detail view show :attr:`explanation`."""
    sent: Sent = Sent.NEVER
    constants: type[IntEnum] | None = None
    """The values that the contract lists, if the field is a constant."""
    listed: bool = True
    """Whether lists contain the field. If not, the details of a remote may omit the field too
    (contract 2.3)."""
    required: bool = False
    """Whether an add must contain the field (contract 4.1)."""
    rare: bool = False
    """Whether the form shows the field only on request."""
    of_device: bool = False
    """Whether the value belongs to one device, so that a duplicate of the remote does not get
    it."""
    first: str = ""
    """The initial text of the field in the form for a new remote."""
    example: str = ""
    noun: str = ""
    """The name of the field within a sentence, if it is not the label in lower case."""
    default: Any = None
    """The value if a record lacks the field."""
    attribute: str = ""
    """The name of the dataclass attribute, which :meth:`Record.fields` fills in."""

    @property
    def called(self) -> str:
        """The name of the field within a sentence, such as ``user number`` or ``MAC address``."""
        return self.noun or in_sentence(self.label)

    @property
    def explanation(self) -> str:
        """The sentence about the field in forms and detail views; empty if there is none."""
        return self.about if self.is_explained else ""

    def of(self, record: Record) -> Any:
        """Return the value of the field in a record."""
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
    """Return a dataclass attribute for a field of a record; see :class:`Field` for arguments."""
    described = Field(name, kind, row, label, option, about, **more)
    return field(default=described.default, metadata={_FIELD: described})


def number(name: str) -> Any:
    """Return a dataclass attribute for a whole number that forms do not show.

    Args:
        name: The name of the number in requests and answers.
    """
    return wire_field(name, Kind.NUMBER)


def text(name: str) -> Any:
    """Return a dataclass attribute for a string that forms do not show.

    Args:
        name: The name of the string in requests and answers.
    """
    return wire_field(name, Kind.TEXT)


def part(name: str, default: Any = None) -> Any:
    """Return a dataclass attribute for a nested record, which ``Record.read_parts`` parses."""
    return wire_field(name, Kind.RECORD, default=default)


_FIELD = "field"


def is_number(value: Any) -> bool:
    """Return whether a received value is a whole number of 64 bits. Booleans are not numbers."""
    return type(value) is int and _LEAST <= value < _BEYOND


def _from_digits(value: Any) -> int | None:
    """Return the 64-bit whole number in a string; None for any other value."""
    if not isinstance(value, str) or not value.isascii() or len(value) > _MOST_DIGITS:
        return None
    number = int(value) if value.removeprefix("-").isdigit() else None
    return number if is_number(number) else None


_TIMES = (Kind.DATE, Kind.TIMESTAMP)
"""The kinds of fields that contain times. ``Record.read`` also accepts times as strings of
digits."""

_FITS: Mapping[Kind, Callable[[Any], bool]] = {
    **dict.fromkeys((Kind.NUMBER, Kind.CONSTANT, *_TIMES), is_number),
    Kind.TEXT: lambda value: isinstance(value, str),
    Kind.WEEKDAYS: lambda value: isinstance(value, list) and all(map(is_number, value)),
    Kind.OBJECT: lambda value: isinstance(value, dict),
    Kind.RECORD: lambda value: False,
}
"""Maps each kind to a function that returns whether a received value has the contract's type."""

_SURE: Mapping[Kind, type] = {Kind.TEXT: str, Kind.OBJECT: dict}
"""Maps a kind to a Python type whose values always fit. Checking the type first saves a function
call for each value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record as the service sent it.

    Values that do not have the contract's type are in ``odd``, and fields that the contract does
    not define are in ``extras``. lockterm never sends these values back.
    """

    raw: dict[str, Any] = field(default_factory=dict, repr=False)
    """The complete record as received, for backups and copies; empty if it is not from the
    service."""
    odd: dict[str, Any] = field(default_factory=dict)
    """Maps the contract's field names to received values that do not have the contract's type."""

    @classmethod
    @cache
    def fields(cls) -> Mapping[str, Field]:
        """Return a mapping of the contract's names to fields, in the order of the attributes."""
        found = (
            one.metadata[_FIELD]._replace(attribute=one.name)
            for one in fields(cls)
            if _FIELD in one.metadata
        )
        return {one.name: one for one in found}

    @classmethod
    @cache
    def _plan(cls) -> Sequence[tuple[str, str, Kind, type | None, Callable[[Any], bool], Any]]:
        return [
            (one.name, one.attribute, one.kind, _SURE.get(one.kind), _FITS[one.kind], one.default)
            for one in cls.fields().values()
        ]

    @classmethod
    def read_parts(cls, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Return the nested records in a JSON object, by the contract's names.

        Subclasses with nested records override this method.
        """
        return {}

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Self:
        """Return the record in a JSON object. Values of a wrong type are stored in ``odd``."""
        parts = cls.read_parts(raw)
        values: dict[str, Any] = {}
        odd: dict[str, Any] = {}
        # Only the contract's names, so that no answer can set an attribute by its Python name.
        for name, attribute, kind, sure, fits, default in cls._plan():
            if name in parts:
                values[attribute] = parts[name]
            elif name in raw:
                value = raw[name]
                if type(value) is sure or fits(value) or (value is None and default is None):
                    values[attribute] = value
                elif kind in _TIMES and (digits := _from_digits(value)) is not None:
                    values[attribute] = digits
                else:
                    odd[name] = value
        return cls(raw=dict(raw), odd=odd, **values)

    @property
    def extras(self) -> dict[str, Any]:
        """The received fields that the contract does not define."""
        names = self.fields()
        return {key: value for key, value in self.raw.items() if key not in names}
