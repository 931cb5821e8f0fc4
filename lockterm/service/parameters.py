"""Takes single parameters out of a request, by type and range.

* A bool is no int, and 1.0 is none either.
* ``null`` is the same as leaving the parameter out; in a form, so is an empty text for a
  parameter that is not a text.
* A required text may not be blank. Texts are kept exactly as they came.
* Parameters that the contract does not name are ignored.
"""

from __future__ import annotations

import re
from typing import TypeVar

from .bodies import INT64_MAX, MAX_DEPTH, decode_json
from .codes import BAD_PARAMETER, Refusal

T = TypeVar("T")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,19}")


class Parameters:
    """The parameters of one request.

    Args:
        values: what was sent, by name.
        as_text: whether everything came as text (query or form), so that numbers are decimal
            digits and objects and arrays are JSON text.
    """

    def __init__(self, values: dict[str, object], *, as_text: bool) -> None:
        self._values = values
        self._as_text = as_text

    def text(self, name: str) -> str:
        """A required text that is not blank."""
        value = self._required(name, self.optional_text(name))
        if not value.strip():
            raise Refusal(BAD_PARAMETER, f"{name} is blank.")
        return value

    def optional_text(self, name: str) -> str | None:
        """A text, or None where none was sent."""
        value = self._values.get(name)
        if value is not None and not isinstance(value, str):
            raise Refusal(BAD_PARAMETER, f"{name} has to be a text.")
        return value

    def integer(self, name: str, low: int = 1, high: int = INT64_MAX) -> int:
        """A required whole number from ``low`` to ``high``."""
        return self._required(name, self.optional_integer(name, low, high))

    def optional_integer(self, name: str, low: int = 0, high: int = INT64_MAX) -> int | None:
        """A whole number from ``low`` to ``high``, or None where none was sent."""
        value = self._sent(name)
        if isinstance(value, str) and self._as_text and _WHOLE_NUMBER.fullmatch(value):
            value = int(value)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise Refusal(BAD_PARAMETER, f"{name} has to be a whole number.")
        if not low <= value <= high:
            raise Refusal(BAD_PARAMETER, f"{name} has to be from {low} to {high}.")
        return value

    def choice(self, name: str, allowed: tuple[int, ...]) -> int:
        """A required whole number that is one of ``allowed``."""
        return self._required(name, self.optional_choice(name, allowed))

    def optional_choice(self, name: str, allowed: tuple[int, ...]) -> int | None:
        """One of ``allowed``, or None where none was sent."""
        value = self.optional_integer(name)
        if value is not None and value not in allowed:
            numbers = ", ".join(str(number) for number in allowed)
            raise Refusal(BAD_PARAMETER, f"{name} has to be one of {numbers}.")
        return value

    def weekdays(self, name: str) -> list[int] | None:
        """Weekdays 1 (Monday) to 7 in the order they were sent, or None where none were sent."""
        value = self._structure(name)
        if value is None:
            return None
        if not isinstance(value, list) or not all(type(day) is int for day in value):
            raise Refusal(BAD_PARAMETER, f"{name} has to be an array of whole numbers.")
        if not all(1 <= day <= 7 for day in value):
            raise Refusal(BAD_PARAMETER, f"{name} has to hold weekdays from 1 to 7.")
        if len(set(value)) != len(value):
            raise Refusal(BAD_PARAMETER, f"{name} names a weekday twice.")
        return value

    def json_object(self, name: str) -> dict[str, object]:
        """A required JSON object."""
        return self._required(name, self.optional_json_object(name))

    def optional_json_object(self, name: str) -> dict[str, object] | None:
        """A JSON object, or None where none was sent."""
        value = self._structure(name)
        if value is not None and not isinstance(value, dict):
            raise Refusal(BAD_PARAMETER, f"{name} has to be a JSON object.")
        return value

    def _sent(self, name: str) -> object:
        value = self._values.get(name)
        return None if self._as_text and value == "" else value

    def _structure(self, name: str) -> object:
        value = self._sent(name)
        if self._as_text and isinstance(value, str):
            return decode_json(value, depth=MAX_DEPTH - 1)
        return value

    @staticmethod
    def _required(name: str, value: T | None) -> T:
        if value is None:
            raise Refusal(BAD_PARAMETER, f"{name} is missing.")
        return value
