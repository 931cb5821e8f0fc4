"""What is sent to the service to create or change a remote (sections 4.1 and 4.4)."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class _Request(BaseModel):
    """A request body: snake case here, the contract's names on the wire, absent fields left out."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)

    def body(self) -> dict[str, Any]:
        """The fields of the body under the contract's names; what is None was not given."""
        given = self.model_dump(by_alias=True, exclude_unset=True)
        return {name: value for name, value in given.items() if value is not None}


class NewRemote(_Request):
    """Every field of table 4.1."""

    lock_id: int = Field(alias="lockId")
    remote_name: str = Field(alias="remoteName")
    remote_number: str = Field(alias="remoteNumber")
    mac: str | None = None
    remote_type: int = Field(alias="remoteType")
    add_type: int = Field(alias="addType")
    start_ms: int | None = Field(None, alias="startDate")
    end_ms: int | None = Field(None, alias="endDate")
    week_day: list[int] | None = Field(None, alias="weekDay")
    electric_quantity: int | None = Field(None, alias="electricQuantity")
    firmware_info: dict[str, Any] | None = Field(None, alias="firmwareInfo")
    remote_user_no: int | None = Field(None, alias="remoteUserNo")
    business_id: int | None = Field(None, alias="businessId")
    remote_right: int | None = Field(None, alias="remoteRight")
    is_coerced: int | None = Field(None, alias="isCoerced")
    extra_data: dict[str, Any] | None = Field(None, alias="extraData")


class RemoteChanges(_Request):
    """The changes of an update, table 4.4: only the fields that were given are sent."""

    remote_name: str | None = Field(None, alias="remoteName")
    remote_type: int | None = Field(None, alias="remoteType")
    start_ms: int | None = Field(None, alias="startDate")
    end_ms: int | None = Field(None, alias="endDate")
    week_day: list[int] | None = Field(None, alias="weekDay")
    is_coerced: int | None = Field(None, alias="isCoerced")
    extra_data: dict[str, Any] | None = Field(None, alias="extraData")
