"""Reading records leniently: one odd field never hides a record, one odd record never a page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Int = Annotated[int, Field(ge=-(2**63), lt=2**63)]
"""A number of the service: 64 bits, so that it fits the local store; a larger one is odd."""

_RAW, _ODD = "__raw__", "__odd__"


class Record(BaseModel):
    """A record as the service sent it.

    Fields of a kind the contract does not know land in ``odd`` with the value that came; fields it
    does not name are in ``extras``. Neither is ever written back.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, populate_by_name=True)

    raw: dict[str, Any] = Field(default_factory=dict, exclude=True, repr=False, alias=_RAW)
    """The whole record as it came, for a backup or a copy; empty if it was not read."""
    odd: dict[str, Any] = Field(default_factory=dict, exclude=True, alias=_ODD)
    """Contract field -> the value that came, where it is not of the contract's type."""

    @classmethod
    @cache
    def contract_names(cls) -> frozenset[str]:
        """The names that the contract gives to this record's fields."""
        names = {field.alias or name for name, field in cls.model_fields.items()}
        return frozenset(names - {_RAW, _ODD})

    @classmethod
    def read(cls, raw: Mapping[str, Any], **parts: Any) -> Self:
        """Read a JSON object, setting aside what has the wrong type.

        Args:
            raw: The object as it came.
            parts: Contract field -> a record inside it that was read already.
        """
        # Only the contract's names: no answer may fill a field by the name it has in Python.
        known = {key: raw[key] for key in cls.contract_names() if key in raw} | parts
        try:
            return cls._validate(raw, known, {})
        except ValidationError as error:
            wrong = {str(item["loc"][0]) for item in error.errors(include_input=False)}
            kept = {key: value for key, value in known.items() if key not in wrong}
            return cls._validate(raw, kept, {key: raw[key] for key in wrong})

    @classmethod
    def _validate(cls, raw: Mapping[str, Any], known: dict[str, Any], odd: dict[str, Any]) -> Self:
        fields = {**known, _RAW: dict(raw), _ODD: odd}
        return cls.model_validate(fields, by_alias=True, by_name=False)

    @property
    def extras(self) -> dict[str, Any]:
        """Fields that the contract does not name, as they came."""
        names = self.contract_names()
        return {key: value for key, value in self.raw.items() if key not in names}
