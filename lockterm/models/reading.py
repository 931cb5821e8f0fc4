"""Reading records leniently: one odd field never hides a record, one odd record never a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class Record(BaseModel):
    """A record as the service sent it.

    Fields of a kind the contract does not know land in ``odd`` with the value that came; fields it
    does not name are kept as extras. Neither is ever written back.
    """

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, populate_by_name=True)

    odd: dict[str, Any] = Field(default_factory=dict, exclude=True, alias="__odd__")
    """Contract field -> the value that came, where it is not of the contract's type."""

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Self:
        """Read a JSON object, setting aside what has the wrong type."""
        try:
            return cls.model_validate(raw)
        except ValidationError as error:
            wrong = {str(item["loc"][0]) for item in error.errors(include_input=False)}
            kept = {key: value for key, value in raw.items() if key not in wrong}
            odd = {key: raw[key] for key in wrong if key in raw}
            return cls.model_validate({**kept, "__odd__": odd})

    @property
    def extras(self) -> dict[str, Any]:
        """Fields that the contract does not name, as they came."""
        return dict(self.model_extra or {})
