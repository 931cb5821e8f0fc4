"""Reading records leniently: one odd field never hides a record, one odd record never a page.

Plain dataclasses: the first page waits for what is imported here, and pydantic would take longer
to import than the rest of the way to it. What is *sent* is checked by pydantic; see ``requests``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Self

_NAME, _FITS = "name", "fits"


def number(name: str) -> Any:
    """A field that holds a whole number.

    Numbers beyond 64 bits are odd: they would not fit the local store.

    Args:
        name: What the contract calls it, here and below.
    """
    return _sent(name, _is_number)


def text(name: str) -> Any:
    """A field that holds a string."""
    return _sent(name, lambda value: isinstance(value, str))


def numbers(name: str) -> Any:
    """A field that holds an array of whole numbers."""
    return _sent(name, lambda value: isinstance(value, list) and all(map(_is_number, value)))


def mapping(name: str) -> Any:
    """A field that holds a JSON object of whatever kind."""
    return _sent(name, lambda value: isinstance(value, dict))


def part(name: str, default: Any = None) -> Any:
    """A field whose records are read by the record itself, and given to ``read``."""
    return _sent(name, lambda value: False, default)


def _sent(name: str, fits: Callable[[Any], bool], default: Any = None) -> Any:
    return field(default=default, metadata={_NAME: name, _FITS: fits})


def _is_number(value: Any) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63  # True is no number


@dataclass(frozen=True, kw_only=True)
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
    def _plan(cls) -> Mapping[str, tuple[str, Callable[[Any], bool], Any]]:
        """The contract's name of a field -> its name here, what fits into it, its default."""
        return {
            field.metadata[_NAME]: (field.name, field.metadata[_FITS], field.default)
            for field in fields(cls)
            if _NAME in field.metadata
        }

    @classmethod
    def contract_names(cls) -> frozenset[str]:
        """The names that the contract gives to this record's fields."""
        return frozenset(cls._plan())

    @classmethod
    def read(cls, raw: Mapping[str, Any], **parts: Any) -> Self:
        """Read a JSON object, setting aside what has the wrong type.

        Args:
            raw: The object as it came.
            parts: Contract field -> a record inside it that was read already.
        """
        values: dict[str, Any] = {}
        odd: dict[str, Any] = {}
        # Only the contract's names: no answer may fill a field by the name it has in Python.
        for name, (attribute, fits, default) in cls._plan().items():
            if name in parts:
                values[attribute] = parts[name]
            elif name in raw:
                value = raw[name]
                if fits(value) or (value is None and default is None):
                    values[attribute] = value
                else:
                    odd[name] = value
        return cls(raw=dict(raw), odd=odd, **values)

    @property
    def extras(self) -> dict[str, Any]:
        """Fields that the contract does not name, as they came."""
        names = self._plan()
        return {key: value for key, value in self.raw.items() if key not in names}
