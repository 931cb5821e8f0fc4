"""The bodies of requests that create or change a remote (contract 4.1 and 4.4).

``lockterm.domain.rules`` decides which fields a request contains, and checks the rules that concern
several fields or need an explanation to the user. This module then checks every body with pydantic.
The names, types and limits come from the table of fields in ``lockterm.domain.remotes``.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, create_model
from pydantic import Field as Checked

from lockterm.config.values import INT64
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import ADDED, UPDATED
from lockterm.errors import CORRECT_FIELDS, RuleViolationError


class _Request(BaseModel):
    """A request body.

    The attributes have Python names, but :meth:`body` uses the contract's names.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)

    @classmethod
    def checked(cls, body: dict[str, Any]) -> Self:
        """Check a body with pydantic, and return it as a request.

        Raises:
            RuleViolationError: The contract does not allow a value in the body.
        """
        try:
            return cls.model_validate(body)
        except ValidationError as error:
            reasons = {str(one["loc"][0]): f"{one['msg']}." for one in error.errors()}
            raise RuleViolationError(reasons, hint=CORRECT_FIELDS) from None

    def body(self) -> dict[str, Any]:
        """Return the fields of the body by the contract's names, without fields that are None."""
        given = self.model_dump(by_alias=True, exclude_unset=True)
        return {name: value for name, value in given.items() if value is not None}


def _each_once(days: list[int]) -> list[int]:
    if len(set(days)) < len(days):
        raise ValueError("a weekday occurs twice")
    return days


_Weekday = Annotated[int, Checked(ge=1, le=7)]
_TYPES: dict[Kind, Any] = {
    Kind.TEXT: str,
    Kind.NUMBER: Annotated[int, Checked(ge=INT64.start, lt=INT64.stop)],
    Kind.DATE: Annotated[int, Checked(ge=0, lt=INT64.stop)],
    Kind.WEEKDAYS: Annotated[list[_Weekday], AfterValidator(_each_once)],
    Kind.OBJECT: dict[str, Any],
}


def _type(field: Field) -> Any:
    constants = field.constants
    if constants is None:
        return _TYPES[field.kind]

    def listed(value: int) -> int:
        if value not in constants.__members__.values():
            raise ValueError("not a value of the contract")
        return value

    return Annotated[int, AfterValidator(listed)]  # a Literal would accept True and 1.0 as 1


def _table(title: str, fields: Iterable[Field], *, is_new: bool) -> Any:
    """Return a new request class with the given fields, in the contract's order.

    Args:
        title: The name of the class.
        fields: The fields that the request can contain.
        is_new: Whether the request adds a remote, so that the required fields must be set.
    """
    types: dict[str, Any] = {"lock_id": (int, Checked(alias="lockId"))} if is_new else {}
    for field in sorted(fields, key=attrgetter("row")):
        is_needed = is_new and field.required
        kind, default = (_type(field), ...) if is_needed else (_type(field) | None, None)
        types[field.attribute] = (kind, Checked(default, alias=field.name))
    return create_model(title, __base__=_Request, **types)


class NewRemote(_table("_Table41", ADDED, is_new=True)):  # type: ignore[misc]
    """The request that adds a remote, with all fields of contract 4.1."""


class RemoteChanges(_table("_Table44", UPDATED, is_new=False)):  # type: ignore[misc]
    """The changes in an update (contract 4.4). Only fields that were set are sent."""
